"""Where specs are found, and what is said of configurations that nothing runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.model.load import Config
from morph_tasks.stack.specs_find import NoSpecs, Specs, config_in, find_specs


def configured(**data: Any) -> Config:
    return Config(data, "")


NOTHING = configured()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def playwright(
    folder: Path, name: str = "playwright.config.ts", *, installed: bool = True, declared: bool = True
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("export default {}\n")
    if declared:
        (folder / "package.json").write_text(json.dumps({"devDependencies": {"@playwright/test": "1"}}))
    if installed:
        install(folder)


def install(folder: Path) -> Path:
    cli = folder / "node_modules/@playwright/test/cli.js"
    cli.parent.mkdir(parents=True)
    cli.write_text("")
    return cli


def test_specs_in_the_root(root: Path) -> None:
    playwright(root)
    found = find_specs(root, NOTHING)
    assert isinstance(found, Specs)
    assert (found.folder, found.config, found.missing) == (".", "playwright.config.ts", "")
    assert found.argv == ("node", str(root / "node_modules/@playwright/test/cli.js"))
    assert found.unexecuted == ()


@pytest.mark.parametrize("ending", ["ts", "js", "mts", "mjs", "cts", "cjs"])
def test_every_ending_of_a_configuration(root: Path, ending: str) -> None:
    playwright(root, f"playwright.config.{ending}")
    assert isinstance(find_specs(root, NOTHING), Specs)


def test_the_ending_that_playwright_takes_first_is_named(root: Path) -> None:
    for ending in ("cjs", "js", "ts"):
        (root / f"playwright.config.{ending}").write_text("")
    assert config_in(root) == "playwright.config.ts"


@pytest.mark.parametrize("folder", ["web", "frontend", "src/frontend", "src/web", "apps/web", "packages/app"])
def test_known_folders(root: Path, folder: str) -> None:
    playwright(root / folder)
    found = find_specs(root, NOTHING)
    assert isinstance(found, Specs)
    assert found.folder == folder


def test_packages_of_the_workspace_root_serve_a_folder(root: Path) -> None:
    playwright(root / "web", installed=False)
    cli = install(root)
    found = find_specs(root, NOTHING)
    assert isinstance(found, Specs)
    assert found.argv == ("node", str(cli))


def test_the_declared_folder_is_looked_into_and_the_known_ones_are_not(root: Path) -> None:
    playwright(root / "site")
    playwright(root / "web")
    found = find_specs(root, configured(project={"frontendPath": "site"}))
    assert isinstance(found, Specs)
    assert found.folder == "site"
    assert [one.path for one in found.unexecuted] == ["web/playwright.config.ts"]
    assert "e2e.command" in found.unexecuted[0].fix


def test_the_root_is_taken_before_the_declared_folder(root: Path) -> None:
    playwright(root)
    playwright(root / "site")
    found = find_specs(root, configured(project={"frontendPath": "site"}))
    assert isinstance(found, Specs)
    assert found.folder == "."
    assert [one.path for one in found.unexecuted] == ["site/playwright.config.ts"]


def test_a_configuration_elsewhere_is_named_with_the_way_out(root: Path) -> None:
    playwright(root / "e2e-tests")
    found = find_specs(root, NOTHING)
    assert isinstance(found, NoSpecs)
    (one,) = found.unexecuted
    assert one.path == "e2e-tests/playwright.config.ts"
    assert one.fix == 'set project.frontendPath to "e2e-tests"'
    # and following it leads there
    again = find_specs(root, configured(project={"frontendPath": "e2e-tests"}))
    assert isinstance(again, Specs)
    assert again.folder == "e2e-tests"


@pytest.mark.parametrize("folder", ["node_modules", "worktrees", ".worktrees", ".cache", "vendor", "testdata"])
def test_what_is_not_the_projects_own_is_not_named(root: Path, folder: str) -> None:
    playwright(root / folder)
    assert find_specs(root, NOTHING) == NoSpecs()


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    playwright(tmp_path / "elsewhere")
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "web").symlink_to(tmp_path / "elsewhere")
    found = find_specs(root, NOTHING)
    assert isinstance(found, NoSpecs)


@pytest.mark.parametrize("path", ["../elsewhere", "/elsewhere", "web\0", ""])
def test_a_declared_folder_outside_of_the_tree_is_none(root: Path, tmp_path: Path, path: str) -> None:
    playwright(tmp_path / "elsewhere")
    assert find_specs(root, configured(project={"frontendPath": path})) == NoSpecs()


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        ("package-lock.json", "npm ci"),
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "yarn install"),
        ("", "npm install"),
    ],
)
def test_packages_that_are_not_installed_are_no_lack_of_specs(root: Path, lock: str, words: str) -> None:
    playwright(root / "web", installed=False)
    if lock:
        (root / "web" / lock).write_text("")
    found = find_specs(root, NOTHING)
    assert isinstance(found, Specs)
    assert found.argv == ()
    assert "not installed" in found.missing
    assert found.fix == f"install the packages: {words}"


def test_what_can_be_run_is_taken_before_what_lacks_its_packages(root: Path) -> None:
    playwright(root, installed=False)
    playwright(root / "web")
    found = find_specs(root, NOTHING)
    assert isinstance(found, Specs)
    assert (found.folder, found.missing) == ("web", "")
    assert [one.path for one in found.unexecuted] == ["playwright.config.ts"]


def test_a_configuration_that_no_manifest_asks_for_is_named(root: Path) -> None:
    playwright(root, installed=False, declared=False)
    found = find_specs(root, NOTHING)
    assert isinstance(found, NoSpecs)
    assert "not installed" in found.unexecuted[0].why


@pytest.mark.parametrize("text", ["", "[]", "{", '{"devDependencies": []}', "\ufeff{}"])
def test_a_manifest_that_cannot_be_read_asks_for_nothing(root: Path, text: str) -> None:
    playwright(root, installed=False, declared=False)
    (root / "package.json").write_text(text)
    assert isinstance(find_specs(root, NOTHING), NoSpecs)


def test_packages_without_a_folder_are_started_through_yarn(root: Path) -> None:
    playwright(root / "web", installed=False)
    (root / ".pnp.cjs").write_text("")
    found = find_specs(root, NOTHING)
    assert isinstance(found, Specs)
    assert found.argv == ("yarn", "playwright")


def test_the_projects_own_command_wins(root: Path) -> None:
    playwright(root)
    found = find_specs(root, configured(e2e={"command": "npx playwright test --project=a && true"}))
    assert found == Specs(command="npx playwright test --project=a && true")


@pytest.mark.parametrize("e2e", [{}, None, {"command": None}, {"command": "  "}])
def test_an_empty_command_is_none(root: Path, e2e: Any) -> None:
    playwright(root)
    found = find_specs(root, configured(e2e=e2e))
    assert isinstance(found, Specs)
    assert found.command == ""


def test_a_component_test_configuration_is_no_browser_spec(root: Path) -> None:
    playwright(root, "playwright-ct.config.ts")
    assert find_specs(root, NOTHING) == NoSpecs()
