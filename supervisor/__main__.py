"""`python -m supervisor` is the `covey` command."""

from __future__ import annotations

import sys

from supervisor.guard import main

sys.exit(main())
