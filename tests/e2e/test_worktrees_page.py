"""What the page on work trees shows is what happens."""

from __future__ import annotations

import re

from tests.e2e.test_readme import ROOT, Session, play
from tests.e2e.test_readme import session as session

PAGE = ROOT / "docs/worktrees.md"


def test_every_command_says_what_the_page_shows(session: Session) -> None:
    here, blocks = str(session.cwd), dict[str, str]()

    def port(found: re.Match[str]) -> str:
        # Which block is free differs from machine to machine; which ports belong to one block does not.
        block = blocks.setdefault(found[0][:-1], f"24{len(blocks) + 20:02}")
        return f"{block}{found[0][-1]}"

    def told(said: str) -> str:
        said = said.replace(here, "/home/ana")
        said = re.sub(r"\d{8}T\d{12}Z", "20261130T083013694123Z", said)
        said = re.sub(r"\d{4}-\d\d-\d\dT\d{9}Z", "2026-11-30T112956776Z", said)
        said = re.sub(r"\b[0-9a-f]{40}\b", "8f0c2f1d9e7b6a5c4d3e2f1a0b9c8d7e6f5a4b3c", said)
        return re.sub(r"\b2\d{4}\b", port, said)

    play(session, "worktrees", PAGE, told)
