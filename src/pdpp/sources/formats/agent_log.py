"""Agent logs: what the logs of coding agents share, one growing file of JSON lines a session."""

import base64
import binascii
import io
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple, cast

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.agent_session import AgentSession
from pdpp.sources.item import Attachment, Finding, Item, ResumePoint, Skipped
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonlines import JsonLine, events, first_objects
from pdpp.sources.reading.sample import spread
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import AnyPart, Confidence, ExportPart, GrowingPart

_LOOKED_AT = 20
"""How many files are looked at for what they say of themselves."""
_MOST_LOOKED_AT = 2_000
"""How many are looked at where none of these is a log."""
_HOME = re.compile(
    r"(?:/(?:var/)?(?:home|Users)/[^/]+|/root|[A-Za-z]:[\\/]Users[\\/][^\\/]+)(?=[\\/]|\Z)"
)
_COPIED = re.compile(
    r"(.*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|agent-\S+?)(?: .+|\(\d+\))", re.IGNORECASE
)
"""A name that an agent gave, and what a person or a browser put behind it; agents put no space."""
_CHUNK = 1 << 18
_NO_LOGS = frozenset({"session_index.jsonl", "history.jsonl"})
ABOUT_SESSION = "a line about the session, kept in the session's record"
EMPTY = "an empty message"
ONLY_LINK = "an image that is only a link"


def logs_of(tree: Tree) -> list[FileEntry]:
    """Return the files that may be logs."""
    logs = [entry for entry in tree.entries if entry.base not in _NO_LOGS and entry.size]
    plain = [entry for entry in logs if entry.suffix == ".jsonl"]
    return plain + [unpacked(entry) for entry in logs if entry.base.endswith(".jsonl.zst")]


def unpacked(entry: FileEntry) -> FileEntry:
    """Return a log that is kept compressed as if it were not."""

    def opener() -> BinaryIO:
        from zstandard import ZstdDecompressor

        reader = ZstdDecompressor().stream_reader(entry.opener(), read_across_frames=True)
        return cast(BinaryIO, reader)

    return FileEntry(entry.name, entry.size, entry.stamp, opener, entry.meter, packed=True)


LogReader = Callable[[ResumePoint], Iterator[Finding]]
"""Reads a log on from a place in it."""


class LogCopies(NamedTuple):
    """The logs that are not the only one of their session, by name.

    ``earlier`` are those that another one begins with; ``apart`` those that went on otherwise, and
    stay sessions of their own: their lines have the same numbers and say other things.
    """

    earlier: frozenset[str]
    apart: frozenset[str]


def session_of(entry: FileEntry) -> str:
    """Return the name of the session that a log is of: a copy has that of its original."""
    name = file_name(entry)
    copied = _COPIED.fullmatch(name)
    return copied[1] if copied else name


def file_name(entry: FileEntry) -> str:
    """Return what a log is called, without its endings."""
    return entry.base.removesuffix(".zst").removesuffix(".jsonl")


def copies_among(
    logs: Iterable[FileEntry], name_of: Callable[[FileEntry], str] = session_of
) -> LogCopies:
    """Compare the logs of each name with the longest of them."""
    called: dict[str, list[FileEntry]] = {}
    for entry in logs:
        called.setdefault(name_of(entry), []).append(entry)
    earlier: set[str] = set()
    apart: set[str] = set()
    for same in called.values():
        longest = max(same, key=lambda entry: (entry.size, file_name(entry) == session_of(entry)))
        for entry in same:
            if entry is not longest:
                (earlier if _begins(longest, entry) else apart).add(entry.name)
    return LogCopies(frozenset(earlier), frozenset(apart))


def _begins(log: FileEntry, earlier: FileEntry) -> bool:
    """Tell whether a log begins with the whole of another one."""
    try:
        with log.open() as stream, earlier.open() as other:
            while piece := other.read(_CHUNK):
                if stream.read(len(piece)) != piece:
                    return False
    except DamagedFile:
        return False
    return True


def log_parts(
    logs: Iterable[FileEntry], reader_of: Callable[[FileEntry, str], LogReader]
) -> Iterator[AnyPart]:
    """Yield a part for each log.

    ``reader_of`` is asked with a log and the name of its session, if that is not what the log says.
    """
    every = list(logs)
    copies = copies_among(every)
    for entry in every:
        if entry.name in copies.earlier:
            yield ExportPart(entry, partial(earlier_state, entry))
        else:
            session = file_name(entry) if entry.name in copies.apart else ""
            yield GrowingPart(entry, reader_of(entry, session))


def earlier_state(entry: FileEntry) -> Iterator[Finding]:
    """Yield that another file holds the same session."""
    skipped = Skipped("a session as it was earlier, which another file holds whole", entry.name)
    return account([skipped], entry.name, "session")


class LogSample(NamedTuple):
    """What the first logs say of themselves: how many there are in words, and which layouts.

    ``home`` is the home folder on the machine that they are of.
    """

    confidence: Confidence
    sessions: str
    layouts: list[str]
    home: str = ""


def look_at(logs: list[FileEntry], layouts: Callable[[FileEntry], set[str]]) -> LogSample | None:
    """Look at some logs; ``layouts`` is empty where one is not of the kind that is meant."""
    sample = spread(logs, _LOOKED_AT)
    recognised = [seen for entry in sample if (seen := layouts(entry))]
    if not recognised:
        # Lines of other things may lie beside them, in any number.
        others = (entry for entry in logs[:_MOST_LOOKED_AT] if entry not in sample)
        found = next(((entry, seen) for entry in others if (seen := layouts(entry))), None)
        if found is None:
            return None
        sample.append(found[0])
        recognised.append(found[1])
    certain = len(recognised) == len(sample)
    return LogSample(
        Confidence.CERTAIN if certain else Confidence.LIKELY,
        counted(len(logs), "session"),
        sorted(set().union(*recognised)),
        _home(sample),
    )


def roots_of_homes(tree: Tree, *stores: str) -> Iterable[str]:
    """Return the folders that logs of several machines lie in; the top where all are of one.

    An agent keeps its logs in folders that are called ``stores``, as each machine's backup does.
    """
    logs: dict[str, list[FileEntry]] = {}
    for entry in logs_of(tree):
        logs.setdefault(_root(entry, stores), []).append(entry)
    homes = {_home(spread(own, _LOOKED_AT)) for own in logs.values()} if len(logs) > 1 else set()
    return sorted({*logs, ""}) if len(homes - {""}) > 1 else ("",)


def _root(entry: FileEntry, stores: tuple[str, ...]) -> str:
    """Return the folder that a store of logs lies in."""
    folders = entry.name.split("/")[:-1]
    place = max((number for number, name in enumerate(folders) if name in stores), default=0)
    return "/".join(folders[:place])


def _home(logs: Iterable[FileEntry]) -> str:
    return home_of(folder for entry in logs for folder in _folders(entry))


def home_of(folders: Iterable[object]) -> str:
    """Return the home folder that most of some folders lie in, nothing where none does.

    It is all that a log says of its machine: those of two machines are two accounts.
    """
    homes = Counter(
        home.group()
        for folder in folders
        if isinstance(folder, str) and (home := _HOME.match(folder))
    )
    return homes.most_common(1)[0][0] if homes else ""


def _folders(entry: FileEntry) -> Iterator[object]:
    """Yield the folder that a session worked in, as its first lines say it."""
    for value in first_objects(entry):
        payload = value.get("payload")
        folder = value.get("cwd") or (payload.get("cwd") if isinstance(payload, dict) else None)
        if folder:
            yield folder
            return


class AgentLog(ABC):
    """Reads one log. Keys begin with the name of its session: a resumed one repeats old lines."""

    def __init__(self, entry: FileEntry, session: str = "") -> None:
        self._entry = entry
        self._id = safe_key(session or session_of(entry))

    def read(self, start: ResumePoint) -> Iterator[Finding]:
        """Yield what the lines hold, and the session itself at the end."""
        session = self.begin(start)
        for finding in events(self._entry, start.offset):
            session.lines += 1
            if isinstance(finding, JsonLine):
                for found in account(self.event(finding, session), finding.where, "line"):
                    if isinstance(found, Item):
                        session.act(found.data["sent_at"])
                    yield found
            else:
                yield finding.skipped
            if finding.closed:
                yield ResumePoint(finding.end, session.state())
        yield from self.record(session)

    def begin(self, start: ResumePoint) -> AgentSession:
        """Return what is known of the session at a place in the log."""
        return AgentSession.resumed(start.state)

    def record(self, session: AgentSession) -> Iterator[Item]:
        """Yield the record of the session, if anything was said or done in it."""
        if session.messages or session.acted:
            yield Item("sessions", self._id, session.record(self._id))

    @abstractmethod
    def event(self, event: JsonLine, session: AgentSession) -> Iterator[Finding]:
        """Yield what one line holds."""

    def _image(self, encoded: str, media_type: str, at: str, name: str) -> Iterator[Finding]:
        """Yield an image that stands in a line as base64."""
        try:
            content = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            yield Skipped("an image that cannot be decoded", f"{self._entry.name} {name}")
            return
        kept = Attachment("image", lambda: io.BytesIO(content), media_type)
        item = self._item("images", name, at, {"media_type": media_type})
        yield item._replace(attachments=(kept,))

    def _item(self, stream: str, name: str, at: str, data: dict[str, Any]) -> Item:
        key = safe_key(self._id, name)
        return Item(stream, key, {"id": key, "session_id": self._id, "sent_at": at, **data})
