"""What C# says around its definitions: namespaces, usings, bases, constraints, attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery import csharp_types as types
from morph_tasks.codegraph.recovery.model import Def
from morph_tasks.codegraph.recovery.visiting import TreeReader
from morph_tasks.verify.testcode.sitter import child, field, line, parts, text

if TYPE_CHECKING:
    from tree_sitter import Node


class Names(TreeReader):
    """The part of a reader that needs no bodies."""

    def space(self, node: Node, scope: int) -> int:
        name = text(field(node, "name")).replace(" ", "")
        inner = self.facts.open(scope, "block", -1)
        self.facts.spaces[inner] = f"{self.facts.spaces[scope]}.{name}".strip(".")
        return inner

    def using(self, node: Node, scope: int) -> None:
        words = {one.type for one in node.children}
        target, name = parts(node)[-1], field(node, "name")
        kind = "static" if "static" in words else "using"
        if name is not None:
            self.facts.bind(scope, text(name), ("path", types.type_(target)))
            self.facts.use(scope, ("path", types.type_(target)), line(node), "imports")
            return
        if "global" in words:
            kind = "global " + kind
        self.facts.usings.append((scope, kind, text(target).replace(" ", "").removeprefix("global::")))

    def constraints(self, node: Node, found: Def) -> None:
        for one in parts(node):
            if one.type == "type_parameter_constraints_clause":
                limited = [
                    each for each in parts(one) if each.type == "type_parameter_constraint" and field(each, "type")
                ]
                for each in limited:
                    found.limits.setdefault(text(parts(one)[0]), types.type_(field(each, "type")))
                    self.annotation(field(each, "type"), found.scope)

    def base(self, node: Node, found: Def) -> None:
        written = field(node, "type") if node.type == "primary_constructor_base_type" else node
        found.bases.append(types.type_(written))
        for number, (what, at) in enumerate(types.named(written)):
            name = str(what[-1])
            derived = "implements" if name[:1] == "I" and name[1:2].isupper() else "inherits"
            self.facts.use(found.scope, what, line(at), derived if number == 0 else "references")
        if node.type == "primary_constructor_base_type":
            for one in parts(child(node, "argument_list")):
                self.visit(one, found.scope)

    def attributes(self, node: Node, scope: int) -> None:
        for listed in parts(node):
            if listed.type == "attribute_list":
                for one in parts(listed):
                    if one.type == "attribute":
                        name = text(field(one, "name"))
                        for each in (name, name + "Attribute"):
                            self.facts.use(scope, ("tn", each), line(one))
                        for rest in parts(one)[1:]:
                            self.visit(rest, scope)

    def generic(self, node: Node | None, scope: int) -> None:
        if node is not None and node.type == "generic_name":
            self.annotation(child(node, "type_argument_list"), scope)

    def annotation(self, node: Node | None, scope: int) -> None:
        for what, at in types.named(node):
            self.facts.use(scope, what, line(at))
