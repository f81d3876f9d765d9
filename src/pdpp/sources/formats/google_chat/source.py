"""Google Chat in a Takeout: a folder for each chat, with its messages, members and files."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.chat_span import ChatSpan
from pdpp.sources.formats.google_chat.files import AttachedFiles, beside, names_of
from pdpp.sources.formats.google_chat.message import (
    address_of,
    details_of,
    links_of,
    objects_of,
    reactions_of,
)
from pdpp.sources.formats.takeout import TAKEOUT_FILES, TAKEOUT_OWNER, takeout_recognition
from pdpp.sources.formats.takeout_time import read_time
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals, RecordKey, safe_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.jsonstream import read_each
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.shapes import odd_items
from pdpp.sources.reading.structure import candidates, json_paths
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import ExportPart, OwnerChoices, Recognition, Source, folders_of

_PATHS = frozenset({"messages.item.creator", "messages.item.created_date"})
_ABOUT = "group_info.json"
_OWNER = "user_info.json"
_SENT = "File-"
"""How the names begin of all files that were sent in a chat."""
_LARGEST = 16 << 20
_KINDS = {"dm": "direct message", "space": "space"}
_MOST_NAMES = 4


class GoogleChat(Source):
    """The folder ``Google Chat`` of a Takeout, or a chat in it."""

    connector_key = "google_chat"
    owner_files = (*TAKEOUT_OWNER, _OWNER)
    label = "Google Chat"
    passed_over = MappingProxyType(
        {
            **TAKEOUT_FILES,
            _ABOUT: "who is in a chat, kept in its record",
            _OWNER: "whose chats they are",
            "unsentmessages.json": "messages that were never sent",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for lists of messages as only this service writes them."""
        found = {entry: json_paths(entry, _PATHS) for entry in candidates(tree, "messages*.json")}
        if not any(paths >= _PATHS for paths in found.values()):
            return None
        finder = FileFinder(tree)
        # A chat in which all was deleted, or nothing said, is known by what lies beside it.
        lists = [
            entry.name
            for entry, paths in found.items()
            if paths or (json_paths(entry, {"messages"}) and beside(finder, entry, _ABOUT))
        ]
        version, detail = counted(len(lists), "chat"), {"lists": lists}
        return takeout_recognition(tree, self.label, version, detail, _owner(tree))

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in(tree.called)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each chat."""
        owner, finder = _owner(tree), FileFinder(tree)
        for entry in tree.these(recognition.detail["lists"]):
            folder = tree.folder_of(entry) or "chat"
            yield ExportPart(entry, partial(_read, entry, folder, finder, owner))

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the chats; of a chat at the very top the files sent in it.

        The files of a chat may have come in another part of the Takeout, in a folder of that name.
        """
        chats = {folder.rpartition("/")[2] for folder in folders_of(self.parts(tree, recognition))}
        folders = {entry.name.rpartition("/")[0] for entry in tree.entries} - {""}
        own = [folder for folder in folders if folder.rpartition("/")[2] in chats]
        if "" in chats:
            own += [entry.name for entry in tree.entries if entry.name.startswith(_SENT)]
        return own

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the chats, and whose they are: many things lie beside in a Takeout.

        A chat that somebody packed by itself is all of its archive.
        """
        at_top = any("/" not in part.entry.name for part in self.parts(tree, recognition))
        own = [*self.sent(tree, recognition), *(file.name for file in tree.named(_OWNER, _ABOUT))]
        return ("",) if at_top and tree.kind == "zip" else own


def _owner(tree: Tree) -> str:
    """Return the address of the account, where one and only one is told."""
    addresses = {address_of(_document(entry).get("user")) for entry in tree.named(_OWNER)} - {""}
    return addresses.pop() if len(addresses) == 1 else ""


def _document(entry: FileEntry | None) -> Mapping[str, Any]:
    if entry is not None:
        with suppress(DamagedFile, NotJson), entry.open() as stream:
            value = read_json(stream.read(_LARGEST))
            return value if isinstance(value, dict) else {}
    return {}


def _read(entry: FileEntry, folder: str, finder: FileFinder, owner: str) -> Iterator[Finding]:
    document = _document(beside(finder, entry, _ABOUT))
    about = _about(document, folder, owner)
    yield from odd_items(document.get("members"), f"{entry.name} members")
    reader = _ChatReader(entry, about, finder)
    yield from read_each(entry, reader.message, "messages.item", noun="message")
    yield reader.record()


class _About(NamedTuple):
    """What is known of a chat beside its messages."""

    key: RecordKey
    name: str
    kind: str | None
    people: list[str]
    names: Mapping[str, str]
    """Of people by their address."""


def _about(document: Mapping[str, Any], folder: str, owner: str) -> _About:
    kind, _, number = folder.rpartition(" ")
    members = objects_of(document.get("members"))
    people = [
        (address_of(member), str(member.get("name") or member.get("email")))
        for member in members
        if member.get("name") or member.get("email")
    ]
    others = [name for address, name in people if not owner or address != owner]
    more = ", …" if len(others) > _MOST_NAMES else ""
    named = str(document.get("name") or "").strip() or ", ".join(others[:_MOST_NAMES]) + more
    return _About(
        key=safe_key(number or folder),
        name=named or folder,
        kind=_KINDS.get(kind.casefold()),
        people=[name for _, name in people],
        names={address: name for address, name in people if address},
    )


class _ChatReader:
    """Reads the messages of one chat."""

    def __init__(self, entry: FileEntry, chat: _About, finder: FileFinder) -> None:
        self._where = entry.name
        self._chat = chat
        self._files = AttachedFiles(finder, entry)
        self._ordinals = Ordinals()
        self._span = ChatSpan()

    def message(self, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        """Yield a message, and the files that came with it."""
        names = names_of(value.get("attached_files"))
        files = [(name, self._files.find(name.exported)) for name in names]
        if value.get("message_state") == "DELETED":
            yield Skipped("a message that was deleted", where)
            return
        sent, _ = read_time(str(value.get("created_date") or ""))
        creator = value.get("creator")
        if sent is None or not isinstance(creator, dict):
            yield Unknown("a message without a time that can be read, or without a sender", where)
            return
        text = str(value.get("text") or "")
        details = details_of(value.get("annotations"))
        if not text and not names and not details:
            yield Skipped("an empty message", where)
            return
        self._span.see(sent)
        key = self._key(value, sent, creator, text)
        data = {
            "id": key,
            "chat_id": self._chat.key,
            "chat": self._chat.name,
            "sender": self._name(creator) or None,
            "sender_email": address_of(creator) or None,
            "text": text or details or f"[{', '.join(name.original for name in names)}]",
            **self._more(value, text, details),
            "file_names": ", ".join(name.original for name in names) or None,
            "sent_at": sent,
        }
        yield Item("messages", key, present(data))
        yield from odd_items(value.get("annotations"), where)
        yield from odd_items(value.get("reactions"), where)
        for number, (name, file) in enumerate(files, 1):
            place = f"{where} file {number}"
            if file is None:
                yield Skipped("a file that is not in the export", place)
                continue
            yield self._file(key, number, name.original, file, sent)

    def _more(self, value: Mapping[str, Any], text: str, details: str) -> dict[str, object]:
        """Return what only some messages have."""
        topic, creator = value.get("topic_id"), value["creator"]
        quoted = value.get("quoted_message_metadata")
        quoted = quoted if isinstance(quoted, dict) else {}
        links = links_of(value.get("annotations"))
        edited = value.get("updated_date")
        return {
            "thread_id": safe_key(self._chat.key, str(topic)) if topic else None,
            "reply_to": _message_key(quoted.get("message_id")),
            "quoted": str(quoted.get("text") or "") or None,
            "quoted_sender": self._name(quoted.get("creator")) or None,
            "details": details if text and details else None,
            "link": links[0] if links else None,
            "reactions": reactions_of(value.get("reactions")) or None,
            "automatic": True if creator.get("user_type") == "Bot" else None,
            "edited_at": read_time(str(edited))[0] if edited else None,
        }

    def _name(self, person: object) -> str:
        if not isinstance(person, dict):
            return ""
        known = self._chat.names.get(address_of(person), "")
        return str(person.get("name") or known or person.get("email") or "")

    def _key(
        self, value: Mapping[str, Any], sent: str, creator: Mapping[str, Any], text: str
    ) -> RecordKey:
        """Return the service's name for a message; older exports have none."""
        told = _message_key(value.get("message_id"))
        if told is not None:
            return told
        content = (address_of(creator) or self._name(creator), text)
        return safe_key(self._chat.key, self._ordinals.key(sent, *content))

    def _file(self, message: RecordKey, number: int, name: str, file: FileEntry, sent: str) -> Item:
        key = safe_key(message, str(number))
        data = {
            "id": key,
            "message_id": message,
            "chat_id": self._chat.key,
            "name": name,
            "media_type": file.media_type,
            "sent_at": sent,
        }
        return Item("media", key, data, (Attachment("file", file.open_exact, file.media_type),))

    def record(self) -> Finding:
        """Return the chat itself."""
        if not self._span.count:
            return Skipped("a chat without messages", self._where)
        chat = self._chat
        data = {
            "id": chat.key,
            "name": chat.name,
            "kind": chat.kind,
            "people": ", ".join(chat.people) or None,
            **self._span.members(),
        }
        return Item("chats", chat.key, present(data))


def _message_key(number: object) -> RecordKey | None:
    return safe_key(number) if isinstance(number, str) and number else None
