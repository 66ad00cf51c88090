"""What the log of a narrowed `dotnet test` says of how many tests ran."""

from __future__ import annotations

import re
from itertools import pairwise

from morph_tasks.verify.runners.text import strip_codes

_HEAD = re.compile(r"^\s*(?:Test run summary|Resumo da execução de testes?)\s?:", re.I)
_TOTAL = re.compile(r"^\s*total\s?: ?(\d+)\s*$", re.I)
# The line behind the total in both languages; a test that prints `total: 0` does not go on like this.
_FAILED = re.compile(r"^\s*(?:failed|com falha|falhou|falha)\s?: ?\d+", re.I)
_NO_MATCH = re.compile(
    r"No test matches the given testcase filter|Nenhum teste corresponde ao filtro de (?:testcase|caso de teste)", re.I
)
_ZERO_EXIT = 8


def is_zero(log: str, exit_code: int | None) -> bool:
    """Tell whether a red run says that no test matched: exit code 8, or VSTest's sentence in either language."""
    return exit_code == _ZERO_EXIT or any(_NO_MATCH.search(strip_codes(line)) for line in log.splitlines())


def blocks(log: str) -> list[int]:
    """Return the total of each summary of Microsoft.Testing.Platform, in English or Portuguese: one a call.

    A summary whose total cannot be read is left out.
    """
    found: list[int] = []
    lines = [strip_codes(line) for line in log.splitlines()]
    opened = False
    for line, following in pairwise([*lines, ""]):
        if _HEAD.match(line):
            opened = True
        elif opened and (hit := _TOTAL.match(line)) and _FAILED.match(following):
            found.append(int(hit[1]))
            opened = False
    return found
