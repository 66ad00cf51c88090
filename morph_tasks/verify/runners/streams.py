"""One reading from the streams of one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from morph_tasks.verify.runners.model import Found, Output
from morph_tasks.verify.runners.text import Log


def read_streams(output: Output, read_log: Callable[[Log, Output], Found], *, home: int = 0) -> Found:
    """Return the best reading of all streams; `home` is the stream (0 stdout, 1 stderr) that wins a tie.

    A trouble that only another stream shows is kept.
    """
    seen = [replace(read_log(log, output), stream=index) for index, log in enumerate(output.logs)]
    best = max(seen, key=lambda found: (found.evidence, found.stream == home, found.at))
    others = [found for found in seen if found is not best]
    for other in others:
        if best.problem is None and other.problem is not None:
            best = replace(best, problem=other.problem, detail=other.detail, complete=best.complete and other.complete)
        if other.empty and best.counts is None and not best.green:
            best = replace(best, empty=True, complete=True, evidence=max(best.evidence, other.evidence))
        elif best.empty and best.counts is None and other.counts is None:
            best = replace(best, complete=True)
        best = replace(
            best,
            extra={**other.extra, **best.extra},
            warnings=(*best.warnings, *other.warnings),
            flaky=best.flaky or other.flaky,
        )
    return best


def add(total: dict[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Add counts to counts, in place, and return them."""
    for word, many in more.items():
        total[word] = total.get(word, 0) + many
    return total
