"""Lines outside of definitions: whether what changed there can matter to those who import the file."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_IMPORTS = ("import ", "from ", "using ", "use ", "require", "package ", "} from")
_COMMENTS = {"python": ("#",), "ruby": ("#",)}
_OTHER_COMMENTS = ("//", "/*", "* ", "*/")
# Statements that may go over several lines; nothing in them is anything but a name.
_LONG = re.compile(
    r"""^(?:from\s+\S+\s+import\s*\([^()]*\)
        |import\s*\([^()]*\)
        |import\s+[^;'"(){}]*\{[^{}]*\}\s*from\s*['"][^'"\n]*['"];?
        |(?:const|let|var)\s*\{[^{}]*\}\s*=\s*(?:await\s+)?(?:require|import)\s*\([^()]*\);?
        |(?:pub\s+)?use\s+[^;={}]*\{[^;=]*\};)[ \t]*(?:\#.*|//.*)?$""",
    re.MULTILINE | re.VERBOSE,
)
_REQUIRED = re.compile(r"(?:const|let|var)\s[^=]*=\s*(?:await\s+)?(?:require|import)\s*\(")
_WORD = re.compile(r"[\w$.@/*-]+")
_ALIAS = re.compile(r"([\w$.*]+)\s+as\s+([\w$]+)")


def matters(before: Sequence[str], after: Sequence[str], language: str) -> bool:
    """Tell whether lines outside of definitions may change the file for others: a new or a longer import does not.

    An import that is gone may have been what others imported from here.
    """
    old, new = (_statements(lines, language) for lines in (before, after))
    gone, come = old - new, new - old
    imports = [one for one in come if _imports(one)]
    return any(not _kept(one, imports) for one in gone) or len(imports) < len(come)


def _statements(lines: Iterable[str], language: str) -> Counter[str]:
    """Count the statements, each import in one piece; neither blank lines nor comments."""
    comments = _COMMENTS.get(language, _OTHER_COMMENTS)
    kept = [line for line in lines if line.strip() and not line.strip().startswith(comments)]
    text = "\n".join(kept)
    long = [" ".join(found[0].split()) for found in _LONG.finditer(text)]
    return Counter([*long, *filter(None, (line.strip() for line in _LONG.sub("", text).split("\n")))])


def _imports(statement: str) -> bool:
    return statement.startswith(_IMPORTS) or bool(_REQUIRED.match(statement) or _LONG.match(statement))


def _kept(gone: str, imports: Iterable[str]) -> bool:
    """Tell whether some new import still imports all that one imported that is gone."""
    if not _imports(gone):
        return False
    words, aliases = set(_WORD.findall(gone)), set(_ALIAS.findall(gone))
    for one in imports:
        renamed = {name for pair in set(_ALIAS.findall(one)) - aliases for name in pair}
        if words <= set(_WORD.findall(one)) and not renamed & words:
            return True
    return False
