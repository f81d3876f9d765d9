"""Kinds of jobs: what is done, how often, and how many at once."""

from collections.abc import Callable
from dataclasses import dataclass

from pdpp.jobs.context import JobContext
from pdpp.store.jobs import Json

Run = Callable[[JobContext], Json | None]
"""Does the work and returns its result; it is called again with the state it saved if it is cut."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job.

    ``every`` is the number of seconds between two runs of a kind that repeats. ``wanted`` is asked
    that often in each process, and only where it says yes is a job added: for work that depends on
    what was written since, a job for every look would be one for nothing.
    """

    name: str
    run: Run
    every: float | None = None
    wanted: Callable[[], bool] | None = None
    at_once: int = 1
    most_attempts: int = 5
    """A job that kills its worker this often is given up."""
