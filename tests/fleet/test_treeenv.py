from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks.fleet import treeenv
from morph_tasks.model.load import Config
from morph_tasks.stack.env import StackEnv, stack_env
from morph_tasks.stack.envfile import parse
from morph_tasks.stack.ports import SIZE, block_of
from tests.conftest import Project
from tests.fleet.birthplace import config, repo_of


def read(path: Path) -> dict[str, str]:
    values, odd = parse(path.read_bytes().decode("utf-8", "surrogateescape"))
    assert odd == []
    return values


def test_the_file_says_what_the_command_says_but_for_credentials(project: Project) -> None:
    project.write(".env.e2e", "PASSWORD=secret\nPORT=1\n")
    settings = {"e2e": {"auth": {"envFile": ".env.e2e"}, "portEnvNames": {"postgres": "PG_PORT"}}}
    said = Config({**settings, "project": {"stack": "dotnet+docker"}}, "")
    repo = repo_of(project)
    path = treeenv.write(repo, said, "task/t1", "cart")
    whole = stack_env(repo, said, "task/t1").values
    assert whole.pop("PASSWORD") == "secret" and read(path) == whole
    assert whole["MORPH_FEATURE"] == "cart" and whole["PG_PORT"] == whole["POSTGRES_PORT"]
    assert path == project.root / ".morph/worktree.env" and path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_could_read_is_closed_and_a_link_is_not_followed(project: Project, tmp_path: Path) -> None:
    path = project.write(".morph/worktree.env", "OLD=1\n")
    path.chmod(0o644)
    treeenv.write(repo_of(project), config(), "cart", "cart")
    assert path.stat().st_mode & 0o777 == 0o600 and "OLD" not in read(path)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    treeenv.write(repo_of(project), config(), "cart", "cart")
    assert not path.is_symlink() and not (tmp_path / "elsewhere").exists()


def test_whom_a_tree_is_for_is_remembered(project: Project) -> None:
    repo = repo_of(project)
    assert treeenv.works_on(repo, "task/t1") == "t1" and treeenv.works_on(repo, "cart") == "cart"
    treeenv.write(repo, config(), "task/t1", "cart")
    assert treeenv.works_on(repo, "task/t1") == "cart"


@pytest.mark.parametrize(
    "value", ["plain", "", "a b", "$HOME `id`", 'say "x"', "it's", 'it\'s $HOME "x" \\', "ü", "#no", "a\nb"]
)
def test_a_shell_and_our_own_reader_see_the_same_value(project: Project, value: str) -> None:
    path = treeenv.write_env(repo_of(project), StackEnv({"ODD": value}))
    assert read(path) == {"ODD": value}
    done = subprocess.run(
        ["/bin/sh", "-c", '. "$0" && printf %s "$ODD"', str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == value


def test_bytes_that_are_not_utf_8_survive(project: Project) -> None:
    odd = os.fsdecode(b"f\xff")
    assert read(treeenv.write_env(repo_of(project), StackEnv({"ODD": odd}))) == {"ODD": odd}


def test_thirty_two_processes_get_blocks_of_their_own(project: Project) -> None:
    code = (
        "import sys; from pathlib import Path; from morph_tasks.repo.git import open_repo;"
        "from morph_tasks.stack.ports import block_of; print(block_of(open_repo(Path(sys.argv[1])), sys.argv[2]).base)"
    )
    argv = [sys.executable, "-c", code, str(project.root)]
    started = [subprocess.Popen([*argv, f"task/{n}"], stdout=subprocess.PIPE, text=True) for n in range(32)]
    bases = [int(process.communicate()[0]) for process in started]
    assert all(process.returncode == 0 for process in started)
    assert len(set(bases)) == 32 and all(abs(one - other) >= SIZE for one in bases for other in bases if one != other)
    assert [block_of(repo_of(project), f"task/{n}").base for n in range(32)] == bases
