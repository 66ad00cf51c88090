from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.testcode.model import CLOSE, EXACT, NOTHING, PARTIAL, RUNS, UNEQUAL, SourceTest, TestSource
from morph_tasks.verify.testcode.reader import READERS, is_test_path, language_of, looks_like_test, read_tests

FILES = {
    "python": "tests/test_a.py", "javascript": "a.test.js", "typescript": "a.test.ts", "go": "a_test.go",
    "rust": "tests/a.rs", "csharp": "A.Tests/ATests.cs", "java": "src/test/java/ATest.java", "ruby": "spec/a_spec.rb",
}  # fmt: skip


def read(path: str, text: str) -> TestSource:
    found = read_tests(path, dedent(text).encode())
    assert found is not None
    assert found.readable
    return found


def by_name(path: str, text: str) -> dict[str, SourceTest]:
    return {test.name: test for test in read(path, text).tests}


@pytest.mark.parametrize(
    ("path", "language", "is_test"),
    [
        ("tests/test_a.py", "python", True), ("src/a_test.py", "python", True), ("src/a.py", "python", False),
        ("a.spec.tsx", "typescript", True), ("a.test.mts", "typescript", True), ("a.cy.js", "javascript", True),
        ("__tests__/a.js", "javascript", True), ("src/a.ts", "typescript", False), ("a.d.ts", None, False),
        ("a_test.go", "go", True), ("a.go", "go", False), ("src/a.rs", "rust", False), ("tests/a.rs", "rust", True),
        ("Shop.Tests/A.cs", "csharp", True), ("Shop/A.cs", "csharp", False), ("src/test/java/A.java", "java", True),
        ("src/main/java/CartTest.java", "java", True), ("spec/a.rb", "ruby", True), ("lib/a.rb", "ruby", False),
        ("node_modules/a/a.test.js", None, False), ("a.kt", None, False), ("README.md", None, False),
    ],
)  # fmt: skip
def test_paths(path: str, language: str | None, is_test: bool) -> None:
    assert (language_of(path), is_test_path(path)) == (language, is_test)


@pytest.mark.parametrize(
    ("path", "looks"),
    [
        ("src/test/kotlin/CartTest.kt", True), ("tests/cart_test.cpp", True), ("CartTests.swift", True),
        ("features/cart.feature", True), ("tests/data.json", False), ("src/Cart.kt", False), ("tests/test_a.py", False),
    ],
)  # fmt: skip
def test_tests_of_languages_that_are_not_read(path: str, looks: bool) -> None:
    assert looks_like_test(path) is looks


def test_content_decides_where_the_name_says_nothing() -> None:
    assert read_tests("src/cart.rs", b"fn f() {}\n") is None
    assert read_tests("src/cart.rs", b"#[test]\nfn f() {}\n") is not None
    assert read_tests("src/cart.ts", b"export const a = 1;\n") is None
    assert read_tests("README.md", b"# test") is None


@pytest.mark.parametrize("language", READERS)
def test_a_file_that_does_not_parse_is_not_readable(language: str) -> None:
    found = read_tests(FILES[language], b"}}}} ((( class def func [[ ;;; {{{ ]] ))) fn <<< >>> @@ ??? == 1\n" * 30)
    assert found is not None
    assert (found.readable, found.tests, found.language) == (False, (), language)


@pytest.mark.parametrize("language", READERS)
@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=300))
def test_no_bytes_raise(language: str, data: bytes) -> None:
    found = read_tests(FILES[language], data)
    assert found is not None


def test_python() -> None:
    found = by_name(
        FILES["python"],
        """
        import pytest
        slow = pytest.mark.skipif(True, reason="x")
        @pytest.mark.scenario("C1")
        @pytest.mark.parametrize("a", [
            1, pytest.param(3, id="[C3]", marks=pytest.mark.skip), pytest.param(4, marks=[pytest.mark.scenario("C4")])
        ])
        def test_a(a):
            assert f(a) == 1 and g(a) is not None
        class TestX:
            pytestmark = [pytest.mark.scenario("cart:C7")]
            @slow
            @pytest.mark.timeout(60)
            @pytest.mark.flaky(reruns=3)
            async def test_b(self):
                assert x == pytest.approx(3, abs=0.1)
        class CartTest(TestCase):
            def test_c(self):
                self.skipTest("no")
                self.assertTrue(x == 1)
        def helper():
            assert True
        """,
    )
    assert list(found) == ["test_a", "TestX > test_b", "CartTest > test_c"]
    assert set(found["test_a"].scenarios) == {"C1", "C3", "C4"}
    assert [one.strength for one in found["test_a"].assertions] == [EXACT, UNEQUAL]
    assert (len(found["test_a"].cases), len(found["test_a"].skipped_cases)) == (3, 1)
    b = found["TestX > test_b"]
    assert (b.scenarios, b.timeout, b.retries, b.assertions[0].tolerance) == (("cart:C7",), 60, 3, 0.1)
    assert b.skipped and "skipif" in b.skipped
    assert found["CartTest > test_c"].skipped == "self.skipTest('no')"
    assert found["CartTest > test_c"].assertions[0].strength == EXACT


def test_javascript() -> None:
    found = by_name(
        FILES["typescript"],
        """
        describe.each([[1], [2]])("outer %s", (x) => {
          it.only(`t ${x} [C3]`, async () => { expect(a).not.toBe(1); await expect(p).rejects.toThrow(E); }, 2000);
          test("x", { timeout: 3000, retry: 2 }, () => { expect(x).toBe(1); });
          xit("gone", () => { expect(1).toBe(1); });
          test.todo("later");
          test.each`a | b
            ${1} | ${2}
          `("tab", ({ a }) => { expect(a).toBeCloseTo(1.2, 3); });
          describe.skip("in", () => { it("z" + "y", () => { assert.equal(a, 1); }); });
        });
        test.describe("pw", () => { test("b", async () => { test.fixme(); }); });
        test("node", { skip: "why" }, (t) => { t.assert.ok(x); });
        """,
    )
    assert list(found) == [
        "outer %s > t ${x} [C3]", "outer %s > x", "outer %s > gone", "outer %s > later", "outer %s > tab",
        "outer %s > in > zy", "pw > b", "node",
    ]  # fmt: skip
    only = found["outer %s > t ${x} [C3]"]
    assert (only.only, only.scenarios, only.timeout) == (True, ("C3",), 2.0)
    assert [one.strength for one in only.assertions] == [UNEQUAL, PARTIAL]
    assert (found["outer %s > x"].timeout, found["outer %s > x"].retries) == (3.0, 2)
    assert found["outer %s > gone"].assertions[0].strength == NOTHING
    skipped = {name: test.skipped for name, test in found.items() if test.skipped}
    assert skipped == {
        "outer %s > gone": "xit", "outer %s > later": "test.todo", "outer %s > in > zy": "describe.skip",
        "pw > b": "test.fixme()", "node": 'skip: "why"',
    }  # fmt: skip
    assert found["outer %s > tab"].assertions[0].strength == CLOSE
    assert len(found["outer %s > tab"].cases) == 1


def test_go() -> None:
    found = by_name(
        FILES["go"],
        """
        package a
        func TestA(t *testing.T) {
            t.Run("x y [C2]", func(t *testing.T) { if err != nil { t.Fatal(err) }; require.Equal(t, 1, x) })
            for _, tc := range []struct{ name string }{{name: "a b"}, {"c"}} {
                t.Run(tc.name, func(t *testing.T) { if got := f(tc); got != 1 { t.Error(got) } })
            }
        }
        func (s *CartSuite) TestM() { s.Require().Equal(1, s.x) }
        func TestCart(t *testing.T) { suite.Run(t, new(CartSuite)) }
        func Testify() {}
        func BenchmarkA(b *testing.B) {}
        func FuzzA(f *testing.F) { f.Skip() }
        """,
    )
    assert set(found) == {"TestA", "TestA/a_b", "TestA/c", "TestA/x_y_[C2]", "TestCart/TestM", "TestCart", "FuzzA"}
    assert found["TestA/x_y_[C2]"].scenarios == ("C2",)
    assert [one.strength for one in found["TestA/x_y_[C2]"].assertions] == [RUNS, EXACT]
    assert [one.strength for one in found["TestA"].assertions] == [EXACT]
    assert found["FuzzA"].skipped == "f.Skip()"


def test_rust() -> None:
    found = by_name(
        "src/cart.rs",
        """
        #[cfg(test)]
        mod tests {
            #[test] #[ignore = "x"] fn a() { assert_eq!(1, x); assert!(a == b); assert!(x.is_some()); }
            #[rstest] #[case(1)] #[case::named(2)] fn b(#[case] x: u32) { assert!(x > 2); }
            #[tokio::test] #[should_panic(expected = "q")] async fn c() { f(); }
            fn no_test() {}
        }
        """,
    )
    assert list(found) == ["cart::tests::a", "cart::tests::b", "cart::tests::c"]
    assert found["cart::tests::a"].skipped == '#[ignore = "x"]'
    assert [one.strength for one in found["cart::tests::a"].assertions] == [EXACT, EXACT, UNEQUAL]
    assert found["cart::tests::b"].cases == ("1", "2")
    assert found["cart::tests::c"].assertions[0].form == "should_panic"


def test_csharp() -> None:
    found = by_name(
        FILES["csharp"],
        """
        namespace A;
        public class T {
            [Fact(Skip = "x", DisplayName = "[C3] q")] public void M() { Assert.Equal(1, x); x.Should().NotBeNull(); }
            [Theory, InlineData(1), InlineData(2)] [Trait("Scenario", "C4")] public void N(int i) => Assert.True(i > 0);
            [Fact(Timeout = 5000)] public void O() { Assert.That(x, Is.EqualTo(3).Within(0.1)); }
            public void Helper() { }
        }
        [TestFixture, Ignore("later")] public class U { [Test, Retry(3)] public void P() { Assert.Pass(); } }
        """,
    )
    assert list(found) == ["T > [C3] q", "T > N", "T > O", "U > P"]
    assert found["T > [C3] q"].scenarios == ("C3",)
    assert [one.strength for one in found["T > [C3] q"].assertions] == [EXACT, UNEQUAL]
    assert (found["T > N"].cases, found["T > N"].scenarios) == (("1", "2"), ("C4",))
    assert (found["T > O"].timeout, found["T > O"].assertions[0].tolerance) == (5.0, 0.1)
    assert (found["U > P"].retries, found["U > P"].skipped) == (3, '[Ignore("later")]')


def test_java() -> None:
    found = by_name(
        FILES["java"],
        """
        class ATest {
            @Test @DisplayName("x [C3]") @Disabled void a() { assertEquals(1, x); assertThat(x).isNotNull(); }
            @Nested class B {
                @ParameterizedTest @ValueSource(ints = {1, 2}) @Timeout(5) void q(int x) { assertTrue(x == 2); }
            }
            @Test(expected = FooException.class, timeout = 1000) public void z() { foo(); }
            void helper() {}
        }
        """,
    )
    assert list(found) == ["ATest > x [C3]", "ATest > B > q", "ATest > z"]
    assert (found["ATest > x [C3]"].skipped, found["ATest > x [C3]"].scenarios) == ("@Disabled", ("C3",))
    assert [one.strength for one in found["ATest > x [C3]"].assertions] == [EXACT, UNEQUAL]
    assert (found["ATest > B > q"].timeout, found["ATest > B > q"].cases) == (5.0, ("1", "2"))
    assert (found["ATest > z"].timeout, found["ATest > z"].assertions[0].error) == (1.0, "FooException")


def test_ruby() -> None:
    found = by_name(
        FILES["ruby"],
        """
        RSpec.describe "A" do
          context "x" do
            it("does [C3]", :skip) { expect(a).to eq(1) }
            xit("q") { expect(a).not_to be_nil }
            it "p", retry: 3, focus: true do
              expect(x).to be_within(0.1).of(3)
            end
            it "nobody"
          end
        end
        class T < Minitest::Test
          def test_a; skip "x"; assert_equal 2, x; end
        end
        """,
    )
    assert list(found) == ["A > x > does [C3]", "A > x > q", "A > x > p", "A > x > nobody", "T > test_a"]
    assert (found["A > x > does [C3]"].scenarios, found["A > x > does [C3]"].skipped) == (("C3",), ":skip")
    assert found["A > x > q"].assertions[0].strength == UNEQUAL
    p = found["A > x > p"]
    assert (p.retries, p.only, p.assertions[0].tolerance) == (3, True, 0.1)
    assert found["A > x > nobody"].skipped == "without a body"
    assert found["T > test_a"].skipped == 'skip "x"'


def test_only_the_grammar_that_is_needed_is_loaded() -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom morph_tasks.verify.testcode.reader import read_tests\n"
        "read_tests('tests/test_a.py', b'def test_a(): pass')\n"
        "assert not any(name.startswith('tree_sitter') for name in sys.modules)\n"
        "read_tests('a_test.go', b'package a')\n"
        "print(sorted(name for name in sys.modules if name.startswith('tree_sitter_') and '.' not in name))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "['tree_sitter_go']"
