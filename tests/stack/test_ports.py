from __future__ import annotations

import json
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.stack import ports, project
from tests.conftest import Project


@pytest.fixture
def repo(project: Project) -> Repo:
    return open_repo(project.root)


def test_a_feature_keeps_its_block_and_no_two_share_one(repo: Repo) -> None:
    found = {key: ports.block_of(repo, key) for key in ("cart", "shop", "task/agent-1")}
    assert {key: ports.block_of(repo, key) for key in found} == found
    bases = [block.base for block in found.values()]
    assert len({port for block in found.values() for port in block.ports}) == 30
    assert all(ports.FIRST <= base <= ports.LAST and base % 10 == 0 for base in bases)


def test_work_trees_share_the_registry(project: Project, repo: Repo) -> None:
    project.git("worktree", "add", "-q", "-b", "morph/cart", "../cart-tree")
    other = open_repo(project.root.parent / "cart-tree")
    assert ports.block_of(other, "cart") == ports.block_of(repo, "cart")
    assert ports.block_of(other, "shop") != ports.block_of(repo, "cart")


def test_a_block_with_a_port_in_use_is_passed_over(repo: Repo) -> None:
    wanted = ports.block_of(repo, "cart")
    ports.release(repo, "cart")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", wanted.base + 7))
        taken.listen(1)
        assert ports.block_of(repo, "cart") != wanted
    ports.release(repo, "cart")
    assert ports.block_of(repo, "cart") == wanted


def test_a_port_is_free_as_soon_as_nobody_listens(repo: Repo) -> None:
    """The last connections of a stack that was taken down stay in the system's table for a minute."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        answer, _ = server.accept()
        assert not ports.port_is_free(port)
        answer.close()  # the side that ends it first is the one that has to wait
        client.close()
    assert ports.port_is_free(port)


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_who_listens_with_a_shared_address_is_seen(address: str) -> None:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((address, 0))
        server.listen(1)
        assert not ports.port_is_free(server.getsockname()[1])


def test_release_gives_the_block_back(repo: Repo) -> None:
    first = ports.block_of(repo, "cart")
    assert ports.release(repo, "cart") is True
    assert ports.release(repo, "cart") is False
    assert ports.known_block(repo, "cart") is None
    assert ports.block_of(repo, "other").base == first.base


def test_all_taken_is_a_refusal(repo: Repo) -> None:
    with pytest.raises(Refusal) as caught:
        ports.block_of(repo, "cart", free=lambda _: False)
    assert caught.value.code == "no-free-ports"
    assert ports.blocks(repo) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"blocks": 3}', '{"blocks": {"a": {"base": "x"}, "b": 1}}', "\0\xff"])
def test_a_registry_that_makes_no_sense_does_not_stop_work(repo: Repo, text: str) -> None:
    path = repo.store / "ports.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    block = ports.block_of(repo, "cart")
    assert ports.known_block(repo, "cart") == block
    assert json.loads(path.read_text())["version"] == 1


def test_two_repositories_of_one_user_do_not_meet(tmp_path: Path, repo: Repo) -> None:
    subprocess.run(["git", "clone", "-q", str(repo.root), str(tmp_path / "clone")], check=True)
    clone = open_repo(tmp_path / "clone")
    project.project_name(repo, "cart")
    project.project_name(clone, "cart")
    mine = ports.block_of(repo, "cart")
    # The registry of the other one is looked at, whatever the place in the range it would begin with.
    path = clone.store / "ports.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "blocks": {"x": {"base": mine.base}}}))
    ports.release(repo, "cart")
    assert ports.block_of(repo, "cart").base != mine.base


def test_many_processes_get_blocks_of_their_own(repo: Repo) -> None:
    script = (
        "import sys; from pathlib import Path; from morph_tasks.repo.git import open_repo; "
        "from morph_tasks.stack.ports import block_of; "
        "print(block_of(open_repo(Path(sys.argv[1])), sys.argv[2], free=lambda _: True).base)"
    )

    def one(number: int) -> str:
        argv = [sys.executable, "-c", script, str(repo.root), f"feature-{number % 6}"]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(one, range(12)))
    assert found[:6] == found[6:]
    assert len(set(found)) == 6
