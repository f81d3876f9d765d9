"""The days and accounts that a question names: which reaches it searches, and what a day adds."""

from dataclasses import replace
from datetime import UTC, tzinfo

import numpy as np

from pdpp.evidence.language.question import Question
from pdpp.model.declaration import Kind
from pdpp.model.grant import Interval
from pdpp.store.ranking.days import instant_of, stretches
from pdpp.store.ranking.postings import Bools, Floats, Longs
from pdpp.store.scope import Reach
from pdpp.store.tables.search.placement import blocks_first_time
from pdpp.store.tables.search.visible import Visible

_NEVER = (1 << 63) - 1


def narrowed(reaches: tuple[Reach, ...], question: Question, zone: tzinfo) -> tuple[Reach, ...]:
    """Return the reaches that a question searches: those it names, cut to the days it names."""
    for name in question.accounts:
        reaches = tuple(reach for reach in reaches if _is_named(reach, name))
    if question.since is None and question.until is None:
        return reaches
    dated = [reach for reach in reaches if reach.shows_time]
    return tuple(_cut(reach, question, _zone_of(reach, zone)) for reach in dated)


def rows_within(visible: Visible, rows: Longs, question: Question, zone: tzinfo) -> Bools:
    """Return of all rows which are of the days that a question names, where ``rows`` have some."""
    inside = np.zeros(visible.size, dtype=bool)
    days = {place: _days(question, place) for place in (zone, UTC)}
    for part in visible.parts_of(rows):
        if part.reach.shows_time:
            since, until = days[_zone_of(part.reach, zone)]
            end = _NEVER if until is None else until
            low, high = visible.rows_between(part, blocks_first_time(since), end)
            inside[low:high] = True
    return inside


def _is_named(reach: Reach, name: str) -> bool:
    connection, wanted = reach.feed.connection, name.casefold()
    exact = (connection.connection_id, connection.connector_key, reach.stream.name)
    loose = (connection.display_name, reach.stream.label)
    return any(wanted == text.casefold() for text in exact) or any(
        wanted in text.casefold() for text in loose
    )


def _cut(reach: Reach, question: Question, zone: tzinfo) -> Reach:
    since, until = _days(question, zone)
    if reach.time is not None:
        starts = [at for at in (since, reach.time.since) if at is not None]
        ends = [at for at in (until, reach.time.until) if at is not None]
        since, until = max(starts, default=None), min(ends, default=None)
    if since is not None and until is not None and until < since:
        until = since
    return replace(reach, time=Interval(since, until))


def _days(question: Question, zone: tzinfo) -> tuple[int | None, int | None]:
    """Return when the days that a question names begin and end."""
    return (
        None if question.since is None else instant_of(question.since, zone),
        None if question.until is None else instant_of(question.until, zone),
    )


def _zone_of(reach: Reach, zone: tzinfo) -> tzinfo:
    """Return the zone of a reach's days; a date without a time is the same day everywhere."""
    consent = reach.stream.consent_time_field
    dated = consent is not None and reach.stream.fields[consent].kind is Kind.DATE
    return UTC if dated else zone


def day_bonus(
    visible: Visible, question: Question, zone: tzinfo
) -> tuple[Floats | None, frozenset[int]]:
    """Return what rows get for having happened when the question says.

    And the numbers of the times in which no visible record happened: they are words like others,
    as the year of a battle is in notes about history.
    """
    if not question.moments:
        return None, frozenset()
    bonus = np.zeros(visible.size)
    hidden = visible.hidden
    empty = set(range(1, len(question.moments) + 1))
    for part in visible.parts:
        first = visible.first_time(part) if part.reach.shows_time else None
        if first is None:
            continue
        last = visible.last_time(part)
        days = _zone_of(part.reach, zone)
        for number, moment in enumerate(question.moments, start=1):
            for start, end, more in stretches(moment, days, first, last):
                if start <= last and end > first:
                    low, high = visible.rows_between(part, start, end)
                    np.maximum(bonus[low:high], more, out=bonus[low:high])
                    if low < high and not (hidden is not None and hidden[low:high].all()):
                        empty.discard(number)
    return bonus, frozenset(empty)
