"""Rust tests: `#[test]` and its kin, named as cargo does (`module::test`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from dataclasses import field as slot
from typing import TYPE_CHECKING

from morph_tasks.verify.scenarios.tags import tags
from morph_tasks.verify.testcode.body import Dialect, body_of
from morph_tasks.verify.testcode.conditions import condition, split
from morph_tasks.verify.testcode.model import (
    CLOSE,
    EXACT,
    NOTHING,
    PARTIAL,
    SIZED,
    UNEQUAL,
    UNKNOWN,
    Assertion,
    SourceTest,
    TestSource,
)
from morph_tasks.verify.testcode.paths import is_test_path
from morph_tasks.verify.testcode.sitter import child, field, line, one_line, parse, parts, squash, text

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = re.compile(
    r"(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|test_log|googletest|traced_test|parameterized)$"
)
_MACROS = {
    "assert_eq": EXACT, "assert_ne": UNEQUAL, "assert_matches": PARTIAL, "assert_snapshot": EXACT,
    "assert_debug_snapshot": EXACT, "assert_json_snapshot": EXACT, "assert_yaml_snapshot": EXACT,
    "assert_compact_debug_snapshot": EXACT, "assert_relative_eq": CLOSE, "assert_abs_diff_eq": CLOSE,
    "assert_ulps_eq": CLOSE, "assert_approx_eq": CLOSE, "prop_assert_eq": EXACT, "prop_assert_ne": UNEQUAL,
    "assert_that": CLOSE, "expect_that": CLOSE, "assert_ok": UNEQUAL, "assert_err": UNEQUAL, "assert_none": EXACT,
    "assert_some": UNEQUAL, "assert_contains": PARTIAL, "assert_lt": PARTIAL, "assert_gt": PARTIAL,
    "assert_ok_eq": EXACT, "assert_str_eq": EXACT,
}  # fmt: skip
_CUSTOM = re.compile(r"(?:assert|expect|verify|check|must|ensure)_\w+$")


@dataclass
class _Attributes:
    """What the attributes above a function say."""

    is_test: bool = False
    skip: tuple[str, int] | None = None
    panics: tuple[str, int] | None = None
    timeout: float | None = None
    cases: list[str] = slot(default_factory=list)
    names: list[str] = slot(default_factory=list)


def read(path: str, source: bytes) -> TestSource:
    """Return the tests of a file; raises SyntaxError when it does not parse."""
    root = parse("rust", source)
    above = _module_path(path)
    tested = is_test_path(path)
    functions = list(_functions(root, above))
    helpers = tuple(
        made
        for node, modules, said in functions
        if not said.is_test
        and (tested or any("test" in one for one in modules))
        and (made := _made(node, (), said, frozenset())).assertions
    )
    owned = frozenset(one.name for one in helpers)
    tests = tuple(_made(node, modules, said, owned) for node, modules, said in functions if said.is_test)
    return TestSource(path, "rust", tests, True, helpers)


def _module_path(path: str) -> tuple[str, ...]:
    """Return the module that a file of a crate is; a file below `tests/` is a crate of its own."""
    folders, _, name = path.rpartition("/")
    inside = re.search(r"(?:^|/)src(?:/(.*))?$", folders)
    if not inside:
        return ()
    above = tuple((inside[1] or "").split("/")) if inside[1] else ()
    stem = name.removesuffix(".rs")
    if above[:1] == ("bin",):
        return ()
    return above if stem in ("lib", "main", "mod") else (*above, stem)


def _functions(
    node: Node, modules: tuple[str, ...], outer: tuple[str, int] | None = None
) -> Iterator[tuple[Node, tuple[str, ...], _Attributes]]:
    pending: list[Node] = []
    for one in node.named_children:
        if one.type == "inner_attribute_item":
            outer = outer or _attributes([one]).skip
        if one.type == "attribute_item":
            pending.append(one)
            continue
        if "comment" in one.type:
            continue
        if one.type == "function_item":
            said = _attributes(pending)
            said.skip = said.skip or outer
            yield one, modules, said
        elif one.type in ("mod_item", "impl_item"):
            inner = field(one, "body")
            name = text(field(one, "name")) if one.type == "mod_item" else ""
            if inner is not None:
                within = outer or _attributes(pending).skip
                yield from _functions(inner, (*modules, name) if name else modules, within)
        elif one.type in ("macro_invocation", "expression_statement"):
            yield from _in_macro(one, modules)
        pending = []


def _in_macro(node: Node, modules: tuple[str, ...]) -> Iterator[tuple[Node, tuple[str, ...], _Attributes]]:
    """Read the tests inside of a macro such as `proptest!`, whose content is no syntax tree."""
    call = node if node.type == "macro_invocation" else child(node, "macro_invocation")
    tokens = child(call, "token_tree") if call is not None else None
    if tokens is None or "#[test]" not in text(tokens):
        return
    source = re.sub(r"(\w+) in ", r"\1: ", text(tokens)[1:-1])
    try:
        yield from _functions(parse("rust", b"\n" * (line(tokens) - 1) + source.encode()), modules)
    except SyntaxError:
        return


def _attributes(nodes: list[Node]) -> _Attributes:
    found = _Attributes()
    for node in nodes:
        attribute = child(node, "attribute")
        if attribute is None or not attribute.named_children:
            continue
        name = text(attribute.named_children[0])
        given = field(attribute, "arguments")
        inner = text(given)[1:-1] if given is not None else ""
        value = text(field(attribute, "value"))
        last = name.rsplit("::", 1)[-1]
        if _TESTS.match(name):
            found.is_test = True
        if last == "ignore" or (last == "cfg_attr" and re.search(r",\s*ignore\b", inner)):
            found.skip = (one_line(node), line(node))
        elif last == "cfg" and not re.fullmatch(r"\s*test\s*", inner):
            found.skip = (one_line(node), line(node))  # compiled only under a condition
        elif last == "should_panic":
            found.panics = (inner or value, line(node))
        elif last == "timeout":
            found.timeout = _duration(inner)
        if last in ("case", "test_case") or name.startswith("case::"):
            found.cases.append(squash(inner))
            found.names.append(name.removeprefix("case::") + " " + inner)
    return found


def _duration(said: str) -> float | None:
    hit = re.search(r"from_(secs|millis|mins)\w*\(\s*([\d_.]+)", said)
    if hit:
        return float(hit[2].replace("_", "")) * {"secs": 1.0, "millis": 0.001, "mins": 60.0}[hit[1]]
    return float(said.replace("_", "")) / 1000 if re.fullmatch(r"[\d_]+", said) else None


def _made(node: Node, modules: tuple[str, ...], said: _Attributes, owned: frozenset[str]) -> SourceTest:
    name = "::".join([*modules, text(field(node, "name"))])

    def assertion(inner: Node, guard: str | None) -> Assertion | None:
        return _assertion(inner, guard, owned)

    dialect = Dialect(
        assertion, lambda inner: None, _called, ends=("return_expression",), branches=("if_expression",), tries=(),
        simple=("let_declaration", "expression_statement", "macro_invocation"),
    )  # fmt: skip
    body = body_of(field(node, "body"), dialect)
    assertions = list(body.assertions)
    if said.panics:
        strength = SIZED if "expected" in said.panics[0] or said.panics[0].startswith('"') else UNEQUAL
        told = f"should_panic({said.panics[0]})" if said.panics[0] else "should_panic"
        assertions.append(Assertion(said.panics[1], told, strength, "should_panic", error="panic"))
    skip, where = said.skip or (None, None)
    ids = dict.fromkeys([*tags(name), *(one for case in said.names for one in tags(case))])
    test = SourceTest(name, line(node), node.end_point[0] + 1, tuple(ids), skip, tuple(assertions), said.timeout)
    return replace(
        test, skip_line=where, cases=tuple(said.cases), body=body.lines, calls=tuple(body.calls), stops=body.stops
    )


def _called(node: Node) -> str | None:
    function = field(node, "function") if node.type == "call_expression" else None
    return text(function).rsplit("::", 1)[-1].rsplit(".", 1)[-1] if function is not None else None


def _assertion(node: Node, guard: str | None, owned: frozenset[str]) -> Assertion | None:
    if node.type == "if_expression":
        consequence = field(node, "consequence")
        first = parts(consequence)[:1]
        if first and re.match(r"panic!|unreachable!", text(first[0])) and field(node, "alternative") is None:
            said = one_line(field(node, "condition"))
            form, strength, subject = condition(said, negated=True)
            return Assertion(line(node), f"if {said}", strength, form, None, guard, None, subject)
        return None
    if node.type == "call_expression":
        name = _called(node) or ""
        if _CUSTOM.match(name) and name not in owned and "." not in text(field(node, "function")):
            return Assertion(line(node), one_line(node), UNKNOWN, name, None, guard)
        return None
    if node.type != "macro_invocation":
        return None
    name = text(field(node, "macro")).rsplit("::", 1)[-1].removeprefix("debug_")
    tokens = child(node, "token_tree")
    given = [part.strip() for part in split(one_line(tokens)[1:-1], ",")] if tokens is not None else []
    if name in ("assert", "prop_assert", "verify") and given:
        form, strength, subject = condition(given[0])
        if re.match(r"matches!", given[0]):
            form, strength = "matches", PARTIAL
        return Assertion(line(node), one_line(node), strength, form, None, guard, None, subject)
    strength = _MACROS.get(name, UNKNOWN if _CUSTOM.match(name) else -1)
    if strength < 0:
        return None
    if len(given) > 1 and given[0] == given[1]:
        strength = NOTHING
    hit = re.search(r"\b(?:epsilon|max_relative)\s*=\s*([\d.e-]+)", one_line(tokens))
    tolerance = float(hit[1]) if hit else None
    return Assertion(line(node), one_line(node), strength, name, tolerance, guard, None, given[0] if given else "")
