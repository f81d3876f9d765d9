"""A reader: one request's way to the resource server, and what it remembers of the schema."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from copy import copy
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from pdpp.evidence.ambiguity import MOST_CANDIDATES, ambiguous_connection
from pdpp.evidence.amount import counted
from pdpp.evidence.handle import Handle
from pdpp.evidence.stream_refusal import refused_stream
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts
from pdpp.mcp.reading.resource_client import Params, ResourceClient, ServerAnswer, ServerError
from pdpp.mcp.reading.schema_answer import SchemaAnswer, read_compact, read_full
from pdpp.mcp.reading.search_params import SearchParams
from pdpp.mcp.reading.stream_name import StreamName
from pdpp.mcp.reading.transport import HttpReply
from pdpp.model.errors import (
    AmbiguousConnection,
    AmbiguousSchemaDetail,
    CandidateJson,
    InvalidRequest,
    PdppError,
)
from pdpp.wire.answer import answer_without, is_temporary
from pdpp.wire.citation import record_address
from pdpp.wire.members import Json

if TYPE_CHECKING:
    from pdpp.mcp.reading.search_answer import SearchAnswer

_LONG_SCHEMA_BYTES = 1 << 13
"""Schemas up to this length are read at once; longer ones in a thread, so that nobody waits."""


class RequestCancelled(PdppError):
    """Nobody waits for the answer any more."""

    code = "cancelled"
    status = 499


class ChildGrant(NamedTuple):
    """One grant of a package: which connection and streams it opens, or why it opens none."""

    grant_id: str
    connection_id: str
    connector_key: str
    display_name: str
    streams: frozenset[str]
    problem: str | None = None

    def as_json(self) -> CandidateJson:
        """Return the child as a choice."""
        return {
            "connection_id": self.connection_id,
            "connector_key": self.connector_key,
            "display_name": self.display_name,
            "grant_id": self.grant_id,
        }

    def unavailable(self, code: str) -> ConnectionChoice:
        """Return the child as one that cannot be chosen."""
        own = self.connection_id, self.connector_key, self.display_name, self.grant_id
        return ConnectionChoice(*own, code)


class GrantReader:
    """Reads for one request under one bearer.

    ``children`` are the grants of a package token, None for a single grant. ``memory`` keeps
    what declarations say, which never changes under a grant.
    """

    def __init__(
        self,
        client: ResourceClient,
        memory: MutableMapping[tuple[str, str, str], FieldFacts],
        key: str,
        children: Sequence[ChildGrant] | None = None,
        client_of: Callable[[ChildGrant], ResourceClient] | None = None,
        record_page: str | None = None,
    ) -> None:
        self.client = client
        self.memory = memory
        self.key = key
        self.children = children
        self.client_of = client_of
        self.record_page = record_page
        self.cancelled: Event | None = None
        self.names: Callable[[], Sequence[StreamName]] | None = None
        """Tells what the streams are called, where that is known without a request."""

    def until(self, cancelled: Event) -> "GrantReader":
        """Return the same reader for one request, which ends when nobody waits for it any more."""
        own = copy(self)
        own.cancelled = cancelled
        return own

    def check_wanted(self) -> None:
        """Stop where nobody waits for the answer any more."""
        if self.cancelled is not None and self.cancelled.is_set():
            raise RequestCancelled("The request was cancelled; nothing more was read.")

    async def get(
        self,
        path: Sequence[str],
        params: Params,
        connection_id: str | None = None,
        room: int | None = None,
    ) -> ServerAnswer:
        """Read through the grant that opens a connection, or through the only one."""
        self.check_wanted()
        answer = await self.client_for(connection_id).get(path, params, room)
        self.record_page = answer.record_page or self.record_page
        return answer

    async def search(
        self,
        client: ResourceClient,
        route: Sequence[str],
        params: SearchParams,
        room: int | None = None,
    ) -> "SearchAnswer":
        """Return the hits that a client finds; ``room`` is how many characters of them help."""
        # Imported with the first search: a reader that opens a conversation has none to read.
        from pdpp.mcp.reading.search_answer import read_search

        self.check_wanted()
        answer = await client.get(route, params, room, lean=True)
        self.record_page = answer.record_page or self.record_page
        if answer.own:
            from pdpp.mcp.reading.own_search import read_own_search

            return read_own_search(answer.body, answer.cursors)
        hits = read_search(answer.body, answer.cursors, shows_all=answer.shows_all)
        if self.record_page is None:
            await self._check_searched(params, hits)
        return hits

    async def _check_searched(self, params: SearchParams, answer: "SearchAnswer") -> None:
        """Refuse a search in a stream that is not there: other servers just find nothing in it."""
        named = set(params.get("streams", ())) - {hit.handle.stream for hit in answer.hits}
        if not named or "cursor" in params:
            return
        schema = await self.compact(None, params.get("connection_id"))
        for stream in sorted(named - {row.name for row in schema.streams}):
            raise refused_stream(stream, param="streams")

    async def blob(self, blob_id: str, first: int) -> HttpReply:
        """Return the first bytes of a blob, through the first grant that shows it."""
        if self.children is None or self.client_of is None:
            return await self.client.bytes(["blobs", blob_id], first)
        refusals: list[PdppError] = []
        for child in self.children:
            try:
                return await self.client_of(child).bytes(["blobs", blob_id], first)
            except PdppError as problem:
                refusals.append(problem)
        # A grant that could not be asked now may show it: that it is not there is not known.
        busy = next(filter(is_temporary, refusals), None)
        raise busy or (refusals[-1] if refusals else InvalidRequest("This package holds no grant."))

    def client_for(self, connection_id: str | None) -> ResourceClient:
        """Return the client of the child that opens a connection; the bearer's own otherwise."""
        if self.children is None or self.client_of is None:
            return self.client
        fitting = self.children if connection_id is None else self._opening.get(connection_id, ())
        if len(fitting) == 1:
            return self.client_of(fitting[0])
        if not fitting:
            raise InvalidRequest(
                f"No connection {connection_id!r} in this package; schema lists them.",
                param="connection_id",
            )
        raise ambiguous(fitting)

    @cached_property
    def _opening(self) -> dict[str, list[ChildGrant]]:
        """Return the children that open each connection; each of thousands is asked for its own."""
        opening: dict[str, list[ChildGrant]] = {}
        for child in self.children or ():
            opening.setdefault(child.connection_id, []).append(child)
        return opening

    def require_one_source(self, connection_id: str | None, stream: str) -> None:
        """Refuse at once, from the token's own facts, where a package leaves the source open."""
        if self.children is None or connection_id is not None or len(self.children) < 2:
            return
        fitting = [c for c in self.children if stream in c.streams]
        raise ambiguous(fitting) if fitting else refused_stream(stream)

    async def compact(self, stream: str | None, connection_id: str | None) -> SchemaAnswer:
        """Return the compact schema: the server's own, or made here from its full one."""
        params = _scope(stream, connection_id)
        try:
            answer = await self.get(["schema"], {"view": "compact", **params}, connection_id)
        except ServerError as error:
            if error.status != 400 or error.param not in ("view", None):
                raise
            answer = await self.get(["schema"], params, connection_id)
        read = partial(read_compact, stream=stream, connection_id=connection_id)
        schema = await self._schema(answer, read)
        if stream is not None and not schema.streams:
            raise refused_stream(stream)
        return schema

    async def full(self, stream: str, connection_id: str | None) -> SchemaAnswer:
        """Return the full schema of one stream; a server that has no other form has no detail."""
        params = _scope(stream, connection_id)
        try:
            answer = await self.get(["schema"], {**params, "detail": "full"}, connection_id)
        except ServerError as error:
            if error.status != 400 or error.param not in ("detail", None):
                raise
            answer = await self.get(["schema"], params, connection_id)
        read = partial(read_full, stream=stream, connection_id=connection_id)
        schema = await self._schema(answer, read)
        if not schema.streams:
            raise refused_stream(stream)
        choices = schema.choices if connection_id is None else []
        if len(choices) > 1:  # Other servers send the detail of all of them.
            raise _ambiguous_detail(stream, choices)
        return schema

    async def _schema(
        self, answer: ServerAnswer, read: Callable[[Json], SchemaAnswer]
    ) -> SchemaAnswer:
        """Return the schema of an answer; a long one is read where nobody waits for it."""
        reading = partial(read, _schema_in(answer.body))
        return await self.client.codec.run(reading, long=answer.size > _LONG_SCHEMA_BYTES)

    async def stream_names(self) -> Sequence[StreamName]:
        """Return what the streams are called that may be read; none where nobody tells."""
        if self.names is not None:
            return self.names()
        try:
            return (await self.compact(None, None)).names()
        except PdppError:
            return []

    async def facts(self, connection_id: str | None, stream: str) -> FieldFacts:
        """Return the roles and kinds that a stream's declaration gives its fields."""
        known = (self.key, connection_id or "", stream)
        if known in self.memory:
            return self.memory[known]
        try:
            facts = (await self.compact(stream, connection_id)).facts()
            # Flags of other servers may be bare words, or types without roles; the full form has
            # both. A server of ours, which sends its page of a record, leaves out no role.
            if not facts.roles and self.record_page is None:
                answer = await self.get(["schema"], _scope(stream, connection_id), connection_id)
                whole = {k: v for k, v in _unwrapped(answer.body).items() if k != "detail"}
                full = read_compact(whole, stream, connection_id).facts()
                facts = facts if full == NO_FACTS else full
        except PdppError:
            return NO_FACTS
        self.memory[known] = facts
        return facts

    def url(self, handle: Handle, link: str | None = None) -> str:
        """Return the address at which a person can open a record."""
        address, is_page = self.address(handle)
        return address if is_page else link or address

    def address(self, handle: Handle) -> tuple[str, bool]:
        """Return where the provider has a record, and whether that is a page for people."""
        return record_address(self.client.origin, self.record_page, handle)


def _scope(stream: str | None, connection_id: str | None) -> dict[str, str]:
    named = {"stream": stream, "connection_id": connection_id}
    return {name: value for name, value in named.items() if value is not None}


def _unwrapped(body: Json) -> Json:
    """Return a document that some servers put into a member of its own."""
    inner = body.get("data", body)
    return inner if isinstance(inner, Mapping) else {}


def _schema_in(body: Json) -> Json:
    """Return the schema of an answer; an answer without any is not one without streams."""
    schema = _unwrapped(body)
    if not any(isinstance(schema.get(name), list) for name in ("connectors", "streams")):
        raise answer_without("schema")
    return schema


def _ambiguous_detail(stream: str, choices: Sequence[ConnectionChoice]) -> AmbiguousSchemaDetail:
    """Return the refusal of detail of a stream that several connections have."""
    return AmbiguousSchemaDetail(
        f"{stream!r} is in {len(choices)} of your connections; name one of them.",
        param="connection_id",
        retry_with="connection_id",
        available_connections=[choice.as_json() for choice in choices[:MOST_CANDIDATES]],
        total=len(choices),
        truncated=len(choices) > MOST_CANDIDATES,
    )


def ambiguous(children: Sequence[ChildGrant]) -> AmbiguousConnection:
    """Return the refusal that offers the connections of a package."""
    good = [child for child in children if child.problem is None]
    bad = [child.unavailable(child.problem) for child in children if child.problem is not None]
    hint = " Call schema {} for all of them." if len(good) > MOST_CANDIDATES else ""
    error = ambiguous_connection(
        f"{counted(len(good), 'connection fits', 'connections fit')} and none was named; "
        f"nothing was read.{hint}",
        [child.as_json() for child in good],
    )
    if bad:
        listed = [choice.as_json() for choice in bad[:MOST_CANDIDATES]]
        error.detail["unavailable_connections"] = listed
    return error
