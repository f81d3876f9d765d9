"""Canvas documents: texts that ChatGPT wrote beside a conversation and changed step by step."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.times import moment_text

_CREATE, _UPDATE = "canmore.create_textdoc", "canmore.update_textdoc"
_WHOLE = frozenset({".*", "(?s).*", "^.*$", "[\\s\\S]*"})
_LONGEST_PATTERN = 1_000


@dataclass(slots=True)
class _Document:
    message: RecordKey
    title: str
    kind: str
    text: str
    created_at: str
    updated_at: str
    versions: int = 1


@dataclass(slots=True)
class Canvas:
    """The documents of one conversation, in the order in which they were made."""

    conversation: RecordKey
    documents: list[_Document] = field(default_factory=list)

    def take(self, message: Mapping[str, object], key: RecordKey, text: str, at: str) -> None:
        """Apply a message that goes to the canvas; others are no concern of it."""
        recipient = message.get("recipient")
        if recipient not in (_CREATE, _UPDATE):
            return
        try:
            given = read_json(text.encode("utf-8", "replace"))
        except NotJson:
            return
        if not isinstance(given, dict):
            return
        if recipient == _CREATE:
            title, kind = (
                str(given.get("name") or "(no title)"),
                str(given.get("type") or "document"),
            )
            content = str(given.get("content") or "")
            self.documents.append(_Document(key, title, kind, content, at, at))
        elif self.documents:
            _update(self.documents[-1], given.get("updates"), at)

    def items(self) -> Iterator[Item]:
        """Yield every document in its last version."""
        for number, document in enumerate(self.documents, 1):
            key = safe_key(self.conversation, "document", str(number))
            data = {
                "id": key,
                "conversation_id": self.conversation,
                "message_id": document.message,
                "title": document.title,
                "kind": document.kind,
                "text": document.text,
                "versions": document.versions,
                "created_at": document.created_at,
                "updated_at": document.updated_at,
            }
            yield Item("documents", key, present(data))


def read_document(value: Mapping[str, object], where: str) -> Iterator[Finding]:
    """Yield a document that is a file of its own."""
    text = value.get("content")
    if not value.get("id") or not isinstance(text, str):
        yield Unknown("a document without an id or a text", where)
        return
    key = safe_key("document", str(value["id"]))
    created = moment_text(value.get("created_at"))
    data = {
        "id": key,
        "title": str(value.get("title") or value.get("name") or "(no title)"),
        "kind": str(value.get("textdoc_type") or value.get("type") or "document"),
        "text": text,
        "versions": 1,
        "created_at": created,
        "updated_at": moment_text(value.get("updated_at")) or created,
    }
    yield Item("documents", key, present(data))


def _update(document: _Document, updates: object, at: str) -> None:
    document.versions += 1
    document.updated_at = at
    for update in updates if isinstance(updates, list) else ():
        if isinstance(update, dict):
            _replace(document, update)


def _replace(document: _Document, update: Mapping[str, object]) -> None:
    """Replace what a pattern means; patterns come from a stranger and are never run as such.

    Nearly all of them mean the whole text, or quote a piece of it.
    """
    pattern, replacement = str(update.get("pattern") or ""), str(update.get("replacement") or "")
    if pattern in _WHOLE:
        document.text = replacement
    elif len(pattern) <= _LONGEST_PATTERN:
        literal = re.sub(r"\\(.)", r"\1", pattern)
        count = -1 if update.get("multiple") else 1
        document.text = document.text.replace(literal, replacement, count)
