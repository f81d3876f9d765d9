"""Account summaries: what each account holds, from what one listing of streams tells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdpp.authz.requester import one_line
from pdpp.evidence.handle import path_part
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """One kind of records of an account."""

    name: str
    label: str
    count: int
    newest_at: str | None


@dataclass(frozen=True, slots=True)
class AccountSummary:
    """One account with its streams; ``newest`` is the latest time that any record has."""

    id: str
    name: str
    source: str
    source_key: str
    streams: Sequence[StreamSummary]
    newest: str

    @property
    def count(self) -> int:
        """Return how many records it holds."""
        return sum(stream.count for stream in self.streams)

    @property
    def address(self) -> str:
        """Return where its page is."""
        return f"/accounts/{path_part(self.id)}"


async def account_summaries(reader: PageReader, dates: Dates) -> list[AccountSummary]:
    """Return every account that a reader sees, by name."""
    listing = await reader.operate("listStreams")
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in listing["data"]:
        rows.setdefault(row["connection_id"], []).append(row)
    accounts = [_account(reader, own, dates) for own in rows.values()]
    return sorted(accounts, key=lambda account: (account.name.casefold(), account.id))


def _account(reader: PageReader, rows: Sequence[Mapping[str, Any]], dates: Dates) -> AccountSummary:
    first = rows[0]
    source = reader.catalogue.sources.get(first["connector_key"])
    return AccountSummary(
        id=first["connection_id"],
        name=one_line(first["display_name"], _LONGEST),
        source=one_line(source.display_name if source else first["connector_key"], _LONGEST),
        source_key=first["connector_key"],
        streams=tuple(
            StreamSummary(
                row["name"],
                one_line(row["label"] or row["name"], _LONGEST),
                row["record_count"],
                row["freshness"]["newest_record_at"],
            )
            for row in rows
        ),
        newest=dates.event(_newest(rows)),
    )


def _newest(rows: Iterable[Mapping[str, Any]]) -> str | None:
    times = (row["freshness"]["newest_record_at"] for row in rows)
    return max((time for time in times if time), default=None)
