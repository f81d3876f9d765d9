"""Hit evidence: which words of a question some records hold, and the passage that shows them best.

Each step is taken for all records before the next one begins: a step that was just taken takes half
of the time, because what it needs is still at hand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.evidence.analyse import Match
from pdpp.evidence.excerpt import ExcerptJson, descriptor, excerpt, value_of
from pdpp.evidence.language.marks import Marker
from pdpp.evidence.text import digest
from pdpp.resource.hit_frame import HitFrame, HitPlace


class Found(NamedTuple):
    """A record that a search found."""

    frame: HitFrame
    key: str
    route: str
    data: Mapping[str, Any]


class Evidence(NamedTuple):
    """The fields of a record that hold words of a question, which words, and the best passage."""

    fields: list[str]
    matched: list[str]
    missing: list[str]
    excerpts: list[ExcerptJson]


_FieldMatches = tuple[HitPlace, str, list[Match]]
"""A field that holds words of a question, its text, and where they stand."""


def evidence_of(records: Sequence[Found], marker: Marker) -> list[Evidence]:
    """Return the evidence of each of some records."""
    matching = [
        fields or _matching_anyhow(record, marker)
        for record, fields in zip(records, _matching(records, marker), strict=True)
    ]
    words = [
        marker.split([match[2] for _, _, matches in fields for match in matches])
        for fields in matching
    ]
    # Words that are only near in meaning find a record and are none of those asked for.
    matching = [
        fields or _holding(record, marker.find_related)
        for record, fields in zip(records, matching, strict=True)
    ]
    passages = iter(_passages(records, [_best(fields) for fields in matching]))
    return [
        Evidence(
            [place[0] for place, _, _ in fields],
            matched,
            # A photo need not say that it is one of the photos that were asked for.
            _unnamed(missing, record.frame, marker) if missing else missing,
            next(passages),
        )
        for record, fields, (matched, missing) in zip(records, matching, words, strict=True)
    ]


def _unnamed(missing: list[str], frame: HitFrame, marker: Marker) -> list[str]:
    naming = marker.naming(frame.names)
    return [word for word in missing if word not in naming] if naming else missing


def _matching(records: Sequence[Found], marker: Marker) -> Iterator[list[_FieldMatches]]:
    """Yield the fields of each record that hold words."""
    texts = [_texts(record) for record in records]
    found = iter(marker.find_each([text for of_record in texts for _, text in of_record]))
    for of_record in texts:
        held = [(place, text, matches) for place, text in of_record if (matches := next(found))]
        yield _without_strays(held, marker) if marker.looks_for_parts else held


def _matching_anyhow(record: Found, marker: Marker) -> list[_FieldMatches]:
    """Return the fields of a record that hold words in other forms."""
    held = _holding(record, marker.find_any_form)
    return _without_strays(held, marker) if marker.looks_for_parts else held


def _texts(record: Found) -> list[tuple[HitPlace, str]]:
    """Return the searched texts of a record."""
    data = record[3]
    return [
        (place, text) for place in record[0].places if isinstance(text := data.get(place[0]), str)
    ]


def _holding(record: Found, look: Callable[[str], list[Match]]) -> list[_FieldMatches]:
    return [(place, text, matches) for place, text in _texts(record) if (matches := look(text))]


def _without_strays(fields: Sequence[_FieldMatches], marker: Marker) -> list[_FieldMatches]:
    """Return the fields that hold words, without parts of a word that the record does not hold."""
    strays = marker.strays(match[2] for _, _, matches in fields for match in matches)
    kept = [
        (place, text, [at for at in every if at[2] not in strays]) for place, text, every in fields
    ]
    return [one for one in kept if one[2]]


def _best(fields: Sequence[_FieldMatches]) -> _FieldMatches | None:
    """Return the field that has the best passage, None where none is one to quote."""
    quoted = [one for one in fields if one[0].quotes]
    if len(quoted) < 2:
        return quoted[0] if quoted else None
    return max(quoted, key=_worth)


def _worth(field: _FieldMatches) -> tuple[tuple[int, int], bool]:
    """Return how good a passage a field has: by what it proves, and a body before others."""
    place, _, matches = field
    return value_of({match.phrase for match in matches}), place.body


def _passages(
    records: Sequence[Found], best: Sequence[_FieldMatches | None]
) -> list[list[ExcerptJson]]:
    """Return the passage of each record that has one."""
    parts = [None if one is None else excerpt(one[1], one[2]) for one in best]
    digests = [None if one is None else digest(one[1]) for one in best]
    return [
        []
        if one is None or part is None or name is None
        else [
            descriptor(
                part,
                connection_id=record.frame.source["connection_id"],
                stream=record.frame.stream,
                record_id=record.key,
                record_route=record.route,
                field=one[0].name,
                digest=name,
            )
        ]
        for record, one, part, name in zip(records, best, parts, digests, strict=True)
    ]
