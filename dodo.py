"""The tasks of this repository; a project's own `dodo.py` is the one line of code below."""

from morph_tasks.tasks import *  # noqa: F403
