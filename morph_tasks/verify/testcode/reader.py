"""Reads the tests of a source file. Each language is a module of this folder, loaded when a file needs it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from morph_tasks.verify.testcode.model import TestSource
from morph_tasks.verify.testcode.paths import is_test_path as is_test_path
from morph_tasks.verify.testcode.paths import language_of as language_of
from morph_tasks.verify.testcode.paths import looks_like_test as looks_like_test

if TYPE_CHECKING:
    from collections.abc import Iterable

# language -> module
READERS = {
    "python": "morph_tasks.verify.testcode.python",
    "javascript": "morph_tasks.verify.testcode.javascript",
    "typescript": "morph_tasks.verify.testcode.javascript",
    "go": "morph_tasks.verify.testcode.golang",
    "rust": "morph_tasks.verify.testcode.rust",
    "csharp": "morph_tasks.verify.testcode.csharp",
    "java": "morph_tasks.verify.testcode.java",
    "ruby": "morph_tasks.verify.testcode.ruby",
}
# What a test says in a file whose name says nothing.
_SAYS: dict[str, tuple[bytes, ...]] = {
    "rust": (b"#[test]", b"::test]", b"::test(", b"#[rstest", b"#[test_case", b"proptest!", b"#[quickcheck"),
    "csharp": (b"[Fact", b"[Theory", b"[Test", b"[DataTestMethod", b", Fact", b", Test"),
    "java": (b"@Test", b"@ParameterizedTest", b"@RepeatedTest"),
    "javascript": (b"vitest", b"node:test", b"@jest/globals", b"@playwright/test", b"bun:test"),
    "typescript": (b"vitest", b"node:test", b"@jest/globals", b"@playwright/test", b"bun:test"),
}
LARGEST = 2 << 20


class Reader(Protocol):
    """A module that reads one language."""

    def read(self, path: str, source: bytes) -> TestSource:
        """Return the tests of a file; raises SyntaxError when it does not parse."""


def read_tests(path: str, source: bytes) -> TestSource | None:
    """Return the tests of a file; None when neither its name nor its text says that it is one of a covered language.

    Never raises: a file that cannot be parsed has `readable` False.
    """
    language = language_of(path)
    if language is None or not (is_test_path(path) or _says_so(language, source)):
        return None
    if len(source) > LARGEST:
        return TestSource(path, language, (), readable=False)
    try:
        return cast("Reader", import_module(READERS[language])).read(path, plain(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return TestSource(path, language, (), readable=False)


def plain(source: bytes) -> bytes:
    """Return a source without byte order mark, its line ends normalised."""
    return source.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def _says_so(language: str, source: bytes) -> bool:
    return _holds(source, _SAYS.get(language, ()))


def _holds(source: bytes, words: Iterable[bytes]) -> bool:
    return any(word in source for word in words)
