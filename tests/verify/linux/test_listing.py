from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.verify.linux.listing import LINK, files_to_copy

from .conftest import MakeRepo


def _paths(repo: Repo, *left_out: str) -> set[str]:
    return {os.fsdecode(entry.path) for entry in files_to_copy(repo, left_out)}


def _write(repo: Repo, path: str, text: str = "x") -> None:
    place = repo.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def _git(root: Path, *args: str) -> None:
    subprocess.run(["git", "-C", str(root), *args], check=True, capture_output=True)


def test_tracked_and_untracked_files_without_ignored_ones(tree: MakeRepo) -> None:
    repo = tree({"a.py": "", ".gitignore": "dist/\n*.log\n"})
    _write(repo, "new/b.py")
    _write(repo, "dist/app.js")
    _write(repo, "x.log")
    assert _paths(repo) == {"a.py", ".gitignore", "new/b.py"}


def test_what_git_tracks_although_it_is_ignored_is_copied(tree: MakeRepo) -> None:
    assert "dist/keep.js" in _paths(tree({".gitignore": "dist/\n", "dist/keep.js": ""}))


def test_packages_and_environments_of_the_host_stay_where_they_are(tree: MakeRepo) -> None:
    repo = tree({"a.js": "", "node_modules/p/index.js": "", "web/node_modules/q/x.js": ""})
    _write(repo, "node_modules/new.js")
    _write(repo, ".venv/bin/python")
    _write(repo, "sub/.venv/x.py")
    assert _paths(repo) == {"a.js"}


def test_products_of_dotnet_stay_and_programs_that_git_tracks_come(tree: MakeRepo) -> None:
    repo = tree({"bin/rails": "", "src/App/App.csproj": "", "src/App/bin/app.dll": "", "src/App/obj/a.json": ""})
    _write(repo, "tools/bin/made")
    _write(repo, "obj/made")
    assert _paths(repo) == {"bin/rails", "src/App/App.csproj"}


def test_the_trees_of_other_features_stay(tree: MakeRepo, tmp_path: Path) -> None:
    repo = tree({"a.py": "", "docs/worktrees/how.md": ""})
    _git(repo.root, "worktree", "add", "-q", "worktrees/one", "-b", "one")
    _git(repo.root, "worktree", "add", "-q", "inner/two", "-b", "two")
    _write(repo, ".worktrees/three/a.py")
    _write(repo, "inner/own.py")
    assert _paths(repo) == {"a.py", "docs/worktrees/how.md", "inner/own.py"}
    inside = open_repo(repo.root / "inner/two").lightly()
    assert _paths(inside) == {"a.py", "docs/worktrees/how.md"}


def test_reports_that_the_run_will_write_are_not_taken_along_from_an_earlier_one(tree: MakeRepo) -> None:
    repo = tree({"a.py": "", "out/kept.xml": ""})
    _write(repo, "out/old.xml")
    _write(repo, "junit.xml")
    assert _paths(repo) == {"a.py", "out/kept.xml", "out/old.xml"}
    assert _paths(repo, "out/*.xml") == {"a.py", "out/kept.xml"}


def test_submodules_and_repositories_that_lie_in_the_tree_come_with_their_files(tree: MakeRepo, tmp_path: Path) -> None:
    library = tmp_path / "library"
    _git(tmp_path, "init", "-q", str(library))
    (library / "lib.py").write_text("")
    _git(library, "add", "-A")
    _git(library, "commit", "-qm", "x")
    repo = tree({"a.py": ""})
    _git(repo.root, "submodule", "--quiet", "add", str(library), "vendor/library")
    _git(repo.root, "commit", "-qm", "sub")
    _git(repo.root, "clone", "-q", str(library), "own/clone")
    (repo.root / "own/clone/new.py").write_text("")
    _git(repo.root, "submodule", "--quiet", "add", str(library), "vendor/empty")
    _git(repo.root, "submodule", "--quiet", "deinit", "-f", "vendor/empty")
    found = _paths(repo)
    assert {"vendor/library/lib.py", "own/clone/lib.py", "own/clone/new.py"} <= found
    assert not any(path.startswith("vendor/empty") or ".git/" in path for path in found)


def test_names_of_any_bytes(tree: MakeRepo) -> None:
    names = ["with space.txt", "new\nline.txt", "tab\there", "ünï/çödé.txt", "-dash", 'quo"te', "raw\udcff\udcfe.txt"]
    repo = tree(dict.fromkeys(names, ""))
    _write(repo, "un\ntracked")
    wanted = {name.encode("utf-8", "surrogateescape") for name in [*names, "un\ntracked"]}
    assert {entry.path for entry in files_to_copy(repo)} == wanted


def test_a_conflict_lists_a_file_once(tree: MakeRepo) -> None:
    repo = tree({"a.py": "1\n"})
    for branch, text in (("other", "2\n"), ("mine", "3\n")):
        _git(repo.root, "checkout", "-q", "-b", branch, "main")
        _write(repo, "a.py", text)
        _git(repo.root, "commit", "-qam", branch)
    subprocess.run(["git", "-C", str(repo.root), "merge", "-q", "other"], capture_output=True, check=False)
    assert [entry.path for entry in files_to_copy(repo)] == [b"a.py"]


def test_modes_and_links_are_git_s_where_the_disk_keeps_none(tree: MakeRepo) -> None:
    repo = tree({"run.sh": "", "a.py": "", "link": "a.py"})
    _git(repo.root, "update-index", "--chmod=+x", "run.sh")
    blob = subprocess.run(
        ["git", "-C", str(repo.root), "hash-object", "-w", "link"], capture_output=True, text=True, check=True
    ).stdout.strip()
    _git(repo.root, "update-index", "--cacheinfo", f"120000,{blob},link")
    assert {entry.path: entry.mode for entry in files_to_copy(repo)} == {b"run.sh": 0, b"a.py": 0, b"link": 0}
    _git(repo.root, "config", "core.fileMode", "false")
    _git(repo.root, "config", "core.symlinks", "false")
    modes = {entry.path: entry.mode for entry in files_to_copy(repo)}
    assert modes == {b"run.sh": 0o100755, b"a.py": 0o100644, b"link": LINK}


def test_a_broken_index_is_a_refusal(tree: MakeRepo) -> None:
    repo = tree({"a.py": ""})
    (repo.git_dir / "index").write_bytes(b"nonsense")
    with pytest.raises(Refusal) as caught:
        list(files_to_copy(repo))
    assert caught.value.code == "git-failed"
