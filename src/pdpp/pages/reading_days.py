"""Reading days: how much agents read on each day, and what of it is unusual."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from statistics import median
from typing import NamedTuple

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import counted
from pdpp.pages.dates import Dates
from pdpp.store.receipts import ClientHour, FirstRead

DAYS = 30
HEIGHT = 64
STEP = 10
_TIMES_THE_USUAL = 10
_LEAST_RECORDS = 100
_LEAST_DAYS = 3
_NEW_DAYS = 7

StreamName = Callable[[tuple[str, str]], str]
"""Returns what a stream of an account is called, by the ids of both."""


class DayBar(NamedTuple):
    """One day of the activity."""

    day: str
    label: str
    x: int
    y: int
    height: int
    chosen: bool


class Unusual(NamedTuple):
    """Something that an agent did not do before."""

    client_id: str
    day: date
    words: str


def day_bars(
    hours: Iterable[ClientHour], dates: Dates, today: date, chosen: str
) -> Sequence[DayBar]:
    """Return a bar for each of the last days, as high as what was read."""
    reads: Counter[date] = Counter()
    records: Counter[date] = Counter()
    for row in hours:
        day = dates.local(row.hour).date()
        reads[day] += row.reads
        records[day] += row.records
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    most = max((reads[day] for day in days), default=0) or 1
    return [
        DayBar(
            day.isoformat(),
            f"{dates.written(day)}: {counted(reads[day], 'read')}, "
            f"{counted(records[day], 'record')}",
            number * STEP,
            HEIGHT - _height(reads[day], most),
            _height(reads[day], most),
            day.isoformat() == chosen,
        )
        for number, day in enumerate(days)
    ]


def _height(count: int, most: int) -> int:
    return max(2, round(count / most * HEIGHT)) if count else 0


def unusual_reads(
    hours: Iterable[ClientHour],
    first_reads: Iterable[FirstRead],
    dates: Dates,
    today: date,
    name_of: StreamName,
) -> list[Unusual]:
    """Return what agents did that they had not done before, the newest first."""
    return sorted(
        [*_much(hours, dates), *_new(list(first_reads), dates, today, name_of)],
        key=lambda unusual: unusual.day,
        reverse=True,
    )


def _much(hours: Iterable[ClientHour], dates: Dates) -> Iterable[Unusual]:
    """Yield days on which an agent read ten times what it reads on its other days."""
    by_client: defaultdict[str, Counter[date]] = defaultdict(Counter)
    for row in hours:
        by_client[row.client_id][dates.local(row.hour).date()] += row.records
    for client_id, days in by_client.items():
        for day, count in days.items():
            others = [days[other] for other in days if other != day]
            if len(others) < _LEAST_DAYS or count < _LEAST_RECORDS:
                continue
            usual = median(others)
            if count >= _TIMES_THE_USUAL * max(usual, 1):
                words = f"read {count:,} records; on other days about {usual:,.0f}"
                yield Unusual(client_id, day, words)


def _new(
    first_reads: Sequence[FirstRead], dates: Dates, today: date, name_of: StreamName
) -> Iterable[Unusual]:
    """Yield streams that an agent read for the first time, days after it began to read."""
    began: dict[str, int] = {}
    for row in first_reads:
        began[row.client_id] = min(row.hour, began.get(row.client_id, row.hour))
    first_days = {client_id: dates.local(hour).date() for client_id, hour in began.items()}
    # A zone may be a day away; most rows are older and need no look at a calendar.
    recent = dates.midnight(today - timedelta(days=_NEW_DAYS + 1))
    for row in first_reads:
        if row.hour < recent:
            continue
        day = dates.local(row.hour).date()
        if day > first_days[row.client_id] and (today - day).days < _NEW_DAYS:
            name = one_line(name_of((row.connection_id, row.stream)), 200)
            yield Unusual(row.client_id, day, f"read {name} for the first time")
