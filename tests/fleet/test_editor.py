from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.fleet.editor import SETTINGS, settle_editor
from morph_tasks.model.jsonedit import add_members
from morph_tasks.model.load import Config
from tests.conftest import Project
from tests.fleet.birthplace import config, repo_of, status

TREES = {"**/worktrees/**": True, "**/.worktrees/**": True, "**/node_modules/**": True}
BUILT = {"**/bin/**": True, "**/obj/**": True}
WANTED = {"files.watcherExclude": TREES | BUILT, "search.exclude": TREES | BUILT, "files.exclude": TREES}


def settle(project: Project, **worktree: Any) -> dict[str, Any]:
    return settle_editor(repo_of(project), config(**worktree)).as_json()


def test_a_file_is_made_and_kept_out_of_git(project: Project) -> None:
    assert settle(project)["status"] == "created"
    path = project.root / SETTINGS
    assert json.loads(path.read_text()) == WANTED and status(project.root) == ""
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert settle(project)["status"] == "unchanged" and (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.parametrize("name", ["Shop.sln", "Shop.slnx", "Shop.csproj"])
def test_in_a_dotnet_project_builds_vanish_from_the_explorer_too(project: Project, name: str) -> None:
    project.write(name, "")
    settle(project)
    assert json.loads((project.root / SETTINGS).read_text())["files.exclude"] == TREES | BUILT


def test_a_declared_stack_says_so_too(project: Project) -> None:
    settle_editor(repo_of(project), Config({"project": {"stack": "node+DotNet"}}, ""))
    assert json.loads((project.root / SETTINGS).read_text())["files.exclude"] == TREES | BUILT


@pytest.mark.parametrize("off", ["setting", "variable"])
def test_it_can_be_turned_off(project: Project, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    if off == "variable":
        monkeypatch.setenv("MORPH_EDITOR_SETTINGS", "0")
    assert settle(project, **({"editorSettings": False} if off == "setting" else {})) == {
        "status": "off",
        "path": SETTINGS,
    }
    assert not (project.root / ".vscode").exists()


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("unit", ["  ", "    ", "\t"])
def test_only_what_is_missing_is_added_in_the_style_of_the_file(
    project: Project, bom: bytes, end: str, unit: str
) -> None:
    lines = [
        "{",
        '@"editor.tabSize": 4.0,',
        '@"files.exclude": {',
        '@@"**/worktrees/**": false,',
        '@@"zzz": 1E2',
        "@},",
    ]
    lines += ['@"files.watcherExclude": {}', "}", ""]
    old = end.join(lines).replace("@", unit)
    path = project.write(SETTINGS, "")
    path.write_bytes(bom + old.encode())
    assert settle(project)["status"] == "updated"
    raw = path.read_bytes()
    assert raw.startswith(bom) and raw.count(b"\xef\xbb\xbf") == bool(bom)
    text = raw.removeprefix(bom).decode()
    found = json.loads(text)
    assert found["files.exclude"] == {"**/worktrees/**": False, "zzz": 100.0} | {
        glob: True for glob in TREES if glob != "**/worktrees/**"
    }
    assert list(found) == ["editor.tabSize", "files.exclude", "files.watcherExclude", "search.exclude"]
    assert f'{unit}"editor.tabSize": 4.0,' in text and f'{unit * 2}"zzz": 1E2' in text
    assert text.endswith(end) and text.count("\n") == text.count(end)
    assert all(line.removeprefix(unit).removeprefix(unit)[:1] not in (" ", "\t") for line in text.split(end))
    assert settle(project)["status"] == "unchanged" and path.read_bytes() == raw


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{\n  // mine\n  "a": 1\n}', "comments"),
        ('{"a": 1 /* x */}', "comments"),
        ('{"a": "http://x", "b": [1, 2,],}', "trailing-comma"),
        ('{"a": ', "unreadable"),
        ("", "not-an-object"),
        ("[]", "not-an-object"),
        ("null", "not-an-object"),
        ('{"files.exclude": true}', "not-an-object"),
        ('{"a": 1, "a": 2}', "unreadable"),
    ],
)
def test_a_file_that_could_lose_something_is_left_alone_and_gets_a_suggestion(
    project: Project, text: str, reason: str
) -> None:
    path = project.write(SETTINGS, text)
    said = settle(project)
    assert (said["status"], said["reason"], path.read_text()) == ("suggest", reason, text)
    assert json.loads(said["snippet"]) == WANTED


def test_odd_bytes_links_folders_and_tracked_files_are_left_alone(project: Project) -> None:
    path = project.write(SETTINGS, "{}")
    project.git("add", "-f", SETTINGS)
    said = settle(project)
    assert said["reason"] == "tracked" and path.read_text() == "{}"
    project.git("rm", "-q", "--cached", SETTINGS)
    path.write_bytes(b'{"a": "\xff"}')
    assert settle(project)["reason"] == "unreadable"
    path.unlink()
    elsewhere = project.write("elsewhere.json", "{}")
    path.symlink_to(elsewhere)
    assert settle(project)["reason"] == "link" and elsewhere.read_text() == "{}"
    path.unlink()
    path.symlink_to("nowhere")
    assert settle(project)["reason"] == "unreadable"
    path.unlink()
    path.mkdir()
    assert settle(project)["reason"] == "unreadable"
    path.rmdir()
    path.parent.rmdir()
    (project.root / ".vscode").symlink_to(project.root.parent)
    assert settle(project)["reason"] == "link" and not (project.root.parent / "settings.json").exists()


def test_the_snippet_holds_only_what_is_missing(project: Project) -> None:
    path = project.write(SETTINGS, json.dumps({**WANTED, "files.exclude": {"**/worktrees/**": False}}))
    project.git("add", "-f", SETTINGS)
    assert json.loads(settle(project)["snippet"]) == {
        "files.exclude": {"**/.worktrees/**": True, "**/node_modules/**": True}
    }
    path.write_text(json.dumps(WANTED))
    assert settle(project)["status"] == "unchanged"


_KEYS = st.text(alphabet='ab"\\ü/{},: \n', max_size=4)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(_KEYS, _VALUES, max_size=4),
    st.dictionaries(_KEYS, st.booleans(), max_size=3),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.dictionaries(st.text(alphabet="xyz", min_size=1, max_size=3), st.booleans(), min_size=1, max_size=3),
)
def test_whatever_the_text_nothing_but_the_members_changes(
    outer: dict[str, Any], inner: dict[str, Any], indent: Any, added: dict[str, bool]
) -> None:
    for data in ({**outer, "K": inner}, outer):
        text = json.dumps(data, indent=indent)
        new = add_members(text, ["K"], added)
        assert json.loads(new) == {**data, "K": {**data.get("K", {}), **added}}
        rest = iter(new)
        assert all(sign in rest for sign in text)  # what was there is still there, in its order
