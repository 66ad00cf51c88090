"""A repository with an eval suite: a program that answers from a folder, or asks "a model", and writes a summary."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.proc import run
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.verify.evals.after import after
from morph_tasks.verify.evals.before import NotReady, Ready, before
from morph_tasks.verify.evals.declared import Evals

PROGRAM = """
import hashlib, json, os, pathlib, sys

cache = pathlib.Path(os.environ["MORPH_EVAL_CACHE"])
asked = 0

def model(prompt):
    global asked
    asked += 1
    with open(os.environ["CALLS"], "a") as calls:
        calls.write(prompt + "\\n")
    if "crash" in prompt:
        os.kill(os.getpid(), 9)
    return prompt.upper()

def answer(prompt):
    cache.mkdir(parents=True, exist_ok=True)
    place = cache / (hashlib.sha256(prompt.encode()).hexdigest()[:12] + ".json")
    if not place.exists():
        place.write_text(json.dumps({"prompt": prompt, "answer": model(prompt)}))
    return json.loads(place.read_text())["answer"]

results = []
for line in pathlib.Path("evals/prompts.txt").read_text().splitlines():
    name, scenario, prompt = line.split("|")
    passed = answer(prompt) == prompt.upper()
    results.append({"id": name, "name": name, "status": "passed" if passed else "failed", "scenario": scenario,
                    "model": "tiny-1"})
failed = sum(one["status"] == "failed" for one in results)
pathlib.Path(os.environ["MORPH_EVAL_SUMMARY"]).write_text(json.dumps(
    {"scenarios": len(results), "passed": len(results) - failed, "failed": failed, "results": results}))
sys.exit(1 if failed else 0)
"""

SETTINGS = Evals("evals/summary.json", "evals/cache", ("MODEL_KEY",))


@dataclass
class Suite:
    """The repository and what a verify does with its node."""

    repo: Repo
    calls: Path

    @property
    def root(self) -> Path:
        return self.repo.root

    @property
    def cache(self) -> Path:
        return self.root / SETTINGS.cache_dir

    @property
    def summary(self) -> Path:
        return self.root / SETTINGS.summary

    def asked(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def git(self, *args: str) -> str:
        return run(["git", "-C", str(self.root), *args]).stdout.decode()

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")

    def prompts(self, *lines: str) -> None:
        (self.root / "evals/prompts.txt").write_text("".join(f"{line}\n" for line in lines))

    def before(self, *, refresh: bool = False, **environ: str) -> Ready | NotReady:
        return before(self.repo, "prompts", SETTINGS, refresh=refresh, environ={"MODEL_KEY": "k", **environ})

    def ready(self, *, refresh: bool = False) -> Ready:
        found = self.before(refresh=refresh)
        assert isinstance(found, Ready), found
        return found

    def run(self, ready: Ready, program: str = PROGRAM) -> dict[str, Any]:
        log = self.root.parent / "log"
        env = {**os.environ, "CALLS": str(self.calls), **ready.env}
        with open(log, "wb") as out:
            done = subprocess.run(
                [sys.executable, "-c", program], cwd=self.root, env=env, stdout=out, stderr=out, check=False
            )
        return after(self.repo, ready, done.returncode, log)

    def verify(self, *, refresh: bool = False, program: str = PROGRAM) -> dict[str, Any]:
        return self.run(self.ready(refresh=refresh), program)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Two prompts, no answer recorded yet."""
    run(["git", "init", "-q", "-b", "main", str(tmp_path / "project")])
    found = Suite(open_repo(tmp_path / "project"), tmp_path / "calls")
    (found.root / "evals").mkdir()
    (found.root / ".gitignore").write_text("/evals/summary.json\n*.tmp\n")
    found.prompts("greeting|C3|hello", "refusal|C4|never")
    found.commit()
    return found


@pytest.fixture
def warm(suite: Suite) -> Suite:
    """The same with every answer committed."""
    suite.verify(refresh=True)
    suite.commit()
    suite.calls.unlink()
    return suite


Writer = Callable[[str], str]


@pytest.fixture
def writes() -> Writer:
    """A program that writes a text as the summary and exits 0."""
    return lambda text: f"import os; open(os.environ['MORPH_EVAL_SUMMARY'], 'w').write({text!r})"
