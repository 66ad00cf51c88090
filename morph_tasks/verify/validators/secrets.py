"""`secrets`: credentials in added lines. A finding names its kind and its place, never its value."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.validators.added import AddedFile, added_files
from morph_tasks.verify.validators.base import find_base
from morph_tasks.verify.validators.credentials import Candidate, candidates
from morph_tasks.verify.validators.languages import is_test, language_of
from morph_tasks.verify.validators.model import Checked, printable, skipped

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

NAME = "secrets"
RULES = 1  # raised when the same lines would be judged in another way
BASELINE = ".secrets.baseline"
_SHOWN = 20
_ALLOWED = re.compile(r"pragma:\s*(?:allow|white)list[ -]secret\b|\bgitleaks:allow\b", re.I)
_ALLOWED_NEXT = re.compile(r"pragma:\s*(?:allow|white)list[ -]nextline[ -]secret\b", re.I)
_FOREIGN = frozenset({"node_modules", "vendor", "third_party", ".yarn", "site-packages", ".venv", "venv"})
_TEST_DATA = frozenset({
    "fixtures", "__fixtures__", "testdata", "test-data", "test_data", "__mocks__", "mocks", "__snapshots__", "spec",
    "e2e", "cassettes", "testing",
})  # fmt: skip
_LOCKS = re.compile(
    r"(?:^|[-.])lock(?:b|file)?(?:\.(?:json|ya?ml|hcl))?$|^npm-shrinkwrap\.json$|^go\.(?:work\.)?sum$|^\.secrets\.baseline$"
    r"|^\.gitleaksignore$|^Package\.resolved$|\.min\.(?:js|css)$|\.bundle\.js$|\.map$",
    re.I,
)
_EXAMPLE = re.compile(r"\.(?:example|sample|template|tmpl|dist|tpl|j2)(?:\.|$)|^(?:example|sample)[-_.]", re.I)
_KEY_HEAD = re.compile(r"-----BEGIN (?:[A-Z0-9 ]+ )?PRIVATE KEY(?: BLOCK)?-----(.*)")
_KEY_BODY = re.compile(r"(?:\\n|\\r|[\s\"'`+>#*/|-])*(?:[A-Za-z0-9+/]{16,}=*|(?:Proc-Type|Comment|Version|DEK-Info):)")


def applies(repo: Repo, config: Config) -> str | None:
    """Return None: it applies to every tree."""
    return None


def facts(repo: Repo, config: Config) -> dict[str, Any]:
    """Return the base that lines are added to, and the version of the detector."""
    base = find_base(repo)
    return {"rules": RULES, "base": base.tree, "why": base.why, "detector": _detector()}


def check(repo: Repo, config: Config) -> Checked:
    """Look at the added lines; the status is `pass`, `fail` or `skip`."""
    base = find_base(repo)
    if base.tree is None:
        return skipped(str(base.why), silent=False)
    files = [file for file in added_files(repo, base.tree) if not _left_out(file.path)]
    if not files:
        return skipped("no line to look at was added")
    accepted, problem = _baseline(repo.root)
    found = [place for file in files for place in _findings(repo.root, file, accepted.get(file.path, frozenset()))]
    warnings = (problem,) if problem else ()
    lines = sum(len(file.lines) for file in files)
    if not found:
        return Checked("pass", None, f"no secret in {lines} added lines", warnings)
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    said = (
        f"{len(found)} possible secret{'s' if len(found) > 1 else ''} in added lines: take it out and have it revoked; "
        "mark what is none with `pragma: allowlist secret` on its line"
    )
    return Checked("fail", "secret-found", said, warnings, (*found[:_SHOWN], *more))


def _findings(root: Path, file: AddedFile, accepted: frozenset[str]) -> Iterator[str]:
    """Yield `file:line: kind` for each line that gives something away."""
    shown = printable(file.path)
    examples = _holds_examples(file.path)
    texts = {number: raw.decode("utf-8", "replace") for number, raw in file.lines}
    for number, line in texts.items():
        kinds = {
            each.kind: None
            for each in (*_private_key(texts, number), *candidates(file.path, line))
            if (each.certain or not examples) and accepted.isdisjoint(map(_sha1, each.values))
        }
        if kinds and not _is_allowed(root, file.path, number, line):
            yield f"{shown}:{number}: {', '.join(kinds)}"


def _private_key(texts: Mapping[int, str], number: int) -> Iterator[Candidate]:
    """Yield a key when its first line has a body: programs that read keys know the words as well."""
    hit = _KEY_HEAD.search(texts[number])
    if hit and (_KEY_BODY.match(hit[1]) or _KEY_BODY.match(texts.get(number + 1, ""))):
        yield Candidate("Private Key", (hit[0].removesuffix(hit[1]).strip("-"),), certain=True)


def _left_out(path: str) -> bool:
    """Tell whether a file holds hashes by nature, is made by a tool, or comes from somebody else."""
    from detect_secrets.filters.heuristic import is_lock_file, is_non_text_file

    *folders, name = path.split("/")
    return bool(not _FOREIGN.isdisjoint(folders) or _LOCKS.search(name) or is_lock_file(name) or is_non_text_file(name))


def _holds_examples(path: str) -> bool:
    """Tell whether made-up values belong in a file: then only the forms of real tokens count."""
    *folders, name = path.split("/")
    language = language_of(path)
    named = is_test(path, language) if language else not {"test", "tests", "__tests__"}.isdisjoint(folders)
    return named or not _TEST_DATA.isdisjoint(folders) or bool(_EXAMPLE.search(name))


def _is_allowed(root: Path, path: str, number: int, line: str) -> bool:
    return bool(_ALLOWED.search(line) or _ALLOWED_NEXT.search(_line_above(root, path, number)))


def _line_above(root: Path, path: str, number: int) -> str:
    try:
        with open(root / path, "rb") as file:
            for at, line in enumerate(file, 1):
                if at == number - 1:
                    return line.decode("utf-8", "replace")
    except OSError:
        pass
    return ""


def _baseline(root: Path) -> tuple[dict[str, frozenset[str]], str | None]:
    """Return the findings that the project has accepted in a baseline of detect-secrets: path -> SHA-1 of values."""
    try:
        data = json.loads((root / BASELINE).read_bytes())
        results = data["results"]
        return {
            path: frozenset(str(entry["hashed_secret"]) for entry in entries) for path, entries in results.items()
        }, None
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, f"{BASELINE} cannot be read: it accepts nothing"


def _sha1(value: str) -> str:
    return hashlib.sha1(value.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _detector() -> str | None:
    """Return the version of detect-secrets without loading it."""
    from importlib.util import find_spec

    spec = find_spec("detect_secrets")
    if spec is None or spec.origin is None:
        return None
    try:
        text = Path(os.path.dirname(spec.origin), "__version__.py").read_text("utf-8")
    except OSError:
        return None
    hit = re.search(r"['\"]([^'\"]+)['\"]", text)
    return hit[1] if hit else None
