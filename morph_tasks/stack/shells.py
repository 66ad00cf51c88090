"""Variables as lines that a shell can load, whatever is in the values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

POSIX, POWERSHELL, FISH = "posix", "powershell", "fish"
# PowerShell takes each of these for a quote that ends the string.
_POWERSHELL_QUOTES = "'\u2018\u2019\u201a\u201b"


def lines(values: Mapping[str, str], shell: str = POSIX) -> str:
    """Return one line for each variable, for `eval`, `source` or `Invoke-Expression`."""
    how = {POSIX: _posix, POWERSHELL: _powershell, FISH: _fish}[shell]
    return "\n".join(how(name, value) for name, value in values.items())


def _posix(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}"


def _fish(name: str, value: str) -> str:
    # Newlines apart from the quotes: `eval (...)` gets the output by lines.
    parts = ["'" + part.replace("\\", "\\\\").replace("'", "\\'") + "'" for part in value.split("\n")]
    return f"set -gx {name} " + "\\n".join(parts)


def _powershell(name: str, value: str) -> str:
    if any(ord(sign) < 0x20 for sign in value):
        # A pipe hands Invoke-Expression one line at a time.
        inside = "".join(_powershell_sign(sign) for sign in value)
        return f'$env:{name} = "{inside}"'
    for quote in _POWERSHELL_QUOTES:
        value = value.replace(quote, quote * 2)
    return f"$env:{name} = '{value}'"


def _powershell_sign(sign: str) -> str:
    if ord(sign) < 0x20:
        return {"\n": "`n", "\r": "`r", "\t": "`t"}.get(sign, f"$([char]{ord(sign)})")
    return f"`{sign}" if sign in '`"$\u201c\u201d\u201e' else sign
