"""What an agent read, on its page: this week in a sentence, the last reads one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pdpp.authz.wording import date, day
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.pages.site import Site
from pdpp.receipts.summary import VERBS, amount, asked_about, summaries
from pdpp.store.receipts import Receipt, ReceiptQuery

_WEEK = 7 * instant.DAY
_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One read as a line of the page."""

    when: str
    what: str


@dataclass(frozen=True, slots=True)
class AgentReads:
    """What the page tells of an agent's reads."""

    week: Sequence[str]
    last: Sequence[ReadLine]
    notes: Sequence[str]


def reads_of(site: Site, client_id: str) -> AgentReads:
    """Return what an agent read."""
    store = site.service.store
    book, since = store.receipts, site.service.clock() - _WEEK
    names = {
        name: visible(connection.display_name, lines=False)
        for name, connection in store.catalogue().connections.items()
    }
    week = summaries(book.totals(ReceiptQuery(since, client_id)), names)
    last = book.receipts(ReceiptQuery(client_id=client_id), _MOST_LISTED)
    return AgentReads(
        week=[line for summary in week for line in summary.lines],
        last=[_line(kept.receipt, names) for kept in last],
        notes=[_note(kept.receipt) for kept in book.events(since)],
    )


def last_read(site: Site, client_id: str) -> str | None:
    """Return the day on which an agent last read something."""
    moment = site.service.store.receipts.last_read(client_id)
    return None if moment is None else date(moment)


def _line(receipt: Receipt, names: Mapping[str, str]) -> ReadLine:
    connection_id = receipt.connection_id
    name = None if connection_id is None else names.get(connection_id, connection_id)
    place = " / ".join(part for part in (name, receipt.stream) if part is not None)
    read = (len(receipt.records), receipt.characters, receipt.bytes)
    much = amount(*read) if any(read) else ""
    about = asked_about(receipt.asked)
    parts = [VERBS.get(receipt.operation, receipt.operation), place, about, much]
    return ReadLine(day(receipt.at), " · ".join(part for part in parts if part))


def _note(receipt: Receipt) -> str:
    return f"{day(receipt.at)}: {receipt.detail}"
