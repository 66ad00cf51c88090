"""Could this value be a secret? What names, places, templates, identifiers and examples look like."""

from __future__ import annotations

import math
import re
from collections import Counter

_SHORTEST = 7
_RANDOM_LENGTH, _RANDOM_BITS = 20, 3.8  # letters alone: as long and as mixed as a generated key
_UUID = re.compile(r"[{(]?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}[)}]?", re.I)
_PLACEHOLDER = re.compile(
    r"""example|sample|placeholder|change[-_ ]?(?:me|it|this)|\byour\b|your[-_]|xxx|\*\*\*|\.\.\.|dummy|\bfake|\bmock
    |todo|redacted|insert[-_]|replace[-_]|\bnot[-_]?a?[-_]?(?:real|secret)|foobar|lorem""",
    re.I | re.X,
)
_MADE_UP = re.compile(r"deadbeef|0{8}|1234567890|12345678|abcdefgh|qwertyui", re.I)
_WHOLE = re.compile(
    r"(?:test|demo|dev|local|admin|root|guest|postgres|user|password|passwd|secret|token)\d{0,4}[!@]?", re.I
)
_TEMPLATE = re.compile(r"\$\{|\$\(|\{\{|\}\}|%\(|%[sd@]|#\{|<[^>]*>|^\$|^%\w+%$|^\{\w*\}$|^@\w+@$|^:\w+$|__\w+__")
_EXPRESSION = re.compile(r"^(?:process\.|os\.|env\.|config\.|self\.|this\.|settings\.|secrets?\.|vars?\.|params?\.)")
_REGULAR_EXPRESSION = re.compile(r"\(\?|\\[dws]|\.\*|\[\^?[a-zA-Z]-[zZ9]|^\^|\{\d+,\d*\}")
_ALGORITHM = re.compile(
    r"(?:sha|md|utf|base|hs|rs|es|ps|aes|argon|pbkdf|rsa|ed|x|v|http|oauth|win|iso)-?\d+\w*(?:[-_.]\w+)*", re.I
)
_NAME_AND_NUMBER = re.compile(r"[A-Za-z]+(?:[-_.:][A-Za-z]+)+[-_.:]?\d{0,4}|[A-Z]+(?:_[A-Z0-9]+)+")
_PLACE = re.compile(
    r"""^(?:\.{0,2}/|~/|[a-zA-Z]:\\)|://|^[a-z0-9_.@-]+(?:/[a-z0-9_.@-]+)+$
    |\.(?:json|ya?ml|toml|txt|pem|key|env|py|[jt]sx?|html?|css|md)$""",
    re.X,
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def is_plausible(value: str) -> bool:
    """Tell whether a value that is called a secret could be one; words, paths and references are not."""
    # A sentence without spaces is no rarity in some languages; a secret of letters beyond ASCII is one.
    if (
        len(value) < _SHORTEST
        or not value.isascii()
        or re.search(r"\s", value)
        or is_example(value)
        or _MADE_UP.search(value)
    ):
        return False
    if _WHOLE.fullmatch(value) or _UUID.fullmatch(value) or _EMAIL.fullmatch(value):
        return False
    if any(shape.search(value) for shape in (_TEMPLATE, _EXPRESSION, _REGULAR_EXPRESSION, _PLACE)):
        return False
    if _ALGORITHM.fullmatch(value) or _NAME_AND_NUMBER.fullmatch(value):
        return False
    letters = any(char.isalpha() for char in value)
    others = any(char.isdigit() or not (char.isalnum() or char in "_-.:,/") for char in value)
    return letters and (others or _is_random(value))


def is_example(value: str) -> bool:
    """Tell whether a value says of itself that it is none: a placeholder, one character, a row of the alphabet."""
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) <= 3 or _is_row(value)


def _is_row(value: str) -> bool:
    rows = (
        "abcdefghijklmnopqrstuvwxyz0123456789" * 2,
        "0123456789abcdefghijklmnopqrstuvwxyz" * 2,
        "0123456789abcdef" * 8,
    )
    return any(value.lower() in row for row in rows)


def _is_random(value: str) -> bool:
    mixed = value.lower() != value and value.upper() != value
    return mixed and len(value) >= _RANDOM_LENGTH and entropy(value) >= _RANDOM_BITS


def entropy(value: str) -> float:
    """Return the bits for each character of a text."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
