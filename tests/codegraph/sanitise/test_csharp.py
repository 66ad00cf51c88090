"""C# as graphify reads it today, and as 0.9.50 left it: scopes decide which type a name means."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from morph_tasks.codegraph.index import open_index
from tests.codegraph.rawgraphs import CSHARP, Raw, answers, every, extract, shown, undecided

# Child namespaces without a using; an alias; a using of the whole project; an attribute; a nested and a generic type.
ONCE_LOST = {
    "Pricer references IStore",
    "Pricer references Colour",
    "Pricer.Price references Cart",
    "Pricer.Price references Money",
    "Pricer.Go references Repository",
    "Pricer.Go references Cart",
    "Digger.Save references Cart",
    "Digger.Load references Cart",
    "Digger.Handle references Cart",
    "Digger inherits Handler",
    "Digger implements IStore",
    "AliasPage.M calls Cart",
}
STILL_LOST = {
    "Pricer.Go references AuditAttribute",
    "Pricer.Go references Cart.Line",
    "None references Cart",
    "None references Money",
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The graph that graphify 0.9.50 wrote of the tree."""
    (tmp_path / "graphify-out").mkdir()
    shutil.copy(CSHARP / "graph-0.9.50.json", tmp_path / "graphify-out/graph.json")
    return tmp_path


def test_an_old_graph_gets_back_what_its_stubs_hid(old: Path) -> None:
    assert answers(old, via="coalesced") == ONCE_LOST | STILL_LOST


def test_graphify_itself_still_loses_some_of_it(tmp_path: Path) -> None:
    root = extract(CSHARP, tmp_path / "cs")
    assert answers(root, via="coalesced") == STILL_LOST | {"Alias.cs imports CartExtensions"}
    assert {f"{edge} (direct)" for edge in ONCE_LOST if "AliasPage" not in edge} <= answers(root)


def test_what_two_usings_give_stays_a_choice(old: Path) -> None:
    with open_index(old) as index:
        domain, views = "Shop/Domain/Cart.Lines.cs:Cart", "Shop/Web/Views.cs:Cart"
        assert undecided(index) == {"Both references Cart": {domain, views}}
        assert index.counts()["ambiguous"] == 1
        assert {found.file for found in index.find("Cart")} == {"Shop/Domain/Cart.Lines.cs", "Shop/Web/Views.cs"}


def test_only_what_the_tree_does_not_define_is_external(old: Path) -> None:
    with open_index(old) as index:
        assert {found.label for found in every(index).values() if found.external} == {"Attribute", "HttpClient", "List"}


def test_a_fake_takes_no_dispatch_away(old: Path) -> None:
    found = {edge for edge in answers(old) if " dispatches_to " in edge}
    assert found == {
        "IStore.Save dispatches_to FakeStore.Save (direct)",
        "IStore.Load dispatches_to FakeStore.Load (direct)",
        "IStore.Save dispatches_to Digger.Save (recovered-dispatch)",
        "IStore.Load dispatches_to Digger.Load (recovered-dispatch)",
    }


def test_stubs_that_stand_for_something_are_never_found(old: Path) -> None:
    with open_index(old) as index:
        for name in ("Cart", "Money", "IStore", "Colour", "basket", "repository"):
            assert all(found.file for found in index.find(name)), name


class Scene(Raw):
    """A tree of namespaces: `Shop.Cart`, `Shop.Web.Cart`, and a page somewhere that says `Cart`."""

    def __init__(self) -> None:
        super().__init__()
        self.declare("Shop", "Cart", "Shop/Cart.cs")

    def declare(self, namespace: str, name: str, path: str, **meta: object) -> str:
        key = f"{path}:{name}"
        if not any(node["id"] == f"file:{path}" for node in self.nodes):
            self.file(path)
        if not any(node["id"] == f"ns:{namespace}" for node in self.nodes):
            self.node(f"ns:{namespace}", namespace, path, 1, type="namespace", metadata={"namespace": namespace})
        self.type(key, name, path, metadata={"namespace": namespace} | meta)
        self.link(f"file:{path}", "contains", f"ns:{namespace}", path)
        self.link(f"file:{path}", "contains", key, path)
        return key

    def using(self, path: str, full: str, **meta: str) -> None:
        self.link(f"file:{path}", "imports", f"ns:{full}", path, 1, metadata={"target_fqn": full} | meta)

    def page(self, namespace: str, path: str = "Shop/Page.cs", **reference: object) -> None:
        key = self.declare(namespace, "Page", path)
        self.link(key, "references", self.stub("stub", "Cart"), path, metadata={"ref_token": "Cart"} | reference)


def meant(scene: Scene, root: Path) -> set[str]:
    """Return the files of the types that the page means."""
    scene.write(root)
    with open_index(root) as index:
        page = next(found for found in every(index).values() if found.name == "Page")
        known = every(index)
        return {str(known[edge.target].file) for edge in index.out_of([page.id]) if edge.relation == "references"}


def test_a_child_namespace_sees_the_types_of_its_parents(tmp_path: Path) -> None:
    scene = Scene()
    scene.page("Shop.Web.Views")
    assert meant(scene, tmp_path) == {"Shop/Cart.cs"}


def test_the_nearest_namespace_wins(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("Shop.Web", "Cart", "Shop/Web/Cart.cs")
    scene.page("Shop.Web.Views")
    assert meant(scene, tmp_path) == {"Shop/Web/Cart.cs"}


def test_an_enclosing_namespace_wins_over_a_using(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("Other", "Cart", "Other/Cart.cs")
    scene.page("Shop.Web")
    scene.using("Shop/Page.cs", "Other")
    assert meant(scene, tmp_path) == {"Shop/Cart.cs"}


def test_a_using_decides_between_two_namespaces(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("Other", "Cart", "Other/Cart.cs")
    scene.page("Third")
    scene.using("Shop/Page.cs", "Other")
    assert meant(scene, tmp_path) == {"Other/Cart.cs"}


def test_a_name_that_no_using_reaches_is_not_picked(tmp_path: Path) -> None:
    scene = Scene()
    scene.page("Third")
    scene.declare("Fourth", "Thing", "Fourth/Thing.cs")
    scene.using("Shop/Page.cs", "Fourth")
    scene.write(tmp_path)
    with open_index(tmp_path) as index:
        assert undecided(index) == {"Page references Cart": {"Shop/Cart.cs:Cart"}}
        assert not [found for found in every(index).values() if found.external]


def test_a_using_of_the_whole_project_holds_in_its_folder_alone(tmp_path: Path) -> None:
    scene = Scene()
    scene.page("Third", "Shop/Page.cs")
    scene.file("Shop/Properties/GlobalUsings.cs")
    scene.using("Shop/Properties/GlobalUsings.cs", "Shop")
    assert meant(scene, tmp_path) == {"Shop/Cart.cs"}
    other = Scene()
    other.page("Third", "Elsewhere/Page.cs")
    other.file("Shop/GlobalUsings.cs")
    other.using("Shop/GlobalUsings.cs", "Shop")
    assert meant(other, tmp_path) == {"None"}


def test_a_qualified_name_means_what_it_says(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("Shop.Web", "Cart", "Shop/Web/Cart.cs")
    scene.page("Shop.Web", ref_qualifier="Shop")
    assert meant(scene, tmp_path) == {"Shop/Cart.cs"}
    part = Scene()
    part.declare("Shop.Web", "Cart", "Shop/Web/Cart.cs")
    part.page("Shop.Api", ref_qualifier="Web")
    assert meant(part, tmp_path) == {"Shop/Web/Cart.cs"}


def test_a_qualified_name_from_outside_is_external_though_the_tree_has_one_of_the_name(tmp_path: Path) -> None:
    scene = Scene()
    scene.page("Shop.Web", ref_qualifier="System.Collections")
    assert meant(scene, tmp_path) == {"None"}
    with open_index(tmp_path) as index:
        assert [found.label for found in every(index).values() if found.external] == ["Cart"]


def test_an_alias_is_followed(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("Other", "Basket", "Other/Basket.cs")
    scene.page("Third")
    scene.using("Shop/Page.cs", "Other.Basket", using_kind="alias", alias="Cart")
    assert meant(scene, tmp_path) == {"Other/Basket.cs"}


def test_an_alias_of_a_namespace_is_followed_and_its_own_link_ends_in_the_tree(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("Other.Place", "Cart", "Other/Cart.cs")
    scene.page("Third", ref_qualifier="Near")
    alias = {"using_kind": "alias", "alias": "Near", "target_fqn": "Other.Place"}
    scene.stub("other_place", "other_place", type="external", external=True)
    scene.link("file:Shop/Page.cs", "imports", "other_place", "Shop/Page.cs", 1, metadata=alias)
    assert meant(scene, tmp_path) == {"Other/Cart.cs"}
    assert answers(tmp_path, via="coalesced") == {"Page references Cart", "Page.cs imports Other.Place"}
    with open_index(tmp_path) as index:
        assert index.counts()["external"] == 0


def test_parts_of_a_type_are_one(tmp_path: Path) -> None:
    scene = Scene()
    first = scene.declare("Shop", "Till", "Shop/Till.cs", is_partial=True)
    second = scene.declare("Shop", "Till", "Shop/Till.Open.cs", is_partial=True)
    scene.declare("Shop.Web", "Till", "Shop/Web/Till.cs", is_partial=True)
    for key, owner, path in (("open", second, "Shop/Till.Open.cs"), ("close", first, "Shop/Till.cs")):
        scene.link(owner, "method", scene.node(key, f".{key}()", path, 5), path, 5)
    scene.write(tmp_path)
    with open_index(tmp_path) as index:
        till = index.find("Shop.Till")
        assert [(found.file, found.line) for found in till] == [("Shop/Till.cs", 2)]
        assert {found.name for found in index.members(till[0].id)} == {"open", "close"}
        assert [(found.owner, found.name) for found in index.find("Till.open")] == [("Till", "open")]
        assert ("Till", "Shop/Till.Open.cs") in {(f.name, f.file) for f in index.in_file("Shop/Till.Open.cs")}
        assert "Till method Till.open (coalesced)" in shown(index)


def test_parts_in_two_projects_are_two_types(tmp_path: Path) -> None:
    scene = Scene()
    for folder in ("Api", "Jobs"):
        scene.file(f"{folder}/{folder}.csproj")
        scene.declare("", "Program", f"{folder}/Program.cs", is_partial=True)
    scene.declare("", "Program", "Api/Deep/Program.Tests.cs", is_partial=True)
    scene.declare("", "Plain", "Api/Plain.cs")
    scene.declare("", "Plain", "Jobs/Plain.cs")
    scene.write(tmp_path)
    with open_index(tmp_path) as index:
        assert [found.file for found in index.find("Program")] == ["Api/Program.cs", "Jobs/Program.cs"]
        assert len(index.find("Plain")) == 2


def test_a_graph_that_says_nothing_of_namespaces_has_only_the_name(tmp_path: Path) -> None:
    made = Raw()
    made.type("cart", "Cart", "Cart.cs")
    made.type("page", "Page", "Page.cs")
    made.link("page", "references", made.stub("page_cs_cart", "Cart"), "Page.cs")
    made.write(tmp_path)
    assert answers(tmp_path) == {"Page references Cart (coalesced)"}
    made.type("other", "Cart", "Other.cs")
    made.write(tmp_path)
    with open_index(tmp_path) as index:
        assert undecided(index) == {"Page references Cart": {"Cart.cs:Cart", "Other.cs:Cart"}}
