"""What the wheel holds: the package, and `framework/` inside it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the unpacked wheel of this checkout."""
    if importlib.util.find_spec("hatchling") is None:
        assert not os.environ.get("CI"), "hatchling is missing: install requirements-dev.lock"
        pytest.skip("hatchling is not installed; scripts/test brings it")
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", out],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = out.glob("morph_spec-*-py3-none-any.whl")
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(site)
    return site


def names(folder: Path) -> set[str]:
    skipped = {"__pycache__", ".DS_Store"}
    found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {path.as_posix() for path in found if not skipped & set(path.parts)}


def test_framework_is_inside_the_package(site):
    assert names(site / "morph_tasks/framework") == names(ROOT / "framework")


def test_every_module_is_in_it(site):
    modules = {name for name in names(ROOT / "morph_tasks") if name.endswith(".py")}
    assert modules <= names(site / "morph_tasks")


def test_nothing_else_is_installed(site):
    assert {path.name.split("-")[0] for path in site.iterdir()} == {"morph_tasks", "morph_spec"}


def test_the_installed_package_finds_its_own_framework(site):
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "from morph_tasks.framework_files import framework_path\n"
        "print(framework_path('phases.json'))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=site, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == site / "morph_tasks/framework/phases.json"


def test_the_wheel_carries_its_licence(site):
    assert [path.name for path in site.glob("*.dist-info/licenses/*")] == ["LICENSE"]
