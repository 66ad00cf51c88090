"""Real suites of Node: its own runner, and vitest as a package."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Project

PACKAGES = Path(__file__).parents[1] / "runners-npm" / "node_modules"


def _needs(found: bool, what: str) -> None:
    if not found and os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing: scripts/test installs it")
    if not found:
        pytest.skip(f"{what} is missing: scripts/test installs it")


def _create(project: Project) -> None:
    assert project.morph("create", "cart", "--type", "feature", "--description", "Adds up").code == 0


def test_node_test_red_green_reused(project: Project) -> None:
    _needs(shutil.which("node") is not None and shutil.which("npm") is not None, "node")
    project.write("package.json", json.dumps({"name": "cart", "scripts": {"test": "node --test"}}))
    project.write("total.js", "exports.total = (prices) => prices.reduce((a, b) => a + b, 1);\n")
    project.write(
        "total.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { total } = require('./total');\n"
        "test('adds up', () => assert.strictEqual(total([1, 2]), 3));\n"
        "test('is a number', () => assert.ok(total([])));\n",
    )
    project.commit()
    _create(project)
    red = project.verify()
    [entry] = red["nodes"]["tests"]["runs"]
    assert (red["exit"], entry["runner"], entry["count"], entry["counts"]["failed"]) == (1, "node-test", 2, 1)
    assert any("adds up" in line for line in red["feedback"])
    project.write("total.js", "exports.total = (prices) => prices.reduce((a, b) => a + b, 0) || 0;\n")
    project.write("total.test.js", (project.root / "total.test.js").read_text().replace("total([])", "total([1])"))
    green = project.verify()
    assert (green["exit"], green["nodes"]["tests"]["runs"][0]["count"]) == (0, 2)
    assert project.verify()["nodes"]["tests"]["runs"][0]["reused"]


def test_vitest_by_doit_and_by_the_command(project: Project) -> None:
    _needs((PACKAGES / "vitest").is_dir(), "vitest")
    (project.root / "node_modules").symlink_to(PACKAGES)
    project.write(".gitignore", "node_modules\n")
    project.write("package.json", json.dumps({"name": "cart", "type": "module", "devDependencies": {"vitest": "*"}}))
    project.write("vitest.config.mjs", "export default { test: { cache: false } };\n")
    project.write(
        "total.test.js",
        "import { expect, test } from 'vitest';\ntest('adds up', () => expect(1 + 1).toBe(2));\ntest.todo('later');\n",
    )
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    project.commit()
    _create(project)
    assert project.doit("verify:cart").code == 0
    document = project.verify()
    [entry] = document["nodes"]["tests"]["runs"]
    assert (document["exit"], entry["runner"], entry["count"], bool(entry["reused"])) == (0, "vitest", 1, True)
    project.write(
        "total.test.js",
        "import { test } from 'vitest';\nPromise.reject(new Error('nobody waits'));\ntest('fine', () => {});\n",
    )
    red = project.verify()
    assert (red["exit"], red["nodes"]["tests"]["runs"][0]["status"]) == (1, "fail")
    assert red["nodes"]["tests"]["runs"][0]["reason"] == "unhandled-error"
