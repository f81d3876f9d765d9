"""Many owners behind one port: each at a host name or a path, with an application of their own.

What an owner has (store, keys, limits, jobs, receipts) belongs to that owner's application alone;
they share the process and the connections to the database, which are told whose they are each time
one is taken. An application is made when somebody first asks for its host, and the one that was
asked for longest ago goes when there are too many.
"""

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.types import Message, Receive, Scope, Send

from pdpp.app import Application, make_app
from pdpp.model.errors import NotFound, Overloaded, PdppError
from pdpp.private import make_folder
from pdpp.service.headers import headers_of
from pdpp.service.response import encoded_headers
from pdpp.service.settings import Settings
from pdpp.serving.visits import JobVisits, WaitingOwners
from pdpp.store.port import Store
from pdpp.watch.readiness import READY_PATH

log = logging.getLogger("pdpp.owners")

MOST_APPLICATIONS = 32
_PROBES = ("/healthz", READY_PATH)
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
"""What can stand in a host name; others have no address."""
_WELL_KNOWN = re.compile(r"/\.well-known/oauth-(authorization-server|protected-resource)(?=/)")

OpenOwner = Callable[[str], Store | None]
"""Opens the store of an owner, None where there is none of that name."""


@dataclass(slots=True)
class OwnerApplication:
    """The application of one owner, and how many requests it is answering."""

    store: Store
    app: Application
    lifespan: AbstractAsyncContextManager[object]
    requests: int = 0
    for_jobs: bool = False
    """Whether it was opened for its jobs alone, and nobody has asked for it since."""


class OwnerApplications:
    """Answers each request with the application of the owner whose host it asks for."""

    def __init__(
        self,
        open_owner: OpenOwner,
        settings: Settings,
        data: Path,
        most: int = MOST_APPLICATIONS,
        *,
        by_path: bool = False,
        with_work: WaitingOwners | None = None,
        ask: Callable[[], object] | None = None,
    ) -> None:
        """``with_work`` finds owners whose jobs nobody does; without it only visited ones work.

        ``ask`` asks the database something, and raises where that does not answer.
        """
        self._open_owner = open_owner
        self._by_path = by_path
        self._settings = settings
        self._data = data
        self._most = most
        self._running: OrderedDict[str, OwnerApplication] = OrderedDict()
        self._beginning = asyncio.Lock()
        self._with_work = with_work
        self._ask = ask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or begin and end with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        name, owned_scope, owned_send = self._addressed(scope, send)
        # A balancer asks whether this process lives and is ready. It asks nobody's address, and has
        # to be answered while the database is away.
        is_probe = scope["path"] in _PROBES
        if is_probe and self._by_path:
            name = None
        try:
            owner = None if name is None else await self._application(name)
        except Exception as problem:  # noqa: BLE001 - whatever it is becomes an answer
            await _answer_error(send, _unopened(problem))
            return
        if owner is None and is_probe:
            await self._answer_probe(scope["path"], send)
            return
        if owner is None:
            await _answer_error(send, NotFound("No owner has this address on this server."))
            return
        owner.requests += 1
        owner.for_jobs = False
        try:
            await owner.app(owned_scope, receive, owned_send)
        finally:
            owner.requests -= 1

    async def _answer_probe(self, path: str, send: Send) -> None:
        failing = await self._failing() if path == READY_PATH else []
        if failing:
            status = HTTPStatus.SERVICE_UNAVAILABLE
            await _answer(send, status, {"status": "not ready", "failing": failing})
        else:
            await _answer(send, HTTPStatus.OK, {"status": "ready" if path == READY_PATH else "ok"})

    async def _failing(self) -> list[str]:
        """Return the parts of this worker that do not do their work."""
        failing = []
        try:
            if self._ask is not None:
                await asyncio.to_thread(self._ask)
        except Exception as problem:  # noqa: BLE001 - whatever it is, this worker is not ready
            log.error("the database cannot be asked: %s", type(problem).__name__)
            failing.append("store")
        if any(app.service.recorder.failing for app in self.running()):
            failing.append("receipts")
        return failing

    def _addressed(self, scope: Scope, send: Send) -> tuple[str | None, Scope, Send]:
        """Return whom a request is for, as that owner's application sees it and answers."""
        if not self._by_path:
            host = headers_of(scope).get("host", "")
            return owner_in(host, self._settings.origin), scope, send
        owned = owner_below(scope)
        if owned is None:
            return None, scope, send
        return owned[0], owned[1], _placing(send, f"/{owned[0]}")

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        visits = self._begin_visits()
        await receive()
        if visits is not None:
            visits.cancel()
            with suppress(asyncio.CancelledError):
                await visits
        while self._running:
            await self._end(self._running.popitem()[1])
        await send({"type": "lifespan.shutdown.complete"})

    def _begin_visits(self) -> "asyncio.Task[None] | None":
        if self._with_work is None:
            return None
        visits = JobVisits(self._with_work, self._open_for_jobs, self._close_after_jobs)
        return asyncio.create_task(visits.run())

    async def _open_for_jobs(self, name: str) -> None:
        is_open = name in self._running
        owner = await self._application(name)
        if owner is not None and not is_open:
            owner.for_jobs = not owner.requests

    async def _close_after_jobs(self, name: str) -> None:
        owner = self._running.get(name)
        if owner is not None and owner.for_jobs and not owner.requests:
            del self._running[name]
            await self._end(owner)

    async def _application(self, name: str) -> OwnerApplication | None:
        owner = self._running.get(name)
        if owner is None:
            async with self._beginning:
                owner = self._running.get(name) or await self._begin(name)
        if owner is not None:
            self._running.move_to_end(name)
        return owner

    async def _begin(self, name: str) -> OwnerApplication | None:
        await self._make_room()
        made = await asyncio.to_thread(self._make, name)
        if made is None:
            return None
        store, app = made
        lifespan = app.router.lifespan_context(app)
        try:
            await lifespan.__aenter__()
        except BaseException:
            await asyncio.to_thread(store.close)
            raise
        owner = self._running[name] = OwnerApplication(store, app, lifespan)
        return owner

    def running(self) -> list[Application]:
        """Return the applications of the owners who are open now."""
        return [owner.app for owner in list(self._running.values())]

    def _make(self, name: str) -> tuple[Store, Application] | None:
        store = self._open_owner(name)
        if store is None:
            return None
        try:
            return store, self._make_app(name, store)
        except BaseException:
            store.close()
            raise

    def _make_app(self, name: str, store: Store) -> Application:
        # Uploads and imports of one owner are not those of another.
        folder = self._data / "owners" / name
        make_folder(folder)
        address = path_origin_of if self._by_path else origin_of
        settings = replace(self._settings, origin=address(name, self._settings.origin))
        return make_app(store, replace(settings, public=True), data=folder)

    async def _make_room(self) -> None:
        """End the applications that were asked for longest ago, of those that answer nothing."""
        # Looked for anew each time: while one ends, somebody may ask for the next.
        while len(self._running) >= self._most and (name := self._idle()) is not None:
            await self._end(self._running.pop(name))

    def _idle(self) -> str | None:
        """Return the owner who was asked for longest ago, of those that answer nothing."""
        return next((name for name, owner in self._running.items() if not owner.requests), None)

    async def _end(self, owner: OwnerApplication) -> None:
        try:
            await owner.lifespan.__aexit__(None, None, None)
        finally:
            await asyncio.to_thread(owner.store.close)


def base_origin(origin: str) -> str:
    """Return the address below which owners have theirs; below a number there are no names."""
    parts = urlsplit(origin)
    if parts.hostname is None or not _is_number(parts.hostname):
        return origin
    return f"{parts.scheme}://localhost:{parts.port}"


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def origin_of(name: str, origin: str) -> str:
    """Return the address of an owner below that of the server."""
    parts = urlsplit(origin)
    return f"{parts.scheme}://{name}.{parts.netloc}"


def owner_in(host: str, origin: str) -> str | None:
    """Return the owner whose host a request asks for, None where it is nobody's."""
    name, _, rest = host.lower().partition(".")
    return name if rest == urlsplit(origin).netloc and _NAME.match(name) else None


def path_origin_of(name: str, origin: str) -> str:
    """Return the address of an owner below a path of the server."""
    return f"{origin}/{name}"


def owner_below(scope: Scope) -> tuple[str, Scope] | None:
    """Return the owner below whose path a request is, and the request as seen from there.

    Metadata is asked for with the path after the well-known name (RFC 8414, RFC 9728).
    """
    path: str = scope["path"]
    raw: bytes = scope.get("raw_path") or path.encode()
    known = _WELL_KNOWN.match(path)
    start = "" if known is None else known[0]
    name = path[len(start) + 1 :].partition("/")[0]
    before = f"{start}/{name}"
    # As it was written: an encoded name would be another path to whatever stands in front.
    if not _NAME.match(name) or not raw.startswith(before.encode()):
        return None
    rest = path[len(before) :]
    raw_rest = raw[len(before) :]
    if rest and not rest.startswith("/"):
        return None
    return name, {
        **scope,
        "path": start + rest or "/",
        "raw_path": start.encode() + raw_rest or b"/",
    }


def _placing(send: Send, prefix: str) -> Send:
    """Return what sends answers whose redirects stay below a path."""

    async def placing(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [_placed_header(name, value, prefix) for name, value in message["headers"]]
            message = {**message, "headers": headers}
        await send(message)

    return placing


def _placed_header(name: bytes, value: bytes, prefix: str) -> tuple[bytes, bytes]:
    is_own = name == b"location" and value.startswith(b"/") and not value.startswith(b"//")
    return (name, prefix.encode() + value) if is_own else (name, value)


def _unopened(problem: Exception) -> PdppError:
    """Return what a caller is told of an owner who cannot be opened, and log the cause."""
    # The words of a driver may hold a part of the address of the database; ours are for the log.
    cause = problem.message if isinstance(problem, PdppError) else type(problem).__name__
    log.error("an owner cannot be opened: %s", cause)
    return Overloaded(
        "The records of this owner cannot be opened at the moment. Send the same again in a while.",
        headers={"Retry-After": "10"},
    )


async def _answer_error(send: Send, error: PdppError) -> None:
    """Answer with an error in the one form of errors."""
    await _answer(send, error.status, error.body(f"req_{token_hex(8)}"), error.headers)


async def _answer(
    send: Send, status: int, document: Mapping[str, Any], more: Mapping[str, str] | None = None
) -> None:
    """Answer a request that reaches no owner."""
    headers = {b"content-type": b"application/json", b"x-content-type-options": b"nosniff"}
    headers |= encoded_headers(more or {})
    await send({"type": "http.response.start", "status": status, "headers": [*headers.items()]})
    await send({"type": "http.response.body", "body": orjson.dumps(document)})
