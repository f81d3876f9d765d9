"""Notices of PostgreSQL: workers tell each other through the database that something changed.

A notice is sent after the commit and nobody waits for it. Inside of the transaction it would make
all commits of all owners wait for each other: PostgreSQL takes one lock of the whole cluster for
it, and would hold that lock while the log is written to the disk. So a notice may be lost, and
whoever listens also looks now and then.

The worker listens on its connection for receipts, which is used for a moment about once a second:
a connection that only listens would be a sixth.
"""

import logging
import selectors
import socket
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import psycopg

from pdpp.store.postgres.connection import PostgresConnection

if TYPE_CHECKING:
    from pdpp.store.postgres.pool import TurnConnection

log = logging.getLogger("pdpp.notices")

CHANNEL = "pdpp_changed"
_WORK = " work"
_LISTEN = f"LISTEN {CHANNEL}"
_LOOK_SECONDS = 5.0
"""How often the connection is looked at where nothing comes: one that was cut may be silent."""
_AGAIN_SECONDS = 1.0
"""How long after a failure the worker tries to listen again."""

Heard = Callable[[], None]


def notice(owner: int, *, work: bool = False) -> str:
    """Return the statement that says that an owner's part changed, or that there is work in it."""
    return f"NOTIFY {CHANNEL}, '{owner}{_WORK if work else ''}'"


class NoticeListener:
    """Hears for all owners of a worker, in one thread that runs while anybody wants to know."""

    def __init__(self, connection: "TurnConnection") -> None:
        self._connection = connection
        self._session: PostgresConnection | None = None
        self._life = threading.Lock()
        """Held while the thread is started or ended, so that there are never two."""
        self._lock = threading.Lock()
        self._heard: dict[int, list[Heard]] = {}
        self._changes: Counter[int] = Counter()
        self._sessions = 0
        self._thread: threading.Thread | None = None
        self._waker: socket.socket | None = None
        self.is_listening = False

    def subscribe(self, owner: int, heard: Heard) -> Callable[[], None]:
        """Call back when there may be work for an owner; return what ends that."""
        with self._life:
            with self._lock:
                self._heard.setdefault(owner, []).append(heard)
            if self._thread is None:
                self._start()
        return lambda: self._unsubscribe(owner, heard)

    def _unsubscribe(self, owner: int, heard: Heard) -> None:
        with self._life:
            with self._lock:
                self._heard[owner].remove(heard)
                if not self._heard[owner]:
                    del self._heard[owner]
            if not self._heard:
                self._stop()

    def _start(self) -> None:
        waiting, self._waker = socket.socketpair()
        self._thread = threading.Thread(
            target=self._listen, args=(waiting,), name="pdpp-notices", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop to listen."""
        with self._life:
            self._stop()

    def _stop(self) -> None:
        if self._thread is None or self._waker is None:
            return
        self._waker.close()  # the other end becomes readable
        self._thread.join()
        self._thread = self._waker = None

    def seen(self, owner: int) -> tuple[int, int] | None:
        """Return a token that differs after a notice for an owner; None while nobody listens."""
        # The number of the session too: what was missed between two of them is not counted.
        return (self._sessions, self._changes[owner]) if self.is_listening else None

    def _listen(self, waiting: socket.socket) -> None:
        stopped = False
        with waiting:
            while not stopped:
                try:
                    stopped = _readable_first(waiting, self._take(), _LOOK_SECONDS)
                except (psycopg.Error, OSError) as problem:
                    if self.is_listening:
                        log.warning("notices stopped; looking instead: %s", type(problem).__name__)
                    self.is_listening = False
                    self._session = None
                    stopped = _readable_first(waiting, None, _AGAIN_SECONDS)
        self.is_listening = False
        self._leave()

    def _take(self) -> int:
        """Take what has come, and return the descriptor on which more will come."""
        with self._connection.session() as db:
            is_new = db is not self._session
            if is_new:
                db.control(_LISTEN)
                self._session = db
            texts = db.notices()
            descriptor = db.raw.fileno()
        if is_new:
            self._sessions += 1
            self.is_listening = True
        self._tell(texts, everybody=is_new)
        return descriptor

    def _tell(self, texts: list[str], *, everybody: bool) -> None:
        with_work = set()
        for text in texts:
            number, _, work = text.partition(" ")
            self._changes[int(number)] += 1
            if work:
                with_work.add(int(number))
        with self._lock:
            owners = list(self._heard) if everybody else with_work
            callbacks = [heard for owner in owners for heard in self._heard.get(owner, ())]
            # Only those who subscribed ask; what others did need not be remembered.
            for owner in self._changes.keys() - self._heard.keys():
                del self._changes[owner]
        for heard in callbacks:
            heard()

    def _leave(self) -> None:
        """Let the session, which goes on to write receipts, hear no more."""
        session, self._session = self._session, None
        if session is None or session.raw.closed:
            return
        with suppress(psycopg.Error), self._connection.session() as db:
            if db is session:
                db.control(f"UNLISTEN {CHANNEL}")


def _readable_first(waiting: socket.socket, descriptor: int | None, seconds: float) -> bool:
    """Wait until something comes on a descriptor; tell whether it is time to stop instead."""
    with selectors.DefaultSelector() as selector:
        selector.register(waiting, selectors.EVENT_READ)
        if descriptor is not None:
            selector.register(descriptor, selectors.EVENT_READ)
        return any(key.fileobj is waiting for key, _ in selector.select(seconds))


class OwnerNotices:
    """The notices of one owner."""

    def __init__(self, listener: NoticeListener, owner: int) -> None:
        self._listener = listener
        self._owner = owner

    def subscribe(self, heard: Heard) -> Callable[[], None]:
        """Call back when there may be new work; return what ends that."""
        return self._listener.subscribe(self._owner, heard)

    @property
    def is_listening(self) -> bool:
        """Tell whether notices come now."""
        return self._listener.is_listening
