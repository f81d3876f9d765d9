"""Search hits: the words that matched in a record, where they stand, and how to read on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.evidence.analyse import Match
from pdpp.evidence.excerpt import ExcerptJson, descriptor, excerpt, value_of
from pdpp.evidence.handle import Handle, path_part
from pdpp.evidence.language.marks import Marker
from pdpp.evidence.presentation import NAMING, present_name
from pdpp.evidence.text import digest
from pdpp.model import instant
from pdpp.model.declaration import Role
from pdpp.resource.answers import SearchResultJson, SourceJson
from pdpp.resource.call import of_connection, records_route
from pdpp.resource.envelope import source_of
from pdpp.store.numbers import read_data
from pdpp.store.query import Hit
from pdpp.store.scope import Reach, roles_of
from pdpp.store.stream_names import stream_names

_IDENTITY = frozenset({Role.TITLE, Role.ACTOR, Role.LINK})
"""Roles that say what a record is; a match in them finds it but is no passage to quote."""


def search_hit(hit: Hit, marker: Marker, kind: str) -> SearchResultJson:
    """Return a hit with its best passage; ``kind`` is what its score is made of."""
    reach, key, stored, emitted, _ = hit.record
    frame = reach.once(_frame)
    data = read_data(stored)
    emitted_at = instant.to_text(emitted)
    title, event_time = present_name(
        data,
        frame.naming_roles,
        label=frame.source["display_name"],
        stream=frame.stream,
        emitted_at=emitted_at,
    )
    route = frame.route + path_part(key)
    evidence = _evidence(frame, key, route, data, marker)
    return {
        "object": "search_result",
        "id": frame.handle + key,
        "record_key": key,
        "stream": frame.stream,
        **frame.source,
        "title": title,
        "event_time": event_time,
        "emitted_at": emitted_at,
        "record_url": route + frame.of_connection,
        "matched_fields": evidence.fields,
        "matched": evidence.matched,
        "missing": evidence.missing,
        "score": {
            "kind": kind,
            "value": round(hit.position.score / 1_000_000, 3),
            "order": "desc",
        },
        "evidence_excerpts": evidence.excerpts,
    }


class _Place(NamedTuple):
    """A searched field: a match in one with ``quotes`` is a passage, in a body the best one."""

    name: str
    quotes: bool
    body: bool


class _Frame(NamedTuple):
    """What all hits of a reach have in common."""

    handle: str
    """The part of a handle that comes before the key."""
    stream: str
    route: str
    """The part of a record's route that comes before its key."""
    source: SourceJson
    of_connection: str
    naming_roles: Mapping[str, str]
    """The roles of the fields that say what a hit is called and when it happened."""
    names: frozenset[str]
    """The terms of what the stream and its account are called."""
    places: tuple[_Place, ...]
    """The fields that are searched."""


def _frame(reach: Reach) -> _Frame:
    stream = reach.stream
    roles = {name: stream.fields[name].role for name in reach.searched_fields()}
    return _Frame(
        handle=Handle(reach.connection_id, stream.name, "").id,
        stream=stream.name,
        route=records_route(reach),
        source=source_of(reach),
        of_connection=of_connection(reach),
        naming_roles={name: role for name, role in roles_of(reach).items() if role in NAMING},
        names=reach.once(stream_names),
        places=tuple(
            _Place(name, role not in _IDENTITY, role is Role.BODY) for name, role in roles.items()
        ),
    )


class _Evidence(NamedTuple):
    """The fields of a record that hold words of a question, which words, and the best passage."""

    fields: list[str]
    matched: list[str]
    missing: list[str]
    excerpts: list[ExcerptJson]


_FieldMatches = tuple[_Place, str, list[Match]]
"""A field that holds words of a question, its text, and where they stand."""


def _evidence(
    frame: _Frame, key: str, route: str, data: Mapping[str, Any], marker: Marker
) -> _Evidence:
    matching = _matching(frame, data, marker, marker.find) or _matching(
        frame, data, marker, marker.find_any_form
    )
    matched, missing = marker.split({match[2] for _, _, matches in matching for match in matches})
    if missing and (naming := marker.naming(frame.names)):
        # A photo need not say that it is one of the photos that were asked for.
        missing = [word for word in missing if word not in naming]
    # Words that are only near in meaning find a record and are none of those asked for.
    matching = matching or _holding(frame, data, marker.find_related)
    quoted = [one for one in matching if one[0].quotes]
    best = quoted if len(quoted) < 2 else [max(quoted, key=_worth)]
    excerpts = [_passage(frame, key, route, *one) for one in best]
    return _Evidence([place.name for place, _, _ in matching], matched, missing, excerpts)


def _matching(
    frame: _Frame, data: Mapping[str, Any], marker: Marker, look: Callable[[str], list[Match]]
) -> list[_FieldMatches]:
    """Return the fields that hold words, without parts of a word that the record does not hold."""
    matching = _holding(frame, data, look)
    if not marker.looks_for_parts:
        return matching
    strays = marker.strays(match[2] for _, _, matches in matching for match in matches)
    kept = [
        (place, text, [at for at in every if at[2] not in strays])
        for place, text, every in matching
    ]
    return [one for one in kept if one[2]]


def _holding(
    frame: _Frame, data: Mapping[str, Any], look: Callable[[str], list[Match]]
) -> list[_FieldMatches]:
    return [
        (place, text, matches)
        for place in frame.places
        if isinstance(text := data.get(place[0]), str) and (matches := look(text))
    ]


def _worth(field: _FieldMatches) -> tuple[tuple[int, int], bool]:
    """Return how good a passage a field has: by what it proves, and a body before others."""
    place, _, matches = field
    return value_of({match.phrase for match in matches}), place.body


def _passage(
    frame: _Frame, key: str, route: str, place: _Place, text: str, matches: Sequence[Match]
) -> ExcerptJson:
    return descriptor(
        excerpt(text, matches),
        connection_id=frame.source["connection_id"],
        stream=frame.stream,
        record_id=key,
        record_route=route,
        field=place.name,
        digest=digest(text),
    )
