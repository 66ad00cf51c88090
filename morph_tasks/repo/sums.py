"""Sums over the entries of a tree, kept for one commit and moved to the next by their difference.

A sum adds up one number an entry, so it can follow a change without the entries that stay. It tells states
of a tree apart that come about in work; it is no defence against someone who constructs a collision.
"""

from __future__ import annotations

from morph_tasks.repo import private
from morph_tasks.repo.spawn import ChildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from morph_tasks.repo.plumbing import Plumbing

_BYTES = 64
_MODULUS = 1 << (8 * _BYTES)
_MOST_KEPT = 64
_VERSION = b"morph-spec sums 1"
_LINK = b"160000"


class Scope:
    """The paths that a sum takes in: all but the excluded ones, narrowed to what `wanted` matches.

    `below` is the folder of a nested repository, with its slash: globs speak of paths from the outermost root.
    """

    __slots__ = ("_matchers", "below", "excluded", "wanted")

    def __init__(self, below: bytes, excluded: Sequence[str], wanted: Sequence[str] | None) -> None:
        self.below = below
        self.excluded = tuple(excluded)
        self.wanted = None if wanted is None else tuple(wanted)
        self._matchers: tuple[Callable[[bytes], bool], ...] = ()

    def holds(self, path: bytes, *, link: bool) -> bool:
        """Tell whether an entry belongs to the sum; `link` marks a nested repository."""
        if self.wanted is None and not self.excluded:
            return True
        wants, reaches, excludes, covers = self._matchers or self._compile()
        path = self.below + path
        if link:
            return reaches(path) and not covers(path)
        return wants(path) and not excludes(path)

    def _compile(self) -> tuple[Callable[[bytes], bool], ...]:
        from morph_tasks.repo.globs import compile_covering_globs, compile_globs, compile_reaching_globs

        wanted = ("",) if self.wanted is None else self.wanted
        self._matchers = (
            *(compile_globs(wanted), compile_reaching_globs(wanted)),
            *(compile_globs(self.excluded), compile_covering_globs(self.excluded)),
        )
        return self._matchers

    def key(self) -> bytes:
        """Return the scope as one word."""
        wanted = "*" if self.wanted is None else _packed(self.wanted)
        return f"{self.below.hex()}:{_packed(self.excluded)}:{wanted}".encode()

    @classmethod
    def from_key(cls, key: bytes) -> Scope:
        """Read what `key` returns."""
        below, excluded, wanted = key.decode().split(":")
        return cls(bytes.fromhex(below), _unpacked(excluded), None if wanted == "*" else _unpacked(wanted))


class AttributesScope(Scope):
    """The files that tell git how to convert others; its key is that of the glob it stands for."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(b"", (), ("**/.gitattributes",))

    def holds(self, path: bytes, *, link: bool) -> bool:
        return not link and path.endswith(b".gitattributes") and path[-15:-14] in (b"", b"/")


class Base:
    """What one commit adds up to: a number a scope, and where it nests other repositories."""

    __slots__ = ("commit", "links", "totals")

    def __init__(self, commit: str, links: dict[bytes, str], totals: dict[bytes, int]) -> None:
        self.commit = commit
        self.links = links
        self.totals = totals


def number(mode: bytes, oid: bytes, path: bytes) -> int:
    """Return what an entry adds to the sums that hold it."""
    return private.wide_hash(mode + b"\0" + oid + b"\0" + path)


def shown(total: int) -> str:
    """Return a total as 64 hex digits."""
    return private.digest((total % _MODULUS).to_bytes(_BYTES, "little"))


def base_of(plumbing: Plumbing, commit: str, scopes: list[Scope]) -> Base:
    """Return what a commit adds up to, from the last time if that can be; raises Refusal."""
    file = f"{plumbing.private}/sums"
    kept = _load(file)
    base = kept if kept is None or kept.commit == commit else _moved(plumbing, kept, commit)
    wanted = {scope.key(): scope for scope in scopes}
    missing = [scope for key, scope in wanted.items() if base is None or key not in base.totals]
    if missing:
        fresh = _added_up(plumbing, commit, missing)
        base = Base(commit, fresh.links, {**(base.totals if base else {}), **fresh.totals})
    assert base is not None
    if base is not kept:
        # The newest last: what nobody asks for any more falls out at the front.
        for key in wanted:
            base.totals[key] = base.totals.pop(key)
        _store(file, base, len(wanted))
    return base


def _added_up(plumbing: Plumbing, commit: str, scopes: list[Scope]) -> Base:
    from morph_tasks.repo.byproducts import is_content

    base = Base(commit, {}, {})
    totals = [0] * len(scopes)
    try:
        for field in plumbing.fields("ls-tree", "-r", "-z", "--full-tree", commit):
            about, _, path = field.partition(b"\t")
            mode, _, oid = about.split(b" ")
            if not is_content(path, True):
                continue
            link = mode == _LINK
            if link:
                base.links[path] = oid.decode()
            term = number(mode, oid, path)
            for at, scope in enumerate(scopes):
                if scope.holds(path, link=link):
                    totals[at] += term
    except ChildError as error:
        raise plumbing.refusal(error) from None
    base.totals = {scope.key(): total % _MODULUS for scope, total in zip(scopes, totals, strict=True)}
    return base


def _moved(plumbing: Plumbing, old: Base, commit: str) -> Base | None:
    """Follow the difference between two commits; None when git no longer has the old one."""
    scopes = {key: Scope.from_key(key) for key in old.totals}
    base = Base(commit, dict(old.links), dict(old.totals))
    compared = ("diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=none", old.commit, commit)
    try:
        fields = plumbing.fields(*compared)
        for about in fields:
            path = next(fields)
            old_mode, new_mode, old_oid, new_oid, _ = about[1:].split(b" ")
            _shift(base, scopes, -1, (old_mode, old_oid, path))
            _shift(base, scopes, 1, (new_mode, new_oid, path))
    except (ChildError, StopIteration):
        return None
    return base


def _shift(base: Base, scopes: dict[bytes, Scope], sign: int, entry: tuple[bytes, bytes, bytes]) -> None:
    from morph_tasks.repo.byproducts import is_content

    mode, oid, path = entry
    if mode == b"000000":
        return
    if not is_content(path, True):
        return
    link = mode == _LINK
    if link and sign > 0:
        base.links[path] = oid.decode()
    elif link:
        base.links.pop(path, None)
    term = sign * number(mode, oid, path)
    for key, scope in scopes.items():
        if scope.holds(path, link=link):
            base.totals[key] = (base.totals[key] + term) % _MODULUS


def _load(file: str) -> Base | None:
    lines = private.read_sealed(file)
    try:
        version, commit, links, *totals = lines
        if version != _VERSION:
            return None
        return Base(
            commit.decode(),
            {bytes.fromhex(path.decode()): oid.decode() for path, oid in (pair.split(b"=") for pair in links.split())},
            {key: int(total, 16) for total, key in (line.split(b" ") for line in totals)},
        )
    except ValueError:
        return None


def _store(file: str, base: Base, asked: int) -> None:
    links = b" ".join(path.hex().encode() + b"=" + oid.encode() for path, oid in base.links.items())
    totals = [b"%x %s" % (total, key) for key, total in base.totals.items()]
    private.write_sealed(file, [_VERSION, base.commit.encode(), links, *totals[-max(_MOST_KEPT, asked) :]])


def _packed(patterns: tuple[str, ...]) -> str:
    return ",".join(pattern.encode("utf-8", "surrogateescape").hex() or "-" for pattern in patterns)


def _unpacked(text: str) -> list[str]:
    words = text.split(",") if text else []
    return ["" if word == "-" else bytes.fromhex(word).decode("utf-8", "surrogateescape") for word in words]
