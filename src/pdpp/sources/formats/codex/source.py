"""Codex: the logs that the coding agent keeps, one or several files of JSON lines for each session.

Since version 0.30 or so a line is ``{timestamp, type, payload}``; before that it was the payload
alone, without a time, after a first line about the session. In spring 2025 a session was one
document, written anew at each message, which is read in ``document``.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.agent_log import (
    ABOUT_SESSION,
    EMPTY,
    ONLY_LINK,
    AgentLog,
    earlier_state,
    logs_of,
    look_at,
    roots_of_homes,
)
from pdpp.sources.formats.agent_session import AgentSession, joined, spelled
from pdpp.sources.formats.agent_talk import text_of
from pdpp.sources.formats.agent_tokens import Tokens, summed
from pdpp.sources.formats.codex.document import (
    latest,
    session_documents,
    session_of,
)
from pdpp.sources.formats.codex.threads import CodexThread, threads_of
from pdpp.sources.item import START, Finding, Item, ResumePoint, Skipped, Unknown
from pdpp.sources.keys import digest_key, safe_key
from pdpp.sources.reading.jsonlines import JsonLine, events, first_objects
from pdpp.sources.reading.jsonstream import read_each
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    AnyPart,
    ExportPart,
    GrowingPart,
    OwnerChoices,
    Recognition,
    Source,
)

_INDEX = "session_index.jsonl"
_ASIDE = frozenset(
    {"event_msg", "turn_context", "compacted", "state", "world_state", "retained_context"}
    | {"inter_agent_communication_metadata", "token_usage_record", "security_risk_score"}
    | {"rollout_reference", "fork_reference"}
)
_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
)
_RESULTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_search_output"}
    | {"local_shell_call_output"}
)
_MARKS = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger"}
    | {"context_compaction", "additional_tools"}
)
"""Items that tell of the program's work: what it kept of files, and when it shortened the talk."""
_MARK = "a mark of the program, which is no message"
_BARE = frozenset({"message", "reasoning"}) | _CALLS | _RESULTS


class Codex(Source):
    """A folder of session logs, or one of them."""

    connector_key = "codex"
    lies_among_others = True
    label = "Codex logs"
    in_place = True
    passed_over = MappingProxyType(
        {
            _INDEX: "names of sessions, kept in the sessions",
            "history.jsonl": "what was typed, which the sessions hold as long as they are kept",
            "*.toml": "settings of Codex",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look at the first lines of the first logs, and for documents of sessions."""
        documents = session_documents(tree)
        seen = look_at([*logs_of(tree), *documents], _layouts)
        if seen is None:
            return None
        return Recognition(
            seen.confidence,
            f"{seen.sessions}, {', '.join(seen.layouts)}",
            account="Codex",
            identity=seen.home,
            owner_known=False,
            detail={"documents": [entry.name for entry in documents]},
        )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return the folders with the logs of a machine each."""
        return roots_of_homes(tree, "sessions", "archived_sessions")

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[AnyPart]:
        """Return one part for each log, and for each document of a session."""
        names = dict(_named_sessions(tree))
        documents = list(tree.these(recognition.detail.get("documents", ())))
        last = latest(documents)
        for entry in documents:
            if entry.name in last:
                yield ExportPart(entry, partial(_read_document, entry, names))
            else:
                yield ExportPart(entry, partial(earlier_state, entry))
        for thread in threads_of(logs_of(tree)):
            for entry in thread.earlier:
                yield ExportPart(entry, partial(earlier_state, entry))
            for entry in (*thread.logs, *thread.apart):
                yield GrowingPart(entry, _CodexLog(entry, names, thread).read)

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the lists with the names of sessions, which lie above the folder of the logs."""
        return [entry.name for entry in tree.named(_INDEX)]


def _layouts(entry: FileEntry) -> set[str]:
    """Return which of the layouts a log has, none where it is not one of these logs."""
    if entry.suffix == ".json":
        return {"documents"}
    for value in first_objects(entry):
        payload = value.get("payload")
        if isinstance(payload, dict) and {"timestamp", "type"} <= value.keys():
            known = value["type"] in ("session_meta", "response_item")
            return {"lines with payloads"} if known else set()
        if {"id", "timestamp", "instructions"} <= value.keys() and "type" not in value:
            return {"plain lines"}
    return set()


def _named_sessions(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield the names that the owner gave sessions, the latest name of each last."""
    for entry in tree.named(_INDEX):
        for line in events(entry):
            if isinstance(line, JsonLine) and line.value.get("thread_name"):
                yield str(line.value.get("id")), str(line.value["thread_name"])


class _CodexLog(AgentLog):
    """Reads one log: messages, tool calls and images."""

    def __init__(self, entry: FileEntry, names: Mapping[str, str], thread: CodexThread) -> None:
        super().__init__(entry, thread.session)
        self._names = names
        self._thread = thread

    def begin(self, start: ResumePoint) -> AgentSession:
        """Return what is known of the session: a log goes on where the one before it ended."""
        if start.offset:
            return super().begin(start)
        session = AgentSession()
        for entry in self._thread.before(self._entry):
            if entry.name not in self._thread.ends:
                with suppress(DamagedFile):  # Told where it is read itself.
                    deque(_CodexLog(entry, self._names, self._thread).read(START), maxlen=0)
            session = AgentSession.resumed(self._thread.ends.get(entry.name, {}))
        # What a line is called depends on its own log alone.
        session.lines, session.moment, session.repeats = 0, "", {}
        return session

    def record(self, session: AgentSession) -> Iterator[Item]:
        """Yield the record of the session at the end of its last log."""
        self._thread.ends[self._entry.name] = session.state()
        if self._thread.ends_with(self._entry):
            yield from super().record(session)

    def event(self, event: JsonLine, session: AgentSession) -> Iterator[Finding]:
        value = event.value
        kind = value.get("type", value.get("record_type"))
        if kind == "session_meta":
            self.meet(value["payload"], session)
            yield Skipped(ABOUT_SESSION, event.where)
        elif kind is None and "instructions" in value:
            self.meet(value, session)
            yield Skipped(ABOUT_SESSION, event.where)
        elif kind in _ASIDE:
            _learn(kind, value.get("payload"), session)
            yield Skipped(f"a line of type {kind}, which is no message", event.where)
        elif kind == "realtime_item":
            yield from self._spoken(value["payload"], event, session)
        elif kind == "response_item":
            yield from self._item_of(event, value["payload"], session)
        elif kind == "inter_agent_communication":
            yield from self._item_of(event, {"type": "agent_message", **value["payload"]}, session)
        elif kind in _BARE:
            yield from self._item_of(event, value, session)
        else:
            yield Unknown("a line of a type that is not known", f"{event.where}: {str(kind)[:40]}")

    def meet(self, about: Mapping[str, Any], session: AgentSession) -> None:
        """Take in the first line of a session."""
        at = moment_text(about.get("timestamp"))
        if at is not None and not session.first:
            session.first = session.last = at
        session.name(self._names.get(self._thread.session))
        git = about.get("git") or {}
        session.learn("project", about.get("cwd"))
        session.learn("git_branch", git.get("branch"))
        session.learn("version", about.get("cli_version"))

    def _item_of(
        self, event: JsonLine, payload: Mapping[str, Any], session: AgentSession
    ) -> Iterator[Finding]:
        at = moment_text(event.value.get("timestamp")) or session.last
        kind = payload.get("type")
        if not at:
            yield Unknown("a message without a time", event.where)
        elif kind == "message":
            yield from self._message(payload["role"], payload["content"], at, session, event)
        elif kind == "agent_message":
            pieces = payload["content"]
            pieces = [{"text": pieces}] if isinstance(pieces, str) else pieces
            yield from self._message("agent", pieces, at, session, event)
        elif kind in _MARKS:
            yield Skipped(_MARK, event.where)
        elif kind == "reasoning":
            thought = [*(payload.get("summary") or ()), *(payload.get("content") or ())]
            yield from self._message("reasoning", thought, at, session, event)
        elif kind == "image_generation_call" and payload.get("result"):
            name = str(payload.get("id") or _name_of(event, session, payload["result"]))
            yield from self._image(payload["result"], "image/png", at, name)
        elif kind in _CALLS:
            data = {"tool": _tool(payload), "input": _input(payload)}
            name = str(payload.get("call_id") or _name_of(event, session, *data.values()))
            yield self._item("tool_calls", name, at, data)
        elif kind in _RESULTS:
            call = safe_key(self._id, payload["call_id"])
            data = {"call_id": call, "text": _output(payload.get("output", payload.get("tools")))}
            yield self._item("tool_results", payload["call_id"], at, data)
            yield from self._images(payload.get("output"), at, payload["call_id"], event.where)
        else:
            where = f"{event.where}: {str(kind)[:40]}"
            yield Unknown("content of a type that is not known", where)

    def _spoken(
        self, payload: Mapping[str, Any], event: JsonLine, session: AgentSession
    ) -> Iterator[Finding]:
        """Yield a piece of what was said aloud."""
        if payload.get("type") == "transcript_segment":
            at = moment_text(event.value.get("timestamp")) or session.last
            yield from self._message(payload["role"], [payload], at, session, event)
        else:
            yield Skipped(_MARK, event.where)

    def _message(
        self, role: str, pieces: Any, at: str, session: AgentSession, event: JsonLine
    ) -> Iterator[Finding]:
        text = _texts(pieces)
        name = _name_of(event, session, role, text)
        images = list(self._images(pieces, at, name, event.where))
        if text:
            session.hear(role, text, at)
            yield self._item("messages", name, at, {"role": role, "text": text})
        elif not images:
            yield Skipped(EMPTY, event.where)
        yield from images

    def _images(self, pieces: Any, at: str, name: str, where: str) -> Iterator[Finding]:
        """Yield the images among the pieces of a message, or of what a tool gave back."""
        for number, piece in enumerate(pieces if isinstance(pieces, list) else ()):
            if not isinstance(piece, Mapping) or piece.get("type") != "input_image":
                continue
            head, _, encoded = str(piece.get("image_url") or "").partition(";base64,")
            if head.startswith("data:"):
                media_type = head.removeprefix("data:")
                yield from self._image(encoded, media_type, at, f"{name}.{number}")
            else:
                yield Skipped(ONLY_LINK, where)


def _name_of(event: JsonLine, session: AgentSession, *said: str) -> str:
    """Return a name for what a line says; lines have none.

    The number of a line is none either: Codex writes logs of older versions anew, with more lines
    and without some, and a log that was copied goes on differently on two machines.
    """
    moment = str(event.value.get("timestamp") or f"line {session.lines}")
    name = str(digest_key(moment, *said))
    number = session.repeat(moment, name)
    return name if number == 1 else f"{name}-{number}"


def _learn(kind: str, payload: object, session: AgentSession) -> None:
    """Take in what a line beside the messages tells of the session: its model and its tokens."""
    about = payload if isinstance(payload, Mapping) else {}
    if kind == "turn_context":
        session.learn("model", about.get("model"), anew=True)
    elif about.get("type") == "token_count" and isinstance(about.get("info"), Mapping):
        # The same total is told again whenever a limit changes.
        told = about["info"].get("total_token_usage")
        into, cached = summed(told, "input_tokens"), summed(told, "cached_input_tokens")
        session.tokens.take_total(Tokens(into, cached, summed(told, "output_tokens")))


def _read_document(entry: FileEntry, names: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the messages of a session that is one document, and the session at the end."""
    about = session_of(entry)
    log = _CodexLog(entry, names, CodexThread(str(about["id"]), [entry]))
    session = AgentSession()
    log.meet(about, session)

    def read(value: dict[str, Any], where: str) -> Iterator[Finding]:
        session.lines += 1
        return log.event(JsonLine(value, where, 0, closed=True), session)

    yield from read_each(entry, read, "items.item", noun="message")
    yield from log.record(session)


def _texts(pieces: Any) -> str:
    return joined(piece["text"] for piece in pieces or () if "text" in piece)


def _tool(payload: Mapping[str, Any]) -> str:
    return str(payload.get("name") or str(payload["type"]).removesuffix("_call"))


def _input(payload: Mapping[str, Any]) -> str:
    """Return what a tool was given; its arguments are JSON inside a string."""
    given = payload.get("arguments", payload.get("input", payload.get("action", "")))
    if not isinstance(given, str):
        return spelled(given)
    try:
        return spelled(read_json(given.encode()))
    except NotJson:
        return given


def _output(output: Any) -> str:
    """Return what a tool gave back; older versions wrap it in JSON inside a string."""
    if isinstance(output, list):
        return joined(text_of(piece) or str(piece.get("name") or "") for piece in output)
    if isinstance(output, Mapping):
        return text_of(output)
    text = str(output or "")
    if text.startswith('{"output"'):
        try:
            return str(read_json(text.encode())["output"])
        except (NotJson, LookupError, TypeError):
            return text
    return text
