"""Which names say that their value is a secret."""

from __future__ import annotations

import re
from itertools import pairwise

_SECRET = frozenset({
    "password", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "token", "apikey", "credential",
    "credentials", "apisecret", "apitoken", "authtoken", "accesstoken", "dbpassword", "userpassword",
})  # fmt: skip
_KEYS = frozenset({
    "api", "access", "account", "auth", "client", "db", "database", "encryption", "master", "private", "service",
    "shared", "signing", "storage",
})  # fmt: skip
# A name that ends like this says something about a secret.
_ABOUT = frozenset({
    "action", "alg", "algorithm", "attempts", "class", "column", "count", "encoder", "encoding", "endpoint",
    "env", "error", "expires", "expiry", "field", "file", "form", "format", "hash", "hasher", "header", "hint",
    "icon", "id", "input", "kind", "label", "length", "limit", "link", "max", "message", "min", "mode", "name",
    "page", "param", "path", "pattern", "placeholder", "policy", "prefix", "provider", "ref", "regex", "reset",
    "route", "rule", "rules", "scope", "status", "store", "strength", "suffix", "template", "text", "title",
    "ttl", "type", "uri", "url", "usage", "var", "version",
})  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_secret_name(name: str) -> bool:
    """Tell whether a name says that its value is a secret: `dbPassword`, `API_KEY`, not `tokenType`."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[-1] in _ABOUT:
        return False
    keyed = any(word in _KEYS and after == "key" for word, after in pairwise(words))
    return keyed or words[-1] == "pass" or not _SECRET.isdisjoint(words)
