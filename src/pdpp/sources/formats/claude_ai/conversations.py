"""Conversations of Claude.ai: trees of messages, of which the newest branch is the visible one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pdpp.sources.formats.claude_ai.blocks import (
    UNTITLED,
    Artifacts,
    Blocks,
    counted_messages,
    joined,
    parsed,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.shapes import odd_items
from pdpp.sources.reading.times import moment_text

_ROLES = {"human": "user"}
_UNSUPPORTED = "This block is not supported on your current device yet."


@dataclass(slots=True)
class ConversationReader:
    """Reads conversations; one that stands in two files counts in its newest state."""

    _updated: dict[str, str] = field(default_factory=dict)

    def read(self, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        """Yield a conversation with its messages, artifacts, tool calls and attachments."""
        began = moment_text(value.get("created_at"))
        if not value.get("uuid") or began is None:
            yield Unknown("a conversation without an id or a time", where)
            return
        updated = moment_text(value.get("updated_at")) or began
        name = str(value["uuid"])
        if self._updated.setdefault(name, updated) > updated:
            yield Skipped("an older copy of a conversation that stands twice", where)
            return
        self._updated[name] = updated
        key = safe_key(name)
        artifacts = Artifacts(key)
        messages = value["chat_messages"]
        branch = visible_branch(messages)

        def read(message: Any, place: str) -> Iterator[Finding]:
            return _message(key, message, began, artifacts, branch, place)

        count, found = counted_messages(messages, read, where)
        data = {
            "id": key,
            "title": str(value.get("name") or UNTITLED),
            "summary": value.get("summary") or None,
            "message_count": count,
            "started_at": began,
            "updated_at": updated,
        }
        # First, because it tells which state of it the messages are of.
        yield Item("conversations", key, present(data))
        yield from found
        yield from artifacts.items()


def visible_branch(messages: Sequence[object]) -> frozenset[str] | None:
    """Return the messages from the newest one back to the first; None where there are no branches.

    Nothing marks the branch that is shown; Claude shows the one that was written to last.
    """
    parents = {
        str(message["uuid"]): message.get("parent_message_uuid")
        for message in messages
        if isinstance(message, Mapping) and message.get("uuid")
    }
    if not any(parent in parents for parent in parents.values()):
        return None
    # Of two that were written at once the later in the file is the answer to the other.
    dated = [message for message in reversed(messages) if isinstance(message, Mapping)]
    newest = max(dated, key=lambda message: str(message.get("created_at") or ""))
    branch: set[str] = set()
    current: object = newest.get("uuid")
    while isinstance(current, str) and current in parents and current not in branch:
        branch.add(current)
        current = parents[current]
    return frozenset(branch)


def _message(
    conversation: RecordKey,
    value: Mapping[str, Any],
    began: str,
    artifacts: Artifacts,
    branch: frozenset[str] | None,
    where: str,
) -> Iterator[Finding]:
    uuid = value.get("uuid")
    if not uuid:
        yield Unknown("a message without an id", where)
        return
    key = safe_key(conversation, str(uuid))
    sent = moment_text(value.get("created_at")) or began
    blocks = Blocks(artifacts, key, sent)
    yield from blocks.take(value.get("content") or [], where)
    text = joined(blocks.said) or _plain_text(value)
    thinking = joined(blocks.thought)
    yield from odd_items(value.get("attachments"), where, extracted_content=str)
    yield from odd_items(value.get("files"), where)
    attachments = [item for item in value.get("attachments") or () if isinstance(item, dict)]
    files = [item for item in value.get("files") or () if isinstance(item, dict)]
    names = [*blocks.files, *(str(file.get("file_name")) for file in files)]
    if text or thinking or (names and not attachments):
        parent = value.get("parent_message_uuid")
        data = {
            "id": key,
            "conversation_id": conversation,
            "parent_id": safe_key(conversation, parent) if branch and parent else None,
            "role": _ROLES.get(str(value.get("sender")), str(value.get("sender"))),
            "text": text,
            "thinking": thinking or None,
            "file_names": list(dict.fromkeys(names)) or None,
            "visible": branch is None or str(uuid) in branch,
            "sent_at": sent,
        }
        yield Item("messages", key, present(data))
    elif not attachments:
        yield Skipped("an empty message", where)
    yield from blocks.call_items(conversation)
    given = {item.get("file_name") for item in attachments}
    if any(file.get("file_name") not in given for file in files):
        yield Skipped("a file that the export only names", where)
    for number, attachment in enumerate(attachments, 1):
        yield _attachment(key, conversation, number, attachment, sent)


def _plain_text(value: Mapping[str, object]) -> str:
    """Return the text of an older message, which has no blocks."""
    if parsed(value.get("content")):
        return ""
    return str(value.get("text") or "").replace(_UNSUPPORTED, "").strip()


def _attachment(
    message: RecordKey, conversation: RecordKey, number: int, value: Mapping[str, Any], sent: str
) -> Item:
    """Return a document that was pasted or given; its text is in the export."""
    key = safe_key(message, str(number))
    data = {
        "id": key,
        "message_id": message,
        "conversation_id": conversation,
        "name": str(value.get("file_name") or "(pasted text)"),
        "media_type": str(value.get("file_type") or "text/plain"),
        "text": str(value.get("extracted_content") or ""),
        "sent_at": sent,
    }
    return Item("attachments", key, data)
