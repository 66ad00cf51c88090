"""dotnet test: VSTest lines and blocks, Microsoft.Testing.Platform blocks, the terminal logger; in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told

ALIASES: tuple[str, ...] = ("dotnet-vstest", "dotnet-mtp", "vstest", "mtp")
SUMMARY = (
    "`Passed!  - Failed: 0, Passed: 5, …` of every assembly, `Total tests: 5`, `Test run summary:` with `  total: 5`, "
    "`Test summary: total: 5, …`"
)
ZERO = "`total: 0`, only skipped, `No test matches`, `No test is available`, exit code 8"
# Exit codes of Microsoft.Testing.Platform; VSTest only knows 0 and 1.
EXITS: dict[int, str] = {
    2: "tests-failed",
    3: "interrupted",
    4: "usage-error",
    5: "usage-error",
    7: "crashed",
    8: "no-tests",
    9: "too-few-tests",
    10: "crashed",
    11: "interrupted",
    12: "usage-error",
    13: "too-many-failures",
    14: "coverage-threshold",
}

# Labels are translated, their order is not: failed, passed, skipped, total.
_LABEL = r"[^\d:：,;，、]{1,40}[:：]\s*"
_VSTEST = re.compile(
    rf"^(?P<indent> {{0,4}})[^\d!]{{2,30}}!\s{{1,12}}[-–—]\s{{0,2}}{_LABEL}(?P<failed>\d+)[,;，、]\s*"
    rf"{_LABEL}(?P<passed>\d+)[,;，、]\s*{_LABEL}(?P<skipped>\d+)[,;，、]\s*{_LABEL}(?P<total>\d+)(?P<rest>.*)$"
)
_ASSEMBLY = re.compile(r" [-–—] \S.*\.(?:dll|exe)\b", re.I)
_MTP_TOTAL = re.compile(r"^ {2}[^\d:]{1,20}: ?(\d+)$")
_MTP_ITEM = re.compile(r"^ {2}[^\d:]{1,30}: ?(\d+)(?: \(\+(\d+) [^)]+\))?$")
_MTP_ERROR = re.compile(r"^ {2}(?:error|erro)s?: ?(\d+)$")
_MTP_HEAD = re.compile(r"^(?:Test run summary|Resumo da execução de teste)\s?: ?(.*)$")
_TERMINAL = re.compile(r"^\s{0,4}[^\d:]{4,60}: total ?: (\d+)((?:[,;] [^\d:,;]{2,30} ?: \d+){1,3})(?:[,;].*)?$")
_XUNIT = re.compile(
    r"^ {3}\S.*? {2,}Total: (\d+), Errors: (\d+), Failed: (\d+), Skipped: (\d+)(?:, Not Run: (\d+))?, Time: [\d.,]+s$"
)
_BLOCK = re.compile(r"^(?:Total tests|Total de testes): (\d+|Unknown|Desconhecido)\b.*$")
_BLOCK_ITEM = re.compile(r"^ {3,}(Passed|Failed|Skipped|Aprovados?|Com falha|Ignorados?): (\d+)$")
_WORDS = {"f": "failed", "c": "failed", "p": "passed", "a": "passed", "b": "passed", "s": "skipped", "i": "skipped"}
_EMPTY = re.compile(
    r"^(?:No test (?:matches|is available)|Nenhum teste (?:corresponde|(?:está )?disponível)"
    r"|Zero tests ran|Zero testes executados)"
)
_ABORTED = re.compile(
    r"Test host process crashed|[Tt]est run was aborted|Test Run Aborted|O processo de host de teste|foi anulada"
    r"|Execução de Teste Anulada"
)
_BUILD = re.compile(
    r"(?:^|\s)error (?:CS|MSB|NU|FS|BC|NETSDK)\d+: |^Build FAILED|^FALHA da compilação"
    r"|^\s*(?:Build failed|Falha da compilação) (?:with|com)"
)

_A_LINES = (
    re.compile(rb"! {1,12}(?:-|\xe2\x80[\x93\x94])"),
    re.compile(rb"otal ?: ?\d"),
    re.compile(rb"Total (?:tests|de testes): "),
    re.compile(rb"gesamt ?: ?\d"),
)
_A_NOTES = (
    re.compile(rb"No test (?:matches|is available)"),
    re.compile(rb"Nenhum teste "),
    re.compile(rb"Zero test"),
    re.compile(rb"est host process crashed"),
    re.compile(rb"[Tt]est [Rr]un (?:was )?[Aa]borted"),
    re.compile(rb"processo de host de teste"),
    re.compile(rb"anulada"),
    re.compile(rb"error (?:CS|MSB|NU|FS|BC|NETSDK)\d"),
    re.compile(rb"Build (?:FAILED|failed with)"),
    re.compile(rb"est run summary: "),
)
_A_NAMED = re.compile(rb"^(?:  )?(?:[Pp]assed|[Ff]ailed|[Ss]kipped|Aprovado|Com falha|Ignorado) ", re.M)
_NAMED = re.compile(
    r"^(?:  )?(?P<word>[Pp]assed|[Ff]ailed|[Ss]kipped|Aprovado|Com falha|Ignorado) +(?![!:-])(?P<name>\S.*?)"
    r"(?: [\[(]< ?[\d.,]+ ?m?s[\])]| [\[(](?:\d[\d.,]* ?(?:ms|m|s|h) ?)+[\])])?$"
)
_PLAIN = re.compile(r"^[A-Za-z_][\w`+<>]*(?:\.[\w`+<>]+)+(?:\(.*\))?$")
_STATUS: dict[str, Status] = {
    "passed": "passed", "failed": "failed", "skipped": "skipped",
    "aprovado": "passed", "com falha": "failed", "ignorado": "skipped",
}  # fmt: skip


@dataclass(frozen=True)
class _Part:
    """One summary: its dialect, counts, and how likely it is the tool's own rather than an echo."""

    dialect: str
    counts: dict[str, int]
    rank: int = 0
    errors: int = 0
    retried: int = 0


def read(output: Output) -> Found:
    """Return all summaries summed: one an assembly (VSTest) or one an invocation (the others)."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    parts = _believed([(line, part) for line in lines if (part := _part(log, line))])
    notes = [line.text.strip() for line in log.notes(*_A_NOTES)]
    empty = any(_EMPTY.match(note) for note in notes)
    aborted = next((note for note in notes if _ABORTED.search(note)), "")
    if any(re.match(r"^Test run summary: (?:Aborted|Anulad)", note) for note in notes):
        aborted = aborted or "Test run summary: Aborted"
    red = output.exit_code != 0
    built = next((note for note in notes if _BUILD.search(note)), "") if red else ""
    if not parts:
        problem = "crashed" if aborted else "build-failed" if built else None
        return Found(
            2 if notes else 0,
            empty=empty and not problem,
            problem=problem,
            detail=aborted or built,
            complete=not problem,
        )
    counts = {"passed": 0, "failed": 0, "skipped": 0, "total": 0}
    for _, part in parts:
        add(counts, part.counts)
    problem, detail = _problem(counts, parts, aborted, built, output)
    hollow = sum(not (part.counts["passed"] + part.counts["failed"]) for _, part in parts)
    retried = sum(part.retried for _, part in parts)
    return Found(
        evidence=3,
        at=parts[-1][0].at,
        counts=counts,
        executed=counts["passed"] + counts["failed"],
        complete=problem not in ("crashed", "build-failed", "unhandled-error"),
        problem=problem,
        detail=detail,
        flaky=retried > 0,
        extra={"projects": len(parts), "dialect": parts[-1][1].dialect} | ({"retried": retried} if retried else {}),
        warnings=(f"{hollow} of {len(parts)} summaries executed no test",) if 0 < hollow < len(parts) else (),
    )


def _problem(
    counts: dict[str, int], parts: list[tuple[Line, _Part]], aborted: str, built: str, output: Output
) -> tuple[str | None, str]:
    errors = sum(part.errors for _, part in parts)
    if aborted:
        return "crashed", aborted
    if counts["failed"]:
        return None, ""
    if built:
        return "build-failed", built[:200]
    if errors and EXITS.get(output.exit_code or 0) in (None, "tests-failed"):
        return "unhandled-error", f"{errors} error(s) outside of the tests"
    return None, ""


def _part(log: Log, line: Line) -> _Part | None:
    if hit := _VSTEST.match(line.text):
        many = {word: int(hit[word]) for word in ("failed", "passed", "skipped", "total")}
        whole = bool(_ASSEMBLY.search(hit["rest"]))
        return _Part("dotnet-vstest", many, 2 * whole + (not hit["indent"])) if _adds_up(many) else None
    if hit := _TERMINAL.match(line.text):
        return _terminal(hit)
    if hit := _XUNIT.match(line.text):
        total, errors, failed, skipped, idle = (int(number or 0) for number in hit.groups())
        many = {"failed": failed, "passed": total - failed - skipped - idle, "skipped": skipped + idle, "total": total}
        return _Part("xunit", many, 3, errors)
    if hit := _BLOCK.match(line.text):
        return _block(log, line, hit[1])
    return _mtp(log, line) if _MTP_TOTAL.match(line.text) else None


def _adds_up(many: dict[str, int]) -> bool:
    return many["failed"] + many["passed"] + many["skipped"] == many["total"]


def _terminal(hit: re.Match[str]) -> _Part | None:
    numbers = [int(number) for number in re.findall(r": (\d+)", hit[2])]
    many = dict(zip(("failed", "passed", "skipped"), [*numbers, 0, 0, 0], strict=False)) | {"total": int(hit[1])}
    return _Part("dotnet-terminal", many, 3) if _adds_up(many) else None


def _block(log: Log, line: Line, total: str) -> _Part | None:
    many = {"failed": 0, "passed": 0, "skipped": 0}
    for near in log.after(line, 3):
        if hit := _BLOCK_ITEM.match(near.text):
            many[_WORDS[hit[1][0].lower()]] = int(hit[2])
    many["total"] = int(total) if total.isdigit() else sum(many.values())
    return _Part("dotnet-vstest", many, 3) if sum(many.values()) == 2 * many["total"] else None


def _mtp(log: Log, line: Line) -> _Part | None:
    hits = [_MTP_ITEM.match(near.text) for near in (line, *log.after(line, 3))]
    if len(hits) < 4 or not all(hits):
        return None
    total, failed, passed, skipped = (int(hit[1]) for hit in hits if hit)
    many = {"total": total, "failed": failed, "passed": passed, "skipped": skipped}
    above = [near.text for near in log.before(line, 10)]
    errors = [int(hit[1]) for text in above[-3:] if (hit := _MTP_ERROR.match(text))]
    headed = any(_MTP_HEAD.match(text) for text in above)
    retried = sum(int(hit[2] or 0) for hit in hits if hit)
    return _Part("dotnet-mtp", many, 3 if headed else 2, sum(errors), retried) if _adds_up(many) else None


def _believed(parts: list[tuple[Line, _Part]]) -> list[tuple[Line, _Part]]:
    """Keep, of each dialect, the summaries that look most like the tool's own."""
    best: dict[str, int] = {}
    for _, part in parts:
        best[part.dialect] = max(best.get(part.dialect, 0), part.rank)
    return [(line, part) for line, part in parts if part.rank == best[part.dialect]]


def failures(text: str) -> list[Failure]:
    """Return the `Failed Name [12 ms]` and `failed Name (12ms)` tests with message and place."""
    found: dict[str, Failure] = {}
    current, wanted = "", False
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^ {0,4}(?:Failed|failed|Com falha|com falha|\[FAIL\]) (\S.*?) [\[(][<\d].*[\])]$", line):
            current, wanted = hit[1], False
            found.setdefault(current, Failure(current))
        elif current and re.match(r"^ {1,6}(?:Error Message|Mensagem de erro)\s?:", line, re.I):
            wanted = True
        elif current and not found[current].message and line.strip() and (wanted or line.startswith("    ")):
            found[current] = Failure(current, message=line.strip())
        elif (
            current
            and found[current].line is None
            and (place := re.search(r" (?:in|em) (\S.*?):(?:line|linha) (\d+)$", line))
        ):
            found[current] = Failure(current, place[1], int(place[2]), found[current].message)
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of the console loggers (VSTest from `verbosity=normal` on, MTP's detailed output)."""
    for line in log.walk(_A_NAMED):
        hit = _NAMED.match(line.text)
        # Every line has a time, but for what never ran; a sentence that begins with such a word is none.
        if hit and (hit.end("name") < len(line.text) or _PLAIN.match(hit["name"])):
            yield told(hit["name"], _STATUS[hit["word"].lower()])
