"""What the README shows is what happens: its console blocks are run, and their output is compared.

With `UPDATE_README=1` the output in the README is replaced by what was said instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
RUNNERS = ROOT / "tests/runners-npm/node_modules"
SHOP = ROOT / "examples/shop/README.md"
BLOCK = re.compile(r"<!-- checked: (?P<name>[^>]+?) -->\n```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Session:
    """Commands typed one after the other: the folder and the variables of one hold for the next."""

    home: Path
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)

    def type(self, command: str) -> tuple[int, str]:
        """Return the exit code and what was said on both streams."""
        after = self.home / "after"
        typed = f"{command}\ncode=$?\n{{ pwd -P; env -0; }} >'{after}'\nexit $code"
        done = subprocess.run(
            ["bash", "-c", typed],
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        where, _, variables = after.read_bytes().partition(b"\n")
        self.cwd = Path(os.fsdecode(where))
        pairs = (os.fsdecode(pair).partition("=") for pair in variables.split(b"\0") if pair)
        self.env = {name: value for name, _, value in pairs if name not in ("_", "SHLVL", "PWD", "OLDPWD")}
        return done.returncode, done.stdout.decode("utf-8", "replace")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Return a session of somebody who has the package on the PATH and no configuration at all."""
    home, cwd = tmp_path / "home", tmp_path / "projects"
    home.mkdir()
    cwd.mkdir()
    who = {f"GIT_{role}_{what}": "reader" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "LANG": "C.UTF-8",
        **who,
    }
    return Session(home, cwd, env)


def blocks(name: str, page: Path = README) -> list[str]:
    return [found["text"] for found in BLOCK.finditer(page.read_text("utf-8")) if found["name"] == name]


def steps(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands and what they say."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            command, said = found[-1]
            found[-1] = (command, said + line)
    return found


def steady(text: str) -> str:
    """Replace what differs from run to run: times, durations and digests."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "<time>", text)
    text = re.sub(r"\d{8}T\d{12}Z|\d{4}-\d\d-\d\dT\d{9}Z", "<stamp>", text)
    text = re.sub(r"\b\d+(\.\d+)? ?(ms|s)\b", "<duration>", text)
    text = re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b", "<digest>", text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def play(session: Session, name: str, page: Path, told: Callable[[str], str] = str) -> None:
    """Type every command of the blocks of a page and compare what is said; or write it down.

    `told` turns what was said on this machine into what the page shows.
    """
    text = page.read_text("utf-8")
    for block in blocks(name, page):
        played = ""
        for command, shown in steps(block):
            code, said = session.type(command)
            said = told(said)
            assert code == 0, f"$ {command}\n{said}"
            if not os.environ.get("UPDATE_README"):
                assert steady(said) == steady(shown), f"$ {command}"
            played += f"$ {command}\n{said}"
        text = text.replace(block, played)
    if os.environ.get("UPDATE_README"):
        page.write_text(text, encoding="utf-8")


def test_every_command_says_what_the_readme_shows(session):
    play(session, "first feature", README)


def test_every_command_says_what_the_shop_shows(session, tmp_path):
    """`npm ci` finds the runners that the tests have installed: no registry is asked."""
    if not RUNNERS.is_dir():
        assert not os.environ.get("CI"), "the runners of tests/runners-npm are not installed"
        pytest.skip("the runners of tests/runners-npm are not installed")
    tools = tmp_path / "tools"
    tools.mkdir()
    npm = tools / "npm"
    copied = f'cp -al "{RUNNERS}" web/node_modules 2>/dev/null || cp -R "{RUNNERS}" web/node_modules'
    npm.write_text(f"#!/bin/sh\n{copied}\n")
    npm.chmod(0o755)
    session.env |= {"MORPH_SPEC": str(ROOT), "PATH": f"{tools}:{session.env['PATH']}"}
    play(session, "shop", SHOP)


def test_a_session_keeps_folder_variables_and_exit_code(session):
    assert session.type("mkdir here && cd here && export WORD=kept") == (0, "")
    assert session.type('echo "$WORD" && basename "$PWD" && false') == (1, "kept\nhere\n")


def test_only_times_durations_and_digests_may_differ():
    assert steady("verified in 1.2 s at 0123abc") == steady("verified in 31 ms at fedcba9")
    assert steady("2 passed") != steady("3 passed")
    assert steady("feedback") == "feedback"


def test_the_first_commands_exist():
    shown = re.search(r"## Two commands\n.*?```console\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert shown is not None
    for command, _ in steps(shown[1]):
        assert os.access(ROOT / command.split()[0], os.X_OK), command


@pytest.mark.soak
def test_the_installation_works_in_a_fresh_environment(session, tmp_path):
    (block,) = blocks("install")
    checkout = tmp_path / "check out"
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".venv", ".git", "node_modules", ".*_cache"))
    session.cwd = checkout
    session.env |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    for command, _ in steps(block):
        code, said = session.type(command)
        assert code == 0, f"$ {command}\n{said}"
    session.cwd = tmp_path
    code, said = session.type("command -v morph-spec && morph-spec --version")
    assert code == 0, said
    assert str(checkout) in said
