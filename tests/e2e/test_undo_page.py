"""What the page on undo shows is what happens."""

from __future__ import annotations

import re

from tests.e2e.test_readme import ROOT, Session, play
from tests.e2e.test_readme import session as session

PAGE = ROOT / "docs/undo.md"
STAMP = re.compile(r"\d{8}T\d{12}Z")
# Where the block of a feature begins depends on where the repository lies.
PORTS = re.compile(r"ports \d+ and")


def test_every_command_says_what_the_page_shows(session: Session) -> None:
    here = str(session.cwd)

    def told(said: str) -> str:
        return PORTS.sub("ports 24200 and", STAMP.sub("20261130T083013694123Z", said.replace(here, "/home/ana")))

    play(session, "undo", PAGE, told)
