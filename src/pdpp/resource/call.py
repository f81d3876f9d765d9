"""A call: one request as the operations see it, and the ways they choose what it reaches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pdpp.authz.principal import Principal
from pdpp.evidence.ambiguity import ambiguous_connection
from pdpp.evidence.amount import counted
from pdpp.evidence.handle import path_part
from pdpp.evidence.stream_refusal import refused_stream
from pdpp.meaning.encoder import LazyEncoder
from pdpp.model.errors import (
    AmbiguousConnection,
    CandidateJson,
    InvalidRequest,
    NotFound,
)
from pdpp.receipts.served import ServedParts
from pdpp.resource.parameter import Query
from pdpp.service.cursor import Signer
from pdpp.service.runner import leave_loop
from pdpp.service.settings import Settings
from pdpp.store.port import Store
from pdpp.store.scope import Reach

_FEW_REACHES = 300
"""Up to here a read may begin on the loop: whatever it is, it costs some microseconds for each."""


class Unwritten(NamedTuple):
    """An answer as the values it is made of, for a caller who would only read its JSON again."""

    body: Mapping[str, Any]


@dataclass(slots=True)
class Call:
    """Everything an operation needs to answer one request.

    ``served`` is for its receipt, and ``used``, the fields that the answer depends on although no
    parameter names them; ``answer_headers`` are added to the answer. Nothing else changes
    it; to enforce that would take as long as parsing the query. ``lag`` is by how many seconds the
    replica may be behind that answers, None where only the primary may. ``assumed`` is the state of
    the store in which the principal was made, where the read has to check that it lasts.
    ``takes_values`` says that the caller is in this process and can read an ``Unwritten`` answer.
    """

    store: Store
    principal: Principal
    query: Query
    path: Mapping[str, str]
    url: str
    now: int
    signer: Signer
    settings: Settings
    body: Any = None
    encoder: LazyEncoder | None = None
    data: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    lag: float | None = None
    assumed: object = None
    takes_values: bool = False
    served: list[ServedParts] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    answer_headers: dict[str, str] = field(default_factory=dict)

    @property
    def stream(self) -> str:
        """Return the stream the path names."""
        return self.path["stream"]

    def reaches(self, stream: str | None = None) -> tuple[Reach, ...]:
        """Return what the caller reaches of a stream, or of all, in the connection asked for."""
        if stream is None:
            found = self.of_connection(self.principal.reaches)
        else:
            found = self.principal.reaches_of(stream, self.connection_asked())
        leave_loop(len(found), _FEW_REACHES)
        return found

    def of_connection(self, reaches: Iterable[Reach]) -> tuple[Reach, ...]:
        """Return the reaches inside the connection asked for."""
        wanted = self.connection_asked()
        if wanted is None:
            return reaches if isinstance(reaches, tuple) else tuple(reaches)
        return tuple(reach for reach in reaches if reach.connection_id == wanted)

    def connection_asked(self) -> str | None:
        """Return the connection asked for; to the owner a merged one is the one it is part of.

        A client must not learn what became of an account, so to it the id names nothing.
        """
        wanted = self.query.text("connection_id")
        if wanted is None or not self.principal.is_owner:
            return wanted
        return self.store.catalogue().account_of(wanted)

    def stream_reaches(self) -> tuple[Reach, ...]:
        """Return what the caller reaches of the stream in the path, which is something."""
        reaches = self.reaches(self.stream)
        if not reaches:
            raise refused_stream(self.stream, self.query.text("connection_id"))
        self.refuse_open_package(reaches)
        return reaches

    def refuse_open_package(self, reaches: Sequence[Reach]) -> None:
        """Under a package of several sources a read names its source."""
        if self.principal.package is None or self.principal.grant is not None:
            return
        if self.query.text("connection_id") is None and len(self.principal.children) > 1:
            raise ambiguous(reaches, "This package has several sources; the stream is")

    def one_reach(self, why: str) -> Reach:
        """Return the only reach of the stream in the path; refuse where there are several."""
        reaches = self.stream_reaches()
        if len(reaches) > 1:
            raise ambiguous(reaches, why)
        return reaches[0]

    def reach_holding(self, key: str) -> Reach:
        """Return the only reach of the stream that shows a record."""
        reaches = self.stream_reaches()
        if len(reaches) > 1:
            reaches = tuple(reach for reach in reaches if self.store.record(reach, key) is not None)
        if not reaches:
            raise no_record(self.stream, key)
        if len(reaches) > 1:
            raise ambiguous(reaches, f"{key!r} is the key of a record")
        return reaches[0]

    def bound(self, kind: str) -> tuple[str, ...]:
        """Return what a cursor of this call is bound to."""
        return (self.principal.binding, kind, self.path.get("stream", ""), self.query.binding())


def no_record(stream: str, key: str) -> NotFound:
    """Return the answer for a record that does not exist or is outside the grant."""
    return NotFound(f"There is no record {key!r} in {stream!r} under this token.")


def ambiguous(
    reaches: Sequence[Reach],
    why: str,
    error: type[AmbiguousConnection] = AmbiguousConnection,
) -> AmbiguousConnection:
    """Return the refusal that offers the connections to choose from."""
    candidates: list[CandidateJson] = [
        {
            "connection_id": reach.connection_id,
            "connector_key": reach.feed.connection.connector_key,
            "display_name": reach.feed.connection.display_name,
            "grant_id": reach.grant_id,
        }
        for reach in reaches
    ]
    return ambiguous_connection(
        f"{why} in {counted(len(reaches), 'connection')}; nothing was read. "
        "Retry with one connection_id from available_connections.",
        candidates,
        error,
    )


def chosen_fields(call: Call, reaches: Sequence[Reach]) -> frozenset[str] | None:
    """Return the fields asked for by ``fields`` or ``view``; None is all that is granted."""
    names, view = call.query.items("fields"), call.query.text("view")
    if names and view is not None:
        raise InvalidRequest("Give fields or view, not both.", param="view")
    if view is not None:
        return _view_fields(reaches, view)
    if not names:
        return None
    for name in names:
        if not any(reach.shows(name) and name in reach.stream.fields for reach in reaches):
            reaches[0].field(name, "fields")
    return frozenset(names)


def _view_fields(reaches: Sequence[Reach], view: str) -> frozenset[str]:
    offered = {name for reach in reaches for name in visible_views(reach)}
    if view not in offered:
        listed = ", ".join(sorted(offered)) or "none"
        raise InvalidRequest(
            f"{reaches[0].stream.name} has no view {view[:80]!r}; its views: {listed}.",
            param="view",
        )
    return frozenset(name for reach in reaches for name in visible_views(reach).get(view, ()))


def visible_views(reach: Reach) -> dict[str, tuple[str, ...]]:
    """Return the declared views with the fields of theirs that a reach shows."""
    visible = {
        name: tuple(field for field in view.fields if reach.shows(field))
        for name, view in reach.stream.views.items()
    }
    return {name: fields for name, fields in visible.items() if fields}


def records_route(reach: Reach) -> str:
    """Return the route of the records of a reach under ``/v1``, to which their keys are added."""
    return f"/v1/streams/{path_part(reach.stream.name)}/records/"


def of_connection(reach: Reach) -> str:
    """Return the query that names the connection of a reach."""
    return f"?connection_id={path_part(reach.connection_id)}"
