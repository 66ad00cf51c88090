"""Make the repositories that are measured: always the same content for the same numbers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from timing import NotAvailable, Shell

INSTANT = "true"
# Real work on one core, so that a second one shows; without site, so that starting is not what counts.
BUSY = f"{sys.executable} -I -S -c 'for _ in range(8_000_000): pass'"
NODES = 10
FEATURE = "bench"


def environment(home: Path) -> Mapping[str, str]:
    """Return the caller's variables, without those that would move git, doit or the home of this run."""
    moved = ("GIT_", "MORPH_", "CLAUDE", "DOIT_", "XDG_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(moved)}
    who = {f"GIT_{role}_{what}": "bench" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    when = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return {**kept, **who, **when, **git, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}


@dataclass(frozen=True)
class Workshop:
    """A folder that holds all repositories and files of one run; each is made when it is first asked for."""

    folder: Path

    @cached_property
    def env(self) -> Mapping[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return environment(home)

    def repository(self, files: int, command: str = INSTANT) -> Shell:
        """Return a repository of so many committed files whose feature has ten nodes with this command."""
        root = self.folder / f"{'instant' if command == INSTANT else 'busy'}-{files}"
        shell = Shell(root, self.env)
        if root.exists():
            return shell
        try:
            root.mkdir()
            write_files(root, files)
            write_config(root, command)
            commit_all(shell, "files")
            shell.output("morph-spec", "create", FEATURE, "--type", "chore", "--description", "What is measured")
            commit_all(shell, "feature")
        except NotAvailable:
            shutil.rmtree(root)
            raise
        return shell

    def close(self) -> None:
        """Take down what was brought up."""
        if "stack" in self.__dict__:
            self.stack[0].output("morph-spec", "e2e", "down", FEATURE, "--volumes")

    def weakened(self, lines: int) -> Shell:
        """Return a repository whose feature changed so many lines of Python and TypeScript tests, for the worse."""
        root = self.folder / "weakened"
        shell = Shell(root, self.env)
        if root.exists():
            return shell
        write_tests(root, lines // 4, strict=True)
        write_config(root, INSTANT)
        commit_all(shell, "tests")
        shell.output("morph-spec", "create", FEATURE, "--type", "chore", "--description", "What is measured")
        write_tests(root, lines // 4, strict=False)
        return shell

    @cached_property
    def stack(self) -> tuple[Shell, str]:
        """Return the example of three containers, brought up, and the name of its compose project."""
        example = Path(__file__).resolve().parents[2] / "examples/stack"
        root = self.folder / "stack"
        # Compose may be installed for one person only, and this run has a home of its own.
        config = os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
        shell = Shell(root, {**self.env, "MORPH_HEAVY": "off", "DOCKER_CONFIG": config})
        shutil.copytree(example, root, ignore=shutil.ignore_patterns("node_modules"))
        shell.output(str(example / "base-image"))
        commit_all(shell, "an application")
        shell.output("morph-spec", "create", FEATURE, "--type", "chore", "--description", "What is measured")
        said = json.loads(shell.output("morph-spec", "e2e", "up", FEATURE, "--json"))
        shell.output("morph-spec", "e2e", "up", FEATURE)  # that nothing changed is known from the second on
        return shell, str(said["project"])

    @cached_property
    def plain(self) -> Shell:
        """Return a folder without a repository."""
        folder = self.folder / "plain"
        folder.mkdir()
        return Shell(folder, self.env)

    def file(self, name: str, lines: Iterable[str]) -> Path:
        """Return a file with these lines, written when it is not there yet."""
        path = self.folder / name
        if not path.exists():
            with path.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(lines)
        return path


def write_files(root: Path, count: int) -> None:
    """Write source files of about 1.5 kB, a hundred a folder."""
    for number in range(count):
        folder = root / f"src/area{number // 10_000:02}/part{number // 100:04}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        body = "".join(f"value_{number}_{line} = {number * line}\n" for line in range(60))
        (folder / f"file{number:06}.py").write_text(body)


def write_tests(root: Path, tests: int, *, strict: bool) -> None:
    """Write so many tests, twenty a file, in two languages; each has two lines that a lax version has otherwise."""
    for number in range(tests):
        python, lax = number % 2 == 0, not strict
        folder = root / ("api/tests" if python else "web/src")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / (f"test_part{number // 40:04}.py" if python else f"part{number // 40:04}.test.ts")
        body = (
            [
                f"def test_case_{number}():\n",
                f"    assert total({number}) == {number}\n" if strict else f"    assert total({number})\n",
                f"    assert total({number}, 2) == {number * 2}\n" if strict else "    print('not looked at')\n",
            ]
            if python
            else [
                f'it("case {number}", () => {{\n',
                f"  expect(total({number})).toBe({number});\n"
                if strict
                else f"  expect(total({number})).toBeTruthy();\n",
                f"  expect(twice({number})).toEqual({number * 2});\n}});\n" if not lax else "  void 0;\n});\n",
            ]
        )
        first = number % 40 < 2
        with file.open("w" if first else "a", encoding="utf-8") as out:
            out.writelines(["import { expect, it } from 'vitest';\n"] if first and not python else [])
            out.writelines(body)


def write_config(root: Path, command: str) -> None:
    """Write ten test nodes, the ignore rules and the line of doit."""
    tests = [{"id": f"node-{n}", "runner": "none", "command": command} for n in range(NODES)]
    config = root / ".morph/config/config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"trust": "auto", "project": {"name": "bench", "tests": tests}}, indent=2) + "\n")
    (root / ".gitignore").write_text("__pycache__/\n")
    (root / "dodo.py").write_text("from morph_tasks.tasks import *  # noqa: F403\n")


def commit_all(shell: Shell, message: str) -> None:
    """Commit whatever the tree holds; the repository is made when there is none."""
    if not (shell.cwd / ".git").exists():
        shell.output("git", "init", "--quiet", "--initial-branch=main")
    shell.output("git", "-c", "gc.auto=0", "add", "--all")
    subprocess.run(
        ["git", "-c", "gc.auto=0", "commit", "--quiet", "--allow-empty", "--message", message],
        cwd=shell.cwd,
        env=shell.env,
        check=True,
    )


def plan(scenarios: int, slices: int) -> str:
    """Return a plan of this size that has no error."""
    parts = ["# A large plan\n\n## Problem\n\nIt must stay cheap to check.\n\n## Scenarios\n"]
    for n in range(1, scenarios + 1):
        parts.append(f"\n### C{n} — Order {n} is priced\nGiven order {n}, then its price is {n}.00.\n- proof: test\n")
    parts.append("\n## Decisions\n\n### ADR-001 — Prices are integers\n**Scope:** feature\n\nIn cents.\n")
    parts.append("\n### Conflicts with the record\n\nnone\n\n## Slices\n")
    for n in range(1, slices + 1):
        covers = ", ".join(f"C{c}" for c in range(n, scenarios + 1, slices))
        depends = f"- depends: F{n - 1}\n" if n % 5 != 1 else ""
        parts.append(
            f"\n### F{n} — Part {n}\n- persona: python-senior\n- files: src/part_{n}.py, tests/test_part_{n}.py\n"
            f"- covers: {covers}\n{depends}- reuse: EXTEND Price{n}\n"
        )
    return "".join(parts)
