"""Names without a definition in languages where the imports of the file decide."""

from __future__ import annotations

from pathlib import Path

from morph_tasks.codegraph.index import open_index
from tests.codegraph.rawgraphs import Raw, answers, every, extract, shown, undecided


class Scene(Raw):
    """Two modules that define `Node`, and one that names it."""

    def __init__(self, suffix: str = "py") -> None:
        super().__init__()
        self.suffix = suffix
        for module in ("tree", "graph"):
            self.file(f"{module}.{suffix}")
            self.type(module, "Node", f"{module}.{suffix}")
        self.file(f"user.{suffix}")
        self.type("user", "User", f"user.{suffix}")
        self.link("user", "inherits", self.stub("user_node", "Node"), f"user.{suffix}")

    def imports(self, user: str, what: str, relation: str = "imports_from") -> None:
        self.link(f"file:{user}", relation, what, user, 1)


def meant(scene: Scene, root: Path) -> set[str]:
    """Return the files of what the user inherits."""
    scene.write(root)
    with open_index(root) as index:
        known = every(index)
        user = index.find("User")[0]
        return {str(known[edge.target].file) for edge in index.out_of([user.id])}


def test_an_imported_symbol_is_meant(tmp_path: Path) -> None:
    scene = Scene()
    scene.imports("user.py", "graph", "imports")
    assert meant(scene, tmp_path) == {"graph.py"}


def test_an_imported_module_decides(tmp_path: Path) -> None:
    scene = Scene()
    scene.imports("user.py", "file:tree.py")
    assert meant(scene, tmp_path) == {"tree.py"}


def test_what_a_package_passes_on_is_followed(tmp_path: Path) -> None:
    scene = Scene()
    scene.file("pkg/__init__.py")
    scene.file("pkg/deep/__init__.py")
    scene.imports("user.py", "file:pkg/__init__.py")
    scene.imports("pkg/__init__.py", "file:pkg/deep/__init__.py")
    scene.imports("pkg/deep/__init__.py", "graph", "imports")
    assert meant(scene, tmp_path) == {"graph.py"}


def test_what_a_plain_module_imports_is_not_passed_on(tmp_path: Path) -> None:
    scene = Scene()
    scene.file("middle.py")
    scene.imports("user.py", "file:middle.py")
    scene.imports("middle.py", "graph", "imports")
    assert meant(scene, tmp_path) == {"None"}


def test_re_exports_are_followed_in_a_circle_too(tmp_path: Path) -> None:
    scene = Scene("ts")
    for barrel in ("a.ts", "b.ts"):
        scene.file(barrel)
    scene.imports("user.ts", "file:a.ts")
    scene.imports("a.ts", "file:b.ts", "re_exports")
    scene.imports("b.ts", "file:a.ts", "re_exports")
    assert meant(scene, tmp_path) == {"None"}
    scene.imports("b.ts", "file:tree.ts", "re_exports")
    assert meant(scene, tmp_path) == {"tree.ts"}


def test_two_that_are_imported_stay_a_choice(tmp_path: Path) -> None:
    scene = Scene()
    scene.imports("user.py", "file:tree.py")
    scene.imports("user.py", "file:graph.py")
    scene.write(tmp_path)
    with open_index(tmp_path) as index:
        assert undecided(index) == {"User inherits Node": {"tree.py:Node", "graph.py:Node"}}
        assert [found.file for found in index.find("Node")] == ["tree.py", "graph.py"]


def test_a_lone_name_that_the_imports_do_not_reach_is_not_picked(tmp_path: Path) -> None:
    scene = Scene()
    scene.nodes = [node for node in scene.nodes if node["id"] != "graph"]
    assert meant(scene, tmp_path) == {"tree.py"}  # nothing is known of the imports
    scene.file("other.py")
    scene.imports("user.py", "file:other.py")
    scene.write(tmp_path)
    with open_index(tmp_path) as index:
        assert undecided(index) == {"User inherits Node": {"tree.py:Node"}}


def test_names_that_a_language_has_itself_are_from_outside(tmp_path: Path) -> None:
    scene = Scene()
    for node in scene.nodes:
        node["label"] = node["label"].replace("Node", "Exception")
    scene.nodes = [node for node in scene.nodes if node["id"] != "graph"]
    scene.write(tmp_path)
    with open_index(tmp_path) as index:
        assert [found.label for found in every(index).values() if found.external] == ["Exception"]
        assert shown(index) == {"User inherits Exception (direct)"}


def test_files_of_a_go_package_see_each_other(tmp_path: Path) -> None:
    made = Raw()
    for folder in ("store", "other"):
        made.type(folder, "Cart", f"{folder}/cart.go")
    made.node("use", "use()", "store/use.go", 4)
    made.link("use", "references", made.stub("stub", "Cart"), "store/use.go")
    made.write(tmp_path)
    with open_index(tmp_path) as index:
        found = index.out_of([index.find("use")[0].id])
        assert [index.symbol(edge.target).file for edge in found] == ["store/cart.go"]


def test_a_stub_that_only_names_the_file_that_refers_to_it(tmp_path: Path) -> None:
    scene = Scene()
    scene.nodes[-1] |= {"source_file": "user.py", "source_location": None}
    scene.imports("user.py", "tree", "imports")
    assert meant(scene, tmp_path) == {"tree.py"}
    with open_index(tmp_path) as index:
        assert [found.file for found in index.find("Node")] == ["tree.py", "graph.py"]


def test_names_from_outside_are_one_node_for_each_language(tmp_path: Path) -> None:
    made = Raw()
    for file in ("a.py", "b.py", "c.ts"):
        made.type(file, file[0].upper(), file)
        made.link(file, "inherits", made.stub(f"{file}_lib", "Widget"), file)
    made.write(tmp_path)
    with open_index(tmp_path) as index:
        assert len(index.find("Widget")) == 2
        assert all(found.external for found in index.find("Widget"))
        python = index.find("Widget")[0]
        assert len(index.into([python.id])) == 2


def test_what_graphify_loses_at_a_re_export_of_a_name_that_two_languages_have(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name, text in {
        "app/base.py": "class Widget:\n    pass\n\n\nclass Store:\n    pass\n",
        "app/__init__.py": "from .base import *\n",
        "app/use.py": "from app import Widget\n\n\nclass Special(Widget):\n    pass\n",
        "web/w.ts": "export class Widget {}\nexport class Store {}\n",
    }.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    found = answers(extract(source, tmp_path / "copy"), via="language-disambiguated")
    assert found == {"Special inherits Widget"}
