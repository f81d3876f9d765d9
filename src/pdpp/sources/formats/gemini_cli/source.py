"""Gemini CLI: sessions as documents, and since 2026 as logs of JSON lines; Qwen Code's too.

Qwen Code wrote as Gemini CLI does until the end of 2025; its own logs are read in ``qwen``.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.agent_log import ABOUT_SESSION, EMPTY
from pdpp.sources.formats.agent_talk import AgentTalk, text_of
from pdpp.sources.formats.agent_tokens import Tokens, summed
from pdpp.sources.formats.gemini_cli import qwen
from pdpp.sources.formats.gemini_cli.checkpoint import (
    PATTERN,
    checkpoints_of,
    files_in,
    read_checkpoint,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown
from pdpp.sources.reading.guard import SURPRISES, account
from pdpp.sources.reading.jsonlines import JsonLine, events, first_objects
from pdpp.sources.reading.jsonstream import JsonElement, elements, entry_elements
from pdpp.sources.reading.shapes import odd_members
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    EXPECTED,
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
)

_PATHS = frozenset({"sessionId", "projectHash", "messages"})
_MOMENTS = ("startTime", "lastUpdated")
_ABOUT = ("projectHash", "summary", *_MOMENTS)
_ANSWERS = frozenset({"gemini", "qwen", "assistant", "model"})
_ASIDE = frozenset({"info", "error", "warning"})


class GeminiCli(Source):
    """The folder ``~/.gemini/tmp`` or ``~/.qwen``, a project's in it, or one session."""

    connector_key = "gemini_cli"
    lies_among_others = True
    label = "Gemini CLI"
    in_place = True
    passed_over = MappingProxyType(
        {
            "logs.json": "what was typed, which the sessions hold as long as they are kept",
            "shell_history": "what was typed in the shell",
            PATTERN: EXPECTED,
            "*/checkpoints/*": "the state before a change of files",
            "*.md": "instructions for the agent",
            "settings.json": "settings",
            "oauth_creds.json": "secrets, which are never read",
            "google_accounts.json": "accounts",
            "installation_id": "a number of the installation",
            "user_id": "a number of the user",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for documents and logs with the members of a session."""
        sessions, checkpoints = _sessions(tree), checkpoints_of(tree)
        if not sessions and not checkpoints:
            return None
        version = counted(len(sessions) + len(checkpoints), "session")
        detail = {
            "sessions": [entry.name for entry in sessions],
            "checkpoints": [entry.name for entry in checkpoints],
        }
        return Recognition(
            Confidence.CERTAIN, version, account=self.label, owner_known=False, detail=detail
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file of a session."""
        entries = list(tree.these(recognition.detail["sessions"]))
        together: dict[str, list[FileEntry]] = {}
        for entry in entries:
            together.setdefault(_talk_of(entry).key, []).append(entry)
        for same in together.values():
            session = _Session(same)
            for entry in same:
                yield ExportPart(entry, partial(session.read, entry))
        kept = set(map(_session_id, entries))
        for entry in tree.these(recognition.detail["checkpoints"]):
            yield ExportPart(entry, partial(read_checkpoint, tree, entry, kept))


def _session_id(entry: FileEntry) -> str:
    if entry.suffix == ".jsonl":
        return str(next(first_objects(entry, 1), {}).get("sessionId") or "")
    with suppress(DamagedFile):
        for element in entry_elements(entry, "sessionId"):
            return str(element.value) if isinstance(element, JsonElement) else ""
    return ""


def _sessions(tree: Tree) -> list[FileEntry]:
    documents = [
        entry
        for entry in tree.entries
        if entry.suffix == ".json"
        and b'"sessionId"' in entry.head()
        and json_paths(entry, _PATHS) >= _PATHS
    ]
    logs = [entry for entry in tree.entries if entry.suffix == ".jsonl" and _is_log(entry)]
    return documents + logs


def _is_log(entry: FileEntry) -> bool:
    first = next(first_objects(entry, 1), {})
    return {"sessionId", "projectHash"} <= first.keys() or qwen.is_qwen_log(entry)


def _talk_of(entry: FileEntry) -> AgentTalk:
    if entry.suffix == ".jsonl" and qwen.is_qwen_log(entry):
        return qwen.talk_of(entry)
    return AgentTalk(_session_id(entry) or entry.base.rpartition(".")[0])


class _Session:
    """A session in one or several files.

    One that was taken up again has another file, and so has each helper of it. What stands in which
    place of it is known once all of them are read.
    """

    def __init__(self, files: list[FileEntry]) -> None:
        self._files = files

    @cached_property
    def _talk(self) -> AgentTalk:
        return _talk_of(self._files[0])

    @cached_property
    def _record(self) -> Item | None:
        about = _About()
        for entry in self._files:
            with suppress(DamagedFile, *SURPRISES):  # Told where it is read itself.
                deque(_contents(entry, self._talk, about), maxlen=0)
        return about.record(self._talk)

    def read(self, entry: FileEntry) -> Iterator[Finding]:
        """Yield what a file holds, and the session with what its other files hold."""
        if len(self._files) == 1:
            talk, about = _talk_of(entry), _About()
            yield from _contents(entry, talk, about)
            record = about.record(talk)
        else:
            record = self._record
            yield from _contents(entry, self._talk, _About())
        yield record or Skipped("a session without messages", entry.name)


def _contents(entry: FileEntry, talk: AgentTalk, about: "_About") -> Iterator[Finding]:
    read = _read_log if entry.suffix == ".jsonl" else _read_document
    return read(entry, talk, about)


class _About:
    """What the files of a session say of it beside its messages."""

    def __init__(self) -> None:
        self._title = ""
        self._moments: list[str] = []

    def take(self, name: str, value: object, talk: AgentTalk) -> None:
        """Take in one member."""
        if name == "summary":
            self._title = self._title or str(value or "")
        elif name == "projectHash" and value:
            talk.facts.setdefault("project", str(value))
        elif name in _MOMENTS and (moment := moment_text(value)) is not None:
            self._moments.append(moment)

    def record(self, talk: AgentTalk) -> Item | None:
        """Return the record of the session, if anything was said."""
        talk.title = talk.title or self._title
        return talk.record(min(self._moments, default=None), max(self._moments, default=None))


def _read_document(entry: FileEntry, talk: AgentTalk, about: _About) -> Iterator[Finding]:
    with entry.open() as stream:
        for element in elements(stream, *_ABOUT, "messages.item"):
            if isinstance(element, Skipped):
                yield element
            elif element.path == "messages.item":
                where = f"{entry.name} message {element.number}"
                yield from account(_message(element.value, talk, where), where, "message")
            else:
                about.take(element.path, element.value, talk)


def _read_log(entry: FileEntry, talk: AgentTalk, about: _About) -> Iterator[Finding]:
    for name, value in next(first_objects(entry, 1), {}).items():
        about.take(name, value, talk)
    read = qwen.read_line if qwen.is_qwen_log(entry) else _line
    for event in events(entry):
        if isinstance(event, JsonLine):
            yield from account(read(event.value, talk, event.where), event.where, "line")
        else:
            yield event.skipped


def _line(value: Mapping[str, object], talk: AgentTalk, where: str) -> Iterator[Finding]:
    """Yield what a line holds: a message, or a change that states messages anew."""
    change = value.get("$set")
    if isinstance(change, dict):
        messages = change.get("messages")
        talk.title = str(change.get("summary") or talk.title)
        for message in messages if isinstance(messages, list) else ():
            yield from _message(message, talk, where)
        if not messages:
            yield Skipped(ABOUT_SESSION, where)
    elif "type" in value and "id" in value:
        yield from _message(value, talk, where)
    elif "$rewindTo" in value:
        yield Skipped("a mark that the talk went back; what was said stays", where)
    elif "sessionId" in value:
        yield Skipped(ABOUT_SESSION, where)
    else:
        yield Unknown("a line of a type that is not known", where)


def _message(value: Mapping[str, Any], talk: AgentTalk, where: str) -> Iterator[Finding]:
    at, kind = moment_text(value.get("timestamp")), str(value.get("type"))
    if at is None or not value.get("id"):
        yield Unknown("a message without an id or a time", where)
        return
    if kind in _ASIDE:
        yield Skipped("a note of the program", where)
        return
    name = str(value["id"])
    talk.tokens.take(name, _tokens(value.get("tokens")))
    role = "assistant" if kind in _ANSWERS else kind
    text = text_of(value.get("content")).strip()
    said = False
    thoughts = [_thought(thought) for thought in value.get("thoughts") or ()]
    if thought := "\n\n".join(filter(None, thoughts)):
        said = True
        yield talk.message(f"{name}.thoughts", "reasoning", thought, at)
    if text:
        said = True
        yield talk.message(name, role, text, at, value.get("model"))
    for number, call in enumerate(value.get("toolCalls") or ()):
        said = True
        moment = moment_text(call.get("timestamp")) or at
        yield from talk.tool(
            str(call.get("id") or f"{name}.{number}"),
            call.get("name"),
            call.get("args"),
            _answer(call),
            moment,
        )
    yield from odd_members(value, where, content=(str, list), thoughts=list, toolCalls=list)
    files = list(files_in(value.get("content"), where))
    yield from files
    if not said and not files:
        yield Skipped(EMPTY, where)


def _tokens(told: object) -> Tokens:
    """Return what an answer took; thoughts are told apart from what came out."""
    into, out = summed(told, "input", "tool"), summed(told, "output", "thoughts")
    return Tokens(into, summed(told, "cached"), out)


def _answer(call: Mapping[str, object]) -> str:
    """Return what a tool answered: as the person saw it, if that was a text and no drawing."""
    shown = call.get("resultDisplay")
    if isinstance(shown, str) and shown:
        return shown
    return text_of(call.get("result")) or text_of(shown)


def _thought(value: Mapping[str, object]) -> str:
    return "\n".join(str(value[name]) for name in ("subject", "description") if value.get(name))
