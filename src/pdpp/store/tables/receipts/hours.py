"""Reads by hour: what clients read, added up when it is written down.

The chain of receipts is the truth and can be verified; these sums only save going through it for
every page that shows a month. They stay when old receipts make room for new ones.
"""

from collections.abc import Iterable, Sequence

from pdpp.model.instant import DAY
from pdpp.store.receipts import ClientHour, FirstRead, HourlyReads
from pdpp.store.tables.database import TableConnection, TableReader

TABLE = """
-- What clients read of each stream in each hour, added up.
CREATE TABLE hourly (
  client_id TEXT NOT NULL,
  connection_id TEXT NOT NULL,
  stream TEXT NOT NULL,
  hour INTEGER NOT NULL,
  reads INTEGER NOT NULL,
  records INTEGER NOT NULL,
  characters INTEGER NOT NULL,
  PRIMARY KEY (client_id, connection_id, stream, hour)
) WITHOUT ROWID;
CREATE INDEX hourly_hour ON hourly (hour);
"""

_KEPT = 400 * DAY


def add(db: TableConnection, rows: Iterable[HourlyReads]) -> None:
    """Add what was read to the sums."""
    db.executemany(
        "INSERT INTO hourly (client_id, connection_id, stream, hour, reads, records, characters)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET reads = reads + excluded.reads,"
        " records = records + excluded.records, characters = characters + excluded.characters",
        rows,
    )


def since(db: TableReader, moment: int) -> Sequence[ClientHour]:
    """Return what each client read since a moment, by hour.

    The engine adds up the streams: an agent that reads many leaves thousands of rows in a month,
    and a page needs one for each hour.
    """
    rows = db.execute(
        "SELECT client_id, hour, CAST(sum(reads) AS BIGINT), CAST(sum(records) AS BIGINT)"
        " FROM hourly WHERE hour >= ? GROUP BY client_id, hour ORDER BY hour, client_id",
        (moment,),
    )
    return [ClientHour(*row) for row in rows]


def first_reads(db: TableReader) -> Sequence[FirstRead]:
    """Return when each client first read each stream."""
    rows = db.execute(
        "SELECT client_id, connection_id, stream, min(hour) FROM hourly"
        " GROUP BY client_id, connection_id, stream"
    )
    return [FirstRead(*row) for row in rows]


def forget(db: TableConnection, now: int) -> None:
    """Forget sums of long ago."""
    db.execute("DELETE FROM hourly WHERE hour < ?", (now - _KEPT,))
