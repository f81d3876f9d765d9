"""Failures: what a caller is told of something that went wrong here, and what the log is."""

import logging

from pdpp.model.errors import ApiError, PdppError
from pdpp.store.port import Store


def explained(problem: Exception, store: Store, log: logging.Logger, what: str) -> PdppError:
    """Return what the store knows of a problem; of any other the log has the trace."""
    known = store.explain(problem)
    if known is not None:
        return known
    log.error("%s failed", what, exc_info=problem)
    return ApiError("Something failed here; the log of the server has the detail.")
