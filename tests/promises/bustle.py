"""A writer that never rests: it adds, edits, moves, deletes and brings back while others read."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.promises.sights import INSIDE, OUTSIDE

from pdpp.model import instant
from pdpp.store.batch import Line
from pdpp.store.port import Store

STEADY = tuple(f"steady-{i:03d}" for i in range(120))
RESTLESS = tuple(f"restless-{i:02d}" for i in range(40))
DEADLINE = 20.0


def steady(key: str) -> dict[str, Any]:
    """Return a record that stays as it is."""
    number = int(key[-3:])
    return {
        "id": key,
        "subject": f"alpha {number}",
        "note": None if number % 7 == 0 else f"n{number % 11}",
        "sent_at": INSIDE[number % 4],
        "amount": None if number % 5 == 0 else number % 9 / 2,
        "label": "ab"[number % 2],
    }


class Bustle:
    """Writes to a few connections in a thread of its own and tells after each write."""

    def __init__(self, store: Store, connections: tuple[str, ...], seed: int) -> None:
        self._store = store
        self._connections = connections
        self._chance = random.Random(seed)
        self._turn = threading.Condition()
        self._writes = 0
        self._ended = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def settle(self) -> None:
        """Write what stays."""
        for connection_id in self._connections:
            feed = self._store.catalogue().feeds[(connection_id, "messages")]
            lines = [Line(i, key, instant.now(), steady(key)) for i, key in enumerate(STEADY)]
            self._store.write(feed, lines)

    def wait_for_writes(self, many: int = 1) -> None:
        """Wait until so many more writes were made."""
        with self._turn:
            wanted = self._writes + many
            done = self._turn.wait_for(lambda: self._writes >= wanted or self._ended, DEADLINE)
        assert done
        assert self._failure is None

    def write_once(self) -> None:
        """Write one batch of restless records."""
        connection_id = self._chance.choice(self._connections)
        feed = self._store.catalogue().feeds[(connection_id, "messages")]
        keys = self._chance.sample(RESTLESS, self._chance.randint(1, 4))
        lines = [Line(i, key, instant.now(), self._data(key)) for i, key in enumerate(keys)]
        self._store.write(feed, lines)

    def _data(self, key: str) -> dict[str, Any] | None:
        pick = self._chance.choice
        if self._chance.random() < 0.25:
            return None
        return {
            "id": key,
            "subject": pick(("alpha", "beta", None)),
            "body": pick(("gamma", "delta")),
            "note": pick((None, "n1", "n5")),
            "sent_at": pick(INSIDE + OUTSIDE),
            "amount": pick((None, 0.5, 2, 4.5)),
            "label": pick(("a", "b", None)),
        }

    def _run(self) -> None:
        try:
            while not self._ended:
                self.write_once()
                with self._turn:
                    self._writes += 1
                    self._turn.notify_all()
        except BaseException as failure:
            self._failure = failure
            raise
        finally:
            self._ended = True

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Write without rest until the block ends."""
        self._thread.start()
        try:
            yield
        finally:
            self._ended = True
            self._thread.join(DEADLINE)
        assert self._failure is None
