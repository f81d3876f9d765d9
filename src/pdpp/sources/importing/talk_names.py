"""Talk names: a chat keeps the name of its newest export, whatever is imported after it.

A message tells the name of its chat and says of itself no time of change, so that an older export
would put back a name that a newer one replaced. Which of two exports is newer is told by the chats
themselves: by the time of the last change of the one in question, or where both exports end alike
in it, by those of the others that both hold.

A conversation with an assistant tells when it was changed before its messages come. Those of an
earlier state leave the messages that are there: which of two answers is shown would be put back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, NamedTuple

from pdpp.model import instant
from pdpp.model.declaration import Cardinality, Stream
from pdpp.model.errors import DamagedFile
from pdpp.model.vocabulary import Role
from pdpp.sources.item import START, Finding, Item
from pdpp.sources.keys import KeySealer
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.source import AnyPart, ExportPart
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.query import PageQuery
from pdpp.store.scope import owner_reaches

_CHANGED_AT = "updated_at"
_SHARED = ("server",)
"""What importers call what a message tells of its chat besides the name."""
_PAGE = 1_000
_SPOKEN = frozenset({Role.ACTOR, Role.BODY, Role.EVENT_TIME})
"""What a message has, unlike a file that belongs to a note: somebody said it, and when."""


class _MessageFields(NamedTuple):
    """Where a message tells its chat, the name of that, and when it was sent."""

    talk: str
    title: str
    sent_at: str


class _StoredTalk(NamedTuple):
    """What is known of a chat: its name, what else its messages tell of it, and its last change."""

    title: object
    shared: Mapping[str, object]
    changed: int


class TalkNames:
    """The names of the chats of one account, beside those that an export gives them."""

    def __init__(
        self,
        store: Store,
        connection_id: str,
        sealer: KeySealer,
        parts: Sequence[AnyPart],
        stopped: Callable[[], bool],
        *,
        as_told: bool = False,
        outdated: Set[str] = frozenset(),
    ) -> None:
        """Take what an import reads; of the streams in ``outdated`` a newer export came before."""
        self._store = store
        self._sealer = sealer
        self._parts = parts
        self._stopped = stopped
        reaches = owner_reaches(store.catalogue())
        self._reaches = {r.stream.name: r for r in reaches if r.connection_id == connection_id}
        streams = {name: reach.stream for name, reach in self._reaches.items()}
        self._titles, self._messages, nameless = _streams(streams)
        self._nameless = {} if as_told else nameless
        """Streams of messages that tell no name of their talk, each with the field of the talk."""
        self._is_outdated_export = not outdated.isdisjoint(self._titles)
        self._outdated: set[str] = set()
        self._changed: dict[str, int] = {}
        """When each talk of such a stream was last changed, as was told so far."""
        self._kept: dict[tuple[object, ...], Mapping[str, object]] = {}

    def parts(self) -> Sequence[AnyPart]:
        """Return the parts of the export with the names that are to be kept."""
        if not self._titles:
            return self._parts
        return [
            part if part.grows else ExportPart(part.entry, partial(self._findings, part))
            for part in self._parts
        ]

    def _findings(self, part: AnyPart) -> Iterator[Finding]:
        findings = part.findings(START)
        return map(self._named, findings) if self._nameless or self._stored else findings

    def _named(self, finding: Finding) -> Finding:
        if not isinstance(finding, Item):
            return finding
        stream = finding.stream
        # Most things are messages, and in most imports no state is outdated.
        if talk := self._nameless.get(stream):
            is_outdated = self._outdated and finding.data.get(talk) in self._outdated
            return finding._replace(weak=True) if is_outdated else finding
        key, data = finding.key, finding.data
        if fields := self._messages.get(stream):
            kept = self._newer(data.get(fields.talk), data, fields.title)
            return finding._replace(data={**data, **kept}) if kept else finding
        title = self._titles.get(stream)
        if title and self._nameless:
            (self._outdated.add if self._is_outdated(key, data) else self._outdated.discard)(key)
        return finding._replace(weak=True) if title and self._newer(key, data, title) else finding

    def _is_outdated(self, talk: str, data: Mapping[str, Any]) -> bool:
        """Tell whether the account holds a later state of a talk, or one came in before this."""
        if talk not in self._changed:
            stored = self._stored.get(self._sealer.key_of(talk))
            self._changed[talk] = 0 if stored is None else stored.changed
        changed, latest = _moment(data, _CHANGED_AT), self._changed[talk]
        self._changed[talk] = max(changed, latest)
        return 0 < changed < latest

    def _newer(self, talk: Any, data: Mapping[str, Any], title: str) -> Mapping[str, object]:
        """Return what a newer export told of a chat, by the members that tell something else."""
        asked = (title, talk, data.get(title))
        kept = self._kept.get(asked)
        if kept is None:
            kept = self._kept[asked] = self._compare(talk, data, title)
        return kept

    def _compare(self, talk: Any, data: Mapping[str, Any], title: str) -> Mapping[str, object]:
        key = self._sealer.key_of(talk) if isinstance(talk, str) else ""
        stored = self._stored.get(key)
        if stored is None:
            return {}
        told = {title: stored.title, **stored.shared}
        differs = {name: value for name, value in told.items() if data.get(name) != value}
        return differs if differs and self._is_older(key, stored) else {}

    def _is_older(self, key: str, stored: _StoredTalk) -> bool:
        if self._is_outdated_export:
            return True
        changed = self._ends.get(key, stored.changed)
        return changed < stored.changed if changed != stored.changed else self._ends_before

    @cached_property
    def _stored(self) -> Mapping[str, _StoredTalk]:
        """Return the chats of the account by their keys."""
        return {
            key: _StoredTalk(
                data.get(title),
                {name: data[name] for name in _SHARED if name in data},
                _moment(data, _CHANGED_AT),
            )
            for stream, title in self._titles.items()
            for key, data in self._records(stream)
        }

    def _records(self, stream: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        reach, after = self._reaches.get(stream), None
        while reach is not None:
            page = self._store.page(PageQuery((reach,), _PAGE, after=after))
            yield from ((record.id, read_data(record.data)) for record in page.records)
            if (after := page.next) is None:
                return

    @cached_property
    def _ends(self) -> Mapping[str, int]:
        """Return when each chat that the account holds was last changed, as the export tells.

        All of it is read for that, once, and only if it gives a chat another name.
        """
        ends: dict[str, int] = {}
        for item in self._items():
            if item.stream in self._titles and (changed := _moment(item.data, _CHANGED_AT)):
                ends[self._sealer.key_of(item.key)] = changed
        return {key: end for key, end in ends.items() if key in self._stored}

    def _items(self) -> Iterator[Item]:
        for part in self._parts:
            with suppress(DamagedFile, *SURPRISES):
                for finding in part.findings(START):
                    if isinstance(finding, Item):
                        yield finding
                    if self._stopped():
                        return

    @cached_property
    def _ends_before(self) -> bool:
        """Tell whether the export ends before the account, in the chats that both hold."""
        if self._ends:
            return max(self._ends.values()) < max(self._stored[key].changed for key in self._ends)
        return any(map(self._said_later, self._messages))

    def _said_later(self, stream: str) -> bool:
        """Tell whether the last message of the account is later than that of the export.

        Some exports tell of no chat when it was last changed.
        """
        sent_at, reach = self._messages[stream].sent_at, self._reaches.get(stream)
        if reach is None:
            return False
        said = (_moment(item.data, sent_at) for item in self._items() if item.stream == stream)
        last = self._store.page(PageQuery((reach,), 1, sort=sent_at)).records
        stored = (_moment(read_data(record.data), sent_at) for record in last)
        return max(said, default=0) < max(stored, default=0)


def _streams(
    streams: Mapping[str, Stream],
) -> tuple[dict[str, str], dict[str, _MessageFields], dict[str, str]]:
    """Return the streams of chats, each with the field of the name, and those of messages.

    Of messages that tell no name of their chat it is only the field that tells the chat.
    """
    titles: dict[str, str] = {}
    messages: dict[str, _MessageFields] = {}
    nameless: dict[str, str] = {}
    for stream in streams.values():
        for talks, foreign_key in _belongings(stream):
            title = _field_of(streams[talks], Role.TITLE)
            if title and {field.role for field in stream.fields.values()} >= _SPOKEN:
                titles[talks] = title
                own, sent_at = _field_of(stream, Role.TITLE), _field_of(stream, Role.EVENT_TIME)
                if own:
                    messages[stream.name] = _MessageFields(foreign_key, own, sent_at)
                else:
                    nameless[stream.name] = foreign_key
    return titles, messages, nameless


def _belongings(stream: Stream) -> Iterator[tuple[str, str]]:
    """Yield the streams that records of a stream belong to, each with the field that tells."""
    for relation in stream.relationships.values():
        if relation.cardinality is Cardinality.BELONGS_TO and relation.stream != stream.name:
            yield relation.stream, relation.foreign_key


def _field_of(stream: Stream, role: Role) -> str:
    return next((name for name, field in stream.fields.items() if field.role is role), "")


def _moment(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    return (instant.parse(value) or 0) if isinstance(value, str) else 0
