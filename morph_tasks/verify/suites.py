"""The test suites that a tree shows, one finder an ecosystem."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.nodes import TEST_TIMEOUT_MS, Node, links

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

# npm writes this line into a new package.json
_NPM_PLACEHOLDER = "no test specified"
_FRONTEND_RUNNERS = (("vitest", "npx vitest run"), ("jest", "npx jest --ci"))
# In the root, other work trees may lie below: they hold the same tests in other states.
_APART = {
    "vitest": " --exclude 'worktrees/**' --exclude '.worktrees/**'",
    "jest": r" --modulePathIgnorePatterns '<rootDir>/\.?worktrees/'",
}
_COLD_MS = 600_000
_RUST_TEST = r"#\[([a-z_]+::)*[a-z_]*test|#\[cfg\(test"


def suite(name: str, command: str, config: Config, *, declared: bool = False, **more: Any) -> Node:
    """Return an inferred test node; its ceiling grows with the runs that its command chains."""
    ceiling = config.project.get("testTimeoutMs") or more.pop("timeout_ms", TEST_TIMEOUT_MS * links(command))
    more.pop("timeout_ms", None)
    runner = more.pop("runner", None) or "none"
    return Node("tests", name, command, runner=runner, timeout_ms=ceiling, needs=("*",), declared=declared, **more)


def dotnet_suites(root: Path, config: Config) -> list[Node]:
    """Return the .NET suite: the solution in the root, else every `*Tests.csproj`, else the project in the root.

    The projects run one after the other: side by side they would build what they share at the same time.
    """
    from morph_tasks.verify.builds.detect import word
    from morph_tasks.verify.builds.dotnet import QUIET, SOLUTIONS, at_root, dotnet_files, find_target

    target = find_target(root, config)
    if target is None or target.foreign:
        return []
    files = dotnet_files(root)
    top = at_root(files)
    tests = [path for path in files if path.lower().endswith(("tests.csproj", "tests.fsproj", "tests.vbproj"))]
    single = top if len(top) == 1 else []
    chosen = single if single and single[0].lower().endswith(SOLUTIONS) else tests or single
    command = " && ".join(f"dotnet test {word(path)}" for path in chosen)
    return [suite("dotnet", command, config, runner="dotnet", set_env=QUIET)] if chosen else []


def node_suites(root: Path, config: Config) -> list[Node]:
    """Return `npm test` of the root, and a node for each frontend that names vitest or jest."""
    from morph_tasks.verify.builds.scan import slug

    nodes = []
    script = _table(package_json(root), "scripts").get("test")
    if isinstance(script, str) and script.strip() and _NPM_PLACEHOLDER not in script:
        nodes.append(suite("default", "npm test", config, runner=_runner_of(root)))
    for folder in frontends(root, config):
        data = package_json(root / folder)
        named = {**_table(data, "dependencies"), **_table(data, "devDependencies")}
        for runner, command in _FRONTEND_RUNNERS:
            if runner in named and not (folder == "." and nodes):
                name = runner if folder == "." else f"{runner}-{slug(folder)}"
                apart = _apart(root, runner) if folder == "." else ""
                nodes.append(suite(name, f"{command}{apart}", config, cwd=folder, runner=runner))
    return nodes


def _apart(root: Path, runner: str) -> str:
    """Return what keeps a runner out of work trees; nothing where it would replace what jest's settings say."""
    if runner == "jest":
        settings = [root / "package.json", *root.glob("jest.config.*")]
        for path in settings:
            try:
                if b"modulePathIgnorePatterns" in path.read_bytes():
                    return ""
            except OSError:
                continue
    return _APART[runner]


def other_node_suites(root: Path, config: Config, chosen: Sequence[Node]) -> list[Node]:
    """Return a suite for each package that names vitest or jest, lies where no frontend is looked for, and is not run.

    A suite above it may run it, as those of workspaces do.
    """
    from morph_tasks.verify.builds.scan import own_folders

    runners = {runner for runner, _ in _FRONTEND_RUNNERS} | {"none"}
    above = [node.cwd for node in chosen if node.runner in runners]
    known = frontends(root, config)
    nodes = []
    for folder in own_folders(root, "package.json"):
        if folder in known or any(cwd == "." or f"{folder}/".startswith(f"{cwd}/") for cwd in above):
            continue
        data = package_json(root / folder)
        named = {**_table(data, "dependencies"), **_table(data, "devDependencies")}
        nodes += [suite(r, command, config, cwd=folder, runner=r) for r, command in _FRONTEND_RUNNERS if r in named]
    return nodes


def go_suites(root: Path, config: Config) -> list[Node]:
    """Return a suite for each Go module. Go's own cache would answer for a run; `-v` makes tests countable."""
    from morph_tasks.verify.builds.detect import named
    from morph_tasks.verify.builds.go import modules, packages

    return [
        suite(name, f"go test -v -count=1 {packages(root, folder)}", config, cwd=folder, runner="go")
        for name, folder in named("go", modules(root, config))
    ]


def cargo_suites(root: Path, config: Config) -> list[Node]:
    """Return a suite for each Rust crate or workspace."""
    from morph_tasks.verify.builds.detect import named
    from morph_tasks.verify.builds.rust import cargo, crates

    nodes = []
    for name, folder in named("cargo", crates(root, config)):
        command, warnings = cargo(root, folder, "test --no-fail-fast")
        more: dict[str, Any] = {
            "cwd": folder,
            "runner": "cargo",
            "warnings": warnings,
            "timeout_ms": _COLD_MS,
        }
        nodes.append(suite(name, command, config, **more))
    return nodes


def has_go_tests(root: Path) -> bool:
    """Tell whether a tree holds Go tests."""
    from morph_tasks.verify.builds.scan import listed

    return bool(listed(root, ["*_test.go"]))


def has_rust_tests(root: Path) -> bool:
    """Tell whether a tree holds Rust tests."""
    from morph_tasks.repo.git import clean_env
    from morph_tasks.repo.spawn import ChildError, stream

    argv = ["git", "-C", str(root), "grep", "-l", "--untracked", "-E", "-e", _RUST_TEST, "--", "*.rs"]
    try:
        return bool(b"".join(stream(argv, clean_env())))
    except (ChildError, OSError):
        return False


def frontends(root: Path, config: Config) -> list[str]:
    """Return the folders with a package.json among the root, the known frontends and the declared one."""
    from morph_tasks.verify.builds.scan import FRONTENDS, inside

    declared = inside(root, config.project.get("frontendPath"))
    folders = dict.fromkeys([*FRONTENDS, *([declared] if declared else [])])
    return [folder for folder in folders if (root / folder / "package.json").is_file()]


def package_json(folder: Path) -> dict[str, Any]:
    """Return package.json; {} when it is missing or is no JSON object."""
    try:
        data = json.loads((folder / "package.json").read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _runner_of(root: Path) -> str | None:
    from morph_tasks.verify.runners.infer import infer_runner

    return infer_runner("npm test", Path(os.path.realpath(root)))
