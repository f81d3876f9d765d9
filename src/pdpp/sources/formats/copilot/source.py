"""GitHub Copilot: the chats that VS Code keeps, as documents and since 2026 as logs of changes.

The logs of Copilot's command line are read in ``command_line``, and so are those that it keeps in a
workspace (``transcript``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.agent_log import EMPTY
from pdpp.sources.formats.agent_talk import AgentTalk
from pdpp.sources.formats.copilot.command_line import is_event_log, read_event_log
from pdpp.sources.formats.copilot.session_log import WHOLE, SessionLog
from pdpp.sources.formats.copilot.transcript import (
    repeated_session,
    repeated_transcripts,
    texts_at,
)
from pdpp.sources.item import Finding, Skipped, Unknown, present
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonlines import first_objects
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.shapes import odd, odd_items
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_MEMBERS = frozenset({"sessionId", "creationDate", "requests"})
_ABOUT = ("sessionId", "creationDate", "lastMessageDate", "customTitle")
_USER = "requesterUsername"
_WORKSPACE, _WORKSPACE_OF_EVENTS = "../workspace.json", "../../workspace.json"
"""Where the folder of a workspace is told, seen from a session and from a log of events."""
_LOOKED_AT = 20
_TOOL = "toolInvocationSerialized"
_EDITS = frozenset({"textEditGroup", "notebookEditGroup", "multiDiffData"})
_QUIET = frozenset(
    {"codeblockUri", "undoStop", "prepareToolInvocation", "progressMessage", "command"}
    | {"progressTask", "progressTaskSerialized", "mcpServersStarting", "references", "treeData"}
    | {"confirmation", "elicitation", "elicitationSerialized", "extensions", "pullRequest"}
)
"""Pieces of an answer that show the work of the program, and say nothing."""


class Copilot(Source):
    """``chatSessions`` of a workspace, ``~/.copilot/session-state``, or one session."""

    connector_key = "copilot"
    lies_among_others = True
    label = "GitHub Copilot"
    in_place = True
    passed_over = MappingProxyType(
        {
            "workspace.json": "the folder of a workspace",
            "state.vscdb*": "the state of the editor",
            "*/chatEditingSessions/*": "states of files while they were edited",
            "workspace.yaml": "facts about a session, kept in its record",
            "*/debug-logs/*": "what the program measured of its work",
            "*/checkpoints/*": "summaries that the program made of a session",
            "command-history-state.json": "what was typed, which the sessions hold",
            "session-store.db*": "an index of the sessions",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for documents and logs with the members of a session."""
        sessions = [
            entry
            for entry in tree.entries
            if _is_document(entry) or _is_log(entry) or is_event_log(entry)
        ]
        if not sessions:
            return None
        return Recognition(
            Confidence.CERTAIN,
            counted(len(sessions), "session"),
            account=self.label,
            identity=_owner(sessions[:_LOOKED_AT]),
            owner_known=False,
            detail={"sessions": [entry.name for entry in sessions]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each session."""
        sessions = list(tree.these(recognition.detail["sessions"]))
        repeated = repeated_transcripts(sessions)
        for entry in sessions:
            if entry.name in repeated:
                yield ExportPart(entry, partial(repeated_session, entry))
            else:
                yield ExportPart(entry, partial(_reader(entry), tree, entry))

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the files that tell the folders of workspaces, which lie above the sessions."""
        told = (
            tree.beside(entry, place)
            for entry in tree.these(recognition.detail["sessions"])
            for place in (_WORKSPACE, _WORKSPACE_OF_EVENTS)
        )
        return {entry.name for entry in told if entry is not None}


def _reader(entry: FileEntry) -> Callable[[Tree, FileEntry], Iterator[Finding]]:
    if is_event_log(entry):
        return _read_events
    return _read_log if entry.suffix == ".jsonl" else _read_document


def _is_document(entry: FileEntry) -> bool:
    return (
        entry.suffix == ".json"
        and b'"requests"' in entry.head()
        and json_paths(entry, _MEMBERS) >= _MEMBERS
    )


def _is_log(entry: FileEntry) -> bool:
    first = next(first_objects(entry, 1), {}) if entry.suffix == ".jsonl" else {}
    session = first.get("v") if first.get("kind") == WHOLE else None
    return isinstance(session, dict) and session.keys() >= _MEMBERS


def _owner(sessions: Iterable[FileEntry]) -> str:
    """Return who most sessions say asked, which only older ones do."""
    documents = [entry for entry in sessions if entry.suffix == ".json"]
    told = Counter(owner for entry in documents for owner in islice(texts_at(entry, _USER), 1))
    return told.most_common(1)[0][0] if told else ""


def _read_events(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    folder = _project(tree.beside(entry, _WORKSPACE_OF_EVENTS))
    return read_event_log(tree, entry, folder)


def _read_document(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    """Read a document twice: what it says of itself stands behind the requests."""
    about: dict[str, Any] = {}
    # Where the document is cut off is told when the requests are read.
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, *_ABOUT):
            if not isinstance(element, Skipped):
                about[element.path] = element.value
    talk = _talk(tree, entry, about)
    with entry.open() as stream:
        for element in elements(stream, "requests.item"):
            if isinstance(element, Skipped):
                yield element
            else:
                where = f"{entry.name} request {element.number}"
                yield from account(_request(element.value, about, talk, where), where, "request")
    yield _record(talk, about, entry)


def _read_log(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    log = SessionLog(entry)
    yield from log.replay()
    about = log.session if isinstance(log.session, dict) else {}
    talk = _talk(tree, entry, about)
    for number, request in enumerate(about.get("requests") or (), 1):
        where = f"{entry.name} request {number}"
        yield from account(_request(request, about, talk, where), where, "request")
    yield _record(talk, about, entry)


def _talk(tree: Tree, entry: FileEntry, about: Mapping[str, Any]) -> AgentTalk:
    name = str(about.get("sessionId") or entry.base.rpartition(".")[0])
    talk = AgentTalk(name, project=_project(tree.beside(entry, _WORKSPACE)))
    talk.title = str(about.get("customTitle") or "")
    return talk


def _project(entry: FileEntry | None) -> str:
    """Return the folder of a workspace."""
    try:
        workspace = read_json(entry.head()) if entry is not None else {}
    except NotJson:
        return ""
    address = workspace.get("folder") if isinstance(workspace, dict) else None
    return unquote(urlsplit(address).path) if isinstance(address, str) else ""


def _record(talk: AgentTalk, about: Mapping[str, Any], entry: FileEntry) -> Finding:
    times = _moment(about.get("creationDate")), _moment(about.get("lastMessageDate"))
    return talk.record(*times) or Skipped("a session without messages", entry.name)


def _request(
    value: Mapping[str, Any], about: Mapping[str, Any], talk: AgentTalk, where: str
) -> Iterator[Finding]:
    """Yield what was asked, and the answer with its thoughts and tools."""
    at = _moment(value.get("timestamp")) or _moment(about.get("creationDate"))
    name = str(value.get("requestId") or value.get("responseId") or "")
    if at is None or not name:
        yield Unknown("a message without an id or a time", where)
        return
    asked = _words(value.get("message")).strip()
    if asked:
        yield talk.message(name, "user", asked, at)
    answer = value.get("response")
    yield from odd_items(answer, where)
    pieces = [piece for piece in answer or () if isinstance(piece, Mapping)]
    said, thought = _answer(pieces)
    if thought:
        yield talk.message(f"{name}.thoughts", "reasoning", thought, at)
    if said:
        yield talk.message(f"{name}.answer", "assistant", said, at, value.get("modelId"))
    for number, piece in enumerate(pieces):
        yield from _piece(piece, f"{name}.{number}", at, talk, where)
    if not (asked or said or thought or pieces):
        yield Skipped(EMPTY, where)


def _answer(pieces: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """Return what an answer says and what was thought before.

    Names of files stand between pieces of a sentence; what a tool did parts paragraphs.
    """
    said, thought = "", ""
    for piece in pieces:
        kind = piece.get("kind")
        if kind == "thinking":
            thought += _words(piece.get("value"))
        elif kind in (None, "markdownContent", "markdownVuln", "warning"):
            said += _words(piece.get("value") or piece.get("content"))
        elif kind == "inlineReference":
            said += _reference(piece)
        elif kind == _TOOL and said and not said.endswith("\n"):
            said += "\n\n"
    return said.strip(), thought.strip()


def _reference(piece: Mapping[str, Any]) -> str:
    place = piece.get("inlineReference")
    holder = place if isinstance(place, Mapping) else {}
    path = holder.get("path") or (holder.get("uri") or {}).get("path") or ""
    return str(piece.get("name") or holder.get("name") or str(path).rpartition("/")[2])


def _piece(
    piece: Mapping[str, Any], name: str, at: str, talk: AgentTalk, where: str
) -> Iterator[Finding]:
    """Yield what of an answer is no text."""
    kind = piece.get("kind")
    if kind == _TOOL:
        yield from _tool(piece, name, at, talk)
    elif kind is None and not _words(piece.get("value") or piece.get("content")):
        yield from odd(piece, where, str)
    elif kind in _EDITS:
        yield Skipped("an edit of a file", where)
    elif kind not in _QUIET | {
        *(None, "thinking", "markdownContent", "markdownVuln", "warning", "inlineReference")
    }:
        yield Unknown("content of a type that is not known", f"{where}: {str(kind)[:40]}")


def _tool(piece: Mapping[str, Any], name: str, at: str, talk: AgentTalk) -> Iterator[Finding]:
    details = piece.get("resultDetails")
    told = details if isinstance(details, Mapping) else {}
    special = piece.get("toolSpecificData")
    data = special if isinstance(special, Mapping) else {}
    command = data.get("commandLine")
    given = {
        "task": _words(piece.get("pastTenseMessage") or piece.get("invocationMessage")),
        "command": command.get("original") if isinstance(command, Mapping) else command,
        "input": told.get("input") or data.get("rawInput"),
    }
    call = str(piece.get("toolCallId") or name)
    yield from talk.tool(
        call, piece.get("toolId"), present(given, ""), _words(told.get("output")), at
    )


def _words(value: object) -> str:
    """Return the words of a text, which may be an object or a list of pieces."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_words, value))
    if isinstance(value, Mapping):
        return next(
            (w for name in ("text", "value", "parts") if (w := _words(value.get(name)))), ""
        )
    return ""


def _moment(milliseconds: Any) -> str | None:
    given = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return epoch_text(milliseconds / 1000) if given else None
