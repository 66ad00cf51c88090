"""The words of the plan grammar, Portuguese and English, in one table."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

# canonical word: every spelling; case, accents and runs of blanks do not count
SECTIONS = {
    "problem": ("Problem", "Problema"),
    "scenarios": ("Scenarios", "Cenários"),
    "decisions": ("Decisions", "Decisões"),
    "conflicts": ("Conflicts with the record", "Conflitos com o acervo"),
    "slices": ("Slices", "Fatias"),
    "contract": ("Implementation contract", "Contrato de implementação"),
    "errata": ("Errata",),
}
KEYS = {
    "proof": ("proof", "prova"),
    "persona": ("persona",),
    "files": ("files", "arquivos"),
    "covers": ("covers", "cobre"),
    "depends": ("depends", "depende"),
    "surface": ("surface", "superfície"),
    "standards": ("standards",),
    "reuse": ("reuse", "reuso"),
    "scope": ("scope", "alcance", "escopo"),
    "why-artefact": ("Why an artefact", "Why an artifact", "Por que artefato", "Por que um artefato"),
}
PROOFS = {"test": ("test", "teste"), "e2e": ("e2e",), "eval": ("eval",), "manual": ("manual",)}
SCOPES = {"feature": ("feature",), "project": ("project", "projeto")}
VERDICTS = {"REUSE": ("REUSE", "REUSAR"), "EXTEND": ("EXTEND", "ESTENDER"), "CREATE": ("CREATE", "CRIAR")}
CHANGES = {"total": ("total",), "partial": ("partial", "parcial")}
COLUMNS = {"adr": ("ADR",), "change": ("Change", "Mudança"), "scope": KEYS["scope"]}
NOTHING = {"none": ("none", "nenhum", "nenhuma", "-", "—", "–", "n/a")}
JOINERS = {"and": ("and", "e", "&", "+")}

SCENARIO_KEYS = frozenset({"proof"})
SLICE_KEYS = frozenset({"persona", "files", "covers", "depends", "surface", "standards", "reuse"})
ADR_KEYS = frozenset({"scope"})

# One character for one, so that an offset in the flat text is an offset in the source.
_FLAT = {c: unicodedata.normalize("NFD", chr(c))[0].lower() for c in range(0xC0, 0x250) if chr(c).isalpha()}
_FLAT |= {c: chr(c).lower() for c in range(0x41, 0x5B)} | {0xA0: " "}


def flat(text: str) -> str:
    """Return the text in lower case without accents, of the same length (combining marks stay)."""
    return text.translate(_FLAT)


def fold(text: str) -> str:
    """Return the form in which words are compared: no case, no accents, single blanks."""
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return " ".join(bare.casefold().split())


def _table(words: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    return {fold(spelling): name for name, spellings in words.items() for spelling in spellings}


_TABLES = {
    "section": _table(SECTIONS),
    "key": _table(KEYS),
    "proof": _table(PROOFS),
    "scope": _table(SCOPES),
    "verdict": _table(VERDICTS),
    "change": _table(CHANGES),
    "column": _table(COLUMNS),
    "nothing": _table(NOTHING),
    "joiner": _table(JOINERS),
}
_LONGEST = 80


def known(kind: str, text: str) -> str | None:
    """Return the canonical word that `text` spells in one of the tables, or None."""
    return _known(kind, text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _known(kind: str, text: str) -> str | None:
    word = fold(text)
    return _TABLES[kind].get(word.rstrip(" :.") or word)
