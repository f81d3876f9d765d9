"""The reference server on a loopback port: routes, parameters and refusals."""

import json
import operator
import re
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.reference_server import shapes
from tests.reference_server.shapes import Refused
from tests.reference_server.world import Behaviour, StreamOf, World, two_mailboxes

_ALLOWED = {
    "schema": {"view", "stream", "connection_id"},
    "streams": {"connection_id"},
    "records": {"limit", "cursor", "order", "sort", "count", "fields", "view", "expand"}
    | {"changes_since", "connection_id"},
    "record": {"fields", "expand", "connection_id"},
    "window": {"field", "connection_id", "offset_chars", "limit_chars", "q"}
    | {"before_chars", "after_chars"},
    "search": {"q", "streams", "streams[]", "limit", "cursor", "connection_id"},
    "aggregate": {"metric", "field", "group_by", "limit", "connection_id"},
}
_REGISTRATION = {"client_name", "redirect_uris", "grant_types", "response_types"} | {
    "token_endpoint_auth_method"
}
_BRACKETED = re.compile(r"(filter|expand_limit)\[")
_FILTER = re.compile(r"filter\[([^\]]+)\](?:\[(\w+)\])?\Z")
_OPERATORS = {None: operator.eq, "gte": operator.ge, "gt": operator.gt} | {
    "lte": operator.le,
    "lt": operator.lt,
}


_PROOFS = ("evidence_excerpts", "snippet")


class Asked(NamedTuple):
    """One request as it came."""

    method: str
    path: str
    query: dict[str, list[str]]

    def one(self, name: str) -> str | None:
        """Return the last value of a parameter."""
        return self.query[name][-1] if name in self.query else None


class ReferenceServer:
    """Serves a world until the block ends."""

    token = "reference-token"

    def __init__(self, behaviour: Behaviour | None = None, world: World | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.world = world or two_mailboxes()
        self.asked: list[Asked] = []
        self.bearers: list[str] = []
        self.alive = True
        """Set to False, the token is dead: every request answers 401."""
        self.refresh_token = "reference-refresh-0"
        self.registrations: list[dict[str, Any]] = []
        self.exchanges = 0
        """How often a refresh token was sent."""
        handler = type("Handler", (_Handler,), {"reference": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> "ReferenceServer":
        Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, asked: Asked, bearer: str) -> tuple[int, Any]:
        """Return the status and the body of an answer."""
        try:
            return 200, self._serve(asked, bearer)
        except Refused as refused:
            return refused.status, refused.body
        except LookupError:
            return 404, shapes.not_routed(asked.method, asked.path)

    def _serve(self, asked: Asked, bearer: str) -> Any:
        if asked.path == "/.well-known/oauth-protected-resource":
            return self._metadata()
        if asked.method != "GET" or not asked.path.startswith("/v1/"):
            raise LookupError(asked.path)
        if bearer != f"Bearer {self.token}" or not self.alive:
            raise Refused(401, "context.active_false", "The token is not active")
        if asked.path.startswith("/v1/blobs/"):
            return self._blob(asked.path.removeprefix("/v1/blobs/"))
        return Routes(self.world, self.behaviour, asked).serve()

    def _blob(self, blob_id: str) -> bytes:
        if blob_id not in self.world.blobs:
            raise Refused(404, "blob_not_found", "Blob not found")
        return self.world.blobs[blob_id]

    def register(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Register a client, if it sends nothing unknown."""
        self.registrations.append(body)
        unknown = sorted(body.keys() - _REGISTRATION)
        if unknown:
            return 400, {
                "error": "invalid_client_metadata",
                "error_description": f"Unknown members: {', '.join(unknown)}",
            }
        return 201, {**body, "client_id": "ref-client-1"}

    def exchange(self, form: dict[str, str]) -> tuple[int, Any]:
        """Exchange the refresh token for other tokens; the former ones are good no more."""
        self.exchanges += 1
        if form.get("refresh_token") != self.refresh_token:
            return 400, {"error": "invalid_grant"}
        self.token = f"reference-token-{self.exchanges}"
        self.refresh_token = f"reference-refresh-{self.exchanges}"
        return 200, {
            "access_token": self.token,
            "token_type": "Bearer",
            "refresh_token": self.refresh_token,
        }

    def _metadata(self) -> dict[str, Any]:
        return {
            "resource": self.url,
            "authorization_servers": [self.url],
            "pdpp_core_query_base": f"{self.url}/v1",
            "pdpp_token_kinds_supported": ["client", "owner"],
            "pdpp_discovery_hints": {},
            "pdpp_agent_discovery": {},
        }


class Routes:
    """Answers one request under the one grant there is."""

    def __init__(self, world: World, behaviour: Behaviour, asked: Asked) -> None:
        self.world, self.behaviour, self.asked = world, behaviour, asked

    def serve(self) -> Any:
        """Return the body, or raise what stands for it."""
        parts = [unquote(part) for part in self.asked.path.removeprefix("/v1/").split("/")]
        match parts:
            case ["schema"]:
                return self._schema()
            case ["search"]:
                return self._search()
            case ["search", "semantic" | "hybrid"]:
                raise Refused(404, "not_found", "This kind of search is not offered to clients")
            case ["streams"]:
                self._check("streams")
                return shapes.envelope(self.asked.path, list(self._rows()), None, None)
            case ["streams", stream] if self.behaviour.describes:
                return self._stream_row(stream)
            case ["streams", stream, "records"]:
                return self._records(stream)
            case ["streams", stream, "aggregate"]:
                return self._aggregate(stream)
            case ["streams", stream, "records", key]:
                return self._record(stream, key)
            case ["streams", stream, "records", key, "field-window"]:
                return self._window(stream, key)
        raise LookupError(self.asked.path)

    def _check(self, route: str) -> None:
        unknown = [
            name
            for name in self.asked.query
            if name not in _ALLOWED[route] and not _BRACKETED.match(name)
        ]
        if unknown:
            raise Refused(
                400, "invalid_request", f"Unknown parameter {unknown[0]}", param=unknown[0]
            )

    def _number(self, name: str, otherwise: int) -> int:
        return int(self.asked.one(name) or otherwise)

    def _granted(self) -> list[str]:
        wanted = self.asked.one("connection_id")
        if wanted is not None and wanted not in self.behaviour.connections:
            raise Refused(404, "connection_not_found", "No such connection", param="connection_id")
        return [c for c in self.behaviour.connections if wanted in (None, c)]

    def _holding(self, stream: str) -> list[str]:
        """Return the granted connections that have a stream."""
        holding = [c for c in self._granted() if (c, stream) in self.world.records]
        if not holding:
            raise Refused(401, "context.stream_not_allowed", "Stream is not in the grant")
        return holding

    def _declared(self, stream: str) -> StreamOf:
        return next(s for rows in self.world.streams.values() for s in rows if s.name == stream)

    def _schema(self) -> Any:
        self._check("schema")
        asked = self.asked.one("view")
        if asked is not None and self.behaviour.compact == "refused":
            raise Refused(400, "invalid_request", "Unknown parameter view", param="view")
        full = asked != "compact" or self.behaviour.compact == "ignored"
        wanted = self.asked.one("stream")
        path = self.asked.path
        return shapes.schema(self.world, self.behaviour, path, self._granted(), wanted, full)

    def _rows(self) -> Iterator[Any]:
        granted = self._granted()
        for connection in granted if self.behaviour.describes else self.behaviour.connections:
            for stream in self.world.streams[self.world.connections[connection][0]]:
                yield shapes.stream_row(self.world, connection, stream)

    def _stream_row(self, stream: str) -> Any:
        self._holding(stream)
        return next(row for row in self._rows() if row["name"] == stream)

    def _records(self, stream: str) -> Any:
        self._check("records")
        holding, since = self._holding(stream), self.asked.one("changes_since")
        if since is not None and len(holding) > 1:
            raise self._ambiguous(holding)
        cursor = self.asked.one("cursor")
        if since is not None or (cursor or "").startswith("chg_"):
            return self._changes(holding[0], stream, since, cursor)
        limit, start = self._number("limit", 25), int((cursor or "cur_0")[4:])
        rows, more = [], False
        for connection in holding:  # The limit counts for each connection.
            kept = [r for r in self.world.records[connection, stream] if self._matches(r)]
            page = kept[start : start + limit]
            more = more or len(kept) > start + limit
            rows += [self._shown(connection, stream, row) for row in page]
        following = f"cur_{start + limit}" if more else None
        return self._list(rows, following)

    def _changes(self, connection: str, stream: str, since: str | None, cursor: str | None) -> Any:
        """Return a page of changes; a bookmark beside a cursor serves the first page again."""
        limit = self._number("limit", 25)
        if since not in (None, "beginning") and not str(since).startswith("bkm_"):
            choices = self._choices([connection])
            raise Refused(
                400, "invalid_request", "Bad changes_since", available_connections=choices
            )
        start = 0 if since is not None else int((cursor or "chg_0")[4:])
        rows = [self._shown(connection, stream, r) for r in self.world.records[connection, stream]]
        gone = self.world.deleted.get((connection, stream), [])
        rows += [shapes.tombstone(self.world, connection, stream, key) for key in gone]
        if since is not None and since != "beginning":
            rows = rows[int(since[4:]) :]
        following = f"chg_{start + limit}" if start + limit < len(rows) else None
        listed = self._list(rows[start : start + limit], following)
        return {**listed, "next_changes_since": f"bkm_{start + limit}"}

    def _list(self, rows: list[Any], cursor: str | None) -> Any:
        following = f"{self.asked.path}?cursor={cursor}" if cursor else None
        return shapes.envelope(self.asked.path, rows, cursor, following)

    def _matches(self, data: dict[str, Any]) -> bool:
        for name, values in self.asked.query.items():
            filtered = _FILTER.match(name)
            if filtered is None:
                continue
            field, compared = filtered.groups()
            value = data.get(field)
            wanted = type(value)(values[-1]) if isinstance(value, int | float) else values[-1]
            if value is None or not _OPERATORS[compared](value, wanted):
                return False
        return True

    def _shown(self, connection: str, stream: str, data: dict[str, Any]) -> dict[str, Any]:
        return shapes.record(self.world, connection, stream, self._projected(data))

    def _projected(self, data: dict[str, Any]) -> dict[str, Any]:
        names = [n for part in self.asked.query.get("fields", []) for n in part.split(",")]
        return {k: v for k, v in data.items() if not names or k in names or k == "id"}

    def _find(self, stream: str, key: str) -> tuple[str, dict[str, Any]]:
        found = [
            (connection, row)
            for connection in self._holding(stream)
            for row in self.world.records[connection, stream]
            if row["id"] == key
        ]
        if not found:
            raise Refused(404, "not_found", "Record not found")
        if len(found) > 1:
            raise self._ambiguous([connection for connection, _ in found])
        return found[0]

    def _choices(self, connections: list[str]) -> list[dict[str, str]]:
        names = self.world.connections
        return [{"connection_id": c, "display_name": names[c][1]} for c in connections]

    def _ambiguous(self, connections: list[str]) -> Refused:
        return Refused(
            409,
            "ambiguous_connection",
            "More than one connection matches",
            retry_with="connection_id",
            available_connections=self._choices(connections),
        )

    def _record(self, stream: str, key: str) -> Any:
        self._check("record")
        connection, data = self._find(stream, key)
        return shapes.single_record(self.world, connection, stream, self._projected(data))

    def _window(self, stream: str, key: str) -> Any:
        self._check("window")
        _, data = self._find(stream, key)
        field = self.asked.one("field") or ""
        if field not in self._declared(stream).fields:
            raise Refused(400, "unknown_field", f"Unknown field {field}", param="field")
        value = data.get(field)
        if not isinstance(value, str):
            raise Refused(422, "field_not_text", f"Field {field} is not text", param="field")
        limit, start = self._number("limit_chars", 4096), self._number("offset_chars", 0)
        if (q := self.asked.one("q")) is not None:
            at = value.lower().find(q.lower())
            if at < 0:
                raise Refused(404, "not_found", "No match in this field", param="q")
            start, limit = max(0, at - 512), 1024 + len(q)
        return shapes.window(stream, key, field, value, start, min(len(value), start + limit))

    def _search(self) -> Any:
        self._check("search")
        if any(_FILTER.match(name) for name in self.asked.query):
            raise Refused(400, "invalid_request", "filter is not supported on search")
        q = (self.asked.one("q") or "").lower()
        wanted = self.asked.query.get("streams[]", []) + self.asked.query.get("streams", [])
        hits = [
            shapes.hit(self.world, (connection, stream), row, field, q)
            for (connection, stream), rows in self.world.records.items()
            if connection in self._granted() and (not wanted or stream in wanted)
            for row in rows
            for field, facts in self._declared(stream).fields.items()
            if facts.lexical and q in str(row.get(field, "")).lower()
        ]
        if not self.behaviour.excerpts:
            hits = [{k: v for k, v in hit.items() if k not in _PROOFS} for hit in hits]
        if self.behaviour.event_times:
            hits = [{**hit, "event_time": self._written(hit)} for hit in hits]
        if self.behaviour.snippets_only:
            hits = [{k: v for k, v in hit.items() if k != "evidence_excerpts"} for hit in hits]
        hits.sort(key=lambda hit: float(hit["score"]["value"]))
        limit, start = self._number("limit", 25), int((self.asked.one("cursor") or "s0")[1:])
        following = f"s{start + limit}" if start + limit < len(hits) else None
        recall = {
            "complete": True,
            "ranked_candidate_count": len(hits),
            "ranking_scope": "grant",
            "sources_searched_count": len(self._granted()),
            "truncated": False,
        }
        listed = self._list(hits[start : start + limit], following)
        meta = {"count": len(hits), "count_accuracy": "exact", "recall": recall, "warnings": []}
        return {**listed, "meta": meta}

    def _written(self, hit: dict[str, Any]) -> str:
        rows = self.world.records[hit["connection_id"], hit["stream"]]
        return next(str(row["sent_at"]) for row in rows if row["id"] == hit["record_key"])

    def _aggregate(self, stream: str) -> Any:
        self._check("aggregate")
        rows = [
            row
            for connection in self._holding(stream)
            for row in self.world.records[connection, stream]
            if self._matches(row)
        ]
        metric, group_by = self.asked.one("metric"), self.asked.one("group_by")
        head = {
            "object": "aggregation",
            "stream": stream,
            "metric": metric,
            "field": self.asked.one("field"),
            "group_by": group_by,
            "filtered_record_count": len(rows),
        }
        if group_by is None:
            field = self.asked.one("field")
            value = len(rows) if metric == "count" else sum(row[field] for row in rows if field)
            return {**head, "value": value}
        limit = self._number("limit", 100)
        counts = Counter(row.get(group_by) for row in rows).most_common()
        groups = [{"key": key, "count": count} for key, count in counts[:limit]]
        other = sum(count for _, count in counts[limit:])
        return {**head, "groups": groups, "limit": limit, "other_count": other}


class _Handler(BaseHTTPRequestHandler):
    """Reads requests and writes JSON as JavaScript does."""

    protocol_version = "HTTP/1.1"
    reference: ReferenceServer

    def do_GET(self) -> None:
        """Answer a read."""
        address = urlsplit(self.path)
        query: dict[str, list[str]] = {}
        for name, value in parse_qsl(address.query, keep_blank_values=True):
            query.setdefault(name, []).append(value)
        asked = Asked("GET", address.path, query)
        self.reference.asked.append(asked)
        bearer = self.headers.get("Authorization", "")
        self.reference.bearers.append(bearer)
        self._send(*self.reference.answer(asked, bearer))

    def do_POST(self) -> None:
        """Answer a registration or an exchange; nothing else is posted."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.reference.asked.append(Asked("POST", self.path, {}))
        if self.path == "/oauth/register":
            self._send(*self.reference.register(json.loads(body)))
        elif self.path == "/oauth/token":
            self._send(*self.reference.exchange(dict(parse_qsl(body.decode()))))
        else:
            self._send(404, shapes.not_routed("POST", self.path))

    def _send(self, status: int, body: Any) -> None:
        media_type = "application/json; charset=utf-8"
        if isinstance(body, bytes):  # A blob goes as it is, and ranges are not served.
            media_type, written = "image/png", body
        else:
            written = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(written)))
        self.send_header("Request-Id", "req_ref_1")
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""
