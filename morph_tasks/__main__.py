"""`python -m morph_tasks` is `morph-spec`."""

import sys

from morph_tasks.entry import main

sys.exit(main())
