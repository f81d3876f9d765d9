"""Signal: the plain export that the app writes since 2026, one line for each thing."""

import hashlib
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.sources.formats.signal.frames import frames
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonlines import first_objects
from pdpp.sources.reading.shapes import odd_among, odd_members
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
    roots_of_exports,
)

_ABOUT = "a line about the account, a person or a chat, kept in the records of chats"
_ASIDE = frozenset({"stickerPack", "adHocCall", "notificationProfile", "chatFolder"})
_SAYING = (
    *("standardMessage", "stickerMessage", "contactMessage"),
    *("viewOnceMessage", "directStoryReplyMessage", "poll"),
)
_SAYING_KINDS = dict.fromkeys(_SAYING, dict)
_BODY_KINDS = dict.fromkeys(("text", "textReply", "quote", "sticker"), dict)
_LONGEST_TEXT = 4 << 20
_QUIET = ("updateMessage", "giftBadge", "adminDeletedMessage")


class Signal(Source):
    """The folder or zip with ``main.jsonl``, ``metadata.json`` and ``files``."""

    connector_key = "signal"
    own_folders = ("files",)
    label = "Signal"
    passed_over = MappingProxyType({"metadata.json": "the version of the export"})

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return the folder of each log by itself."""
        return roots_of_exports(_logs(tree))

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:  # noqa: ARG002
        """Look for the first line of an export; an encrypted backup is refused."""
        logs = _logs(tree)
        if not logs:
            backups = tree.named("signal-*.backup")
            return _ENCRYPTED if backups else None
        name = _owner(logs[0])
        return Recognition(
            Confidence.CERTAIN,
            "a plain export",
            account=f"Signal ({name})" if name else self.label,
            identity=name,
            owner_known=False,
            detail={"logs": [entry.name for entry in logs]},
        )

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the service beside the parts."""
        return self.own_folders_below(tree, recognition)

    def made_on(self, tree: Tree) -> str:
        """Return the moment that the first line of an export tells."""
        told = (next(first_objects(log, 1), {}).get("backupTimeMs") for log in _logs(tree))
        counts = (int(text) for text in map(str, told) if text.isdecimal())
        return max((epoch_text(count / 1_000) or "" for count in counts), default="")

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each log."""
        files = {entry.base.partition(".")[0]: entry for entry in tree.entries}
        for entry in tree.these(recognition.detail["logs"]):
            yield ExportPart(entry, partial(_read, entry, files))


_ENCRYPTED = ExportRefusal(
    "this is an encrypted backup of Signal; choose Settings, Chats, Export chat history in "
    "the app, which writes a folder that can be read"
)


def _logs(tree: Tree) -> list[FileEntry]:
    return [entry for entry in tree.entries if entry.suffix == ".jsonl" and _is_export(entry)]


def _is_export(entry: FileEntry) -> bool:
    first = next(first_objects(entry, 1), {})
    return {"version", "backupTimeMs"} <= first.keys()


def _owner(entry: FileEntry) -> str:
    for value in first_objects(entry, 5):
        about = value.get("account")
        if isinstance(about, dict):
            names = (about.get("givenName"), about.get("familyName"))
            return " ".join(str(name) for name in names if name)
    return ""


@dataclass(slots=True)
class _Party:
    """A person or a group: how it is known in every export, and its name."""

    key: str
    name: str
    number: str = ""
    group: bool = False


@dataclass(slots=True)
class _Chat:
    """A chat and what was seen of it so far."""

    key: RecordKey
    party: _Party
    count: int = 0
    first: str = ""
    last: str = ""


def _read(entry: FileEntry, files: Mapping[str, FileEntry]) -> Iterator[Finding]:
    reader = _Reader(files)
    for frame in frames(entry):
        if isinstance(frame, Skipped):
            yield frame
        else:
            yield from account(reader.take(frame.value, frame.where), frame.where, "line")
    yield from reader.close(entry.name)


class _Reader:
    """Reads an export; numbers of people and chats hold in this export alone."""

    def __init__(self, files: Mapping[str, FileEntry]) -> None:
        self._files = files
        self._parties: dict[str, _Party] = {}
        self._chats: dict[str, _Chat] = {}
        self._edited: dict[RecordKey, RecordKey] = {}
        """The messages that were edited, by each time at which they were."""

    def take(self, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        """Yield what one line tells."""
        if "chatItem" in value:
            yield from self._item(value["chatItem"], where)
            return
        if "recipient" in value:
            self._meet(value["recipient"])
            yield from odd_members(value["recipient"], where, contact=dict, group=dict)
        elif "chat" in value:
            chat = value["chat"]
            party = self._party(chat["recipientId"])
            if str(chat["recipientId"]) not in self._parties:
                yield Unknown("a chat with somebody of whom the export tells nothing", where)
            self._chats[str(chat["id"])] = _Chat(safe_key(party.key), party)
        elif not ("account" in value or "backupTimeMs" in value or _ASIDE & value.keys()):
            yield Unknown("a line of a kind that is not known", where)
            return
        yield Skipped(_ABOUT, where)

    def close(self, where: str) -> Iterator[Finding]:
        """Yield the chats that have messages."""
        for chat in self._chats.values():
            if not chat.count:
                yield Skipped("a chat without messages", where)
                continue
            data = {
                "id": chat.key,
                "name": chat.party.name,
                "number": chat.party.number or None,
                "group": chat.party.group,
                "message_count": chat.count,
                "started_at": chat.first,
                "updated_at": chat.last,
            }
            yield Item("chats", chat.key, present(data))

    def _meet(self, value: Mapping[str, object]) -> None:
        self._parties[str(value["id"])] = _party_of(value)

    def _party(self, number: object) -> _Party:
        return self._parties.get(str(number)) or _Party(f"unknown {number}", "unknown")

    def _item(self, item: Mapping[str, Any], where: str) -> Iterator[Finding]:
        stamps = _stamps(item)
        # An edit has the time of the edit; the message is still the one that was sent first.
        stamp = min(stamps, key=int, default="")
        sent = epoch_text(int(stamp) / 1000) if stamp else None
        chat = self._chats.get(str(item.get("chatId")))
        if sent is None or chat is None:
            yield Unknown("a message without a time or a chat", where)
            return
        if any(name in item for name in _QUIET):
            yield Skipped("a note of Signal in a chat", where)
            return
        said = _said(item)
        if said is None:
            yield Unknown("a message of a kind that is not known", where)
            return
        author = self._party(item.get("authorId"))
        body = _payload(item)
        pointers = _pointers(body)
        long_text = _long_text(body)
        said = self._file_text(long_text) or said
        key = _message_key(chat, author, stamp)
        if len(stamps) > 1:
            self._edited.update((_message_key(chat, author, edit), key) for edit in stamps)
        chat.count += 1
        chat.first, chat.last = min(chat.first or sent, sent), max(chat.last, sent)
        said = said or (f"[{counted(len(pointers), 'file')}]" if pointers else "[no text]")
        told = self._message_data(item, chat, author, said)
        data = {"id": key, **told, "files": len(pointers) or None, "sent_at": sent}
        yield Item("messages", key, present(data))
        yield from odd_among(item, where, _SAYING_KINDS)
        yield from odd_among(body, where, _BODY_KINDS)
        yield from odd_members(body.get("text"), where, body=str)
        if long_text and _file_name(long_text) not in self._files:
            yield Skipped("the rest of a long text, which is not in the export", where)
        for number, pointer in enumerate(pointers, 1):
            yield self._attachment(pointer, number, key, sent, f"{where} file {number}")

    def _message_data(
        self, item: Mapping[str, Any], chat: _Chat, author: _Party, said: str
    ) -> dict[str, object]:
        body = _payload(item)
        links = [preview.get("url") for preview in body.get("linkPreview") or ()]
        return {
            "chat_id": chat.key,
            "chat": chat.party.name,
            "sender": author.name,
            "from_me": "outgoing" in item,
            "text": said,
            "reply_to": self._answered(body, chat),
            "reactions": self._reactions(body) or None,
            "link": str(links[0]) if links else None,
            "deleted": True if "remoteDeletedMessage" in item else None,
            "edits": len(item.get("revisions") or ()) or None,
        }

    def _file_text(self, pointer: Mapping[str, Any]) -> str:
        """Return the text that a file of the export holds."""
        file = self._files.get(_file_name(pointer))
        if file is None or file.size > _LONGEST_TEXT:
            return ""
        return file.head(_LONGEST_TEXT).decode("utf-8", "replace")

    def _answered(self, body: Mapping[str, Any], chat: _Chat) -> RecordKey | None:
        quote = body.get("quote")
        if not isinstance(quote, dict) or not quote.get("targetSentTimestamp"):
            return None
        author = self._party(quote.get("authorId"))
        key = _message_key(chat, author, str(quote["targetSentTimestamp"]))
        return self._edited.get(key, key)

    def _reactions(self, body: Mapping[str, Any]) -> list[str]:
        return [
            f"{reaction.get('emoji')} {self._party(reaction.get('authorId')).name}"
            for reaction in body.get("reactions") or ()
        ]

    def _attachment(
        self, pointer: Mapping[str, Any], number: int, message: RecordKey, sent: str, where: str
    ) -> Finding:
        file = self._files.get(_file_name(pointer))
        if file is None:
            return Skipped("a file that is not in the export", where)
        media_type = str(pointer.get("contentType") or file.media_type)
        key = digest_key("file", message, str(number))
        data = {
            "id": key,
            "message_id": message,
            "name": str(pointer.get("fileName") or file.base),
            "media_type": media_type,
            "sent_at": sent,
        }
        return Item("attachments", key, data, (Attachment("file", file.open_exact, media_type),))


def _stamps(item: Mapping[str, Any]) -> list[str]:
    """Return when a message was sent, and when it was before each edit."""
    items = (item, *(item.get("revisions") or ()))
    stamps = (str(each.get("dateSent") or "") for each in items)
    return [stamp for stamp in stamps if stamp.isdecimal()]


def _message_key(chat: _Chat, author: _Party, stamp: str) -> RecordKey:
    return digest_key("message", chat.party.key, author.key, stamp)


def _party_of(value: Mapping[str, object]) -> _Party:
    contact, group = value.get("contact"), value.get("group")
    if isinstance(contact, dict):
        nickname = contact.get("nickname")
        nickname = nickname if isinstance(nickname, dict) else {}
        number = str(contact.get("e164") or "")
        number = f"+{number}" if number and not number.startswith("+") else number
        names = (
            _full(nickname, "given", "family"),
            _full(contact, "systemGivenName", "systemFamilyName"),
            _full(contact, "profileGivenName", "profileFamilyName"),
            str(contact.get("username") or ""),
            number,
        )
        key = contact.get("aci") or contact.get("pni") or number or value["id"]
        return _Party(f"person {key}", next(filter(None, names), "unknown"), number)
    if isinstance(group, dict):
        title = group.get("snapshot", {}).get("title", {}).get("title")
        return _Party(f"group {group.get('masterKey')}", str(title or "a group"), group=True)
    if "self" in value:
        return _Party("self", "me")
    kind = next((name for name in value if name != "id"), "unknown")
    return _Party(f"{kind}", {"releaseNotes": "Signal"}.get(kind, kind))


def _full(value: Mapping[str, object], *names: str) -> str:
    return " ".join(str(value[name]) for name in names if value.get(name))


def _payload(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is kept of a message, whatever its kind is called."""
    for name in _SAYING:
        if isinstance(value := item.get(name), dict):
            return value
    return {}


def _long_text(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return where a text is that was too long for a line of the export."""
    reply = body.get("textReply")
    pointer = body.get("longText") or (reply.get("longText") if isinstance(reply, dict) else None)
    return pointer if isinstance(pointer, dict) else {}


def _pointers(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return where the files of a message are."""
    one, sticker = body.get("attachment"), body.get("sticker")
    files = [*(body.get("attachments") or ()), *([one] if isinstance(one, dict) else ())]
    pointers = [file.get("pointer") or {} for file in files]
    picture = sticker.get("data") if isinstance(sticker, dict) else None
    return [*pointers, picture] if isinstance(picture, dict) else pointers


def _said(item: Mapping[str, Any]) -> str | None:
    """Return what a message says; empty where it is a file alone, None where it is not known."""
    standard = item.get("standardMessage")
    if isinstance(standard, dict):
        text = standard.get("text")
        return str(text.get("body") or "") if isinstance(text, dict) else ""
    if "remoteDeletedMessage" in item:
        return "[deleted]"
    if "viewOnceMessage" in item:
        return "[a picture to be seen once]"
    sticker = item.get("stickerMessage")
    if isinstance(sticker, dict):
        emoji = (sticker.get("sticker") or {}).get("emoji")
        return f"[sticker {emoji}]" if emoji else "[sticker]"
    shared = item.get("contactMessage")
    if isinstance(shared, dict):
        return f"Contact: {_contact(shared.get('contact') or {}) or 'unknown'}"
    story = item.get("directStoryReplyMessage")
    if isinstance(story, dict):
        reply = story.get("textReply")
        text = reply.get("text") if isinstance(reply, dict) else None
        words = text.get("body") if isinstance(text, dict) else story.get("emoji")
        return f"Answer to a story: {words or ''}".strip()
    poll = item.get("poll")
    if isinstance(poll, dict):
        return "\n".join([f"Poll: {poll.get('question')}", *_options(poll)])
    payment = item.get("paymentNotification")
    if isinstance(payment, dict):
        amount = f"{payment['amountMob']} MOB" if payment.get("amountMob") else ""
        return f"Payment: {', '.join(filter(None, (amount, payment.get('note'))))}".rstrip(": ")
    return None


def _options(poll: Mapping[str, Any]) -> Iterator[str]:
    """Yield what could be chosen in a poll, and how many people did."""
    for option in poll.get("options") or ():
        votes = option.get("votes")
        chosen = f" ({counted(len(votes), 'vote')})" if isinstance(votes, list) else ""
        yield f"- {option.get('option')}{chosen}"


def _contact(contact: Mapping[str, Any]) -> str:
    """Return a person whom somebody shared, with the ways to reach them."""
    reach = (*(contact.get("number") or ()), *(contact.get("email") or ()))
    values = [str(way["value"]) for way in reach if isinstance(way, dict) and way.get("value")]
    name = _full(contact.get("name") or {}, "givenName", "familyName")
    name = name or str(contact.get("organization") or "")
    return ", ".join([*([name] if name else []), *values])


def _file_name(pointer: Mapping[str, object]) -> str:
    """Return what the export calls a file: a digest of its own digest and its key."""
    place = pointer.get("locatorInfo")
    if not isinstance(place, dict) or not place.get("plaintextHash") or not place.get("localKey"):
        return ""
    content = b64decode(str(place["plaintextHash"])) + b64decode(str(place["localKey"]))
    return hashlib.sha256(content).hexdigest()
