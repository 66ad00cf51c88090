"""The types and test attributes of a C# file, by a scan that may be wrong but never silently.

Every keyword of a type that the raw text holds has to be a declaration that the scan named. Where the scan loses its
way, a keyword is left over and the file is not used: no type is ever missed because a string was read as code or code
as a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from morph_tasks.verify.narrowing.dotnet_mask import COMMENT, DIRECTIVE, Unreadable, masked

_KEYWORD = re.compile(r"(?<!\w)(?:class|record|struct|interface)(?!\w)")
# What a keyword stands before when it may be a declaration: a name, or something that a name may follow.
_MAY_NAME = re.compile(r"\s*[^\W\d]|\s*[@/#\\]|\s*[^\x00-\x7f]")
_DECLARATION = re.compile(r"(?<!\w)(?:record\s+(?:class|struct)|class|struct|interface|record)\s+(@?[^\W\d]\w*)")
_AFTER_NAME = re.compile(rf"[\s<({{:;,\[{COMMENT}{DIRECTIVE}]|$")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# After a keyword these go on with an expression or a constraint: `record with { … }`, `where T : class where U : …`.
_NO_NAMES = frozenset({
    "and", "as", "class", "descending", "ascending", "else", "equals", "in", "interface", "into", "is", "join", "let",
    "new", "not", "on", "or", "orderby", "record", "select", "struct", "switch", "when", "where", "with", "from",
    "group", "by", "throw", "return", "if", "for", "foreach", "while", "using", "public", "private", "internal",
    "protected", "static", "sealed", "abstract", "partial", "void", "this", "base", "await", "default", "null",
    "true", "false",
})  # fmt: skip
_TEST = frozenset({"Fact", "Theory", "Test", "TestMethod", "DataTestMethod", "TestCase", "TestCaseSource"})
_ATTRIBUTE = re.compile(
    r"\s*(?:(?:assembly|module|type|method|field|property|event|param|return|typevar)\s*:(?!:)\s*)?"
    r"(?:global\s*::\s*)?(?P<name>@?\w+(?:\s*(?:\.|::)\s*@?\w+)*)\s*(?:<[^()]*>)?\s*(?P<rest>\(.*\))?\s*",
    re.S,
)
# An attribute section begins the file or follows the end of something.
_OPENED = re.compile(r"(?:(?<![\s\S])|(?<=[;{}\]]))\s*\[")
_COMBINES = frozenset({"and", "as", "in", "is", "not", "or", "switch", "when", "with"})
_WORDS = (
    r"(?:Fact|Theory|Test|TestMethod|DataTestMethod|TestCase|TestCaseSource|TestClass|TestFixture|InlineData|DataRow)"
    r"(?:Attribute)?"
)
_READS_AS_TEST = re.compile(
    rf"(?m)(?:\[<?|^\s*<|\[[^\[\]\n]*,)\s*(?:[\w.:]+[.:])?\w*?{_WORDS}\s*[\](,:>]"
    r"|\b(?:using|open|Imports)\s+(?:static\s+)?(?:global::)?"
    r"(?:Xunit|NUnit\.Framework|Microsoft\.VisualStudio\.TestTools\.UnitTesting|TUnit|Bunit)\b"
    r"|@(?:using|inherits)\s+(?:Xunit|NUnit|Bunit|TestContext|BunitContext)\b"
)
_NAMED_AS_TEST = re.compile(r"(?:(?<=[a-z0-9._-])|^)(?:Tests?|Specs|Facts)$|(?:^|[._-])(?:tests?|specs)$")


@dataclass(frozen=True)
class Source:
    """What a file declares. `problem` says why its types are no safe selectors; `tests`: it has a test attribute."""

    types: tuple[str, ...] = ()
    tests: bool = False
    problem: str | None = None


def scan(data: bytes) -> Source:
    """Return the types of a C# file by their bare names, nested ones too, in order."""
    text = decoded(data)
    if text is None:
        return Source(problem="is no text in UTF-8 or UTF-16")
    try:
        code = masked(text)
    except Unreadable as lost:
        return Source(problem=str(lost))
    places = list(test_sections(code))
    problem = _unbalanced(code) or _leftover(text, code) or _conditional(text, code, places)
    names, wrong = _declared(code)
    return Source(names, bool(places), problem or wrong)


def decoded(data: bytes) -> str | None:
    """Return the text of a source file without its byte order mark; None when it is no UTF-8 or UTF-16."""
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        return None


def reads_as_test(text: str, stem: str) -> bool:
    """Tell whether a file of any .NET language may hold tests, by loose signs. `stem`: its name without ending."""
    return bool(_NAMED_AS_TEST.search(stem) or _READS_AS_TEST.search(text))


def test_sections(code: str) -> Iterator[int]:
    """Yield where masked code has attribute sections with a test attribute, by its whole name."""
    plain = code.replace(COMMENT, " ").replace(DIRECTIVE, " ")
    for hit in _OPENED.finditer(plain):
        if _section(plain, hit.end() - 1):
            yield hit.end() - 1


def _section(code: str, start: int) -> bool:
    parts, end = _parts(code, start)
    if end < 0 or not _declares(code, end):
        return False
    hits = [_ATTRIBUTE.fullmatch(part) for part in parts if part.strip()]
    if not all(hits):
        return False
    names = {re.split(r"[.:\s]+", hit["name"])[-1].lstrip("@") for hit in hits if hit}
    return any(name.removesuffix("Attribute") in _TEST for name in names)


def _parts(code: str, start: int) -> tuple[list[str], int]:
    """Return what stands between the outermost commas of a bracket, and where it ends (-1: nowhere)."""
    parts: list[str] = []
    depth, last = 0, start + 1
    for at in range(start, len(code)):
        char = code[at]
        if char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
            if not depth:
                return [*parts, code[last:at]], at + 1 if char == "]" else -1
        elif char == "," and depth == 1:
            parts.append(code[last:at])
            last = at + 1
        elif char == ";":
            break
    return [], -1


def _declares(code: str, at: int) -> bool:
    """Tell whether what follows a bracket may be a declaration: no operator, no separator, no pattern."""
    hit = re.compile(r"\s*(?:(\[|\(|~)|@?([^\W\d]\w*)|($))").match(code, at)
    return bool(hit) and (hit[2] if hit else None) not in _COMBINES


def _declared(code: str) -> tuple[tuple[str, ...], str | None]:
    names: dict[str, None] = {}
    for hit in _DECLARATION.finditer(code):
        line = code.count("\n", 0, hit.start()) + 1
        name = hit[1].removeprefix("@")
        if not _NAME.fullmatch(name) or not _AFTER_NAME.match(code, hit.end()):
            return (), f"declares a type at line {line} whose name is not plain letters and digits"
        if re.search(r"\babstract\b", code[_statement(code, hit.start()) : hit.start()]):
            return (), f"declares the abstract type `{name}`: its tests run under the names of derived types"
        names[name] = None
    return tuple(names), None


def _statement(code: str, at: int) -> int:
    """Return where the modifiers before a declaration can begin at the earliest."""
    return max(code.rfind(mark, 0, at) for mark in ";{}]") + 1


def _leftover(text: str, code: str) -> str | None:
    """Return the keyword of the raw text that is no named declaration."""
    named = {
        hit.start() + word.start()
        for hit in _DECLARATION.finditer(code)
        if hit[1] not in _NO_NAMES
        for word in _KEYWORD.finditer(hit[0][: hit.start(1) - hit.start()])
    }
    for hit in _KEYWORD.finditer(text):
        if hit.start() not in named and _MAY_NAME.match(text, hit.end()):
            line = text.count("\n", 0, hit.start()) + 1
            return f"has the word `{hit[0]}` at line {line} where no type could be read"
    return None


def _conditional(text: str, code: str, places: Sequence[int]) -> str | None:
    """Return why test attributes prove nothing: all of them are compiled under a condition only."""
    depth, last, sure = 0, 0, not places
    for hit in [*re.finditer(f"{DIRECTIVE}+", code), None]:
        end = hit.start() if hit else len(code)
        sure = sure or (not depth and any(last <= place < end for place in places))
        word = re.match(r"\s*#\s*(if|endif)\b", text[hit.start() : hit.end()]) if hit else None
        depth += {"if": 1, "endif": -1}[word[1]] if word else 0
        last = end
    return None if sure else "has its test attributes between `#if` and `#endif` only"


def _unbalanced(code: str) -> str | None:
    depth = 0
    for hit in re.finditer(r"[{}]", code):
        depth += 1 if hit[0] == "{" else -1
        if depth < 0:
            break
    return "has braces that do not balance" if depth else None
