"""A log of any size as lines: found by cheap anchors, cleaned only when an anchor hit."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from morph_tasks.verify.runners import prefixes

CHUNK = 1 << 22
LONGEST = 4096
# Only the newest hits of an anchor are kept: a summary is nearer to the end than the noise that looks like one.
KEPT = 20_000
KEPT_OF_PIECE = 4_000
# Up to this size a log is looked at as a whole for remarks.
SHORT = 1 << 23
_AROUND = 1 << 14

# CSI, OSC (titles, links), character sets (`ESC ( B` of cargo), and the two-byte escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[()*+][0-9A-Za-z]|\x1b[@-Z\\^-~]|\x9b[0-?]*[@-~]"
)
# What is left of escapes in logs that dropped or spelled out the escape character.
_REMAINS = re.compile(r"(?:␛|\^\[)\[[0-9;]{0,24}[A-Za-z]|\[\d{1,3}(?:;\d{1,3}){0,5}m|[\x00-\x08\x0b-\x1f\x7f]")
# What a line may hold that cleaning it would take away.
_ODD = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2\x9b|\xe2\x90\x9b|\^\[\[|\[\d{1,3}(?:;\d{1,3}){0,5}m"
)
ERASE = re.compile(rb"(?:\x1b|\xe2\x90\x9b|\^\[)\[\d{0,3}[AJK]|^\[\d{0,2}[AK]\[", re.M)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: where it begins and ends in its log (bytes), and its clean text."""

    at: int
    end: int
    text: str


def strip_codes(text: str) -> str:
    """Return the text without terminal codes and without trailing blanks."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    return _REMAINS.sub("", text).rstrip()


class Log:
    """One output stream, bytes in memory or a file read in pieces; never held as a whole when it is a file."""

    def __init__(self, source: bytes | Path) -> None:
        self._data = source if isinstance(source, bytes) else None
        self._file = None if isinstance(source, bytes) else open(source, "rb")  # noqa: SIM115
        self.size = len(source) if isinstance(source, bytes) else self._file_size()
        if self.read(0, 2) in (b"\xff\xfe", b"\xfe\xff"):
            # PowerShell's `>` and Tee-Object write UTF-16.
            self._data = self.read(0, self.size).decode("utf-16", "replace").encode()
            self.size = len(self._data)
        head = self.read(0, 1 << 16).split(b"\n")
        self.prefix = prefixes.find([strip_codes(raw[:LONGEST].decode("utf-8", "replace")) for raw in head])

    def _file_size(self) -> int:
        assert self._file is not None
        return self._file.seek(0, 2)

    def close(self) -> None:
        """Let go of the file, if there is one."""
        if self._file is not None:
            self._file.close()

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets; offsets outside the log are cut."""
        start, end = max(start, 0), min(end, self.size)
        if self._data is not None:
            return self._data[start:end]
        assert self._file is not None
        self._file.seek(start)
        return self._file.read(max(end - start, 0))

    def clean(self, raw: bytes) -> str:
        """Return one raw line as text without codes and without the prefix that all lines of this log carry."""
        text = strip_codes(raw.decode("utf-8", "replace"))
        return prefixes.cut(text, self.prefix) if self.prefix else text

    def walk(
        self, *anchors: re.Pattern[bytes], start: int = 0, end: int | None = None, most: int | None = None
    ) -> Iterator[Line]:
        """Yield the lines that an anchor hits, in order; of each piece and anchor only the newest `most`.

        An anchor begins with a literal, or it is slow, and matches within one line. Lines longer than a summary
        can be are left out.
        """
        for base, chunk, cut in self._chunks(start, self.size if end is None else end):
            lines: dict[int, int] = {}
            for anchor in anchors:
                for at in deque((hit.start() for hit in anchor.finditer(chunk)), maxlen=most):
                    first, last = _bounds(chunk, at)
                    if (first > 0 or not cut) and 0 <= last - first <= LONGEST:
                        lines[first] = last
            for first in sorted(lines):
                yield Line(base + first, base + lines[first], self.clean(chunk[first : lines[first]]))

    def scan(self, *anchors: re.Pattern[bytes], start: int = 0) -> list[Line]:
        """Return the newest lines that an anchor hits, in order."""
        return list(deque(self.walk(*anchors, start=start, most=KEPT_OF_PIECE), maxlen=KEPT))

    def notes(self, *anchors: re.Pattern[bytes]) -> list[Line]:
        """Return the lines that an anchor hits; of a long log only those near its two ends, where remarks stand."""
        if self.size <= SHORT:
            return self.scan(*anchors)
        head = self.walk(*anchors, end=SHORT >> 3, most=KEPT_OF_PIECE)
        return [*head, *self.walk(*anchors, start=self.size - (SHORT >> 1), most=KEPT_OF_PIECE)]

    def count(self, *literals: bytes) -> list[int]:
        """Return how often each literal occurs in the raw bytes; every line has a newline before it."""
        found = [0] * len(literals)
        for _, chunk, _ in self._chunks(0, self.size):
            piece = b"\n" + chunk
            found = [many + piece.count(literal) for many, literal in zip(found, literals, strict=True)]
        return found

    def matches(self, pattern: re.Pattern[bytes]) -> Iterator[re.Match[bytes]]:
        """Yield the raw hits of a pattern; it sees pieces that end at line ends."""
        for _, chunk, _ in self._chunks(0, self.size):
            yield from pattern.finditer(chunk)

    def find(self, anchor: re.Pattern[bytes], end: int | None = None) -> int | None:
        """Return the offset of the first hit, wherever in a line it is."""
        for base, chunk, _ in self._chunks(0, self.size if end is None else min(end, self.size)):
            if hit := anchor.search(chunk):
                return base + hit.start()
        return None

    def erased(self, start: int, end: int) -> bool:
        """Tell whether a terminal was told to draw over what stands before `end`."""
        return bool(ERASE.search(self.read(max(start, end - LONGEST), end)))

    def after(self, line: Line, many: int) -> list[Line]:
        """Return up to `many` lines that follow a line, blank ones included."""
        return self._lines(line.end, line.end + _AROUND, skip=1)[:many]

    def before(self, line: Line, many: int) -> list[Line]:
        """Return up to `many` lines that precede a line, the nearest last, blank ones included."""
        start = max(line.at - _AROUND, 0)
        found = self._lines(start, line.at, skip=1 if start else 0)
        if found and not found[-1].text and found[-1].at == line.at:
            found.pop()
        return found[-many:]

    def lines(self, start: int = 0, end: int | None = None) -> list[Line]:
        """Return all lines between two offsets, clean; meant for small stretches."""
        return self._lines(start, self.size if end is None else end, skip=0)

    def each(self) -> Iterator[str]:
        """Yield every line, clean, without holding the log; what is longer than a name can be is cut."""
        for _, chunk, _ in self._chunks(0, self.size):
            if self.prefix or _ODD.search(chunk):
                yield from (self.clean(raw[: LONGEST * 2]) for raw in _split(chunk))
            else:
                text = chunk.replace(b"\r\n", b"\n").decode("utf-8", "replace")
                yield from (line[: LONGEST * 2].rstrip() for line in text.split("\n"))

    def holds(self, *literals: bytes) -> bool:
        """Tell whether one of the literals occurs anywhere; much quicker than a pattern."""
        return any(literal in chunk for _, chunk, _ in self._chunks(0, self.size) for literal in literals)

    def _lines(self, start: int, end: int, skip: int) -> list[Line]:
        found, at = [], max(start, 0)
        for raw in _split(self.read(start, end)):
            found.append(Line(at, at + len(raw), self.clean(raw[: LONGEST * 2])))
            at += len(raw) + 1
        return found[skip:]

    def _chunks(self, start: int, end: int) -> Iterator[tuple[int, bytes, bool]]:
        """Yield (offset, bytes, begins inside a line); pieces end at line ends unless a line outgrows a piece."""
        rest, base, cut = b"", start, False
        while base + len(rest) < end:
            piece = rest + self.read(base + len(rest), min(base + len(rest) + CHUNK, end))
            at_end = base + len(piece) >= end
            stop = len(piece) if at_end else max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
            if stop <= 0:
                # One line longer than a piece is no summary; its parts are looked at and dropped.
                yield base, piece, True
                rest, base, cut = b"", base + len(piece), True
                continue
            yield base, piece[:stop], cut
            rest, base, cut = piece[stop:], base + stop, False


def _split(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b" \n").replace(b"\r", b"\n").split(b"\n") if data else []


def _bounds(chunk: bytes, at: int) -> tuple[int, int]:
    """Return start and end of the line around an offset; the end is -1 when the line is too long to be a summary."""
    floor, roof = max(at - LONGEST, 0), at + LONGEST
    first = max(chunk.rfind(b"\n", floor, at), chunk.rfind(b"\r", floor, at)) + 1
    if first == 0 and floor > 0:
        return 0, -1
    ends = [found for found in (chunk.find(b"\n", at, roof), chunk.find(b"\r", at, roof)) if found >= 0]
    return first, min(ends) if ends else (len(chunk) if roof >= len(chunk) else -1)
