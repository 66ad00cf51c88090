"""Read a Python file: its definitions, what its names stand for, and what it uses."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from typing import Any

from morph_tasks.codegraph.recovery import python_types as types
from morph_tasks.codegraph.recovery.model import UNKNOWN, Def, Expr, Facts

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Decorators that leave alone what a call returns.
_PLAIN = frozenset({
    "staticmethod", "classmethod", "abstractmethod", "override", "final", "cache", "lru_cache", "overload", "wraps",
    "typechecked",
})  # fmt: skip
_PROPERTY = frozenset({"property", "cached_property", "abstractproperty"})
_STATIC = frozenset({"staticmethod"})


def read(path: str, source: bytes, watched: frozenset[int] = frozenset()) -> Facts:
    """Return what a file says; raises SyntaxError, ValueError or RecursionError when it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the file's own escapes
        tree = ast.parse(source)
    reader = _Reader(Facts(path, "python", watched=watched))
    reader.body(tree.body, 0)
    return reader.facts


class _Reader:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        facts.open(-1, "module", -1)

    def body(self, statements: list[ast.stmt], scope: int) -> None:
        for statement in statements:
            self.visit(statement, scope)

    def visit(self, node: ast.AST, scope: int) -> None:
        """Read a statement or an expression and what is below it."""
        own = _VISITS.get(type(node))
        if own is not None:
            own(self, node, scope)
        else:
            self.below(node, scope)

    def below(self, node: ast.AST, scope: int) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self.visit(value, scope)
            elif isinstance(value, list):
                for one in value:
                    if isinstance(one, ast.AST):
                        self.visit(one, scope)

    # --- imports

    def import_(self, node: ast.Import, scope: int) -> None:
        for name in node.names:
            whole = ("mod", name.name if name.asname else name.name.partition(".")[0], 0)
            self.facts.bind(scope, name.asname or name.name.partition(".")[0], whole)

    def import_from(self, node: ast.ImportFrom, scope: int) -> None:
        module = ("mod", node.module or "", node.level)
        for name in node.names:
            if name.name == "*":
                self.facts.stars.append(module)
                continue
            what = ("a", module, name.name)
            self.facts.bind(scope, name.asname or name.name, what)
            self.facts.use(scope, what, node.lineno, "imports")

    # --- definitions

    def function(self, node: _Function, scope: int) -> None:
        facts = self.facts
        owner = facts.scopes[scope].owner
        inside = facts.scopes[scope].kind == "class"
        marks = {_last(one) for one in node.decorator_list}
        kind = "property" if inside and marks & _PROPERTY else "function"
        found = facts.define(node.name, kind, node.lineno, owner, scope)
        flags = {"member"} if inside else set()
        flags |= {"async"} if isinstance(node, ast.AsyncFunctionDef) else set()
        flags |= {"changed"} if marks - _PLAIN - _PROPERTY else set()
        flags |= {"static"} if marks & _STATIC else set()
        flags |= {"class"} if "classmethod" in marks or node.name in ("__new__", "__init_subclass__") else set()
        found.flags = frozenset(flags)
        facts.bind(scope, node.name, ("d", found.at))
        self.before(node.decorator_list, found.scope)
        self.parameters(node.args, found.scope, found if inside else None)
        found.parameters = tuple(types.taken(node.args))
        if node.returns is not None:
            found.result = types.convert(node.returns)
            self.annotation(node.returns, found.scope)
        self.body(node.body, found.scope)

    def parameters(self, args: ast.arguments, scope: int, method: Def | None) -> None:
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        for number, one in enumerate(every):
            given: Expr = ("i", types.convert(one.annotation)) if one.annotation is not None else UNKNOWN
            if number == 0 and method is not None and "static" not in method.flags:
                given = ("cls",) if "class" in method.flags else ("self",)
            self.facts.bind(scope, one.arg, given)
        for rest in (args.vararg, args.kwarg):
            if rest is not None:
                kept: Expr = ("i", types.convert(rest.annotation)) if rest.annotation is not None else UNKNOWN
                many: Expr = ("seq", (kept,)) if rest is args.vararg else ("map", UNKNOWN, kept)
                self.facts.bind(scope, rest.arg, many)
        for named in (*every, args.vararg, args.kwarg):
            if named is not None and named.annotation is not None:
                self.annotation(named.annotation, scope)
        self.before((*args.defaults, *args.kw_defaults), scope)

    def before(self, nodes: Iterable[ast.expr | None], scope: int) -> None:
        """Read decorators and defaults, which are worked out where the function stands, not in it."""
        outer, self.facts.heading = self.facts.heading, True
        for one in nodes:
            if one is not None:
                self.visit(one, scope)
        self.facts.heading = outer

    def class_(self, node: ast.ClassDef, scope: int) -> None:
        found = self.facts.define(node.name, "class", node.lineno, self.facts.scopes[scope].owner, scope)
        self.facts.bind(scope, node.name, ("d", found.at))
        for base in node.bases:
            what = types.convert(base)
            found.bases.append(what)
            self.facts.use(found.scope, what, base.lineno, "inherits")
            if what[0] == "g":
                for argument in what[2]:
                    self.facts.use(found.scope, argument, base.lineno)
        found.generics = types.parameters(node)
        for number, name in enumerate(found.generics):
            self.facts.bind(found.scope, name, ("tp", found.at, number))
        for keyword in node.keywords:
            self.visit(keyword.value, found.scope)
        for decorator in node.decorator_list:
            self.visit(decorator, found.scope)
        self.body(node.body, found.scope)

    def lambda_(self, node: ast.Lambda, scope: int, first: Expr = UNKNOWN) -> None:
        """Read a function without a name; `first` is what its first parameter is given."""
        inner = self.facts.open(scope, "block", self.facts.scopes[scope].owner)
        self.parameters(node.args, inner, None)
        if first != UNKNOWN and node.args.args:
            self.facts.scopes[inner].names[node.args.args[0].arg] = [first]
        self.visit(node.body, inner)

    # --- what names stand for

    def assign(self, node: ast.Assign, scope: int) -> None:
        value = convert(node.value)
        for target in node.targets:
            self.target(target, value, scope, node.value)
        self.visit(node.value, scope)

    def annotated(self, node: ast.AnnAssign, scope: int) -> None:
        self.target(node.target, ("i", types.convert(node.annotation)), scope)
        self.annotation(node.annotation, scope)
        if node.value is not None:
            self.visit(node.value, scope)

    def named(self, node: ast.NamedExpr, scope: int) -> None:
        self.target(node.target, convert(node.value), scope)
        self.visit(node.value, scope)

    def target(self, target: ast.expr, value: Expr, scope: int, source: ast.expr | None = None) -> None:
        """Bind what is assigned to; several names take the parts of the value."""
        if isinstance(target, ast.Name):
            self.facts.bind(scope, target.id, value)
        elif isinstance(target, ast.Attribute):
            if isinstance(target.value, ast.Name):
                self.field(target.value.id, target.attr, value, scope)
            self.visit(target, scope)
        elif isinstance(target, ast.Tuple | ast.List):
            whole = source.elts if isinstance(source, ast.Tuple | ast.List) else []
            for number, one in enumerate(target.elts):
                part = convert(whole[number]) if len(whole) == len(target.elts) else ("t", value, number)
                self.target(one, part, scope)
        else:
            self.visit(target, scope)

    def field(self, name: str, attribute: str, value: Expr, scope: int) -> None:
        """Note a field that a method sets on its receiver."""
        owner = self.facts.scopes[scope].owner
        first = self.facts.scopes[scope].names.get(name, [])
        if owner < 0 or first not in ([("self",)], [("cls",)]):
            return
        function = self.facts.defs[owner]
        if function.owner >= 0:
            held = self.facts.defs[function.owner].fields.setdefault(attribute, [])
            if len(held) < 8:
                held.append((scope, value))

    def loop(self, node: ast.For | ast.AsyncFor, scope: int) -> None:
        self.iterate(node.target, node.iter, scope)
        self.body(node.body, scope)
        self.body(node.orelse, scope)

    def iterate(self, target: ast.expr, over: ast.expr, scope: int) -> None:
        element = ("e", convert(over))
        self.target(target, element, scope)
        self.facts.use(scope, element, over.lineno)
        self.visit(over, scope)

    def comprehension(self, node: ast.comprehension, scope: int) -> None:
        self.iterate(node.target, node.iter, scope)
        for one in node.ifs:
            self.visit(one, scope)

    def with_item(self, node: ast.withitem, scope: int) -> None:
        entered = ("c", ("a", convert(node.context_expr), "__enter__"), ())
        self.facts.use(scope, entered, node.context_expr.lineno, "calls")
        if node.optional_vars is not None:
            self.target(node.optional_vars, entered, scope)
        self.visit(node.context_expr, scope)

    def handler(self, node: ast.ExceptHandler, scope: int) -> None:
        if node.type is not None:
            if node.name:
                several = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
                self.facts.bind(scope, node.name, ("u", tuple(("i", types.convert(one)) for one in several)))
            self.visit(node.type, scope)
        self.body(node.body, scope)

    def return_(self, node: ast.Return, scope: int) -> None:
        if node.value is not None:
            owner = self.facts.scopes[scope].owner
            if owner >= 0 and len(self.facts.defs[owner].returned) < 4:
                self.facts.defs[owner].returned.append(convert(node.value))
            self.visit(node.value, scope)

    def yield_(self, node: ast.Yield | ast.YieldFrom, scope: int) -> None:
        owner = self.facts.scopes[scope].owner
        if owner >= 0:
            self.facts.defs[owner].flags |= {"changed"}
        self.below(node, scope)

    # --- uses

    def chain(self, node: ast.expr, scope: int) -> None:
        """Note the longest chain of names, attributes and calls, and read the arguments within it apart."""
        called = isinstance(node, ast.Call)
        self.facts.use(scope, convert(node), node.lineno, "calls" if called else "references")
        while True:
            if isinstance(node, ast.Attribute):
                node = node.value
            elif isinstance(node, ast.Call):
                over = _gone_through(node)
                if self.facts.watched:
                    self.quoted(node, scope)
                for one in (*node.args, *(keyword.value for keyword in node.keywords)):
                    if isinstance(one, ast.Lambda):
                        self.lambda_(one, scope, over)
                    else:
                        self.visit(one, scope)
                node = node.func
            elif isinstance(node, ast.Subscript):
                self.visit(node.slice, scope)
                node = node.value
            elif isinstance(node, ast.Await):
                node = node.value
            else:
                break
        if not isinstance(node, ast.Name):
            self.visit(node, scope)

    def quoted(self, node: ast.Call, scope: int) -> None:
        """Note the attribute that `getattr` asks for on a watched line."""
        named = node.args[1] if len(node.args) > 1 else None
        if getattr(node.func, "id", "") == "getattr" and isinstance(named, ast.Constant):
            for line in {node.lineno, named.lineno} & self.facts.watched:
                self.facts.saw(line, scope, str(named.value), convert(node.args[0]))

    def annotation(self, node: ast.expr, scope: int) -> None:
        for what in types.named(node):
            self.facts.use(scope, what, node.lineno)


def convert(node: ast.expr) -> Expr:
    """Return an expression as far as it says what it is a value of."""
    found = types.simple(node)
    if found is not None:
        return found
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super":
            return ("super",)
        if _last(function) == "cast" and len(node.args) == 2:
            return ("i", types.convert(node.args[0]))
        short = isinstance(function, ast.Name) and function.id in types.PASSING
        return ("c", convert(function), tuple(convert(one) for one in node.args[:2]) if short else ())
    if isinstance(node, ast.Attribute):
        return ("a", convert(node.value), node.attr)
    if isinstance(node, ast.Subscript):
        return ("k", convert(node.value))
    return _compound(node)


def _compound(node: ast.expr) -> Expr:
    if isinstance(node, ast.Await):
        return ("w", convert(node.value))
    if isinstance(node, ast.BoolOp):
        return ("u", tuple(convert(one) for one in node.values))
    if isinstance(node, ast.IfExp):
        return ("u", (convert(node.body), convert(node.orelse)))
    if isinstance(node, ast.NamedExpr):
        return convert(node.value)
    if isinstance(node, ast.Tuple):
        return ("tuple", tuple(convert(one) for one in node.elts[:4]))
    if isinstance(node, ast.List | ast.Set):
        return ("seq", tuple(convert(one) for one in node.elts[:4]))
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return ("seq", (convert(node.elt),))
    if isinstance(node, ast.Dict):
        return ("map", UNKNOWN, ("u", tuple(convert(one) for one in node.values[:4])))
    if isinstance(node, ast.DictComp):
        return ("map", convert(node.key), convert(node.value))
    return UNKNOWN


def _gone_through(node: ast.Call) -> Expr:
    """Return the element that a call gives to a function among its arguments: `sorted(xs, key=…)`, `map(…, xs)`."""
    name, args = _last(node.func), node.args
    if isinstance(node.func, ast.Name) and args:
        if name in ("map", "filter") and len(args) == 2:
            return ("e", convert(args[1]))
        return ("e", convert(args[0])) if name in ("sorted", "max", "min") and len(args) == 1 else UNKNOWN
    return ("e", convert(node.func.value)) if name == "sort" and isinstance(node.func, ast.Attribute) else UNKNOWN


def _last(node: ast.expr) -> str:
    """Return the last name of a decorator or a callee."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


_VISITS: dict[type[ast.AST], Any] = {
    ast.Import: _Reader.import_,
    ast.ImportFrom: _Reader.import_from,
    ast.FunctionDef: _Reader.function,
    ast.AsyncFunctionDef: _Reader.function,
    ast.ClassDef: _Reader.class_,
    ast.Lambda: _Reader.lambda_,
    ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.annotated,
    ast.NamedExpr: _Reader.named,
    ast.For: _Reader.loop,
    ast.AsyncFor: _Reader.loop,
    ast.comprehension: _Reader.comprehension,
    ast.withitem: _Reader.with_item,
    ast.ExceptHandler: _Reader.handler,
    ast.Return: _Reader.return_,
    ast.Yield: _Reader.yield_,
    ast.YieldFrom: _Reader.yield_,
    ast.Call: _Reader.chain,
    ast.Attribute: _Reader.chain,
    ast.Name: _Reader.chain,
    ast.Await: _Reader.chain,
    ast.Subscript: _Reader.chain,
    ast.Constant: lambda reader, node, scope: None,
}
