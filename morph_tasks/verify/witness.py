"""The no-op: a record of a verify that ran nothing, and of every answer it rested on.

When a later call finds the same answers and the same tree, it prints what that verify printed. Nothing
but `os` and the fingerprint is imported to find out. Any doubt means: take the long way.
"""

import marshal
import os
import sys
import zlib

from morph_tasks.verify import probe

_VERSION = 1


def replay(argv: list[str]) -> int | None:
    """Answer `verify <feature> [--json]` from its witness; None when that cannot be done."""
    as_json = "--json" in argv[1:]
    words = [word for word in argv[1:] if word != "--json"]
    if len(words) != 1 or words[0].startswith("-"):
        return None
    kept = settled(words[0])
    if kept is None:
        return None
    try:
        sys.stdout.write(kept["json" if as_json else "text"] + "\n")
        sys.stdout.flush()
    except (UnicodeEncodeError, BrokenPipeError):
        return None
    note(kept)
    return 0


def settled(feature: str) -> dict | None:  # type: ignore[type-arg]
    """Return the witness of a feature when it still holds in the tree around us."""
    place = _place()
    if place is None:
        return None
    root, git_dir = place
    kept = _read(f"{git_dir}/morph-spec/witness/{_file_name(feature)}")
    if kept is None or (kept["root"], kept["feature"]) != (root, feature) or not _holds(kept, root, git_dir):
        return None
    return kept


def note(kept: dict) -> None:  # type: ignore[type-arg]
    """Write the event of a verify that was answered from its witness."""
    from morph_tasks.verify.eventlog import stamped, write_event

    write_event(kept["root"], stamped(kept["event"]))


def _holds(kept: dict, root: str, git_dir: str) -> bool:  # type: ignore[type-arg]
    for (kind, subject), answer in kept["answers"].items():
        if not probe.same(kind, subject, answer):
            return False
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.fingerprint import tree_state

    try:
        return tree_state(root, git_dir, {}, kept["excluded"]).sum == kept["sum"]  # type: ignore[no-any-return]
    except Refusal:
        return False


def write(root: str, git_dir: str, feature: str, kept: dict) -> None:  # type: ignore[type-arg]
    """Keep a witness; one that cannot be kept only costs time.

    `kept` holds `answers`, `sum`, `excluded`, `json`, `text`, `event`. Without an answer that can be relied on, such
    as that of a file that was touched just now, there is no witness this time.
    """
    if probe.UNSETTLED in kept["answers"].values():
        return
    body = marshal.dumps({**kept, "root": root, "feature": feature, "of": _identity()})
    folder = f"{git_dir}/morph-spec/witness"
    path = f"{folder}/{_file_name(feature)}"
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(zlib.crc32(body).to_bytes(4, "big") + body)
        os.replace(temporary, path)
    except OSError:
        return


def _read(path: str) -> dict | None:  # type: ignore[type-arg]
    try:
        with open(path, "rb") as file:
            data = file.read()
        if zlib.crc32(data[4:]).to_bytes(4, "big") != data[:4]:
            return None
        kept = marshal.loads(data[4:])  # noqa: S302 (written by us, private to the user, its checksum right)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return kept if isinstance(kept, dict) and kept.get("of") == _identity() else None


def _identity() -> str:
    """Name this program: another version, or another Python, does not trust the record."""
    return f"{_VERSION} {sys.hexversion} {probe.signature(__file__)}"


def _file_name(feature: str) -> str:
    return feature.encode("utf-8", "surrogateescape").hex()[:200]


def _place() -> tuple[str, str] | None:
    """Return the root of the tree around us and its git folder, in the plain layouts."""
    if any(name in os.environ for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR")):
        return None
    try:
        folder = os.path.realpath(os.getcwd())
    except OSError:
        return None
    while True:
        dot = f"{folder.rstrip('/')}/.git"
        if os.path.isdir(dot):
            return folder, dot
        if os.path.isfile(dot):
            try:
                with open(dot, "rb") as file:
                    line = os.fsdecode(file.read(4096)).strip()
            except OSError:
                return None
            return (folder, os.path.realpath(os.path.join(folder, line[8:]))) if line.startswith("gitdir: ") else None
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
