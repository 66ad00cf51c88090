"""What names stand for in TypeScript and JavaScript: imports, patterns, what is set on objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery import script_types as types
from morph_tasks.codegraph.recovery.model import Expr
from morph_tasks.codegraph.recovery.visiting import TreeReader
from morph_tasks.verify.testcode.sitter import child, field, line, parts, string_value, text

if TYPE_CHECKING:
    from tree_sitter import Node


class Names(TreeReader):
    """The part of a reader that binds names."""

    def owner(self, scope: int) -> int:
        return self.facts.scopes[scope].owner

    def import_(self, node: Node, scope: int) -> None:
        spec = string_value(field(node, "source"))
        clause = child(node, "import_clause")
        if spec is None or clause is None:
            return
        module = ("mod", spec)
        for one in parts(clause):
            if one.type == "identifier":
                self.imported(text(one), ("a", module, "default"), one, scope)
            elif one.type == "namespace_import":
                self.facts.bind(scope, text(parts(one)[0]), module)
            else:
                for each in parts(one):
                    name = text(field(each, "name"))
                    self.imported(text(field(each, "alias")) or name, ("a", module, name), each, scope)

    def imported(self, name: str, what: Expr, node: Node, scope: int) -> None:
        self.facts.bind(scope, name, what)
        self.facts.use(scope, what, line(node), "imports")

    def target(self, node: Node, what: Expr, scope: int) -> None:
        """Bind what is assigned to; a pattern takes the parts of the value."""
        if node.type == "identifier":
            self.facts.bind(scope, text(node), what)
        elif node.type == "object_pattern":
            for one in parts(node):
                if one.type == "shorthand_property_identifier_pattern":
                    self.facts.bind(scope, text(one), ("a", what, text(one)))
                    self.facts.use(scope, ("a", what, text(one)), line(one))
                elif one.type == "pair_pattern":
                    key, value = text(field(one, "key")), field(one, "value")
                    self.facts.use(scope, ("a", what, key), line(one))
                    if value is not None:
                        self.target(value, ("a", what, key), scope)
                elif one.type == "object_assignment_pattern" and field(one, "left") is not None:
                    left = text(field(one, "left"))
                    self.facts.bind(scope, left, ("a", what, left))
        elif node.type == "array_pattern":
            number = 0  # commas are counted: a place may be left empty
            for one in node.children:
                if one.type == ",":
                    number += 1
                elif one.is_named:
                    self.target(one, ("t", what, number), scope)

    def set_member(self, left: Node, right: Node, what: Expr, scope: int) -> None:
        """Note a field that is set on `this`, and what CommonJS exports."""
        name, target = text(field(left, "property")), text(field(left, "object"))
        if target == "this":
            at = self.owner(scope)
            while at >= 0 and self.facts.defs[at].kind == "function":
                at = self.facts.defs[at].owner
            if at >= 0:
                held = self.facts.defs[at].fields.setdefault(name, [])
                if len(held) < 8:
                    held.append((scope, what))
        elif target in ("exports", "module.exports"):
            self.facts.exports.setdefault(name, []).append(what)
        elif target == "module" and name == "exports":
            for one in parts(right) if right.type == "object" else []:
                key = text(field(one, "key")) or text(one)
                given = field(one, "value")
                self.facts.exports.setdefault(key, []).append(types.value(given if given is not None else one))
            if right.type != "object":
                self.facts.exports.setdefault("default", []).append(what)

    def annotation(self, node: Node | None, scope: int) -> None:
        for what, at in types.named(node):
            self.facts.use(scope, what, line(at))
