"""The console command. What is asked most is answered before the machinery of commands is loaded."""

from __future__ import annotations

import sys

from morph_tasks import stdio


def main() -> int:
    """Run the command line and return its exit code."""
    stdio.forgive()
    try:
        return stdio.settle(_run(sys.argv[1:]))
    except KeyboardInterrupt:  # before the handlers are installed
        stdio.say_interrupted()
        return 130


def _run(argv: list[str]) -> int:
    code = _quick(argv)
    if code is None:
        from morph_tasks.cli.main import main as run

        code = run(argv)
    return code


def _quick(argv: list[str]) -> int | None:
    """Answer what can be answered without the commands; None when they are needed, whatever went wrong here."""
    try:
        if argv[:1] == ["verify"]:
            from morph_tasks.verify.witness import replay

            return replay(argv)
        if argv[:2] == ["graph", "status"]:
            from morph_tasks.codegraph.quick import answer as graph_status

            return graph_status(argv)
        if argv[:2] == ["graph", "affected"]:
            from morph_tasks.codegraph.quick_affected import answer as affected

            return affected(argv)
        if argv[:1] == ["e2e"]:
            from morph_tasks.stack.quick import answer

            return answer(argv)
        if argv[:1] in (["list"], ["--help"], ["-h"]):
            from morph_tasks.cli.quick import quick

            return quick(argv)
    except Exception:
        return None
    return None


if __name__ == "__main__":
    sys.exit(main())
