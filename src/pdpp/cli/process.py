"""The process of a server: how it runs, whatever it serves."""

import gc
import logging
from typing import Any

import uvicorn

BACKLOG = 2_048
STOP_SECONDS = 10

_ROUNDS = (50_000, 20, 20)


def configure(app: Any) -> uvicorn.Config:
    """Return how the server runs: one process, quiet, with nothing told about itself."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    return uvicorn.Config(
        app,
        loop="auto",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def settle() -> None:
    """Keep what was loaded at the start out of the collector's rounds, and let these be rare.

    A page of records makes a few hundred short-lived objects. With the usual rounds more than half
    of its time goes into looking for cycles that are not there.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_ROUNDS)
