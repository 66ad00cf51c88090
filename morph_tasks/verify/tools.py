"""Which programs a command runs, and what identifies each: the bytes of the real executable.

No program is run to learn its version, and no path enters the identity.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from morph_tasks.verify.digests import Digests, text_digest
from morph_tasks.verify.probe import ask

_SEPARATORS = {";", "&", "&&", "|", "||", "(", ")", "\n", ";;", "|&"}
_WRAPPERS = {"env", "exec", "command", "time", "nice", "nohup", "sudo", "xvfb-run", "stdbuf", "ionice"}
# The word after these is a program too.
_CARRIERS = {
    "npx": 1, "bunx": 1, "uvx": 1, "pnpx": 1,
    "poetry": 2, "uv": 2, "pipenv": 2, "pdm": 2, "hatch": 2, "rye": 2, "bundle": 2, "pnpm": 2, "yarn": 2, "npm": 2,
}  # fmt: skip
_KEYWORDS = {"if", "then", "else", "elif", "do", "while", "until", "!", "{"}  # a program comes behind these
_BUILTINS = {
    "cd", "export", "set", "unset", "true", "false", "echo", "test", "[", "[[", "exit", "fi", "for", "done",
    "case", "esac", ":", ".", "source", "eval", "printf", "read", "return", "shift", "trap", "ulimit", "umask",
    "wait", "in", "}",
}  # fmt: skip
_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")
_RUNNER_TOOLS = {
    "vitest": ("node",), "jest": ("node",), "mocha": ("node",), "node-test": ("node",), "playwright": ("node",),
    "karma": ("node",), "go": ("go",), "cargo": ("cargo", "rustc"), "dotnet": ("dotnet",), "phpunit": ("php",),
    "rspec": ("ruby",), "ctest": ("ctest", "cmake"), "bun": ("bun",), "deno": ("deno",), "surefire": ("mvn", "java"),
    "gradle": ("java",),
}  # fmt: skip
_NODE_WORDS = {"npm", "npx", "yarn", "pnpm", "node", "corepack", "tsc"}


def programs(command: str, runner: str) -> list[str]:
    """Return the names of the programs that a shell command starts, and those its runner stands on."""
    if not command:
        return []
    found = ["sh", *_RUNNER_TOOLS.get(runner, ())]
    for words in _simple_commands(command):
        found += _leading(words)
    if _NODE_WORDS.intersection(found):
        found.append("node")
    return list(dict.fromkeys(found))


def _simple_commands(command: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=";&|()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        words = command.split()
    part: list[str] = []
    for word in words:
        if word in _SEPARATORS or not word.strip(";&|()"):
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _leading(words: list[str]) -> list[str]:
    found: list[str] = []
    rest = list(words)
    carried = 0
    while rest:
        word = rest.pop(0)
        if _ASSIGNMENT.match(word) or word.startswith("-") or word in _WRAPPERS:
            continue
        if word == "timeout":
            rest = rest[1:]
            continue
        if word in _KEYWORDS:
            continue
        if word in _BUILTINS:
            break
        found.append(word)
        carried = carried or _CARRIERS.get(word, 0) + 1
        carried -= 1
        if carried <= 0:
            break
    return found


class Tools:
    """Identities of programs as seen from one folder."""

    def __init__(self, digests: Digests, cwd: Path, root: Path) -> None:
        self._digests = digests
        self._cwd = cwd
        self._root = root

    def identities(self, names: Iterable[str]) -> dict[str, str | None]:
        """Return name -> digest; None for a program that is not there. Names inside the tree keep their spelling."""
        return {name: self._identity(path) if (path := self.find(name)) else None for name in names}

    def find(self, name: str) -> str:
        """Return where a program lies, shims followed, links not; "" when there is none."""
        if "/" in name:
            if name.startswith("~"):
                ask("env", "HOME")
            path = str(self._cwd / os.path.expanduser(name))
            return path if ask("file", path) else ""
        found = ask("which", name)
        # The same place may lead to another program.
        return self._behind_shim(name, found) if found and ask("file", found) else ""

    def interpreter(self, path: str) -> str:
        """Return the interpreter that a script names in its first line; "" for a binary."""
        line = _first_line(path)
        if not line.startswith(b"#!"):
            return ""
        words = line[2:].decode("utf-8", "surrogateescape").split()
        if not words:
            return ""
        if words[0].endswith("/env"):
            names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
            return self.find(names[0]) if names else ""
        return words[0] if ask("file", words[0]) else ""

    def _identity(self, path: str) -> str | None:
        real = os.path.realpath(path)
        interpreter = self.interpreter(real)
        if not interpreter:
            return self._digests.of(real)
        ask("file", real)
        try:
            with open(real, "rb") as file:
                body = file.read(1 << 20).split(b"\n", 1)[-1]
        except OSError:
            return None
        # The first line holds a path of this machine: what it leads to stands for it.
        under = self._digests.of(os.path.realpath(interpreter)) or ""
        return text_digest(under + body.decode("utf-8", "surrogateescape"))

    def _behind_shim(self, name: str, path: str) -> str:
        folder = os.path.dirname(path)
        if not folder.endswith(("/shims", "/.volta/bin")):
            return path
        home = os.path.dirname(folder)
        for find in (_pyenv, _asdf, _mise, _volta):
            found = find(home, name, self._cwd)
            if found and ask("file", found):
                return found
        return path


def _chosen(cwd: Path, file_name: str, last: str, variable: str) -> list[str]:
    """Return the lines that choose a version: a variable, a file in this folder or above, a global file."""
    value = ask("env", variable) if variable else ""
    if value:
        return [value[1:].replace(":", "\n")]
    for folder in (cwd, *cwd.parents):
        lines = _lines(folder / file_name)
        if lines is not None:
            return lines
    return _lines(Path(last)) or []


def _lines(path: Path) -> list[str] | None:
    """Return the lines of a file; None when there is none."""
    if not ask("file", str(path)):
        return None
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None


def _pyenv(home: str, name: str, cwd: Path) -> str:
    if not os.path.isdir(f"{home}/versions"):
        return ""
    for version in _chosen(cwd, ".python-version", f"{home}/version", "PYENV_VERSION"):
        for folder in (version.strip(), *_newest(f"{home}/versions", version.strip())):
            if folder and ask("file", f"{home}/versions/{folder}/bin/{name}"):
                return f"{home}/versions/{folder}/bin/{name}"
    return ""


def _newest(folder: str, prefix: str) -> list[str]:
    """Return the versions that a short one such as `3.11` may mean, newest first."""
    ask("file", folder)
    try:
        names = [name for name in os.listdir(folder) if name.startswith(prefix + ".")]
    except OSError:
        return []
    return sorted(
        names, key=lambda name: [int(part) if part.isdigit() else 0 for part in name.split(".")], reverse=True
    )


def _asdf(home: str, name: str, cwd: Path) -> str:
    return _installs(home, name, _chosen(cwd, ".tool-versions", _at_home(".tool-versions"), ""))


def _mise(home: str, name: str, cwd: Path) -> str:
    return _installs(home, name, _chosen(cwd, ".mise.toml", _at_home(".tool-versions"), ""))


def _installs(home: str, name: str, lines: list[str]) -> str:
    for line in lines:
        words = line.replace("=", " ").replace('"', " ").split()
        for version in words[1:]:
            path = f"{home}/installs/{words[0]}/{version}/bin/{name}"
            if ask("file", path):
                return path
    return ""


def _at_home(name: str) -> str:
    ask("env", "HOME")
    return os.path.expanduser(f"~/{name}")


def _volta(home: str, name: str, cwd: Path) -> str:
    import json

    for folder in (cwd, *cwd.parents):
        try:
            pinned = json.loads("\n".join(_lines(folder / "package.json") or ()))["volta"]["node"]
        except (ValueError, KeyError, TypeError):
            continue
        return f"{home}/tools/image/node/{pinned}/bin/{name}"
    try:
        default = json.loads("\n".join(_lines(Path(f"{home}/tools/user/platform.json")) or ()))["node"]["runtime"]
    except (ValueError, KeyError, TypeError):
        return ""
    return f"{home}/tools/image/node/{default}/bin/{name}"


def _first_line(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(512).split(b"\n", 1)[0]
    except OSError:
        return b""
