"""Which word of a line is the test runner, behind the programs that only run another one."""

from __future__ import annotations

import re
from collections.abc import Collection

from morph_tasks.verify.narrowing.line import Line
from morph_tasks.verify.runners.programs import MANAGERS, SHELLS, TAKES_ONE, TAKES_VALUE, VERBS, WRAPPERS

_PYTHON = re.compile(r"(?:python|pypy)\d*(?:\.\d+)?w?")
_PYTHON_VALUE = frozenset({"-W", "-X"})
_PYTHON_FLAG = re.compile(r"-[bBdEiIOqRsSuvxP]+")
# What they run may be another program, or the same one with other words.
_STRANGE = frozenset({"start-server-and-test", "cross-env-shell", "sudo", "flock", "tsx", "ts-node", "dotenv"})
_NODE_VALUE = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"})
# Tasks of these can have the name of a program.
_STRANGE |= frozenset({"pixi", "rye", "hatch", "pdm", "devbox", "mise", "asdf"})
# Options that change the folder, the package or the words of the program that runs.
_MOVES = frozenset({
    "-C", "--chdir", "--directory", "--cwd", "--prefix", "--dir", "--filter", "-F", "-w", "--workspace", "--workspaces",
    "-r", "--recursive", "-S", "--split-string", "-c", "--call", "--shell", "--shell-mode", "-i",
    "--ignore-environment",
})  # fmt: skip
_MOST = 12


def find(line: Line, names: Collection[str], modules: Collection[str] = ()) -> int | str:
    """Return the place of the runner's name (`pytest` of `uv run python -m pytest -q`), or why it cannot be told.

    `modules` are the names that `python -m` runs. Package scripts are not looked into.
    """
    at = line.first
    for _ in range(_MOST):
        if at >= len(line.words):
            return "the command names no program"
        if line.words[at].expands:
            return "which program runs is in a variable"
        name = base_name(line.words[at].text)
        if name in names:
            return at
        after = _behind(line, at, name, modules)
        if isinstance(after, str):
            return after
        if after < 0:
            return -after - 1
        at = after
    return "the command runs through too many programs"


def _behind(line: Line, at: int, name: str, modules: Collection[str]) -> int | str:
    """Return the place of the program that this one runs; -place - 1 when it is the runner itself."""
    texts = [word.text for word in line.words]
    if name in SHELLS:
        return f"`{name}` runs a script: its words are not looked into"
    if _PYTHON.fullmatch(name):
        return _module(texts, at + 1, modules)
    if name in ("node", "nodejs"):
        return _options(texts, at + 1, _NODE_VALUE, moves=frozenset())
    if name == "coverage":
        if texts[at + 1 : at + 2] != ["run"]:
            return "`coverage` runs no tests here"
        after = _options(texts, at + 2, TAKES_VALUE, stop="-m")
        return after if isinstance(after, str) else _module(texts, after, modules)
    if name in MANAGERS:
        return _manager(texts, at, name)
    if name in _STRANGE:
        return f"what `{name}` runs cannot be told"
    if name in VERBS:
        return _verb(texts, at, name)
    if name not in WRAPPERS:
        return f"what `{name}` runs cannot be told"
    found = _options(texts, at + 1, WRAPPERS[name], moves=_MOVES - {"-r", "-w"} if name in ("c8", "nyc") else _MOVES)
    if isinstance(found, str):
        return found
    found += name in TAKES_ONE
    while name in ("env", "cross-env") and found < len(texts) and re.match(r"[A-Za-z_]\w*=", texts[found]):
        found += 1
    return found


def _verb(texts: list[str], at: int, name: str) -> int | str:
    verb = _options(texts, at + 1, TAKES_VALUE)
    if isinstance(verb, str):
        return verb
    if verb >= len(texts) or texts[verb] not in VERBS[name]:
        return f"`{name}` runs something that is not looked into"
    return _options(texts, verb + 1, TAKES_VALUE)


def _module(texts: list[str], at: int, modules: Collection[str]) -> int | str:
    while at < len(texts) and (texts[at] in _PYTHON_VALUE or _PYTHON_FLAG.fullmatch(texts[at])):
        at += 2 if texts[at] in _PYTHON_VALUE else 1
    if texts[at : at + 1] != ["-m"] or at + 1 >= len(texts):
        return "Python runs a script that is not looked into"
    if texts[at + 1] in modules:
        return -(at + 1) - 1
    # `python -m coverage run -m pytest` and the like
    return at + 1 if texts[at + 1] in VERBS else f"`python -m {texts[at + 1]}` is not looked into"


def _manager(texts: list[str], at: int, name: str) -> int | str:
    """Only what runs a program of a package is seen through; a script takes its words as it likes."""
    rest = texts[at + 1 : at + 3]
    verbs = {"npm": ("exec", "x"), "pnpm": ("exec", "dlx"), "bun": ("x",), "yarn": ()}[name]
    if rest[:1] and rest[0] in verbs:
        after = at + 3 if rest[1:] == ["--"] else at + 2
        if after < len(texts) and texts[after].startswith("-"):
            return f"`{name} {rest[0]}` has options that are not looked into"
        if name == "npm" and rest[1:] != ["--"]:
            return "`npm exec` keeps options for itself unless `--` stands before the program"
        return after
    return f"`{' '.join([name, *rest])}` runs a script of the package: what that does with more words cannot be told"


def _options(
    texts: list[str], at: int, takes_value: Collection[str], *, moves: Collection[str] = _MOVES, stop: str = ""
) -> int | str:
    """Return the place behind the options of a wrapper, or which of them makes its program another one."""
    while at < len(texts) and texts[at].startswith("-") and texts[at] != stop:
        name = texts[at].partition("=")[0]
        if name == "--":
            return at + 1
        if name in moves or (not name.startswith("--") and name[:2] in ("-C", "-S") and "-C" in moves):
            return f"`{texts[at]}` makes the program run elsewhere or otherwise"
        if name.startswith("--check-coverage"):
            return "a coverage threshold is for the whole suite (`--check-coverage`)"
        at += 2 if texts[at] in takes_value else 1
    return at


def base_name(word: str) -> str:
    """Return the name of a program without its folder, ending and version (`vitest` of `vitest@3`)."""
    name = word.rsplit("/", 1)[-1]
    name = re.sub(r"\.(?:exe|cmd|[cm]?js)$", "", name)
    return name.split("@", 1)[0] if "@" in name[1:] else name
