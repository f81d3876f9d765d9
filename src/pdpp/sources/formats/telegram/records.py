"""Records: what a chat, its messages and the contacts of an account become, from whatever export.

Values have the members of the JSON export. Those of web pages, which name no chat by its id, say
themselves what they are known by (``own_key``).
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from pdpp.sources.formats.telegram.content import kind_of, plain_text, reactions_of, text_of
from pdpp.sources.formats.telegram.peers import chat_id, tells_time
from pdpp.sources.formats.telegram.rich import rich_files
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present, with_file
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.code_words import plain_words
from pdpp.sources.reading.shapes import odd, odd_items
from pdpp.sources.reading.times import epoch_text, local_text
from pdpp.sources.reading.tree import FileEntry, Tree

_MEDIA = ("photo", "file", "contact_vcard")
_NOBODY = "(deleted account)"
_SENT = ("sent_at",)


class ChatReader:
    """The chat that is being read, and how many messages it had so far.

    ``weak`` says that what came in before tells more of it.
    """

    def __init__(
        self, tree: Tree, entry: FileEntry, zone: tzinfo | None, *, weak: bool = False
    ) -> None:
        self._tree = tree
        self._entry = entry
        self._zone = zone
        self._weak = weak
        self._about: dict[str, object] = {}
        self._key: RecordKey | None = None
        self._count = 0
        self._times: tuple[str, str] | None = None

    def learn(self, name: str, value: object) -> Iterator[Finding]:
        """Take what a chat says of itself, which ends the chat before it."""
        if name in self._about or self._count:
            yield from self.close()
        self._about[name] = value

    def close(self) -> Iterator[Finding]:
        """Yield the chat itself when its messages have been read."""
        about, key, count, times = self._about, self._key, self._count, self._times
        self._about, self._key, self._count, self._times = {}, None, 0, None
        if key is None or times is None:
            if "id" in about:
                yield Skipped("a chat without messages", f"{self._entry.name} {about['id']}")
            return
        data = {
            "id": key,
            "name": _chat_name(about),
            "kind": plain_words(str(about.get("type") or "unknown")),
            "message_count": count,
            "started_at": times[0],
            "updated_at": times[1],
        }
        yield Item("chats", key, data, weak=self._weak, floating=("started_at", "updated_at"))

    def message(self, value: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield a message, and the file that came with it."""
        where = f"{self._about.get('id')} {value.get('id')}"[:120]
        if not tells_time(value):
            yield Skipped("a message that Telegram itself could not export", where)
            return
        self._key = chat = self._key or _chat_key(self._about, value)
        sent, floating = self._sent(value)
        if sent is None or not isinstance(value.get("id"), int):
            yield Unknown("a message without an id or a time", where)
            return
        text = text_of(value)
        media = next((value[name] for name in _MEDIA if isinstance(value.get(name), str)), None)
        inside = list(rich_files(value.get("rich_message")))
        if not text and media is None and not inside:
            text = f"[{kind_of(value)}]"
        self._count += 1
        self._times = (
            (min(sent, self._times[0]), max(sent, self._times[1])) if self._times else (sent, sent)
        )
        key = safe_key(chat, str(value.get("own_key") or value["id"]))
        data = _message_data(key, chat, self._about, value, text, sent)
        data |= {"floating": True} if floating else {}
        yield Item("messages", key, data, weak=self._weak, floating=_SENT)
        written = value.get("text")
        if isinstance(written, list):
            yield from odd_items(written, where, (str, dict), text=str)
        else:
            yield from odd(written, where, str)
        about = {"message_id": key, "chat_id": chat, "sent_at": sent}
        if media is not None:
            yield from self._media(key, about, media, value)
        for number, path, facts in inside:
            yield from self._media(safe_key(key, number), about, path, facts)

    def _sent(self, value: Mapping[str, object]) -> tuple[str | None, bool]:
        """Return when a message was sent, and whether that time floats.

        Exports from before 2022 have only the local time of the computer that exported.
        """
        sent = epoch_text(value.get("date_unixtime"))
        if sent is not None:
            return sent, False
        try:
            return local_text(datetime.fromisoformat(str(value.get("date"))), self._zone)
        except ValueError:
            return None, False

    def story(self, value: Mapping[str, object]) -> Iterator[Finding]:
        """Yield a story with its picture."""
        sent, _ = self._sent(value)
        if sent is None:
            yield Unknown("a story without a time", "stories")
            return
        name = str(value.get("media") or "")
        key = digest_key("story", sent, name)
        data = {
            "id": key,
            "caption": plain_text(value.get("text") or value.get("caption")) or None,
            "pinned": bool(value.get("pinned")),
            "name": name.rpartition("/")[2] or None,
            "posted_at": sent,
        }
        entry = self._tree.beside(self._entry, name) if name else None
        story = Item("stories", key, present(data))
        if name:
            opener = None if entry is None else entry.open_exact
            story = with_file(story, opener, entry.media_type if entry else "")
        yield story

    def _media(
        self, key: str, about: Mapping[str, object], name: str, value: Mapping[str, Any]
    ) -> Iterator[Finding]:
        file = self._tree.beside(self._entry, name) if name else None
        if file is None:
            yield Skipped("a file that is not in the export", key[:120])
            return
        given_type = value.get("mime_type")
        media_type = given_type if isinstance(given_type, str) and given_type else file.media_type
        data = {"id": key, **about, "name": file.base, "media_type": media_type}
        files = (Attachment("file", file.open_exact, media_type),)
        yield Item("media", key, data, files, weak=self._weak, floating=_SENT)


def _message_data(
    key: str,
    chat: str,
    about: Mapping[str, object],
    value: Mapping[str, object],
    text: str,
    sent: str,
) -> dict[str, object]:
    data = {
        "id": key,
        "chat_id": chat,
        "chat": _chat_name(about),
        "sender": value.get("from") or value.get("actor"),
        "sender_id": value.get("from_id") or value.get("actor_id"),
        "text": text,
        "service": value.get("type") != "message",
        "reply_to": _answered(chat, value),
        "forwarded_from": value.get("forwarded_from"),
        "media_type": value.get("media_type"),
        "reactions": reactions_of(value) or None,
        "edited_at": epoch_text(value.get("edited_unixtime")),
        "sent_at": sent,
    }
    texts = ("sender", "sender_id", "forwarded_from", "media_type")
    return {
        name: str(field) if name in texts else field
        for name, field in data.items()
        if field is not None
    }


def _answered(chat: str, value: Mapping[str, object]) -> str | None:
    """Return the message that one answers; one of another chat is named as it is there."""
    if value.get("reply_to_peer_id"):
        return None
    if "own_key" in value:
        return safe_key(chat, str(key)) if (key := value.get("answered_key")) else None
    number = value.get("reply_to_message_id")
    return safe_key(chat, str(number)) if isinstance(number, int) else None


def _chat_key(about: Mapping[str, object], message: Mapping[str, object]) -> RecordKey:
    """Return what a chat is known by; one that a program wrote without an id, by its name."""
    number, kind = about.get("id"), about.get("type")
    if isinstance(number, int):
        return safe_key(chat_id(kind, number, message))
    if number is not None:
        return safe_key(str(number))
    return digest_key("chat", str(kind), str(about.get("name")))


def _chat_name(about: Mapping[str, object]) -> str:
    names = {"saved_messages": "Saved messages"}
    return str(about.get("name") or names.get(str(about.get("type"))) or _NOBODY)


def contact(value: Mapping[str, object]) -> Iterator[Finding]:
    """Yield somebody in the address book."""
    name = " ".join(str(value[part]) for part in ("first_name", "last_name") if value.get(part))
    phone = str(value.get("phone_number") or "")
    if not name and not phone:
        yield Unknown("a contact without a name", "contacts")
        return
    key = safe_key(str(value["user_id"])) if value.get("user_id") else safe_key(phone or name)
    data = {"id": key, "name": name or phone, "phone": phone or None}
    yield Item("contacts", key, present(data))
