"""Files that are not as they were extracted: which are told, what is remembered, and what a short answer compares."""

from __future__ import annotations

import json
import os

import pytest

from morph_tasks.codegraph import drift, extracted
from morph_tasks.codegraph.drift import Drift, look
from morph_tasks.codegraph.freshness import freshness
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import status
from tests.conftest import Project


def compared(project: Project, *named: str, full: bool = True) -> Drift:
    git = str(project.root / ".git")
    found = look(str(project.root), git, git, named=named, full=full)
    assert found is not None
    return found


def told(project: Project) -> tuple[list[str], list[str], list[str]]:
    found = compared(project)
    return found.changed, found.new, found.gone


def test_work_that_is_not_committed_is_told_and_the_graph_is_that_of_head(graphed: Project) -> None:
    assert told(graphed) == ([], [], []) and status(graphed)["next"] is None
    graphed.write("shop/cart.py", "# two\n# lines\n" + (graphed.root / "shop/cart.py").read_text())
    graphed.write("shop/vat.py", "from shop.cart import Cart\n\n\ndef vat():\n    return Cart().total()\n")
    graphed.write("new/deep/more.py", "def more(): return 1\n")
    (graphed.root / "shop/till.py").unlink()
    assert told(graphed) == (["shop/cart.py"], ["new/deep/more.py", "shop/vat.py"], ["shop/till.py"])
    found = status(graphed)
    assert found["freshness"]["state"] == "fresh" and found["freshness"]["differs"]["count"] == 4
    words = "4 files differ from what was extracted: shop/cart.py, new/deep/more.py (new), shop/vat.py (new) and 1 more"
    assert found["freshness"]["detail"].endswith(words) and "graph refresh" in found["next"]
    for question in ("affected", "explain"):
        said = graphed.morph("graph", question, "Cart.total")
        assert said.code == 0 and said.out.splitlines()[-1].startswith(f"graph: fresh for HEAD; {words}")
        assert graphed.morph("graph", question, "Cart.total", "--json").json["freshness"]["differs"]["count"] == 4


def test_what_the_rules_leave_out_is_no_new_file(graphed: Project) -> None:
    graphed.write(".gitignore", "made/\n")
    for path in ("made/a.py", "node_modules/x/i.js", ".hidden/a.py", "shop/notes.md", "dist/b.py"):
        graphed.write(path, "def a(): return 1\n")
    rules = (graphed.root / ".graphifyignore").read_text()
    graphed.write(".graphifyignore", rules + "/dist/\n")
    assert told(graphed) == ([], [], [])


def test_a_file_in_a_folder_that_came_without_one_is_told(graphed: Project) -> None:
    (graphed.root / "fresh/deep").mkdir(parents=True)
    for folder in ("", "fresh", "fresh/deep"):
        os.utime(graphed.root / folder, (3, 3))
    assert told(graphed) == ([], [], []) and told(graphed) == ([], [], [])
    graphed.write("fresh/deep/late.py", "def late(): return 1\n")
    assert told(graphed) == ([], ["fresh/deep/late.py"], [])


def test_a_graph_of_work_that_is_gone_is_stale(graphed: Project) -> None:
    graphed.write("shop/vat.py", "def vat(): return 2\n")
    graphed.write("shop/cart.py", "class Cart:\n    def total(self): return 7\n")
    assert graphed.morph("graph", "refresh").code == 0
    assert freshness(open_repo(graphed.root)).state == "fresh" and told(graphed) == ([], [], [])
    graphed.git("stash", "-q", "-u")
    found = status(graphed)["freshness"]
    assert (found["state"], found["reason"]) == ("stale", "extracted-dirty")
    assert found["differs"]["gone"] == ["shop/vat.py"] and found["differs"]["changed"] == ["shop/cart.py"]
    graphed.git("stash", "pop", "-q")
    assert freshness(open_repo(graphed.root)).state == "fresh"


def test_a_file_that_was_deleted_when_it_was_extracted_and_is_back(graphed: Project) -> None:
    (graphed.root / "shop/till.py").unlink()
    assert graphed.morph("graph", "refresh").code == 0
    graphed.git("restore", "shop/till.py")
    assert status(graphed)["freshness"]["reason"] == "extracted-dirty"
    assert compared(graphed).new == ["shop/till.py"]


def test_the_same_content_at_another_time_is_read_once(graphed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("shop/cart.py", "shop/till.py"):
        os.utime(graphed.root / name, (1, 1))
    graphed.write("shop/notes.txt", "a file that is no code\n")
    os.utime(graphed.root / "shop", (2, 2))
    read: list[str] = []
    content = extracted.content

    def counted(path: str) -> str | None:
        read.append(path)
        return content(path)

    monkeypatch.setattr(extracted, "content", counted)
    assert told(graphed) == ([], [], []) and len(read) == 2
    listed: list[str] = []
    entries = extracted.entries
    monkeypatch.setattr(extracted, "entries", lambda root, folder: listed.append(folder) or entries(root, folder))
    assert told(graphed) == ([], [], []) and len(read) == 2 and "shop" not in listed


def test_in_a_big_tree_a_short_answer_compares_what_it_names(graphed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "MOST", 0)
    graphed.write("shop/cart.py", "class Cart: pass\n")
    found = compared(graphed, full=False)
    assert (len(found), found.complete, found.as_json()["count"], found.as_json()["changed"]) == (0, False, None, None)
    assert found.words().startswith("none of 3 files compared") and "--compare" in found.words()
    assert compared(graphed, "shop/till.py", full=False).as_json()["changed"] == []
    found = compared(graphed, "shop/cart.py", "shop/till.py", full=False)
    assert found.changed == ["shop/cart.py"] and found.compared == 2 and "2 of 3 files" in found.words()
    assert compared(graphed).complete


def test_all_are_compared_when_that_is_asked_for(graphed: Project) -> None:
    place = graphed.root / extracted.PLACE
    first, rest = place.read_text().splitlines()
    place.write_text(json.dumps({**json.loads(first), "entries": drift.MOST + 1}) + "\n" + rest + "\n")
    graphed.write("shop/vat.py", "def vat(): return 2\n")
    assert status(graphed)["freshness"]["differs"]["count"] is None
    said = graphed.morph("graph", "status", "--compare", "--json").json
    assert said["freshness"]["differs"]["new"] == ["shop/vat.py"]


@pytest.mark.parametrize("text", ["", "{", "[]\n[]\n", '{"version": 1}\n{}\n', "\udcff"])
def test_a_broken_note_says_nothing(graphed: Project, text: str) -> None:
    (graphed.root / extracted.PLACE).write_bytes(text.encode("utf-8", "surrogateescape"))
    found = status(graphed)["freshness"]
    assert found["state"] == "fresh" and found["differs"] is None and "is not known" in found["detail"]
    assert graphed.morph("graph", "refresh").code == 0
    assert told(graphed) == ([], [], [])


def test_a_path_cannot_write_to_the_terminal(graphed: Project) -> None:
    graphed.write("shop/a\x1b[2J.py", "def a(): return 1\n")
    assert "\x1b" not in graphed.morph("graph", "status").out and "x1b[2J.py" in graphed.morph("graph", "status").out


def test_a_copy_of_the_graph_in_a_work_tree_is_compared_with_that_tree(graphed: Project) -> None:
    assert graphed.morph("worktree", "provision", "side").code == 0
    side = Project(graphed.root / "worktrees/side")
    assert status(side)["freshness"]["differs"]["count"] == 0
    side.write("shop/cart.py", "class Cart: pass\n")
    assert status(side)["freshness"]["differs"]["changed"] == ["shop/cart.py"]
