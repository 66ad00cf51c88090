"""The stack of a feature with a real engine: images of one static busybox, nothing pulled from anywhere."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.model.load import Config, load_config
from morph_tasks.repo.git import open_repo
from morph_tasks.stack import ports, stampfile
from morph_tasks.stack import project as projects
from morph_tasks.stack.down import close_stack, take_down
from morph_tasks.stack.measure import measure_stack
from morph_tasks.stack.model import Context, HookOutcome, Hooks
from tests.conftest import Project, Said

LABEL = "com.docker.compose.project"
# Not the name of anything that somebody has on this engine.
CART, SHOP, STRANGER = (f"{word}-test-{os.urandom(4).hex()}" for word in ("cart", "shop", "stranger"))
APPLETS = "sh cat cp date echo env grep httpd kill mkdir nc rm sleep test touch true false wget"
# As the console script does it, whether or not the table names the commands yet.
RUN = (
    "import sys\nfrom morph_tasks.stack.quick import answer\ncode = answer(sys.argv[1:])\n"
    "if code is None:\n    from morph_tasks.cli.main import COMMANDS, main\n"
    "    COMMANDS.setdefault('e2e', ('morph_tasks.cli.e2e:e2e', 'Run the application.'))\n"
    "    COMMANDS.setdefault('env', ('morph_tasks.cli.env:env', 'Print the environment.'))\n"
    "    code = main(sys.argv[1:])\nsys.exit(code)\n"
)

WEB = """
  web:
    build: {context: ., dockerfile: Dockerfile}
    ports: ["${PORT:-3000}:8080"]
    stop_grace_period: 1s
    depends_on: {db: {condition: service_healthy}}
    healthcheck: {test: ["CMD", "wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/page.html"], interval: 1s}
"""
DB = """
  db:
    image: IMAGE
    stop_grace_period: 1s
    command: ["sh", "-c", "sleep 0.3; touch /ready; exec sleep 1000"]
    volumes: ["data:/data"]
    healthcheck: {test: ["CMD", "test", "-e", "/ready"], interval: 1s}
"""
SEED = """
  seed:
    image: IMAGE
    restart: "no"
    command: ["true"]
"""


def _missing(why: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


def docker(*args: str, stdin: bytes | None = None) -> str:
    done = subprocess.run(["docker", *args], input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


@pytest.fixture(scope="session")
def image() -> str:
    """An image of a static busybox and its links, made from the machine's own."""
    if not shutil.which("docker") or subprocess.run(["docker", "version"], capture_output=True).returncode:
        _missing("there is no Docker engine: scripts/docker-up brings one up")
    busybox = shutil.which("busybox")
    if not busybox:
        _missing("there is no busybox (Debian: busybox-static)")
    name = "morph-spec-test-busybox:1"
    if subprocess.run(["docker", "image", "inspect", name], capture_output=True).returncode == 0:
        return name
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        tar.add(str(busybox), "bin/busybox")
        for applet in APPLETS.split():
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o777
        tar.addfile(folder)
    docker("import", "--change", "ENV PATH=/bin", "-", name, stdin=made.getvalue())
    return name


class Stack:
    """A project with a compose file, and what its feature has on the engine."""

    def __init__(self, project: Project, image: str) -> None:
        self.project, self.image = project, image

    def compose(self, *services: str, volumes: str = "volumes: {data: {}}", more: str = "") -> None:
        text = "services:\n" + "".join(service.strip("\n") + "\n" for service in services) + f"{volumes}\n{more}\n"
        self.project.write("compose.yaml", text.replace("IMAGE", self.image))
        dockerfile = f'FROM {self.image}\nCOPY page.html /page.html\nCMD ["httpd", "-f", "-p", "8080", "-h", "/"]\n'
        self.project.write("Dockerfile", dockerfile)
        if not (self.project.root / "page.html").exists():
            self.project.write("page.html", "one\n")
        self.project.commit("a stack")

    def morph(self, *args: str, cwd: Path | None = None, **env: str) -> Said:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *args],
            cwd=cwd or self.project.root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=240,
            env={**os.environ, **env},
        )
        said = Said(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback (most recent call last)" not in said.out + said.err, said.out + said.err
        return said

    def up(self, *args: str, feature: str = CART, cwd: Path | None = None, **env: str) -> Any:
        said = self.morph("e2e", "up", feature, "--json", *args, cwd=cwd, **env)
        return {**said.json, "exit": said.code}

    def status(self, feature: str = CART, cwd: Path | None = None) -> Any:
        said = self.morph("e2e", "status", feature, "--json", cwd=cwd)
        return {**said.json, "exit": said.code}

    def down(self, *args: str, feature: str = CART, cwd: Path | None = None) -> Any:
        said = self.morph("e2e", "down", feature, "--json", *args, cwd=cwd)
        return {**said.json, "exit": said.code}


def on_engine(name: str = f"morph-{CART}") -> dict[str, list[str]]:
    """Return what the engine holds of a compose project."""
    by = ["--filter", f"label={LABEL}={name}"]
    return {
        "containers": docker("ps", "-aq", "--no-trunc", *by).split(),
        "networks": docker("network", "ls", "-q", *by).split(),
        "volumes": docker("volume", "ls", "-q", *by).split(),
    }


NOTHING: dict[str, list[str]] = {"containers": [], "networks": [], "volumes": []}


@pytest.fixture
def compose_plugin(image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find Compose where this machine has it: maybe in the real home."""
    if subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        monkeypatch.setenv("DOCKER_CONFIG", str(Path(pwd.getpwuid(os.getuid()).pw_dir) / ".docker"))
    if subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        _missing("there is no Compose v2: scripts/docker-up unpacks it")


@pytest.fixture
def stack(project: Project, image: str, compose_plugin: None) -> Iterator[Stack]:
    """A project with a feature; whatever its repository has on the engine is gone afterwards."""
    assert project.morph("create", CART, "--type", "feature", "--description", "A stack").code == 0
    yield Stack(project, image)
    registry = Path(os.environ["XDG_STATE_HOME"]) / "morph-spec" / "compose-projects.json"
    names = json.loads(registry.read_text())["names"] if registry.exists() else {}
    for name in names:
        with contextlib.suppress(AssertionError):
            for kind, argv in (
                ("containers", ["rm", "-f", "-v"]),
                ("networks", ["network", "rm"]),
                ("volumes", ["volume", "rm", "-f"]),
            ):
                if found := on_engine(name)[kind]:
                    docker(*argv, *found)
        for found in docker("images", "--filter", f"label={LABEL}={name}", "-q").split():
            subprocess.run(["docker", "image", "rm", "-f", found], capture_output=True)


def page(base_url: str) -> str:
    with urllib.request.urlopen(f"{base_url}/page.html", timeout=5) as answer:
        return str(answer.read().decode())


def test_from_nothing_to_ready_to_reused_to_rebuilt_to_gone(stack: Stack) -> None:
    stack.compose(WEB, DB, SEED)
    assert stack.status()["exit"] == 1
    first = stack.up()
    assert (first["exit"], first.get("status"), first.get("reused")) == (0, "pass", False), first
    assert {row["service"]: row["state"] for row in first["services"]} == {
        "db": "running",
        "seed": "exited",
        "web": "running",
    }
    assert page(first["baseUrl"]) == "one\n"
    assert f"PORT={first['baseUrl'].rpartition(':')[2]}\n" in stack.morph("env", CART).out

    before = on_engine()["containers"]
    for _ in range(2):  # the long way, then from the note
        again = stack.up()
        assert (again["exit"], again["reusedBecause"]) == (0, "source unchanged since build")
        found = stack.status()
        assert (found["exit"], found["up"], found["healthy"], found["builtFromCurrent"]) == (0, True, True, True)
        assert found["baseUrl"] == first["baseUrl"]
    assert on_engine()["containers"] == before

    stack.project.write("page.html", "two\n")
    found = stack.status()
    assert (found["exit"], found["healthy"], found["builtFromCurrent"]) == (1, True, False)
    changed = stack.up()
    assert (changed["exit"], changed["reused"]) == (0, False)
    assert page(changed["baseUrl"]) == "two\n"
    stack.project.commit("the same content, committed")
    assert stack.up()["reused"] is True

    gone = stack.down()
    assert (gone["exit"], gone["keptVolumes"]) == (0, [f"morph-{CART}_data"])
    assert on_engine() == {**NOTHING, "volumes": [f"morph-{CART}_data"]}
    assert stack.status()["up"] is False
    assert stack.down("--volumes")["exit"] == 0
    assert on_engine() == NOTHING
    assert stack.down()["removed"] == []


def test_a_container_that_died_is_not_reused(stack: Stack) -> None:
    stack.compose(WEB, DB)
    stack.up()
    stack.up()
    docker("kill", f"morph-{CART}-web-1")
    found = stack.status()
    assert (found["exit"], found["up"]) == (1, False)
    again = stack.up()
    assert (again["exit"], again["reused"]) == (0, False)
    # By other hands, from another image.
    docker("stop", "-t", "0", f"morph-{CART}-web-1")
    docker("rm", "-f", f"morph-{CART}-db-1")
    assert stack.status()["exit"] == 1


def test_a_variable_or_an_ignored_file_that_changes_the_stack_is_no_reuse(stack: Stack) -> None:
    stack.project.write(".gitignore", ".env\n")
    stack.project.write(".env", "GREETING=hi\n")
    web = WEB + '    environment: {SAID: "${GREETING} ${OTHER:-none}"}\n'
    stack.compose(web, DB)
    stack.up()
    assert stack.up()["reused"] is True
    stack.project.write(".env", "GREETING=ho\n")
    assert "changed" in stack.status()["reason"]
    assert stack.up()["reused"] is False
    assert stack.up()["reused"] is True
    assert stack.up(OTHER="some")["reused"] is False


def test_two_trees_at_the_same_time_do_not_touch_each_other(stack: Stack) -> None:
    stack.compose(WEB, DB)
    stack.project.git("checkout", "-q", "main")
    stack.project.git("merge", "-q", f"morph/{CART}")
    tree = stack.project.root.parent / "shop-tree"
    stack.project.git("worktree", "add", "-q", str(tree), "-b", f"morph/{SHOP}")
    shutil.copytree(stack.project.root / f".morph/features/{CART}", tree / f".morph/features/{SHOP}")
    name = tree / f".morph/features/{SHOP}/feature.json"
    name.write_text(name.read_text().replace(CART, SHOP))
    (tree / "page.html").write_text("shop\n")
    children = [
        subprocess.Popen([sys.executable, "-c", RUN, "e2e", "up", feature, "--json"], cwd=cwd, stdout=subprocess.PIPE)
        for feature, cwd in ((CART, stack.project.root), (SHOP, tree))
    ]
    cart, shop = (json.loads(child.communicate(timeout=120)[0]) for child in children)
    assert (cart["status"], shop["status"]) == ("pass", "pass"), (cart, shop)
    assert cart["project"] != shop["project"] and cart["baseUrl"] != shop["baseUrl"]
    assert (page(cart["baseUrl"]), page(shop["baseUrl"])) == ("one\n", "shop\n")
    assert stack.down("--volumes", feature=SHOP)["exit"] == 0
    assert stack.status()["exit"] == 0
    assert on_engine(shop["project"]) == NOTHING
    stack.down("--volumes")


def test_a_clone_has_a_project_of_its_own(stack: Stack, tmp_path: Path) -> None:
    stack.compose(DB)
    assert stack.up()["project"] == f"morph-{CART}"
    stack.project.git("clone", "-q", str(stack.project.root), str(tmp_path / "clone"))
    done = stack.up(cwd=tmp_path / "clone")
    assert done["exit"] == 0 and done["project"] != f"morph-{CART}" and done["project"].startswith(f"morph-{CART}-")
    stack.down("--volumes", cwd=tmp_path / "clone")
    assert stack.status()["exit"] == 0


BROKEN = {
    "one-shot": """
  job:
    image: IMAGE
    command: ["sh", "-c", "echo no $$SECRET_KEY; exit 3"]
    environment: {SECRET_KEY: hush}
""",
    "loop": """
  api:
    image: IMAGE
    restart: always
    command: ["sh", "-c", "echo boom; exit 1"]
""",
    "unhealthy": """
  api:
    image: IMAGE
    command: ["sleep", "99"]
    stop_grace_period: 0s
    healthcheck: {test: ["CMD", "false"], interval: 1s, retries: 1}
""",
    "no-command": """
  api: {image: IMAGE, command: ["nope"]}
""",
    "no-build": """
  api: {build: {context: ., dockerfile_inline: "FROM IMAGE\\nRUN false\\n"}}
""",
}


@pytest.mark.parametrize(
    ("service", "reason", "said"),
    [
        ("one-shot", "service-failed", "exit code 3"),
        ("loop", "service-failed", "loop"),
        ("unhealthy", "not-ready", "unhealthy"),
        ("no-command", "compose-up-failed", "nope"),
        ("no-build", "build-failed", "build"),
    ],
)
def test_what_does_not_come_up_fails_with_its_last_words(stack: Stack, service: str, reason: str, said: str) -> None:
    stack.compose(DB, BROKEN[service])
    done = stack.up("--timeout", "60" if reason == "service-failed" else "8")
    assert (done["exit"], done["ok"], done["reason"]) == (1, False, reason), done
    assert said in done["message"], done
    if said == "exit code 3":
        assert done["output"] == ["job | no ***"]
    if said == "loop":
        assert "api | boom" in done["output"]
    assert stack.status()["exit"] == 1
    assert stack.down("--volumes")["exit"] == 0
    assert on_engine() == NOTHING


def test_a_dependency_that_is_unhealthy_first_and_healthy_then(stack: Stack) -> None:
    late = DB.replace("sleep 0.3", "sleep 4").replace("interval: 1s", "interval: 1s, retries: 1")
    stack.compose(WEB, late)
    done = stack.up("--timeout", "40")
    assert (done["exit"], done["status"]) == (0, "pass"), done
    assert {row["service"]: row["health"] for row in done["services"]} == {"db": "healthy", "web": "healthy"}


def test_a_crash_before_health_is_a_warning(stack: Stack) -> None:
    crashes = "test -e /data/once && { touch /ready; exec sleep 1000; }; touch /data/once; exit 1"
    db = DB.replace("sleep 0.3; touch /ready; exec sleep 1000", crashes) + "    restart: unless-stopped\n"
    stack.compose(db)
    done = stack.up("--timeout", "40")
    assert (done["exit"], done["warnings"]) == (0, ["db restarted 1 time"]), done


def test_a_missing_variable_is_composes_own_refusal_and_creates_nothing(stack: Stack) -> None:
    tool = '  tool: {image: IMAGE, profiles: [manual], environment: {T: "${MISSING_T:?set MISSING_T}"}}'
    stack.compose(DB, tool)
    done = stack.up()
    assert (done["exit"], done["reason"], done["variable"]) == (1, "compose-invalid", "MISSING_T")
    assert "set MISSING_T" in done["message"] and "MISSING_T" in done["fix"]
    assert on_engine() == NOTHING
    assert stack.up(MISSING_T="x")["exit"] == 0


def test_what_cannot_be_isolated_warns_in_the_root_and_fails_in_a_work_tree(stack: Stack) -> None:
    fixed = DB + f"    container_name: zed-db-of-{CART}\n"
    stack.compose(fixed)
    stack.project.git("checkout", "-q", "main")
    stack.project.git("merge", "-q", f"morph/{CART}")
    done = stack.up()
    assert done["exit"] == 0 and any(f"zed-db-of-{CART}" in line for line in done["warnings"]), done
    tree = stack.project.root.parent / "shop-tree"
    stack.project.git("worktree", "add", "-q", str(tree), "-b", f"morph/{SHOP}")
    shutil.copytree(stack.project.root / f".morph/features/{CART}", tree / f".morph/features/{SHOP}")
    name = tree / f".morph/features/{SHOP}/feature.json"
    name.write_text(name.read_text().replace(CART, SHOP))
    other = stack.up(feature=SHOP, cwd=tree)
    assert (other["exit"], other["reason"]) == (1, "stack-not-isolated")
    assert [one["code"] for one in other["findings"]] == ["fixed-container-name"]
    assert on_engine(f"morph-{SHOP}") == NOTHING
    assert stack.status()["exit"] == 0  # nothing happened to the first one


def test_reuse_of_what_serves_the_disk(stack: Stack) -> None:
    mounted = WEB + '    volumes: [".:/src"]\n    command: ["httpd", "-f", "-p", "8080", "-h", "/src"]\n'
    stack.compose(mounted, DB)
    stack.up()
    stack.project.write("page.html", "three\n")
    done = stack.up()
    assert (done["exit"], done["reusedBecause"]) == (0, "source is bind-mounted")
    assert page(done["baseUrl"]) == "three\n"
    # One that only mounts a folder does not speak for an application in an image.
    sidecar = (
        WEB.replace("  web:", "  side:").replace("${PORT:-3000}", "${API_PORT:-3001}") + '    volumes: [".:/src"]\n'
    )
    stack.compose(WEB, sidecar, DB)
    stack.up()
    stack.project.write("page.html", "four\n")
    assert stack.up()["reused"] is False


def test_fresh_begins_with_an_empty_volume(stack: Stack) -> None:
    db = DB.replace("sleep 0.3;", "cat /data/log; date >> /data/log;")
    stack.compose(db)
    stack.up()
    volume = json.loads(docker("volume", "inspect", f"morph-{CART}_data"))[0]["Mountpoint"]
    assert stack.up()["reused"] is True
    done = stack.up("--fresh")
    assert (done["exit"], done["reused"]) == (0, False)
    assert (
        docker("logs", f"morph-{CART}-db-1") == ""
        or not Path(volume).exists()
        or len(Path(volume, "log").read_text().splitlines()) == 1
    )


def test_a_volume_with_another_password_is_named_as_the_cause(stack: Stack) -> None:
    script = (
        "test -e /data/pw && echo 'Database directory appears to contain a database; Skipping initialization'; "
        "test -e /data/pw || echo $$POSTGRES_PASSWORD > /data/pw; touch /ready; "
        "test $$(cat /data/pw) = $$POSTGRES_PASSWORD || echo 'FATAL:  password authentication failed for user zed'; "
        "exec sleep 1000"
    )
    db = DB.replace("sleep 0.3; touch /ready; exec sleep 1000", script)
    db += '    environment: {POSTGRES_PASSWORD: "${DBPW}"}\n'
    stack.compose(db)
    assert stack.up(DBPW="first-word")["warnings"] == []
    stack.down()
    time.sleep(5.5)  # a volume that is only seconds older than its container was made with it
    done = stack.up(DBPW="second-word")
    said = "\n".join(done["warnings"])
    assert f"volume morph-{CART}_data predates" in said and "--fresh" in said, done
    assert "second-word" not in json.dumps(done) and "first-word" not in json.dumps(done)
    assert stack.up("--fresh", DBPW="second-word")["warnings"] == []


def test_down_leaves_alone_what_it_did_not_bring_up(stack: Stack, tmp_path: Path) -> None:
    stack.compose(DB)
    repo = open_repo(stack.project.root)
    projects.project_name(repo, CART)
    docker(
        "run",
        "-d",
        "--name",
        STRANGER,
        "--label",
        f"{LABEL}=morph-{CART}",
        "--label",
        f"com.docker.compose.project.working_dir={tmp_path}/elsewhere",
        stack.image,
        "sleep",
        "99",
    )
    try:
        gone = stack.down("--volumes")
        assert gone["exit"] == 1 and STRANGER in gone["left"][0]
        assert stack.up()["reason"] == "project-taken"
        assert docker("inspect", "-f", "{{.State.Running}}", STRANGER) == "true"
    finally:
        docker("rm", "-f", STRANGER)


def test_down_works_when_the_compose_file_is_broken_or_gone(stack: Stack) -> None:
    stack.compose(DB, SEED)
    stack.up()
    stack.project.write("compose.yaml", "services: [")
    assert stack.down()["exit"] == 0
    assert on_engine()["containers"] == []
    (stack.project.root / "compose.yaml").unlink()
    assert stack.down("--volumes")["exit"] == 0
    assert on_engine() == NOTHING


def test_orphans_and_one_offs_go_down_too(stack: Stack) -> None:
    stack.compose(DB, SEED)
    stack.up()
    env = {**os.environ, "COMPOSE_PROJECT_NAME": f"morph-{CART}"}
    argv = ["docker", "compose", "run", "-d", "db", "sleep", "99"]
    subprocess.run(argv, cwd=stack.project.root, env=env, capture_output=True, check=True)
    stack.compose(SEED)
    assert stack.down("--volumes")["exit"] == 0
    assert on_engine() == NOTHING


def _killed_at(stack: Stack, after_s: float) -> None:
    argv = [sys.executable, "-c", RUN, "e2e", "up", CART, "--json"]
    child = subprocess.Popen(
        argv, cwd=stack.project.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(after_s)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)
    child.wait()


def _ours(stack: Stack) -> list[str]:
    """Return the commands of processes that carry the name of this project."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and b"docker" in (line := (folder / "cmdline").read_bytes()):
                found += [line.replace(b"\0", b" ").decode()] if f"morph-{CART}".encode() in line else []
    return found


def _kill_and_clean(stack: Stack, seed: int) -> None:
    stack.compose(WEB, DB, SEED)
    moment = random.Random(seed).uniform(0.15, 5.0)
    _killed_at(stack, moment)
    gone = stack.down(*(["--volumes"] if seed % 2 else []))
    assert gone["exit"] == 0, (moment, gone)
    record = stampfile.load(open_repo(stack.project.root), f"morph-{CART}")
    left = on_engine()
    # A bring-up that was through keeps its volume without --volumes; one that was not has none worth keeping.
    assert left == NOTHING or (
        seed % 2 == 0 and record is not None and left == {**NOTHING, "volumes": gone["keptVolumes"]}
    )
    time.sleep(1.0)
    assert on_engine()["containers"] == [] and on_engine()["networks"] == [], moment
    assert _ours(stack) == []
    assert stack.down("--volumes")["exit"] == 0
    assert on_engine() == NOTHING


@pytest.mark.parametrize("seed", range(20))
def test_killed_at_any_moment_then_down_leaves_nothing(stack: Stack, seed: int) -> None:
    _kill_and_clean(stack, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20, 120))
def test_killed_at_many_moments_then_down_leaves_nothing(stack: Stack, seed: int) -> None:
    _kill_and_clean(stack, seed)


def test_a_kill_is_followed_by_an_up_that_works(stack: Stack) -> None:
    stack.compose(WEB, DB, SEED)
    _killed_at(stack, 1.2)
    assert stack.up()["exit"] == 0
    assert stack.up()["reused"] is True


def _config(project: Project) -> Config:
    return load_config(open_repo(project.root))


def test_ways_of_not_running_have_their_own_reasons(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = open_repo(project.root)
    found = measure_stack(repo, Config({}, ""), CART)
    assert (found.status, found.reason) == ("skip", "project does not containerize")
    for declared in ({"stack": "python+docker"}, {"integrations": ["docker"]}):
        found = measure_stack(repo, Config({"project": declared}, ""), CART)
        assert (found.status, found.reason) == ("fail", "compose-missing")
    project.write("compose.yaml", "services: {}\n")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{project.root}/none.sock")
    found = measure_stack(repo, Config({}, ""), CART)
    assert found.status == "skip" and str(found.reason).startswith("docker is not available: ")
    monkeypatch.setenv("PATH", str(project.root))
    monkeypatch.delenv("DOCKER_HOST")
    found = measure_stack(repo, Config({}, ""), CART)
    assert found.reason == "docker is not available: the `docker` command is not on the PATH"


def test_hooks_follow_the_containers_and_decide_with_them(stack: Stack) -> None:
    stack.compose(DB)
    repo = open_repo(stack.project.root)
    seen: list[tuple[str, bool, bool]] = []

    def hook(name: str, outcome: HookOutcome) -> Any:
        def run(context: Context) -> HookOutcome:
            seen.append((name, context.fresh, context.warm))
            assert context.env["COMPOSE_PROJECT_NAME"] == context.project
            return outcome

        return run

    bad = HookOutcome(reason="host-service-failed", message="api: it ended", output=("last words",))
    hooks = Hooks(hosts=hook("hosts", bad), seed=hook("seed", HookOutcome()))
    found = measure_stack(repo, Config({}, ""), CART, hooks=hooks)
    assert (found.status, found.reason, found.output) == ("fail", "host-service-failed", ("last words",))
    hooks = Hooks(hosts=hook("hosts", HookOutcome()), seed=hook("seed", HookOutcome()))
    found = measure_stack(repo, Config({}, ""), CART, hooks=hooks)
    assert (found.status, found.reused_because) == ("pass", "source unchanged since build")
    assert found.env["PLAYWRIGHT_BASE_URL"].startswith("http://localhost:")
    assert seen == [("hosts", False, False), ("hosts", False, True), ("seed", False, True)]


def test_closing_gives_ports_and_name_back(stack: Stack) -> None:
    stack.compose(WEB, DB)
    stack.up()
    repo = open_repo(stack.project.root)
    done = close_stack(repo, CART)
    assert done.ok and on_engine() == NOTHING
    assert ports.known_block(repo, CART) is None and projects.known_project(repo, CART) is None
    assert docker("images", "-q", f"morph-{CART}-web") == ""
    assert take_down(repo, CART).project is None


def test_two_at_once_bring_up_one_stack(stack: Stack) -> None:
    stack.compose(WEB, DB)
    argv = [sys.executable, "-c", RUN, "e2e", "up", CART, "--json"]
    children = [subprocess.Popen(argv, cwd=stack.project.root, stdout=subprocess.PIPE) for _ in range(2)]
    found = [json.loads(child.communicate(timeout=120)[0]) for child in children]
    assert [one["status"] for one in found] == ["pass", "pass"]
    assert sorted(one["reused"] for one in found) == [False, True]


def test_an_interrupted_up_says_so_and_leaves_no_command_running(stack: Stack) -> None:
    stack.compose(DB, DB.replace("  db:", "  never:").replace('"/ready"', '"/never"'))
    argv = [sys.executable, "-c", RUN, "e2e", "up", CART, "--json"]
    child = subprocess.Popen(argv, cwd=stack.project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while len(on_engine()["containers"]) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 130 and b"Traceback" not in err
    assert (json.loads(out)["ok"], json.loads(out)["code"]) == (False, "interrupted")
    assert _ours(stack) == []
    assert stack.down("--volumes")["exit"] == 0
    assert on_engine() == NOTHING


@contextlib.contextmanager
def _engine_on_a_port() -> Iterator[str]:
    """Give the address of the engine on a TCP port, as an engine on another machine has one."""
    listener = socket.create_server(("127.0.0.1", 0))

    def carry(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                engine = socket.socket(socket.AF_UNIX)
                engine.connect("/var/run/docker.sock")
                for pair in ((client, engine), (engine, client)):
                    threading.Thread(target=carry, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


def test_an_engine_that_is_not_behind_a_socket(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    stack.compose(WEB, DB, SEED)
    with _engine_on_a_port() as address, monkeypatch.context() as patch:
        patch.setenv("DOCKER_HOST", address)
        done = stack.up()
        assert done["exit"] == 0, done
        assert stack.status()["exit"] == 0
        assert stack.up()["reused"] is True
        assert stack.down("--volumes")["exit"] == 0
        assert on_engine() == NOTHING


def test_an_engine_that_hangs_or_is_gone_does_not_block_down(stack: Stack, tmp_path: Path) -> None:
    stack.compose(DB)
    assert stack.up()["exit"] == 0
    hanging = tmp_path / "hang.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(hanging))
        listener.listen(8)
        for address, cause in ((hanging, "does not answer"), (tmp_path / "none.sock", "is not there")):
            said = stack.morph("e2e", "down", CART, "--json", DOCKER_HOST=f"unix://{address}")
            assert (said.code, said.json["ok"]) == (1, False) and cause in said.json["left"][0]
            found = stack.morph("e2e", "status", CART, "--json", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
            assert (found.code, found.json["up"], found.json["builtFromCurrent"]) == (1, None, None)
    # What could not be looked at is still known.
    assert stack.down("--volumes")["exit"] == 0
    assert on_engine() == NOTHING


@pytest.mark.parametrize("containers", [True, False], ids=["beside-containers", "alone"])
def test_host_services_belong_to_the_stack(stack: Stack, containers: bool) -> None:
    service = {
        "name": "api",
        "start": "exec busybox httpd -f -p 127.0.0.1:$PORT -h .",
        "health": "http://localhost:${PORT}/",
    }
    stack.project.config(e2e={"hostServices": [service]})
    stack.project.write("page.html", "one\n")
    stack.project.write("index.html", "\n")
    stack.project.commit("a host service")
    if containers:
        stack.compose(DB)
    done = stack.up()
    assert (done["exit"], done["reused"], [row["name"] for row in done["hostServices"]]) == (0, False, ["api"]), done
    assert page(done["baseUrl"]) == "one\n"
    found = stack.status()
    assert (found["exit"], found["baseUrl"]) == (0, done["baseUrl"]), found
    first = found["hostServices"][0]["pid"]
    again = stack.up()
    assert (again["exit"], again["reused"], again["hostServices"][0]["pid"]) == (0, True, first)

    stack.project.write("page.html", "two\n")
    found = stack.status()
    assert (found["exit"], found["healthy"], found["builtFromCurrent"]) == (1, True, False)
    assert stack.up()["hostServices"][0]["pid"] != first
    assert stack.status()["exit"] == 0
    assert stack.down("--volumes")["exit"] == 0
    assert stack.status()["up"] is False
    with pytest.raises(OSError, match=r"refused|reset"):
        page(done["baseUrl"])


def test_a_slot_is_held_while_something_comes_up_and_never_for_a_warm_stack(stack: Stack) -> None:
    stack.compose(DB)
    repo = open_repo(stack.project.root)
    taken: list[str] = []

    class Lease:  # as the room of heavy jobs gives it
        env: ClassVar = {"MORPH_TEST_LEASE": "1"}

    @contextlib.contextmanager
    def slot() -> Iterator[Lease]:
        taken.append("taken")
        yield Lease()

    def hosts(context: Context) -> HookOutcome:
        taken.append(context.lease.get("MORPH_TEST_LEASE", "none"))
        return HookOutcome()

    def stands(*_: Any) -> tuple[dict[str, Any], ...]:
        from morph_tasks.stack.current import code_stamp

        return ({"name": "api", "alive": True, "health": None, "stamp": code_stamp(repo, Config({}, ""))},)

    hooks = Hooks(hosts=hosts, slot=slot, hosts_status=stands)
    first = measure_stack(repo, Config({}, ""), CART, hooks=hooks)
    assert (first.status, taken) == ("pass", ["taken", "1"])
    assert "MORPH_TEST_LEASE" not in first.env
    again = measure_stack(repo, Config({}, ""), CART, hooks=hooks)
    assert (again.reused_because, taken) == ("source unchanged since build", ["taken", "1", "none"])

    @contextlib.contextmanager
    def busy() -> Iterator[None]:
        raise Refusal("busy", "no slot was free", exit_code=3)
        yield

    stack.project.write("page.html", "changed\n")
    found = measure_stack(repo, Config({}, ""), CART, hooks=Hooks(slot=busy))
    assert (found.status, found.reason) == ("busy", "busy")
