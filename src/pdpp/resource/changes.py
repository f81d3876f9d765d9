"""Changes: what was written to a stream or went away since a bookmark, page by page."""

from functools import partial
from typing import Any, NamedTuple

from pdpp.model.errors import CursorExpired, InvalidRequest
from pdpp.receipts.served import of_changes
from pdpp.resource.call import Call, chosen_fields
from pdpp.resource.envelope import list_envelope, record_envelope, tombstone_envelope
from pdpp.service.runner import leave_loop
from pdpp.store.port import ChangeQuery, Record, Tombstone
from pdpp.store.scope import Reach

_LAST_KEY = "\U0010ffff"
"""Sorts after every key."""


def list_changes(call: Call) -> dict[str, Any]:
    """Answer ``GET /v1/streams/{stream}/records?changes_since=…``."""
    for name in ("filter", "sort", "order", "expand"):
        if call.query.values.get(name):
            raise InvalidRequest(f"{name} cannot be combined with changes_since.", param=name)
    reach = call.one_reach(f"{call.stream!r} is")
    select = chosen_fields(call, [reach])
    session = _session(call, reach)
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
        cursor = call.signer.seal("changes", _page_bound(call, reach), place)
        return list_envelope(call, data, next_cursor=cursor)
    version, key = max(page.last, (session.gone_before or 0, _LAST_KEY))
    bookmark = call.signer.seal("bookmark", _stream_bound(call, reach), [version, key, call.now])
    return list_envelope(call, data, next_changes_since=bookmark)


class _Session(NamedTuple):
    """Pages of changes that belong together.

    ``horizon`` is where they end; ``gone_before`` is, for a first reading, the version up to which
    what went away was never seen.
    """

    after: tuple[int, str]
    horizon: int
    gone_before: int | None


def _stream_bound(call: Call, reach: Reach) -> tuple[str, ...]:
    return call.principal.binding, reach.connection_id, reach.stream.name


def _page_bound(call: Call, reach: Reach) -> tuple[str, ...]:
    return (*_stream_bound(call, reach), call.query.binding())


def _session(call: Call, reach: Reach) -> _Session:
    """Return where to go on."""
    cursor, since = call.query.text("cursor"), call.query.text("changes_since")
    if cursor is not None:
        place = call.signer.open("changes", _page_bound(call, reach), cursor)
        version, key, horizon, gone_before = place
        return _Session((version, key), horizon, gone_before)
    horizon = max(call.now, call.store.latest_version(reach))
    if since == "beginning":
        return _Session((0, ""), horizon, call.store.latest_trace(reach))
    bound = _stream_bound(call, reach)
    version, key, issued = call.signer.open("bookmark", bound, since or "", "changes_since")
    if issued < call.now - call.settings.bookmark_life:
        raise CursorExpired(
            "This bookmark is too old; read again with changes_since=beginning.",
            param="changes_since",
        )
    return _Session((version, key), horizon, None)
