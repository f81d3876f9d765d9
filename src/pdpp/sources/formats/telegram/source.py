"""Telegram Desktop exports in their machine-readable form."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, tzinfo
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.telegram.content import kind_of, plain_text, reactions_of, text_of
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.structure import candidates, json_paths
from pdpp.sources.reading.times import epoch_text, local_text, zone_named
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
_MEDIA = ("photo", "file", "contact_vcard")
_MEMBERS = (
    *("chats.list", "personal_information", "contacts", "type"),
    *("messages.item.id", "messages.item.type", "messages.item.date"),
)
_PLACES = ("chats.list.item", "left_chats.list.item")
_ABOUT = ("name", "type", "id")
_LEFT_OUT = MappingProxyType(
    {
        "personal_information": "what the account says of its owner",
        "profile_pictures.item": "a picture of the owner",
        "frequent_contacts.list.item": "how often somebody was written to",
        "sessions.list.item": "a device that was logged in",
        "web_sessions.list.item": "a site that was logged in to",
        "other_data": "what Telegram keeps beside chats",
    }
)
"""What an account holds and no record is made of."""


class Telegram(Source):
    """``result.json`` of a whole account or of one chat, with the files beside it."""

    connector_key = "telegram"
    own_folders = (
        "chats",
        "photos",
        "files",
        "video_files",
        "voice_messages",
        "round_video_messages",
        "stickers",
        "contacts",
        "profile_pictures",
        "stories",
        "lists",
        "images",
        "css",
        "js",
    )
    collects = True
    passed_over = MappingProxyType(
        {
            "*_thumb.jpg": "a small form of a picture",
            "stickers/*": "a sign inside a text, or below it",
            "export_results.html": "the list of contents as a web page",
            "lists/*.html": "a list as a web page",
            "profile_pictures/*": "a picture of the owner",
        }
    )
    label = "Telegram Desktop export"

    settings = MappingProxyType(
        {"time_zone": "Zone of the computer that exported; older exports do not tell it."}
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:
        """Look for documents with the members of an account or of a chat, or for web pages."""
        documents = {
            entry.name: whole
            for entry in candidates(tree, "result*.json", "*.json")
            if (whole := _is_whole(entry)) is not None
        }
        if not documents:
            pages = tree.named("messages.html", "export_results.html")
            named = (b"tgme" in page.head() or b"Telegram" in page.head() for page in pages)
            return _HTML if any(named) else None
        zone_named(choices.given.get("time_zone"))
        return _recognition(tree, documents, choices.given.get("time_zone"))

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each document."""
        zone = zone_named(recognition.detail["time_zone"])
        documents = recognition.detail["documents"]
        for entry in tree.these(documents):
            yield ExportPart(entry, partial(_read, tree, entry, documents[entry.name], zone))


def _is_whole(entry: FileEntry) -> bool | None:
    """Tell an account from a chat; None where a document is neither.

    The chats of an account can begin after megabytes of contacts, so keys are streamed.
    """
    members = json_paths(entry, _MEMBERS)
    if members >= {"chats.list"} or members >= {"personal_information", "contacts"}:
        return True
    if members >= {"messages.item.id", "messages.item.type", "messages.item.date", "type"}:
        return False
    return None


def _recognition(tree: Tree, documents: Mapping[str, bool], zone: str | None) -> Recognition:
    facts = [_facts(entry, documents[entry.name]) for entry in tree.these(documents)]
    owners = [fact for fact, whole in zip(facts, documents.values(), strict=True) if whole]
    known = next((fact for fact in owners if fact.get("id")), {})
    # A chat alone names nobody but the other side: all such chats are one collection.
    names = {str(fact["name"]) for fact in owners if fact.get("name")}
    account = names.pop() if len(names) == 1 else ""
    if len(documents) == 1:
        version = "a whole account" if owners else "one chat"
    else:
        version = f"{len(documents)} documents"
    return Recognition(
        Confidence.CERTAIN,
        version,
        account=f"Telegram ({account})" if account else "Telegram",
        identity=str(known.get("id") or ""),
        owner_known=bool(known),
        detail={"documents": dict(documents), "time_zone": zone},
    )


def _facts(entry: FileEntry, whole: bool) -> Mapping[str, object]:
    """Return whose export this is, from what stands before the messages."""
    wanted = (
        ("personal_information.first_name", "personal_information.user_id")
        if whole
        else ("name", "id")
    )
    facts: dict[str, object] = {}
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, *wanted, "chats", "messages"):
            if isinstance(element, Skipped) or element.path in ("chats", "messages"):
                break
            facts["id" if element.path.endswith("id") else "name"] = element.value
            if len(facts) == len(wanted):
                break
    return facts


def _read(tree: Tree, entry: FileEntry, whole: bool, zone: tzinfo | None) -> Iterator[Finding]:
    """Read chat after chat; what a chat says of itself stands before its messages."""
    tops = _PLACES if whole else ("",)
    paths = [_path(top, name) for top in tops for name in (*_ABOUT, "messages.item")]
    if whole:
        paths += ["contacts.list.item", "stories.item", *_LEFT_OUT]
    reader = _Reader(tree, entry, zone)
    with entry.open() as stream:
        for element in elements(stream, *paths):
            if isinstance(element, Skipped):
                yield element
            else:
                where = f"{entry.name} {element.path} {element.number}"
                if element.path in _LEFT_OUT:
                    yield Skipped(_LEFT_OUT[element.path], where)
                    continue
                taken = reader.take(element.path, element.value)
                unit = _unit(element.path)
                yield from account(taken, where, unit) if unit else taken
    yield from reader.close()


def _unit(path: str) -> str | None:
    """Return what a path leads to; None for what a chat says of itself."""
    if path.endswith("messages.item"):
        return "message"
    return {"contacts.list.item": "contact", "stories.item": "story"}.get(path)


def _path(top: str, name: str) -> str:
    return f"{top}.{name}" if top else name


class _Reader:
    """The chat that is being read, and how many messages it had so far."""

    def __init__(self, tree: Tree, entry: FileEntry, zone: tzinfo | None) -> None:
        self._tree = tree
        self._entry = entry
        self._zone = zone
        self._about: dict[str, object] = {}
        self._count = 0
        self._times: tuple[str, str] | None = None

    def take(self, path: str, value: Any) -> Iterator[Finding]:
        """Yield what one value of the document tells."""
        name = path.rpartition(".")[2]
        if path == "contacts.list.item":
            yield from _contact(value)
        elif path == "stories.item":
            yield from self._story(value)
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
            if "id" in about:
                yield Skipped("a chat without messages", f"{self._entry.name} {about['id']}")
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
        chat = _chat_key(self._about)
        where = f"{chat} {value.get('id')}"[:120]
        if value.get("type") == "unsupported":
            yield Skipped("a message that Telegram itself could not export", where)
            return
        sent, floating = self._sent(value)
        if sent is None or not isinstance(value.get("id"), int):
            yield Unknown("a message without an id or a time", where)
            return
        text = text_of(value)
        media = next((value[name] for name in _MEDIA if isinstance(value.get(name), str)), None)
        if not text and media is None:
            text = f"[{kind_of(value)}]"
        self._count += 1
        self._times = (
            (min(sent, self._times[0]), max(sent, self._times[1])) if self._times else (sent, sent)
        )
        key = safe_key(chat, str(value["id"]))
        data = _message_data(key, chat, self._about, value, text, sent)
        yield Item("messages", key, {**data, "floating": True} if floating else data)
        if media is not None:
            yield from self._media(key, chat, media, value, sent)

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

    def _story(self, value: Mapping[str, object]) -> Iterator[Finding]:
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
        files = () if entry is None else (Attachment("file", entry.open, entry.media_type),)
        yield Item("stories", key, present(data), files)

    def _media(
        self, message: str, chat: str, name: str, value: Mapping[str, Any], sent: str
    ) -> Iterator[Finding]:
        file = self._tree.beside(self._entry, name)
        if file is None:
            yield Skipped("a file that is not in the export", message[:120])
            return
        given_type = value.get("mime_type")
        media_type = given_type if isinstance(given_type, str) and given_type else file.media_type
        data = {
            "id": message,
            "message_id": message,
            "chat_id": chat,
            "name": file.base,
            "media_type": media_type,
            "sent_at": sent,
        }
        yield Item("media", message, data, (Attachment("file", file.open, media_type),))


def _message_data(
    key: str,
    chat: str,
    about: Mapping[str, object],
    value: Mapping[str, object],
    text: str,
    sent: str,
) -> dict[str, object]:
    # An answer to a message of another chat names the message there.
    answered = value.get("reply_to_message_id") if not value.get("reply_to_peer_id") else None
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


def _chat_key(about: Mapping[str, object]) -> str:
    return safe_key(str(about.get("id", "chat")))


def _chat_name(about: Mapping[str, object]) -> str:
    names = {"saved_messages": "Saved messages"}
    return str(about.get("name") or names.get(str(about.get("type"))) or "(deleted account)")


def _contact(value: Mapping[str, object]) -> Iterator[Finding]:
    name = " ".join(str(value[part]) for part in ("first_name", "last_name") if value.get(part))
    phone = str(value.get("phone_number") or "")
    if not name and not phone:
        yield Unknown("a contact without a name", "contacts")
        return
    key = safe_key(str(value["user_id"])) if value.get("user_id") else safe_key(phone or name)
    data = {"id": key, "name": name or phone, "phone": phone or None}
    yield Item("contacts", key, present(data))
