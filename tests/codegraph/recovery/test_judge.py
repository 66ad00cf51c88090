"""Links that graphify inferred from a name: proved, refuted or left open by the source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from morph_tasks.codegraph import layout
from morph_tasks.codegraph.affected import _rank
from morph_tasks.codegraph.index import Edge, open_index
from morph_tasks.codegraph.recovered import Recovered, decode
from morph_tasks.codegraph.recovery import service
from tests.codegraph.recovery.tree import edges, written

LIB = (
    "class Query:\n    def exclude(self):\n        pass\n\n\ndef quiet():\n    pass\n\n\ndef tuple():\n    pass\n\n\n"
    "class Late(Query):\n    def later(self):\n        pass\n"
)
QUIET, EXCLUDE, TUPLE, LATER = "lib.py:quiet", "lib.py:Query.exclude", "lib.py:tuple", "lib.py:Late.later"


def linked(root: Path, body: str, target: str, source: str = "app.py:run", path: str = "app.py") -> Recovered:
    """Write a file with a link of `source` to a target where its line says `here`, and judge it."""
    written(root, {"lib.py": LIB, path: body})
    line = next(at for at, text in enumerate(body.splitlines(), 1) if "here" in text)
    graph = json.loads(layout.graph_file(root).read_text())
    link = {"source": source, "target": target, "relation": "indirect_call", "source_file": path}
    graph["links"] = [{**link, "source_location": f"L{line}"}]
    layout.graph_file(root).write_text(json.dumps(graph))
    service.recover(root)
    told = decode(layout.recovered_file(root).read_bytes())
    assert told is not None
    return told


def verdict(told: Recovered) -> str:
    return "refuted" if told.refuted else "guessed" if told.guessed else "proved"


@pytest.mark.parametrize(
    ("body", "target", "expected"),
    [
        ("from lib import quiet\n\n\ndef run(go):\n    go(quiet)  # here\n", QUIET, "proved"),
        ("from lib import *\n\n\ndef run(go):\n    go(quiet)  # here\n", QUIET, "proved"),
        ("from lib import quiet as q\n\n\ndef run(go):\n    quiet = q\n    go(quiet)  # here\n", QUIET, "proved"),
        ("def run(go, quiet):\n    go(quiet)  # here\n", QUIET, "refuted"),
        ("def run(go):\n    for quiet in go():\n        go(quiet)  # here\n", QUIET, "refuted"),
        ("def run(go):\n    try: go()\n    except ValueError as quiet:\n        go(quiet)  # here\n", QUIET, "refuted"),
        ("def run(go):\n    def quiet(): ...\n    go(quiet)  # here\n", QUIET, "refuted"),
        ("from other import quiet\n\n\ndef run(go):\n    go(quiet)  # here\n", QUIET, "refuted"),
        ("import quiet\n\n\ndef run(go):\n    go(quiet)  # here\n", QUIET, "refuted"),
        ("def run(go):\n    go(tuple)  # here\n", TUPLE, "refuted"),
        ("from far.lib import quiet\n\n\ndef run(go):\n    go(quiet)  # here\n", QUIET, "guessed"),
        ("from far import *\n\n\ndef run(go):\n    go(quiet)  # here\n", QUIET, "guessed"),
        ("def run(go, query):\n    exclude = query.exclude\n    go(exclude)  # here\n", EXCLUDE, "guessed"),
        ("def run(options):\n    return getattr(options, 'exclude', None)  # here\n", EXCLUDE, "refuted"),
        ("import lib\n\n\ndef run():\n    return getattr(lib, 'quiet')  # here\n", QUIET, "proved"),
        ("from lib import Query\n\n\ndef run(q: Query):\n    getattr(q, 'exclude')()  # here\n", EXCLUDE, "proved"),
        ("from lib import Query\n\n\ndef run(q: Query):\n    getattr(q, 'later')()  # here\n", LATER, "guessed"),
        ("from lib import quiet\n\n\ndef run(go, quiet=quiet):  # here\n    go()\n", QUIET, "proved"),
        ("from lib import quiet\n\n\n@go(quiet)  # here\ndef run(quiet):\n    go()\n", QUIET, "proved"),
        ("def run(go):\n    go(other)  # here\n", QUIET, "guessed"),
    ],
)
def test_what_a_name_means_where_it_stands(body: str, target: str, expected: str, tmp_path: Path) -> None:
    assert verdict(linked(tmp_path, body, target)) == expected


def test_a_script_is_never_held_to_be_without_what_another_may_declare(tmp_path: Path) -> None:
    told = linked(tmp_path, "function run(go) { go(quiet); } // here\n", QUIET, "app.js:run", "app.js")
    assert verdict(told) == "guessed"


def test_a_link_in_a_file_that_is_not_read_is_a_guess(tmp_path: Path) -> None:
    assert verdict(linked(tmp_path, "def run(: here\n", QUIET, "lib.py:tuple")) == "guessed"


def test_another_use_of_what_is_refuted_is_found(tmp_path: Path) -> None:
    """The name is a parameter of the lambda first, the function itself below."""
    body = "from lib import quiet\n\n\ndef run(go):\n    go(lambda quiet: go(quiet))  # here\n    quiet()\n"
    assert verdict(linked(tmp_path, body, QUIET)) == "refuted"
    assert edges(tmp_path)["app.py:run", QUIET] == "calls"


@pytest.mark.parametrize(
    ("body", "via"),
    [
        ("def run(go, quiet):\n    go(quiet)  # here\n", None),
        ("from far import *\n\n\ndef run(go):\n    go(quiet)  # here\n", "guessed"),
        ("from lib import quiet\n\n\ndef run(go):\n    go(quiet)  # here\n", "direct"),
    ],
)
def test_answers_leave_out_what_is_refuted_and_mark_guesses(body: str, via: str | None, tmp_path: Path) -> None:
    linked(tmp_path, body, QUIET)
    with open_index(tmp_path) as index:
        (quiet,) = index.find("quiet")
        found = [edge for edge in index.into([quiet.id]) if edge.relation == "indirect_call"]
        assert [edge.via for edge in found] == ([via] if via else [])
        layers = index._connection.execute("SELECT layers & 1 FROM edge").fetchall()
        assert layers.count((1,)) == 1  # as graphify has it


def test_a_guess_is_the_last_thing_that_a_consumer_is_told_by() -> None:
    guess = Edge(1, 2, "indirect_call", "a.py", 1, "guessed")
    imported = Edge(1, 2, "imports", "a.py", 9, "direct")
    assert sorted([guess, imported], key=_rank) == [imported, guess]
