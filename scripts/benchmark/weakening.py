"""Run the validator `test-weakening` on the tree around us; print how much it found in how long a diff."""

from __future__ import annotations

import json
import sys

from morph_tasks.model.load import load_config
from morph_tasks.repo.git import open_repo
from morph_tasks.verify.validators.test_weakening import check

repo = open_repo()
found = check(repo, load_config(repo), sys.argv[1])
changed = [line.split(b"\t")[:2] for line in repo.git("diff", "--numstat", "main", "--").splitlines()]
print(json.dumps({"findings": len(found.detail), "lines": sum(int(one) for pair in changed for one in pair)}))
