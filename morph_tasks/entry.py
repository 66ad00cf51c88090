"""The console command. What is asked most is answered before the machinery of commands is loaded."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    argv = sys.argv[1:]
    code = None
    if argv[:1] == ["verify"]:
        from morph_tasks.verify.witness import replay

        code = replay(argv)
    elif argv[:1] in (["list"], ["--help"], ["-h"]):
        from morph_tasks.cli.quick import quick

        code = quick(argv)
    if code is not None:
        return code
    from morph_tasks.cli.main import main as run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
