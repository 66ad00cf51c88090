from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.features.dotnet import is_dotnet, seed_build_ignores
from morph_tasks.repo.git import Repo


def put(root: Path, path: str, content: Any = "") -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("src/App/App.csproj", ""),
        ("Shop.sln", ""),
        ("Shop.slnx", ""),
        (".morph/config/config.json", {"project": {"stack": "DotNet+nextjs"}}),
        (".morph/features/shop/2-plan/checks.json", {"slices": [{"id": "F1", "persona": "ef-modeler"}]}),
    ],
)
def test_a_dotnet_project(repo: Repo, path: str, content: Any) -> None:
    put(repo.root, path, content)
    assert is_dotnet(repo, "shop")
    assert seed_build_ignores(repo, "shop") == ["bin/", "obj/"]
    assert seed_build_ignores(repo, "shop") == []
    assert (repo.root / ".gitignore").read_text() == "bin/\nobj/\n"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("bin/tool.js", ""),
        ("worktrees/other/App.csproj", ""),
        ("node_modules/pkg/App.csproj", ""),
        ("src/obj/App.csproj", ""),
        ("App.csproj.md", ""),
        (".morph/config/config.json", {"project": {"stack": "dotnetish"}}),
        (".morph/features/shop/2-plan/checks.json", {"slices": [{"id": "F1", "persona": "python-senior"}, 3]}),
        (".morph/features/shop/2-plan/checks.json", "{"),
    ],
)
def test_any_other_project(repo: Repo, path: str, content: Any) -> None:
    put(repo.root, path, content)
    assert not is_dotnet(repo, "shop")
    assert seed_build_ignores(repo, "shop") == []
    assert not (repo.root / ".gitignore").exists()
