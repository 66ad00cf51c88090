from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import pytest

from morph_tasks.model.load import Config
from morph_tasks.verify.validators import secrets, table
from morph_tasks.verify.validators.model import Checked

NONE = Config({}, "")
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAc5Qz"
VALUE = "Zx81-kkqw"
HEAD, TAIL = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
BODY = "MIIEowIBAAKCAQEA7bq9nTqzPQ8hXk2mB4vC6sD1fG3hJ5kL"


def _check(tree: Any) -> Checked:
    found = table.run(tree.repo, NONE, "secrets")
    for value in (TOKEN, VALUE, BODY):
        assert value not in str(found)
    return found


def test_a_finding_names_its_place_and_kind_alone(tree: Any) -> None:
    tree.write("src/app.py", f"x = 1\npassword = '{VALUE}'\n")
    tree.write("ci.txt", f"{TOKEN}\n")
    found = _check(tree)
    assert (found.status, found.reason) == ("fail", "secret-found")
    assert found.detail == ("ci.txt:1: GitHub Token", "src/app.py:2: Secret under its name")
    assert found.message.startswith("2 possible secrets")
    assert "allowlist secret" in found.message


def test_clean_lines_are_a_pass(tree: Any) -> None:
    tree.write("app.py", "x = 1\n")
    assert _check(tree) == Checked("pass", None, "no secret in 1 added lines")


def test_only_added_lines_are_looked_at(tree: Any) -> None:
    tree.git("checkout", "-q", "main")
    tree.write("app.py", f"password = '{VALUE}'\n")
    tree.commit()
    tree.git("checkout", "-q", "-B", "morph/cart")
    assert _check(tree).status == "skip"
    tree.write("app.py", f"password = '{VALUE}'\nx = 1\n")
    assert _check(tree).status == "pass"
    tree.write("app.py", f"x = 1\ny = 2\npassword = '{VALUE}0'\n")
    assert _check(tree).detail == ("app.py:3: Secret under its name",)


@pytest.mark.parametrize("how", ["untracked", "staged", "committed"])
def test_it_does_not_matter_what_git_knows(tree: Any, how: str) -> None:
    tree.write("app.py", f"password = '{VALUE}'\n")
    if how != "untracked":
        tree.git("add", "-A")
    if how == "committed":
        tree.commit()
    assert _check(tree).status == "fail"


def test_before_the_first_commit_everything_is_looked_at(fresh: Any) -> None:
    fresh.write("app.py", f"password = '{VALUE}'\n")
    assert _check(fresh).status == "fail"


def test_a_long_list_is_cut(tree: Any) -> None:
    tree.write("app.env", "".join(f"DB{number}_PASSWORD={VALUE}\n" for number in range(30)))
    found = _check(tree)
    assert len(found.detail) == 21
    assert found.detail[-1] == "and 10 more"


class TestAllowed:
    @pytest.mark.parametrize(
        "mark", ["# pragma: allowlist secret", "// pragma: whitelist secret", "<!-- gitleaks:allow -->"]
    )
    def test_on_its_line(self, tree: Any, mark: str) -> None:
        tree.write("app.py", f"password = '{VALUE}'  {mark}\n")
        assert _check(tree).status == "pass"

    def test_on_the_line_above_even_when_that_one_is_old(self, tree: Any) -> None:
        tree.git("checkout", "-q", "main")
        tree.write("app.py", "# pragma: allowlist nextline secret\nx = 1\n")
        tree.commit()
        tree.git("checkout", "-q", "-B", "morph/cart")
        tree.write("app.py", f"# pragma: allowlist nextline secret\npassword = '{VALUE}'\nx = 1\n")
        assert _check(tree).status == "pass"

    def test_not_on_another_line(self, tree: Any) -> None:
        tree.write("app.py", f"# pragma: allowlist secret\npassword = '{VALUE}'\n")
        assert _check(tree).status == "fail"

    def test_by_a_baseline(self, tree: Any) -> None:
        tree.write("app.py", f"password = '{VALUE}'\n")
        entry = {"type": "Secret Keyword", "hashed_secret": hashlib.sha1(VALUE.encode()).hexdigest()}
        tree.write(".secrets.baseline", json.dumps({"results": {"app.py": [entry]}}))
        assert _check(tree).status == "pass"
        tree.write(".secrets.baseline", json.dumps({"results": {"other.py": [entry]}}))
        assert _check(tree).status == "fail"

    @pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"results": 3}', '{"results": {"a": [3]}}'])
    def test_not_by_a_baseline_that_cannot_be_read(self, tree: Any, text: str) -> None:
        tree.write("app.py", f"password = '{VALUE}'\n")
        tree.write(".secrets.baseline", text)
        found = _check(tree)
        assert found.status == "fail"
        assert any(".secrets.baseline" in line for line in found.warnings)

    def test_a_token_is_known_to_the_baseline_by_what_its_tool_noted(self, tree: Any) -> None:
        tree.write("app.py", f"x = '{TOKEN}'\n")
        entry = {"type": "GitHub Token", "hashed_secret": hashlib.sha1(b"ghp").hexdigest()}
        tree.write(".secrets.baseline", json.dumps({"results": {"app.py": [entry]}}))
        assert _check(tree).status == "pass"


class TestFiles:
    @pytest.mark.parametrize(
        "path",
        [
            "package-lock.json",
            "pnpm-lock.yaml",
            "yarn.lock",
            "uv.lock",
            "go.sum",
            "bun.lockb",
            "gradle.lockfile",
            "Cargo.lock",
            "web/app.min.js",
            "web/app.js.map",
            "logo.svg",
            "node_modules/x/a.js",
            "vendor/x/a.go",
            "npm-shrinkwrap.json",
        ],
    )
    def test_hashes_by_nature_and_files_of_others(self, tree: Any, path: str) -> None:
        tree.write(path, f"password = '{VALUE}'\n{TOKEN}\n")
        assert _check(tree).status == "skip"

    @pytest.mark.parametrize("path", ["lock.py", "deadlock.go", "src/locker.ts", "map.py"])
    def test_names_that_only_look_like_it(self, tree: Any, path: str) -> None:
        tree.write(path, f"password = '{VALUE}'\n")
        assert _check(tree).status == "fail"

    @pytest.mark.parametrize(
        "path",
        [
            "tests/test_login.py",
            "src/login.test.ts",
            "Shop.Tests/Login.cs",
            "pkg/login_test.go",
            "fixtures/user.json",
            ".env.example",
            "config.sample.yml",
            "app.env.template",
            "tests/data/users.yml",
            "spec/login.rb",
        ],
    )
    def test_made_up_values_belong_here_and_real_tokens_do_not(self, tree: Any, path: str) -> None:
        tree.write(path, f"password = '{VALUE}'\n")
        assert _check(tree).status == "pass"
        tree.write(path, f"x = '{TOKEN}'\n")
        assert _check(tree).status == "fail"

    def test_binary_files_and_links(self, tree: Any) -> None:
        tree.write("data.dat", b"\0\0" + TOKEN.encode() + b"\n")
        os.symlink("/nowhere", tree.root / "link")
        assert _check(tree).status == "pass"

    def test_a_name_that_would_break_the_line(self, tree: Any) -> None:
        tree.write("a\nb.py", f"password = '{VALUE}'\n")
        assert _check(tree).detail == ("a\\nb.py:1: Secret under its name",)

    def test_bytes_that_are_no_text(self, tree: Any) -> None:
        tree.write("a.py", b"# caf\xe9\npassword = '" + VALUE.encode() + b"'\n")
        assert _check(tree).detail == ("a.py:2: Secret under its name",)


class TestPrivateKeys:
    def test_a_block(self, tree: Any) -> None:
        tree.write("deploy.pem", f"{HEAD}\n{BODY}\n{TAIL}\n")
        assert _check(tree).detail == ("deploy.pem:1: Private Key",)

    @pytest.mark.parametrize("line", ['"key": "{0}\\n{1}\\n{2}\\n"', "KEY = '{0}\\n' + '{1}'", "  {0}\n  {1}\n  {2}"])
    def test_inside_of_other_files(self, tree: Any, line: str) -> None:
        tree.write("app.json", line.format(HEAD, BODY, TAIL) + "\n")
        assert _check(tree).status == "fail"

    @pytest.mark.parametrize(
        "line", [f'if "{HEAD}" in text:', f"# looks for {HEAD}", f'HEADS = ["{HEAD}",\n    "other"]']
    )
    def test_programs_that_read_keys_know_the_words(self, tree: Any, line: str) -> None:
        tree.write("app.py", f"{line}\n    pass\n")
        assert _check(tree).status == "pass"

    def test_a_public_key_is_public(self, tree: Any) -> None:
        tree.write("key.pub", f"-----BEGIN PUBLIC KEY-----\n{BODY}\n-----END PUBLIC KEY-----\n")
        assert _check(tree).status == "pass"


def test_the_version_of_the_detector_is_a_fact(tree: Any) -> None:
    import detect_secrets.__version__

    assert secrets.facts(tree.repo, NONE)["detector"] == detect_secrets.__version__.VERSION
