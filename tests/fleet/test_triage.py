from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet import triage as module
from morph_tasks.fleet.look import look
from morph_tasks.fleet.triage import Triage, triage
from morph_tasks.fleet.walking import make_private
from morph_tasks.repo.git import open_repo
from tests.fleet.linked import ODD, Linked, make_linked


def sorted_of(linked: Linked) -> Triage:
    return triage(open_repo(linked.tree), linked.main)


def paths(linked: Linked) -> tuple[set[str], set[str], set[str]]:
    found = sorted_of(linked)
    return {one.path for one in found.replicated}, set(found.regenerable), {one.path for one in found.exclusive}


def test_each_file_by_its_own_content(linked: Linked) -> None:
    linked.write("local/same.db", "same", main=True)
    linked.write("local/same.db", "same")
    linked.write("local/differs.db", "main", main=True)
    linked.write("local/differs.db", "tree")
    linked.write("local/only.db", "only here")
    linked.write("local/deep/__pycache__/a.pyc", "b")
    linked.write(".env.local", "KEY=1", mode=0o640)
    replicated, made_again, exclusive = paths(linked)
    assert replicated == {"local/same.db"}
    assert made_again == {"local/deep/__pycache__/"}
    assert exclusive == {"local/differs.db", "local/only.db", ".env.local"}
    found = sorted_of(linked)
    assert found.secrets == (".env.local",)
    assert found.excluded_caches == ("local/deep/__pycache__/",)
    secret = next(one for one in found.exclusive if one.path == ".env.local")
    assert (secret.mode, secret.size) == (0o640, 5)


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("node_modules/p/index.js", "node_modules/"),
        ("data/node_modules/p/index.js", "data/node_modules/"),
        ("__pycache__/m.pyc", "__pycache__/"),
        ("data/test-results/x.png", "data/test-results/"),
        ("data/.auth/state.json", "data/.auth/"),
        ("data/.next/x", "data/.next/"),
        ("data/.turbo/x", "data/.turbo/"),
        ("data/.pytest_cache/x", "data/.pytest_cache/"),
        ("data/TestResults/x.trx", "data/TestResults/"),
        ("data/graphify-out/graph.json", "data/graphify-out/"),
        ("data/.mypy_cache/x", "data/.mypy_cache/"),
        ("data/x.tsbuildinfo", "data/x.tsbuildinfo"),
        ("tsconfig.tsbuildinfo", "tsconfig.tsbuildinfo"),
        ("obj/project.assets.json", "obj/"),
        ("data/bin/Release/app.dll", "data/bin/Release/"),
    ],
)
def test_what_tools_make_again(linked: Linked, name: str, again: str) -> None:
    linked.write(name)
    assert paths(linked) == (set(), {again}, set())


@pytest.mark.parametrize(
    "name",
    [
        "bin/deploy.js",
        "data/coverage/notes.md",
        "data/dist/index.js",
        "data/.ipynb_checkpoints/a.ipynb",
        "obj/chair.mtl",
        "local/node_modules.txt",
        "data/venv/lib/a.py",
        "data/CACHEDIR.TAG",
    ],
)
def test_what_may_be_somebodys_work(linked: Linked, name: str) -> None:
    linked.write(name)
    assert paths(linked) == (set(), set(), {name})


def test_output_beside_a_project_file(linked: Linked) -> None:
    linked.write("api/api.csproj", "<Project/>")
    linked.commit()
    linked.write("api/bin/app.dll")
    linked.write("api/obj/chair.obj")
    linked.write("web/bin/cli.js")
    assert paths(linked) == (set(), {"api/bin/", "api/obj/"}, {"web/bin/cli.js"})


def test_a_folder_that_says_it_is_a_cache(linked: Linked) -> None:
    linked.write("data/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# made by cargo\n")
    linked.write("data/target/debug/app")
    linked.write("data/fake/CACHEDIR.TAG", "Signature: none\n")
    assert paths(linked) == (set(), {"data/target/"}, {"data/fake/CACHEDIR.TAG"})


def test_an_environment_keeps_what_was_put_beside_it(linked: Linked) -> None:
    linked.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    linked.write(".venv/lib/python3/site.py")
    linked.write(".venv/bin/python")
    linked.write(".venv/notes.txt", "mine")
    replicated, made_again, exclusive = paths(linked)
    assert exclusive == {".venv/notes.txt"} and not replicated
    assert made_again == {".venv/lib/", ".venv/bin/", ".venv/pyvenv.cfg"}


def test_our_own_derived_files(linked: Linked) -> None:
    linked.write(".morph/.gitignore", "state.json\nworktree.env\nlogs/\n")
    linked.commit()
    for name in ("state.json", "worktree.env", "logs/events.jsonl"):
        linked.write(f".morph/{name}")
    made_again = {".morph/state.json", ".morph/worktree.env"}
    assert paths(linked) == (set(), made_again, {".morph/logs/events.jsonl"})


def test_links_are_told_and_never_followed(linked: Linked, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "x").write_text("keep")
    linked.link("node_modules", shared)
    linked.link("local/loop", "loop")
    linked.link("local/inside", "../src/app.txt")
    found = sorted_of(linked)
    assert {(link.path, link.target) for link in found.links} == {
        ("node_modules", str(shared)),
        ("local/loop", "loop"),
        ("local/inside", "../src/app.txt"),
    }
    assert not found.exclusive and not found.regenerable


def test_a_copy_behind_a_link_of_the_main_tree_proves_nothing(linked: Linked) -> None:
    linked.write("local/a.db", "precious")
    (linked.main / "local").symlink_to(linked.tree / "local")
    assert paths(linked)[2] == {"local/a.db"}
    (linked.main / "local").unlink()
    (linked.main / "local").mkdir()
    (linked.main / "local/a.db").symlink_to(linked.tree / "local/a.db")
    assert paths(linked)[2] == {"local/a.db"}


@pytest.mark.parametrize("where", ["local/inner", "node_modules/inner", "local/deep/er/inner"])
def test_a_nested_repository_is_kept_whole(linked: Linked, where: str) -> None:
    inner = linked.tree / where
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    linked.write(f"{where}/a.txt")
    linked.write(f"{where}/node_modules/b.js")
    found = sorted_of(linked)
    kept = {one.path for one in found.exclusive}
    assert {f"{where}/a.txt", f"{where}/node_modules/b.js", f"{where}/.git/HEAD"} <= kept
    assert f"{where}/.git/refs/heads" in found.empty_folders
    assert not any(one.startswith(where) for one in found.regenerable)


def test_a_bare_repository_is_kept_whole(linked: Linked) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(linked.tree / "local/mirror")], check=True)
    linked.write("local/mirror/refs/heads/node_modules/x", "0" * 40)
    assert "local/mirror/refs/heads/node_modules/x" in paths(linked)[2]


def test_odd_names(linked: Linked) -> None:
    for name in ODD:
        linked.write(name)
        linked.write(f"local/{name}/{name}")
    assert paths(linked)[2] == {*ODD, *(f"local/{name}/{name}" for name in ODD)}


def test_what_is_no_file_holds_nothing(linked: Linked) -> None:
    os.mkdir(linked.tree / "local")
    os.mkfifo(linked.tree / "local/pipe")
    with socket.socket(socket.AF_UNIX) as end:
        os.chdir(linked.tree / "local")
        end.bind("socket")
    assert paths(linked) == (set(), set(), set())


def test_a_folder_as_deep_as_paths_can_be(deep_place: Path) -> None:
    linked = make_linked(deep_place)
    deep = linked.tree / "local" / Path(*["d"] * 1100)
    make_private(deep)
    (deep / "a").write_text("x")
    assert len(paths(linked)[2]) == 1


def test_a_file_that_cannot_be_read_stops_it(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.write("local/a.db")

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(module, "hash_file", refuse)
    with pytest.raises(Refusal) as caught:
        sorted_of(linked)
    assert caught.value.code == "ignored-unreadable" and "local/a.db" in caught.value.what


def test_a_file_that_vanishes_hides_no_other(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        linked.write(f"local/{name}")
    real = module.hash_file

    def vanish(path: Path) -> tuple[str, os.stat_result]:
        if path.name == "a":
            path.unlink()
        return real(path)

    monkeypatch.setattr(module, "hash_file", vanish)
    assert paths(linked)[2] == {"local/b", "local/c"}


def test_flags_do_not_hide_a_change(linked: Linked) -> None:
    for flag in ("--assume-unchanged", "--skip-worktree"):
        linked.git("update-index", flag, "src/app.txt", cwd=linked.tree)
    linked.write("src/app.txt", "changed\n")
    assert linked.git("status", "--porcelain", cwd=linked.tree) == ""
    assert look(linked.tree, linked.admin).dirty == ("src/app.txt",)


def test_by_products_and_our_own_folder_are_changes(linked: Linked) -> None:
    names = [".morph/notes.md", "junit.xml", "coverage/index.html", "a.swp"]
    for name in names:
        linked.write(name)
    linked.git("add", "junit.xml", cwd=linked.tree)
    assert sorted(look(linked.tree, linked.admin).dirty) == sorted(names)


def test_links_that_lead_out_are_no_changes(linked: Linked, tmp_path: Path) -> None:
    linked.link("vendor", tmp_path)
    linked.link("latest", "src")
    seen = look(linked.tree, linked.admin)
    assert seen.dirty == ("latest",)
    assert [(one.path, one.target) for one in seen.links] == [("vendor", str(tmp_path))]


def test_the_look_writes_nothing(linked: Linked) -> None:
    linked.write("local/a.db")
    os.utime(linked.tree / "src/app.txt", (1, 1))
    before = (linked.admin / "index").read_bytes(), (linked.admin / "gitdir").stat().st_mtime_ns
    os.utime(linked.admin / "gitdir", (1, 1))  # git corrects what it has not looked at for a day
    look(linked.tree, linked.admin)
    assert (linked.admin / "index").read_bytes() == before[0]
    assert (linked.admin / "gitdir").stat().st_mtime == 1


def test_a_bare_repository_has_no_main_tree_to_compare_with(tmp_path: Path) -> None:
    base = Path(os.path.realpath(tmp_path))
    run = lambda *words: subprocess.run(["git", *words], check=True, cwd=base)  # noqa: E731
    run("init", "-q", "-b", "main", "seed")
    run("-C", "seed", "commit", "-q", "--allow-empty", "-m", "i")
    run("clone", "-q", "--bare", "seed", "bare.git")
    run("-C", "bare.git", "worktree", "add", "-q", str(base / "w"), "main")
    (base / "bare.git/info/exclude").write_text("*.log\n")
    (base / "w/a.log").write_text("x")
    tree = open_repo(base / "w")
    from morph_tasks.repo.trees import primary_root

    found = triage(tree, primary_root(tree))
    assert [one.path for one in found.exclusive] == ["a.log"]
