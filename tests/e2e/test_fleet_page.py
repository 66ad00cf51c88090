"""What the page on the fleet shows is what happens."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.e2e.test_readme import ROOT, Session, play
from tests.e2e.test_readme import session as session
from tests.gh import make_gh

PAGE = ROOT / "docs/fleet.md"


def test_every_command_says_what_the_page_shows(session: Session, tmp_path: Path) -> None:
    gh = make_gh(tmp_path / "gh")
    origin = tmp_path / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    session.env |= {"ORIGIN": str(origin), "PATH": f"{gh.bin}:{session.env['PATH']}"}
    here = str(session.cwd)

    def told(said: str) -> str:
        # Which ports are free differs from machine to machine.
        return re.sub(r"ports \d+", "ports 20340", said.replace(here, "/home/ana"))

    play(session, "fleet", PAGE, told)
