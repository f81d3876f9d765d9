"""What tests of a running server share: stores with something in them, servers, tokens, clients.

``seeded_store(folder)`` opens a store that holds the demo world; ``plant`` fills one with a source
and records of a test's own. ``running(app)`` serves any ASGI application on a loopback port.
``World`` ties a store and its server together:

    with living(planted_store(folder, declaration, {"c1": "One"}, {("c1", "notes"): [...]})) as w:
        answer = w.client(fields=("id", "title")).get("/v1/streams/notes/records")
"""

import asyncio
import atexit
import io
import shutil
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import orjson
import uvicorn
from starlette.types import ASGIApp
from tests.engine import copy_store, open_store, ordered_surrogate
from tests.made_once import parse_once

from pdpp import demo
from pdpp.app import make_app
from pdpp.authz.selection import Selection, make_grant, resolve
from pdpp.authz.token import TokenKind, mint
from pdpp.model import instant
from pdpp.model.grant import Allowance
from pdpp.service.settings import Settings
from pdpp.store.intake import write_lines
from pdpp.store.port import Store

DEADLINE = 20.0
_TICK = 1.0
_SOON = 0.002
UNLIMITED = Settings(
    requests_per_second=0,
    client_documents=True,
    oauth_requests_per_second=0,
    registrations_per_minute=0,
    inline_seconds=1.0,
    read_seconds=30.0,
)
"""Settings under which no test is refused for asking often, and slow machines still answer."""

UNENCRYPTED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients that speak to loopback alone.

A client that is given nothing reads the list of all authorities in the world: 40 ms of processor
time for each of thousands of clients.
"""

Record = Mapping[str, Any]


class SetClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, start: str = "2026-10-01T00:00:00Z") -> None:
        at = instant.parse(start)
        assert at is not None
        self.now = at

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self.now += round(seconds * instant.SECOND)


# Stores


def seeded_store(folder: Path, clock: instant.Clock = instant.now) -> Store:
    """Open a store that holds the demo world; a process seeds it once and copies it after that."""
    copy_store(demo_template(), folder)
    return open_store(folder, clock)


def template_folder(name: str) -> Path:
    """Return a new folder for what is copied again and again until this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"pdpp-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def demo_template() -> Path:
    """Return the folder of the demo world that every other one is a copy of."""
    folder = template_folder("demo")
    store = open_store(folder)
    for source in demo.sources():
        plant(store, source.declaration, dict(source.connections))
    for blob in demo.blobs():
        keep(store, blob.content, blob.media_type)
    for batch in demo.batches():
        write(store, batch.connection_id, batch.stream, batch.lines)
    store.close()
    return folder


def planted_store(
    folder: Path,
    declaration: Mapping[str, Any],
    connections: Mapping[str, str],
    records: Mapping[tuple[str, str], Sequence[Record]] | None = None,
    clock: instant.Clock = instant.now,
) -> Store:
    """Open a new store that holds one source with records of a test's own."""
    store = open_store(folder, clock, ordered_surrogate)
    plant(store, declaration, connections, records)
    return store


def plant(
    store: Store,
    declaration: Mapping[str, Any],
    connections: Mapping[str, str],
    records: Mapping[tuple[str, str], Sequence[Record]] | None = None,
) -> None:
    """Register a source, its connections by id and name, and records by connection and stream."""
    store.register(parse_once(declaration))
    for connection_id, display_name in connections.items():
        store.connect(connection_id, str(declaration["connector_key"]), display_name)
    for (connection_id, stream), rows in (records or {}).items():
        put(store, connection_id, stream, *rows)


def put(store: Store, connection_id: str, stream: str, *records: Record) -> None:
    """Write records, each under its ``id``."""
    lines = [{"key": str(record["id"]), "data": record} for record in records]
    write(store, connection_id, stream, lines)


def write(
    store: Store, connection_id: str, stream: str, lines: Iterable[Mapping[str, Any]]
) -> None:
    """Write lines of ingest, every one of which must be taken."""
    feed = store.catalogue().feeds[(connection_id, stream)]
    encoded = [orjson.dumps(line) for line in lines]
    answer = write_lines(store, feed, encoded, now=instant.now(), line_bytes=1 << 24)
    assert answer["rejections"] == []


def keep(store: Store, content: bytes, media_type: str) -> dict[str, Any]:
    """Store a blob and return the reference a record holds."""
    blob = store.keep_blob(io.BytesIO(content), media_type, 1 << 30)
    return {
        "blob_id": blob.blob_id,
        "mime_type": media_type,
        "size_bytes": blob.size_bytes,
        "sha256": blob.blob_id,
    }


# Tokens


@dataclass(frozen=True, slots=True)
class Approval:
    """A grant that was made, and its client token."""

    grant_id: str
    token: str


def approve(
    store: Store,
    *selections: Selection,
    expires_at: int | None = None,
    now: int | None = None,
    client_id: str = "test-client",
) -> Approval:
    """Make one grant of one or several selections; none means everything."""
    catalogue = store.catalogue()
    allowances: list[Allowance] = []
    for selection in selections or (Selection(),):
        allowances += resolve(selection, catalogue)
    approval, secret, token = make_grant(
        tuple(allowances),
        client_id=client_id,
        purpose="a test",
        now=instant.now() if now is None else now,
        expires_at=expires_at,
    )
    store.vault.keep_grant(approval, [token])
    return Approval(approval.id, secret)


def grant(store: Store, **selection: Any) -> str:
    """Return a client token for a selection: connections, streams, fields, view, time, keys."""
    return approve(store, Selection(**selection)).token


def owner(store: Store) -> str:
    """Return an owner token."""
    secret, token = mint(TokenKind.OWNER, "test-owner", instant.now())
    store.vault.keep_token(token)
    return secret


# Servers


class _Server(uvicorn.Server):
    """A server that tells when it has started, and that ends at once.

    The server itself looks every tenth of a second whether it should end, and then gives its
    connections another tenth: thousands of tests would wait for nothing.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._end = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        self.ready.set()

    def end(self) -> None:
        """Let the server end, from another thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # It has ended by itself.
                self._loop.call_soon_threadsafe(self._end.set)

    async def main_loop(self) -> None:
        # Every tenth tick writes the date: the server itself ticks ten times a second, and what is
        # served for a whole run waits for nothing most of the time.
        ticks = count(step=10)
        while not await self.on_tick(next(ticks)):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), _TICK)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for closing in (*self.servers, *(sockets or ())):
            closing.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle(), self.config.timeout_graceful_shutdown)
        for task in self.server_state.tasks:
            task.cancel()
        await self.lifespan.shutdown()

    async def _idle(self) -> None:
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(_SOON)


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers; its clients are closed with it."""

    url: str
    _clients: list[httpx.Client] = field(default_factory=list)

    def client(self, token: str | None = None, **headers: str) -> httpx.Client:
        """Return an HTTP client, with a bearer token where one is given."""
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        client = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=DEADLINE,
            trust_env=False,
            verify=UNENCRYPTED,
        )
        self._clients.append(client)
        return client

    def close(self) -> None:
        """Close every client."""
        for client in self._clients:
            client.close()


def listening() -> socket.socket:
    """Return a socket on a loopback port, for an application that must know its own address."""
    return socket.create_server(("127.0.0.1", 0))


@contextmanager
def running(app: ASGIApp, listening_on: socket.socket | None = None) -> Iterator[Running]:
    """Serve an application on a loopback port of its own until the block ends.

    What the server logs goes to the root logger, where ``caplog`` sees it.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        ws="none",
        timeout_keep_alive=60,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config)
    with listening_on or listening() as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        served = Running(f"http://127.0.0.1:{listener.getsockname()[1]}")
        try:
            if not server.ready.wait(DEADLINE):
                raise TimeoutError("the server did not start")
            yield served
        finally:
            served.close()
            server.end()
            thread.join(DEADLINE)


@dataclass(frozen=True, slots=True)
class World:
    """A store and the server over it."""

    store: Store
    server: Running

    def client(self, **selection: Any) -> httpx.Client:
        """Return a client under a new grant for a selection; nothing selected is everything."""
        return self.server.client(grant(self.store, **selection))

    def granted(self, *selections: Selection) -> httpx.Client:
        """Return a client under one new grant of several selections."""
        return self.server.client(approve(self.store, *selections).token)

    def owner(self) -> httpx.Client:
        """Return a client with a new owner token."""
        return self.server.client(owner(self.store))

    def put(self, connection_id: str, stream: str, *records: Record) -> None:
        """Write records, each under its ``id``."""
        put(self.store, connection_id, stream, *records)


@contextmanager
def living(
    store: Store,
    settings: Settings = UNLIMITED,
    clock: instant.Clock = instant.now,
    data: Path | None = None,
) -> Iterator[World]:
    """Serve a store until the block ends, then close it; imports need its data folder."""
    try:
        with running(make_app(store, settings, clock, data=data)) as server:
            yield World(store, server)
    finally:
        store.close()


def pages(client: httpx.Client, path: str, **params: Any) -> Iterator[dict[str, Any]]:
    """Yield the pages of a list from the first to the last, following the cursor."""
    while True:
        answer = client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        page: dict[str, Any] = answer.json()
        yield page
        if not page["has_more"]:
            return
        params["cursor"] = page["next_cursor"]


def all_rows(client: httpx.Client, path: str, **params: Any) -> list[dict[str, Any]]:
    """Return the rows of every page of a list."""
    return [row for page in pages(client, path, **params) for row in page["data"]]


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Return the error of an answer after checking its status, its code and its envelope."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body.keys() == {"error"}
    error: dict[str, Any] = body["error"]
    assert error["code"] == code, error
    assert error["type"]
    assert error["message"]
    assert error["request_id"] == answer.headers["request-id"]
    return error
