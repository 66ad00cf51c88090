"""Settings files as flat entries with their lines, by the parser of each format."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml
    from tree_sitter import Node

Value = str | float | bool | None


@dataclass(frozen=True)
class Entry:
    """One value: the keys that lead to it, and its line from 1. `listed`: an item of a list."""

    path: tuple[str, ...]
    value: Value
    line: int
    listed: bool = False

    @property
    def name(self) -> str:
        return ".".join(self.path)


def entries(path: str, data: bytes) -> list[Entry]:
    """Return the entries of a settings file; raises ValueError or SyntaxError when it does not parse."""
    name = path.rsplit("/", 1)[-1].lower()
    if name.endswith(".toml"):
        return list(_toml(data.decode("utf-8")))
    if name.endswith((".yml", ".yaml")):
        return list(_yaml(data.decode("utf-8")))
    if name.endswith((".ini", ".cfg", ".properties")) or name in (".coveragerc", ".flake8", ".pylintrc", "pylintrc"):
        return list(_ini(data.decode("utf-8")))
    if name.endswith((".csproj", ".props", ".targets", ".runsettings", ".xml", ".fsproj", ".vbproj")):
        return list(_xml(data))
    if name in (".mocharc", ".nycrc", ".eslintrc", ".c8rc") and not data.lstrip().startswith(b"{"):
        return list(_yaml(data.decode("utf-8")))
    return list(_script(path, data))


def _toml(text: str) -> Iterator[Entry]:
    import tomllib

    lines = text.split("\n")
    for path, value, listed in _flat(tomllib.loads(text), ()):
        yield Entry(path, value, _toml_line(lines, path, value if listed else None), listed)


def _toml_line(lines: list[str], path: tuple[str, ...], item: Value) -> int:
    """Return where a key, or an item of its list, stands: tomllib keeps no places."""
    keys = [key for key in path if not key.isdigit()]
    start = 0
    for depth in range(len(keys) - 1, 0, -1):
        table = ".".join(keys[:depth])
        found = next((at for at, line in enumerate(lines) if _header(line) == table), None)
        if found is not None:
            start = found
            break
    for at in range(start, len(lines)):
        if re.match(rf"\s*[\"']?(?:[\w\"'.-]+\.)?{re.escape(keys[-1])}[\"']?\s*=", lines[at]):
            return _item_line(lines, at, item)
    return start + 1


def _item_line(lines: list[str], at: int, item: Value) -> int:
    if isinstance(item, str):
        for number in range(at, min(at + 200, len(lines))):
            if item in lines[number]:
                return number + 1
    return at + 1


def _header(line: str) -> str:
    hit = re.match(r"\s*\[+([^\]]+)\]+", line)
    return re.sub(r"[\"'\s]", "", hit[1]) if hit else ""


def _flat(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Value, bool]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, (*path, str(key)))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            if isinstance(inner, dict | list):
                yield from _flat(inner, (*path, str(at)))
            else:
                yield path, _scalar(inner), True
    else:
        yield path, _scalar(value), False


def _scalar(value: Any) -> Value:
    return float(value) if type(value) is int else value if isinstance(value, str | float | bool | None) else str(value)


def _yaml(text: str) -> Iterator[Entry]:
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    if root is not None:
        yield from _yaml_node(root, (), False)


def _yaml_node(node: yaml.Node, path: tuple[str, ...], listed: bool, depth: int = 0) -> Iterator[Entry]:
    import yaml

    if depth > 60:
        raise ValueError("the file is nested too deep")
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _yaml_node(value, (*path, str(key.value)), False, depth + 1)
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            plain = isinstance(value, yaml.ScalarNode)
            yield from _yaml_node(value, path if plain else (*path, str(at)), plain, depth + 1)
    else:
        block = getattr(node, "style", None) in ("|", ">")
        yield Entry(path, _plain_value(node), node.start_mark.line + 1 + block, listed)


def _plain_value(node: yaml.Node) -> Value:
    said = str(node.value)
    if not getattr(node, "style", None):
        if said.lower() in ("true", "yes"):
            return True
        if said.lower() in ("false", "no"):
            return False
        if re.fullmatch(r"-?\d+(?:\.\d+)?", said):
            return float(said)
    return said


def _ini(text: str) -> Iterator[Entry]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError:
        parser.read_string(f"[]\n{text}")
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    lines = text.split("\n")
    for section in parser.sections():
        for key, value in parser.items(section):
            line = _ini_line(lines, section, key)
            parts = [part.strip() for part in (value or "").split("\n") if part.strip()]
            if len(parts) > 1 or (value or "").startswith("\n"):
                for part in parts:
                    yield Entry((section, key), part, _item_line(lines, line - 1, part), True)
            else:
                yield Entry((section, key), _ini_value(value), line)


def _ini_value(value: str | None) -> Value:
    said = (value or "").strip()
    if said.lower() in ("true", "yes", "on"):
        return True
    if said.lower() in ("false", "no", "off"):
        return False
    return float(said) if re.fullmatch(r"-?\d+(?:\.\d+)?", said) else said


def _ini_line(lines: list[str], section: str, key: str) -> int:
    inside = not section
    for at, line in enumerate(lines):
        if line.startswith("["):
            inside = line.strip() == f"[{section}]"
        elif inside and re.match(rf"{re.escape(key)}\s*(?:[=:]|$)", line):
            return at + 1
    return 1


def _xml(data: bytes) -> Iterator[Entry]:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root = fromstring(data)
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(str(error)) from None
    lines = data.decode("utf-8", "replace").split("\n")
    stack: list[tuple[Any, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        here = (*path, str(node.tag).rsplit("}", 1)[-1])
        said = (node.text or "").strip()
        if said:
            line = next((at + 1 for at, one in enumerate(lines) if f"<{here[-1]}" in one and said[:40] in one), 1)
            yield Entry(here, _ini_value(said), line)
        stack += ((child, here) for child in reversed(list(node)))


def _script(path: str, data: bytes) -> Iterator[Entry]:
    """Yield the values of JSON, also with comments, and of the objects in a script."""
    from morph_tasks.verify.testcode.sitter import parse

    lower = path.lower()
    scripted = lower.endswith(("js", "ts"))
    grammar = "typescript" if lower.endswith("ts") else "javascript"
    root = parse(grammar, data if scripted else b"(" + data.rstrip().rstrip(b";") + b"\n)")
    if not scripted and root.has_error:
        raise ValueError("the file is no JSON")
    yield from _objects(root, (), _named(root))


def _named(root: Node) -> dict[str, Node]:
    """Return the objects and lists that the file gives a name."""
    from morph_tasks.verify.testcode.sitter import field, text, walk

    found = {}
    for node in walk(root, lambda one: one.type not in ("object", "array")):
        value = field(node, "value") if node.type == "variable_declarator" else None
        if value is not None and value.type in ("object", "array"):
            found[text(field(node, "name"))] = value
    return found


def _objects(node: Node, path: tuple[str, ...], named: dict[str, Node], depth: int = 0) -> Iterator[Entry]:
    """Yield the entries of the outermost objects below a node."""
    if depth > 120:
        raise ValueError("the file is nested too deep")
    for child in node.named_children:
        if child.type in ("object", "array"):
            yield from _value(child, path, named, False, depth + 1)
        elif "comment" not in child.type:
            yield from _objects(child, path, named, depth + 1)


def _value(node: Node, path: tuple[str, ...], named: dict[str, Node], listed: bool, depth: int) -> Iterator[Entry]:
    from morph_tasks.verify.testcode.sitter import field, number_value, one_line, string_value, text

    line = node.start_point[0] + 1
    if node.type == "identifier" and path and text(node) in named and depth < 20:
        node = named[text(node)]
    if node.type == "object":
        for pair in node.named_children:
            key, value = field(pair, "key"), field(pair, "value")
            if pair.type == "pair" and key is not None and value is not None:
                yield from _value(value, (*path, text(key).strip("\"'`")), named, False, depth + 1)
    elif node.type == "array":
        for at, child in enumerate(one for one in node.named_children if "comment" not in one.type):
            nested = child.type in ("object", "array", "call_expression")
            yield from _value(child, (*path, str(at)) if nested else path, named, not nested, depth + 1)
    elif node.type in (
        "call_expression",
        "arrow_function",
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
    ):
        inner = list(_objects(node, path, named, depth + 1))
        yield from inner or [Entry(path, one_line(node), line, listed)]
    elif node.type in ("string", "template_string"):
        yield Entry(path, string_value(node) or "", line, listed)
    elif node.type in ("true", "false"):
        yield Entry(path, node.type == "true", line, listed)
    elif node.type != "comment":
        number = number_value(node)
        yield Entry(path, number if number is not None else one_line(node), line, listed)
