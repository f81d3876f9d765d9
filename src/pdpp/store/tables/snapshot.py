"""Snapshots: what a thread reads in one block is of one moment, on either engine."""

from types import TracebackType
from typing import Protocol

from pdpp.store.deadline import Deadline, DeadlinePassed


class SnapshotSource(Protocol):
    """A database that one snapshot of a thread can be taken of."""

    interruption: type[Exception]
    """What the engine raises where a read was ended because its time was up."""

    def begin(self, deadline: Deadline | None) -> bool: ...
    def end(self) -> None: ...


class Snapshot:
    """Holds a snapshot for as long as its block; an interrupted read has used up its time."""

    __slots__ = ("_deadline", "_outermost", "_source")

    def __init__(self, source: SnapshotSource, deadline: Deadline | None) -> None:
        self._source = source
        self._deadline = deadline
        self._outermost = False

    def __enter__(self) -> None:
        self._outermost = self._source.begin(self._deadline)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._outermost:
            self._source.end()
            if isinstance(problem, self._source.interruption):
                raise DeadlinePassed from problem
