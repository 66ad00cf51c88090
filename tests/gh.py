"""A `gh` on the PATH that answers from files and writes down what it was asked.

It keeps pull requests as GitHub does: `pr list` filters them, `pr create` adds one or says that it is there already.
A recorded answer (`reply`, `hang`) goes before that.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCRIPT = r"""#!{python} -IS
import json, os, subprocess, sys, time
here = {here!r}
argv = sys.argv[1:]
call = {{"argv": argv, "cwd": os.getcwd(), "env": {{name: os.environ.get(name) for name in
         ("GH_PROMPT_DISABLED", "NO_COLOR", "GH_FORCE_TTY", "GIT_DIR")}}}}
call["stdin"] = sys.stdin.read() if "-" in argv else ""
with open(here + "/calls.jsonl", "a") as file:
    file.write(json.dumps(call) + "\n")

def option(name, default=None):
    return argv[argv.index(name) + 1] if name in argv else default

def end(code, out="", err=""):
    sys.stdout.write(out); sys.stderr.write(err); sys.stdout.flush(); sys.stderr.flush()
    os._exit(code)

name = "-".join(argv[:2])
try:
    with open(here + "/answers/" + name + ".json") as file:
        recorded = json.load(file)
except FileNotFoundError:
    recorded = None
if recorded:
    if recorded.get("once"):
        os.unlink(here + "/answers/" + name + ".json")
    if recorded.get("hang"):
        child = subprocess.Popen(["sleep", "40"])  # holds the pipes as well
        with open(here + "/hung.json", "w") as file:
            json.dump([os.getpid(), child.pid], file)
        time.sleep(40)
    end(recorded["code"], recorded["stdout"], recorded["stderr"])
with open(here + "/pulls.json") as file:
    pulls = json.load(file)
if name == "repo-view":
    end(0, '{{"nameWithOwner":"acme/shop"}}\n')
if name == "pr-list":
    found = [row for row in pulls if option("--head") in (None, row["headRefName"])]
    state = option("--state", "open").upper()
    found = [row for row in found if state in ("ALL", row["state"])]
    found.sort(key=lambda row: -row["number"])
    fields = option("--json").split(",")
    end(0, json.dumps([{{key: row[key] for key in fields}} for row in found[: int(option("--limit", "30"))]]) + "\n")
if name == "pr-create":
    head, base = option("--head"), option("--base")
    same = [row for row in pulls if (row["headRefName"], row["baseRefName"], row["state"]) == (head, base, "OPEN")]
    if same:
        end(1, "", 'a pull request for branch "%s" into branch "%s" already exists:\n%s\n'
            % (head, base, same[0]["url"]))
    said = subprocess.run(["git", "ls-remote", "origin", "refs/heads/" + head], capture_output=True, text=True).stdout
    if not said:
        end(1, "", "pull request create failed: GraphQL: Head sha can't be blank, "
            "Head ref must be a branch (createPullRequest)\n")
    number = max([row["number"] for row in pulls], default=0) + 1
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    row = dict({row!r}, number=number, url="https://github.com/acme/shop/pull/%d" % number, title=option("--title"),
               headRefName=head, baseRefName=base, headRefOid=said.split()[0], createdAt=now, updatedAt=now)
    with open(here + "/pulls.json.new", "w") as file:  # GitHub's own books survive a kill of gh
        json.dump([*pulls, row], file)
    os.replace(here + "/pulls.json.new", here + "/pulls.json")
    end(0, row["url"] + "\n", "\nCreating pull request for %s into %s in acme/shop\n\n" % (head, base))
end(1, "", "unknown command " + name + "\n")
"""

_ROW: dict[str, Any] = {
    "number": 1,
    "state": "OPEN",
    "url": "https://github.com/acme/shop/pull/1",
    "headRefName": "morph/cart",
    "baseRefName": "main",
    "title": "cart",
    "headRefOid": "0" * 40,
    "mergedAt": None,
    "updatedAt": "2026-11-20T10:00:00Z",
    "createdAt": "2026-11-20T10:00:00Z",
    "isCrossRepository": False,
    "isDraft": False,
}


@dataclass(frozen=True)
class FakeGh:
    """The folder of the fake: `bin/gh`, `pulls.json`, `answers/`, `calls.jsonl`."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    def calls(self, *words: str) -> list[dict[str, Any]]:
        """Return what was asked, in order: argv, stdin, cwd, env; only the calls that begin with `words`."""
        path = self.folder / "calls.jsonl"
        found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [call for call in found if call["argv"][: len(words)] == list(words)]

    def pulls(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads((self.folder / "pulls.json").read_text())
        return rows

    def pull(self, head: str, **other: Any) -> dict[str, Any]:
        """Add a pull request; `other` are keys as gh names them."""
        rows = self.pulls()
        number = other.pop("number", max((row["number"] for row in rows), default=0) + 1)
        url = f"https://github.com/acme/shop/pull/{number}"
        row = {**_ROW, "number": number, "url": url, "headRefName": head, "title": head, **other}
        (self.folder / "pulls.json").write_text(json.dumps([*rows, row]))
        return row

    def change(self, number: int, **other: Any) -> None:
        """Change a pull request, such as `state="MERGED"`."""
        rows = [{**row, **other} if row["number"] == number else row for row in self.pulls()]
        (self.folder / "pulls.json").write_text(json.dumps(rows))

    def reply(self, *words: str, code: int = 0, stdout: str = "", stderr: str = "", once: bool = False) -> None:
        """Answer a command, such as `pr list`, with just this from now on."""
        self._record(words, {"code": code, "stdout": stdout, "stderr": stderr, "once": once})

    def hung(self) -> list[int]:
        """Return the processes that hung last."""
        found: list[int] = json.loads((self.folder / "hung.json").read_text())
        return found

    def hang(self, *words: str) -> None:
        """Never answer a command; something it started holds its output open as well."""
        self._record(words, {"hang": True, "code": 0, "stdout": "", "stderr": ""})

    def forget(self, *words: str) -> None:
        """Answer a command from the pull requests again."""
        (self.folder / "answers" / f"{'-'.join(words)}.json").unlink(missing_ok=True)

    def _record(self, words: tuple[str, ...], answer: dict[str, Any]) -> None:
        (self.folder / "answers" / f"{'-'.join(words)}.json").write_text(json.dumps(answer))


def make_gh(folder: Path) -> FakeGh:
    """Write the program; the caller puts `bin` on the PATH."""
    made = FakeGh(folder)
    made.bin.mkdir(parents=True)
    (folder / "answers").mkdir()
    (folder / "pulls.json").write_text("[]")
    program = made.bin / "gh"
    program.write_text(_SCRIPT.format(python=sys.executable, here=str(folder), row=_ROW))
    os.chmod(program, 0o755)
    return made
