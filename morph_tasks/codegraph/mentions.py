"""Where the text of the tree names a symbol and the graph does not say why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from morph_tasks.codegraph.ask import place, printable, shown
from morph_tasks.codegraph.not_compared import NotCompared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from morph_tasks.codegraph.index import Index, Symbol
    from morph_tasks.codegraph.mention_search import Line
    from morph_tasks.codegraph.mention_sites import Sites
    from morph_tasks.codegraph.mention_words import Wanted
    from morph_tasks.repo.git import Repo

_MOST = 50
_ALL = 2000  # with --mentions
_FIRST = 5  # lines in code that are told below consumers
_NAMES = 6
_WORDS = 1000  # of one search
_LONGEST = 160
_PROGRAMS = frozenset({
    "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "go", "rs", "cs", "fs", "vb",
    "razor", "cshtml", "xaml", "java", "kt", "kts", "scala", "groovy", "rb", "erb", "php", "swift", "c", "h", "cc",
    "cpp", "hpp", "m", "mm", "dart", "lua", "ex", "exs", "erl", "clj", "sh", "bash", "ps1", "sql", "jinja", "j2",
    "html", "htm", "graphql", "proto",
})  # fmt: skip


class Mention(NamedTuple):
    """One line of text with words in it; `known` tells whether the graph has its file."""

    path: str
    line: int
    text: str
    words: tuple[str, ...]
    code: bool
    test: bool
    known: bool = True

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "line": self.line,
            "text": self.text,
            "words": list(self.words),
            "code": self.code,
            "test": self.test,
            "inGraph": self.known,
        }


class Elsewhere(NamedTuple):
    """Lines that have the word and belong to another symbol, as the graph has it."""

    symbol: Symbol
    lines: int

    def as_json(self) -> dict[str, Any]:
        one = self.symbol
        return {"id": one.key, "name": shown(one), "path": one.file, "line": one.line, "lines": self.lines}


class Part(NamedTuple):
    """The mentions of some words: of symbols without consumers, of the others, or of members of those.

    `clean`: nothing but the symbol itself has a word.
    """

    words: tuple[str, ...]
    found: tuple[Mention, ...]
    elsewhere: tuple[Elsewhere, ...]
    clean: bool

    def counts(self) -> dict[str, int]:
        """Return how many lines each word has that nothing explains, the rarest first: those say most."""
        found: dict[str, int] = {}
        for one in self.found:
            for word in one.words:
                found[word] = found.get(word, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))

    def summary(self, *, whole: bool) -> Iterator[str]:
        """Yield one line on the names of members, which are often common words."""
        if self.found:
            counts = self.counts()
            told = [f"{printable(word)} {count}" for word, count in list(counts.items())[:_NAMES]]
            if more := len(counts) - len(told):
                told.append(f"{more} more names")
            many = f"{'' if whole else 'at least '}{_lines(len(self.found))}"
            head = f"and {many} with names of its members that the graph does not explain"
            yield f"{head}: {', '.join(told)}; affected --mentions lists them"

    @property
    def code(self) -> int:
        return sum(one.code for one in self.found)

    def lines(self, *, beside: bool, every: bool, whole: bool) -> Iterator[str]:
        """Yield them for people; `beside`: they come after consumers; not `whole`: there are more than were read."""
        if not self.words:
            return
        hit = [word for word in self.words if any(word in one.words for one in self.found)]
        said = _words(hit or self.words)
        if self.found:
            many = f"{'' if whole else 'at least '}{_lines(len(self.found))}"
            code = f" ({self.code} in code)" if self.code != len(self.found) else ""
            listed = self.found[: _ALL if every else _MOST]
            if beside and not every:
                listed = tuple(one for one in self.found if one.code)[:_FIRST]
            head = f"{'and ' if beside else ''}{many} with the {said} that the graph does not explain{code}"
            yield head + (":" if listed else "; affected --mentions lists them")
            for one in listed:
                remark = "" if one.known or not one.code else "  (file not in the graph)"
                yield f"  {place(one.path, one.line)}: {printable(one.text)}{remark}"
            if listed and (more := len(self.found) - len(listed)):
                yield f"  … and {more} more" + ("" if every else "; affected --mentions lists them")
        elif self.clean and not beside:
            yield f"no line outside of it has the {said}"
        elif not self.elsewhere:
            yield f"the graph explains every line with the {said}"
        if self.elsewhere:
            count = sum(one.lines for one in self.elsewhere)
            to = [f"{one.lines} to {_placed(one.symbol)}" for one in self.elsewhere[:_NAMES]]
            if others := len(self.elsewhere) - len(to):
                to.append(f"the rest to {others} more symbols")
            have, them = ("line has", "it") if count == 1 else ("lines have", "them")
            head = f"{count} more" if self.found else str(count)
            yield f"{head} {have} the {_words(self.own)}; the graph gives {them} to another symbol: {', '.join(to)}"

    @property
    def own(self) -> list[str]:
        return list(dict.fromkeys(one.symbol.name for one in self.elsewhere))


class Mentions(NamedTuple):
    """What the text says. `error`: why it was not searched; `skipped`: for how many consumers it was not compared.

    `unused`: the words of symbols without consumers; `used`: the names of the others; `members`: of their members.
    """

    unused: Part
    used: Part
    members: Part
    error: str | None = None
    skipped: int = 0
    tests_left_out: int = 0
    whole: bool = True
    every: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(word for part in self._parts() for word in part.words)

    def _parts(self) -> tuple[Part, Part, Part]:
        return self.unused, self.used, self.members

    @property
    def all(self) -> list[Mention]:
        found: dict[tuple[str, int], Mention] = {}
        for one in (mention for part in self._parts() for mention in part.found):
            same = found.get((one.path, one.line))
            found[one.path, one.line] = one if same is None else same._replace(words=(*same.words, *one.words))
        return list(found.values())

    @property
    def found(self) -> tuple[Mention, ...] | None:
        """Return the first of them; None when the text was not searched."""
        if self.error:
            return None
        return tuple(self.all[: _ALL if self.every else _MOST])

    @property
    def total(self) -> int | None:
        return None if self.found is None else len(self.all)

    def as_json(self) -> list[dict[str, Any]] | None:
        found = self.found
        return None if found is None else [one.as_json() for one in found]

    def reason(self) -> str | None:
        """Return why the text, or some of it, was not compared."""
        if self.error:
            return self.error
        if self.skipped:
            return NotCompared(self.skipped).reason()
        return None if self.whole else "there are more lines than are read"

    def more_json(self) -> dict[str, Any]:
        """Return what the document of an answer has beside the lines."""
        known = self.found is not None
        elsewhere = [one.as_json() for part in self._parts() for one in part.elsewhere]
        return {
            "mentionsByWord": {word: n for part in self._parts() for word, n in part.counts().items()}
            if known
            else None,
            "mentionsInCode": sum(one.code for one in self.all) if known else None,
            "mentionsElsewhere": elsewhere if known else None,
            "mentionsInTestsLeftOut": self.tests_left_out if known else None,
        }

    def lines(self) -> list[str]:
        """Return them for people."""
        if self.error:
            return [f"the text was not searched for {', '.join(map(printable, self.names))}: {self.error}"]
        told = list(self.unused.lines(beside=False, every=self.every, whole=self.whole))
        told += self.used.lines(beside=True, every=self.every, whole=self.whole)
        listed = {(one.path, one.line) for part in (self.unused, self.used) for one in part.found}
        left = tuple(one for one in self.members.found if (one.path, one.line) not in listed)
        members = self.members._replace(found=left)
        if left and (self.every or len(left) <= _FIRST):
            told += members.lines(beside=True, every=True, whole=self.whole)
        else:
            told += members.summary(whole=self.whole)
        if self.tests_left_out:
            told.append(f"{_lines(self.tests_left_out)} of test code left out by --prod")
        if self.skipped:
            told += NotCompared(self.skipped).lines()
        return told


def mentions(
    repo: Repo,
    index: Index,
    seeds: Iterable[Symbol],
    *,
    alone: Collection[int] = (),
    used: Collection[int] = (),
    also: Collection[int] = (),
    prod: bool = False,
    every: bool = False,
    skipped: int = 0,
) -> Mentions:
    """Search the tracked and the new files for the names of symbols and of their members, as whole words.

    Left out: definitions of symbols of the name, the sites of edges and what is in the same definition as one, and what
    is inside a seed itself. `alone`: seeds without their members; `used`: those that have consumers; `also`: symbols
    whose users are in the answer.
    """
    from morph_tasks.codegraph.mention_search import search
    from morph_tasks.codegraph.mention_sites import Parsed, Sites
    from morph_tasks.codegraph.mention_words import wanted
    from morph_tasks.errors import Refusal

    asked = wanted(index, seeds, alone, used)
    unused = tuple(sorted({word for one in asked if one.unused for word in one.words}))
    others = tuple(sorted({word for one in asked for word in one.words[:1]} - set(unused)))
    members = tuple(sorted({word for one in asked for word in one.words} - {*unused, *others}))
    words = (*unused, *others, *members)
    nothing = [Part(some, (), (), True) for some in (unused, others, members)]
    empty = Mentions(nothing[0], nothing[1], nothing[2], skipped=skipped, every=every)
    if not words:
        return empty
    if len(words) > _WORDS:
        return empty._replace(error=f"{len(words)} words are too many for one search")
    try:
        lines, whole = search(repo, words)
    except Refusal as refusal:
        return empty._replace(error=refusal.what)
    sites = Sites(index, asked, Parsed(repo.root), also)
    found = [_part(index, asked, sites, lines, some, prod=prod) for some in (unused, others, members)]
    tests = sum(left for _, left in found)
    return Mentions(found[0][0], found[1][0], found[2][0], None, skipped, tests, whole, every)


def _part(
    index: Index, asked: Sequence[Wanted], sites: Sites, lines: Sequence[Line], some: tuple[str, ...], *, prod: bool
) -> tuple[Part, int]:
    """Return the mentions of some words, and how many of test code are left out."""
    from morph_tasks.codegraph.marks import is_test
    from morph_tasks.codegraph.mention_sites import INSIDE

    words = set(some)
    own = {one.words[0] for one in asked if one.words}
    found: list[Mention] = []
    given: dict[int, int] = {}
    clean, tests = True, 0
    for line in lines:
        reasons = {word: sites.of(line, word) for word in line.words if word in words}
        clean = clean and all(one == INSIDE for one in reasons.values())
        left = tuple(word for word, reason in reasons.items() if reason is None)
        for word, reason in reasons.items():
            if isinstance(reason, int) and word in own:
                given[reason] = given.get(reason, 0) + 1
        if left and prod and is_test(line.path):
            tests += 1
        elif left:
            text = line.text[: 4 * _LONGEST].decode("utf-8", "replace").strip()[:_LONGEST]
            found.append(Mention(line.path, line.line, text, left, _is_code(line.path), is_test(line.path)))
    found.sort(key=lambda one: (not one.code, one.test, not own & set(one.words), one.path, one.line))
    known = {symbol.file for symbol in index.where("p.path IN ({})", {one.path for one in found[:_ALL]})}
    marked = tuple(one._replace(known=one.path in known) for one in found)
    elsewhere = sorted((Elsewhere(sites.same[one], count) for one, count in given.items()), key=_order)
    return Part(some, marked, tuple(elsewhere), clean), tests


def _order(one: Elsewhere) -> tuple[int, str, int, int]:
    return -one.lines, one.symbol.file or "", one.symbol.line or 0, one.symbol.id


def _is_code(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.rpartition(".")[2] in _PROGRAMS if "." in name else False


def _words(words: Sequence[str]) -> str:
    told = ", ".join(map(printable, words[:_NAMES]))
    more = f" and {len(words) - _NAMES} more" if len(words) > _NAMES else ""
    return f"word{'' if len(words) == 1 else 's'} {told}{more}"


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"


def _placed(symbol: Symbol) -> str:
    where = place(symbol.file, symbol.line)
    return f"{shown(symbol)} ({where})" if where else shown(symbol)
