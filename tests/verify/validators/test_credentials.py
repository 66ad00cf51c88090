from __future__ import annotations

import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.validators.credentials import candidates
from morph_tasks.verify.validators.plausible import is_plausible
from morph_tasks.verify.validators.secret_names import is_secret_name

# Tokens are put together here, so that nobody's scanner takes this file for a leak.
RANDOM = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
FORMS = {
    "AWS Access Key": "AKIA" + "QYLPMN5HFJ3T7XKD",
    "GitHub Token": "ghp_" + RANDOM + "c5Qz",
    "GitLab Token": "glpat-" + RANDOM[:20],
    "Slack Token": "xoxb-" + "123456789012-1234567890123-" + RANDOM[:24],
    "Stripe Key": "sk_live_" + RANDOM[:24],
    "npm Token": "npm_" + RANDOM + "c5Qz",
    "Anthropic Token": "sk-ant-" + "api03-" + RANDOM,
    "Google API Key": "AIza" + RANDOM + "c5Q",
    "SendGrid API Key": "SG." + RANDOM[:22] + "." + RANDOM + RANDOM[:11],
    "HashiCorp Vault Token": "hvs." + RANDOM,
    "Twilio API Key": "SK" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
}


def _kinds(path: str, line: str) -> set[str]:
    return {found.kind for found in candidates(path, line)}


@pytest.mark.parametrize("kind", sorted(FORMS))
@pytest.mark.parametrize("around", ["{}", "x = '{}'", "curl https://h.example.test -H X-Key:{} -o f", '{{"k":"{}"}}'])
def test_tokens_are_known_by_their_form_wherever_they_stand(kind: str, around: str) -> None:
    found = list(candidates("notes.txt", around.format(FORMS[kind])))
    assert kind in {each.kind for each in found}
    assert any(each.certain for each in found)


@pytest.mark.parametrize("kind", sorted(FORMS))
def test_a_value_is_not_part_of_how_a_finding_is_shown(kind: str) -> None:
    for found in candidates("a.py", f"token = '{FORMS[kind]}'"):
        assert FORMS[kind][6:] not in repr(found)


def test_nothing_asks_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **more: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    assert all(_kinds("a.py", f"key = '{token}'") for token in FORMS.values())


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", 'password = "S3cr3t-Passw0rd!"'),
        ("a.py", "password='hunter2'"),
        ("a.py", 'os.environ["DB_PASSWORD"] = "Zx81kkqw"'),
        ("a.py", 'token = os.getenv("API_TOKEN", "a8f3kd92mfk20sldk20")'),
        ("a.py", 'def connect(password: str = "Zx81kkqw"):'),
        ("a.py", "if password == 'Zx81kkqw':"),
        ("a.ts", 'const password: string = "Tr0ub4dor&3";'),
        ("a.ts", "const ok = a ? b : password === 'Zx81kkqw'"),
        ("a.js", 'const k = process.env.API_KEY || "a8f3kd92mfk20sldk20"'),
        ("a.go", 'var dbPassword string = "hunter2x"'),
        ("a.go", 'apiKey := "a8f3kd92mfk20sldk20"'),
        ("a.rs", 'const API_KEY: &\'static str = "a8f3kd92mfk20sldk20";'),
        ("a.cs", 'var cs = "Server=db.example.test;User Id=zed;Password=aZ9-nine;Encrypt=true";'),
        ("a.rb", "  :password => 'Zx81kkqw',"),
        ("a.php", "'password' => 'Zx81kkqw',"),
        ("a.c", 'char password[25] = "Zx81kkqw";'),
        ("a.json", '"clientSecret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEY"'),
        ("a.tf", '  db_password = "Zx81kkqw"'),
        ("w.config", '<add key="DbPassword" value="Zx81kkqw" />'),
        ("p.xml", "<password>Zx81kkqw</password>"),
        (".env", "DB_PASSWORD=Zx81kkqw"),
        (".env", "export APP_SECRET=4fcbdc8c32383fb69a72b8c1bc8e9941b3f80451"),
        ("Dockerfile", "ENV API_TOKEN=a8f3kd92mfk20sldk20"),
        ("c.yml", "  password: Zx81kkqw # for now"),
        ("c.yml", "- API_TOKEN=a8f3kd92mfk20sldk20"),
        ("a.ini", "secret_key = Zx81kkqw"),
        ("a.md", "psql postgres://zed:p@ss:w-1@db.example.test:5432/app"),
        ("a.sh", "git clone https://x-access:Zx81kkqwTT@git.example.test/a/b.git"),
        ("a.sh", "curl -H 'Authorization: Bearer 8f3kd92mfk20sldk20'"),
        ("a.sh", "mysql --password=Zx81kkqw"),
    ],
)
def test_values_that_a_line_calls_secret(path: str, line: str) -> None:
    assert _kinds(path, line)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.sh", "git show 4fcbdc8c32383fb69a72b8c1bc8e9941b3f80451"),
        ("a.sh", "docker pull e/x@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
        ("a.sh", "run id 6f1d2c3b-1111-4222-8333-abcdefabcdef"),
        ("a.sh", "tests/test_averyveryveryverylongmodulename_withoutseparators.py"),
        ("a.py", 'COMMIT = "4fcbdc8c32383fb69a72b8c1bc8e9941b3f80451"'),
        ("a.json", '"integrity": "sha512-z1gZ5m9kqw/0pL3RbM9gq5XhZ+abcd=="'),
        ("a.py", 'password = "changeme"'),
        ("a.py", 'password = "test1234"'),
        ("a.py", 'password = os.environ["DB_PASSWORD"]'),
        ("a.py", "password: str = Field(min_length=8)"),
        ("a.py", "password = getpass('Password 1: ')"),
        ("a.py", 'token_type = "bearer2"'),
        ("a.py", 'PASSWORD_HASHER = "pbkdf2_sha256"'),
        ("a.py", 'secret_name = "prod/db1/password"'),
        ("a.py", 'secret = "prod/db1/password"'),
        ("a.py", 'api_key = "your-api-key-1"'),
        ("a.py", 'KEY = "AKIAIOSFODNN7EXAMPLE"'),
        ("a.py", 'x = "ghp_' + "x" * 36 + '"'),
        ("a.py", 'password = "{password1}"'),
        ("a.py", 'raise ValueError("token: expected 1 got 2")'),
        ("a.py", 'csrf_token = "{{ csrf_token1 }}"'),
        ("a.py", 'client_secret = "6f1d2c3b-1111-4222-8333-abcdefabcdef"'),
        ("a.py", "max_tokens: int = 4096"),
        ("a.py", 'PASSWORD_RE = "^(?=.*[A-Z])(?=.*\\d).{8,}$"'),
        ("a.py", 'if token == "access_token2":'),
        ("a.ts", 'password: "Senha"'),
        ("a.json", '"password": "8文字以上で入力してください"'),
        ("a.ts", 'passwordLabel: "Your password 1"'),
        ("a.ts", 'password: "Must hold 8 characters"'),
        ("a.ts", '<input name="password" placeholder="Password1" />'),
        ("a.ts", 'resetPasswordUrl: "/reset/1234abc"'),
        ("a.ts", 'const token = await getToken("x1y2z3");'),
        ("a.ts", "type Props = { password: string; token1: string }"),
        ("a.go", 'secretName := "app-tls-2"'),
        ("a.go", 'secret := "app-tls-2"'),
        ("a.cs", '[JsonProperty("access_token")]'),
        ("c.yml", "password: ${DB_PASSWORD1}"),
        ("c.yml", "password: ${{ secrets.X1 }}"),
        ("c.yml", "secret: kv1/data/app"),
        ("c.yml", "DATABASE_URL: postgres://postgres:postgres@db:5432/app"),
        ("c.yml", "secret: !vault |"),
        ("a.sh", 'TOKEN="$(gh auth token)"'),
        ("a.sh", "PASSWORD=$1"),
        ("README.md", "- password: at least 8 chars, 1 digit"),
        ("README.md", "see https://host:8080/path/@scope/pkg1 and redis://cache:6379@x"),
        ("README.md", "https://example.test/path?x=1#a@b"),
    ],
)
def test_what_is_no_secret(path: str, line: str) -> None:
    assert _kinds(path, line) == set()


def test_a_generated_line_is_only_asked_for_forms() -> None:
    filler = "a" * 3000
    assert _kinds("a.js", f"{filler};password='Zx81kkqw'") == set()
    assert _kinds("a.js", f"{filler};x='{FORMS['GitHub Token']}'") == {"GitHub Token"}


@pytest.mark.parametrize("start", [1990, 2000, 2390, 2400, 100_000])
def test_a_token_is_found_wherever_a_long_line_is_cut(start: int) -> None:
    line = "/" * start + " " + FORMS["GitHub Token"] + " " + "/" * 5000
    assert _kinds("a.js", line) == {"GitHub Token"}


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("password", True),
        ("dbPassword", True),
        ("API_KEY", True),
        ("apiKey2", True),
        ("APIKey", True),
        ("aws.secret-access-key", True),
        ("user_pass", True),
        ("SECRET_KEY_BASE", True),
        ("tokenType", False),
        ("password_hash", False),
        ("passwordResetUrl", False),
        ("bypass_all", False),
        ("compass", False),
        ("pass_rate", False),
        ("tokens", False),
        ("tokenizer", False),
        ("primary_key", False),
        ("cache-key", False),
        ("monkey", False),
        ("", False),
    ],
)
def test_names(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.parametrize(
    "value", ["", "aaaaaaa1", "sha256", "utf8-bom", "DB_PASSWORD_2", "x@example-1.test", "/etc/key1"]
)
def test_values_that_are_none(value: str) -> None:
    assert not is_plausible(value)


@pytest.mark.parametrize("unit", ["password:", "password=", "a.", " ", "'", "://", "\\\\", "//"])
def test_a_repetitive_line_comes_to_an_end(unit: str) -> None:
    assert list(candidates("x.yml", "password" + unit * (1900 // len(unit)))) is not None
    assert list(candidates("x.yml", "key " + unit * 50_000)) is not None


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["a.py", ".env", "x", "a.yml"]))
def test_any_line_can_be_read(line: str, path: str) -> None:
    assert isinstance(list(candidates(path, line)), list)
