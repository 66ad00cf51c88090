"""What looks like a credential in a line: tokens of known providers, and values that a line calls secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from morph_tasks.verify.validators.plausible import is_example, is_plausible
from morph_tasks.verify.validators.secret_names import is_secret_name

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector


@dataclass(frozen=True)
class Candidate:
    """A possible secret. `certain`: its form alone says so, whatever the file. The values are for comparing only."""

    kind: str
    values: tuple[str, ...] = field(repr=False)
    certain: bool = False


# Longer lines are generated: only what its form gives away is looked for in them.
_LONGEST_LINE, _OVERLAP = 2000, 400
_RUN = re.compile(r"[A-Za-z0-9_\-/+.=:]{20}")
# Forms that detect-secrets does not know yet.
_FORMS = (
    ("GitHub Token", r"github_pat_\w{36,}"),
    ("Anthropic Token", r"sk-ant-[\w-]{24,}"),
    ("OpenAI Token", r"sk-(?:proj|svcacct|admin)-[\w-]{40,}|sk-[A-Za-z0-9]{48}"),
    ("Google API Key", r"AIza[\w-]{35}"),
    ("Google OAuth Token", r"ya29\.[\w-]{30,}"),
    ("Hugging Face Token", r"hf_[A-Za-z0-9]{34}"),
    ("DigitalOcean Token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("Shopify Token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("npm Token", r"npm_[A-Za-z0-9]{36}"),
    ("Slack Token", r"xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]+"),
    ("Stripe Key", r"(?:sk|rk)_live_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{32,}"),
    ("HashiCorp Vault Token", r"hv[sb]\.[\w-]{24,}"),
    ("age Key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
)
_OWN = tuple((kind, re.compile(rf"(?<![A-Za-z0-9_-])(?:{form})")) for kind, form in _FORMS)

_JSON_TOKEN = re.compile(r"\beyJ[\w=-]{10,}\.eyJ[\w=-]{10,}\.[\w.+/=-]{10,}")
_DEMO_CLAIM = "eyJzdWIiOiIxMjM0NTY3ODkwIi"  # of the example that every tutorial shows
_HINT = re.compile(r"pass|pwd|secret|token|key|credential|://|authorization", re.I)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://([^\s:/@'\"`<>?#]*):([^\s/'\"`<>]+)@[\w\[]", re.I)
_HEADER = re.compile(r"authorization['\"]?\s*[:=,]\s*['\"`]?\s*(?:bearer|basic|token)\s+([\w+/.=~-]{12,})", re.I)
_SETTINGS = re.compile(r"\b(?:server|data source|host|hostname|user id|uid|user|username|database|dbname)\s*=", re.I)
_SETTING = re.compile(r"\b(?:password|pwd)\s*=\s*(?:'([^']+)'|\{([^}]+\}?)\}|([^;'\"\s()]+))", re.I)
_OPERATOR = r"\s{0,8}(?::=|=>|[=!]==?|=|:|\|\||\?\?)\s{0,8}"
_NAME = r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{0,80})"
_TYPE = r"(?:\s{0,4}:\s{0,4}[\w&*\[][\w.\[\]<>|&?*' ]{0,60}?)?"
_STRING = r"[bruf@$]{0,2}(?P<quote>['\"`])(?P<value>(?:\\.|(?!(?P=quote)).)+)(?P=quote)"
_NAMED = (
    re.compile(rf"{_NAME}(?:\[\d*\])?['\"\]]{{0,3}}{_TYPE}{_OPERATOR}{_STRING}"),
    re.compile(rf"\b(?:var|const)\s+{_NAME}\s+\*?[\w.]+\s{{0,8}}=\s{{0,8}}{_STRING}"),
    re.compile(
        rf"(?:env|get)\w{{0,20}}\(\s{{0,8}}['\"](?P<name>[\w.:-]{{1,80}})['\"]\s{{0,8}},\s{{0,8}}{_STRING}", re.I
    ),
    re.compile(rf"\b(?:key|name)=['\"](?P<name>[\w.:-]{{1,80}})['\"]\s{{1,8}}value={_STRING}", re.I),
    re.compile(r"<(?P<name>[A-Za-z][\w.:-]{0,80})>(?P<value>[^<>\s]+)</"),
)
_BARE = (
    re.compile(r"(?:^|[\s;,{'\"-])(?P<name>[A-Za-z_][\w.-]{0,80})=(?P<value>[^\s'\"`;,&|<>()]+)"),
    re.compile(
        rf"^\s*(?:-\s{{1,8}})?['\"]?{_NAME}['\"]?(?:\s{{0,8}}:|\s{{1,8}}=)\s{{1,8}}"
        r"(?P<value>[^\s'\"`()!*&|>#][^\s'\"`()]*)\s*(?:#.*)?$"
    ),
)
# In these a value needs no quotes.
_SOURCES = frozenset({
    ".c", ".cc", ".cjs", ".cpp", ".cs", ".dart", ".ex", ".exs", ".fs", ".go", ".h", ".hpp", ".java", ".js", ".json",
    ".jsx", ".kt", ".kts", ".m", ".mjs", ".php", ".pl", ".py", ".pyi", ".rb", ".rs", ".scala", ".svelte", ".swift",
    ".ts", ".tsx", ".vb", ".vue",
})  # fmt: skip


def candidates(path: str, line: str) -> Iterator[Candidate]:
    """Yield what a line may give away."""
    for piece in _pieces(line):
        if _RUN.search(piece):
            yield from _by_form(piece)
    if len(line) > _LONGEST_LINE or not _HINT.search(line):
        return
    for kind, value in _by_name(path, line):
        if is_plausible(value):
            yield Candidate(kind, (value,))


def _pieces(line: str) -> Iterator[str]:
    """Yield a long line in parts that overlap by more than a token: some patterns take the square of a length."""
    for start in range(0, max(len(line) - _OVERLAP, 1), _LONGEST_LINE):
        yield line[start : start + _LONGEST_LINE + _OVERLAP]


def _by_form(line: str) -> Iterator[Candidate]:
    for kind, form in _OWN:
        for hit in form.finditer(line):
            if not is_example(hit[0]):
                yield Candidate(kind, (hit[0],), certain=True)
    for detector in _detectors():
        for form in detector.denylist:
            for hit in form.finditer(line):
                if not is_example(hit[0]):
                    yield Candidate(detector.secret_type, (hit[0], *filter(None, hit.groups())), certain=True)
    for token in _JSON_TOKEN.findall(line):
        if _DEMO_CLAIM not in token:
            yield Candidate("JSON Web Token", (token,))


def _by_name(path: str, line: str) -> Iterator[tuple[str, str]]:
    for hit in _ADDRESS.finditer(line):
        if hit[1] != hit[2]:
            yield "Password in an address", hit[2]
    for hit in _HEADER.finditer(line):
        yield "Authorization header", hit[1]
    if _SETTINGS.search(line):
        for hit in _SETTING.finditer(line):
            yield "Password in a connection string", next(filter(None, hit.groups()))
    bare = () if PurePosixPath(path).suffix.lower() in _SOURCES else _BARE
    for pattern in (*_NAMED, *bare):
        hit = pattern.search(line)
        while hit:
            secret = is_secret_name(hit["name"])
            if secret:
                yield "Secret under its name", hit["value"]
            # Behind a harmless name stands another one as often as not: `x: password == "…"`.
            hit = pattern.search(line, hit.end() if secret else hit.end("name"))


@lru_cache(maxsize=1)
def _detectors() -> tuple[RegexBasedDetector, ...]:
    """Return the detectors of detect-secrets that know the form of a token.

    Only their patterns are used: none of them asks the provider whether a token is live. Left out are those that go
    by entropy, by names, or by forms that ordinary words have.
    """
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.npm import NpmDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    return (
        AWSKeyDetector(),
        AzureStorageKeyDetector(),
        DiscordBotTokenDetector(),
        GitHubTokenDetector(),
        GitLabTokenDetector(),
        MailchimpDetector(),
        NpmDetector(),
        OpenAIDetector(),
        PypiTokenDetector(),
        SendGridDetector(),
        SlackDetector(),
        SquareOAuthDetector(),
        StripeDetector(),
        TelegramBotTokenDetector(),
        TwilioKeyDetector(),
    )
