"""Members of interfaces lead to all that implement them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegraph.rawgraphs import Raw, answers, extract


class Scene(Raw):
    """Types with members, all in one language."""

    def __init__(self, suffix: str = "cs") -> None:
        super().__init__()
        self.suffix = suffix

    def declare(self, name: str, *members: str, **bases: str) -> str:
        path = f"{name}.{self.suffix}"
        self.type(name, name, path)
        for member in members:
            bare, _, signature = member.partition("(")
            meta = {"signature": signature.rstrip(")"), "arity": len(signature.split(","))} if signature else {}
            key = self.node(f"{name}.{member}", f".{bare}()", path, 3, metadata=meta)
            self.link(name, "method", key, path)
        for relation, base in bases.items():
            self.link(name, relation, base, path)
        return name


def dispatched(scene: Scene, root: Path) -> set[str]:
    """Return the pairs that were recovered."""
    scene.write(root)
    return {edge.replace(" dispatches_to", " ->") for edge in answers(root, via="recovered-dispatch")}


def test_a_fake_as_the_second_implementer_takes_nothing_away(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("IMailer", "Send")
    scene.declare("Smtp", "Send", "Open", implements="IMailer")
    assert dispatched(scene, tmp_path) == {"IMailer.Send -> Smtp.Send"}
    scene.declare("FakeMailer", "Send", implements="IMailer")
    assert dispatched(scene, tmp_path) == {"IMailer.Send -> Smtp.Send", "IMailer.Send -> FakeMailer.Send"}


def test_what_graphify_has_is_not_added_again(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("IMailer", "Send")
    scene.declare("Smtp", "Send", implements="IMailer")
    scene.link("IMailer.Send", "dispatches_to", "Smtp.Send", "Smtp.cs")
    assert dispatched(scene, tmp_path) == set()


def test_overloads_pair_by_what_they_take(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("IStore", "Load(int)", "Load(int,string)")
    scene.declare("Store", "Load(int)", "Load(int,string)", "Load(Guid)", implements="IStore")
    scene.write(tmp_path)
    assert dispatched(scene, tmp_path) == {"IStore.Load -> Store.Load"}
    from morph_tasks.codegraph.index import open_index

    with open_index(tmp_path) as index:
        pairs = {
            (index.symbol(edge.source).key, index.symbol(edge.target).key)
            for found in index.find("Load")
            for edge in index.out_of([found.id])
        }
    assert pairs == {("IStore.Load(int)", "Store.Load(int)"), ("IStore.Load(int,string)", "Store.Load(int,string)")}


def test_a_member_inherited_from_a_base_class_implements_too(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("IMailer", "Send")
    scene.declare("Base", "Send")
    scene.declare("Smtp", implements="IMailer", inherits="Base")
    assert dispatched(scene, tmp_path) == {"IMailer.Send -> Base.Send"}


def test_a_subclass_that_overrides_is_reached(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("IMailer", "Send")
    scene.declare("Smtp", "Send", implements="IMailer")
    scene.declare("Quiet", "Send", inherits="Smtp")
    assert dispatched(scene, tmp_path) == {"IMailer.Send -> Smtp.Send", "IMailer.Send -> Quiet.Send"}


def test_an_interface_of_an_interface(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("ISend", "Send")
    scene.declare("IMailer", "Close", implements="ISend")
    scene.declare("Smtp", "Send", "Close", implements="IMailer")
    assert dispatched(scene, tmp_path) == {"ISend.Send -> Smtp.Send", "IMailer.Close -> Smtp.Close"}


def test_circles_and_other_languages_end(tmp_path: Path) -> None:
    scene = Scene()
    scene.declare("IA", "Go", implements="IB")
    scene.declare("IB", "Go", implements="IA")
    scene.suffix = "java"
    scene.declare("Java", "Go", implements="IA")
    assert dispatched(scene, tmp_path) == set()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.ts", "export interface M { send(): void }\nexport class A implements M { send() {} }\n"
                 "export class FakeA implements M { send() {} }\n"),
        ("M.java", "interface M { void send(); }\nclass A implements M { public void send() {} }\n"
                   "class FakeA implements M { public void send() {} }\n"),
    ],
)  # fmt: skip
def test_languages_for_which_graphify_gives_no_dispatch(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / name).write_text(text)
    found = answers(extract(tmp_path / "source", tmp_path / "copy"), via="recovered-dispatch")
    assert found == {"M.send dispatches_to A.send", "M.send dispatches_to FakeA.send"}
