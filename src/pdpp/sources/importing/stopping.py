"""Stopping: what is told of an import that a disk or a database stopped in its middle."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pdpp.model.errors import PdppError, StoreError
from pdpp.store.port import Store

_STOPPED = (
    "the import stopped: {remedy}; what came in before is kept, and the same import goes on from "
    "there"
)


def _quietly(remedy: str) -> None:
    """Log nothing: whoever began the import is told."""


@contextmanager
def told_what_stops(store: Store, log: Callable[[str], None] = _quietly) -> Iterator[None]:
    """Raise what stops an import as one line for its owner: what to do, and what is kept."""
    try:
        yield
    except PdppError:
        raise
    except Exception as problem:
        remedy = store.remedy(problem)
        if remedy is None:
            raise
        log(remedy)
        raise StoreError(_STOPPED.format(remedy=remedy)) from problem
