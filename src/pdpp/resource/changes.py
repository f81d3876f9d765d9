"""Changes: the records of a stream that were written or deleted since a bookmark, page by page."""

from functools import partial
from typing import NamedTuple

from pdpp.evidence.stream_refusal import refused_stream
from pdpp.evidence.text import digest
from pdpp.model.errors import CursorExpired, InvalidRequest
from pdpp.receipts.served import of_changes
from pdpp.resource.answers import ListJson, RecordJson, TombstoneJson
from pdpp.resource.call import Call, chosen_fields
from pdpp.resource.envelope import list_envelope, record_envelope, tombstone_envelope
from pdpp.service.cursor import refused_cursor
from pdpp.service.runner import leave_loop
from pdpp.store.query import ChangePosition, ChangeQuery, Record, Tombstone
from pdpp.store.scope import Reach

_MOST_FIELDS_CHARS = 120


def asks_for_changes(call: Call) -> bool:
    """Tell whether a request says since when it wants changes, or continues such a request."""
    cursor = call.query.text("cursor")
    if call.query.text("changes_since") is not None or cursor is None:
        return call.query.text("changes_since") is not None
    return call.signer.is_of_kind("changes", _cursor_bound(call), cursor)


def list_changes(call: Call) -> ListJson[RecordJson | TombstoneJson]:
    """Answer ``GET /v1/streams/{stream}/records?changes_since=…`` and the pages that follow."""
    for name in ("filter", "sort", "order", "expand"):
        if call.query.values.get(name):
            raise InvalidRequest(f"{name} cannot be combined with changes_since.", param=name)
    session = _session(call)
    reach, select = session.reach, session.select
    page = call.store.changes(
        ChangeQuery(
            reach=reach,
            limit=call.query.integer("limit") or 0,
            after=session.after,
            horizon=session.horizon,
            tombstones=session.gone_before is None,
            select=select,
        )
    )
    leave_loop(sum(len(change.data) for change in page.changes if isinstance(change, Record)))
    call.served.append(partial(of_changes, page.changes, select))
    data = [
        tombstone_envelope(change) if isinstance(change, Tombstone) else record_envelope(change)
        for change in page.changes
    ]
    if page.has_more:
        place = [*page.last, session.horizon, session.gone_before]
        cursor = call.signer.seal("changes", _cursor_bound(call), [*place, *_scope(session)])
        return list_envelope(call, data, next_cursor=cursor)
    last = page.last
    # A first reading skips what went away before it began; the bookmark must stand after that, or
    # the next reading would tell of records that this client never saw.
    if session.gone_before is not None and session.gone_before >= last.version:
        last = ChangePosition(session.gone_before, None)
    bookmark = call.signer.seal("bookmark", _stream_bound(call, reach), [*last, call.now])
    return list_envelope(call, data, next_changes_since=bookmark)


class _Session(NamedTuple):
    """Pages of changes that belong together.

    ``horizon`` is where they end; ``gone_before`` is, for a first reading, the version up to which
    what went away was never seen.
    """

    reach: Reach
    select: frozenset[str] | None
    after: ChangePosition
    horizon: int
    gone_before: int | None


def _stream_bound(call: Call, reach: Reach) -> tuple[str, ...]:
    return call.principal.binding, reach.connection_id, reach.stream.name


def _cursor_bound(call: Call) -> tuple[str, ...]:
    """Return what a cursor is bound to; its connection and its fields it carries with it."""
    return call.principal.binding, call.stream


def _scope(session: _Session) -> tuple[str, list[str] | str | None]:
    """Return the connection and the fields of a session; many fields only as their digest."""
    if session.select is None:
        return session.reach.connection_id, None
    names = sorted(session.select)
    written = repr(names)
    if len(written) <= _MOST_FIELDS_CHARS:
        return session.reach.connection_id, names
    return session.reach.connection_id, digest(written)


def _session(call: Call) -> _Session:
    """Return where to go on: after a cursor, after a bookmark, or from the beginning."""
    cursor, since = call.query.text("cursor"), call.query.text("changes_since")
    if cursor is not None:
        return _continued(call, cursor)
    reach = call.one_reach(f"{call.stream!r} is")
    select = chosen_fields(call, [reach])
    # Versions are clock readings. Should the clock have been set back, what was written before is
    # still within the horizon.
    horizon = max(call.now, call.store.latest_version(reach))
    if since == "beginning":
        beginning = ChangePosition(0, None)
        return _Session(reach, select, beginning, horizon, call.store.latest_trace(reach))
    bound = _stream_bound(call, reach)
    version, mark, issued = call.signer.open("bookmark", bound, since or "", "changes_since")
    if issued < call.now - call.settings.bookmark_life:
        raise CursorExpired(
            "This bookmark is too old; read again with changes_since=beginning.",
            param="changes_since",
        )
    return _Session(reach, select, ChangePosition(version, mark), horizon, None)


def _continued(call: Call, cursor: str) -> _Session:
    """Return the session that a cursor continues.

    A repeated parameter must have its first value; a missing one comes from the cursor.
    """
    opened = call.signer.open("changes", _cursor_bound(call), cursor)
    version, mark, horizon, gone_before, connection_id, names = opened
    if call.connection_asked() not in (None, connection_id):
        raise refused_cursor()
    reaches = call.principal.reaches_of(call.stream, connection_id)
    if not reaches:
        raise refused_stream(call.stream, connection_id)
    reach = reaches[0]
    select = chosen_fields(call, [reach])
    if select is None and isinstance(names, list):
        select = frozenset(names)
    session = _Session(reach, select, ChangePosition(version, mark), horizon, gone_before)
    if _scope(session) != (connection_id, names):
        raise refused_cursor()
    return session
