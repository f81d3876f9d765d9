"""Telegram Desktop exports in their machine-readable form."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)

_HTML = ExportRefusal(
    "this is Telegram's export as web pages, which cannot be read back without loss; export again "
    "from Telegram Desktop and choose “Machine-readable JSON”"
)
_MEDIA = ("photo", "file")
_PLACES = ("chats.list.item", "left_chats.list.item")
_ABOUT = ("name", "type", "id")


class Telegram(Source):
    """``result.json`` of a whole account or of one chat, with the files beside it."""

    connector_key = "telegram"
    passed_over = MappingProxyType(
        {
            "*_thumb.jpg": "a small form of a picture",
            "export_results.html": "the list of contents as a web page",
            "lists/*.html": "a list as a web page",
        }
    )
    label = "Telegram Desktop export"

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:  # noqa: ARG002
        """Look for chats with Telegram's dates, or for its web pages."""
        for entry in tree.named("result.json", "*.json"):
            head = entry.head()
            if b'"date_unixtime"' in head and b'"messages"' in head and b'"from_id"' in head:
                return _recognition(entry, head)
            if b'"chats"' in head and b'"personal_information"' in head:
                return _recognition(entry, head)
        pages = tree.named("messages.html", "export_results.html")
        return (
            _HTML
            if any(b"tgme" in page.head() or b"Telegram" in page.head() for page in pages)
            else None
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return the one document."""
        entry = tree.get(recognition.detail["entry"])
        if entry is not None:
            yield ExportPart(entry, partial(_read, tree, entry, recognition.detail["whole"]))


def _recognition(entry: FileEntry, head: bytes) -> Recognition:
    whole = b'"chats"' in head
    facts = _facts(entry, whole)
    account = facts.get("name") or "Telegram"
    return Recognition(
        Confidence.CERTAIN,
        "a whole account" if whole else "one chat",
        account=f"Telegram ({account})" if facts.get("name") else "Telegram",
        identity=str(facts.get("id") or account),
        detail={"entry": entry.name, "whole": whole},
    )


def _facts(entry: FileEntry, whole: bool) -> Mapping[str, Any]:
    """Return whose export this is, from the beginning of the document."""
    wanted = (
        ("personal_information.first_name", "personal_information.user_id")
        if whole
        else ("name", "id")
    )
    found: dict[str, Any] = {}
    with entry.open() as stream:
        for element in elements(stream, *wanted, "chats", "messages"):
            if isinstance(element, Skipped) or element.path in ("chats", "messages"):
                break
            found["id" if element.path.endswith("id") else "name"] = element.value
            if len(found) == len(wanted):
                break
    return found


def _read(tree: Tree, entry: FileEntry, whole: bool) -> Iterator[Finding]:
    """Read chat after chat; what a chat says of itself stands before its messages."""
    tops = _PLACES if whole else ("",)
    paths = [_path(top, name) for top in tops for name in (*_ABOUT, "messages.item")]
    if whole:
        paths.append("contacts.list.item")
    reader = _Reader(tree, entry)
    with entry.open() as stream:
        for found in elements(stream, *paths):
            if isinstance(found, Skipped):
                yield found
            else:
                where = f"{entry.name} {found.path} {found.number}"
                taken = reader.take(found.path, found.value)
                unit = _unit(found.path)
                yield from account(taken, where, unit) if unit else taken
    yield from reader.close()


def _unit(path: str) -> str | None:
    """Return what a path leads to; None for what a chat says of itself."""
    if path.endswith("messages.item"):
        return "message"
    return "contact" if path == "contacts.list.item" else None


def _path(top: str, name: str) -> str:
    return f"{top}.{name}" if top else name


class _Reader:
    """The chat that is being read, and how many messages it had so far."""

    def __init__(self, tree: Tree, entry: FileEntry) -> None:
        self._tree = tree
        self._entry = entry
        self._about: dict[str, Any] = {}
        self._count = 0
        self._times: tuple[str, str] | None = None

    def take(self, path: str, value: Any) -> Iterator[Finding]:
        """Yield what one value of the document tells."""
        name = path.rpartition(".")[2]
        if path == "contacts.list.item":
            yield from _contact(value)
        elif name in _ABOUT:
            if name in self._about or self._count:
                yield from self.close()
            self._about[name] = value
        else:
            yield from self._message(value)

    def close(self) -> Iterator[Finding]:
        """Yield the chat itself when its messages have been read."""
        about, count, times = self._about, self._count, self._times
        self._about, self._count, self._times = {}, 0, None
        if times is None:
            return
        key = _chat_key(about)
        data = {
            "id": key,
            "name": _chat_name(about),
            "kind": str(about.get("type") or "unknown"),
            "message_count": count,
            "started_at": times[0],
            "updated_at": times[1],
        }
        yield Item("chats", key, data)

    def _message(self, value: Mapping[str, Any]) -> Iterator[Finding]:
        sent = epoch_text(value.get("date_unixtime"))
        where = f"{_chat_key(self._about)} {value.get('id')}"[:120]
        if sent is None or not isinstance(value.get("id"), int):
            yield Unknown("a message without an id or a time", where)
            return
        chat, text = _chat_key(self._about), _text(value.get("text"))
        service = value.get("type") != "message"
        if service:
            text = text or str(value.get("action") or "").replace("_", " ")
        media = next((value[name] for name in _MEDIA if isinstance(value.get(name), str)), None)
        if not text and media is None:
            text = f"[{value.get('media_type') or _kind(value)}]"
        self._count += 1
        self._times = (
            (min(sent, self._times[0]), max(sent, self._times[1])) if self._times else (sent, sent)
        )
        key = safe_key(chat, str(value["id"]))
        yield Item("messages", key, _message_data(key, chat, self._about, value, text, sent))
        if media is not None:
            yield from self._media(key, chat, media, value, sent)

    def _media(
        self, message: str, chat: str, name: str, value: Mapping[str, Any], sent: str
    ) -> Iterator[Finding]:
        found = self._tree.beside(self._entry, name)
        if found is None:
            yield Skipped("a file that is not in the export", message[:120])
            return
        told = value.get("mime_type")
        media_type = told if isinstance(told, str) and told else found.media_type
        data = {
            "id": message,
            "message_id": message,
            "chat_id": chat,
            "name": found.base,
            "media_type": media_type,
            "sent_at": sent,
        }
        yield Item("media", message, data, (Attachment("file", found.open, media_type),))


def _message_data(
    key: str, chat: str, about: Mapping[str, Any], value: Mapping[str, Any], text: str, sent: str
) -> dict[str, Any]:
    answered = value.get("reply_to_message_id")
    data = {
        "id": key,
        "chat_id": chat,
        "chat": _chat_name(about),
        "sender": value.get("from") or value.get("actor"),
        "sender_id": value.get("from_id") or value.get("actor_id"),
        "text": text,
        "service": value.get("type") != "message",
        "reply_to": safe_key(chat, str(answered)) if isinstance(answered, int) else None,
        "forwarded_from": value.get("forwarded_from"),
        "media_type": value.get("media_type"),
        "edited_at": epoch_text(value.get("edited_unixtime")),
        "sent_at": sent,
    }
    texts = ("sender", "sender_id", "forwarded_from", "media_type")
    return {
        name: str(found) if name in texts else found
        for name, found in data.items()
        if found is not None
    }


def _chat_key(about: Mapping[str, Any]) -> str:
    return safe_key(str(about.get("id", "chat")))


def _chat_name(about: Mapping[str, Any]) -> str:
    names = {"saved_messages": "Saved messages"}
    return str(about.get("name") or names.get(str(about.get("type"))) or "(deleted account)")


def _kind(value: Mapping[str, Any]) -> str:
    """Return what a message without words is."""
    known = ("location_information", "contact_information", "poll", "game_title", "sticker_emoji")
    return next((name.split("_")[0] for name in known if name in value), "no text")


def _text(value: Any) -> str:
    """Return a text, which is a string or a list of strings and marked pieces."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    pieces = (piece.get("text") if isinstance(piece, dict) else piece for piece in value)
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _contact(value: Mapping[str, Any]) -> Iterator[Finding]:
    name = " ".join(str(value[part]) for part in ("first_name", "last_name") if value.get(part))
    phone = str(value.get("phone_number") or "")
    if not name and not phone:
        yield Unknown("a contact without a name", "contacts")
        return
    key = safe_key(str(value["user_id"])) if value.get("user_id") else safe_key(phone or name)
    data = {"id": key, "name": name or phone, "phone": phone or None}
    yield Item("contacts", key, present(data))
