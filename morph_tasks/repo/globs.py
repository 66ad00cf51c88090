"""Repository-relative globs: which paths a node reads, an owner owns, a scan leaves out.

`*` and `?` stay inside one name, `[...]` is one character, `**` is any number of folders (none too),
`{a,b}` is either. `src/`, and `src` when it names a folder, mean all that lies below. A leading `!` takes
away what the others gave; alone, it takes from everything. A backslash makes the next character plain.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_ALTERNATIVES = 1000
_MOST_LEVELS = 100
_ANY = "(?s:.*)"
_BELOW = "(?s:/.+)"
_STAR, _ONE = "", "[^/]"


def compile_globs(patterns: Sequence[str]) -> Callable[[bytes], bool]:
    """Return the function that tells whether a path matches; its time is linear in the path.

    Raises Refusal `bad-glob` when the braces of a pattern spell out more than 1000 alternatives.
    """
    return _compile(patterns, _file_regexes, _file_regexes)


def compile_reaching_globs(patterns: Sequence[str]) -> Callable[[bytes], bool]:
    """Return the function that tells whether a folder, taken as one thing, is or may hold a match.

    A nested repository is one entry of its parent, so it belongs to every glob that reaches into it.
    """
    return _compile(patterns, _reaching_regexes, _covering_regexes)


def compile_covering_globs(patterns: Sequence[str]) -> Callable[[bytes], bool]:
    """Return the function that tells whether everything in a folder matches, whatever it holds."""
    return _compile(patterns, _covering_regexes, _reaching_regexes)


def _compile(
    patterns: Sequence[str], give: Callable[[str], list[str]], take: Callable[[str], list[str]]
) -> Callable[[bytes], bool]:
    import re

    given: list[str] = []
    taken: list[str] = []
    for pattern in patterns:
        negative = pattern.startswith("!")
        for plain in _alternatives(pattern[1:] if negative else pattern):
            if negative:
                taken.extend(take(plain))
            else:
                given.extend(give(plain))
    if taken and not given:
        given.append(_ANY)
    if not given:
        return lambda path: False
    wanted = re.compile("|".join(dict.fromkeys(given))).fullmatch
    if not taken:
        return lambda path: wanted(path.decode("utf-8", "surrogateescape")) is not None
    unwanted = re.compile("|".join(dict.fromkeys(taken))).fullmatch

    def matches(path: bytes) -> bool:
        text = path.decode("utf-8", "surrogateescape")
        return wanted(text) is not None and unwanted(text) is None

    return matches


def _alternatives(pattern: str, level: int = 0) -> list[str]:
    """Spell out `{a,b}`; braces without a comma, or without a partner, are plain characters."""
    depth, cuts, at = 0, [0], 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "{":
            depth += 1
            if depth == 1:
                cuts = [at]
        elif char == "," and depth == 1:
            cuts.append(at)
        elif char == "}" and depth:
            depth -= 1
            if depth == 0 and len(cuts) > 1:
                return _spelled(pattern, [*cuts, at], level + 1)
        at += 1
    return [pattern]


def _spelled(pattern: str, cuts: list[int], level: int) -> list[str]:
    found: list[str] = []
    if level <= _MOST_LEVELS:
        before, after = pattern[: cuts[0]], _alternatives(pattern[cuts[-1] + 1 :], level)
        for start, end in pairwise(cuts):
            for middle in _alternatives(pattern[start + 1 : end], level):
                found.extend(before + middle + rest for rest in after)
    if not found or len(found) > _MOST_ALTERNATIVES:
        from morph_tasks.errors import Refusal

        raise Refusal(
            "bad-glob",
            f"the braces of {pattern[:80]!r} spell out more than {_MOST_ALTERNATIVES} paths",
            fix="use `*` or fewer alternatives",
            exit_code=2,
        )
    return found


def _file_regexes(plain: str) -> list[str]:
    names = _names(plain)
    if not names:
        return [_ANY]
    if plain.endswith("/") and names[-1] != "**":
        return [_path(names) + _BELOW]
    return [_path(names) + (f"{_BELOW}?" if _is_plain(names[-1]) else "")]


def _reaching_regexes(plain: str) -> list[str]:
    names = _names(plain)
    if not names or names[0] == "**":
        return [_ANY]
    if "**" in names:
        names = names[: names.index("**")]
        whole = _path(names) + f"{_BELOW}?"
    else:
        whole = _path(names) + (f"{_BELOW}?" if _is_folder(plain, names) else "")
    return [whole, *(_path(names[:count]) for count in range(1, len(names)))]


def _covering_regexes(plain: str) -> list[str]:
    names = _names(plain)
    covers = names[-1:] == ["**"] or _is_folder(plain, names)
    while names and names[-1] == "**":
        names.pop()
    if not names:
        return [_ANY]
    return [_path(names) + f"{_BELOW}?"] if covers else []


def _is_folder(plain: str, names: list[str]) -> bool:
    return plain.endswith("/") or not names or _is_plain(names[-1])


def _names(plain: str) -> list[str]:
    names: list[str] = []
    for name in plain.split("/"):
        if name not in ("", ".") and not (name == "**" and names[-1:] == ["**"]):
            names.append(name)
    return names


def _path(names: list[str]) -> str:
    """Translate names; each `**` takes the earliest place where what follows fits, so nothing is tried twice."""
    runs: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            runs.append([])
        else:
            runs[-1].append(_name_regex(name))
    if len(runs) == 1:
        return "/".join(runs[0])
    first, *middle, last = runs
    regex = "".join(f"{name}/" for name in first)
    for run in middle:
        regex += "(?>(?:[^/]++/)*?" + "".join(f"{name}/" for name in run) + ")"
    return regex + ("(?:[^/]++/)*?" + "/".join(last) if last else "(?s:.+)")


def _name_regex(name: str) -> str:
    """Translate one name; text between two stars takes its earliest place, the last text takes the end."""
    if name == "*":
        return "[^/]+"
    pieces = [""]
    for token in _tokens(name):
        if token == _STAR:
            pieces.append("")
        else:
            pieces[-1] += token
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    ending = f"(?>[^/]*{last}(?![^/]))" if last else "[^/]*+"
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + ending


def _is_plain(name: str) -> bool:
    return not any(token[:1] in ("", "[", "(") for token in _tokens(name))


def _tokens(name: str) -> list[str]:
    """Return one regex a character of the pattern, and `_STAR` for a star."""
    from re import escape

    tokens: list[str] = []
    at = 0
    while at < len(name):
        char, end = name[at], _class_end(name, at)
        if end:
            tokens.append(_class_regex(name[at + 1 : end]))
            at = end
        elif char == "\\" and at + 1 < len(name):
            at += 1
            tokens.append(escape(name[at]))
        else:
            tokens.append(_STAR if char == "*" else _ONE if char == "?" else escape(char))
        at += 1
    return tokens


def _class_end(name: str, at: int) -> int:
    """Return where the `[...]` that starts here ends; 0 when none does."""
    if name[at] != "[":
        return 0
    start = at + 2 if name[at + 1 : at + 2] in ("!", "^") else at + 1
    return max(name.find("]", start + 1), 0)


def _class_regex(inside: str) -> str:
    from re import escape

    negative = inside[0] in "!^"
    body, rest = "", inside[1:] if negative else inside
    while rest:
        if len(rest) > 2 and rest[1] == "-":
            low, high, rest = rest[0], rest[2], rest[3:]
            body += f"{escape(low)}-{escape(high)}" if low <= high else ""
        else:
            body, rest = body + escape(rest[0]), rest[1:]
    if negative:
        return f"[^/{body}]"
    return f"(?!/)[{body}]" if body else "(?!)"
