"""The console command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:2] == ["verify"]:
        from morph_tasks.verify.witness import replay

        code = replay(sys.argv[1:])
        if code is not None:
            return code
    if sys.argv[1:2] == ["list"]:
        from morph_tasks.cli.quick import quick_list

        code = quick_list(sys.argv[1:])
        if code is not None:
            return code
    from morph_tasks.cli.main import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
