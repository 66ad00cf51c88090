"""What the page on unions shows is what happens."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, Project
from tests.e2e.test_readme import Session, play

PAGE = ROOT / "docs/union.md"
CART = "def total(prices):\n    return sum(prices)\n"
TEST = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
RECEIPTS = 'from shop.cart import total\n\n\ndef receipt(prices):\n    return f"{total(prices)} cents"\n'
FEATURES: dict[str, dict[str, str]] = {
    "rename-total": {
        "shop/cart.py": CART.replace("total", "sum_up"),
        "tests/test_cart.py": TEST.replace("import total", "import sum_up").replace("assert total", "assert sum_up"),
    },
    "receipts": {
        "shop/receipts.py": RECEIPTS,
        "tests/test_receipts.py": "from shop.receipts import receipt\n\n\ndef test_receipt():\n"
        '    assert receipt([1]) == "1 cents"\n',
    },
    "address": {"README.md": "# Shop\n\nMain Street 1.\n"},
    "opening-hours": {"README.md": "# Shop\n\nOpen from nine to five.\n"},
}


def test_every_command_says_what_the_page_shows(project: Project, tmp_path: Path) -> None:
    project.write(
        "pyproject.toml", "[project]\nname = 'shop'\nversion = '1'\n[tool.pytest.ini_options]\npythonpath = '.'\n"
    )
    project.write(".gitignore", "__pycache__/\n.pytest_cache/\n/worktrees/\n")
    project.write(".morph/.gitignore", "/state.json\n/worktree.env\n/evidence/\n/logs/\n")
    for path, text in {
        "shop/__init__.py": "",
        "shop/cart.py": CART,
        "tests/test_cart.py": TEST,
        "README.md": "# Shop\n",
    }.items():
        project.write(path, text)
    project.commit("a shop")
    for name, files in FEATURES.items():
        assert project.verify(name, cwd=_begun(project, name, files))["status"] == "pass"
    _begun(project, "gift-cards", {"shop/gifts.py": "VALUES = (10, 20)\n"})
    home = Path(os.environ["HOME"])

    def told(said: str) -> str:
        said = said.replace(str(project.root), "/home/ana/shop").replace(str(home), "/home/ana")
        said = re.sub(r"run-\w{8}", "run-…", said)
        return re.sub(r"[0-9a-f]{64}/\d{8}T\d{6}\.\d{6}Z-\d+\.log", "….log", said)

    play(Session(tmp_path, project.root, dict(os.environ)), "union", PAGE, told)


def _begun(project: Project, name: str, files: dict[str, str]) -> Path:
    words = ("create", name, "--type", "chore", "--description", name, "--worktree")
    said: Any = project.morph(*words, "--json")
    assert said.code == 0, said
    tree = project.root / "worktrees" / name
    for path, text in files.items():
        Project(tree).write(path, text)
    Project(tree).commit(name)
    return tree
