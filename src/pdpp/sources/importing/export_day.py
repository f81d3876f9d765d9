"""Export days: which of two exports of one account is older, by the days that their names tell.

Most things say nothing of when they were changed: a reaction, what somebody is called, a rating.
Imported after a newer export, an older one would set them back. Most services write into the name
of an archive when it was made: of an older one only what is not there yet is taken.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial

from pdpp.sources.importing.state import ImportState
from pdpp.sources.item import START, Finding, Item
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import AnyPart, ExportPart, Source
from pdpp.store.catalogue import Catalogue

_NOTE = (
    "an export of {newest} came in before, and this one is of {day}: what is there stays as the "
    "newer one told it"
)


@dataclass(frozen=True, slots=True)
class ExportDay:
    """The day on which an export was made, and by stream that of the newest one of its account.

    Each is a date, or empty where nothing tells it.
    """

    day: str = ""
    newest: Mapping[str, str] = field(default_factory=dict)

    @property
    def outdated(self) -> Set[str]:
        """Return the streams of which a newer export came into the account before."""
        newer = (stream for stream, day in self.newest.items() if self.day and self.day < day)
        return frozenset(newer)

    @property
    def notes(self) -> Sequence[str]:
        """Return what the owner is told of it."""
        days = [self.newest[stream] for stream in self.outdated]
        return [_NOTE.format(newest=max(days), day=self.day)] if days else []

    def parts(self, parts: Sequence[AnyPart]) -> Sequence[AnyPart]:
        """Return the parts of an export; what a newer one told they do not replace."""
        if not self.outdated:
            return parts
        return [
            part if part.grows else ExportPart(part.entry, partial(self._findings, part))
            for part in parts
        ]

    def _findings(self, part: AnyPart) -> Iterator[Finding]:
        outdated = self.outdated
        for finding in part.findings(START):
            if isinstance(finding, Item) and finding.stream in outdated:
                yield _yielding(finding)
            else:
                yield finding


def export_day(
    source: Source, tree: Tree, state: ImportState, catalogue: Catalogue, account: str
) -> ExportDay:
    """Return the day of an export that goes into an account."""
    day, newest = source.made_on(tree), dict[str, str]()
    for known, connection, streams in state.days_of(source.connector_key) if day else ():
        if catalogue.account_of(connection) == account:
            newest.update((name, max(known, newest.get(name, ""))) for name in streams)
    return ExportDay(day, newest)


def _yielding(item: Item) -> Item:
    """Return an item that leaves a record that is there, unless that lacks its file."""
    if item.attachments:
        return item._replace(lacks=item.attachments[0].field)
    return item._replace(older=True)
