"""The tables of the guide are those of the models."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks.model import config as models

ROOT = Path(__file__).resolve().parents[2]


def test_the_guide_is_current():
    done = subprocess.run([sys.executable, ROOT / "scripts/reference.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, "docs/index.md is behind the models: run `python scripts/reference.py`"


@pytest.mark.parametrize("model", [models.Config, models.Project, models.BuildNode, models.TestNode])
def test_every_key_is_in_a_table(model):
    guide = (ROOT / "docs/index.md").read_text("utf-8")
    keys = set(re.findall(r"^\| `([^`]+)` \|", guide, re.MULTILINE))
    assert {field.alias or name for name, field in model.model_fields.items()} <= keys


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/index.md", "docs/performance.md"])
def test_links_inside_the_repository_lead_somewhere(page):
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}"
