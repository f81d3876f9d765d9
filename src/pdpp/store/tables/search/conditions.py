"""Conditions: which rows have what a request and a question demand of the record itself."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pdpp.evidence.analyse import holds
from pdpp.evidence.language.question import Question
from pdpp.store.ranking.postings import Longs
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import limits_where
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.visible import Visible

_TOGETHER = 1_024
"""Records whose texts are in memory at a time while phrases are looked for."""


def has_conditions(visible: Visible) -> bool:
    """Tell whether the request narrows what some reach shows."""
    return visible.has_conditions


def meeting_conditions(db: TableReader, visible: Visible, rows: Longs) -> Longs:
    """Return the rows whose records meet the conditions of the request."""
    if not has_conditions(visible):
        return rows
    kept = []
    for part, some in rows_by_part(visible, rows):
        if part.reach.conditions:
            where = limits_where(part.reach)
            numbers = visible.numbers(some)
            meeting: list[Any] = db.execute(
                "SELECT r.id FROM carray(?) AS c CROSS JOIN record r ON r.id = c.value"
                f" WHERE 1 {where.text}",
                (db.array(numbers), *where.values),
            ).fetchall()
            some = some[np.isin(numbers, [row[0] for row in meeting])]
        kept.append(some)
    return np.concatenate(kept) if kept else rows


def holding_phrases(
    read: RecordsRead,
    visible: Visible,
    question: Question,
    rows: Longs,
    check: Callable[[], None],
) -> Longs:
    """Return the rows that hold each phrase as it stands, and none that must not be there."""
    if not question.phrases and not question.excluded_phrases:
        return rows
    kept = []
    for part, some in rows_by_part(visible, rows):
        for start in range(0, len(some), _TOGETHER):
            few = some[start : start + _TOGETHER]
            numbers = visible.numbers(few).tolist()
            records = read.of(numbers)
            for row, number in zip(few.tolist(), numbers, strict=True):
                check()
                record = records.get(number)
                texts = () if record is None else record.searched_texts(part.reach)
                if _holds(texts, question):
                    kept.append(row)
                read.forget_long()
            read.forget()
    return np.array(kept, dtype=np.int64)


def _holds(texts: Sequence[str], question: Question) -> bool:
    if any(holds(text, phrase) for phrase in question.excluded_phrases for text in texts):
        return False
    return all(any(holds(text, phrase) for text in texts) for phrase in question.phrases)


def demands(question: Question) -> bool:
    """Tell whether a question says what must be there, so that a neighbour alone is no hit."""
    return bool(
        question.everything
        or question.phrases
        or question.excluded
        or question.excluded_phrases
        or question.actors
        or any(word.required for word in question.words)
    )


def rows_by_part(visible: Visible, rows: Longs) -> Iterator[tuple[Part, Longs]]:
    """Yield rows by the part they are in."""
    for part, chosen in visible.by_part(rows):
        yield part, rows[chosen]


def rows_by_reach(visible: Visible, rows: Longs) -> Iterator[tuple[Reach, Longs]]:
    """Yield rows by the reach they are in."""
    pieces_of: dict[int, tuple[Reach, list[Longs]]] = {}
    for part, some in rows_by_part(visible, rows):
        pieces_of.setdefault(part.reach.feed.id, (part.reach, []))[1].append(some)
    for reach, pieces in pieces_of.values():
        yield reach, np.concatenate(pieces)
