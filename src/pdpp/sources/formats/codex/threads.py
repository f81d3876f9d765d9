"""Threads of Codex: which logs are of one session.

A session is known by the id in its first line. Since autumn 2026 one that is taken up again, or
taken back to an earlier turn, goes on in a log of its own, whose first line has the same id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pdpp.sources.formats.agent_log import copies_among, session_of
from pdpp.sources.reading.jsonlines import first_objects
from pdpp.sources.reading.tree import FileEntry


class _LogHead(NamedTuple):
    """What the first line of a log says: its session, and when the log was begun."""

    session: str
    begun: str


@dataclass(slots=True)
class CodexThread:
    """A session: its logs in the order in which they were begun, and copies of them.

    ``earlier`` are copies that a log begins with; ``apart`` those that went on otherwise, as on
    another machine. ``ends`` is the state of the session at the end of the logs that were read.
    """

    session: str
    logs: list[FileEntry] = field(default_factory=list)
    earlier: list[FileEntry] = field(default_factory=list)
    apart: list[FileEntry] = field(default_factory=list)
    ends: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def before(self, entry: FileEntry) -> list[FileEntry]:
        """Return the logs that a log goes on from; a copy is compared with none."""
        names = [log.name for log in self.logs]
        return self.logs[: names.index(entry.name)] if entry.name in names else []

    def ends_with(self, entry: FileEntry) -> bool:
        """Tell whether a log is the last one of the session, which knows all of it."""
        return entry.name == self.logs[-1].name


def threads_of(logs: Iterable[FileEntry]) -> list[CodexThread]:
    """Return the sessions that some logs are of."""
    heads = {entry.name: (entry, _head_of(entry)) for entry in logs}
    copies = copies_among(
        (entry for entry, _ in heads.values()), lambda entry: "\n".join(heads[entry.name][1])
    )
    threads: dict[str, CodexThread] = {}
    for name, (entry, head) in sorted(heads.items(), key=lambda pair: (pair[1][1].begun, pair[0])):
        thread = threads.setdefault(head.session, CodexThread(head.session))
        if name in copies.earlier:
            thread.earlier.append(entry)
        elif name in copies.apart:
            thread.apart.append(entry)
        else:
            thread.logs.append(entry)
    return list(threads.values())


def _head_of(entry: FileEntry) -> _LogHead:
    for value in first_objects(entry):
        about = value.get("payload") if value.get("type") == "session_meta" else value
        is_first = about is not value or ("instructions" in value and "type" not in value)
        if is_first and isinstance(about, Mapping) and about.get("id"):
            return _LogHead(str(about["id"]), str(value.get("timestamp") or ""))
    return _LogHead(session_of(entry), "")
