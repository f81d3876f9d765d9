"""Selections: what an owner chose in words becomes the explicit allowances of a grant."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pdpp.authz.approval import by_connection, new_grant, new_package
from pdpp.authz.token import TokenKind, mint
from pdpp.model.declaration import Declaration, Stream
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import Allowance, Grant, Interval, Package
from pdpp.store.catalogue import Catalogue, Feed
from pdpp.store.vault import Token


@dataclass(frozen=True, slots=True)
class Selection:
    """What the owner wants a client to see; empty means all of it."""

    connections: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    view: str | None = None
    time: Interval | None = None
    keys: tuple[str, ...] = ()
    source: str | None = None


def resolve(selection: Selection, catalogue: Catalogue) -> tuple[Allowance, ...]:
    """Return one allowance for each stream of each connection that a selection opens."""
    feeds = [
        feed
        for _, feed in sorted(catalogue.feeds.items())
        if selection.source in (None, feed.connection.connector_key)
    ]
    connection_ids = {feed.connection.connection_id for feed in feeds}
    _require_known(selection.connections, connection_ids, "connection")
    if selection.connections:
        feeds = [feed for feed in feeds if feed.connection.connection_id in selection.connections]
    _require_known(selection.streams, {feed.stream.name for feed in feeds}, "stream")
    chosen = [
        feed for feed in feeds if not selection.streams or feed.stream.name in selection.streams
    ]
    _require_fields(selection, chosen)
    allowances = [
        allowance
        for feed in chosen
        if (allowance := _allow(selection, feed, catalogue)) is not None
    ]
    if not allowances:
        raise InvalidRequest("These choices open nothing; choose other connections or streams.")
    return tuple(allowances)


def _allow(selection: Selection, feed: Feed, catalogue: Catalogue) -> Allowance | None:
    declaration: Declaration = catalogue.sources[feed.connection.connector_key]
    stream = feed.stream
    fields = _fields(selection, stream)
    if fields is not None and not fields:
        return None
    if selection.time is not None and stream.consent_time_field is None:
        return None
    return Allowance(
        connection_id=feed.connection.connection_id,
        stream=stream.name,
        revision=declaration.revision,
        fields=tuple(stream.fields) if fields is None else fields,
        whole=fields is None,
        time=selection.time,
        keys=frozenset(selection.keys) if selection.keys else None,
    )


def _fields(selection: Selection, stream: Stream) -> tuple[str, ...] | None:
    """Return the chosen fields that a stream has; None where the choice is everything."""
    if selection.view is not None:
        view = stream.views.get(selection.view)
        return () if view is None else view.fields
    if not selection.fields:
        return None
    return tuple(name for name in stream.fields if name in selection.fields)


def _require_known(wanted: Iterable[str], known: Collection[str], what: str) -> None:
    for name in wanted:
        if name not in known:
            raise InvalidRequest(f"There is no {what} {name!r}.", param=what)


def _require_fields(selection: Selection, feeds: Sequence[Feed]) -> None:
    if selection.fields and selection.view is not None:
        raise InvalidRequest("Choose fields or a view, not both.", param="view")
    declared = {name for feed in feeds for name in feed.stream.fields}
    for name in selection.fields:
        if name not in declared:
            raise InvalidRequest(
                f"None of the chosen streams has a field {name!r}.", param="fields"
            )
    views = {view for feed in feeds for view in feed.stream.views}
    if selection.view is not None and selection.view not in views:
        raise InvalidRequest(
            f"None of the chosen streams has a view {selection.view!r}.", param="view"
        )


def make_grant(
    allowances: tuple[Allowance, ...],
    *,
    client_id: str,
    purpose: str,
    now: int,
    expires_at: int | None = None,
) -> tuple[Grant, str, Token]:
    """Return a new grant with its client token's text, to be shown once, and its kept form."""
    grant = new_grant(
        allowances, client_id=client_id, purpose=purpose, now=now, expires_at=expires_at
    )
    secret, token = mint(TokenKind.CLIENT, client_id, now, grant_id=grant.id, expires_at=expires_at)
    return grant, secret, token


def make_package(
    allowances: tuple[Allowance, ...],
    *,
    client_id: str,
    purpose: str,
    now: int,
    expires_at: int | None = None,
) -> tuple[Package, tuple[Grant, ...], str, Token]:
    """Return a package with one grant per connection, its token's text, and its kept form."""
    package = new_package(client_id, now, expires_at)
    grants = tuple(
        new_grant(
            own,
            client_id=client_id,
            purpose=purpose,
            now=now,
            expires_at=expires_at,
            package=package,
        )
        for own in by_connection(allowances)
    )
    secret, token = mint(
        TokenKind.PACKAGE, client_id, now, package_id=package.id, expires_at=expires_at
    )
    return package, grants, secret, token
