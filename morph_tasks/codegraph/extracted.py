"""What a graph was extracted from, by file: noted at the end of a run beside the graph, and copied with it.

Two lines of JSON, so that a short question reads only the first: `{version, graph, begun, files, entries, own,
beside}`, with numbers of files, of files and folders, and of those beside HEAD; and `{files: {path: [size, mtime_ns,
md5]}, folders: {path: mtime_ns}, others: {folder: [name]}, suffixes, beside: {path: object}}`. `own`: what was
extracted and was not as in HEAD; `beside`: all that was not, by the name that git gives the content, null for a file
that was away; `others`: what is known and was not extracted. The md5 is the one that graphify took.
"""

from __future__ import annotations

import os

from morph_tasks.codegraph.layout import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

PLACE = f"{FOLDER}/morph-extracted.json"
VERSION = 1
_CODE = (
    ".py .ts .tsx .mts .cts .js .jsx .mjs .cjs .go .rs .java .groovy .cpp .cc .cxx .c .h .hpp .rb .swift .kt .kts .cs "
    ".scala .php .lua .zig .ex .exs .m .mm .jl .vue .svelte .dart .sol .erl .vb"
)
CODE = frozenset(_CODE.split())
_PROSE = ".md .mdx .qmd .skill .txt .rst .html .j2 .jinja .jinja2 .pdf .png .jpg .jpeg .gif .webp .svg .docx .xlsx"
_DATA = frozenset({".json", ".yaml", ".yml", ".toml"})
_NOT_ENTERED = frozenset({FOLDER, "node_modules", "__pycache__", "venv"})
_RACY_NS = 100_000_000
_MOST_BESIDE = 2000  # files that are not as in HEAD; with more of them a commit is not compared


def head(root: str) -> dict[str, Any] | None:
    """Return the first line of the note of a tree; None when there is none of the graph that lies there."""
    import json

    from morph_tasks.codegraph.record import signature

    try:
        with open(f"{root}/{PLACE}", encoding="utf-8") as file:
            found = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("version") != VERSION or found.get("graph") != signature(root):
        return None
    whole = isinstance(found.get("own"), list) and all(isinstance(one, str) for one in found["own"])
    whole = whole and all(isinstance(found.get(name), int) for name in ("begun", "files", "entries"))
    return found if whole else None


def read(root: str) -> tuple[dict[str, Any], tuple[int, int]] | None:
    """Return the whole note of a tree, and how its file looks; None as for its first line."""
    import json

    first = head(root)
    try:
        with open(f"{root}/{PLACE}", encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            file.readline()
            data = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return None
    if first is None or not isinstance(data, dict):
        return None
    whole = all(isinstance(data.get(name), dict) for name in ("files", "folders", "others"))
    whole = whole and isinstance(data.get("suffixes"), list)
    whole = whole and all(isinstance(one, list) and len(one) == 3 for one in data["files"].values())
    return ({"head": first, **data}, (about.st_ino, about.st_mtime_ns)) if whole else None


def note(root: str, git_dir: str, begun_ns: int) -> None:
    """Note what graphify has read by now; `begun_ns`: when the run began. Raises OSError, ValueError, Refusal."""
    from morph_tasks.codegraph.record import signature

    files = _files(root, begun_ns)
    suffixes = {os.path.splitext(path)[1] for path in files} - CODE - _DATA
    found: dict[str, Any] = {"files": files, "folders": {}, "others": {}, "suffixes": sorted(suffixes)}
    _walk(root, git_dir, found)
    first: dict[str, Any] = {"version": VERSION, "graph": signature(root), "begun": begun_ns, "files": len(files)}
    own, found["beside"] = _not_as_in_head(root, git_dir, found)
    first |= {"entries": len(files) + len(found["folders"]), "own": own, "beside": len(found["beside"])}
    _write(root, {"head": first, **found})


def note_again(root: str, git_dir: str, kept: dict[str, Any], seen: tuple[int, int]) -> None:
    """Keep what a comparison learned, unless a run is writing or has written another note. Never raises."""
    from morph_tasks.codegraph.runlock import holder

    try:
        about = os.stat(f"{root}/{PLACE}")
        if (about.st_ino, about.st_mtime_ns) == seen and holder(git_dir) is None:
            _write(root, kept)
    except OSError:
        return


def racy(mtime_ns: int) -> bool:
    """Tell whether a time is so near that a later change might have the same."""
    import time

    return mtime_ns > time.time_ns() - _RACY_NS


def content(path: str) -> str | None:
    """Return the md5 of a file, as graphify takes it; None when it cannot be read."""
    try:
        # The C module spares the import of `hashlib` and of OpenSSL.
        from _md5 import md5  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import md5
    try:
        with open(path, "rb") as file:
            return str(md5(file.read(), usedforsecurity=False).hexdigest())
    except OSError:
        return None


def is_code(name: str, suffixes: Collection[str]) -> bool:
    """Tell by its name whether graphify would read a file."""
    return os.path.splitext(name)[1].lower() in suffixes


def entries(root: str, folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the names in a folder that may matter, and whether each is a folder; links and hidden folders do not."""
    try:
        with os.scandir(f"{root}/{folder}") as listed:
            for entry in listed:
                if entry.is_dir(follow_symlinks=False):
                    hidden = entry.name[0] == "." or entry.name in _NOT_ENTERED
                    if not hidden and not os.path.lexists(f"{entry.path}/.git"):
                        yield entry.name, True
                elif entry.is_file(follow_symlinks=False):
                    yield entry.name, False
    except OSError:
        return


def code_below(root: str, tops: Iterable[str], suffixes: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the files of code in some folders and below, and the folders."""
    found, folders = [], [*tops]
    for folder in folders:
        for name, is_folder in entries(root, folder):
            if is_folder:
                folders.append(f"{folder}/{name}")
            elif is_code(name, suffixes):
                found.append(f"{folder}/{name}")
    return found, folders


def ignored(root: str, git_dir: str, common_dir: str, paths: Iterable[str]) -> set[str]:
    """Return which paths git or `.graphifyignore` leave out, by one process; none when git does not answer."""
    from morph_tasks.codegraph.ignore_rules import NAME, main_root
    from morph_tasks.repo.plumbing import Plumbing
    from morph_tasks.repo.spawn import ChildError

    rules = f"{root}/{NAME}"
    if not os.path.exists(rules):
        rules = f"{main_root(common_dir) or root}/{NAME}"
    asked = b"\0".join(map(os.fsencode, paths)) + b"\0"
    said = Plumbing(root, git_dir).stream(
        "-c", f"core.excludesFile={rules}", "check-ignore", "--no-index", "-z", "--stdin", stdin=asked
    )
    found: list[bytes] = []
    try:
        found.extend(said)
    except ChildError as error:
        if error.code != 1:  # 1: none of them
            return set()
    return {os.fsdecode(path) for path in b"".join(found).split(b"\0") if path}


def _files(root: str, begun_ns: int) -> dict[str, list[Any]]:
    """Return how the files of the manifest look; one that was written since the run began counts as changed."""
    import json

    with open(f"{root}/{FOLDER}/manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    found: dict[str, list[Any]] = {}
    prose = {*_PROSE.split()}
    for path, about in manifest.items() if isinstance(manifest, dict) else ():
        inside = not os.path.isabs(path) and ".." not in path.split("/")
        if not inside or os.path.splitext(path)[1].lower() in prose or not isinstance(about, dict):
            continue
        try:
            now = os.stat(f"{root}/{path}")
        except OSError:
            continue
        taken = about.get("ast_hash") or about.get("semantic_hash")
        if now.st_mtime_ns >= begun_ns:
            found[path] = [-1, -1, None]
        elif racy(now.st_mtime_ns) or not taken or content(f"{root}/{path}") != taken:
            found[path] = [now.st_size, -1, taken or content(f"{root}/{path}")]
        else:
            found[path] = [now.st_size, now.st_mtime_ns, taken]
    return found


def _walk(root: str, git_dir: str, found: dict[str, Any]) -> None:
    """Note the folders that are watched for new files, and what is in them beside what was extracted."""
    suffixes = {*CODE, *found["suffixes"]}
    left_out = _left_out_by_git(root, git_dir)
    folders = [""]
    for folder in folders:
        # Its time first: what comes while it is listed moves it.
        when = os.stat(f"{root}/{folder}").st_mtime_ns
        found["folders"][folder] = -1 if racy(when) else when
        others = []
        for name, is_folder in entries(root, folder):
            path = f"{folder}/{name}" if folder else name
            if is_folder and path not in left_out:
                folders.append(path)
            elif is_folder or (path not in found["files"] and is_code(name, suffixes)):
                others.append(name)
        if others:
            found["others"][folder] = others


def _left_out_by_git(root: str, git_dir: str) -> set[str]:
    from morph_tasks.repo.plumbing import Plumbing

    asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    said = Plumbing(root, git_dir).output(*asked)
    return {os.fsdecode(path[:-1]) for path in said.split(b"\0") if path.endswith(b"/")}


def _not_as_in_head(root: str, git_dir: str, found: dict[str, Any]) -> tuple[list[str], dict[str, str | None]]:
    """Return the files that were extracted, or were away, while HEAD has them otherwise; and all, by content."""
    from morph_tasks.repo.plumbing import Plumbing

    asked = ("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    rows = [row for row in Plumbing(root, git_dir).output(*asked).split(b"\0") if row]
    suffixes = {*CODE, *found["suffixes"]}
    paths = [(row[:2], os.fsdecode(row[3:])) for row in rows]
    own = [path for how, path in paths if path in found["files"] or (b"D" in how and is_code(path, suffixes))]
    theirs = (f"{FOLDER}/", ".morph/")
    return own, _objects(root, git_dir, found["files"], [path for _, path in paths if not path.startswith(theirs)])


def _objects(root: str, git_dir: str, files: dict[str, list[Any]], paths: list[str]) -> dict[str, str | None]:
    """Return how git names the content of files, None for one that is away; nothing when there are too many.

    One that is not as it was extracted is left out, so that no commit of it counts as what was extracted.
    """
    from morph_tasks.repo.plumbing import Plumbing
    from morph_tasks.repo.spawn import ChildError

    away = [path for path in paths if not os.path.lexists(f"{root}/{path}")]
    plain = [path for path in paths if os.path.isfile(f"{root}/{path}") and not os.path.islink(f"{root}/{path}")]
    plain = [path for path in plain if "\n" not in path and path[0] != '"']
    if len(away) + len(plain) > _MOST_BESIDE:
        return {}
    names: list[str] = []
    if plain:
        asked = b"".join(os.fsencode(path) + b"\n" for path in plain)
        try:
            said = Plumbing(root, git_dir).stream("hash-object", "--stdin-paths", stdin=asked)
            names = b"".join(said).decode().split()
        except ChildError:
            return {}
    if len(names) != len(plain):
        return {}
    # Compared after git has read them: what changes in between is then not what was extracted.
    same = (path not in files or content(f"{root}/{path}") == files[path][2] is not None for path in plain)
    found: dict[str, str | None] = {
        path: name for path, name, as_read in zip(plain, names, same, strict=True) if as_read
    }
    return {**found, **dict.fromkeys(path for path in away if path not in files)}


def _write(root: str, data: dict[str, Any]) -> None:
    """Replace the note; raises OSError."""
    import json

    place = f"{root}/{PLACE}"
    beside = f"{place}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            for part in (data["head"], {name: data[name] for name in data if name != "head"}):
                file.write(json.dumps(part, separators=(",", ":")) + "\n")
        os.replace(beside, place)
    except OSError:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
