"""What log collectors put before every line: timestamps, container and task names."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Each only counts when nearly every line carries it, so that a test's own words are never taken for one.
_KNOWN = (
    # GitHub, GitLab, Azure, Jenkins, `docker logs -t`; `gh run view --log` puts job and step before it.
    re.compile(
        r"\ufeff?(?:[^\t]{1,120}\t[^\t]{1,200}\t\ufeff?)?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
        r"(?:Z|[+-]\d\d:?\d\d)?\]?(?: \d\d[OE](?:[ +]|$)| |$)"
    ),
    re.compile(
        r"\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\](?: |$)|\d\d:\d\d:\d\d(?:[.,]\d{1,9})? {1,2}(?=\S|$)|\d\d:\d\d:\d\d$"
    ),
    # docker compose, BuildKit, Cloud Build.
    re.compile(r"[\w.-]{1,80} +\| ?"),
    re.compile(r"#\d{1,4}(?: |$)(?:\d{1,6}\.\d{1,4}(?: |$))?"),
    re.compile(r"Step #\d{1,3}(?: - \"[^\"]{1,80}\")?:(?: |$)"),
    # yarn workspaces, concurrently; not the levels of a log, nor the workers of pytest.
    re.compile(r"\[(?!INFO|WARN|ERROR|DEBUG|TRACE|gw\d|\s)@?[\w./:-]{1,80}\]:?(?: |$)"),
    # turbo, pnpm -r, lerna.
    re.compile(r"@?[\w./-]{1,80}:[\w./:-]{1,60}:(?: |$)"),
    re.compile(r"@?[\w./-]{1,80} test[\w:-]{0,40}[:$](?: |$)"),
)
_MOST = 0.9
# A timestamp is one at first sight; a word before a bar or a colon has to repeat.
_FEW = 4

Prefix = tuple[re.Pattern[str], ...]


def find(lines: Sequence[str]) -> Prefix:
    """Return the prefixes, outermost first, that at least nine of ten lines carry."""
    found: list[re.Pattern[str]] = []
    rest = [line for line in lines if line.strip()]
    while rest and len(found) < 3:
        known = _KNOWN if len(rest) >= _FEW else _KNOWN[:1]
        carried = next((one for one in known if one not in found and _share(one, rest) >= _MOST), None)
        if carried is None:
            break
        found.append(carried)
        rest = [
            cut for line in rest if (cut := carried.sub("", line, count=1) if carried.match(line) else line).strip()
        ]
    return tuple(found)


def cut(text: str, prefix: Prefix) -> str:
    """Return a line without its prefixes."""
    for known in prefix:
        hit = known.match(text)
        text = text[hit.end() :] if hit else text
    return text


def _share(known: re.Pattern[str], lines: Sequence[str]) -> float:
    return sum(bool(known.match(line)) for line in lines) / len(lines)
