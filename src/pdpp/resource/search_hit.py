"""Search hits: what a page says of the records that a search found, and how to read on."""

from collections.abc import Iterator, Sequence

from pdpp.evidence.handle import path_part
from pdpp.evidence.language.marks import Marker
from pdpp.evidence.presentation import present_name
from pdpp.model.instant_json import moment_texts
from pdpp.resource.answers import SearchResultJson
from pdpp.resource.hit_evidence import Found, evidence_of
from pdpp.resource.hit_frame import hit_frame
from pdpp.store.numbers import read_data
from pdpp.store.query import Hit, Record

_MOST_BYTES = 1 << 18
"""Records of so much are in memory together, and one more."""


def search_hits(
    hits: Sequence[Hit], marker: Marker, kind: str, *, together: int
) -> Iterator[SearchResultJson]:
    """Yield hits with their best passages; ``kind`` is what their scores are made of.

    At most so many are made ``together``.
    """
    records: list[Record] = []
    size = first = 0
    for at, hit in enumerate(hits, start=1):
        record = hit.record
        records.append(record)
        size += len(record.data)
        if size > _MOST_BYTES or len(records) == together or at == len(hits):
            yield from _made(hits[first:at], records, marker, kind)
            records, size, first = [], 0, at


def _made(
    hits: Sequence[Hit], records: Sequence[Record], marker: Marker, kind: str
) -> list[SearchResultJson]:
    """Return some hits, given their records: each step is taken for all of them."""
    frames = [record.reach.once(hit_frame) for record in records]
    every = [read_data(record.data) for record in records]
    moments = moment_texts([record.emitted_at for record in records])
    names = [
        present_name(
            data,
            frame.naming_roles,
            label=frame.source["display_name"],
            stream=frame.stream,
            emitted_at=emitted_at,
        )
        for frame, data, emitted_at in zip(frames, every, moments, strict=True)
    ]
    found = [
        Found(frame, record.id, frame.route + path_part(record.id), data)
        for frame, record, data in zip(frames, records, every, strict=True)
    ]
    evidence = evidence_of(found, marker)
    return [
        {
            "object": "search_result",
            "id": frame.handle + key,
            "record_key": key,
            "stream": frame.stream,
            **frame.source,
            "title": title,
            "event_time": event_time,
            "emitted_at": emitted_at,
            "record_url": route + frame.of_connection,
            "matched_fields": fields,
            "matched": matched,
            "missing": missing,
            "score": {
                "kind": kind,
                "value": round(hit.position.score / 1_000_000, 3),
                "order": "desc",
            },
            "evidence_excerpts": excerpts,
        }
        for hit, (frame, key, route, _), (title, event_time), emitted_at, (
            fields,
            matched,
            missing,
            excerpts,
        ) in zip(hits, found, names, moments, evidence, strict=True)
    ]
