from __future__ import annotations

import io
import subprocess
import sys

import pytest

from morph_tasks.cli.printing import write_line


@pytest.mark.parametrize(
    ("encoding", "text", "shown"),
    [
        ("utf-8", "✓ ação", "✓ ação\n"),
        ("ascii", "✓ ok", "\\u2713 ok\n"),
        ("utf-8", "caf\udce9", "caf\\udce9\n"),
    ],
)
def test_what_a_stream_cannot_encode_is_spelled_out(encoding: str, text: str, shown: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    write_line(stream, text)
    stream.seek(0)
    assert stream.read() == shown


def test_a_reader_that_went_away_is_no_error() -> None:
    code = (
        "import sys\nfrom morph_tasks.cli.printing import write_line\n"
        "for _ in range(9999): write_line(sys.stdout, 'x' * 99)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout and child.stderr
        child.stdout.close()
        assert child.stderr.read() == b"" and child.wait() == 0
