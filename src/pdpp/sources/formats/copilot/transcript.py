"""Transcripts: logs of events that Copilot keeps in a workspace beside the chats of VS Code.

They tell the same sessions under the same ids, with other ids for the messages. Where the chats are
gone, as on a machine that is only reached from another one, they are all that is left.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.copilot.command_line import is_event_log
from pdpp.sources.formats.copilot.session_log import SessionLog
from pdpp.sources.item import Finding, Skipped
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonlines import first_objects
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.tree import FileEntry


def repeated_transcripts(sessions: Iterable[FileEntry]) -> frozenset[str]:
    """Return the names of the logs of events whose sessions are in chats too."""
    chats: list[FileEntry] = []
    logs: dict[str, list[str]] = {}
    for entry in sessions:
        if is_event_log(entry):
            about = next(first_objects(entry, 1), {})["data"]
            logs.setdefault(str(about["sessionId"]), []).append(entry.name)
        else:
            chats.append(entry)
    # What a chat says of itself may stand behind all of its requests.
    beside = chats if logs else ()
    known = {name for entry in beside if (name := _session_id(entry)) in logs and _is_asked(entry)}
    return frozenset(name for session in known for name in logs[session])


def repeated_session(entry: FileEntry) -> Iterator[Finding]:
    """Yield that a chat holds the same session."""
    skipped = Skipped("a session that is read from its chat", entry.name)
    return account([skipped], entry.name, "session")


def _session_id(entry: FileEntry) -> str:
    if entry.suffix == ".json":
        return next(texts_at(entry, "sessionId"), "")
    session = next(first_objects(entry, 1), {}).get("v")
    return str(session.get("sessionId")) if isinstance(session, dict) else ""


def _is_asked(entry: FileEntry) -> bool:
    """Tell whether a chat holds a question; an empty one must not hide a transcript."""
    if entry.suffix == ".json":
        return any(texts_at(entry, "requests.item.requestId"))
    log = SessionLog(entry)
    with suppress(DamagedFile):  # Up to there it may hold a question.
        for _ in log.replay():
            pass
    return isinstance(log.session, dict) and bool(log.session.get("requests"))


def texts_at(entry: FileEntry, member: str) -> Iterator[str]:
    """Yield what a member of a document says, as far as it can be read."""
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, member):
            if not isinstance(element, Skipped) and element.value:
                yield str(element.value)
