"""What depends on a symbol: distances, members, what is overridden, and the switches."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.affected import Hit, Reach, affected, reach
from morph_tasks.codegraph.index import Index, open_index
from morph_tasks.codegraph.layout import recovered_file
from morph_tasks.codegraph.recovered import encode
from tests.codegraph.handmade import HandMade


@contextmanager
def opened(made: HandMade) -> Iterator[Index]:
    with TemporaryDirectory() as folder:
        made.write(Path(folder))
        with open_index(Path(folder)) as index:
            yield index


def look(made: HandMade, *seeds: str, **switches: object) -> Reach:
    """Ask for some symbols by their ids."""
    with opened(made) as index:
        symbols = [index.find(seed)[0] for seed in seeds]
        if "alone" in switches:
            switches["alone"] = {index.find(str(one))[0].id for one in switches["alone"]}  # type: ignore[attr-defined]
        return reach(index, symbols, **switches)  # type: ignore[arg-type]


def keys(found: Reach) -> dict[str, int]:
    return {hit.symbol.key: hit.depth for hit in found.hits}


def hit_of(found: Reach, key: str) -> Hit:
    return next(hit for hit in found.hits if hit.symbol.key == key)


def chain() -> HandMade:
    made = HandMade()
    made.use("b.py:b", "a.py:a", line=2)
    made.use("c.py:c", "b.py:b", line=3)
    made.use("d.py:d", "c.py:c", line=4)
    return made


def test_a_hit_tells_its_distance_its_site_and_what_it_hangs_on() -> None:
    found = look(chain(), "a.py:a")
    assert keys(found) == {"b.py:b": 1, "c.py:c": 2}
    near, far = hit_of(found, "b.py:b"), hit_of(found, "c.py:c")
    assert (near.relation, near.via, near.file, near.line, near.test) == ("calls", "direct", "b.py", 2, False)
    assert (far.file, far.line, far.through, far.target) == ("c.py", 3, near.symbol.id, near.symbol.id)
    assert found.targets[far.through].key == "b.py:b"


def test_the_depth_is_how_far_one_looks() -> None:
    assert keys(look(chain(), "a.py:a", depth=1)) == {"b.py:b": 1}
    assert keys(look(chain(), "a.py:a", depth=9)) == {"b.py:b": 1, "c.py:c": 2, "d.py:d": 3}


def test_the_nearest_way_counts_and_a_circle_ends() -> None:
    made = chain()
    made.use("c.py:c", "a.py:a", line=7)
    made.use("a.py:a", "d.py:d")
    assert keys(look(made, "a.py:a", depth=9)) == {"b.py:b": 1, "c.py:c": 1, "d.py:d": 2}


def test_several_edges_of_one_consumer_are_one_hit_that_names_what_runs_first() -> None:
    made = chain()
    made.use("b.py:b", "a.py:a", "imports", 1)
    hit = hit_of(look(made, "a.py:a"), "b.py:b")
    assert (hit.relation, hit.line) == ("calls", 2)
    assert [(edge.relation, edge.line) for edge in hit.more] == [("imports", 1)]


def test_a_type_stands_for_its_members_and_they_are_no_hits() -> None:
    made = HandMade()
    made.use("b.py:b", "a.py:Cart.total")
    made.use("a.py:Cart.total", "a.py:Cart.sum")
    found = look(made, "a.py:Cart")
    assert keys(found) == {"b.py:b": 1}
    hit = hit_of(found, "b.py:b")
    assert (found.targets[hit.through].key, found.targets[hit.target].key) == ("a.py:Cart", "a.py:Cart.total")
    assert len(found.members) == 2


def test_a_file_stands_for_what_is_in_it_unless_it_is_meant_alone() -> None:
    made = HandMade()
    made.use("b.py:b", "a.py:Cart.total")
    made.use("c.py", "a.py", "imports_from", 1)
    assert keys(look(made, "a.py")) == {"b.py:b": 1, "c.py": 1}
    assert keys(look(made, "a.py", alone=["a.py"])) == {"c.py": 1}


def override() -> HandMade:
    made = HandMade()
    for name in ("Base", "Mid", "Leaf"):
        made.symbol(f"a.py:{name}.run")
    made.use("a.py:Mid", "a.py:Base", "inherits", 5)
    made.use("a.py:Leaf", "a.py:Mid", "inherits", 6)
    made.use("b.py:b", "a.py:Base.run", line=3)
    made.use("c.py:c", "b.py:b", line=4)
    made.use("b.py:other", "a.py:Base.stop")
    return made


def test_who_calls_what_a_method_overrides_may_run_it() -> None:
    found = look(override(), "a.py:Leaf.run")
    assert keys(found) == {"b.py:b": 1, "c.py:c": 2}
    hit = hit_of(found, "b.py:b")
    assert (found.targets[hit.through].key, found.targets[hit.target].key) == ("a.py:Leaf.run", "a.py:Base.run")
    assert len(found.stones) == 2


def test_a_type_asks_for_what_its_members_override_as_well() -> None:
    assert keys(look(override(), "a.py:Leaf", depth=1)) == {"b.py:b": 1}


def test_an_overridden_member_that_calls_the_override_is_reported_once() -> None:
    made = override()
    made.use("a.py:Base.run", "a.py:Leaf.run", line=8)
    found = look(made, "a.py:Leaf.run", depth=1)
    assert keys(found) == {"a.py:Base.run": 1, "b.py:b": 1}
    assert len(found.hits) == 2


def test_what_dispatches_to_a_member_is_a_way_and_not_a_consumer() -> None:
    made = HandMade()
    made.use("i.py:Mailer.send", "s.py:Smtp.send", "dispatches_to")
    made.use("b.py:b", "i.py:Mailer.send")
    assert keys(look(made, "s.py:Smtp.send")) == {"b.py:b": 1}


def test_supertypes_in_a_circle_end() -> None:
    made = override()
    made.use("a.py:Base", "a.py:Leaf", "inherits")
    assert keys(look(made, "a.py:Leaf.run", depth=1)) == {"b.py:b": 1}


def test_uses_only_does_not_follow_inheritance_and_says_what_it_left() -> None:
    made = override()
    made.use("d.py:d", "a.py:Base", "references")
    found = look(made, "a.py:Base", uses_only=True, depth=1)
    assert keys(found) == {"b.py:b": 1, "b.py:other": 1, "d.py:d": 1}
    assert found.inheritance_left_out == 1
    assert "a.py:Mid" in keys(look(made, "a.py:Base", depth=1))


def test_prod_leaves_tests_out_of_the_answer_and_not_out_of_the_way() -> None:
    made = HandMade()
    made.use("tests/test_a.py:helper", "a.py:a")
    made.use("b.py:b", "tests/test_a.py:helper")
    found = look(made, "a.py:a", prod=True)
    assert keys(found) == {"b.py:b": 2}
    assert found.tests_left_out == 1
    assert [hit.test for hit in look(made, "a.py:a").hits] == [True, False]


def test_where_a_thing_lies_is_no_use_of_it() -> None:
    made = HandMade()
    made.symbol("a.py:Cart.total")
    made.use("a.py:remark", "a.py:Cart", "rationale_for")
    assert keys(look(made, "a.py:Cart.total")) == {}


def test_the_union_of_several_seeds_does_not_name_them() -> None:
    made = chain()
    assert keys(look(made, "a.py:a", "b.py:b", depth=1)) == {"c.py:c": 1}


@settings(max_examples=40, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20), st.integers(1, 4))
def test_the_answer_is_what_reaches_the_seed_within_the_depth(edges: set[tuple[int, int]], depth: int) -> None:
    made = HandMade()
    made.symbol("f0.py:f0")
    for source, target in sorted(edges):
        made.use(f"f{source}.py:f{source}", f"f{target}.py:f{target}")
    expected, layer = {0: 0}, {0}
    for distance in range(1, depth + 1):
        layer = {source for source, target in edges if target in layer} - expected.keys()
        expected |= dict.fromkeys(layer, distance)
    with opened(made) as index:
        hits = affected(index, index.find("f0.py:f0"), depth=depth)
    found = {int(hit.symbol.key[1]): hit.depth for hit in hits}
    assert found == {key: distance for key, distance in expected.items() if distance}
    assert len(found) == len(hits)


def test_a_walk_asks_a_few_questions_however_many_symbols_there_are() -> None:
    def questions(many: int) -> int:
        made = HandMade()
        for number in range(many):
            made.use(f"m{number}.py:f{number}", "a.py:Cart.total")
        with opened(made) as index:
            asked = []
            real = index.rows
            index.rows = lambda *words: (asked.append(words), real(*words))[1]  # type: ignore[method-assign]
            assert len(reach(index, index.find("a.py:Cart")).hits) == many
            return len(asked)

    assert questions(200) == questions(2)


def test_an_overridden_member_is_reported_once_however_often_it_is_reached() -> None:
    made = override()
    made.use("a.py:Base.run", "a.py:Leaf.run", line=8)
    made.use("a.py:Base.run", "b.py:b", line=9)
    found = look(made, "a.py:Leaf.run", depth=3)
    assert [hit.symbol.key for hit in found.hits].count("a.py:Base.run") == 1
    assert keys(found)["a.py:Base.run"] == 1


def test_who_comes_over_a_dispatch_that_was_found_here_says_so() -> None:
    made = HandMade()
    made.symbol("s.py:Smtp.send")
    made.use("b.py:b", "i.py:Mailer.send")
    edge = ("i.py:Mailer.send", "s.py:Smtp.send", "dispatches_to", "s.py", 1)
    with TemporaryDirectory() as folder:
        made.write(Path(folder))
        recovered_file(Path(folder)).write_bytes(encode([edge]))
        with open_index(Path(folder)) as index:
            (hit,) = affected(index, index.find("s.py:Smtp.send"))
    assert (hit.symbol.key, hit.via) == ("b.py:b", "recovered-dispatch")


def test_a_type_does_not_depend_on_its_properties_and_stands_for_them(tmp_path: Path) -> None:
    graph = HandMade()
    graph.prop("a.cs:Bill.Amount", 4)
    graph.use("b.cs:Page.Show", "a.cs:Bill", "references")
    graph.symbol("c.cs:Sum.All", 2)
    graph.links.append({"source": "c.cs:Sum.All", "target": "a.cs:Bill.Amount", "relation": "calls"})
    graph.write(tmp_path)
    with open_index(tmp_path) as index:
        assert [hit.symbol.name for hit in affected(index, index.find("Bill.Amount"))] == ["All"]
        assert [hit.symbol.name for hit in affected(index, index.find("a.cs:Bill"))] == ["Show", "All"]
