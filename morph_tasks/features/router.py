"""Which type of work a request asks for, by whole words and nothing else.

Too many matches would let a harmless request skip gates. So a word counts only when it stands alone:
`group0` is not `p0`, `prefix` is not `fix`, and `config.json`, `bug_id` or `auto-fix` are names of things.
Plurals and inflections are listed, never guessed.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

# Written without accents; a phrase is words with single spaces.
WORDS: dict[str, tuple[str, ...]] = {
    "hotfix": (
        *("hotfix", "hotfixes", "hot-fix", "hot fix", "urgent", "urgently", "emergency", "incident", "incidents"),
        *("outage", "outages", "p0", "sev0", "sev1", "production down", "production is down", "prod down"),
        *("prod is down", "down in production", "down in prod", "site is down", "site down"),
        *("urgente", "urgentes", "urgencia", "emergencia", "incidente", "incidentes", "producao caiu"),
        *("caiu em producao", "caiu a producao", "producao parou", "producao parada", "producao fora", "fora do ar"),
        *("sistema caiu", "site caiu"),
    ),
    "bug": (
        *("bug", "bugs", "bugfix", "bugfixes", "bug-fix", "fix", "fixes", "error", "errors", "exception"),
        *("exceptions", "crash", "crashes", "crashed", "crashing", "regression", "regressions", "broken", "defect"),
        *("defects", "traceback", "tracebacks", "stack trace", "does not work", "doesnt work", "do not work"),
        *("dont work", "stopped working", "incorrect", "wrong"),
        *("erro", "erros", "corrigir", "corrige", "corrija", "correcao", "correcoes", "consertar", "conserta"),
        *("conserte", "conserto", "defeito", "defeitos", "falha", "falhas", "excecao", "excecoes", "regressao"),
        *("regressoes", "quebrado", "quebrados", "quebrada", "quebradas", "quebrou", "nao funciona"),
        *("nao funcionam", "parou de funcionar", "travando"),
    ),
    "chore": (
        *("chore", "chores", "typo", "typos", "rename", "renames", "renaming", "bump", "bumps", "config", "configs"),
        *("configuration", "docs", "doc", "documentation", "readme", "changelog", "cleanup", "cleanups", "clean-up"),
        *("clean up", "lint", "linting", "deps", "dependency", "dependencies", "gitignore"),
        *("renomear", "renomeia", "renomeie", "documentacao", "limpeza", "limpezas", "faxina", "dependencia"),
        *("dependencias", "configuracao", "configuracoes", "erro de digitacao", "erros de digitacao"),
    ),
    "feature": ("new feature", "new features", "feature request", "nova funcionalidade", "novas funcionalidades"),
}

_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
# A path, an address, a file name: something with a dot or a backslash between two word characters.
_NAME_OF_A_THING = re.compile(r"\w[.\\]\w|://")
_LONGEST = 20_000  # characters that are read; nobody asks for work in more
_WORD = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*|\S")


@dataclass(frozen=True)
class Route:
    """What the words say. `confidence`: `high`, `tie` or `none`; `matched`: the words found, by type."""

    confidence: str
    work_type: str | None
    candidates: tuple[str, ...]
    matched: dict[str, list[str]] = field(default_factory=dict)


def route(request: str) -> Route:
    """Return the type of work with the most words in the request; a draw or no word at all decides nothing."""
    said = [part for part in _CODE.sub(" ", _plain(request)).split() if not _NAME_OF_A_THING.search(part)]
    text = f" {' '.join(_WORD.findall(' '.join(said)))} "
    matched: dict[str, list[str]] = {}
    # The longer phrase first, and taken out: "erro de digitacao" is a typo, not an "erro".
    pairs = [(word, kind) for kind, words in WORDS.items() for word in words]
    for word, kind in sorted(pairs, key=lambda pair: -len(pair[0])):
        if f" {word} " in text:
            text = text.replace(f" {word} ", " · ")
            matched.setdefault(kind, []).append(word)
    if not matched:
        return Route("none", None, tuple(sorted(WORDS)))
    most = max(len(words) for words in matched.values())
    top = tuple(sorted(kind for kind, words in matched.items() if len(words) == most))
    if len(top) > 1:
        return Route("tie", None, top, matched)
    return Route("high", top[0], top, matched)


def _plain(text: str) -> str:
    """Return the text in lower case, without accents and apostrophes."""
    apart = unicodedata.normalize("NFKD", text[:_LONGEST].casefold()).replace("'", "").replace("\u2019", "")
    return "".join(sign for sign in apart if not unicodedata.combining(sign))
