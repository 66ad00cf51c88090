"""Words of the process in a comment: the plan, its gates, scenarios and slices, which code outlives."""

from __future__ import annotations

import re

_CITED = re.compile(
    r"""\b(?:UC|ADR|FR)-\d+\b      # a use case, a decision, a requirement
    |\b[CF]\d{1,2}\b(?![-.]\d)    # a scenario, a slice
    |\b[Gg]ate\s+\d+\b
    |\bplan\.md\b
    |\bchecks\.json\b
    |\b[Mm]ock-?ups?\b""",
    re.X,
)
_MODIFIER = r"(?:ctrl|control|alt|shift|cmd|command|meta|option|super|fn)"
_KEY = (
    r"(?:keys?|tecl(?:a|as|ado)|atalhos?|hotkeys?|shortcuts?|press(?:es|ed|ing)?|pression\w+|apert\w+|hit(?:s|ting)?)"
)
_SCORE = r"(?:scores?|measures?|metrics?|m[eé]tricas?|macro|micro|weighted|beta|loss)"
_CELL = r"(?:cells?|c[eé]lulas?|columns?|colunas?)"
_MODEL = (
    r"(?:models?|modelos?|diagram\w*|n[ií]ve(?:l|is)|levels?|notation|nota[cç][aã]o|architecture|arquitetura|views?)"
)
# The same letters with another meaning: keys, the F1 score, cells of a sheet, the C4 model, standards of C, lint rules.
_OTHERWISE = re.compile(
    rf"""\b{_MODIFIER}\s*[-+]\s*F\d{{1,2}}\b
    |\b{_KEY}\s+(?:(?:the|a|o|and|or|e|ou|to|on)\s+)?[`'"]?F\d{{1,2}}\b(?:\s*(?:[/,-]|or|ou|to|a)\s*F\d{{1,2}}\b)*
    |\bF\d{{1,2}}\b[`'"]?(?:\s*(?:[/,-]|\.\.|or|ou|to|a)\s*F\d{{1,2}}\b)*[\s-]+{_KEY}\b
    |\bF1\s*(?:-|\.\.|–|to|a)\s*F12\b
    |\bF1\b[\s-]*(?:{_SCORE}|help|ajuda)\b
    |\b{_SCORE}[\s-]+F1\b
    |\b{_CELL}\s+[A-Z]{{1,3}}\d+\b(?:\s*(?:[,/-]|and|e|to|a)\s*[A-Z]{{1,3}}\d+\b)*
    |\b[A-Z]{{1,3}}\d+\s+{_CELL}\b
    |\b\$?[A-Z]{{1,3}}\$?\d+:\$?[A-Z]{{1,3}}\$?\d+\b
    |\bC4\b[\s-]+(?:{_MODEL}|context|container|component|plantuml)\b
    |\b{_MODEL}\s+C4\b
    |\bC(?:89|90|95|99)\b
    |\bC(?:11|17|18|23)\b\s+(?:standard|compiler|atomics|threads|mode)\b
    |\#[0-9A-Fa-f]{{3,8}}\b
    |\b(?:noqa|nosec|pylint|flake8|ruff)\b\W*(?:\w+[=:,\s]*)*""",
    re.X | re.I,
)


def cited(comment: str) -> list[str]:
    """Return the words of the process in a comment, in their order."""
    return _CITED.findall(_OTHERWISE.sub(" ", comment))
