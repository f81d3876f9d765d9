"""Limits in PostgreSQL: what one worker counted holds for all of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pdpp.model.instant import SECOND, Clock
from pdpp.store.limits import GuessCount, RequestShare
from pdpp.store.postgres.database import PostgresDatabase

_NOW = "extract(epoch FROM clock_timestamp())::double precision"
"""The clock of the database, which all workers share."""

_LEVEL = f"least($4, a.level + greatest(0, {_NOW} - a.at) * $3)"

_TAKE = f"""
    INSERT INTO allowance AS a (name, level, given, at)
    VALUES ($1, $4 - least($4, $2), least($4, $2), {_NOW})
    ON CONFLICT (owner, name) DO UPDATE SET
      given = least(floor({_LEVEL}), $2), level = {_LEVEL} - least(floor({_LEVEL}), $2), at = {_NOW}
    RETURNING given, level
"""

_FORGET = f"DELETE FROM allowance WHERE at < {_NOW} - 3600"
_FORGET_EVERY = 1_000
"""An address that came once is forgotten after an hour; looked for once in so many calls."""

_ADD = "INSERT INTO guess (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING"
_HOLD = """
    SELECT count, until FROM guess WHERE name = ANY ($1::text[])
    ORDER BY array_position($1::text[], name) FOR UPDATE
"""
_KEEP = "UPDATE guess SET count = $2, until = $3 WHERE name = $1"
_DROP = """
    DELETE FROM guess WHERE name IN (
      SELECT name FROM guess WHERE count = 0 OR until < $1 LIMIT 16 FOR UPDATE SKIP LOCKED
    )
"""
_RESTED = 7_200 * SECOND
"""Whoever has not guessed for so long begins anew, so the count need not be kept."""


class PostgresLimits:
    """Counts for one owner on the tables that all workers see."""

    def __init__(self, database: PostgresDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._calls = 0

    def take(self, name: str, wanted: int, rate: float, burst: int) -> RequestShare:
        """Take some requests from a bucket that fills at a rate and holds a burst."""
        self._calls += 1
        if self._calls % _FORGET_EVERY == 0:
            self._database.reader.run(_FORGET)
        values = (name, float(wanted), float(rate), float(burst))
        given, level = self._database.reader.run(_TAKE, values).get
        return RequestShare(int(given), 0.0 if given else (1 - level) / rate)

    @contextmanager
    def guesses(self, names: Sequence[str]) -> Iterator[list[GuessCount]]:
        """Hold the counts of some names for one short transaction."""
        # In one order, so that two workers do not wait for each other.
        ordered = sorted(set(names))
        with self._database.brief() as db:
            db.run(_ADD, (ordered,))
            rows = db.run(_HOLD, (ordered,)).fetchall()
            held = {name: GuessCount(*row) for name, row in zip(ordered, rows, strict=True)}
            yield [held[name] for name in names]
            for name, kept in held.items():
                db.run(_KEEP, (name, kept.count, kept.until))
            db.run(_DROP, (self._clock() - _RESTED,))
