"""Measure the commands against floors of the same run, and print a markdown table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

import fleet
import graph
import rows
from repos import Workshop
from rows import Bench, Measured, Size
from timing import NotAvailable

ROWS = {**rows.ROWS, **fleet.ROWS, **graph.ROWS}
GROUPS = {"graph": list(graph.ROWS)}
PAGE = Path(__file__).resolve().parents[2] / "docs/performance.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
HEAD = "| what | floor | measured | target | |\n| --- | --- | --- | --- | --- |\n"


def main() -> int:
    """Return 0 when every target was held, 1 when one was missed or could not be measured."""
    arguments = _arguments()
    asked = [name for one in arguments.rows for name in GROUPS.get(one, [one])]
    names = asked or [name for name in ROWS if not (arguments.quick and name.endswith("-50k"))]
    size = Size(
        pairs=arguments.pairs or (3 if arguments.quick else 7),
        files=arguments.files,
        many_files=arguments.many_files,
        log_bytes=arguments.log_mb * 1024 * 1024,
    )
    lines, missed = [], 0
    with tempfile.TemporaryDirectory(prefix="morph-spec-bench.") as folder:
        bench = Bench(Workshop(Path(folder).resolve()), size)
        print(HEAD, end="", flush=True)
        for name in names:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            line, held = _line(name, bench)
            missed += not held
            lines.append(line)
            print(line, flush=True)
        bench.workshop.close()
    about = (
        f"\nMedians of {size.pairs} interleaved pairs on {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}."
    )
    if os.environ.get("NODE_EXTRA_CA_CERTS"):
        about += " `node` started with `NODE_EXTRA_CA_CERTS` set, which makes its start slower."
    print(about)
    if arguments.write:
        _write(HEAD + "\n".join(lines) + "\n" + about)
    return 1 if missed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "rows",
        nargs="*",
        choices=[[], *ROWS, *GROUPS],
        metavar="row",
        help=f"only these: {', '.join([*ROWS, *GROUPS])}",
    )
    parser.add_argument("--quick", action="store_true", help="three pairs, nothing with 50,000 files")
    parser.add_argument("--write", action="store_true", help="refresh the table in docs/performance.md too")
    parser.add_argument("--pairs", type=int, help="how many pairs (7)")
    parser.add_argument("--files", type=int, default=10_000, help="files of the repository (10000)")
    parser.add_argument("--many-files", type=int, default=50_000, help="files of the large repository (50000)")
    parser.add_argument("--log-mb", type=int, default=50, help="size of the log that is read (50)")
    return parser.parse_args()


def _line(name: str, bench: Bench) -> tuple[str, bool]:
    try:
        row = ROWS[name](bench)
    except NotAvailable as why:
        reason = str(why).replace("|", "\\|")
        return f"| {name} | | not available: {reason} | | |", False
    return _cells(row), row.held


def _cells(row: Measured) -> str:
    return f"| {row.what} | {row.floor} | {row.value} | {row.target} | {'held' if row.held else '**missed**'} |"


def _write(table: str) -> None:
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
