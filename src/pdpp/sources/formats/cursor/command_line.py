"""Chats of Cursor's command line: a database for each, whose rows are called by their content."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pdpp.sources.formats.agent_log import EMPTY
from pdpp.sources.formats.agent_talk import AgentTalk, text_of
from pdpp.sources.formats.cursor.values import moment, parsed, parsed_object
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.sqlitefile import SqliteCopy, columns_of, open_database
from pdpp.sources.reading.tree import FileEntry, Tree

_NAME = "store.db"
_TABLES = {"blobs": frozenset({"id", "data"}), "meta": frozenset({"key", "value"})}
_LISTED = re.compile(rb"\x0a\x20(.{32})", re.DOTALL)
"""How the row that lists a chat's messages names each: as field 1 with 32 bytes."""
_QUERY_BEGINS, _QUERY_ENDS = "<user_query>", "</user_query>"
"""Around what a person typed, between what the program adds to it."""
_UNNAMED = "New Agent"
_PICTURES = frozenset({"image", "file"})
_HIDDEN = frozenset({"redacted-reasoning"})


def chat_stores(tree: Tree) -> list[FileEntry]:
    """Return the databases of a tree that hold a chat each."""
    single = tree.kind == "file"
    likely = list(tree.entries) if single else tree.named(_NAME)
    return [entry for entry in likely if entry.size and _is_store(tree, entry)]


def _is_store(tree: Tree, entry: FileEntry) -> bool:
    columns = columns_of(tree, entry)
    return all(columns.get(table, frozenset()) >= wanted for table, wanted in _TABLES.items())


def read_store(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    """Yield the messages of a chat in their order, and the chat itself."""
    with open_database(tree, entry) as database:
        about = _about(database)
        created = moment(about.get("createdAt"))
        name = str(about.get("agentId") or entry.name.rpartition("/")[0] or entry.base)
        talk = AgentTalk(name, model=about.get("lastUsedModel"))
        title = str(about.get("name") or "")
        talk.title = "" if title == _UNNAMED else title
        rows = {str(row["id"]): _bytes(row["data"]) for row in _rows(database)}
        messages = {row: parsed_object(data) for row, data in rows.items() if data[:1] == b"{"}
        order = _order(rows.get(str(about.get("latestRootBlobId")), b""), messages)
        for message, number in order:
            where = f"{entry.name} {message}"[:120]
            label = message if number == 1 else f"{message}-{number}"
            reading = _message(messages[message], label, created, talk, where)
            yield from account(reading, where, "row")
        for row, data in rows.items():
            if row not in messages:
                yield from account([_left_out(data, f"{entry.name} {row}"[:120])], row, "row")
        yield talk.record(created) or Skipped("a conversation without messages", entry.name)


def _rows(database: SqliteCopy) -> Iterable[Any]:
    return database.rows("SELECT id, data FROM blobs ORDER BY rowid")


def _bytes(data: object) -> bytes:
    return data if isinstance(data, bytes) else str(data or "").encode()


def _about(database: SqliteCopy) -> Mapping[str, Any]:
    """Return what a chat says of itself: JSON, written as digits of sixteen."""
    for row in database.rows("SELECT value FROM meta ORDER BY key"):
        text = _bytes(row["value"])
        with suppress(ValueError):
            text = bytes.fromhex(text.decode("ascii", "replace"))
        if about := parsed_object(text):
            return about
    return {}


def _order(root: bytes, messages: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """Yield the messages as the chat lists them, then those that it lists no more.

    One that was said twice is one row; it is numbered.
    """
    listed = [name for mark in _LISTED.findall(root) if (name := mark.hex()) in messages]
    known = set(listed)
    seen: Counter[str] = Counter()
    for name in [*listed, *(row for row in messages if row not in known)]:
        seen[name] += 1
        yield name, seen[name]


def _left_out(data: bytes, where: str) -> Finding:
    if b'"role"' in data:
        return Unknown("a message in a layout that is not known", where)
    return Skipped("a row about the order of messages", where)


def _message(
    value: Mapping[str, Any], name: str, created: str | None, talk: AgentTalk, where: str
) -> Iterator[Finding]:
    role, content = value.get("role"), value.get("content")
    if not role or created is None:
        yield Unknown("a message without a sender or a time", where)
        return
    if role == "system":
        yield Skipped("instructions that the program gives itself", where)
        return
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    said = False
    for kind, speaker, suffix in (("reasoning", "reasoning", ".thoughts"), ("text", role, "")):
        texts = (piece.get("text") for piece in pieces if piece.get("type") == kind)
        if text := "\n\n".join(filter(None, texts)).strip():
            said = True
            _entitle(talk, text, role)
            yield talk.message(f"{name}{suffix}", str(speaker), text, created)
    for number, piece in enumerate(pieces):
        for finding in _piece(piece, f"{name}.{number}", created, talk, where):
            said = True
            yield finding
    if not said:
        yield Skipped(EMPTY, where)


def _entitle(talk: AgentTalk, text: str, role: str) -> None:
    if role == "user" and not talk.title:
        query, ends, _ = text.partition(_QUERY_BEGINS)[2].partition(_QUERY_ENDS)
        talk.title = " ".join(query.split()) if ends else ""


def _piece(
    piece: Mapping[str, Any], name: str, at: str, talk: AgentTalk, where: str
) -> Iterator[Finding]:
    """Yield what is no text of a message: the use of a tool, or what it gave back."""
    kind = piece.get("type")
    call = str(piece.get("toolCallId") or name)
    if kind == "tool-call":
        yield talk.call(
            call, piece.get("toolName"), parsed(piece.get("args")) or piece.get("args"), at
        )
    elif kind == "tool-result":
        text = text_of(piece.get("result")) or text_of(piece.get("experimental_content"))
        yield talk.result(call, text, at) if text else Skipped(EMPTY, where)
    elif kind in _PICTURES:
        yield Skipped("a picture or file in a message", where)
    elif kind in _HIDDEN:
        yield Skipped("reasoning that is encrypted", where)
    elif kind not in ("text", "reasoning"):
        yield Unknown("content of a type that is not known", f"{where}: {str(kind)[:40]}")
