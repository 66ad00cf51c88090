"""Which files are test code."""

from __future__ import annotations

import pytest

from morph_tasks.codegraph.marks import is_helper, is_test


@pytest.mark.parametrize(
    "path",
    [
        "tests/cart.py", "src/Test/java/Cart.java", "web/__tests__/cart.ts", "spec/cart.rb", "Shop.Tests/Cart.cs",
        "Shop.UnitTests/Deep/Cart.cs", "shop-integration-tests/a.ts", "web/cart.test.tsx", "web/cart.spec.mjs",
        "test_cart.py", "shop/conftest.py", "shop/tests.py", "cart_test.go", "cart_spec.rb", "com/CartTest.java",
        "com/CartIT.java", "CartTests.cs", "Doubles/Fakes/Clock.cs", "TestDoubles/Clock.cs", "web/__mocks__/fs.js",
        "CartFixture.cs", r"Shop.Tests\Cart.cs",
    ],
)  # fmt: skip
def test_test_code(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        "shop/cart.py", "shop/latest/cart.py", "shop/contest.py", "shop/attest.go", "FakeClock.cs", "Helpers/Text.cs",
        "Builders/CartBuilder.cs", "shop/testing.py", "Contests/Cart.cs", "web/inspector.ts", "Latest.cs",
        "shop/specs.py",
    ],
)  # fmt: skip
def test_production_code_is_never_hidden_for_its_name(path: str) -> None:
    assert not is_test(path)


def test_helpers_are_what_tests_share() -> None:
    for path in ("Shop.Tests/FakeMailer.cs", "Shop.Tests/Builders/Cart.cs", "tests/conftest.py", "CartFixture.cs"):
        assert is_helper(path), path
    for path in ("Shop.Tests/CartTests.cs", "Shop/Builders/Cart.cs", "Shop/FakeMailer.cs"):
        assert not is_helper(path), path
