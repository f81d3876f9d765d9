"""Design chats of Claude.ai: conversations about a design, which are laid out differently."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pdpp.sources.formats.claude_ai.blocks import (
    UNTITLED,
    Artifacts,
    Blocks,
    counted_messages,
    joined,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.times import moment_text


def read_design_chat(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield a chat about a design, with the files it wrote and what was given to it."""
    began = moment_text(value.get("created_at"))
    if not value.get("uuid") or began is None:
        yield Unknown("a conversation without an id or a time", where)
        return
    key = safe_key(str(value["uuid"]))
    artifacts = Artifacts(key)

    def read(message: Any, place: str) -> Iterator[Finding]:
        return _message(artifacts, message, began, place)

    count, found = counted_messages(value["messages"], read, where)
    data = {
        "id": key,
        "title": str(value.get("title") or UNTITLED),
        "message_count": count,
        "started_at": began,
        "updated_at": moment_text(value.get("updated_at")) or began,
    }
    yield Item("conversations", key, data)
    yield from found
    yield from artifacts.items()


def _message(
    artifacts: Artifacts, value: Mapping[str, object], began: str, where: str
) -> Iterator[Finding]:
    uuid, content = value.get("uuid"), value.get("content")
    if not uuid or not isinstance(content, Mapping):
        yield Unknown("a message without an id", where)
        return
    key = safe_key(artifacts.conversation, str(uuid))
    sent = moment_text(value.get("created_at")) or began
    blocks = Blocks(artifacts, key, sent)
    for number, block in enumerate(content.get("contentBlocks") or (), 1):
        yield from _block(blocks, block, number, where)
    text = joined(blocks.said) or str(content.get("content") or "").strip()
    thinking = joined(blocks.thought)
    given = [piece for piece in content.get("attachments") or () if isinstance(piece, Mapping)]
    if text or thinking or given:
        data = {
            "id": key,
            "conversation_id": artifacts.conversation,
            "role": str(value.get("role") or "unknown"),
            "text": text,
            "thinking": thinking or None,
            "file_names": [_name(piece) for piece in given] or None,
            "visible": True,
            "sent_at": sent,
        }
        yield Item("messages", key, present(data))
    else:
        yield Skipped("an empty message", where)
    yield from blocks.call_items(artifacts.conversation)
    yield from _attachments(key, artifacts.conversation, given, sent, where)


def _block(blocks: Blocks, block: Mapping[str, Any], number: int, where: str) -> Iterator[Finding]:
    """Take in a block; calls of tools hold their answer, and people may break in."""
    kind = block.get("type")
    call = block.get("toolCall") if kind == "tool_call" else None
    if isinstance(call, Mapping):
        name = str(call.get("id") or number)
        yield from blocks.take([{"type": "tool_use", **call, "id": name}], where)
        answer = {"type": "tool_result", "tool_use_id": name, "name": call.get("name")}
        yield from blocks.take([{**answer, "content": call.get("output")}], where)
    elif kind in ("user_interjection", "error"):
        blocks.said.append(block.get("message") or block.get("error"))
    else:
        yield from blocks.take([block], where)


def _attachments(
    message: RecordKey,
    conversation: RecordKey,
    given: Sequence[Mapping[str, Any]],
    sent: str,
    where: str,
) -> Iterator[Finding]:
    """Yield what was given to a message; of files an export may hold the name alone."""
    for number, piece in enumerate(given, 1):
        text = piece.get("content")
        if not isinstance(text, str) or not text:
            yield Skipped("a file that the export only names", where)
            continue
        key = safe_key(message, str(number))
        data = {
            "id": key,
            "message_id": message,
            "conversation_id": conversation,
            "name": _name(piece),
            "media_type": "text/plain",
            "text": text,
            "sent_at": sent,
        }
        yield Item("attachments", key, data)


def _name(piece: Mapping[str, Any]) -> str:
    names = (piece.get(name) for name in ("name", "fileName", "title", "path", "type"))
    return next((str(name) for name in names if name), "(no name)")
