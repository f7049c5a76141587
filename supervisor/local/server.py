"""llama.cpp's server in this process: one model, on loopback, behind a port that the kernel chose."""

from __future__ import annotations

from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 4_096
PARALLEL = 1
THREADS = 2

_ERRORS_ONLY = 1


def start(weights: Path) -> tuple[xllamacpp.Server, str]:
    """Load the weights and serve them. Returns the base URL, and the server: it lives while it is referenced."""
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = PARALLEL
    params.cpuparams.n_threads = THREADS
    params.cpuparams_batch.n_threads = THREADS
    params.use_jinja = True
    params.warmup = False
    params.ui = False
    params.verbosity = _ERRORS_ONLY
    server = xllamacpp.Server(params)
    return server, f"{server.listening_address}/v1"
