from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.digests import Digests
from morph_tasks.verify.tools import Tools, programs


@pytest.mark.parametrize(
    ("command", "runner", "names"),
    [
        ("pytest -q", "pytest", ["sh", "pytest"]),
        ("A=1 B='x y' python3 -m pytest", "pytest", ["sh", "python3"]),
        ("cd web && npx vitest run", "vitest", ["sh", "node", "npx", "vitest"]),
        ("make build; ./run.sh | tee out.txt", "none", ["sh", "make", "./run.sh", "tee"]),
        ("timeout 60 cargo test", "cargo", ["sh", "cargo", "rustc"]),
        ("if test -f x; then go test ./...; fi", "go", ["sh", "go"]),
        ("poetry run pytest", "pytest", ["sh", "poetry", "run", "pytest"]),
        ("true", "none", ["sh"]),
        ("echo 'unbalanced", "none", ["sh"]),
        ("", "none", []),
    ],
)
def test_programs_of_a_command(command: str, runner: str, names: list[str]) -> None:
    assert programs(command, runner) == names


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_command_can_be_read(command: str) -> None:
    assert isinstance(programs(command, "none"), list)


def _program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_identity_is_content_not_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for place in ("one", "two"):
        _program(tmp_path / place, "tool", "\x7fELF same bytes")
        monkeypatch.setenv("PATH", str(tmp_path / place))
        seen.append(Tools(Digests(tmp_path / "store"), tmp_path, tmp_path).identities(["tool", "absent"]))
    assert seen[0] == seen[1]
    assert seen[0]["tool"] and seen[0]["absent"] is None


def test_a_script_stands_on_its_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = _program(tmp_path / "bin", "lang", "\x7fELF one")
    _program(tmp_path / "bin", "tool", f"#!{interpreter}\nsay hello\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    first = Tools(Digests(tmp_path / "s1"), tmp_path, tmp_path).identities(["tool"])
    interpreter.write_text("\x7fELF two")
    assert Tools(Digests(tmp_path / "s2"), tmp_path, tmp_path).identities(["tool"]) != first


def test_a_pyenv_shim_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "pyenv"
    _program(home / "shims", "python3", "#!/bin/sh\nexec pyenv exec python3\n")
    real = _program(home / "versions" / "3.12.4" / "bin", "python3", "\x7fELF 3.12.4")
    (home / "version").write_text("3.11.0\n")
    _program(home / "versions" / "3.11.0" / "bin", "python3", "\x7fELF 3.11.0")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".python-version").write_text("3.12\n")
    monkeypatch.setenv("PATH", f"{home}/shims{os.pathsep}/usr/bin")
    monkeypatch.delenv("PYENV_VERSION", raising=False)
    assert Tools(Digests(tmp_path / "s"), tree, tree).find("python3") == str(real)
