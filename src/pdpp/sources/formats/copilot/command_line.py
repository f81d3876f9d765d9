"""Copilot's command line: a log of events for each session, in ``~/.copilot/session-state``."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pdpp.sources.formats.agent_log import ABOUT_SESSION, EMPTY
from pdpp.sources.formats.agent_talk import AgentTalk, text_of
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonlines import JsonLine, events, first_objects
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree

_TITLE = re.compile(r"^(?:name|summary): *[\"']?([^\r\n|>]{1,300}?)[\"']?\s*$", re.MULTILINE)
_BEGINNINGS = frozenset({"session.start", "session.resume"})
_NOTES = ("session.", "assistant.", "tool.", "system.", "subagent.", "hook.", "skill.", "user.")
"""How the names of events begin; those that say nothing tell of the program's work."""
_OTHER_NOTES = ("permission.", "pending_messages.", "mcp.", "external_tool.", "command.", "abort")


def is_event_log(entry: FileEntry) -> bool:
    """Tell whether a file is a log of events."""
    first = next(first_objects(entry, 1), {}) if entry.suffix == ".jsonl" else {}
    about = first.get("data")
    begins = str(first.get("type")) in _BEGINNINGS
    return begins and isinstance(about, Mapping) and "sessionId" in about


def read_event_log(tree: Tree, entry: FileEntry, around: str = "") -> Iterator[Finding]:
    """Yield the messages and tools of a session, and the session at the end.

    It worked in the folder that it tells, or else in the one ``around`` the log.
    """
    about = next(first_objects(entry, 1), {})["data"]
    place = about.get("context")
    folder = place if isinstance(place, Mapping) else {}
    talk = AgentTalk(
        str(about["sessionId"]),
        project=folder.get("cwd") or around,
        model=about.get("selectedModel"),
        version=about.get("copilotVersion"),
    )
    talk.title = _title(tree.beside(entry, "workspace.yaml"))
    reader = _EventReader(talk)
    for event in events(entry):
        if isinstance(event, JsonLine):
            yield from account(reader.read(event.value, event.where), event.where, "line")
        else:
            yield event.skipped
    yield talk.record() or Skipped("a session without messages", entry.name)


def _title(workspace: FileEntry | None) -> str:
    """Return the name that the program gave a session."""
    found = _TITLE.search(workspace.head().decode("utf-8", "replace")) if workspace else None
    return found[1] if found else ""


class _EventReader:
    """Reads the events of one session.

    The use of a tool is told by the answer that asks for it and again when it begins, and a
    thought by itself and again with its answer: each comes in once.
    """

    def __init__(self, talk: AgentTalk) -> None:
        self._talk = talk
        self._calls: set[str] = set()
        self._thoughts: set[str] = set()

    def read(self, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        """Yield what one event tells."""
        kind, name = str(value.get("type")), str(value.get("id") or "")
        data, at = value["data"], moment_text(value.get("timestamp"))
        if kind in _BEGINNINGS:
            yield Skipped(ABOUT_SESSION, where)
        elif kind in ("user.message", "assistant.message", "assistant.reasoning"):
            if at is None or not name:
                yield Unknown("a message without an id or a time", where)
            elif kind == "user.message":
                # What is asked of a helper, the agent asks.
                role = "agent" if value.get("agentId") else "user"
                yield from self._asked(data, role, name, at, where)
            else:
                yield from self._answered(data, kind, name, at, where)
        elif kind == "tool.execution_start" and at is not None:
            found = list(self._call(data, data.get("toolName"), at))
            yield from found or [Skipped("a tool that begins, told before", where)]
        elif kind == "tool.execution_complete" and at is not None:
            text = text_of(data.get("result")) or str((data.get("error") or {}).get("message", ""))
            yield self._talk.result(str(data["toolCallId"]), text, at)
        elif kind.startswith(_NOTES + _OTHER_NOTES):
            yield Skipped("a note of the program", where)
        else:
            yield Unknown("a line of a type that is not known", f"{where}: {kind[:40]}")

    def _asked(
        self, data: Mapping[str, Any], role: str, name: str, at: str, where: str
    ) -> Iterator[Finding]:
        if text := text_of(data.get("content")).strip():
            yield self._talk.message(name, role, text, at)
        else:
            yield Skipped(EMPTY, where)
        for _ in data.get("attachments") or ():
            yield Skipped("a file that was given to the agent", where)

    def _answered(
        self, data: Mapping[str, Any], kind: str, name: str, at: str, where: str
    ) -> Iterator[Finding]:
        text = text_of(data.get("content")).strip()
        alone = kind == "assistant.reasoning"
        thought = text if alone else text_of(data.get("reasoningText")).strip()
        found: list[Finding] = []
        if thought and thought not in self._thoughts:
            self._thoughts.add(thought)
            found.append(self._talk.message(f"{name}.thoughts", "reasoning", thought, at))
        if text and not alone:
            found.append(self._talk.message(name, "assistant", text, at, data.get("model")))
        for request in data.get("toolRequests") or ():
            found += self._call(request, request.get("name"), at)
        yield from found or [Skipped(EMPTY, where)]

    def _call(self, data: Mapping[str, Any], tool: object, at: str) -> Iterator[Finding]:
        name = str(data["toolCallId"])
        if name not in self._calls:
            self._calls.add(name)
            yield self._talk.call(name, tool, data.get("arguments"), at)
