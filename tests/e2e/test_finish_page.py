"""What the page on finishing shows is what happens."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.e2e.test_readme import ROOT, Session, play
from tests.e2e.test_readme import session as session
from tests.gh import make_gh

PAGE = ROOT / "docs/finish.md"
STAMP = re.compile(r"\d{8}T\d{12}Z")


def test_every_command_says_what_the_page_shows(session: Session, tmp_path: Path) -> None:
    gh = make_gh(tmp_path / "gh")
    origin = tmp_path / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    session.env |= {"ORIGIN": str(origin), "PATH": f"{gh.bin}:{session.env['PATH']}"}
    here = str(session.cwd)

    def told(said: str) -> str:
        said = said.replace(here, "/home/ana").replace(str(origin), "/srv/shop.git")
        # Which block of ports is free differs from machine to machine.
        return re.sub(r"\b2\d{3}(\d)\b", r"2424\1", STAMP.sub("20261130T083013694123Z", said))

    play(session, "finish", PAGE, told)
