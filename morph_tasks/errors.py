"""The one expected-failure type."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # the no-op imports this module, and `typing` costs more than the rest of it
    from typing import Any


class Refusal(Exception):
    """An expected failure: a stable kebab-case code, one sentence, and the way out.

    `exit_code` follows the contract of the commands: 1 refused or red, 2 usage, 3 busy or
    pending, 4 unsafe. `payload` holds further JSON keys that a caller can act on.
    """

    def __init__(self, code: str, what: str, *, fix: str = "", exit_code: int = 1, **payload: Any) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.fix = fix
        self.exit_code = exit_code
        self.payload = payload

    def as_json(self) -> dict[str, Any]:
        """Return the refusal as the JSON document that `--json` prints."""
        return {"ok": False, "code": self.code, "message": self.what, "fix": self.fix, **self.payload}


def unexpected(error: BaseException) -> Refusal:
    """Turn a fault of our own into a refusal; the traceback goes to a private file that a report can quote."""
    import os
    import tempfile
    import traceback

    handle, path = tempfile.mkstemp(prefix="morph-spec-fault-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("".join(traceback.format_exception(error)))
    what = f"a fault of morph-spec itself: {type(error).__name__}: {error}"
    return Refusal("internal-error", what, fix=f"please report it with {path}", details=path)
