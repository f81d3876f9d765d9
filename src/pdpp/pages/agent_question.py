"""Questions: what agents asked, each with everything it read, in words its owner knows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from pdpp.authz.requester import Requester, agent_id, requester_of
from pdpp.authz.wording import label_of
from pdpp.evidence.fence import visible
from pdpp.evidence.handle import path_part
from pdpp.model.errors import PdppError
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.record_line import record_title
from pdpp.pages.site import Site
from pdpp.receipts.summary import VERBS, amount, asked_about
from pdpp.store.catalogue import Catalogue
from pdpp.store.receipts import ChainedReceipt, Receipt, ReceiptQuery

_MOST_CLIENTS = 50


@dataclass(frozen=True, slots=True)
class RecordLink:
    """A record that was read: its title today, and where it is."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class PlaceRead:
    """What a question read of one stream."""

    connection_id: str
    stream: str
    account: str
    label: str
    fields: str
    records: tuple[str, ...]

    def address(self, record_id: str) -> str:
        """Return where one of its records is shown."""
        parts = (self.connection_id, self.stream, record_id)
        return "/r/" + "/".join(path_part(part) for part in parts)


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """One question of one agent; ``number`` is that of its last receipt."""

    number: int
    at: int
    requester: Requester
    client_id: str
    verb: str
    places: Sequence[PlaceRead]
    amount: str
    asked: str
    links: Sequence[RecordLink] = ()

    @property
    def agent(self) -> str:
        """Return the name of the agent in addresses."""
        return agent_id(self.client_id)

    @property
    def where(self) -> str:
        """Return the accounts and kinds of records it read."""
        names = dict.fromkeys(f"{place.account} / {place.label}" for place in self.places)
        return ", ".join(names)

    @property
    def count(self) -> int:
        """Return how many records it read."""
        return sum(len(place.records) for place in self.places)


def _last_readers(site: Site) -> list[str]:
    """Return the agents that read something last, the last one first."""
    store = site.service.store
    moments = [
        (moment, client_id)
        for client_id in {grant.client_id for grant in store.vault.grants()}
        if (moment := store.receipts.last_read(client_id)) is not None
    ]
    return [client_id for _, client_id in sorted(moments, reverse=True)[:_MOST_CLIENTS]]


def latest_questions(
    site: Site, most: int, since: int | None = None, until: int | None = None
) -> list[AgentQuestion]:
    """Return what agents asked last, newest first."""
    rows: list[ChainedReceipt] = []
    for client_id in _last_readers(site):
        query = ReceiptQuery(since, client_id, until=until)
        # A question leaves a receipt for each stream it read; a few is what most of them read.
        rows += site.service.store.receipts.receipts(query, 4 * most)
    rows.sort(key=lambda row: -row.number)
    return list(islice(grouped(site, rows), most))


def grouped(site: Site, rows: Iterable[ChainedReceipt]) -> Iterator[AgentQuestion]:
    """Yield receipts by question: those of one moment, agent and operation."""
    catalogue = site.service.store.catalogue()
    names: dict[str, Requester] = {}
    for (at, client_id, operation), group in groupby(rows, _asker):
        if client_id is None:
            continue
        if client_id not in names:
            names[client_id] = requester_of(client_id, site.authority.client(client_id))
        chained = list(group)
        receipts = [row.receipt for row in chained]
        yield AgentQuestion(
            number=chained[0].number,
            at=at,
            requester=names[client_id],
            client_id=client_id,
            verb=VERBS.get(operation, operation),
            places=list(_places(reversed(receipts), catalogue)),
            amount=_amount(receipts),
            asked=asked_about(tuple(sorted({name for row in receipts for name in row.asked}))),
        )


def _asker(row: ChainedReceipt) -> tuple[int, str | None, str]:
    receipt = row.receipt
    return receipt.at, receipt.client_id, receipt.operation


def _amount(receipts: Sequence[Receipt]) -> str:
    read = (
        sum(len(receipt.records) for receipt in receipts),
        sum(receipt.characters for receipt in receipts),
        sum(receipt.bytes for receipt in receipts),
    )
    return amount(*read) if any(read) else ""


def _places(receipts: Iterable[Receipt], catalogue: Catalogue) -> Iterator[PlaceRead]:
    for receipt in receipts:
        if receipt.connection_id is None or receipt.stream is None:
            continue
        feed = catalogue.feeds.get((receipt.connection_id, receipt.stream))
        account = receipt.connection_id if feed is None else feed.connection.display_name
        fields = "every field" if receipt.fields is None else ", ".join(receipt.fields)
        yield PlaceRead(
            connection_id=receipt.connection_id,
            stream=receipt.stream,
            account=visible(account, lines=False),
            label=receipt.stream if feed is None else label_of(feed.stream),
            fields=visible(fields, lines=False),
            records=receipt.records,
        )


class RecordLinks:
    """Links to records for one page; a record that several questions read is looked up once."""

    def __init__(self, reader: PageReader, dates: Dates) -> None:
        self._reader = reader
        self._dates = dates
        self._titles: dict[str, str] = {}

    async def of(self, place: PlaceRead, most: int) -> list[RecordLink]:
        """Return the first records of a place by their titles, with where they are shown."""
        links = []
        for record_id in place.records[:most]:
            address = place.address(record_id)
            if address not in self._titles:
                self._titles[address] = await self._title(place, record_id)
            links.append(RecordLink(self._titles[address], address))
        return links

    async def _title(self, place: PlaceRead, record_id: str) -> str:
        reader, path = self._reader, {"stream": place.stream, "record_id": record_id}
        try:
            answer = await reader.operate("getRecord", path, {"connection_id": place.connection_id})
        except PdppError:
            return "a record that no longer exists"
        return record_title(reader, answer, self._dates)
