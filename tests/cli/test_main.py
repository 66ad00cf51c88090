from __future__ import annotations

import json

import click
import pytest

from morph_tasks.cli.main import COMMANDS, cli, main
from morph_tasks.cli.quick import quick


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_short_way_to_help_says_what_the_long_one_says(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert quick([option]) == 0
    said = capsys.readouterr().out
    assert said == cli.get_help(click.Context(cli, info_name="morph-spec", **cli.context_settings)) + "\n"
    assert quick([option, "verify"]) is None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_exit_codes_and_an_example(name: str) -> None:
    context = click.Context(cli, info_name="morph-spec", **cli.context_settings)
    command = cli.get_command(context, name)
    assert command is not None
    leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for leaf in leaves:
        text = leaf.get_help(click.Context(leaf, info_name=name, parent=context))
        assert "Exit codes" in text and "Example" in text and "morph-spec" in text
        options = {option for param in leaf.params for option in param.opts}
        assert "--json" in options


@pytest.mark.parametrize(
    "argv", [["nope"], ["verify"], ["verify", "a", "F1", "b"], ["list", "--nope"], ["gate-check", "x", "nope"]]
)
def test_wrong_words_are_usage_and_json_stays_json(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*argv, "--json"]) == 2
    said = capsys.readouterr()
    refusal = json.loads(said.out)
    assert (refusal["ok"], refusal["code"]) == (False, "usage")
    assert refusal["fix"].startswith("morph-spec")
