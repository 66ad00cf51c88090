from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.prebuild import STALE, Prebuild, plan

NOTHING = Prebuild()


def _refused(command: str, *build: str) -> bool:
    found = plan(command, build, "dotnet")
    assert not (found.commands and found.refusal)
    return found.refusal is not None and found.refusal[0] == STALE


@pytest.mark.parametrize("runner", ["pytest", "vitest", "none", "evals"])
def test_other_runners_have_no_prebuild(runner: str) -> None:
    assert plan("dotnet test --no-build", ["A.csproj"], runner) == NOTHING


@pytest.mark.parametrize(
    "command",
    [
        "dotnet test A.csproj",
        "dotnet test",
        "dotnet test A.sln -c Release --logger trx",
        "dotnet test A.csproj && dotnet test B.csproj",
        "dotnet test --no-build=false",
        "dotnet test -p:NoBuild=false",
        "dotnet test -- --no-build",
        "dotnet test --filter 'Name~--no-build'",
        "./test.sh --no-build",
        "echo dotnet test --no-build",
        "",
    ],
)
def test_a_suite_that_builds_itself_needs_nothing(command: str) -> None:
    assert plan(command, [], "dotnet") == NOTHING


def test_declared_projects_are_built_first_in_their_order() -> None:
    found = plan("dotnet test A.csproj", ["tests/My Tests/A.csproj", "B.csproj"], "dotnet")
    assert found.commands == ("dotnet build 'tests/My Tests/A.csproj'", "dotnet build B.csproj")
    assert found.refusal is None


def test_no_build_is_fine_with_declared_projects() -> None:
    assert plan("dotnet test A.csproj --no-build", ["A.csproj"], "dotnet").commands == ("dotnet build A.csproj",)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("-c Release", " -c Release"),
        ("--configuration Release", " --configuration Release"),
        ("--configuration=Release", " --configuration=Release"),
        ("-p:Configuration=Release", " -p:Configuration=Release"),
        ("--runtime linux-x64 -v q", " --runtime linux-x64"),
        ("-o 'out dir'", " -o 'out dir'"),
        ("--filter Release -f net9.0", ""),
        ("-p:NoBuild=true", ""),
        ("-p NoBuild=true -c Release", " -c Release"),
    ],
)
def test_the_build_makes_the_binaries_that_the_suite_runs(options: str, kept: str) -> None:
    found = plan(f"dotnet test A.csproj --no-build {options}", ["A.csproj"], "dotnet")
    assert found.commands == (f"dotnet build A.csproj{kept}",)


@pytest.mark.parametrize(
    "command",
    [
        "dotnet test A.csproj --no-build",
        "dotnet test --no-build",
        "dotnet test --no-build=true A.csproj",
        "dotnet test -p:NoBuild=true",
        "dotnet test /p:nobuild=True",
        "dotnet test --property NoBuild=true",
        "dotnet test bin/Debug/net9.0/A.Tests.dll",
        "dotnet vstest A.Tests.dll",
        "dotnet exec A.Tests.dll",
        "dotnet A.Tests.dll",
        "dotnet run --project t/A.csproj --no-build",
        "FOO=1 dotnet test --no-build | tee log",
        "timeout 60 dotnet test --no-build",
        "sh -c 'dotnet test --no-build'",
        "cd api && dotnet test --no-build",
        "dotnet test A.csproj && dotnet test B.csproj --no-build",
        "dotnet restore && dotnet test --no-build",
    ],
)
def test_a_binary_of_an_earlier_build_is_refused(command: str) -> None:
    assert _refused(command)
    assert not _refused(command, "A.csproj")


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("dotnet build && dotnet test --no-build", False),
        ("dotnet build A.sln && dotnet test t/A.csproj --no-build", False),
        ("dotnet build t/A.csproj && dotnet test t/A.csproj --no-build", False),
        ("dotnet build t/A.csproj && dotnet test t/B.csproj --no-build", True),
        ("dotnet build -c Release && dotnet test --no-build -c Release", False),
        ("dotnet build -c Release && dotnet test --no-build --configuration Release", False),
        ("dotnet build -c Release && dotnet test --no-build", True),
        ("dotnet build && dotnet test --no-build -c Release", True),
        ("dotnet build && dotnet vstest A.dll", False),
        ("dotnet build; dotnet test --no-build", True),
        ("dotnet build || dotnet test --no-build", True),
        ("dotnet build & dotnet test --no-build", True),
        ("dotnet build | tee log && dotnet test --no-build", True),
        ("set -e; dotnet build; dotnet test --no-build", False),
        ("set -e\ndotnet build\ndotnet test --no-build", False),
        ("dotnet build && echo built && dotnet test --no-build", False),
        ("dotnet test --no-build && dotnet build", True),
        ("dotnet test A.csproj && dotnet test A.csproj --no-build", False),
        ("dotnet build --no-restore && sh -c 'dotnet test --no-build'", False),
    ],
)
def test_a_build_in_the_command_itself_counts_when_its_failure_stops(command: str, refused: bool) -> None:
    assert _refused(command) is refused


def test_the_refusal_names_the_way_out() -> None:
    found = plan("dotnet test t/A.csproj --no-build", [], "dotnet")
    assert found.refusal
    assert "t/A.csproj" in found.refusal[1] and "`build`" in found.refusal[1]


_WORDS = st.sampled_from(
    [
        "dotnet",
        "test",
        "build",
        "--no-build",
        "-c",
        "Release",
        "&&",
        ";",
        "|",
        "A.csproj",
        "'",
        '"',
        "sh",
        "-c",
        "$(",
        ")",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_WORDS, max_size=12).map(" ".join), st.lists(st.text(max_size=8), max_size=2))
def test_any_command_can_be_planned(command: str, build: list[str]) -> None:
    found = plan(command, build, "dotnet")
    assert len(found.commands) == len(build)
    assert not build or found.refusal is None
