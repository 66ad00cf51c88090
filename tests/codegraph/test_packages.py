"""An import of a package in Go is an edge to each of its files; one counts where something of the file is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.codegraph.affected import affected
from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.reach import links, near
from tests.codegraph.handmade import HandMade
from tests.conftest import Project

HASH, ITEM, SERVICE = "store/hash.go", "store/item.go", "web/service.go"


def go(*, package: tuple[str, ...] = (HASH, ITEM)) -> HandMade:
    made = HandMade()
    for path in package:
        made.use(SERVICE, path, "imports_from", 3)
    made.symbol(f"{HASH}:hash")
    made.use(f"{SERVICE}:serve", f"{ITEM}:load", "calls", 6)
    return made


def pairs(root: Path, made: HandMade, *files: str) -> set[tuple[str, str]]:
    made.write(root)
    with open_index(root) as index:
        return {(one.changed, one.consumer) for one in links(index, files)[0]}


def around(root: Path, *files: str) -> set[tuple[str, str]]:
    with open_index(root) as index:
        return {(one.file, one.how) for one in near(index, files)[0]}


def consumers(root: Path, path: str) -> set[str]:
    with open_index(root) as index:
        return {hit.symbol.label for hit in affected(index, [one for one in index.find(path) if one.kind == "file"])}


def test_an_import_is_no_use_of_the_files_of_which_nothing_is_used(tmp_path: Path) -> None:
    assert pairs(tmp_path, go(), HASH, ITEM, SERVICE) == {(ITEM, SERVICE)}
    assert around(tmp_path, HASH) == set() and around(tmp_path, ITEM) == {(SERVICE, "dependent")}
    assert around(tmp_path, SERVICE) == {(ITEM, "dependency")}
    assert consumers(tmp_path, HASH) == set() and consumers(tmp_path, ITEM) == {"serve()", "service.go"}


def test_what_the_used_file_uses_of_the_other_is_a_way_to_it(tmp_path: Path) -> None:
    made = go()
    made.use(f"{ITEM}:load", f"{HASH}:hash", "calls", 5)
    assert pairs(tmp_path, made, HASH, SERVICE) == {(HASH, SERVICE)}


def test_a_package_of_which_no_symbol_is_used_may_be_used_by_its_constants(tmp_path: Path) -> None:
    made = HandMade()
    for path in (HASH, ITEM):
        made.use(SERVICE, path, "imports_from", 3)
        made.symbol(f"{path}:{path[6]}")
    assert pairs(tmp_path, made, HASH, ITEM, SERVICE) == {(HASH, SERVICE), (ITEM, SERVICE)}


def test_a_file_of_which_the_graph_has_no_symbol_may_be_used(tmp_path: Path) -> None:
    made = go(package=(HASH, ITEM, "store/limits.go"))
    assert pairs(tmp_path, made, "store/limits.go", HASH, SERVICE) == {("store/limits.go", SERVICE)}


def test_another_line_imports_another_package(tmp_path: Path) -> None:
    made = go()
    made.use(SERVICE, "clock/clock.go", "imports_from", 4)
    made.symbol("clock/clock.go:now")
    assert ("clock/clock.go", SERVICE) in pairs(tmp_path, made, "clock/clock.go", HASH, SERVICE)


def test_elsewhere_an_import_names_its_file(tmp_path: Path) -> None:
    made = HandMade()
    for path in ("store/hash.py", "store/item.py"):
        made.use("web/service.py", path, "imports_from", 3)
    made.symbol("store/hash.py:hash")
    made.use("web/service.py:serve", "store/item.py:load", "calls", 6)
    assert ("store/hash.py", "web/service.py") in pairs(tmp_path, made, "store/hash.py", "web/service.py")


TREE = {
    "go.mod": "module example.com/stock\n\ngo 1.22\n",
    HASH: "package store\n\nfunc Hash(s string) int { return len(s) }\n",
    ITEM: "package store\n\nfunc Load(name string) string { return name }\n",
    SERVICE: 'package web\n\nimport "example.com/stock/store"\n\nfunc Serve() string { return store.Load("x") }\n',
    "cs/Hash.cs": "namespace Shop.Store;\npublic class Hash { public static int Of(string s) { return 1; } }\n",
    "cs/Item.cs": 'namespace Shop.Store;\npublic class Item { public string Name() { return "x"; } }\n',
    "cs/web/Service.cs": "using Shop.Store;\nnamespace Shop.Web;\n"
    "public class Service { public string Serve(Item item) { return item.Name(); } }\n",
    "j/store/Hash.java": "package j.store;\npublic class Hash { public static int of() { return 1; } }\n",
    "j/store/Item.java": 'package j.store;\npublic class Item { public String name() { return "x"; } }\n',
    "j/web/Service.java": "package j.web;\nimport j.store.*;\n"
    "public class Service { String serve(Item item) { return item.name(); } }\n",
}


@pytest.mark.parametrize(
    ("unused", "item", "service"),
    [
        (HASH, ITEM, SERVICE),
        ("cs/Hash.cs", "cs/Item.cs", "cs/web/Service.cs"),
        ("j/store/Hash.java", "j/store/Item.java", "j/web/Service.java"),
    ],
)
def test_as_graphify_has_it(project: Project, prepared: object, unused: str, item: str, service: str) -> None:
    def make() -> None:
        for path, text in TREE.items():
            project.write(path, text)
        project.commit()
        assert project.morph("graph", "build").code == 0

    prepared("packages", make)  # type: ignore[operator]
    with open_index(project.root) as index:
        found = {(one.changed, one.consumer) for one in links(index, {unused, item, service})[0]}
    assert found == {(item, service)}
    assert around(project.root, unused) == set()
    said = project.morph("graph", "affected", unused, "--json").json
    assert said["affected"] == [], said
