"""An answer beside which the text was not compared."""

from morph_tasks.codegraph.mentions import Mentions, Part
from morph_tasks.codegraph.not_compared import NotCompared


def test_nothing_of_it_looks_like_a_count_and_its_keys_are_those_of_a_comparison() -> None:
    found, nothing = NotCompared(738), Part((), (), (), True)
    assert (found.as_json(), found.total) == (None, None)
    assert set(found.more_json().values()) == {None}
    assert found.more_json().keys() == Mentions(nothing, nothing, nothing).more_json().keys()
    assert "738" in found.reason()
    assert "--mentions" in found.lines()[0]
