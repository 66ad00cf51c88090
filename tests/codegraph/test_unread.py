"""Files of code that could not be read: a run names them, since the graph lacks what they use."""

from __future__ import annotations

from morph_tasks.codegraph.unread import words
from tests.codegraph.test_unreadable import asked
from tests.conftest import Project


def test_files_that_cannot_be_read_or_parsed_are_named(code: Project) -> None:
    code.write(".gitignore", "private/\n")
    code.write("shop/torn.py", "from shop.cart import Cart\n\n\ndef torn(cart: Cart):\n    cart.total(\n")
    for path in ("shop/shut.py", "deep/in/inner.py", "private/own.py", "notes.txt"):
        code.write(path, "from shop.cart import Cart\n")
        (code.root / path).chmod(0)
    (code.root / "deep/in").chmod(0)
    try:
        for command in ("build", "refresh"):
            said = asked(code.root, command)[1]
            assert said["unread"] == ["deep/in/", "shop/shut.py", "shop/torn.py"]
            (told,) = [line for line in said["warnings"] if "could not be read" in line]
            assert told.startswith("3 files or folders of code ") and told.endswith(": " + ", ".join(said["unread"]))
            assert said["recovered"]["failed"] == 1
    finally:
        (code.root / "deep/in").chmod(0o755)
    for path in ("shop/shut.py", "deep/in/inner.py"):
        (code.root / path).chmod(0o644)
    code.write("shop/torn.py", "")
    said = asked(code.root, "refresh")[1]
    assert said["unread"] == [] and said["recovered"]["failed"] == 0


def test_of_many_the_first_are_named() -> None:
    assert words([]) == []
    (line,) = words([f"{number}.py" for number in range(7)])
    assert line.startswith("7 files") and line.endswith(": 0.py, 1.py, 2.py, 3.py, 4.py and 2 more")
    assert "\x1b" not in words(["\x1b[2J.py"])[0]


def test_files_of_a_language_that_only_graphify_tells_by_its_other_files_are_named(code: Project) -> None:
    for path in ("open.sh", "shut.sh"):
        code.write(path, "run() {\n  echo 1\n}\nrun\n")
    (code.root / "shut.sh").chmod(0)
    assert asked(code.root, "build")[1]["unread"] == ["shut.sh"]
