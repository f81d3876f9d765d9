"""The demo's server: it holds the demo data and is deleted when the demo ends."""

import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from pdpp.app import make_app
from pdpp.authz.selection import Selection, make_grant, resolve
from pdpp.cli.seeding import seed
from pdpp.model import instant
from pdpp.model.grant import Grant, Interval
from pdpp.service.settings import Settings
from pdpp.serving.process import configure
from pdpp.store.catalogue import Catalogue
from pdpp.store.scope import owner_reaches
from pdpp.store.sqlite.store import SqliteStore

CLIENT = "kitchen-helper"
PURPOSE = "Keep track of the kitchen renovation"
YEAR = "2026-01-01"
SELECTIONS = (
    Selection(
        connections=("cin_home",),
        streams=("messages",),
        fields=("subject", "body", "from", "sent_at"),
        time=Interval(instant.parse(YEAR), None),
    ),
    Selection(
        connections=("cin_notes",),
        streams=("documents",),
        fields=("title", "body", "updated_at"),
    ),
)


@dataclass(frozen=True, slots=True)
class DemoGrant:
    """The grant that the owner approved for the demo's agent, and its token."""

    grant: Grant
    token: str


@dataclass(frozen=True, slots=True)
class DemoServer:
    """A running server over the demo data, with a token that opens all of it."""

    url: str
    store: SqliteStore
    token: str

    def approve(self) -> DemoGrant:
        """Give the demo's agent a narrow grant."""
        catalogue = self.store.catalogue()
        allowances = [
            allowance for selection in SELECTIONS for allowance in resolve(selection, catalogue)
        ]
        grant, secret, token = make_grant(
            tuple(allowances), client_id=CLIENT, purpose=PURPOSE, now=instant.now()
        )
        self.store.vault.keep_grant(grant, [token])
        return DemoGrant(grant, secret)

    def catalogue(self) -> Catalogue:
        """Return what the store holds."""
        return self.store.catalogue()

    def records(self) -> int:
        """Return how many records the store holds."""
        return sum(self.store.counts(owner_reaches(self.catalogue())).values())


@contextmanager
def running_demo_server() -> Iterator[DemoServer]:
    """Serve the demo on a free port until the block ends, and leave nothing behind."""
    with (
        TemporaryDirectory(prefix="pdpp-demo-") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        store = SqliteStore(Path(folder))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        settings = Settings(origin=url)
        try:
            tokens = seed(store, settings)
            with _serving(uvicorn.Server(configure(make_app(store, settings))), listener):
                yield DemoServer(url, store, tokens.client)
        finally:
            store.close()


@contextmanager
def _serving(server: uvicorn.Server, listener: socket.socket) -> Iterator[None]:
    """Let a server answer in a thread; who asks before it does waits in the listener's queue."""
    thread = threading.Thread(target=_answer, args=(server, listener), name="pdpp-demo")
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def _answer(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve, and leave signals to the main thread, which would else not wake up to them."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    server.run([listener])
