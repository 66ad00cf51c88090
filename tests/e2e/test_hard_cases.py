"""What must never happen: a traceback, a green that nothing stands behind, a hang, something left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import Project, runs


def _with(project: Project, *tests: dict[str, Any], **more: Any) -> None:
    """Declare test nodes and start the feature."""
    project.config(project={"tests": [{"id": "t", "runner": "none", **test} for test in tests], **more})
    project.commit("suites")
    _create(project)


def _create(project: Project) -> None:
    assert project.morph("create", "cart", "--type", "feature", "--description", "Cases").code == 0


def _node(document: dict[str, Any], ref: str = "tests/t") -> dict[str, Any]:
    return next(entry for entry in document["runs"] if entry["id"] == ref)


def _counted(command: str = "true") -> str:
    return f"echo run >> .git/runs-of-t; {command}"


# Configurations


_BAD_CONFIGS = (
    ('{"project": {"testTimeoutMs": ' + "9" * 5000 + "}}", "corrupt-file"),
    ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "corrupt-file"),
    ('{"project": {"tests": [{"id": "a", "command": "false"}], "tests": []}}', "corrupt-file"),
    ('{"project": {"testTimeoutMs": NaN}}', "invalid-config"),
    ('{"project": {"tests": [{"id": "a", "command": "echo \\ud800"}]}}', "invalid-config"),
    ('{"project": {"tests": [{"id": "' + "a" * 250 + '", "command": "true"}]}}', "invalid-config"),
    ('{"project": {"tests": [{"id": "a", "command": "' + "a" * 200_000 + '"}]}}', "invalid-config"),
    ('{"project": {"testTimeoutMs": ' + "9" * 400 + "}}", "invalid-config"),
)


def test_a_configuration_that_cannot_be_used_is_refused(project: Project) -> None:
    _with(project, {"command": "true"})
    for text, code in _BAD_CONFIGS:
        project.write(".morph/config/config.json", text)
        said = project.morph("verify", "cart", "--json")
        assert (said.code, said.json["code"]) == (1, code), text[:80]
        assert ".morph/config/config.json" in said.json["message"]


def test_a_glob_that_leads_nowhere_makes_its_node_invalid(project: Project) -> None:
    globs = ["/etc/*", "../**", "a/../../b", "a\0b", "{a,b}" * 20]
    node = {"command": "true", "runner": "none"}
    broken = [
        {**node, "id": f"{option}-{place}", option: [glob]}
        for option in ("inputs", "junit")
        for place, glob in enumerate(globs)
    ]
    odd = [
        {**node, "id": f"odd-{place}", "junit": glob} for place, glob in enumerate(["**foo/x", "r/", "[", "n-*.xml"])
    ]
    builds = [{"id": f"outputs-{place}", "command": "true", "outputs": [glob]} for place, glob in enumerate(globs)]
    project.config(project={"tests": [*broken, *odd, {**node, "id": "good"}], "build": builds})
    _create(project)
    runs = project.verify()["runs"]
    reasons = {entry["id"]: entry["reason"] for entry in runs}
    assert [reasons[f"build/{build['id']}"] for build in builds] == ["invalid-test-node"] * len(globs)
    assert [reasons[f"tests/{test['id']}"] for test in broken] == ["invalid-test-node"] * len(broken)
    assert _node({"runs": runs}, "tests/good")["status"] == "pass"


def test_a_source_file_is_never_taken_for_a_report(project: Project) -> None:
    project.write("pom.xml", "<project/>")
    globs = ["**/*.xml", "{pom,report}.xml", "*.xml", "out/**/*.xml", "reports/"]
    tests = [{"id": f"t{place}", "command": "test -s pom.xml", "junit": glob} for place, glob in enumerate(globs)]
    _with(project, *tests)
    runs = {entry["id"]: entry["reason"] for entry in project.verify()["runs"] if entry["id"].startswith("tests")}
    assert list(runs.values()) == ["invalid-test-node"] * 3 + [None] * 2


def test_inputs_that_match_nothing_are_warned_of_whenever_they_count(project: Project) -> None:
    project.write(".gitignore", "ign/\n")
    project.write("ign/x", "1")
    _with(project, {"command": "true", "inputs": ["scr/**"]}, {"id": "fine", "command": "true", "inputs": ["ign/**"]})
    for _ in range(2):
        said = [line for line in project.verify()["feedback"] if "match no file" in line]
        assert len(said) == 1 and said[0].startswith("[tests/t] ")


def test_builds_in_a_circle_are_red_and_the_rest_is_measured(project: Project) -> None:
    builds = [{"id": "a", "needs": ["c"]}, {"id": "b", "needs": ["a"]}, {"id": "c", "needs": ["b"]}, {"id": "free"}]
    _with(project, {"command": "true"}, build=[{**build, "command": "true"} for build in builds])
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    document = project.verify()
    assert document["exit"] == 1
    assert [_node(document, f"build/{name}")["reason"] for name in "abc"] == ["invalid-test-node"] * 3
    assert any("circle" in line and "build/a" in line for line in document["feedback"])
    assert [_node(document, ref)["status"] for ref in ("build/free", "tests/t")] == ["pass", "pass"]
    assert project.doit("verify:cart").code != 0


def test_a_command_that_cannot_start_is_a_red_node(project: Project) -> None:
    _with(project, {"command": "echo \0"}, {"id": "good", "command": "true"})
    document = project.verify()
    assert _node(document)["reason"] == "command-not-started"
    assert _node(document, "tests/good")["status"] == "pass"


def test_the_runner_is_the_same_from_every_folder(project: Project) -> None:
    project.write("web/package.json", '{"scripts": {"test": "vitest run"}}')
    project.write("web/src/x.ts", "")
    _with(project, {"id": "web", "command": "npm test || true", "cwd": "web", "runner": None})
    document = {folder: project.verify(cwd=project.root / folder) for folder in (".", "web", "web/src")}
    assert {each["nodes"]["tests"]["runs"][0]["runner"] for each in document.values()} == {"vitest"}
    assert len({_node(each, "tests/web")["key"] for each in document.values()}) == 1


# State on disk


def test_a_stamp_that_was_edited_by_hand_is_written_anew(project: Project) -> None:
    _with(project, {"command": "true"})
    project.verify()
    for found in ("x", [1, 2], {"a": 1}, None, [[]]):
        data = project.feature()
        data["verification"]["runs"] = found
        project.write(".morph/features/cart/feature.json", json.dumps(data))
        assert project.verify()["exit"] == 0
        assert [entry["status"] for entry in project.feature()["verification"]["runs"]].count("pass") == 1


def test_a_file_that_is_none_is_refused_and_never_waited_for(project: Project) -> None:
    _with(project, {"command": "true"})
    for name in (".morph/config/config.json", ".morph/features/cart/feature.json"):
        path = project.root / name
        good = path.read_text()
        for make, code in (
            (os.mkfifo, "unreadable-file"), (os.mkdir, "unreadable-file"),
            (lambda path: path.symlink_to("/dev/zero"), "unreadable-file"),
            (lambda path: path.write_text('{"x": ' + "1" * 5000 + "}"), "corrupt-file"),
        ):  # fmt: skip
            path.unlink()
            make(path)
            said = project.morph("verify", "cart", "--json")
            assert (said.code, said.json["code"]) == (1, code)
            assert project.morph("list").code == 0
            path.rmdir() if path.is_dir() else path.unlink()
            path.write_text(good)


def test_a_name_that_no_folder_can_have_is_not_found(project: Project) -> None:
    _with(project, {"command": "true"})
    said = project.morph("verify", "x" * 300, "--json")
    assert (said.code, said.json["code"]) == (2, "feature-not-found")


def test_features_with_long_names_do_not_answer_for_each_other(project: Project) -> None:
    _with(project, {"command": "true"})
    for name in ("n" * 120 + "-one", "n" * 120 + "-two"):
        shutil.copytree(project.root / ".morph/features/cart", project.root / ".morph/features" / name)
    for _ in range(4):
        assert project.verify("n" * 120 + "-one")["exit"] == 0
    assert project.verify("n" * 120 + "-two")["feature"].endswith("-two")


def test_a_clock_that_was_ahead_does_not_decide(project: Project) -> None:
    _with(project, {"command": _counted("test -e .git/good")})
    (project.root / ".git/good").touch()
    assert project.verify()["exit"] == 0
    for path in (project.root / ".git/morph-spec/evidence/tests/t").rglob("*.*"):
        path.rename(path.with_name(path.name.replace("20", "29", 1)))
    assert project.verify()["exit"] == 0
    (project.root / ".git/good").unlink()
    assert project.verify("cart", "--fresh")["exit"] == 1
    assert project.verify()["exit"] == 1
    (project.root / ".git/good").touch()
    assert project.verify()["exit"] == 0
    assert project.verify()["exit"] == 0


def test_a_stray_file_in_the_store_is_no_record(project: Project) -> None:
    _with(project, {"command": "test -e .git/good"})
    (project.root / ".git/good").touch()
    project.verify()
    (record,) = (project.root / ".git/morph-spec/evidence/tests/t").rglob("*.json")
    (project.root / ".git/good").unlink()
    assert project.verify("cart", "--fresh")["exit"] == 1
    shutil.copy(record, record.with_name("zzz-copy.json"))
    assert project.verify()["exit"] == 1


# What commands do


def test_a_node_that_removes_its_log_is_red(project: Project) -> None:
    victims = (".git/morph-spec", ".git/morph-spec/evidence", ".git/morph-spec/evidence/tests/t2")
    tests = [{"id": f"t{place}", "command": f"rm -rf {victim}"} for place, victim in enumerate(victims)]
    _with(project, *tests, {"id": "good", "command": "true"})
    document = project.verify()
    assert document["exit"] == 1
    assert [_node(document, f"tests/t{place}")["reason"] for place in range(3)] == ["log-lost"] * 3
    assert _node(document, "tests/good")["status"] == "pass"


def test_a_verify_inside_a_verify_is_refused_at_once(project: Project) -> None:
    _with(project, {"command": "morph-spec verify cart --json"})
    document = project.verify()
    assert document["exit"] == 1
    assert json.loads(Path(_run_of(document)["log"]).read_text())["code"] == "verify-inside-verify"


def test_a_verify_of_another_tree_may_run_inside(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(project.root, other)
    _with(Project(other), {"command": "true"})
    _with(project, {"command": f"cd {other} && morph-spec verify cart"})
    assert project.verify()["exit"] == 0


def _run_of(document: dict[str, Any]) -> dict[str, Any]:
    return next(entry for entry in document["nodes"]["tests"]["runs"] if entry["id"] == "t")


def test_what_a_node_leaves_running_is_named_as_what_it_is(project: Project) -> None:
    _with(
        project,
        {"command": "for i in 1 2 3 4 5 6 7; do sleep 30713 & done; true"},
        {"id": "daemon", "command": "setsid sleep 30717 > /dev/null 2>&1 < /dev/null & sleep 0.3"},
    )
    document = project.verify()
    warnings = "\n".join(document["feedback"])
    (daemon,) = _pids("sleep 30717")
    os.kill(daemon, 9)
    assert (
        f"[tests/daemon] warning: left its group and still runs: {daemon} sleep; end it with `kill {daemon}`"
        in warnings
    )
    assert "[tests/t] warning: left running and ended by us: " in warnings and "and 2 more" in warnings
    assert not _pids("sleep 30713")


def _inside(folder: Path) -> list[str]:
    """Return the commands of the processes whose folder is this one."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.cwd() == str(folder):
                found.append(" ".join(process.cmdline()))
    return found


def _pids(args: str) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if line.split(None, 1)[1:] == [args]]


# Streams


@pytest.mark.parametrize("program", ["morph-spec verify cart", "morph-spec verify cart --json", "doit verify:cart"])
def test_a_reader_that_is_not_there_changes_nothing(project: Project, program: str) -> None:
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    _with(project, {"command": "true"})
    fresh = " fresh=1" if "doit" in program else " --fresh"
    for ending in ("| head -1", ">&-", "<&- >&- 2>&-", "> /dev/full"):
        for option in (fresh, ""):
            script = f"{program}{option} {ending}; echo ${{PIPESTATUS[0]}} > .git/code"
            done = subprocess.run(["bash", "-c", script], cwd=project.root, capture_output=True, timeout=120)
            lost = ending == "> /dev/full" and "doit" not in program
            assert (project.root / ".git/code").read_text().strip() == ("1" if lost else "0"), (script, done)
            assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr
            assert (b"write-failed" in done.stderr) == lost
    assert project.feature()["verification"]["status"] == "pass"


def test_signs_that_the_terminal_cannot_show(project: Project) -> None:
    _with(project, {"id": "bad", "command": "false", "cwd": "größe"}, {"command": "true"})
    project.write("größe/x", "")
    for encoding in ("ascii", "latin-1"):
        said = project.morph("verify", "cart", PYTHONIOENCODING=encoding)
        assert said.code == 1 and "RED cart" in said.out


def test_where_code_is_imported_from_belongs_to_the_key(python_project: Project, tmp_path: Path) -> None:
    project = python_project
    project.git("mv", "cart", "src")
    project.write("pyproject.toml", "[project]\nname = 'cart'\nversion = '1'\n[tool.pytest.ini_options]\n")
    for folder, body in ((project.root / "src", "sum(prices)"), (tmp_path / "else", "0")):
        (folder / "cart").mkdir(parents=True)
        (folder / "cart/total.py").write_text(f"def total(prices):\n    return {body}\n")
    project.commit("a src layout")
    _create(project)
    before = os.environ.get("PYTHONPATH", "")

    def from_(place: Path) -> dict[str, str]:
        return {"PYTHONPATH": f"{place}:{before}".strip(":")}

    for _ in range(3):
        assert project.morph("verify", "cart", **from_(project.root / "src")).code == 0
    assert project.morph("verify", "cart", **from_(tmp_path / "else")).code == 1
    assert project.morph("verify", "cart", **from_(project.root / "src")).code == 0
    project.commit("the feature")
    tree = tmp_path / "tree"
    project.git("worktree", "add", "-q", "-b", "morph-task/x", str(tree))
    nodes = project.morph("explain", "cart", "--json", cwd=tree, **from_(tree / "src")).json["nodes"]
    assert [node for node in nodes if node["wouldRun"]] == []


# The short way: a settled verify answers from a record of all it rested on


@pytest.fixture
def settled(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    """A feature whose verify has nothing left to do, and nodes that rest on all kinds of things."""
    for version in ("one", "two"):
        for name in ("tool", "home/bin/mine"):
            path = tmp_path / version / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\necho {version}\n")
            path.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tool").symlink_to(tmp_path / "one/tool")
    for place in ("shims", "versions/3.11.1/bin"):
        (tmp_path / "pyenv" / place).mkdir(parents=True)
        shutil.copy(tmp_path / "one/tool", tmp_path / "pyenv" / place / "shimmed")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{tmp_path / 'pyenv/shims'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "one/home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(Path(os.environ["XDG_CONFIG_HOME"]).parent / ".gitconfig"))
    monkeypatch.setenv("SETTING", "1")
    project.write(".gitignore", "*.ign\nout/\n.venv/\nnode_modules/\n.env\nbox/\nempty/\n")
    project.write(".python-version", "3.11\n")
    (project.root / "empty").mkdir()
    for name in ("src/a.py", "src/b.txt", "data/x.ign", "box/y", ".env", "package.json", "requirements.txt"):
        project.write(name, "{}")
    site = project.root / ".venv/lib/python3.11/site-packages"
    (site / "foo-1.dist-info").mkdir(parents=True)
    project.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    (project.root / ".venv/bin").mkdir()
    (project.root / ".venv/bin/python").symlink_to(shutil.which("python3", path="/usr/bin:/bin") or "")
    project.write("node_modules/.package-lock.json", json.dumps({"packages": {"node_modules/a": {"version": "1"}}}))
    build = {"id": "made", "command": "mkdir -p out && cp src/b.txt out/o.txt", "outputs": ["out/*.txt"]}
    _with(
        project,
        {"id": "whole", "command": "true", "env": ["SETTING"]},
        {"id": "tools", "command": "tool; ~/bin/mine"},
        {"id": "shim", "command": "shimmed"},
        {"id": "python", "command": ".venv/bin/python -c 1"},
        {"id": "system", "command": "/usr/bin/python3 -c 1"},
        {"id": "some", "command": "true", "inputs": ["src/**", ".env", "box/**", "data/*.ign"]},
        {"id": "folder", "command": "true", "cwd": "empty"},
    )
    _edit(_config(project.root), lambda data: data["project"].update(build=[build]))
    project.commit("all kinds of things")
    _settle(project)
    return project


def _settle(project: Project) -> None:
    for _ in range(5):
        assert project.verify()["exit"] == 0
        if _answers_at_once(project):
            return
    raise AssertionError("it never came to rest")


def _answers_at_once(project: Project) -> bool:
    """Tell whether the short way would answer; asks it, and writes nothing."""
    code = "import sys; from morph_tasks.verify.witness import settled; sys.exit(settled('cart') is None)"
    return subprocess.run([sys.executable, "-c", code], cwd=project.root).returncode == 0


def _edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def _same_stat(path: Path, text: str) -> None:
    about = path.stat()
    path.write_text(text)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def _swap(one: Path, other: Path) -> None:
    third = one.with_name("third")
    one.rename(third)
    other.rename(one)
    third.rename(other)


def _relink(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


def _view(root: Path) -> Path:
    return root / ".morph/evidence/cart/tests/whole.json"


def _record(root: Path) -> Path:
    return max(
        (root / ".git/morph-spec/evidence/tests/whole" / json.loads(_view(root).read_text())["key"]).glob("*.json")
    )


def _feature(root: Path) -> Path:
    return root / ".morph/features/cart/feature.json"


def _config(root: Path) -> Path:
    return root / ".morph/config/config.json"


def _git(root: Path, *args: str) -> None:
    Project(root).git(*args)


# change of the tree at `root` -> the nodes that have to run again, None when the verify is refused or red
_CHANGES: dict[str, tuple[Callable[[Path], Any], set[str] | None]] = {
    "nothing": (lambda root: None, set()),
    "a touch": (lambda root: (root / "src/a.py").touch(), set()),
    "staged": (lambda root: _git(root, "add", "-A"), set()),
    "an ignored file nobody names": (lambda root: (root / "z.ign").write_text("1"), set()),
    "same size and time": (lambda root: _same_stat(root / "src/a.py", "[]"), {"whole", "some", "folder", "tools"}),
    "two files swapped": (lambda root: _swap(root / "src/a.py", root / "requirements.txt"), {"whole", "some"}),
    "a mode": (lambda root: (root / "src/a.py").chmod(0o755), {"whole", "some"}),
    "case of a name": (lambda root: (root / "src/a.py").rename(root / "src/A.py"), {"whole", "some"}),
    "hidden from git": (
        lambda root: (_git(root, "update-index", "--assume-unchanged", "src/a.py"), (root / "src/a.py").write_text("")),
        {"whole", "some"},
    ),
    "an ignored input": (lambda root: _same_stat(root / ".env", "[]"), {"some"}),
    "an ignored input by pattern": (lambda root: (root / "data/x.ign").write_text("[]"), {"some"}),
    "a new ignored input by pattern": (lambda root: (root / "data/new.ign").write_text("[]"), {"some"}),
    "a new file in an ignored folder": (lambda root: (root / "box/new").write_text("[]"), {"some"}),
    "an output edited": (lambda root: (root / "out/o.txt").write_text("[]"), {"made"}),
    "an output added": (lambda root: (root / "out/p.txt").write_text("[]"), {"made", "whole"}),
    "outputs removed": (lambda root: shutil.rmtree(root / "out"), {"made"}),
    "the folder of a node removed": (lambda root: (root / "empty").rmdir(), None),
    "the folder of a node replaced": (lambda root: ((root / "empty").rmdir(), (root / "empty").symlink_to("/")), None),
    "a newer version behind a shim": (
        lambda root: shutil.copytree(root.parent / "pyenv/versions/3.11.1", root.parent / "pyenv/versions/3.11.2")
        and (root.parent / "pyenv/versions/3.11.2/bin/shimmed").write_text("#!/bin/sh\n"),
        {"shim"},
    ),
    "a tool behind a link": (
        lambda root: _relink(root.parent / "bin/tool", root.parent / "two/tool"),
        {"tools"},
    ),
    "a tool replaced in place": (lambda root: _same_stat(root.parent / "one/tool", "#!/bin/sh\necho 111\n"), {"tools"}),
    "a tool removed": (lambda root: (root.parent / "bin/tool").unlink(), {"tools"}),
    "a package": (lambda root: (root / ".venv/lib/python3.11/site-packages/b-1.dist-info").mkdir(), {"python"}),
    "the first package of a user": (
        lambda root: (root.parent / "one/home/.local/lib/python3.11/site-packages/u-1.dist-info").mkdir(parents=True),
        {"system"},
    ),
    "another version of python": (
        lambda root: (root / ".venv/lib/python3.12/site-packages/c-1.dist-info").mkdir(parents=True),
        {"python"},
    ),
    "npm": (lambda root: (root / "node_modules/.package-lock.json").write_text("{}"), {"whole"}),
    "a lock file": (lambda root: (root / "poetry.lock").write_text("1"), {"whole"}),
    "a configuration that is broken": (lambda root: _config(root).write_text("{"), None),
    "a baseline": (
        lambda root: _edit(_config(root), lambda data: data["project"]["tests"][0].update(expectedCount=4)),
        set(),
    ),
    "a view that says red": (lambda root: _edit(_view(root), lambda data: data.update(status="fail")), set()),
    "a view that says more": (lambda root: _edit(_view(root), lambda data: data.update(count=7)), set()),
    "a view cut short": (lambda root: _view(root).write_text("{"), set()),
    "no views": (lambda root: shutil.rmtree(root / ".morph/evidence"), set()),
    "a record that says red": (lambda root: _edit(_record(root), lambda data: data.update(status="fail")), {"whole"}),
    "a record cut short": (lambda root: _record(root).write_text(""), {"whole"}),
    "no store": (lambda root: shutil.rmtree(root / ".git/morph-spec/evidence"), {"whole", "made", "some"}),
    "a newer record": (
        lambda root: (_record(root).parent / "29991231T000000.000000Z-1.json").write_text(
            _record(root).read_text().replace('"pass"', '"fail"')
        ),
        {"whole"},
    ),
    "no stamp": (lambda root: _edit(_feature(root), lambda data: data.pop("verification")), set()),
    "a red stamp": (
        lambda root: _edit(_feature(root), lambda data: data["verification"].update(status="fail")),
        set(),
    ),
    "an ignored compose file": (
        lambda root: [(root / name).write_text("compose.yml") for name in (".git/info/exclude", "compose.yml")],
        set(),
    ),
    "another owner": (
        lambda root: (
            _git(root, "switch", "-q", "--detach"),
            _git(root, "worktree", "add", "-q", str(root.parent / "wt"), "morph/cart"),
        ),
        set(),
    ),
}  # fmt: skip
_QUIET = {"nothing", "a touch", "staged", "an ignored file nobody names"}
_MENDED = {
    "the folder of a node removed": lambda root: (root / "empty").mkdir(),
    "the folder of a node replaced": lambda root: ((root / "empty").unlink(), (root / "empty").mkdir()),
    "a tool behind a link": lambda root: _relink(root.parent / "bin/tool", root.parent / "one/tool"),
    "a tool removed": lambda root: (root.parent / "bin/tool").symlink_to(root.parent / "one/tool"),
    "a configuration that is broken": lambda root: _git(root, "checkout", "-q", "HEAD", "--", ".morph/config"),
    "a newer record": lambda root: (_record(root).parent / "29991231T000000.000000Z-1.json").unlink(missing_ok=True),
    # The application is asked at every verify: nothing rests as long as there is one.
    "an ignored compose file": lambda root: (root / "compose.yml").unlink(),
}
_OFTEN_WRONG = {
    "nothing", "hidden from git", "an ignored input by pattern", "an output edited", "a tool behind a link",
    "the first package of a user", "a view that says red", "a record that says red", "an ignored compose file",
    "another owner",
}  # fmt: skip


@pytest.mark.parametrize(
    "names",
    [pytest.param(_OFTEN_WRONG, id="often-wrong"), pytest.param(set(_CHANGES), id="all", marks=pytest.mark.soak)],
)
def test_the_short_way_answers_only_what_the_long_way_would(settled: Project, names: set[str]) -> None:
    faults = {}
    for name in (name for name in _CHANGES if name in names):
        change, expected = _CHANGES[name]
        change(settled.root)
        at_once = _answers_at_once(settled)
        document = settled.verify("cart", "--wait", "5")
        ran = {
            entry["id"].split("/")[1]
            for entry in document.get("runs", ())
            if entry["status"] == "pass" and not entry["reused"]
        }
        if at_once != (name in _QUIET):
            faults[name] = f"the short way {'answers' if at_once else 'does not answer'}"
        elif expected is None and document["exit"] == 0:
            faults[name] = "green"
        elif expected is not None and not (expected <= ran if expected else not ran):
            faults[name] = f"ran {sorted(ran)}"
        elif name == "another owner":
            assert (document["persisted"], document["reason"]) == (False, "owner-tree-elsewhere")
            break
        _MENDED.get(name, lambda root: None)(settled.root)
        _settle(settled)
    assert not faults


# Edits while a verify is at work, runs that are killed


def _during(project: Project, where: str, edit: str) -> dict[str, Any]:
    """Verify `cart`, and do an edit just before a function of the tool is called (`module:function`)."""
    module, _, name = where.partition(":")
    script = (
        f"import sys, json\nfrom pathlib import Path\nimport {module} as module\nfrom morph_tasks.verify import facts\n"
        f"facts._TREE_AGE_S = 0.0\nplain = module.{name}\n"
        f"def edited(*args, **more):\n    {edit}\n    return plain(*args, **more)\n"
        f"module.{name} = edited\nfrom morph_tasks.cli.main import main\n"
        "sys.exit(main(['verify', 'cart', '--json', '--wait', '9']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=project.root, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_an_edit_while_the_verdict_is_reached_is_not_stamped(project: Project) -> None:
    _with(project, {"command": _counted()})
    for where in ("morph_tasks.verify.conclude:roll_up", "morph_tasks.verify.conclude:make_stamp"):
        assert _during(project, where, f"Path('README.md').write_text('{where}')")["ok"]
        after = project.verify()
        assert after["repeatOf"] is None and not _node(after)["reused"]


def test_an_edit_of_the_configuration_under_a_settled_verify_is_seen(project: Project) -> None:
    _with(project, {"command": "true"})
    _settle(project)
    shutil.rmtree(project.root / ".git/morph-spec/witness")
    red = json.dumps({"project": {"tests": [{"id": "t", "command": "false"}]}})
    edit = f"Path('.morph/config/config.json').write_text({red!r})"
    assert _during(project, "morph_tasks.verify.engine:run_graph", edit)["ok"]
    assert project.verify()["exit"] == 1


def test_edits_between_nodes_never_end_in_a_stamp_for_other_content(project: Project) -> None:
    project.write("a/x", "1")
    project.write("b/x", "1")
    node = {"id": "a", "command": "echo run >> .git/runs-of-a; test -s a/x", "inputs": ["a/**"]}
    # The second node changes what the first was measured on, the third what it reads itself.
    _with(
        project, node, {"id": "b", "command": "echo 2 > a/x", "inputs": ["b/**"]},
        {"id": "c", "command": "date +%N > b/x", "inputs": ["b/**"]},
    )  # fmt: skip
    document = project.verify()
    assert document["exit"] == 1
    reasons = {name: _node(document, f"tests/{name}")["reason"] for name in "abc"}
    assert reasons == {"a": "inputs-changed", "b": "inputs-changed", "c": "inputs-changed"}
    project.config(project={"tests": [{**node, "runner": "none"}]})
    assert _node(project.verify(), "tests/a")["status"] == "pass"
    assert runs(project, "a") == 2


@pytest.mark.parametrize("program", [("morph-spec", "verify", "cart"), ("doit", "-n", "4", "verify:cart")])
def test_a_run_that_is_killed_outright_holds_nothing(project: Project, program: tuple[str, ...]) -> None:
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    _with(project, {"command": "test -e .git/go || { touch .git/started; sleep 30819; }"})
    process = subprocess.Popen(program, cwd=project.root, stdout=subprocess.DEVNULL, start_new_session=True)
    limit = time.monotonic() + 60
    while not (project.root / ".git/started").exists():
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.01)
    process.kill()
    process.wait()
    (project.root / ".git/go").touch()
    document = project.verify("cart", "--wait", "30")
    assert document["exit"] == 0
    assert not _pids("sleep 30819")
    limit = time.monotonic() + 30
    while found := _inside(project.root):
        assert time.monotonic() < limit, found
        time.sleep(0.05)


@pytest.mark.soak
def test_thirty_runs_killed_at_random_moments(project: Project) -> None:
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    for name in "abc":
        project.write(f"{name}/x", "1")
    tests = [{"id": name, "command": f"sleep 30917 & cat {name}/x", "inputs": [f"{name}/**"]} for name in "abc"]
    _with(project, *tests, build=[{"id": "b", "command": "mkdir -p out && cp a/x out/o", "outputs": ["out/o"]}])
    project.write(".gitignore", "out/\n")
    chosen = random.Random(7)
    programs = [
        ["morph-spec", "verify", "cart"], ["morph-spec", "verify", "cart", "-n", "4"], ["doit", "verify:cart"],
        ["doit", "-n", "2", "verify:cart"], ["doit", "-n", "2", "-P", "thread", "verify:cart"],
    ]  # fmt: skip
    for turn in range(30):
        project.write(f"{'abc'[turn % 3]}/x", f"{turn}\n")
        process = subprocess.Popen(
            chosen.choice(programs), cwd=project.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(chosen.random() * 1.5)
        process.kill()
        process.wait()
        for path in project.root.rglob("*.json"):
            json.loads(path.read_text())
        if turn % 5 == 4:
            assert project.verify("cart", "--wait", "30")["exit"] == 0
            assert not _pids("sleep 30917")
            assert (project.root / "out/o").read_text() == (project.root / "a/x").read_text()


# Places


@pytest.mark.parametrize("name", [b"caf\xe9", b"new\nline", b'it\'s "quoted" `x` $HOME', b"-dash"])
def test_a_repository_at_an_odd_place(tmp_path: Path, name: bytes) -> None:
    project = Project(tmp_path / os.fsdecode(name))
    project.root.mkdir()
    project.git("init", "-q", "-b", "main")
    (project.root / os.fsdecode(b"caf\xe8.py")).write_text("x = 1\n")
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    _with(project, {"command": "printf 'caf\\351'; test -s caf*.py"})
    for _ in range(3):
        document = project.verify()
        assert document["exit"] == 0
        said = [line for line in document["feedback"] if not line.startswith("[validators/reuse]")]  # it has no graph
        assert not any("did not run" in line or "was not checked" in line for line in said)
    assert project.doit("verify:cart", "fresh=1").code == 0


def test_state_that_is_not_what_it_should_be_is_said_in_words(project: Project) -> None:
    _with(project, {"command": "true"})
    state = project.root / ".git/morph-spec"
    for name in ("verify.lock", "evidence", "cache", "live", "fingerprint", "witness", "config-record"):
        project.verify()
        place = state / name
        shutil.rmtree(place) if place.is_dir() else place.unlink()
        place.mkdir() if name in ("verify.lock", "config-record") else place.write_text("junk")
        said = project.morph("verify", "cart", "--fresh", "--json")
        assert said.json.get("code") in (None, "state-unwritable"), (name, said.json)
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert project.verify()["exit"] == 0
