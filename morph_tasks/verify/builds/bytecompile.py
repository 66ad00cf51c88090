# mypy: ignore-errors
"""Compile every Python file of a tree in memory. Run as a script by the project's own Python; writes nothing."""

import os
import subprocess
import sys

# Folders beneath a tests folder where broken or foreign Python is data.
DATA = {"data", "fixtures", "testdata", "test_data", "templates", "snapshots", "cases", "samples"}


def listed():
    """Yield the Python files that git tracks or does not ignore."""
    argv = ["git", "ls-files", "-z", "-co", "--exclude-standard", "--", "*.py"]
    names = subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
    for name in sorted(set(filter(None, names))):
        folders = os.fsdecode(name).lower().split("/")[:-1]
        tests = [i for i, part in enumerate(folders) if part in ("test", "tests", "testing")]
        if tests and DATA.intersection(folders[tests[0] + 1 :]):
            continue
        if name.startswith(b".morph/") or not os.path.isfile(name):
            continue
        yield name


def main():
    """Print each file that does not compile; exit 1 when there is one."""
    bad = seen = 0
    for name in listed():
        seen += 1
        shown = os.fsdecode(name).encode("utf-8", "backslashreplace").decode()
        try:
            with open(name, "rb") as file:
                compile(file.read(), shown, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            bad += 1
            line = getattr(error, "lineno", None) or 1
            print(f"{shown}:{line}: {getattr(error, 'msg', None) or error}")
    print(f"{seen} files compiled, {bad} with errors")
    return 1 if bad else 0


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    sys.exit(main())
