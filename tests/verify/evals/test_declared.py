from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from morph_tasks.model.evals import EvalSettings
from morph_tasks.verify.evals.declared import Evals, clashes, problem
from morph_tasks.verify.runners.infer import infer_runner

BLOCK = {"summary": "evals/summary.json", "cacheDir": "evals/cache", "requiredEnv": ["MODEL_KEY"]}


def item(**over: Any) -> dict[str, Any]:
    return {"id": "prompts", "runner": "evals", "command": "x", "evals": {**BLOCK, **over}}


def test_a_whole_block_is_fine(suite: Any) -> None:
    assert problem(suite.repo, item()) is None
    assert Evals.of({**BLOCK, "summary": "./evals//summary.json"}) == Evals(
        "evals/summary.json", "evals/cache", ("MODEL_KEY",)
    )


@pytest.mark.parametrize(
    ("node", "says"),
    [
        ({"id": "a", "runner": "evals", "command": "x"}, "needs a block"),
        ({"id": "a", "runner": "evals", "command": "x", "evals": {}}, "needs a block"),
        ({"id": "a", "runner": "pytest", "command": "x", "evals": BLOCK}, "runner is pytest"),
        ({"id": "a", "command": "npx promptfoo eval", "evals": BLOCK}, "never inferred"),
    ],
)
def test_block_and_runner_belong_together(suite: Any, node: dict[str, Any], says: str) -> None:
    assert says in (problem(suite.repo, node) or "")


@pytest.mark.parametrize(
    "command",
    ["npx promptfoo eval", "deepeval test run evals", "inspect eval x.py", "python -m evals", "evals", "eval x"],
)
def test_a_command_never_tells_that_it_is_an_eval(tmp_path: Any, command: str) -> None:
    assert infer_runner(command, tmp_path) != "evals"


def test_another_runner_without_a_block_is_not_our_business(suite: Any) -> None:
    assert problem(suite.repo, {"id": "a", "runner": "pytest", "command": "x"}) is None


@pytest.mark.parametrize("option", ["summary", "cacheDir"])
@pytest.mark.parametrize(
    "path", ["/tmp/x", "../x", "a/../../x", "..", ".", "a/..", "x/*.json", ".git/x", "a\0b", "a\nb"]
)
def test_a_path_that_is_no_plain_path_of_the_tree(suite: Any, option: str, path: str) -> None:
    assert option in (problem(suite.repo, item(**{option: path})) or "")


@pytest.mark.parametrize(
    ("over", "says"),
    [
        ({"summary": "evals/cache/summary.json"}, "lies in"),
        ({"summary": "evals/cache"}, "lies in"),
        ({"cacheDir": "evals/summary.json/cache"}, "below"),
        ({"summary": "evals/prompts.txt"}, "git tracks"),
        ({"summary": "docs"}, "folder"),
        ({"summary": "evals/x/[ab].json"}, "glob"),
        ({"cacheDir": "evals/prompts.txt"}, "no folder"),
        ({"cacheDir": "ignored/cache"}, "git ignores"),
        ({"cacheDir": "linked"}, "link"),
        ({"cacheDir": "linked/cache"}, "link"),
        ({"summary": "out/summary.json"}, "outside"),
    ],
)
def test_a_place_that_cannot_be_meant(suite: Any, tmp_path: Any, over: dict[str, str], says: str) -> None:
    (suite.root / ".gitignore").write_text("ignored/\n")
    (suite.root / "docs").mkdir()
    (suite.root / "linked").symlink_to("evals")
    (suite.root / "out").symlink_to(tmp_path)
    assert says in (problem(suite.repo, item(**over)) or "")


def test_two_nodes_that_write_to_one_place() -> None:
    def node(name: str, summary: str, cache: str) -> tuple[str, Evals]:
        return name, Evals.of({"summary": summary, "cacheDir": cache})

    assert clashes([node("a", "a.json", "a"), node("b", "b.json", "b")]) == {}
    assert set(clashes([node("a", "./s.json", "a"), node("b", "s.json", "b")])) == {"a", "b"}
    assert set(clashes([node("a", "a.json", "evals"), node("b", "b.json", "evals/b")])) == {"a", "b"}
    assert set(clashes([node("a", "a.json", "evals"), node("b", "evals/b.json", "b")])) == {"a", "b"}


@pytest.mark.parametrize(
    "block",
    [
        {},
        {"summary": "s"},
        {"cacheDir": "c"},
        {**BLOCK, "requiredEnvs": ["X"]},
        {**BLOCK, "summary": 3},
        {**BLOCK, "summary": ""},
        {**BLOCK, "cacheDir": " "},
        {**BLOCK, "requiredEnv": "X"},
        {**BLOCK, "requiredEnv": ["has space"]},
        {**BLOCK, "requiredEnv": [""]},
        {**BLOCK, "requiredEnv": None},
    ],
)
def test_the_model_is_strict(block: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EvalSettings.model_validate(block)


def test_the_model_accepts_what_is_documented() -> None:
    EvalSettings.model_validate(BLOCK)
    EvalSettings.model_validate({"summary": "s.json", "cacheDir": "c"})
    assert all(field.description for field in EvalSettings.model_fields.values())
