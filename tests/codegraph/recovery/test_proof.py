"""Edges that are proved, and beside each the look-alike that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegraph.recovery.tree import recovered

BOX = "class Box:\n    def open(self):\n        pass\n"


@pytest.mark.parametrize(
    ("body", "proved"),
    [
        ("def run(box: Box):\n    box.open()\n", True),
        ("def run(box: 'Box | None'):\n    box.open()\n", True),
        ("def run(boxes: list[Box]):\n    for box in boxes:\n        box.open()\n", True),
        ("def run(boxes: dict[str, Box]):\n    for _, box in boxes.items():\n        box.open()\n", True),
        ("def run(boxes: dict[str, Box]):\n    for box in boxes:\n        box.open()\n", False),
        ("def run(box):\n    box.open()\n", False),
        ("def run(Box):\n    Box().open()\n", False),
        ("class Box:\n    def shut(self): ...\n\n\ndef run(box: Box):\n    box.shut()\n", False),
        ("def deco(f): ...\n\n\n@deco\ndef make() -> Box: ...\n\n\ndef run():\n    make().open()\n", False),
        ("def make() -> Box: ...\n\n\ndef run():\n    make().open()\n", True),
        ("def run(boxes: list[Box]):\n    return max(boxes, key=lambda box: box.open())\n", True),
        ("def run(boxes: list[Box]):\n    return other(boxes, key=lambda box: box.open())\n", False),
    ],
)
def test_python_receivers(body: str, proved: bool, tmp_path: Path) -> None:
    found = recovered(tmp_path, {"lib.py": BOX, "app.py": f"from lib import Box\n\n\n{body}"})
    assert (("app.py:run", "lib.py:Box.open") in found) is proved


def test_a_python_package_does_not_import_its_own_files_by_bare_name(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/types.py": BOX,
        "pkg/app.py": "from types import Box\n\n\ndef run():\n    Box()\n",
    }
    assert ("pkg/app.py:run", "pkg/types.py:Box") not in recovered(tmp_path, files)


def test_modules_that_import_each_other_in_a_circle_end(tmp_path: Path) -> None:
    files = {"a.py": "from b import *\nfrom b import x\n", "b.py": "from a import *\nfrom a import x\n"}
    assert recovered(tmp_path, files) == {}


def test_typescript_modules(tmp_path: Path) -> None:
    """A default import, a star, an alias of the configuration; a local that shadows an import is no use of it."""
    found = recovered(
        tmp_path,
        {
            "tsconfig.json": '{ "compilerOptions": { /* where */ "paths": { "@m/*": ["./src/m/*"], }, } }',
            "src/m/box.ts": "export default class Box { open() {} }\nexport function shut() {}\n",
            "src/m/index.ts": "export * from './box';\nexport { default as Case } from './box';\n",
            "src/app.ts": "import { shut } from '@m/index';\nimport { Case } from './m';\n"
            "export function run(box: Case) { box.open(); }\n"
            "export function hidden(shut: () => void) { shut(); }\n"
            "export function shown() { shut(); }\n",
        },
    )
    assert found["src/app.ts:run", "src/m/box.ts:Box.open"] == "calls"
    assert ("src/app.ts:shown", "src/m/box.ts:shut") in found
    assert ("src/app.ts:hidden", "src/m/box.ts:shut") not in found


def test_what_a_namespace_exports_is_not_exported_by_its_module(tmp_path: Path) -> None:
    found = recovered(
        tmp_path,
        {
            "lib.ts": "export class Box { open() {} }\nexport namespace Shop { export class Box { shut() {} } }\n",
            "app.ts": "import { Box, Shop } from './lib';\nexport function run(box: Box) { box.open(); }\n"
            "export function stop() { new Shop.Box().shut(); }\nexport function no(box: Box) { box.shut(); }\n",
        },
    )
    assert ("app.ts:run", "lib.ts:Box.open") in found
    assert {target for source, target in found if source == "app.ts:stop"} >= {"lib.ts:Box.shut"}
    assert "lib.ts:Box.shut" not in {target for source, target in found if source == "app.ts:no"}


def test_go_interfaces_are_satisfied_by_signature(tmp_path: Path) -> None:
    found = recovered(
        tmp_path,
        {
            "go.mod": "module x.test/a\n",
            "p/p.go": "package p\n\ntype Opener interface {\n\tOpen(n int) error\n}\n",
            "q/q.go": "package q\n\ntype Yes struct{}\n\nfunc (y *Yes) Open(count int) error { return nil }\n\n"
            "type No struct{}\n\nfunc (n *No) Open(name string) error { return nil }\n",
        },
    )
    assert found == {("q/q.go:Yes", "p/p.go:Opener"): "implements"}


def test_csharp_names_that_two_usings_give_are_nobodys(tmp_path: Path) -> None:
    files = {
        "A.cs": "namespace A; public class Box { }\n",
        "B.cs": "namespace B; public class Box { }\n",
        "One.cs": "using A;\nnamespace C; public class One { Box box; }\n",
        "Two.cs": "using A; using B;\nnamespace C; public class Two { Box box; }\n",
        "In.cs": "using A;\nnamespace B.Inner; public class In { Box box; }\n",
    }
    found = recovered(tmp_path, files)
    assert ("One.cs:One", "A.cs:Box") in found
    assert not any(source == "Two.cs:Two" for source, _ in found)
    assert ("In.cs:In", "B.cs:Box") in found  # the namespace around comes before the usings of the file


def test_csharp_overloads_are_told_by_their_arguments(tmp_path: Path) -> None:
    source = (
        "public class Box {\n  public void Put(int a) { }\n  public void Put(int a, int b) { }\n}\n"
        "public class User {\n  public void Use(Box box) { box.Put(1, 2); }\n}\n"
    )
    written = recovered(tmp_path, {"Box.cs": source})
    assert ("Box.cs:User.Use", "Box.cs:Box.Put#2") in written
    assert ("Box.cs:User.Use", "Box.cs:Box.Put") not in written


@pytest.mark.parametrize(
    ("body", "proved"),
    [
        ("var t = Total(); t.Round2();", True),
        ("decimal? t = null; t?.Round2();", True),
        ("Decimal t = 1; t.Round2();", True),
        ("Total().Round2();", True),
        ("held.Round2();", True),
        ('var s = $"{held.Round2()} EUR";', True),
        ("var t = 2 * held; t.Round2();", True),
        ("(held / 3m).Round2();", True),
        ("var t = 1.5m; t.Round2();", True),
        ("given.Round2();", True),
        ("var t = 1.5; t.Round2();", False),
        ("var t = 2 * 3; t.Round2();", False),
        ("var t = Unknown(); t.Round2();", False),
        ("text.Round2();", False),
        ("other.Round2();", False),
        ('var t = held + " EUR"; t.Round2();', False),
    ],
)
def test_csharp_extension_methods_of_types_of_the_language(body: str, proved: bool, tmp_path: Path) -> None:
    files = {
        "Ext.cs": "public static class Money { public static decimal Round2(this decimal one) => one; }\n",
        "Use.cs": "public class Use {\n  private decimal held;\n  public decimal Total() => 1m;\n"
        f"  public void Run(decimal given, string text, Box other) {{ {body} }}\n}}\n",
    }
    assert (("Use.cs:Use.Run", "Ext.cs:Money.Round2") in recovered(tmp_path, files)) is proved


def test_csharp_extension_methods_of_text_do_not_hide_its_own(tmp_path: Path) -> None:
    files = {
        "Ext.cs": "public static class Words {\n  public static string Slug(this string one) => one;\n"
        "  public static string Trim(this string one, int to) => one;\n}\n",
        "Use.cs": "public class Use {\n  public void Yes(string text) { text.Trim().ToLower().Slug(); }\n"
        '  public void Sum(string text) { ("a" + text).Slug(); }\n'
        "  public void Number(int n) { n.ToString().Slug(); }\n"
        "  public void No(int n) { n.Slug(); }\n}\n",
    }
    found = recovered(tmp_path, files)
    sources = {source for source, target in found if target == "Ext.cs:Words.Slug"}
    assert sources == {"Use.cs:Use.Yes", "Use.cs:Use.Sum", "Use.cs:Use.Number"}
    assert not [source for source, target in found if target == "Ext.cs:Words.Trim"]


def test_csharp_extension_methods_need_a_receiver_of_their_type(tmp_path: Path) -> None:
    files = {
        "Ext.cs": "public class Box { }\npublic class Bag { }\n"
        "public static class Ext {\n  public static void Open(this Box box) { }\n}\n",
        "Use.cs": "public class Use {\n  public void Yes(Box box) { box.Open(); }\n"
        "  public void No(Bag bag) { bag.Open(); }\n}\n",
    }
    found = recovered(tmp_path, files)
    assert ("Use.cs:Use.Yes", "Ext.cs:Ext.Open") in found
    assert ("Use.cs:Use.No", "Ext.cs:Ext.Open") not in found


def test_a_class_inside_a_function_does_not_make_the_function_derive(tmp_path: Path) -> None:
    """The function is the node that the graph has; it uses the base, but it is no subclass."""
    files = {"lib.py": BOX, "app.py": "from lib import Box\n\n\ndef run():\n    class Mine(Box):\n        pass\n"}
    written = recovered(tmp_path, files)
    assert written.get(("app.py:run", "lib.py:Box"), "references") == "references"


MAILER = (
    "from typing import Protocol\n\n\nclass Mailer(Protocol):\n    def send(self, to: str, *, cc='') -> None: ...\n"
)


@pytest.mark.parametrize(
    ("head", "body", "satisfied"),
    [
        ("class Smtp:", "def send(self, to, *, cc=''): pass", True),
        ("class Smtp:", "def send(self, to, *, cc='', bcc=''): pass", True),
        ("class Base:\n    def send(self, to, *, cc=''): pass\n\n\nclass Smtp(Base):", "pass", True),
        ("class Smtp:", "@staticmethod\n    def send(to, *, cc=''): pass", True),
        ("class Smtp:", "def send(self, where, *, cc=''): pass", False),
        ("class Smtp:", "def send(self, to): pass", False),
        ("class Smtp:", "def send(self, to, *, cc): pass", False),
        ("class Smtp:", "def send(self, to, body, *, cc=''): pass", False),
        ("class Smtp:", "async def send(self, to, *, cc=''): pass", False),
        ("class Smtp:", "@changed\n    def send(self, to, *, cc=''): pass", False),
        ("class Smtp:", "send = None", False),
        ("class Smtp:", "def post(self, to, *, cc=''): pass", False),
        ("from typing import Protocol\n\n\nclass Smtp(Protocol):", "def send(self, to, *, cc=''): pass", False),
    ],
)
def test_python_protocols_are_satisfied_by_the_same_members(
    head: str, body: str, satisfied: bool, tmp_path: Path
) -> None:
    found = recovered(tmp_path, {"mail.py": MAILER, "smtp.py": f"{head}\n    {body}\n"})
    assert (found.get(("smtp.py:Smtp", "mail.py:Mailer")) == "implements") is satisfied


def test_python_protocols_ask_for_fields_and_for_what_they_extend(tmp_path: Path) -> None:
    files = {
        "mail.py": "import typing as t\n\n\nclass Named(t.Protocol):\n    name: str\n\n\n"
        "class Mailer(Named, t.Protocol):\n    def send(self, to): ...\n\n\n"
        "class Sized(t.Protocol):\n    def __len__(self): ...\n",
        "smtp.py": "class Smtp:\n    def __init__(self):\n        self.name = 'x'\n\n    def send(self, to): ...\n\n\n"
        "class Dumb:\n    def send(self, to): ...\n\n    def __len__(self): ...\n",
    }
    found = {pair for pair, relation in recovered(tmp_path, files).items() if relation == "implements"}
    assert found == {("smtp.py:Smtp", "mail.py:Mailer"), ("smtp.py:Smtp", "mail.py:Named")}


def test_a_class_without_a_protocol_of_typing_is_none(tmp_path: Path) -> None:
    own = MAILER.replace("from typing import Protocol", "class Protocol: ...")
    found = recovered(tmp_path, {"mail.py": own, "smtp.py": "class Smtp:\n    def send(self, to, *, cc=''): pass\n"})
    assert ("smtp.py:Smtp", "mail.py:Mailer") not in found
