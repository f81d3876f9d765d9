"""The record page: where a citation leads, with the quoted passage marked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.responses import Response

from pdpp.authz.wording import day, label_of
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.errors import FieldNotText, InvalidRequest, NotFound, StreamNotAllowed
from pdpp.pages.display import Value, presentation_of, values_of
from pdpp.pages.page_request import PageRequest
from pdpp.pages.site import Site
from pdpp.resource.window import readable_text
from pdpp.store.port import Record, Store
from pdpp.store.scope import Reach

_CHARS = re.compile(r"(\d{1,12})-(\d{1,12})\Z", re.ASCII)
_VALUE_CHARS = 20_000
_AROUND = 10_000
_GONE = "The passage this address names is not in the record any more; this is the record today."


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a field with the text around it; the counts are what is left out beyond."""

    name: str
    before: str
    quoted: str
    after: str
    left_before: int
    left_after: int


@dataclass(frozen=True, slots=True)
class RecordPageView:
    """A record as its owner sees it."""

    title: str
    account: str
    stream: str
    time: str | None
    actor: str | None
    link: str | None
    values: Sequence[Value]
    passage: Passage | None
    problem: str | None


async def show_record(request: PageRequest) -> Response:
    """Answer ``GET /r/{connection_id}/{stream}/{record_id}``."""
    store, path = request.site.service.store, request.http.path_params
    asked = request.http.query_params
    most = request.site.service.settings.text_blob_bytes

    record = await _find(request.site, path)

    def read() -> RecordPageView:
        return _view(store, record, asked.get("field"), asked.get("chars", ""), most)

    view = await request.site.read("record", read)
    return request.page("record.html", scripts="'self'", view=view)


async def _find(site: Site, path: Mapping[str, str]) -> Record:
    """Return the record that an address names, read as the owner and with a receipt."""
    connection_id, stream = path["connection_id"], path["stream"]
    names = {"stream": stream, "record_id": path["record_id"]}
    try:
        answer = await site.operate("getRecord", names, {"connection_id": connection_id})
    except (NotFound, StreamNotAllowed, InvalidRequest):
        raise NotFound("There is no such record here, or not any more.") from None
    feed = site.service.store.catalogue().feeds[connection_id, stream]
    return Record(
        Reach(feed, feed.stream, None, True),
        answer["id"],
        orjson.dumps(answer["data"]),
        instant.parse(answer["emitted_at"]) or 0,
        answer["version"],
    )


def _view(
    store: Store, record: Record, field: str | None, chars: str, most_bytes: int
) -> RecordPageView:
    card, reach = presentation_of(record), record.reach
    moment = instant.parse(card.event_time) if card.event_time else None
    passage = None if field is None else _passage(store, record, field, chars, most_bytes)
    return RecordPageView(
        title=visible(card.title, lines=False),
        account=visible(reach.feed.connection.display_name, lines=False),
        stream=label_of(reach.stream),
        time=day(moment) if moment is not None else None,
        actor=None if card.actor is None else visible(card.actor, lines=False),
        link=card.link,
        values=[
            value
            for value in values_of(record, _VALUE_CHARS)
            if passage is None or value.name != passage.name
        ],
        passage=passage,
        problem=_GONE if field is not None and passage is None else None,
    )


def _passage(
    store: Store, record: Record, field: str, chars: str, most_bytes: int
) -> Passage | None:
    """Return the passage that a citation names, None where it is not there."""
    match, text = _CHARS.match(chars), _text(store, record, field, most_bytes)
    if match is None or text is None:
        return None
    start, end = int(match[1]), int(match[2])
    if not start < end <= len(text):
        return None
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    return Passage(
        name=visible(field, lines=False),
        before=visible(text[first:start]),
        quoted=visible(text[start:end]),
        after=visible(text[end:last]),
        left_before=first,
        left_after=len(text) - last,
    )


def _text(store: Store, record: Record, field: str, most_bytes: int) -> str | None:
    declared = record.reach.stream.fields.get(field)
    value: Any = orjson.loads(record.data).get(field)
    if declared is None or value is None:
        return None
    try:
        return readable_text(store, declared, value, most_bytes)[0]
    except FieldNotText:
        return None
