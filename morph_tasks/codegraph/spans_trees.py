"""The definitions of a file by its syntax tree: one table a language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.codegraph.spans import Definition
from morph_tasks.verify.testcode.sitter import child, field, line, one_line, parse, parts, text

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class Table:
    """The node types of one language."""

    types: frozenset[str]
    callables: frozenset[str]
    owners: frozenset[str] = frozenset()  # give an owner to what is below them and define nothing


_JS = Table(
    frozenset({"class_declaration", "abstract_class_declaration", "interface_declaration", "type_alias_declaration",
               "enum_declaration"}),
    frozenset({"function_declaration", "generator_function_declaration", "function_signature", "method_definition",
               "abstract_method_signature", "method_signature"}),
)  # fmt: skip
_TABLES = {
    "javascript": _JS,
    "typescript": _JS,
    "tsx": _JS,
    "go": Table(
        frozenset({"type_spec", "type_alias"}),
        frozenset({"function_declaration", "method_declaration", "method_elem", "method_spec"}),
    ),
    "rust": Table(
        frozenset({"struct_item", "enum_item", "trait_item", "union_item", "type_item"}),
        frozenset({"function_item", "function_signature_item", "macro_definition"}),
        frozenset({"impl_item"}),
    ),
    "csharp": Table(
        frozenset({"class_declaration", "interface_declaration", "struct_declaration", "record_declaration",
                   "record_struct_declaration", "enum_declaration", "delegate_declaration"}),
        frozenset({"method_declaration", "constructor_declaration", "local_function_statement"}),
    ),
    "java": Table(
        frozenset({"class_declaration", "interface_declaration", "enum_declaration", "record_declaration",
                   "annotation_type_declaration"}),
        frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration",
                   "annotation_type_element_declaration"}),
    ),
    "ruby": Table(frozenset({"class", "module"}), frozenset({"method", "singleton_method"})),
}  # fmt: skip
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
_CLASSES = frozenset({"class", "class_expression"})
# Things that hold a value under a name, in JavaScript: node type -> (name, value).
_HOLDERS = {
    "variable_declarator": ("name", "value"),
    "public_field_definition": ("name", "value"),
    "field_definition": ("property", "value"),
    "pair": ("key", "value"),
    "assignment_expression": ("left", "right"),
}
_WRAPPERS = frozenset({"export_statement", "ambient_declaration"})
_NO_PARAMETERS = frozenset({
    "self_parameter", "receiver_parameter", "attribute_item", "attribute_list", "modifier",
})  # fmt: skip
_WORD = re.compile(r"[^\W\d][\w$]*|[$][\w$]*")


def read(language: str, source: bytes) -> list[Definition]:
    """Return the definitions of a file; raises SyntaxError when it does not parse."""
    return list(_Reader(language).below(parse(language, source)))


class _Reader:
    """Walks one tree without going into the bodies of functions that have a name."""

    def __init__(self, language: str) -> None:
        self._table = _TABLES[language]
        self._language = language

    def below(self, root: Node) -> Iterator[Definition]:
        """Yield the definitions below a node."""
        stack = [(root, "")]
        while stack:
            node, owner = stack.pop()
            made = self._definition(node, owner)
            if made is not None:
                yield made
                if made.kind != "type":
                    continue
                owner = made.name
            elif node.is_named and node.type in self._table.owners:
                owner = _last(field(node, "type"))
            elif self._holds_object(node):
                owner = _last(field(node, "name"))
            stack += [(one, owner) for one in reversed(node.named_children)]

    def _definition(self, node: Node, owner: str) -> Definition | None:
        kind = node.type
        if kind in self._table.types:
            return self._made(node, _last(field(node, "name")), owner, "type")
        if kind in self._table.callables:
            if self._language == "go" and kind == "method_declaration":
                owner = _receiver(node)
            name = text(field(node, "name")) or text(child(node, "property_identifier"))
            return self._made(node, name.lstrip("#"), owner, "method" if owner else "function", node)
        if kind in _HOLDERS and self._table is _JS:
            return self._held(node, owner)
        if self._table is _JS and kind in _CLASSES | _FUNCTIONS | {"export_statement"}:
            return self._nameless(node, owner)
        if kind == "assignment" and self._language == "ruby" and _makes_class(field(node, "right")):
            return self._made(node, _last(field(node, "left")), owner, "type")
        return None

    def _held(self, node: Node, owner: str) -> Definition | None:
        """Return `const name = () => …`, `name = class {…}`, `exports.name = …` as the definition of that name."""
        name, value = (field(node, one) for one in _HOLDERS[node.type])
        if name is None or value is None or value.type not in _FUNCTIONS | _CLASSES:
            return None
        if node.type == "assignment_expression":
            path = _WORD.findall(text(name))
            if len(path) > 2 and path[-2] == "prototype":
                owner = path[-3]
        if value.type in _CLASSES:
            return self._made(node, _last(name), owner, "type")
        return self._made(node, _last(name), owner, "method" if owner else "function", value)

    def _nameless(self, node: Node, owner: str) -> Definition | None:
        """Return `export default () => …` and `export default class {…}`, which have no name, under `default`."""
        if node.type != "export_statement" or child(node, "default") is not None:
            return None
        value = field(node, "value")
        if value is None or value.type not in _FUNCTIONS | _CLASSES:
            return None
        kind = "type" if value.type in _CLASSES else "function"
        return self._made(node, text(field(value, "name")) or "default", owner, kind, value)

    def _holds_object(self, node: Node) -> bool:
        held = field(node, "value") if node.type == "variable_declarator" and self._table is _JS else None
        return held is not None and held.type == "object"

    def _made(self, node: Node, name: str, owner: str, kind: str, call: Node | None = None) -> Definition | None:
        if not name:
            return None
        parameters = tuple(self._parameters(call)) if call is not None else ()
        end = node.end_point[0] + (1 if node.end_point[1] or node.end_point == node.start_point else 0)
        return Definition(name, owner, kind, _start(node), max(end, line(node)), parameters)

    def _parameters(self, node: Node) -> Iterator[str]:
        single = field(node, "parameter")
        if single is not None:
            yield text(single)
        given = field(node, "parameters")
        if self._language == "csharp" and given is not None:  # `params int[] xs` is no parameter there but its parts
            yield from [text(one) for one in given.children_by_field_name("name")]
        for one in parts(given):
            if one.type in _NO_PARAMETERS or (self._language == "csharp" and one.type != "parameter"):
                continue
            if self._language == "go":
                yield from [text(name) for name in one.children_by_field_name("name")]
            else:
                yield _parameter(one)


def _parameter(node: Node) -> str:
    """Return the name of a parameter; the source of the pattern for one that is taken apart."""
    for name in ("pattern", "name", "left"):
        inner = field(node, name)
        if inner is not None and inner != node:
            return _parameter(inner)
    if node.type in ("variable_declarator", "rest_pattern", "spread_parameter", "mut_pattern", "implicit_parameter"):
        named = parts(node)
        return _parameter(named[-1]) if named else text(node)
    return one_line(node)


def _start(node: Node) -> int:
    """Return the first line of a definition, its export and the attributes before it included."""
    first = node
    parent = node.parent
    if parent is not None and parent.type in ("lexical_declaration", "variable_declaration", "expression_statement"):
        first = parent if parent.named_children[0] == node else first
        parent = first.parent if first is not node else None
    if parent is not None and parent.type == "type_declaration" and len(parent.named_children) == 1:
        first = parent
    if parent is not None and parent.type in _WRAPPERS:
        first = parent
    before = first.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "decorator"):
        first, before = before, before.prev_named_sibling
    return line(first)


def _last(node: Node | None) -> str:
    """Return the last name of a path without its type arguments: `Line` of `order::Line<T>`."""
    source = re.sub(r"[<\[].*", "", text(node), flags=re.S)
    found = _WORD.findall(source)
    return found[-1] if found else ""


def _receiver(node: Node) -> str:
    """Return the type that a Go method belongs to."""
    given = parts(field(node, "receiver"))
    return _last(field(given[0], "type")) if given else ""


def _makes_class(node: Node | None) -> bool:
    return (
        node is not None
        and node.type == "call"
        and text(field(node, "receiver")) in ("Struct", "Class", "Module", "Data")
        and text(field(node, "method")) in ("new", "define")
    )
