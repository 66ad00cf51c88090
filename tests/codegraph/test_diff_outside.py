"""What changes outside of definitions, and whether it can matter to those who import the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.codegraph.diff_outside import matters


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("python", "from .money import Money", "from .money import Money, format_cents"),
        ("python", "from .m import A", "from .m import (\n    A,\n    B,\n)"),
        ("python", "from .m import (\n    A,\n)", "from .m import (\n    A,\n    B,  # said\n)\nimport os"),
        ("python", "import os\nimport sys", "import os, sys"),
        ("python", "import os  ", "import os\n\n# said"),
        ("typescript", "import { A } from './a'", "import { A, B } from './a'"),
        ("typescript", "import {\n  A,\n} from './a';", "import {\n  A,\n  B,\n} from './a';\nimport C from './c'"),
        ("javascript", "const { a } = require('a')", "const { a, b } = require('a')"),
        ("javascript", "x", "x\nconst b = require('b')"),
        ("go", 'import (\n\t"fmt"\n)', 'import (\n\t"fmt"\n\t"os"\n)'),
        ("rust", "use a::{B};", "use a::{\n    B,\n    C,\n};"),
        ("c_sharp", "", "using System;"),
    ],
)
def test_a_new_or_a_longer_import_does_not_matter(language: str, old: str, new: str) -> None:
    assert not matters(old.split("\n"), new.split("\n"), language)


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("python", "from .m import A, B", "from .m import A"),
        ("python", "from .m import A", "from .other import A"),
        ("python", "from .m import A", "from .m import A as B"),
        ("python", "from .m import A", "from .m import C as A, A as D"),
        ("python", "from .m import A", ""),
        ("python", "RATE = 2", "RATE = 3"),
        ("python", "", "from .m import A\nRATE = A()"),
        ("typescript", "import { A } from './a'", "import { A } from './b'"),
        ("typescript", "import { A } from './a'", "import { A } from './a'\nA.start()"),
        ("typescript", "", "export { A } from './a'"),
        ("javascript", "", "const { a } = setup()"),
    ],
)
def test_what_is_gone_or_does_something_matters(language: str, old: str, new: str) -> None:
    assert matters(old.split("\n"), new.split("\n"), language)


LINES = st.lists(st.sampled_from(["import a", "import b", "from a import (", "    c,", ")", "X = 1", "# said", ""]))


@given(LINES, st.sampled_from(["python", "typescript", "go"]))
def test_the_same_lines_do_not_matter(lines: list[str], language: str) -> None:
    assert not matters(lines, lines, language)
    assert not matters(lines, [*lines, "", "import z"], language)
