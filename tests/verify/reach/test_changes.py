from __future__ import annotations

from morph_tasks.repo.git import open_repo
from morph_tasks.verify.reach.changes import Change, Hunk, changes
from tests.conftest import Project


def _changes(project: Project) -> list[Change]:
    tree = project.git("rev-parse", "HEAD^{tree}")
    return changes(open_repo(project.root).lightly(), tree)


def test_hunks_of_every_state_of_a_file(project: Project) -> None:
    body = "".join(f"line {number} = {number}\n" for number in range(1, 21))
    for name in ("edited.py", "gone.py", "old name.py", "same.py"):
        project.write(name, body + f"# {name}\n")
    project.commit()
    lines = (project.root / "edited.py").read_text().splitlines()
    lines[1] = "changed"
    del lines[9:12]
    project.write("edited.py", "\n".join([*lines, "last"]) + "\n")
    (project.root / "gone.py").unlink()
    project.git("mv", "old name.py", 'né"w\tname.py')
    project.git("mv", "same.py", "moved.py")
    moved = project.root / 'né"w\tname.py'
    moved.write_text(moved.read_text() + "more\n")
    project.write("new.py", "--- a/x\n+++ b/y\n@@ -1 +1 @@\n")
    found = {one.path: one for one in _changes(project)}
    assert found == {
        "edited.py": Change("edited.py", (Hunk(2, 1, 1), Hunk(9, 0, 3), Hunk(19, 1, 0))),
        "gone.py": Change("gone.py", (), gone=True),
        'né"w\tname.py': Change('né"w\tname.py', (Hunk(22, 1, 0),)),
        "new.py": Change("new.py", (Hunk(1, 3, 0),)),
    }


def test_lines_that_went_and_said_nothing_are_no_hunk(project: Project) -> None:
    project.write("a.py", "one\n# said\n\ntwo\n")
    project.commit()
    project.write("a.py", "one\ntwo\n")
    assert _changes(project) == []
    project.write("a.py", "one\n# said\n\n")
    assert _changes(project)[0].hunks == (Hunk(3, 0, 1),)
