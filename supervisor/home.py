"""Where Covey keeps its state (DESIGN section 8)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from protocol.errors import SpecError

HOME_VARIABLE = "COVEY_HOME"


def find_home(environ: Mapping[str, str]) -> Path:
    """$COVEY_HOME, else the user's XDG state folder. Absolute; it may not exist yet. Raises SpecError if not UTF-8."""
    chosen = environ.get(HOME_VARIABLE)
    if chosen:
        return _as_utf8(HOME_VARIABLE, os.path.abspath(os.path.expanduser(chosen)))
    import platformdirs  # only a home that nobody chose needs it

    return _as_utf8("XDG_STATE_HOME", platformdirs.user_state_dir("covey"))


def _as_utf8(variable: str, path: str) -> Path:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SpecError(variable, "is not UTF-8: paths travel in JSON") from error
    return Path(path)
