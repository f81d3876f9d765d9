"""Checkpoints of Gemini CLI: talks that somebody saved under a name with ``/chat save``.

They hold no times; what was typed in a project, with the time, stands in ``logs.json`` beside them.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from pdpp.sources.formats.agent_log import EMPTY
from pdpp.sources.formats.agent_talk import AgentTalk, text_of
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import JsonElement, entry_elements, objects, read_each
from pdpp.sources.reading.structure import json_paths, opening
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree

PATTERN = "checkpoint*.json"
_LOG = "logs.json"
_NAME = "checkpoint-"


class Prompt(NamedTuple):
    """When something was typed, and in which session."""

    at: str
    session: str


def checkpoints_of(tree: Tree) -> list[FileEntry]:
    """Return the saved talks."""
    return [entry for entry in tree.named(PATTERN) if _is_checkpoint(entry)]


def _is_checkpoint(entry: FileEntry) -> bool:
    paths = frozenset(f"{_path(entry)}.{name}" for name in ("role", "parts"))
    return json_paths(entry, paths) >= paths


def _path(entry: FileEntry) -> str:
    """Return where the messages stand; until late 2025 they were the whole document."""
    return "item" if opening(entry) == b"[" else "history.item"


def read_checkpoint(tree: Tree, entry: FileEntry, kept: Collection[str]) -> Iterator[Finding]:
    """Yield a saved talk, unless all of its sessions are ``kept`` as they are."""
    prompts = dict(_prompts(tree.beside(entry, _LOG)))
    typed = [text for text in _asked(entry) if text in prompts]
    if typed and all(prompts[text].session in kept for text in typed):
        skipped = Skipped("a talk that was saved by hand, whose session is here", entry.name)
        yield from account([skipped], entry.name, "session")
        return
    tag = unquote(entry.base.removesuffix(entry.suffix).removeprefix(_NAME))
    # The next talk that is saved under this name begins with another prompt.
    talk = AgentTalk(digest_key("checkpoint", tag, *typed[:1]))
    talk.title = tag
    reader = _Reader(talk, prompts, prompts[typed[0]].at if typed else None)
    yield from read_each(entry, reader.read, _path(entry), noun="message")
    if record := talk.record():
        yield record


def _prompts(log: FileEntry | None) -> Iterator[tuple[str, Prompt]]:
    for value in objects(log) if log is not None else ():
        at = moment_text(value.get("timestamp"))
        if at is not None and isinstance(value.get("message"), str):
            yield value["message"].strip(), Prompt(at, str(value.get("sessionId")))


def _asked(entry: FileEntry) -> Iterator[str]:
    """Yield the texts of the person's side."""
    for element in entry_elements(entry, _path(entry)):
        value = element.value if isinstance(element, JsonElement) else None
        if isinstance(value, dict) and value.get("role") == "user":
            yield from (text_of(part).strip() for part in _parts(value) if "text" in part)


def _parts(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = value.get("parts")
    return [p for p in parts if isinstance(p, Mapping)] if isinstance(parts, list) else []


def files_in(parts: object, where: str) -> Iterator[Finding]:
    """Tell the files that stand in a message."""
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping) and ("inlineData" in part or "fileData" in part):
            yield Skipped("a file that was given to the agent", where)


class _Reader:
    """Reads the messages of one talk; each has the time of what was typed last before it."""

    def __init__(self, talk: AgentTalk, prompts: Mapping[str, Prompt], at: str | None) -> None:
        self._talk = talk
        self._prompts = prompts
        self._at = at
        self._number = 0

    def read(self, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        """Yield the parts of one message."""
        self._number += 1
        role = "user" if value["role"] == "user" else "assistant"
        parts = _parts(value)
        for part in parts:
            if role == "user" and (prompt := self._prompts.get(text_of(part).strip())):
                self._at = prompt.at
        if self._at is None:
            yield Unknown("a message of a talk of which no time is known", where)
            return
        said: list[Finding] = [
            finding
            for number, part in enumerate(parts)
            for finding in self._part(part, role, f"{self._number:06}.{number}", self._at)
        ]
        said += files_in(parts, where)
        yield from said or [Skipped(EMPTY, where)]

    def _part(self, part: Mapping[str, Any], role: str, name: str, at: str) -> Iterator[Finding]:
        call, result = part.get("functionCall"), part.get("functionResponse")
        if isinstance(call, Mapping):
            key = str(call.get("id") or name)
            yield self._talk.call(key, call.get("name"), call.get("args"), at)
        elif isinstance(result, Mapping):
            yield self._talk.result(str(result.get("id") or name), text_of(result), at)
        elif text := text_of(part).strip():
            heard = "reasoning" if part.get("thought") is True else role
            yield self._talk.message(name, heard, text, at)
