"""Record lines: one record in a list, with its passage where a search found one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pdpp.authz.requester import one_line
from pdpp.evidence.fence import visible
from pdpp.evidence.handle import path_part
from pdpp.model.declaration import Role
from pdpp.model.errors import NotFound
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.record_title import presented, untitled
from pdpp.pages.records.readable import readable

_MARK = re.compile(r"</?mark>")
_BREAKS = re.compile(r"\s+")
_LONGEST = 200
_FEW_WORDS = 80


class PassagePart(NamedTuple):
    """Some text of a passage, and whether it is a match."""

    text: str
    marked: bool


class RecordLine(NamedTuple):
    """A record as a list shows it."""

    title: str
    address: str
    account: str
    kind: str
    time: str
    actor: str
    passage: Sequence[PassagePart] = ()
    missing: str = ""
    """The words of a question that the record lacks."""


def record_address(base: str, connection_id: str, stream: str, record_id: str) -> str:
    """Return where a record is shown."""
    return f"{base}/r/" + "/".join(path_part(part) for part in (connection_id, stream, record_id))


async def hit_line(reader: PageReader, hit: Mapping[str, Any], dates: Dates) -> RecordLine:
    """Return a hit of a search; one that has neither title nor passage shows how it begins."""
    address = record_address(reader.base, hit["connection_id"], hit["stream"], hit["record_key"])
    passage: Sequence[PassagePart] = ()
    for excerpt in hit["evidence_excerpts"][:1]:
        passage = marked_parts(excerpt["preview_text"])
        chars = f"{excerpt['start_chars']}-{excerpt['end_chars']}"
        address += "?" + urlencode({"field": excerpt["field_path"], "chars": chars})
    kind, time = _label(reader, hit), dates.event(hit["event_time"])
    title = hit["title"]
    if untitled(title, hit["display_name"], hit["stream"]):
        passage = passage or await _beginning_of_hit(reader, hit)
        title = _instead_of_title("".join(part.text for part in passage), kind, time)
    return RecordLine(
        title=one_line(title, _LONGEST),
        address=address,
        account=one_line(hit["display_name"], _LONGEST),
        kind=kind,
        time=time,
        actor="",
        passage=_beyond(title, passage),
        missing=one_line(", ".join(hit["missing"]), _LONGEST),
    )


async def _beginning_of_hit(reader: PageReader, hit: Mapping[str, Any]) -> Sequence[PassagePart]:
    names = {"stream": hit["stream"], "record_id": hit["record_key"]}
    query = {"connection_id": hit["connection_id"]}
    try:
        return _beginning(reader, await reader.operate("getRecord", names, query))
    except NotFound:  # It was deleted since it was found.
        return ()


def record_line(reader: PageReader, answer: Mapping[str, Any], dates: Dates) -> RecordLine:
    """Return a record of a list."""
    presentation = presented(reader.catalogue, answer)
    kind, time = _label(reader, answer), dates.event(presentation.event_time)
    passage = _beginning(reader, answer)
    title = presentation.title
    if untitled(title, answer["display_name"], answer["stream"]):
        title = _instead_of_title("".join(part.text for part in passage), kind, time)
    return RecordLine(
        title=visible(title, lines=False),
        address=record_address(
            reader.base, answer["connection_id"], answer["stream"], answer["id"]
        ),
        account=one_line(answer["display_name"], _LONGEST),
        kind=kind,
        time=time,
        actor="" if presentation.actor is None else one_line(presentation.actor, _LONGEST),
        passage=_beyond(title, passage),
    )


def record_title(reader: PageReader, answer: Mapping[str, Any], dates: Dates) -> str:
    """Return what a record of a list is called; its text is read only where it has no title."""
    presentation = presented(reader.catalogue, answer)
    if not untitled(presentation.title, answer["display_name"], answer["stream"]):
        return visible(presentation.title, lines=False)
    return record_line(reader, answer, dates).title


def _instead_of_title(beginning: str, kind: str, time: str) -> str:
    """Return what a record without a title is called: how it begins, else its kind and time."""
    if beginning.strip():
        return one_line(beginning, _FEW_WORDS)
    return f"{kind}, {time}" if time else kind


def _beyond(title: str, passage: Sequence[PassagePart]) -> Sequence[PassagePart]:
    """Return a passage, unless the title says all of it and nothing in it is marked."""
    said = [PassagePart(title, False)]
    return () if list(passage) == said else passage


def _beginning(reader: PageReader, answer: Mapping[str, Any]) -> Sequence[PassagePart]:
    """Return how the text of a record begins."""
    feed = reader.catalogue.feeds[answer["connection_id"], answer["stream"]]
    for name, declared in feed.stream.fields.items():
        text = answer["data"].get(name)
        if declared.role is Role.BODY and isinstance(text, str) and text.strip():
            plain = " ".join(block.text for block in readable(text, 4 * _LONGEST).blocks)
            return (PassagePart(one_line(plain, _LONGEST), False),)
    return ()


def marked_parts(preview: str) -> list[PassagePart]:
    """Split a preview into its parts; the words between marks are the matches."""
    pieces = _MARK.split(preview)
    return [
        PassagePart(visible(_BREAKS.sub(" ", piece), lines=False), bool(number % 2))
        for number, piece in enumerate(pieces)
        if piece
    ]


def _label(reader: PageReader, row: Mapping[str, Any]) -> str:
    feed = reader.catalogue.feeds.get((row["connection_id"], row["stream"]))
    label = row["stream"] if feed is None else feed.stream.label or feed.stream.name
    return one_line(label, _LONGEST)
