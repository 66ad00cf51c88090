from __future__ import annotations

import shlex

import click
import pytest

from morph_tasks.cli.again import typed


@click.command("work")
@click.argument("feature")
@click.option("--approver", "-a")
@click.option("--pause", type=bool)
@click.option("--force", is_flag=True)
@click.option("--keep/--no-keep", default=True)
@click.option("--mode", default="auto")
def work(**_: object) -> str:
    return typed()


@pytest.mark.parametrize(
    "words",
    [
        ["shop"],
        ["shop", "--approver", "Ana Lima"],
        ["shop", "--approver", "it's $HOME; rm -rf /", "--pause", "false", "--force"],
        ["shop", "--no-keep", "--mode", "auto"],
        ["a b"],
    ],
)
def test_the_command_is_told_as_it_was_typed(words: list[str]) -> None:
    assert shlex.split(work.main(words, prog_name="work", standalone_mode=False)) == ["work", *words]


def test_short_options_are_told_in_full() -> None:
    assert work.main(["shop", "-a", "Ana"], prog_name="work", standalone_mode=False) == "work shop --approver Ana"
