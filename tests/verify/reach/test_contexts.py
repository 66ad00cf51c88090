from __future__ import annotations

import pytest

from morph_tasks.verify.reach.contexts import Contexts, Named

PLAIN = Named("test_sum", "tests/test_cart.py")
IN_CLASS = Named("TestCart > test_sum", "api/tests/test_cart.py")
CASE = Named("test_many[a::b|c]", "tests/test_cart.py")
NAMELESS = Named("test_sum (tests.test_unit.Totals.test_sum)", None)


@pytest.mark.parametrize(
    ("context", "wanted"),
    [
        ("tests/test_cart.py::test_sum", [PLAIN]),
        ("nightly|tests/test_cart.py::test_sum", [PLAIN]),
        ("tests/test_cart.py::TestCart::test_sum", [IN_CLASS]),
        ("api/tests/test_cart.py::TestCart::test_sum", [IN_CLASS]),
        ("test_cart.py::test_sum", [PLAIN]),
        ("other/test_cart.py::test_sum", []),
        ("tests/test_cart.py::test_many[a::b|c]", [CASE]),
        ("tests/test_cart.py::test_many[x]", []),
        ("tests.test_cart.test_many", [CASE]),
        ("test_cart.TestCart.test_sum", [IN_CLASS]),
        ("tests.test_unit.Totals.test_sum", [NAMELESS]),
        ("tests.test_other.test_sum", []),
        ("", []),
    ],
)
def test_which_tests_a_context_is(context: str, wanted: list[Named]) -> None:
    assert Contexts([PLAIN, IN_CLASS, CASE, NAMELESS]).tests(context) == wanted


def test_functions_of_one_name_are_told_apart_by_their_module() -> None:
    other = Named("test_sum", "tests/test_tax.py")
    known = Contexts([PLAIN, other])
    assert known.tests("tests.test_tax.test_sum") == [other]
    assert known.tests("test_cart.test_sum") == [PLAIN]
