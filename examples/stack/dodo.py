from morph_tasks.tasks import *  # noqa: F403
