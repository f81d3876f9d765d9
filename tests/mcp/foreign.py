"""A resource server that is not ours: it tells less, answers otherwise, and knows fewer words."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from tests.mcp.host import Host, KernelWire
from tests.serving import Running, running

from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import NetworkTransport

BODY = "Nothing but plain words about a heron by the ferry. " * 400
RECORDS: dict[str, dict[str, Any]] = {
    f"r{number}": {"subject": f"Record {number}", "body": BODY, "link": "https://a.example/1"}
    for number in range(30)
}
_KNOWN = {
    "schema": {"stream", "connection_id"},
    "records": {"connection_id", "limit", "cursor"},
    "record": {"connection_id", "fields"},
    "window": {"connection_id", "field", "offset_chars", "limit_chars", "q"}
    | {"before_chars", "after_chars"},
    "search": {"connection_id", "q", "limit", "cursor", "streams[]"},
    "aggregate": {"connection_id", "metric", "field", "group_by"},
}


@dataclass(slots=True)
class Foreign:
    """How the server behaves, and what it was asked."""

    hits_at: str = "data"
    compact: str = "refuse"
    ignores_limit: bool = False
    error: Any = "bad_parameter"
    window: Mapping[str, Any] = field(default_factory=dict)
    schema: Any = None
    answer: Callable[[Request], Response] | None = None
    asked: list[str] = field(default_factory=list)
    bearers: set[str] = field(default_factory=set)

    def routes(self) -> list[Route]:
        """Return the addresses there are."""
        known: dict[str, Callable[[Request], Any]] = {
            "/v1/schema": self._schema,
            "/v1/search": self._search,
            "/v1/search/hybrid": self._search,
            "/v1/streams/letters/records": self._records,
            "/v1/streams/letters/records/{key}": self._record,
            "/v1/streams/letters/records/{key}/field-window": self._window,
            "/v1/streams/letters/aggregate": self._aggregate,
            "/v1/blobs/{blob}": self._blob,
        }
        return [Route(path, self._guard(serve)) for path, serve in known.items()]

    def _guard(self, serve: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def guarded(request: Request) -> Response:
            self.asked.append(str(request.url.path) + "?" + request.url.query)
            self.bearers.add(request.headers.get("authorization", ""))
            if self.answer is not None:
                return self.answer(request)
            found = serve(request)
            if isinstance(found, Response):
                return found
            return JSONResponse(found)

        return guarded

    def _unknown(self, request: Request, route: str) -> Response | None:
        unknown = set(request.query_params) - _KNOWN[route]
        if self.compact == "ignore":
            unknown -= {"view"}
        if not unknown:
            return None
        return JSONResponse({"error": self.error}, 400)

    def _limit(self, request: Request) -> int:
        return 30 if self.ignores_limit else int(request.query_params.get("limit", 5))

    def _schema(self, request: Request) -> Any:
        refusal = self._unknown(request, "schema")
        if refusal is not None or self.schema is not None:
            return refusal or self.schema
        fields = {
            name: {"type": "text", "exact_filter": {"declared": True, "usable": True}}
            for name in ("subject", "body", "link")
        }
        row = {"name": "letters", "fields": fields, "connection_id": "acc", "record_count": 30}
        return {"connectors": [{"connector_key": "post", "streams": [row]}], "more": [1, 2]}

    def _search(self, request: Request) -> Any:
        if refusal := self._unknown(request, "search"):
            return refusal
        start = int(request.query_params.get("cursor", 0))
        end = start + self._limit(request)
        hits = [
            {"id": f"acc/letters:{key}", "stream": "letters", "snippet": "… heron …"}
            for key in list(RECORDS)[start:end]
        ]
        more = {"next_cursor": str(end)} if end < len(RECORDS) else {}
        if self.hits_at == "data":
            return {"data": hits, **more}
        name = self.hits_at.removeprefix("data.")
        return {"data": {name: hits}, **more} if "." in self.hits_at else {name: hits, **more}

    def _records(self, request: Request) -> Any:
        if refusal := self._unknown(request, "records"):
            return refusal
        start = int(request.query_params.get("cursor", 0))
        end = start + self._limit(request)
        rows = [{"id": key, "data": RECORDS[key]} for key in list(RECORDS)[start:end]]
        return {"data": rows, **({"next_cursor": str(end)} if end < len(RECORDS) else {})}

    def _record(self, request: Request) -> Any:
        if refusal := self._unknown(request, "record"):
            return refusal
        key = request.path_params["key"]
        if key not in RECORDS:
            return JSONResponse({"error": {"code": "not_found"}}, 404)
        return {"id": key, "data": RECORDS[key]}

    def _window(self, request: Request) -> Any:
        return self._unknown(request, "window") or {"window": {"text": BODY, **self.window}}

    def _aggregate(self, request: Request) -> Any:
        refusal = self._unknown(request, "aggregate")
        return refusal or {"metric": "count", "stream": "letters", "value": 30}

    def _blob(self, request: Request) -> Response:
        blob = request.path_params["blob"]
        media_type = "text/plain" if blob == "text" else "application/octet-stream"
        return Response(
            b"\x00\xff" * 40 if blob != "text" else BODY.encode(), 200, None, media_type
        )

    @contextmanager
    def served(self) -> Iterator[tuple[Running, Host]]:
        """Serve it, with a host of the adapter over the network."""
        with running(Starlette(routes=self.routes())) as server, host_of(server.url) as host:
            yield server, host


@contextmanager
def host_of(url: str, timeout: float = 10.0) -> Iterator[Host]:
    """Return a host of the adapter over the network."""
    network = NetworkTransport(url, timeout=timeout)
    reading = GrantReader(ResourceClient(network, "secret-token"), {}, url)
    wire = KernelWire(lambda: reading)
    try:
        yield Host(wire)
    finally:
        wire.close()
        network.close()


def html(_: Request) -> Response:
    """Answer as a proxy does that wants a login."""
    return HTMLResponse("<html><body>Sign in to the network</body></html>", 200)


def drip(_: Request) -> Response:
    """Answer a byte at a time, without an end."""

    async def bytes_without_end() -> Any:
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    return StreamingResponse(bytes_without_end(), media_type="application/json")
