"""Claude Code: the logs that the coding agent keeps, one file of JSON lines for each session."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pdpp.sources.formats.agent_log import (
    ABOUT_SESSION,
    EMPTY,
    ONLY_LINK,
    AgentLog,
    log_parts,
    logs_of,
    look_at,
    roots_of_homes,
    session_of,
)
from pdpp.sources.formats.agent_session import AgentSession, joined, spelled
from pdpp.sources.formats.agent_talk import text_of
from pdpp.sources.formats.agent_tokens import Tokens, summed
from pdpp.sources.formats.claude_code.prompts import histories_of, home_in, prompt_parts
from pdpp.sources.formats.gemini_cli.qwen import is_qwen_line
from pdpp.sources.item import Finding, ResumePoint, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.jsonlines import JsonLine, first_objects
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    AnyPart,
    Confidence,
    OwnerChoices,
    Recognition,
    Source,
)

_SPOKEN = frozenset({"user", "assistant", "system"})
_ASIDE = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "artifact-autoreact-ledger",
        "artifact-comment-monitor",
        "atis-latch",
        "attachment",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "continued-in",
        "cost-state",
        "file-history-delta",
        "file-history-snapshot",
        "frame-link",
        "init",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "speculation-accept",
        "tag",
        "task-summary",
        "worktree-state",
    }
)
_OF_HELPER = "agent-"
"""How the names of logs begin that helpers of a session write."""
_DOCUMENT = "a document that was given to the agent"
_CHOSEN_TITLE = "custom-title"
_TITLES = MappingProxyType(
    {"summary": "summary", "ai-title": "aiTitle", _CHOSEN_TITLE: "customTitle"}
)
"""Lines with the title of a session, and the member that holds it."""
_MEMBERS = (frozenset({"sessionId", "timestamp", "uuid"}), frozenset({"summary", "leafUuid"}))
"""What a line of such a log has, one way or the other."""
_NO_MODEL = "<synthetic>"
"""The model of what the program says itself, as when a limit is reached."""
_LONGEST_NAME = 200
"""Of the name of an answer, of which the last few are kept with each place in a log."""
_READ_ELSEWHERE = frozenset({"text", "thinking", "redacted_thinking"})


class ClaudeCode(Source):
    """A folder of session logs, or one of them."""

    connector_key = "claude_code"
    label = "Claude Code logs"
    in_place = True
    passed_over = MappingProxyType(
        {
            "sessions-index.json": "the list of sessions",
            "agent-*.meta.json": "what kind of helper an agent was",
            "*/tool-results/*": "long answers of tools, of which the logs hold the beginning",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look at the first lines of the first logs."""
        seen = look_at(_logs_of(tree), _versions)
        if seen is None:
            return _of_prompts(histories_of(tree))
        versions = sorted(filter(None, seen.layouts), key=_order)
        written = f", written by {_span(versions)}" if versions else ""
        return Recognition(
            seen.confidence,
            f"{seen.sessions}{written}",
            account="Claude Code",
            identity=seen.home,
            owner_known=False,
        )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return the folders with the logs of a machine each."""
        return roots_of_homes(tree, "projects")

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[AnyPart]:  # noqa: ARG002
        """Return one part for each log, and for prompts whose logs are gone."""
        logs = _logs_of(tree)
        yield from log_parts(logs, lambda entry, session: _ClaudeCodeLog(entry, session).read)
        yield from prompt_parts(tree, set(map(session_of, logs)))

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the folder of each session, where the agent keeps what its tools answered."""
        return [entry.name.removesuffix(entry.suffix) for entry in _logs_of(tree)]


def _logs_of(tree: Tree) -> list[FileEntry]:
    """Return the files that may be logs; prompts are none, whatever they are called."""
    prompts = {entry.name for entry in histories_of(tree)}
    return [entry for entry in logs_of(tree) if entry.name not in prompts]


def _of_prompts(histories: list[FileEntry]) -> Recognition | None:
    """Return what is seen where no log is there."""
    if not histories:
        return None
    home = home_in(histories)
    name = "the prompts of all sessions"
    return Recognition(Confidence.CERTAIN, name, "Claude Code", home, owner_known=False)


def _versions(entry: FileEntry) -> set[str]:
    """Return the versions that wrote a log, none where it is not one of these logs."""
    versions: set[str] = set()
    for value in first_objects(entry):
        known = any(members <= value.keys() for members in _MEMBERS)
        if known and isinstance(value.get("type"), str) and not is_qwen_line(value):
            versions.add(str(value.get("version", "")))
    return versions


def _queued_prompt(value: Mapping[str, Any]) -> Any:
    """Return what a person wrote while the agent worked: it stands in no other line."""
    queued = value.get("attachment")
    if not isinstance(queued, Mapping) or queued.get("type") != "queued_command":
        return None
    return queued.get("prompt") if queued.get("commandMode", "prompt") == "prompt" else None


def _count(message: Mapping[str, Any], line: Mapping[str, Any], session: AgentSession) -> None:
    """Take in the model and the tokens of an answer; each of its lines tells them anew.

    A branch begins with the lines of the session that it was made from, whose tokens these are.
    """
    model, usage, answer = message.get("model"), message.get("usage"), message.get("id")
    if model == _NO_MODEL:
        return
    session.learn("model", model, anew=True)
    if isinstance(usage, Mapping) and answer and not line.get("forkedFrom"):
        kept = summed(usage, "cache_read_input_tokens")
        into = kept + summed(usage, "input_tokens", "cache_creation_input_tokens")
        taken = Tokens(into, kept, summed(usage, "output_tokens"))
        session.tokens.take(str(answer)[:_LONGEST_NAME], taken, line["timestamp"])


def _kinds(pieces: Iterable[Mapping[str, object]]) -> list[object]:
    return [piece["type"] for piece in pieces]


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,9}", version)]


def _span(versions: list[str]) -> str:
    if len(versions) == 1:
        return f"version {versions[0]}"
    return f"versions {versions[0]} to {versions[-1]}"


class _ClaudeCodeLog(AgentLog):
    """Reads one log: messages, tool calls, results and images."""

    def read(self, start: ResumePoint) -> Iterator[Finding]:
        """Yield what the lines hold, and the session itself at the end."""
        if self._entry.base.startswith(_OF_HELPER):
            # Helpers of two sessions may have one name.
            sessions = (value.get("sessionId") for value in first_objects(self._entry))
            self._id = safe_key(str(next(filter(None, sessions), "")), self._id)
        yield from super().read(start)

    def event(self, event: JsonLine, session: AgentSession) -> Iterator[Finding]:
        value, kind = event.value, event.value.get("type")
        if (title := _TITLES.get(str(kind))) is not None:
            session.name(value.get(title), anew=kind == _CHOSEN_TITLE)
            yield Skipped(ABOUT_SESSION, event.where)
        elif kind == "attachment" and (prompt := _queued_prompt(value)):
            queued = {**value, "type": "user", "message": {"content": prompt}}
            yield from self.event(event._replace(value=queued), session)
        elif kind in _ASIDE:
            yield Skipped(f"a line of type {kind}, which is no message", event.where)
        elif kind not in _SPOKEN:
            yield Unknown("a line of a type that is not known", f"{event.where}: {str(kind)[:40]}")
        elif moment_text(value.get("timestamp")) is None or not value.get("uuid"):
            yield Unknown("a message without an id or a time", event.where)
        else:
            yield from self._message(value, session, event.where)

    def _message(
        self, value: Mapping[str, Any], session: AgentSession, where: str
    ) -> Iterator[Finding]:
        message = value.get("message") or {"content": value.get("content")}
        _count(message, value, session)
        content = message.get("content") or []
        pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = joined(piece["text"] for piece in pieces if piece["type"] == "text")
        thinking = joined(piece["thinking"] for piece in pieces if piece["type"] == "thinking")
        if text or thinking:
            self._hear(value, text, session)
            data = {"role": value["type"], "text": text, "aside": bool(value.get("isSidechain"))}
            yield self._item(
                "messages", value["uuid"], value["timestamp"], data | self._more(value, thinking)
            )
        if not text and not thinking and not set(_kinds(pieces)) - _READ_ELSEWHERE:
            yield Skipped(EMPTY, where)
        for number, piece in enumerate(pieces):
            yield from self._piece(piece, value, f"{value['uuid']}.{number}")

    def _hear(self, value: Mapping[str, Any], text: str, session: AgentSession) -> None:
        session.hear(value["type"], text, value["timestamp"], value["uuid"])
        session.learn("project", value.get("cwd"))
        session.learn("git_branch", value.get("gitBranch"))
        session.learn("version", value.get("version"), anew=True)

    def _more(self, value: Mapping[str, Any], thinking: str) -> dict[str, Any]:
        """Return what not every message has."""
        parent = value.get("parentUuid")
        fields = {
            "thinking": thinking,
            "model": (value.get("message") or {}).get("model"),
            "parent_id": safe_key(self._id, parent) if parent else None,
        }
        return present(fields, "")

    def _piece(
        self, piece: Mapping[str, Any], value: Mapping[str, Any], name: str
    ) -> Iterator[Finding]:
        kind = piece["type"]
        if kind.endswith("tool_use"):
            data = {"tool": piece["name"], "input": spelled(piece.get("input") or {})}
            yield self._item("tool_calls", piece["id"], value["timestamp"], data)
        elif kind.endswith("tool_result"):
            yield from self._result(piece, value)
        elif kind == "image":
            yield from self._picture(piece["source"], value, name)
        elif kind == "document":
            yield Skipped(_DOCUMENT, f"{self._entry.name} {name}")
        elif kind not in _READ_ELSEWHERE:
            where = f"{self._entry.name} {name}: {str(kind)[:40]}"
            yield Unknown("content of a type that is not known", where)

    def _result(self, piece: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[Finding]:
        content, call = piece.get("content") or "", piece["tool_use_id"]
        parts = content if isinstance(content, list) else [content]
        data = {
            "call_id": safe_key(self._id, call),
            "text": joined(map(text_of, parts)),
            "is_error": bool(piece.get("is_error")),
        }
        yield self._item("tool_results", call, value["timestamp"], data)
        for number, part in enumerate(parts):
            kind = part["type"] if isinstance(part, Mapping) else "text"
            if kind == "image":
                yield from self._picture(part["source"], value, f"{call}.{number}")
            elif kind == "document":
                yield Skipped(_DOCUMENT, f"{self._entry.name} {call}.{number}")

    def _picture(
        self, image: Mapping[str, Any], value: Mapping[str, Any], name: str
    ) -> Iterator[Finding]:
        if image.get("type") != "base64":
            yield Skipped(ONLY_LINK, f"{self._entry.name} {name}")
            return
        media_type = str(image.get("media_type", ""))
        yield from self._image(image["data"], media_type, value["timestamp"], name)
