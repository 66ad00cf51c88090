"""Python tests by `ast`: pytest and unittest."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from morph_tasks.verify.scenarios.tags import tag, tags
from morph_tasks.verify.testcode.model import Assertion, Setting, SourceTest, TestSource
from morph_tasks.verify.testcode.python_asserts import name_of, of_assert, of_call, swallows
from morph_tasks.verify.testcode.python_marks import Marks, marks_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SKIPS = frozenset({"skip", "skipTest", "SkipTest", "xfail", "importorskip"})
_MARKERS = frozenset({"applymarker", "add_marker"})


def read(path: str, source: bytes) -> TestSource:
    """Return the tests of a file; raises SyntaxError or ValueError when it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = ast.parse(source)
    file = _File(module)
    tests = tuple(file.tests(module.body, (), file.marks))
    return TestSource(path, "python", tests, True, tuple(file.helpers), tuple(file.settings()))


class _File:
    """One module: what its marks and helpers are."""

    def __init__(self, module: ast.Module) -> None:
        self.named = {
            target.id: node.value
            for node in module.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self.marks = self._module_marks(module)
        self.helpers: list[SourceTest] = []
        self._functions = _plain_functions(module.body)
        bodies = {function.name: _body(function) for function in self._functions}
        self.owned = frozenset(name for name, body in bodies.items() if body.assertions)
        for function in self._functions:
            if function.name in self.owned:
                self.helpers.append(_made(function, function.name, bodies[function.name], Marks()))

    def _module_marks(self, module: ast.Module) -> Marks:
        marks = Marks()
        if "pytestmark" in self.named:
            marks = marks_of(self._listed(self.named["pytestmark"]), self.named)
        for node in module.body:
            called = node.value if isinstance(node, ast.Expr | ast.Assign) else None
            if isinstance(called, ast.Call) and name_of(called) == "importorskip":
                return marks.with_skip(ast.unparse(called), node.lineno)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and name_of(node.value.func) == "skip":
                return marks.with_skip(f"{ast.unparse(node.value)} of the module", node.lineno)
            if isinstance(node, ast.Raise) and node.exc is not None and name_of(node.exc) == "SkipTest":
                return marks.with_skip("raise SkipTest of the module", node.lineno)
        return marks

    @staticmethod
    def _listed(node: ast.expr) -> list[ast.expr]:
        return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else [node]

    def settings(self) -> Iterator[Setting]:
        """Yield what `pytestmark` sets for the whole file."""
        node = self.named.get("pytestmark")
        if node is not None:
            if self.marks.timeout is not None:
                yield Setting("timeout", "pytestmark", self.marks.timeout, node.lineno)
            if self.marks.retries is not None:
                yield Setting("retries", "pytestmark", self.marks.retries, node.lineno)

    def tests(self, body: Sequence[ast.stmt], above: tuple[str, ...], marks: Marks) -> Iterator[SourceTest]:
        """Yield the tests that stand in a module or class."""
        undone = _undone(body)
        for node in body:
            if isinstance(node, ast.If):
                how = f"if {ast.unparse(node.test)}"
                yield from self.tests(list(_inner(node)), above, marks.with_skip(how, node.lineno))
            elif isinstance(node, ast.Try | ast.With):
                yield from self.tests(list(_inner(node)), above, marks)
            elif isinstance(node, ast.ClassDef) and _is_suite(node):
                yield from self._suite(node, above, marks)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                own = marks_of(node.decorator_list, self.named)
                how, line = undone.get(node.name, ("", 0))
                if line > node.lineno and not how:
                    continue  # defined once more below: only the last one is run
                if how and line > node.lineno:
                    own = own.with_skip(how, line)
                if not own.is_fixture:
                    name = " > ".join([*above, node.name])
                    yield _made(node, name, _body(node, self.owned), marks.joined(own))

    def _suite(self, node: ast.ClassDef, above: tuple[str, ...], marks: Marks) -> Iterator[SourceTest]:
        own = marks_of(node.decorator_list, self.named)
        for inner in node.body:
            if isinstance(inner, ast.Assign) and any(name_of(target) == "pytestmark" for target in inner.targets):
                own = own.joined(marks_of(self._listed(inner.value), self.named))
            elif isinstance(inner, ast.Assign) and any(name_of(target) == "__test__" for target in inner.targets):
                if _is_off(inner):
                    own = own.with_skip("__test__ = False", inner.lineno)
            elif isinstance(inner, ast.FunctionDef) and inner.name in ("setUp", "setUpClass", "setup_method"):
                skip = _body(inner).skip
                own = own.with_skip(*skip) if skip else own
            elif isinstance(inner, ast.FunctionDef) and inner.name in ("__init__", "__new__") and not _is_case(node):
                own = own.with_skip(f"{inner.name}: pytest leaves the class out", inner.lineno)
        yield from self.tests(node.body, (*above, node.name), marks.joined(own))


@dataclass
class _Body:
    """What the statements of a function say."""

    assertions: list[Assertion] = field(default_factory=list)
    skip: tuple[str, int] | None = None
    stops: int | None = None
    calls: dict[str, None] = field(default_factory=dict)
    used: frozenset[str] = frozenset()


def _body(function: Function, owned: frozenset[str] = frozenset()) -> _Body:
    body = _Body(used=frozenset(node.id for node in ast.walk(function) if isinstance(node, ast.Name)))
    _collect(function.body, None, body, owned, top=True)
    if body.skip is None and _is_generator(function):
        body.skip = "a test that yields is not run", function.lineno
    body.calls = {
        name: None for node in ast.walk(function) if isinstance(node, ast.Call) and (name := name_of(node.func))
    }
    return body


def _collect(
    statements: Sequence[ast.stmt], guard: str | None, body: _Body, owned: frozenset[str], *, top: bool = False
) -> None:
    """Gather the assertions that can be reached; nothing behind an unconditional `return` can."""
    for node in statements:
        if top and body.skip is None and not body.assertions:
            body.skip = _skip_of(node)
        if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            if isinstance(node, ast.Return) and top and node is not statements[-1]:
                body.stops = node.lineno
            _expressions(node, guard, body, owned)
            return
        if isinstance(node, ast.Assert):
            body.assertions += of_assert(node, guard)
        elif isinstance(node, ast.If):
            before = len(body.assertions)
            _branches(node, guard, body, owned)
            if _leaves(node) and len(body.assertions) == before:
                guard = guard or f"if not ({ast.unparse(node.test)})"
        elif isinstance(node, ast.Try | ast.TryStar):
            inner = "try/except" if swallows(node.handlers) else guard
            _collect(node.body, inner, body, owned)
            for handler in node.handlers:
                _collect(handler.body, guard, body, owned)
            _collect([*node.orelse, *node.finalbody], guard, body, owned)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                _expression(item.context_expr, guard, body, owned)
            hides = next(filter(None, (_suppresses(item.context_expr) for item in node.items)), None)
            _collect(node.body, hides or guard, body, owned)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.FunctionDef | ast.AsyncFunctionDef):
            if _never_runs(node, body):
                continue
            _collect([*node.body, *getattr(node, "orelse", [])], guard, body, owned)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                _collect(case.body, guard or "match", body, owned)
        elif not isinstance(node, ast.ClassDef):
            _expressions(node, guard, body, owned)


def _branches(node: ast.If, guard: str | None, body: _Body, owned: frozenset[str]) -> None:
    if isinstance(node.test, ast.Constant) or name_of(node.test) == "TYPE_CHECKING":
        live = isinstance(node.test, ast.Constant) and bool(node.test.value)
        _collect(node.body if live else node.orelse, guard, body, owned)
        return
    inner = guard or f"if {ast.unparse(node.test)}"
    _collect(node.body, inner, body, owned)
    _collect(node.orelse, inner, body, owned)


def _expressions(node: ast.stmt, guard: str | None, body: _Body, owned: frozenset[str]) -> None:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.expr):
            _expression(inner, guard, body, owned)


def _expression(node: ast.expr, guard: str | None, body: _Body, owned: frozenset[str]) -> None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            found = of_call(inner, guard, owned)
            if found:
                body.assertions.append(found)


def _suppresses(node: ast.expr) -> str | None:
    """Return how a context keeps a failure inside of it from being seen; None when it does not."""
    if not isinstance(node, ast.Call) or name_of(node) not in ("suppress", "raises", "assertRaises"):
        return None
    hides = {"Exception", "BaseException", "AssertionError"}
    return None if hides.isdisjoint(map(name_of, node.args)) else ast.unparse(node)


def _never_runs(node: ast.stmt, body: _Body) -> bool:
    """Tell whether a loop has nothing to go through, or a function inside of a test is called by nobody."""
    if isinstance(node, ast.While):
        return isinstance(node.test, ast.Constant) and not node.test.value
    if isinstance(node, ast.For | ast.AsyncFor):
        return isinstance(node.iter, ast.List | ast.Tuple | ast.Set) and not node.iter.elts
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, functions) and not node.decorator_list and node.name not in body.used


def _leaves(node: ast.If) -> bool:
    """Tell whether what is behind a condition ends the test, or one turn of its loop."""
    known = isinstance(node.test, ast.Constant)
    return not known and not node.orelse and isinstance(node.body[-1], ast.Return | ast.Continue)


def _is_generator(function: Function) -> bool:
    """Tell whether a test yields and nothing but marks of pytest stand above it, so that nothing would run it."""
    if isinstance(function, ast.AsyncFunctionDef) or not function.name.startswith("test"):
        return False
    if not all(ast.unparse(one).startswith("pytest.mark.") for one in function.decorator_list):
        return False
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def _is_off(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and not node.value.value


def _undone(body: Sequence[ast.stmt]) -> dict[str, tuple[str, int]]:
    """Return the names of tests that a later statement takes away: how, and its line. No text: it is defined anew."""
    found: dict[str, tuple[str, int]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = "", node.lineno
            continue
        targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id in found:
                found[target.id] = ast.unparse(node), node.lineno
            elif isinstance(target, ast.Attribute) and target.attr == "__test__" and _is_off(node):
                found[name_of(target.value)] = ast.unparse(node), node.lineno
    return found


def _skip_of(node: ast.stmt) -> tuple[str, int] | None:
    """Return how a statement ends the test before anything is asserted, and its line."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and name_of(node.value.func) in _SKIPS:
        return ast.unparse(node.value), node.lineno
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and name_of(node.value.func) in _MARKERS:
        given = node.value.args[:1]
        return (ast.unparse(node.value), node.lineno) if given and name_of(given[0]) in _SKIPS else None
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and name_of(node.value) == "importorskip":
        return ast.unparse(node.value), node.lineno
    if isinstance(node, ast.Raise) and node.exc is not None and name_of(node.exc) == "SkipTest":
        return ast.unparse(node), node.lineno
    if isinstance(node, ast.If) and not node.orelse and len(node.body) == 1:
        inner = _skip_of(node.body[0])
        if inner:
            return f"if {ast.unparse(node.test)}: {inner[0]}", inner[1]
    return None


def _made(node: Function, name: str, body: _Body, marks: Marks) -> SourceTest:
    skip = (marks.skip, marks.skip_line) if marks.skip else body.skip or (None, None)
    start = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    scenarios = [*marks.scenarios, *tags(name), *(one for case in marks.case_names for one in tags(case))]
    test = SourceTest(
        name, node.lineno, node.end_lineno or start, tuple(dict.fromkeys(map(tag, scenarios))), skip[0],
        tuple(body.assertions), marks.timeout, marks.retries, False, skip[1], marks.cases, marks.skipped_cases,
    )  # fmt: skip
    return replace(test, body=tuple(_lines(node)), calls=tuple(body.calls), stops=body.stops)


def _lines(function: Function) -> Iterator[str]:
    """Yield the statements of a function in one spelling, without its docstring."""
    for node in function.body:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield from (line.strip() for line in ast.unparse(node).split("\n"))


def _inner(node: ast.If | ast.Try | ast.With) -> Iterator[ast.stmt]:
    yield from node.body
    if not isinstance(node, ast.With):
        yield from node.orelse
    if isinstance(node, ast.Try):
        for handler in node.handlers:
            yield from handler.body
        yield from node.finalbody


def _is_suite(node: ast.ClassDef) -> bool:
    bases = [name_of(base) for base in node.bases]
    return node.name.startswith("Test") or any("Test" in base for base in bases)


def _is_case(node: ast.ClassDef) -> bool:
    """Tell whether a class may be a unittest case, which is made by its own rules."""
    return any("Test" in name_of(base) or "Case" in name_of(base) for base in node.bases)


def _plain_functions(body: Sequence[ast.stmt]) -> list[Function]:
    """Return the functions and methods that are no tests."""
    found: list[Function] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("test"):
            found.append(node)
        elif isinstance(node, ast.ClassDef):
            found += _plain_functions(node.body)
    return found
