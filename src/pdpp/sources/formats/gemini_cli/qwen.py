"""Qwen Code's own logs: since the end of 2025 a line for each message, tool result and event."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pdpp.sources.formats.agent_log import ABOUT_SESSION, EMPTY
from pdpp.sources.formats.agent_talk import AgentTalk, text_of
from pdpp.sources.formats.agent_tokens import Tokens, summed
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.jsonlines import first_objects
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry

_MEMBERS = frozenset({"uuid", "parentUuid", "sessionId", "timestamp", "type"})
_NOTES = frozenset({"notification", "background_task_completed"})


def is_qwen_line(value: Mapping[str, Any]) -> bool:
    """Tell whether a line is Qwen's: Claude Code names the same members, and has no parts."""
    message = value.get("message")
    in_parts = isinstance(message, Mapping) and isinstance(message.get("parts"), list)
    return value.keys() >= _MEMBERS and (in_parts or "systemPayload" in value)


def is_qwen_log(entry: FileEntry) -> bool:
    """Tell whether the first lines of a file are Qwen's."""
    return any(map(is_qwen_line, first_objects(entry)))


def talk_of(entry: FileEntry) -> AgentTalk:
    """Return the session that a log is of; one that another started has a name of its own."""
    first = next(filter(is_qwen_line, first_objects(entry)))
    name = [str(first["sessionId"])]
    if first.get("isSidechain") and first.get("agentId"):
        name.append(str(first["agentId"]))
    return AgentTalk("-".join(name), project=first.get("cwd"), version=first.get("version"))


def read_line(value: Mapping[str, Any], talk: AgentTalk, where: str) -> Iterator[Finding]:
    """Yield what a line holds."""
    at, kind, subtype = moment_text(value.get("timestamp")), value.get("type"), value.get("subtype")
    if at is None or not value.get("uuid"):
        yield Unknown("a message without an id or a time", where)
    elif subtype == "custom_title":
        talk.title = str(value["systemPayload"].get("customTitle") or talk.title)
        yield Skipped(ABOUT_SESSION, where)
    elif kind == "system" or subtype in _NOTES:
        yield Skipped("a note of the program", where)
    elif kind == "tool_result":
        yield from _results(value, talk, at, where)
    else:
        yield from _message(value, talk, at, where)


def _parts(value: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [part for part in value["message"]["parts"] if isinstance(part, Mapping)]


def _results(value: Mapping[str, Any], talk: AgentTalk, at: str, where: str) -> Iterator[Finding]:
    told = value.get("toolCallResult")
    shown = told.get("resultDisplay") if isinstance(told, Mapping) else None
    for number, part in enumerate(_parts(value)):
        answer = part.get("functionResponse")
        if isinstance(answer, Mapping):
            name = str(answer.get("id") or f"{value['uuid']}.{number}")
            text = text_of(answer) or text_of(shown)
            yield talk.result(name, text, at) if text else Skipped(EMPTY, where)


def _message(value: Mapping[str, Any], talk: AgentTalk, at: str, where: str) -> Iterator[Finding]:
    name, parts = str(value["uuid"]), _parts(value)
    if not value.get("forkedFrom"):  # A branch begins with the answers of another session.
        talk.tokens.take(name, _tokens(value.get("usageMetadata")))
    texts: dict[bool, list[str]] = {True: [], False: []}
    for part in parts:
        texts[bool(part.get("thought"))].append(str(part.get("text") or "").strip())
    thought, text = ("\n\n".join(filter(None, texts[is_thought])) for is_thought in (True, False))
    if thought:
        yield talk.message(f"{name}.thoughts", "reasoning", thought, at)
    if text:
        yield talk.message(name, str(value["type"]), text, at, value.get("model"))
    calls = [call for part in parts if isinstance(call := part.get("functionCall"), Mapping)]
    for number, call in enumerate(calls):
        given = call.get("args")
        yield talk.call(str(call.get("id") or f"{name}.{number}"), call.get("name"), given, at)
    files = sum("inlineData" in part or "fileData" in part for part in parts)
    if files:
        yield Skipped("a picture or file in a message", where)
    if not (thought or text or calls or files):
        yield Skipped(EMPTY, where)


def _tokens(told: object) -> Tokens:
    """Return what an answer took; whether thoughts are apart from it differs by its model."""
    into, whole = summed(told, "promptTokenCount"), summed(told, "totalTokenCount")
    out = whole - into if whole > into else summed(told, "candidatesTokenCount")
    return Tokens(into, summed(told, "cachedContentTokenCount"), out)
