# ruff: noqa: E501 (tables, one case a line)
from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from morph_tasks.verify.narrowing import dotnet
from morph_tasks.verify.narrowing.model import Narrowed

MTP = json.dumps({"sdk": {"version": "10.0.100"}, "test": {"runner": "Microsoft.Testing.Platform"}})
A, B = "tests/A.Tests/A.Tests.csproj", "tests/B.Tests/B.Tests.csproj"
APP = "src/App/App.csproj"
FOO, BAR, INT = "tests/A.Tests/FooTests.cs", "tests/A.Tests/Sub/BarTests.cs", "tests/B.Tests/IntTests.cs"
HELPER = "tests/A.Tests/FakeClock.cs"
V = 'dotnet test tests/A.Tests/A.Tests.csproj --filter "FullyQualifiedName~FooTests"'


def project(*packages: str, properties: str = "", more: str = "", attributes: str = "") -> str:
    items = "".join(f'<PackageReference Include="{name}" Version="1.0.0" />' for name in packages)
    return (
        f'<Project Sdk="Microsoft.NET.Sdk"{attributes}>\n<PropertyGroup>{properties}</PropertyGroup>\n'
        f"<ItemGroup>{items}</ItemGroup>\n{more}</Project>\n"
    )


def suite(name: str, attribute: str = "Fact") -> str:
    return f"using Xunit;\nnamespace N;\npublic sealed class {name}\n{{\n    [{attribute}]\n    public void Works() {{ }}\n}}\n"


BASE: dict[str, str] = {
    "App.sln": "",
    APP: project(),
    "src/App/Clock.cs": "namespace App; public abstract class Clock { }",
    "src/App/appsettings.json": "{}",
    A: project("xunit.v3", "Microsoft.NET.Test.Sdk"),
    FOO: suite("FooTests"),
    BAR: suite("BarTests", "Theory, InlineData(1)"),
    HELPER: "namespace N; class FakeClock { FakeClock(int a, TestContext ctx, Factory f) { } }",
    B: project("xunit.v3"),
    INT: suite("IntTests"),
}


def build(root: Path, files: Mapping[str, str | None]) -> Path:
    for path, text in {**BASE, **files}.items():
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text.encode())
    return root


def narrow(
    root: Path,
    command: str,
    files: Sequence[str] = (FOO,),
    tree: Mapping[str, str | None] | None = None,
    cwd: str = ".",
    env: Mapping[str, str] | None = None,
) -> Narrowed | str:
    return dotnet.narrow(build(root, tree or {}), cwd, command, list(files), env or {})


def selected(name: str) -> str:
    return f'--filter "FullyQualifiedName~{name}"'


CHAIN = f"dotnet test {A} --no-build && dotnet test {B} -c Release"
# what is shown, command, files, command that runs
VSTEST = [
    ("project", f"dotnet test {A}", [FOO], V),
    ("quoted project", f'dotnet test "{A}"', [FOO], f'dotnet test "{A}" {selected("FooTests")}'),
    ("option", f"dotnet test --project {A}", [FOO], f"dotnet test --project {A} {selected('FooTests')}"),
    (
        "two files",
        f"dotnet test {A}",
        [FOO, BAR],
        f'dotnet test {A} --filter "FullyQualifiedName~FooTests|FullyQualifiedName~BarTests"',
    ),
    ("no project", "dotnet test", [FOO], f'dotnet test "{A}" {selected("FooTests")}'),
    (
        "no project, options",
        "dotnet test -c Release --logger 'console;verbosity=normal'",
        [FOO],
        f"dotnet test \"{A}\" -c Release --logger 'console;verbosity=normal' {selected('FooTests')}",
    ),
    ("solution", "dotnet test App.sln --no-restore", [FOO], f'dotnet test "{A}" --no-restore {selected("FooTests")}'),
    ("slnx", "dotnet test ./App.slnx", [FOO], f'dotnet test "{A}" {selected("FooTests")}'),
    (
        "a solution becomes several projects",
        "dotnet test App.sln --no-build",
        [FOO, INT],
        f'dotnet test "{A}" --no-build {selected("FooTests")} && dotnet test "{B}" --no-build {selected("IntTests")}',
    ),
    ("chain leaves a link", CHAIN, [FOO], f"dotnet test {A} --no-build {selected('FooTests')}"),
    ("chain leaves the other", CHAIN, [INT], f"dotnet test {B} -c Release {selected('IntTests')}"),
    (
        "chain keeps both",
        CHAIN,
        [INT, FOO],
        f"dotnet test {A} --no-build {selected('FooTests')} && dotnet test {B} -c Release {selected('IntTests')}",
    ),
    (
        "the same project twice",
        f"dotnet test {A} -f net8.0 && dotnet test {A} -f net9.0",
        [FOO],
        f"dotnet test {A} -f net8.0 {selected('FooTests')} && dotnet test {A} -f net9.0 {selected('FooTests')}",
    ),
    ("production code costs nothing", f"dotnet test {A}", [FOO, "src/App/Clock.cs", "src/App/appsettings.json"], V),
    ("a link in several lines", f"dotnet test {A} &&\n  dotnet test {B}", [FOO], V),
    ("harmless variables", f"DOTNET_NOLOGO=1 dotnet test {A}", [FOO], f"DOTNET_NOLOGO=1 {V}"),
    ("properties", f"dotnet test {A} -p:X=1 /p:Y=2", [FOO], f"dotnet test {A} -p:X=1 /p:Y=2 {selected('FooTests')}"),
    (
        "a value that looks like an option of none",
        f"dotnet test --collect 'XPlat Code Coverage' {A} -v q",
        [FOO],
        f"dotnet test --collect 'XPlat Code Coverage' {A} -v q {selected('FooTests')}",
    ),
    ("&& between quotes", f"dotnet test {A} -l 'a && b'", [FOO], f"dotnet test {A} -l 'a && b' {selected('FooTests')}"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "files", "expected"), [row[1:] for row in VSTEST], ids=[row[0] for row in VSTEST])
def test_vstest_narrows(tmp_path: Path, command: str, files: list[str], expected: str) -> None:
    found = narrow(tmp_path, command, files)
    assert isinstance(found, Narrowed), found
    assert found.command == expected
    assert found.zero_guard == "count"


# what is shown, command, part of the reason
COMMANDS = [
    ("another program", f"dotnet build && dotnet test {A}", "more than calls of `dotnet test`"),
    ("a folder first", f"cd tests && dotnet test {A}", "`cd`"),
    ("semicolon", f"dotnet test {A}; dotnet test {B}", "more than one call"),
    ("or", f"dotnet test {A} || true", "more than one call"),
    ("pipe", f"dotnet test {A} | tee x", "more than one call"),
    ("background", f"dotnet test {A} &", "more than one call"),
    ("two lines", f"dotnet test {A}\ndotnet test {B}", "several lines"),
    ("subshell", f"(dotnet test {A})", "subshell"),
    ("redirection", f"dotnet test {A} > log", "redirection"),
    ("variable", f"dotnet test {A} $MORE", "variable"),
    ("quoted variable", f'dotnet test {A} -c "$MODE"', "variable"),
    ("empty link", f"dotnet test {A} && ", "empty link"),
    ("shell", f"sh -c 'dotnet test {A}'", "more than calls of `dotnet test`"),
    ("vstest verb", "dotnet vstest a.dll", "more than calls of `dotnet test`"),
    ("property by environment", f"MtpExtraArgs=--x dotnet test {A}", "sets `MtpExtraArgs`"),
    ("filter", f"dotnet test {A} --filter Category=Fast", "chooses its tests already"),
    ("joined filter", f"dotnet test {A} --filter=Category=Fast", "chooses its tests already"),
    ("filter of one link", f"dotnet test {A} && dotnet test {B} --filter X", "chooses its tests already"),
    ("treenode filter", f"dotnet test {A} --treenode-filter /*", "spreads"),
    ("quoted treenode filter", f"dotnet test {A} --treenode-filter '/*'", "chooses its tests already"),
    ("class filter", f"dotnet test {A} --filter-class X", "chooses its tests already"),
    ("negative filter", f"dotnet test {A} --filter-not-trait a=b", "chooses its tests already"),
    ("arguments behind dashes", f"dotnet test {A} -- RunConfiguration.X=1", "after `--`"),
    ("ignored exit code", f"dotnet test {A} --ignore-exit-code 8", "ignores an exit code"),
    ("ignored by a variable", f"TESTINGPLATFORM_EXITCODE_IGNORE=8 dotnet test {A}", "sets"),
    ("ignored by an option", f"dotnet test {A} -e TESTINGPLATFORM_EXITCODE_IGNORE=8", "ignores an exit code"),
    ("floor", f"dotnet test {A} --minimum-expected-tests 3", "floor"),
    ("floor in a property", f"dotnet test {A} '-p:TestingPlatformCommandLineArguments=--minimum-expected-tests 3'", "floor"),
    ("escaped property", f"dotnet test {A} -p:X=%2D%2Dminimum-expected-tests%203", "floor"),
    ("vstest filter in a property", f"dotnet test {A} -p:VSTestTestCaseFilter=X", "chooses its tests already"),
    ("folder", "dotnet test tests/A.Tests", "is a folder"),
    ("this folder", "dotnet test .", "is a folder"),
    ("assembly", "dotnet test bin/A.Tests.dll", "built assembly"),
    ("F# project", "dotnet test tests/F.Tests/F.Tests.fsproj", "no .csproj"),
    ("solution filter", "dotnet test App.slnf", "no .csproj and no solution"),
    ("solution option", "dotnet test --solution App.sln", "named by an option"),
    ("joined solution option", "dotnet test --solution=App.sln", "named by an option"),
    ("solution option with a colon", "dotnet test --solution:App.sln", "named by an option"),
    ("directory", "dotnet test --directory tests", "runs a folder"),
    ("joined directory", "dotnet test --directory=tests", "runs a folder"),
    ("modules", "dotnet test --test-modules 'a.dll'", "built assemblies"),
    ("joined modules", "dotnet test --test-modules:a.dll", "built assemblies"),
    ("joined project", f"dotnet test --project={A}", "in one word"),
    ("project with a colon", f"dotnet test --project:{A}", "in one word"),
    ("project without value", "dotnet test --project", "no value"),
    ("project that is a folder", "dotnet test --project tests/A.Tests", "names no .csproj"),
    ("joined folder", "dotnet test --project=tests/A.Tests", "in one word"),
    ("project that is a solution", "dotnet test --project App.sln", "names no .csproj"),
    ("project that is missing", "dotnet test tests/Z/Z.csproj", "does not exist"),
    ("project outside", "dotnet test ../Z/Z.csproj", "outside of the tree"),
    ("missing in another link", f"dotnet test {A} && dotnet test Z.csproj", "does not exist"),
    ("two targets", f"dotnet test {A} {B}", "more than one thing"),
    ("unknown option before a target", f"dotnet test --whatever {A}", "may be what is run"),
    ("list", f"dotnet test {A} --list-tests", "only lists"),
    ("list, short", f"dotnet test {A} -t", "only lists"),
    ("build target", f"dotnet test {A} -t:Clean", "build engine"),
    ("response file", f"dotnet test {A} @more.rsp", "response file"),
    ("settings of the platform", f"dotnet test {A} --config-file my.json", "not looked into"),
    ("help", "dotnet test --help", "asks for help"),
]  # fmt: skip


@pytest.mark.parametrize("platform", [False, True], ids=["vstest", "mtp"])
@pytest.mark.parametrize(("command", "reason"), [row[1:] for row in COMMANDS], ids=[row[0] for row in COMMANDS])
def test_a_command_of_another_shape_runs_whole(tmp_path: Path, command: str, reason: str, platform: bool) -> None:
    found = narrow(tmp_path, command, tree={"global.json": MTP} if platform else {})
    assert isinstance(found, str) and reason in found, found


def classes(*names: str) -> str:
    return " ".join(f'--filter-class "*{name}*"' for name in names)


PLATFORM = [
    ("xunit.v3", f"dotnet test {A}", [FOO], {}, f"dotnet test {A} {classes('FooTests')}"),
    ("option", f"dotnet test --project {A}", [FOO], {}, f"dotnet test --project {A} {classes('FooTests')}"),
    ("a filter for each type", f"dotnet test {A}", [FOO, BAR], {}, f"dotnet test {A} {classes('FooTests', 'BarTests')}"),
    ("no project", "dotnet test -c Release", [FOO], {}, f'dotnet test --project "{A}" -c Release {classes("FooTests")}'),
    (
        "no project, two owners",
        "dotnet test",
        [FOO, INT],
        {},
        f'dotnet test --project "{A}" {classes("FooTests")} && dotnet test --project "{B}" {classes("IntTests")}',
    ),
    ("MSTest", f"dotnet test {A}", [FOO], {A: project("MSTest")}, V),
    ("MSTest SDK", f"dotnet test {A}", [FOO], {A: '<Project Sdk="MSTest.Sdk/3.6.0"></Project>'}, V),
    ("NUnit", f"dotnet test {A}", [FOO], {A: project("NUnit", "NUnit3TestAdapter", "Microsoft.NET.Test.Sdk")}, V),
    (
        "framework of the folder",
        f"dotnet test {A}",
        [FOO],
        {A: project(), "tests/Directory.Build.props": project("xunit.v3", "xunit.runner.visualstudio")},
        f"dotnet test {A} {classes('FooTests')}",
    ),
    (
        "global.json with comments",
        f"dotnet test {A}",
        [FOO],
        {"global.json": '\ufeff// c\n{"test": {"runner": /* x */ "microsoft.testing.platform", }, }'},
        f"dotnet test {A} {classes('FooTests')}",
    ),
    ("chain", CHAIN, [INT], {}, f"dotnet test {B} -c Release {classes('IntTests')}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "files", "tree", "expected"), [row[1:] for row in PLATFORM], ids=[row[0] for row in PLATFORM]
)
def test_the_platform_narrows(
    tmp_path: Path, command: str, files: list[str], tree: dict[str, str], expected: str
) -> None:
    found = narrow(tmp_path, command, files, {"global.json": MTP, **tree})
    assert isinstance(found, Narrowed), found
    assert found.command == expected
    assert found.zero_guard == "count-or-exit"


ONLY_MTP = [
    ("solution", "dotnet test App.sln", {}, "runs a solution"),
    ("unreadable global.json", f"dotnet test {A}", {"global.json": "{"}, "global.json cannot be read"),
    ("unknown runner", f"dotnet test {A}", {"global.json": '{"test":{"runner":"Mine"}}'}, "not known"),
    ("strange global.json", f"dotnet test {A}", {"global.json": '{"test":["x"]}'}, "not known"),
    ("TUnit", f"dotnet test {A}", {A: project("TUnit")}, "no known filter"),
    ("xunit 2", f"dotnet test {A}", {A: project("xunit", "YTest.MTP.XUnit2")}, "no known filter"),
    ("no framework", f"dotnet test {A}", {A: project()}, "no known filter"),
    ("two frameworks", f"dotnet test {A}", {A: project("xunit.v3", "MSTest")}, "no known filter"),
    (
        "framework by hearsay",
        f"dotnet test {A}",
        {"tests/Directory.Build.props": project("TUnit")},
        "no known filter",
    ),
    ("unreadable project", f"dotnet test {A}", {A: "<Project>"}, "cannot be read"),
    (
        "ignored in the project",
        f"dotnet test {A}",
        {A: project("xunit.v3", properties="<X>--ignore-exit-code 8</X>")},
        "ignore an exit code",
    ),
    (
        "ignored by a property that is referenced",
        f"dotnet test {A}",
        {
            "Directory.Build.props": "<Project><PropertyGroup><MtpExtraArgs>--ignore-exit-code 8</MtpExtraArgs>"
            "</PropertyGroup></Project>"
        },
        "Directory.Build.props makes",
    ),
    (
        "ignored by targets",
        f"dotnet test {A}",
        {"tests/Directory.Build.targets": "<Project><X>TESTINGPLATFORM_EXITCODE_IGNORE</X></Project>"},
        "ignore an exit code",
    ),
    (
        "ignored by testconfig.json",
        f"dotnet test {A}",
        {"tests/A.Tests/A.Tests.testconfig.json": '{"x":{"ignore-exit-code":"8"}}'},
        "ignore an exit code",
    ),
    (
        "ignored by the launch settings",
        f"dotnet test {A}",
        {"tests/A.Tests/Properties/launchSettings.json": '{"TESTINGPLATFORM_EXITCODE_IGNORE":"8"}'},
        "ignore an exit code",
    ),
    (
        "filter of the project",
        f"dotnet test {A}",
        {A: project("xunit.v3", properties="<TestingPlatformCommandLineArguments>--filter-trait a=b</TestingPlatformCommandLineArguments>")},
        "a filter already",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("command", "tree", "reason"), [row[1:] for row in ONLY_MTP], ids=[row[0] for row in ONLY_MTP])
def test_the_platform_runs_whole(tmp_path: Path, command: str, tree: dict[str, str], reason: str) -> None:
    found = narrow(tmp_path, command, tree={"global.json": MTP, **tree})
    assert isinstance(found, str) and reason in found, found


def test_an_ignored_exit_code_of_the_environment_counts_for_the_platform_only(tmp_path: Path) -> None:
    env = {"TESTINGPLATFORM_EXITCODE_IGNORE": "8"}
    assert isinstance(narrow(tmp_path, f"dotnet test {A}", env=env), Narrowed)
    found = narrow(tmp_path, f"dotnet test {A}", tree={"global.json": MTP}, env=env)
    assert isinstance(found, str) and "is set" in found
    blank = narrow(tmp_path, f"dotnet test {A}", env={"TESTINGPLATFORM_EXITCODE_IGNORE": ""})
    assert isinstance(blank, Narrowed)


def test_the_environment_of_the_process_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTINGPLATFORM_EXITCODE_IGNORE", "8")
    found = dotnet.narrow(build(tmp_path, {"global.json": MTP}), ".", f"dotnet test {A}", [FOO])
    assert isinstance(found, str) and "is set" in found


def test_global_json_is_looked_for_above_the_node(tmp_path: Path) -> None:
    found = narrow(tmp_path, "dotnet test", tree={"global.json": MTP}, cwd="tests/A.Tests")
    assert isinstance(found, Narrowed)
    assert found.command == f'dotnet test --project "A.Tests.csproj" {classes("FooTests")}'


def test_the_nearest_global_json_decides(tmp_path: Path) -> None:
    found = narrow(tmp_path, "dotnet test", tree={"global.json": MTP, "tests/global.json": "{}"}, cwd="tests/A.Tests")
    assert isinstance(found, Narrowed)
    assert found.command == f'dotnet test "A.Tests.csproj" {selected("FooTests")}'


ARGS = "TestingPlatformCommandLineArguments"
FLOOR = f"<{ARGS}>--report-trx --minimum-expected-tests 40</{ARGS}>"
LOWERED = f'"-p:{ARGS}=--report-trx --minimum-expected-tests 1"'
EMPTY = "<Project></Project>"


def test_a_floor_in_one_place_is_lowered_with_all_other_arguments(tmp_path: Path) -> None:
    tree = {"global.json": MTP, A: project("xunit.v3", properties=FLOOR)}
    found = narrow(tmp_path, f"dotnet test {A}", tree=tree)
    assert isinstance(found, Narrowed)
    assert found.command == f"dotnet test {A} {classes('FooTests')} {LOWERED}"
    words = shlex.split(found.command)
    assert words[-1] == f"-p:{ARGS}=--report-trx --minimum-expected-tests 1"


@pytest.mark.parametrize(
    "value", ["--minimum-expected-tests 40", "--minimum-expected-tests=2", "\n  --x --minimum-expected-tests 9 --y\n"]
)
def test_spellings_of_a_floor(tmp_path: Path, value: str) -> None:
    tree = {"global.json": MTP, A: project("xunit.v3", properties=f"<{ARGS}>{value}</{ARGS}>")}
    found = narrow(tmp_path, "dotnet test", tree=tree)
    assert isinstance(found, Narrowed)
    last = shlex.split(found.command)[-1]
    assert last.startswith(f"-p:{ARGS}=") and "1" in last and "40" not in last and "\n" not in last


FLOORS = [
    ("attribute", project("xunit.v3", properties=f'<{ARGS} Condition="true">--minimum-expected-tests 4</{ARGS}>'), {}),
    ("group with a condition", project("xunit.v3", more=f'<PropertyGroup Condition="true">{FLOOR}</PropertyGroup>'), {}),
    ("group with a label", project("xunit.v3", more=f'<PropertyGroup Label="x">{FLOOR}</PropertyGroup>'), {}),
    ("target", project("xunit.v3", more=f'<Target Name="x"><PropertyGroup>{FLOOR}</PropertyGroup></Target>'), {}),
    (
        "choose",
        project("xunit.v3", more=f'<Choose><When Condition="1"><PropertyGroup>{FLOOR}</PropertyGroup></When></Choose>'),
        {},
    ),
    ("local property", project("xunit.v3", properties=FLOOR, attributes=' TreatAsLocalProperty="Other"'), {}),
    ("import", project("xunit.v3", properties=FLOOR, more='<Import Project="x.props" />'), {}),
    ("twice", project("xunit.v3", properties=FLOOR + FLOOR), {}),
    ("referenced", project("xunit.v3", properties=f"{FLOOR}<X>$({ARGS})</X>"), {}),
    ("in another property", project("xunit.v3", properties="<X>--minimum-expected-tests 3</X>"), {}),
    ("also in another property", project("xunit.v3", properties=f"{FLOOR}<X>--minimum-expected-tests 3</X>"), {}),
    ("shared props", project("xunit.v3"), {"Directory.Build.props": f"<Project><PropertyGroup>{FLOOR}</PropertyGroup></Project>"}),
    ("shared props name it", project("xunit.v3", properties=FLOOR), {"tests/Directory.Build.props": f"<Project><PropertyGroup><{ARGS}>-x</{ARGS}></PropertyGroup></Project>"}),
    ("shared targets name it", project("xunit.v3", properties=FLOOR), {"Directory.Build.targets": f"<Project><PropertyGroup><{ARGS}>-x</{ARGS}></PropertyGroup></Project>"}),
    ("shared rsp names it", project("xunit.v3", properties=FLOOR), {"Directory.Build.rsp": f"-p:{ARGS}=x"}),
    ("shared packages name it", project("xunit.v3", properties=FLOOR), {"Directory.Packages.props": f"<Project><PropertyGroup><{ARGS}/></PropertyGroup></Project>"}),
    ("user file names it", project("xunit.v3", properties=FLOOR), {f"{A}.user": f"<Project><PropertyGroup><{ARGS}/></PropertyGroup></Project>"}),
    ("testconfig.json", project("xunit.v3"), {"tests/A.Tests/testconfig.json": '{"minimum-expected-tests": 5}'}),
    ("testconfig.json too", project("xunit.v3", properties=FLOOR), {"tests/A.Tests/testconfig.json": '{"minimumExpectedTests": 5}'}),
    *(
        (f"value with {sign}", project("xunit.v3", properties=f"<{ARGS}>--minimum-expected-tests 4 a{sign}b</{ARGS}>"), {})
        for sign in ("$(X)", ";", ",", "'", '"', "`", "\\", "!", "@", "%20", "&amp;", "\n", "$")
    ),
    ("CDATA", project("xunit.v3", properties=f"<{ARGS}><![CDATA[--minimum-expected-tests 4]]></{ARGS}>"), {}),
    ("no number", project("xunit.v3", properties=f"<{ARGS}>--minimum-expected-tests many</{ARGS}>"), {}),
    ("two numbers", project("xunit.v3", properties=f"<{ARGS}>--minimum-expected-tests 4 --minimum-expected-tests 5</{ARGS}>"), {}),
    ("other case", project("xunit.v3", properties=f"<{ARGS.lower()}>--minimum-expected-tests 4</{ARGS.lower()}>"), {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tree"), [row[1:] for row in FLOORS], ids=[row[0] for row in FLOORS])
def test_a_floor_of_any_other_form_runs_whole(tmp_path: Path, text: str, tree: dict[str, str]) -> None:
    found = narrow(tmp_path, f"dotnet test {A}", tree={"global.json": MTP, A: text, **tree})
    assert isinstance(found, str) and "floor" in found, found


def test_a_floor_above_the_repository_runs_whole(tmp_path: Path) -> None:
    (tmp_path / "Directory.Build.props").write_text(f"<Project><PropertyGroup>{FLOOR}</PropertyGroup></Project>")
    root = tmp_path / "repo"
    root.mkdir()
    assert "floor" in str(narrow(root, f"dotnet test {A}", tree={"global.json": MTP}))


def test_a_floor_under_vstest_runs_whole(tmp_path: Path) -> None:
    assert "VSTest runs it" in str(
        narrow(tmp_path, f"dotnet test {A}", tree={A: project("xunit.v3", properties=FLOOR)})
    )


def test_a_floor_where_a_link_runs_several_projects_runs_whole(tmp_path: Path) -> None:
    tree = {"global.json": MTP, A: project("xunit.v3", properties=FLOOR)}
    assert "more than one project" in str(narrow(tmp_path, "dotnet test", [FOO, INT], tree))


def test_a_floor_where_the_command_sets_the_arguments_runs_whole(tmp_path: Path) -> None:
    tree = {"global.json": MTP, A: project("xunit.v3", properties=FLOOR)}
    assert "sets the same arguments" in str(narrow(tmp_path, f"dotnet test {A} -p:{ARGS}=--report-trx", tree=tree))


def test_a_floor_of_a_link_that_leaves_the_chain_does_not_matter(tmp_path: Path) -> None:
    tree = {"global.json": MTP, A: project("xunit.v3", properties=FLOOR)}
    assert isinstance(narrow(tmp_path, CHAIN, [INT], tree), Narrowed)


@pytest.mark.parametrize("path", [A, f"{A}.user", "Directory.Build.props", "Directory.Build.rsp"])
def test_a_declared_vstest_filter_runs_whole(tmp_path: Path, path: str) -> None:
    text = project("xunit", properties="<VSTestTestCaseFilter>Category=x</VSTestTestCaseFilter>")
    assert "VSTestTestCaseFilter" in str(narrow(tmp_path, f"dotnet test {A}", tree={path: text}))


CHOOSES = (
    "<RunSettings><RunConfiguration><TestCaseFilter>Category!=Slow</TestCaseFilter></RunConfiguration></RunSettings>"
)


@pytest.mark.parametrize(
    "option", ["-s ci/a.runsettings", "--settings ci/a.runsettings", "--settings:ci/a.runsettings"]
)
def test_run_settings_of_the_command_that_choose_tests_run_whole(tmp_path: Path, option: str) -> None:
    found = narrow(tmp_path, f"dotnet test {A} {option}", tree={"ci/a.runsettings": CHOOSES})
    assert isinstance(found, str) and "ci/a.runsettings chooses tests" in found
    plain = narrow(tmp_path, f"dotnet test {A} {option}", tree={"ci/a.runsettings": "<RunSettings />"})
    assert isinstance(plain, Narrowed)


def test_run_settings_of_the_project_that_choose_tests_run_whole(tmp_path: Path) -> None:
    text = project(
        "xunit", properties="<RunSettingsFilePath>$(MSBuildThisFileDirectory)../a.runsettings</RunSettingsFilePath>"
    )
    found = narrow(tmp_path, f"dotnet test {A}", tree={A: text, "tests/a.runsettings": CHOOSES})
    assert isinstance(found, str) and "tests/a.runsettings chooses tests" in found
    assert isinstance(narrow(tmp_path, f"dotnet test {A}", tree={"tests/a.runsettings": CHOOSES}), Narrowed)


@pytest.mark.parametrize("word", ["--no-build", "-p:NoBuild=true"])
def test_a_link_that_builds_for_a_later_one_is_not_left_out(tmp_path: Path, word: str) -> None:
    found = narrow(tmp_path, f"dotnet test {A} && dotnet test {B} {word}", [INT])
    assert isinstance(found, str) and "may build" in found
    assert isinstance(narrow(tmp_path, f"dotnet test {A} && dotnet test {B} {word}", [FOO]), Narrowed)
    assert isinstance(narrow(tmp_path, f"dotnet test {A} {word} && dotnet test {B} {word}", [INT]), Narrowed)


def test_a_project_named_from_the_root_of_the_disk(tmp_path: Path) -> None:
    found = narrow(tmp_path, f"dotnet test {tmp_path}/{A}")
    assert isinstance(found, Narrowed)
    assert found.command == f"dotnet test {tmp_path}/{A} {selected('FooTests')}"


def test_the_platform_behind_vstest_takes_no_filter(tmp_path: Path) -> None:
    text = project("xunit.v3", properties="<TestingPlatformDotnetTestSupport>true</TestingPlatformDotnetTestSupport>")
    assert "in place of VSTest" in str(narrow(tmp_path, f"dotnet test {A}", tree={A: text}))
    assert isinstance(narrow(tmp_path, f"dotnet test {A}", tree={A: text, "global.json": MTP}), Narrowed)


# what is shown, files of the slice, more of the tree, part of the reason
FILES: list[tuple[str, list[str], dict[str, str], str]] = [
    ("abstract class", [FOO], {FOO: suite("FooTests").replace("sealed", "abstract")}, "abstract type `FooTests`"),
    ("abstract base beside", [FOO], {FOO: suite("FooTests") + "internal abstract partial class Base { }"}, "abstract"),
    ("abstract record", [FOO], {FOO: suite("FooTests") + "public abstract record Base;"}, "abstract"),
    ("helper", [FOO, HELPER], {}, "FakeClock.cs holds no test attribute"),
    ("helper alone", [HELPER], {}, "FakeClock.cs holds no test attribute"),
    ("custom attribute", [FOO], {FOO: suite("FooTests", "SkippableFact")}, "no test attribute"),
    ("alias", [FOO], {FOO: "using F = Xunit.FactAttribute;" + suite("FooTests", "F")}, "no test attribute"),
    ("attribute in a comment", [FOO], {FOO: "class FooTests { // [Fact]\n void A() { } }"}, "no test attribute"),
    ("attribute in a string", [FOO], {FOO: 'class FooTests { string a = @"\n[Fact]\npublic"; }'}, "no test attribute"),
    ("only under a condition", [FOO], {FOO: "class T {\n#if NEVER\n[Fact] void A() { }\n#endif\n}"}, "`#if`"),
    ("snapshot", [FOO, "tests/A.Tests/X.verified.txt"], {"tests/A.Tests/X.verified.txt": ""}, "is no C#"),
    ("bunit", [FOO, "tests/A.Tests/X.razor"], {"tests/A.Tests/X.razor": ""}, "is no C#"),
    ("gherkin", [FOO, "tests/A.Tests/X.feature"], {"tests/A.Tests/X.feature": ""}, "is no C#"),
    ("data in a folder", [FOO, "tests/A.Tests/Data/x.json"], {"tests/A.Tests/Data/x.json": ""}, "is no C#"),
    ("the project itself", [FOO, A], {}, "is no C#"),
    (
        "data of another test project below the node",
        [FOO, "tests/B.Tests/x.json"],
        {"tests/B.Tests/x.json": ""},
        "is no C#",
    ),
    (
        "F# test project",
        [FOO, "tests/F.Tests/T.fs"],
        {"tests/F.Tests/F.Tests.fsproj": project("Expecto"), "tests/F.Tests/T.fs": ""},
        "is no C#",
    ),
    (
        "razor that reads like a test",
        [FOO, "src/App/X.razor"],
        {"src/App/X.razor": "@inherits BunitContext\n@code { [Fact] public void A() { } }"},
        "reads like a test",
    ),
    (
        "VB that reads like a test",
        [FOO, "other/T.vb"],
        {"other/T.vb": "Public Class T\n    <Fact>\n    Public Sub A()"},
        "reads like a test",
    ),
    ("F# that reads like a test", [FOO, "other/T.fs"], {"other/T.fs": "[<Fact>]\nlet a () = ()"}, "reads like a test"),
    (
        "F# by its name",
        [FOO, "other/CartTests.fs"],
        {"other/CartTests.fs": "let a () = ()"},
        "reads like a test",
    ),
    (
        "a test that no project holds",
        [FOO, "loose/LooseTests.cs"],
        {"loose/LooseTests.cs": suite("LooseTests")},
        "no project is known to hold it",
    ),
    (
        "Directory.Build.props below the node",
        [FOO, "tests/Directory.Build.props"],
        {"tests/Directory.Build.props": EMPTY},
        "decides how the suites",
    ),
    ("run settings", [FOO, "ci.runsettings"], {"ci.runsettings": ""}, "decides how the suites"),
    ("comment without end", [FOO], {FOO: suite("FooTests") + "/* x"}, "comment without its end"),
    ("literal without end", [FOO], {FOO: suite("FooTests") + 'class B { string a = "x\n; }'}, "literal without its end"),
    ("char without end", [FOO], {FOO: suite("FooTests") + "class B { char a = 'xy'; }"}, "literal without its end"),
    ("raw without end", [FOO], {FOO: suite("FooTests") + 'class B { string a = """x"; }'}, "literal without its end"),
    ("braces", [FOO], {FOO: suite("FooTests") + "}"}, "braces"),
    ("open brace", [FOO], {FOO: suite("FooTests") + "class B {"}, "braces"),
    (
        "hole cut by quotes",
        [FOO],
        {FOO: suite("FooTests") + 'class B { string a(D d) => $"{d["k"]}"; }'},
        "quotes or braces cut in two",
    ),
    ("comment like a declaration", [FOO], {FOO: "// the class under test\n" + suite("FooTests")}, "word `class` at line 1"),
    ("string like one", [FOO], {FOO: suite("FooTests") + 'class B { string a = "a record player"; }'}, "word `record`"),
    (
        "constraint before a word",
        [FOO],
        {FOO: suite("FooTests") + "class B<T, U> where T : class where U : new() { }"},
        "word `class`",
    ),
    ("constraint before a comment", [FOO], {FOO: suite("FooTests") + "class B<T> where T : class // n\n{ }"}, "word"),
    ("record with", [FOO], {FOO: suite("FooTests") + "class B { X a(X record) => record with { A = 1 }; }"}, "`record`"),
    ("directive before the name", [FOO], {FOO: suite("FooTests") + "class\n#if X\nB\n#endif\n{ }"}, "word `class`"),
    ("comment before the name", [FOO], {FOO: suite("FooTests") + "class /* x */ B { }"}, "word `class`"),
    ("name beyond ASCII", [FOO], {FOO: suite("AçãoTests")}, "plain letters"),
    ("escaped name", [FOO], {FOO: suite("\\u0041Tests")}, "word `class`"),
    ("no type", [FOO], {FOO: "using Xunit;\n[Fact] void A() { }"}, "no type"),
    ("production only", ["src/App/Clock.cs"], {}, "no link of the command compiles a test file"),
    ("nothing", [], {}, "no link of the command compiles a test file"),
    ("other project only", [INT], {}, "no link of the command compiles a test file"),
    (
        "helper of a project that is built on",
        [FOO, "tests/B.Tests/Fake.cs"],
        {"tests/B.Tests/Fake.cs": "class Fake { }", A: project("xunit", more=r'<ItemGroup><ProjectReference Include="..\B.Tests\B.Tests.csproj" /></ItemGroup>')},
        "may be used by the tests of",
    ),
    (
        "files chosen by properties",
        [FOO],
        {A: project("xunit", more='<ItemGroup><Compile Remove="$(Left)" /></ItemGroup>')},
        "cannot be told",
    ),
    (
        "file taken out",
        [FOO],
        {A: project("xunit", more='<ItemGroup><Compile Remove="**/Foo*.cs" /></ItemGroup>')},
        "cannot be told",
    ),
    (
        "files listed by hand",
        [FOO],
        {A: project("xunit", properties="<EnableDefaultCompileItems>false</EnableDefaultCompileItems>")},
        "cannot be told",
    ),
]  # fmt: skip


@pytest.mark.parametrize("platform", [False, True], ids=["vstest", "mtp"])
@pytest.mark.parametrize(("files", "tree", "reason"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
def test_files_that_run_the_node_whole(
    tmp_path: Path, files: list[str], tree: dict[str, str], reason: str, platform: bool
) -> None:
    found = narrow(tmp_path, f"dotnet test {A}", files, {**({"global.json": MTP} if platform else {}), **tree})
    assert isinstance(found, str) and reason in found, found


# what is shown, files, tree, types that are selected
TYPES: list[tuple[str, list[str], dict[str, str], list[str]]] = [
    ("nested", [FOO], {FOO: "class Outer { class Inner { [Fact] void A() { } } }"}, ["Outer", "Inner"]),
    (
        "all kinds",
        [FOO],
        {FOO: suite("FooTests") + "record R(int X); record struct S; record class C; readonly struct V { } interface I { }"},
        ["FooTests", "R", "S", "C", "V", "I"],
    ),
    ("mark of byte order", [FOO], {FOO: "\ufeff" + suite("FooTests")}, ["FooTests"]),
    ("no namespace", [FOO], {FOO: "class FooTests { [Fact] void A() { } }"}, ["FooTests"]),
    ("generic", [FOO], {FOO: "class FooTests<T> where T : class { [Fact] void A() { } }"}, ["FooTests"]),
    ("constraints", [FOO], {FOO: "class FooTests<T, U> where T : class, new() where U : struct { [Fact] void A() { } }"}, ["FooTests"]),
    ("verbatim name", [FOO], {FOO: "class @FooTests { [Fact] void A() { } }"}, ["FooTests"]),
    *(
        (attribute, [FOO], {FOO: suite("FooTests", attribute)}, ["FooTests"])
        for attribute in (
            "Fact", "FactAttribute", "Xunit.Fact", "global::Xunit.FactAttribute", 'Fact(Skip = "x, [y]")', "Theory",
            "Test", "TestMethod", "DataTestMethod", "TestCase(1, 2)", "TestCaseSource(nameof(X))", "method: Fact",
            'Trait("a", "b"), Fact', "Fact,", 'Trait("a", "b")]\n    [Fact', "Fact] // why\n    [Obsolete",
        )
        if attribute != "Fact,"
    ),
    (
        "linked source",
        [FOO, "shared/SharedTests.cs"],
        {"shared/SharedTests.cs": suite("SharedTests"), A: project("xunit.v3", more=r'<ItemGroup><Compile Include="..\..\shared\*.cs" /></ItemGroup>')},
        ["FooTests", "SharedTests"],
    ),
    (
        "helper of a test project that is not built on",
        [FOO, "tests/B.Tests/Fake.cs"],
        {"tests/B.Tests/Fake.cs": "class Fake { }"},
        ["FooTests"],
    ),
    ("component of the application", [FOO, "src/App/X.razor"], {"src/App/X.razor": "<h1>Test</h1>"}, ["FooTests"]),
    ("a page beside", [FOO, "docs/guide.md", "web/a.test.ts"], {"docs/guide.md": "", "web/a.test.ts": ""}, ["FooTests"]),
]  # fmt: skip


@pytest.mark.parametrize("platform", [False, True], ids=["vstest", "mtp"])
@pytest.mark.parametrize(("files", "tree", "types"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES])
def test_types_that_are_selected(
    tmp_path: Path, files: list[str], tree: dict[str, str], types: list[str], platform: bool
) -> None:
    found = narrow(tmp_path, f"dotnet test {A}", files, {**({"global.json": MTP} if platform else {}), **tree})
    assert isinstance(found, Narrowed), found
    assert list(found.selectors) == types
    assert all(name in found.command for name in types)


NO_SECTION = [
    "Env[] all = [\n    Env.Test,\n    Env.Dev,\n];",
    "Env[] all =\n    [Env.Test, Env.Dev];",
    "Env[][] all = [\n    [Env.Test, Env.Dev],\n    [Env.Test],\n];",
    'Env[] all = [\n    Test("a"),\n];',
    "bool A(Env[] e) => e switch {\n    [Env.Test] or [Env.Dev] => true,\n    [Test] => true,\n    _ => false };",
    "D d = new() {\n    [Env.Test] = 1,\n    [Fact] = 2 };",
    "int A(int[] x) => x[Test];",
    "void A([Test] int x) { }",
    "void A(\n        [Test] int x) { }",
    "bool A(Env[] e) => e is\n    [Test] found;",
    "bool A(Env[] e) => e switch {\n    [Fact] when e.Any() => true,\n    [_, Test] and [Fact, _] => true,\n    _ => false };",
]


@pytest.mark.parametrize("code", NO_SECTION)
def test_what_is_no_attribute_section_makes_no_test_file(tmp_path: Path, code: str) -> None:
    found = narrow(tmp_path, f"dotnet test {A}", [HELPER], {HELPER: f"class Helper {{\n    {code}\n}}"})
    assert isinstance(found, str) and "no test attribute" in found


def test_the_owner_is_the_project_of_a_link_and_not_the_folder_of_the_node(tmp_path: Path) -> None:
    command = "dotnet test A.Tests.csproj && dotnet test --project ../B.Tests/B.Tests.csproj"
    found = narrow(tmp_path, command, [INT], cwd="tests/A.Tests")
    assert isinstance(found, Narrowed)
    assert found.command == f"dotnet test --project ../B.Tests/B.Tests.csproj {selected('IntTests')}"


def test_a_link_without_project_takes_the_project_of_its_folder(tmp_path: Path) -> None:
    found = narrow(tmp_path, "dotnet test", [BAR], cwd="tests/A.Tests")
    assert isinstance(found, Narrowed)
    assert found.command == f'dotnet test "A.Tests.csproj" {selected("BarTests")}'


def test_of_two_projects_in_a_folder_the_first_by_name_is_the_owner(tmp_path: Path) -> None:
    tree = {"tests/A.Tests/Z.csproj": project("xunit")}
    assert isinstance(narrow(tmp_path, f"dotnet test {A}", tree=tree), Narrowed)
    assert "no link" in str(narrow(tmp_path, "dotnet test tests/A.Tests/Z.csproj", tree=tree))


def test_the_nearest_project_is_the_owner(tmp_path: Path) -> None:
    inner = "tests/A.Tests/Sub/C.Tests.csproj"
    found = narrow(tmp_path, f"dotnet test {A} && dotnet test {inner}", [BAR], {inner: project("xunit")})
    assert isinstance(found, Narrowed)
    assert found.command == f"dotnet test {inner} {selected('BarTests')}"


def test_a_solution_reaches_what_it_lists_beyond_the_folder_of_the_node(tmp_path: Path) -> None:
    listed = (
        'Project("{9A19103F-16F7-4668-BE54-9A1E7A4F7556}") = "B.Tests", "..\\tests\\B.Tests\\B.Tests.csproj", "{X}"\n'
    )
    tree = {"src/All.sln": listed}
    found = narrow(tmp_path, "dotnet test All.sln", [INT], tree, cwd="src")
    assert isinstance(found, Narrowed)
    assert found.command == f'dotnet test "../tests/B.Tests/B.Tests.csproj" {selected("IntTests")}'
    assert "no link" in str(narrow(tmp_path, "dotnet test All.sln", [FOO], tree, cwd="src"))


@pytest.mark.parametrize("folder", ["tests/My Tests", "tests/a$b", "tests/it's", 'tests/q"q'])
def test_paths_are_quoted_for_the_shell(tmp_path: Path, folder: str) -> None:
    tree = {f"{folder}/X.Tests.csproj": project("xunit"), f"{folder}/XTests.cs": suite("XTests")}
    found = narrow(tmp_path, "dotnet test", [f"{folder}/XTests.cs"], tree)
    assert isinstance(found, Narrowed)
    assert shlex.split(found.command) == [
        "dotnet", "test", f"{folder}/X.Tests.csproj", "--filter", "FullyQualifiedName~XTests",
    ]  # fmt: skip


def test_a_real_shell_passes_the_words_on(tmp_path: Path) -> None:
    from morph_tasks import proc

    tree = {"global.json": MTP, A: project("xunit.v3", properties=FLOOR)}
    found = narrow(tmp_path, "dotnet test", tree=tree)
    assert isinstance(found, Narrowed)
    stub = tmp_path / "bin" / "dotnet"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    stub.chmod(0o755)
    env = {**os.environ, "PATH": f"{stub.parent}:{os.environ['PATH']}"}
    said = proc.run(["sh", "-c", found.command], cwd=tmp_path, env=env).stdout.decode().splitlines()
    assert said == [
        "test", "--project", A, "--filter-class", "*FooTests*", f"-p:{ARGS}=--report-trx --minimum-expected-tests 1",
    ]  # fmt: skip


def test_projects_that_a_condition_on_the_name_makes_tests(tmp_path: Path) -> None:
    item = '<PackageReference Include="xunit" Version="1" />'
    condition = "$(MSBuildProjectName.EndsWith('Tests'))"
    tree = {
        "Directory.Build.props": f'<Project><ItemGroup Condition="{condition}">{item}</ItemGroup></Project>',
        "src/App/Other.cs": "class Other { }",
    }
    assert isinstance(narrow(tmp_path, "dotnet test", [FOO, "src/App/Other.cs"], tree), Narrowed)
    tree["Directory.Build.props"] = f"<Project><ItemGroup>{item}</ItemGroup></Project>"
    assert "no test attribute" in str(narrow(tmp_path, "dotnet test", [FOO, "src/App/Other.cs"], tree))


def test_a_slice_with_more_types_than_a_command_holds_runs_whole(tmp_path: Path) -> None:
    text = suite("FooTests") + "".join(f"class {'T' * 90}{number} {{ }}\n" for number in range(1200))
    assert "more types" in str(narrow(tmp_path, f"dotnet test {A}", tree={FOO: text}))


@pytest.mark.parametrize(
    ("cwd", "command", "path", "expected"),
    [
        (".", f"dotnet test {A}", FOO, True),
        (".", f"dotnet test {A}", INT, False),
        (".", f"dotnet test {A}", "src/App/Clock.cs", False),
        (".", f"dotnet test {A}", "tests/A.Tests/x.json", True),
        (".", f"dotnet test {A}", "tests/A.Tests/Gone.cs", True),
        (".", CHAIN, INT, True),
        ("tests/A.Tests", "dotnet test ../B.Tests/B.Tests.csproj", INT, True),
        ("tests/A.Tests", "dotnet test ../B.Tests/B.Tests.csproj", FOO, False),
        ("tests/A.Tests", "dotnet test", FOO, True),
        ("tests/A.Tests", "dotnet test", INT, False),
        ("src", "dotnet test ../App.sln", INT, False),
        ("src", "dotnet test ../Missing.sln", INT, None),
        ("src", "dotnet test ../Missing.sln", "web/a.ts", False),
        (".", "npm test", FOO, None),
        (".", "dotnet test Z.csproj", FOO, None),
        (".", f"dotnet test {A} && echo x", FOO, None),
        (".", f"dotnet test {A}", "tests", True),
        (".", f"dotnet test {A}", "tests/A.Tests/Sub", True),
        (".", f"dotnet test {A}", "tests/B.Tests", False),
        (".", f"dotnet test {A}", "src", False),
    ],
)
def test_owns(tmp_path: Path, cwd: str, command: str, path: str, expected: bool | None) -> None:
    listed = 'Project("{F}") = "A", "tests\\A.Tests\\A.Tests.csproj", "{X}"\n'
    assert dotnet.owns(build(tmp_path, {"App.sln": listed}), cwd, command, path) is expected


def test_owns_cannot_tell_where_files_are_chosen_by_properties(tmp_path: Path) -> None:
    text = project("xunit", more='<ItemGroup><Compile Include="$(Shared)/*.cs" /></ItemGroup>')
    root = build(tmp_path, {A: text})
    assert dotnet.owns(root, ".", f"dotnet test {A}", "shared/X.cs") is None
    assert dotnet.owns(root, ".", f"dotnet test {A}", FOO) is True
