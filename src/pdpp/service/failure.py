"""Failures: what goes into the answer and what goes into the log when something breaks here."""

import logging

from pdpp.model.errors import ApiError, PdppError
from pdpp.store.port import Store


def explained(problem: Exception, store: Store, log: logging.Logger, what: str) -> PdppError:
    """Return what the store knows of a problem; of any other the log has the trace."""
    known = store.explain(problem)
    if known is not None:
        return known
    log.error("%s failed", what, exc_info=problem)
    return ApiError("Something went wrong on the server. Its log has the details.")
