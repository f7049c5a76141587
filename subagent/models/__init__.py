"""Calling a model: one module per wire, and what all wires share (assembler, retry, typed faults)."""

import sys

# httpx imports its command line, and with it click, rich and pygments, wherever those are installed: about
# 100 ms for what nobody calls in an agent. None makes that import fail, which httpx is prepared for.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None is how the import system spells it
