"""Suites in real containers: what goes in, what comes back, and that nothing stays."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import BIN, ROOT, Project

CI = os.environ.get("CI") == "true"
UNIT = {"id": "unit", "runner": "pytest", "command": "python3 -m pytest -q"}


def _missing(why: str) -> None:
    (pytest.fail if CI else pytest.skip)(f"{why}: run scripts/docker-up --test-image")


@pytest.fixture(scope="session")
def engine() -> Any:
    """A client of the real engine."""
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env(timeout=60)
        client.ping()
    except (DockerException, OSError) as error:
        _missing(f"no Docker engine answers ({error})")
    yield client
    client.close()


@pytest.fixture(scope="session")
def image(engine: Any) -> str:
    """The name of a small Debian with Python and pytest."""
    from docker.errors import ImageNotFound

    name = subprocess.run(
        [str(ROOT / "scripts/docker-up"), "--name-test-image"], capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        engine.images.get(name)
    except ImageNotFound:
        _missing(f"the image {name} is not here")
    return name


@pytest.fixture
def containers(engine: Any) -> Iterator[Callable[[Project], list[Any]]]:
    """List the containers of a project's tree; none may be left at the end."""
    asked: dict[Path, Project] = {}

    def of(project: Project) -> list[Any]:
        from morph_tasks.repo.git import open_repo
        from morph_tasks.verify.linux.labels import ROOT as LABEL
        from morph_tasks.verify.linux.labels import root_hash

        asked[project.root] = project
        labels = {"label": [f"{LABEL}={root_hash(open_repo(project.root))}"]}
        found: list[Any] = engine.containers.list(all=True, filters=labels, ignore_removed=True)
        return found

    yield of
    left = [one for project in list(asked.values()) for one in of(project)]
    for one in left:
        one.remove(force=True, v=True)
    assert not left


@pytest.fixture
def plain(project: Project) -> Project:
    """A project with one test, and no suite declared yet."""
    project.write("tests/test_shop.py", "def test_here():\n    assert True\n")
    return project


@pytest.fixture
def shop(plain: Project, image: str) -> Project:
    """A feature whose suite of one test runs in the container."""
    return _declared(plain, image, UNIT)


def _declared(project: Project, image: str, *nodes: dict[str, Any]) -> Project:
    project.config(project={"build": [], "tests": [{"linuxImage": image, **node} for node in nodes]})
    project.commit("suites")
    if not (project.root / ".morph/features/cart").exists():
        assert project.morph("create", "cart", "--type", "feature", "--description", "In a container").code == 0
    return project


def _run(document: Any, name: str = "unit") -> Any:
    return next(run for run in document["nodes"]["tests"]["runs"] if run["id"] == name)


def _log(document: Any, name: str = "unit") -> str:
    return Path(_run(document, name)["log"]).read_text("utf-8", "replace")


def _asks(project: Project, text: str) -> Any:
    """Verify with a suite of one test whose body is given."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    project.write("tests/test_shop.py", f"import os, pathlib, subprocess, sys\n\n\ndef test_here():\n{body}")
    return project.verify("cart", "--linux")


def test_green_then_reused_then_red(shop: Project, image: str, containers: Any, engine: Any) -> None:
    green = shop.verify("cart", "--linux")
    unit = _run(green)
    assert (green["exit"], unit["status"], unit["count"]) == (0, "pass", 1), _log(green)
    where = {"kind": "linux-container", "image": image, "imageId": engine.images.get(image).id}
    assert green["nodes"]["tests"]["environment"] == where
    assert shop.feature()["verification"]["environment"] == where
    again = shop.verify("cart", "--linux")
    assert _run(again)["reused"]
    red = _asks(shop, "assert sys.platform == 'a'")
    assert (red["exit"], _run(red)["status"], _run(red)["reason"]) == (1, "fail", "tests-failed")
    assert any("test_here" in line for line in red["feedback"])
    assert containers(shop) == []


def test_a_proof_of_this_machine_is_none_for_the_container(plain: Project, image: str) -> None:
    _declared(plain, image, {**UNIT, "command": "test -d .git", "runner": "none"})
    assert plain.verify()["exit"] == 0
    assert _run(plain.verify("cart", "--linux"))["status"] == "fail"
    assert _run(plain.verify())["reused"]


def test_the_work_is_done_in_a_copy_as_root_and_the_tree_cannot_be_written(shop: Project, containers: Any) -> None:
    said = _asks(
        shop,
        "assert os.getcwd() == '/work' and os.getuid() == 0\n"
        f"assert not os.path.exists({str(shop.root)!r})\n"
        "assert not os.path.exists('/work/.git')\n"
        "pathlib.Path('/work/made.txt').write_text('x')\n"
        "pathlib.Path('/work/README.md').write_text('changed')\n"
        "mounts = pathlib.Path('/proc/self/mountinfo').read_text()\n"
        "assert ' /work ' not in mounts and 'docker.sock' not in mounts",
    )
    assert said["exit"] == 0, _log(said)
    assert (shop.root / "README.md").read_text() == "# shop\n"
    assert not (shop.root / "made.txt").exists()
    assert containers(shop) == []


def test_what_is_not_committed_comes_along_and_what_only_fits_the_host_does_not(shop: Project) -> None:
    shop.write(".gitignore", "dist/\n")
    shop.write("new.txt", "1")
    shop.write("dist/app.js", "1")
    shop.write("node_modules/x/index.js", "1")
    shop.write("obj/made", "1")
    said = _asks(
        shop,
        "found = {str(p) for p in pathlib.Path('.').rglob('*') if p.is_file()}\n"
        "assert 'new.txt' in found and '.gitignore' in found, found\n"
        "assert not any(p.startswith(('dist', 'node_modules', 'obj', '.git/')) for p in found), found",
    )
    assert said["exit"] == 0, _log(said)


def test_names_links_and_modes_arrive_as_they_are(project: Project, image: str, tmp_path: Path) -> None:
    strange = Project(tmp_path / "tree with ünï 'quotes'")
    shutil.copytree(project.root, strange.root)
    names = [
        "with space",
        "new\nline",
        "tab\t",
        "ünï/çödé",
        "-dash",
        "$HOME",
        "back\\slash",
        "x" * 120 + "/" + "y" * 120,
    ]
    for name in names:
        strange.write(name, name)
    with open(os.fsencode(strange.root) + b"/raw\xff", "wb") as file:
        file.write(b"raw")
    (strange.root / "link").symlink_to("with space")
    (strange.root / "away").symlink_to("/etc/hostname")
    script = strange.write("run.sh", "#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    _declared(strange, image, {**UNIT, "cwd": "ünï"}, {**UNIT, "id": "top"})
    text = (
        "import os, pathlib, subprocess\n\n\ndef test_here():\n"
        f"    for name in {names!r}:\n        assert pathlib.Path('/work', name).read_text() == name\n"
        "    assert open(b'/work/raw\\xff').read() == 'raw'\n"
        "    assert os.readlink('/work/link') == 'with space' and os.readlink('/work/away') == '/etc/hostname'\n"
        "    assert subprocess.call(['/work/run.sh']) == 0\n"
    )
    strange.write("ünï/test_names.py", text)
    said = strange.verify("cart", "--linux")
    assert said["exit"] == 0, _log(said)
    assert (_run(said)["count"], _run(said, "top")["count"]) == (1, 1)


def test_reports_come_back_where_the_reader_looks(plain: Project, image: str) -> None:
    plain.write(".gitignore", "out/\n")
    plain.write("out/old.xml", "<testsuite tests='9'><testcase name='stale'/></testsuite>")
    (plain.root / "linked").symlink_to("/tmp")
    nodes = {
        **UNIT,
        "runner": "none",
        "command": "python3 -m pytest -q --junitxml=out/deep/j.xml; code=$?; echo 1 >out/size.txt; "
        "mkdir -p linked && cp out/deep/j.xml linked/evil.xml; ln -s /etc/passwd out/link.xml; exit $code",
        "junit": ["out/**/*.xml", "linked/*.xml"],
        "outputs": ["out/size.txt"],
    }
    _declared(plain, image, nodes)
    said = plain.verify("cart", "--linux")
    unit = _run(said)
    assert (said["exit"], unit["count"]) == (0, 1), (unit, said["feedback"], _log(said))
    assert "testcase" in (plain.root / "out/deep/j.xml").read_text()
    assert (plain.root / "out/size.txt").read_text() == "1\n"
    assert not Path("/tmp/evil.xml").exists()
    assert not (plain.root / "out/link.xml").exists()


def test_scenarios_are_told_from_inside(shop: Project) -> None:
    shop.write("tests/test_shop.py", "import pytest\n\n\n@pytest.mark.scenario('C1')\ndef test_here():\n    pass\n")
    said = shop.verify("cart", "--linux")
    view = json.loads((shop.root / ".morph/evidence/cart/tests/unit.json").read_text())
    assert said["exit"] == 0, _log(said)
    assert [(test["file"], test["scenarios"]) for test in view["tests"]] == [("tests/test_shop.py", ["C1"])]


def test_a_timeout_ends_the_container_and_says_so(plain: Project, image: str, containers: Any) -> None:
    _declared(plain, image, {**UNIT, "command": "echo begun; sleep 600", "timeoutMs": 1500})
    said = plain.verify("cart", "--linux")
    assert (said["exit"], _run(said)["reason"]) == (1, "timeout")
    assert "timeout after 1500 ms" in _run(said)["message"]
    assert "begun" in _log(said)
    assert containers(plain) == []


def test_a_failed_prebuild_is_no_failed_test(plain: Project, image: str) -> None:
    node = {**UNIT, "runner": "dotnet", "command": "dotnet test --no-build a.csproj", "build": ["a.csproj"]}
    _declared(plain, image, node)
    said = plain.verify("cart", "--linux")
    assert _run(said)["reason"] == "prebuild-failed"


def test_a_command_that_the_image_lacks(plain: Project, image: str) -> None:
    _declared(plain, image, {**UNIT, "command": "no-such-program", "runner": "none"})
    said = plain.verify("cart", "--linux")
    assert _run(said)["reason"] == "command-not-found"


def test_no_image_is_known_for_a_runner(shop: Project, image: str) -> None:
    shop.config(project={"build": [], "tests": [{"id": "native", "command": "make check", "runner": "none"}]})
    said = shop.verify("cart", "--linux")
    native = _run(said, "native")
    assert (said["exit"], native["reason"]) == (1, "linux-image-unknown")
    assert "linuxImage" in native["message"]
    assert shop.verify("cart", "--linux", "--linux-image", image, "--timeout", "20000")["exit"] == 1


def test_suites_of_the_running_application_are_skipped_with_the_reason(plain: Project, image: str) -> None:
    _declared(plain, image, UNIT, {**UNIT, "id": "ui", "e2e": True})
    ui = _run(plain.verify("cart", "--linux"), "ui")
    assert ui["status"] == "skip"
    assert "container" in ui["message"]


def test_without_an_engine_it_is_a_mistake_of_use_and_nothing_runs(shop: Project, tmp_path: Path) -> None:
    before = (shop.root / ".morph/features/cart/feature.json").read_bytes()
    said = shop.morph("verify", "cart", "--linux", "--json", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert (said.code, said.json["code"]) == (2, "docker-not-available")
    gone = shop.morph("verify", "cart", "--linux", "--linux-image", "127.0.0.1:9/gone:1", "--json")
    assert (gone.code, gone.json["code"]) == (2, "linux-image-missing")
    assert (shop.root / ".morph/features/cart/feature.json").read_bytes() == before


def _started(project: Project, containers: Any, *states: str) -> subprocess.Popen[bytes]:
    """Start a verify, and return when its container runs, or is in one of the given states."""
    argv = [str(BIN / "morph-spec"), "verify", "cart", "--linux", "--json"]
    verify = subprocess.Popen(argv, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not any(one.status in (states or ("running",)) for one in containers(project)):
        assert verify.poll() is None, verify.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return verify


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_takes_the_container_with_it(
    plain: Project, image: str, containers: Any, number: signal.Signals, code: int
) -> None:
    _declared(plain, image, {**UNIT, "command": "sleep 600"})
    verify = _started(plain, containers)
    verify.send_signal(number)
    _, err = verify.communicate(timeout=30)
    assert verify.returncode == code
    assert b"Traceback" not in err
    assert containers(plain) == []


def test_an_interrupt_while_the_tree_is_copied_leaves_no_container(plain: Project, image: str, containers: Any) -> None:
    with open(plain.root / "large.bin", "wb") as file:
        file.truncate(400 << 20)
    _declared(plain, image, UNIT)
    verify = _started(plain, containers, "created", "running")
    verify.terminate()
    verify.communicate(timeout=30)
    assert verify.returncode == 143
    assert containers(plain) == []


def test_what_a_killed_verify_left_goes_with_the_next(plain: Project, image: str, containers: Any, engine: Any) -> None:
    foreign = engine.containers.create(image, ["true"], labels={"morph-spec.verify": "x", "morph-spec.root": "another"})
    try:
        _declared(plain, image, {**UNIT, "command": "sleep 600"})
        verify = _started(plain, containers)
        verify.kill()
        verify.communicate(timeout=30)
        assert len(containers(plain)) == 1
        labels = containers(plain)[0].labels
        assert (labels["morph-spec.feature"], labels["morph-spec.node"]) == ("cart", "tests/unit")
        _declared(plain, image, UNIT)
        assert _run(plain.verify("cart", "--linux"))["status"] == "pass"
        assert containers(plain) == []
        foreign.reload()
    finally:
        foreign.remove(force=True)


def test_two_nodes_at_once_have_a_container_each(plain: Project, image: str, containers: Any) -> None:
    wait = 'echo {0} >/work/me; sleep 0.5; test "$(cat /work/me)" = {0} && python3 -m pytest -q'
    nodes = [{**UNIT, "id": name, "command": wait.format(name), "pool": "light"} for name in ("a", "b")]
    _declared(plain, image, *nodes)
    said = plain.verify("cart", "--linux", "--jobs", "2")
    assert said["exit"] == 0, _log(said, "a") + _log(said, "b")
    assert containers(plain) == []


@pytest.fixture
def caseless(tmp_path: Path) -> Iterator[Path]:
    """A folder whose file system takes `A` for `a`, as those of Windows and macOS do."""
    place, disk = tmp_path / "caseless", tmp_path / "disk.img"
    place.mkdir()
    if os.getuid() or not shutil.which("lowntfs-3g") or not shutil.which("mkntfs") or not Path("/dev/fuse").exists():
        pytest.skip("a file system without case takes root, FUSE and lowntfs-3g (Debian: ntfs-3g)")
    with open(disk, "wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkntfs", "-F", "-Q", "-q", str(disk)], check=True, capture_output=True)
    mounted = subprocess.run(["lowntfs-3g", "-o", "ignore_case", str(disk), str(place)], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"a file system without case cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_defect_of_case_is_green_here_and_red_in_the_container(caseless: Path, image: str) -> None:
    plain = Project(caseless / "shop")
    plain.root.mkdir()
    plain.git("init", "-q", "-b", "main")
    plain.write("data/greeting.txt", "hello")
    plain.write("test_case.py", "def test_here():\n    assert open('data/Greeting.txt').read() == 'hello'\n")
    assert (plain.root / "data/GREETING.txt").exists()
    _declared(plain, image, UNIT)
    assert plain.verify("cart")["exit"] == 0
    inside = plain.verify("cart", "--linux")
    assert (inside["exit"], _run(inside)["reason"]) == (1, "tests-failed")
    assert "Greeting.txt" in _log(inside)
