"""What the page on the fleet shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
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


def test_plans_collide_as_the_page_shows(session: Session, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    program = (
        "import sys\nfrom pathlib import Path\nfrom tests.codegraph.handmade import plan_of\n"
        "name, *slices = sys.argv[1:]\n"
        "Path('worktrees', name, '.morph/features', name, '2-plan/plan.md').write_text(plan_of(*slices), 'utf-8')\n"
    )
    (tools / "plan").write_text(
        f"#!/bin/sh\nexport PYTHONPATH='{ROOT}'\nexec '{sys.executable}' -c \"{program}\" \"$@\"\n"
    )
    (tools / "plan").chmod(0o755)
    session.env |= {"PATH": f"{tools}:{session.env['PATH']}", "MORPH_GRAPH_AUTO_REFRESH": "0"}
    here = str(session.cwd)
    play(session, "fleet collisions", PAGE, lambda said: said.replace(here, "/home/ana"))
