"""Meta archives: the chats that exports of Facebook and Instagram hold.

There is a folder for each chat with its messages in numbered files, the newest first.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.chat_span import ChatSpan
from pdpp.sources.formats.meta_files import attached
from pdpp.sources.formats.meta_values import listed, mapped, mended
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals, RecordKey, digest_key, safe_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements, entry_elements
from pdpp.sources.reading.shapes import odd, odd_items, odd_members
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree

_NUMBERED = re.compile(r"message_(\d+)(?: ?\(\d+\))?\.json\Z")
_FLAT = re.compile(r"(.+)_(\d+)(?: ?\(\d+\))?\.json\Z")
_THREAD_ID = re.compile(r"_(\d{4,})\Z")
_ATTACHED = ("photos", "videos", "gifs", "audio_files", "files")
_ARCHIVE = re.compile(r"\A.*\.(?:zip|tgz)/", re.IGNORECASE)
_OPEN = {"participants.item.name", "messages.item.sender_name", "messages.item.timestamp_ms"}
_SEALED = {"threadName", "messages.item.senderName", "messages.item.timestamp"}
_SENDERS = (b'"sender_name"', b'"senderName"')
_SHARED = ("share_text", "profile_share_name", "profile_share_username", "link")
_SEALED_NUMBER = re.compile(r"_\d+\Z")
_MOST_LOOKED_AT = 200


class ChatFiles(NamedTuple):
    """The files of one chat in the order of their numbers; ``sealed`` ones were encrypted.

    Of those with the same name and the same people ``number`` is which one this is.
    """

    entries: list[FileEntry]
    sealed: bool
    number: int = 1


def in_archive(name: str) -> str:
    """Return a name as it stands in the archive that a file or a folder lies in."""
    return _ARCHIVE.sub("", name)


def chats_of(tree: Tree) -> list[ChatFiles]:
    """Return the chats of an archive, each with all of its files."""
    if (single := _single_chat(tree)) is not None:
        return [single]
    groups: dict[tuple[str, str], list[tuple[int, FileEntry]]] = {}
    for entry in tree.entries:
        if match := _NUMBERED.match(entry.base):
            groups.setdefault((_place_of(entry), ""), []).append((int(match[1]), entry))
        elif (match := _FLAT.match(entry.base)) and "/inbox/" not in entry.name:
            groups.setdefault((entry.name, match[1]), []).append((int(match[2]), entry))
    chats: list[ChatFiles] = []
    sealed: list[tuple[int, list[FileEntry]]] = []
    for (_, flat), numbered in groups.items():
        entries = _without_copies(sorted(numbered, key=_reading_order))
        if not flat:
            chats.append(ChatFiles(entries, sealed=False))
        elif is_sealed_chat(entries[0]):
            sealed.append((numbered[0][0], entries))
    return chats + _sealed_chats(sealed)


def _folder_of(entry: FileEntry) -> str:
    return in_archive(entry.name.rpartition("/")[0])


def _place_of(entry: FileEntry) -> str:
    """Return what the files of one chat have in common, which may lie in two folders.

    What was said before a chat was encrypted lies in ``inbox``, and the rest in ``e2ee_cutover``.
    """
    folder = _folder_of(entry)
    match = _THREAD_ID.search(folder)
    around = folder.split("/")[:-2]
    return "/".join((*around, match[1])) if match else folder


def _reading_order(numbered: tuple[int, FileEntry]) -> tuple[bool, str, int]:
    number, entry = numbered
    folder = _folder_of(entry)
    return "inbox" not in folder.split("/"), folder, number


def _single_chat(tree: Tree) -> ChatFiles | None:
    """Return the chat that a file by itself holds, whatever somebody called it."""
    for entry in tree.entries if tree.kind == "file" else ():
        # A look at its beginning spares reading a large document of another kind to its end.
        if not _NUMBERED.match(entry.base) and any(mark in entry.head() for mark in _SENDERS):
            if is_chat(entry):
                return ChatFiles([entry], sealed=False)
            if is_sealed_chat(entry):
                return ChatFiles([entry], sealed=True)
    return None


def _without_copies(numbered: Iterable[tuple[int, FileEntry]]) -> list[FileEntry]:
    """Return files without their copies: Meta puts one into several archives of an export."""
    kept: list[tuple[int, FileEntry]] = []
    for number, entry in numbered:
        if not any(number == other and entry.is_copy_of(one) for other, one in kept):
            kept.append((number, entry))
    return [entry for _, entry in kept]


def _sealed_chats(sealed: Iterable[tuple[int, list[FileEntry]]]) -> list[ChatFiles]:
    """Return encrypted chats; those alike in one folder are told apart by the order of numbers."""
    chats: list[ChatFiles] = []
    alike: dict[tuple[str, RecordKey], list[int]] = {}
    for number, entries in sorted(sealed, key=lambda pair: pair[0]):
        key = _sealed_key(_about(entries[0], whole=False))
        numbers = alike.setdefault((entries[0].name.rpartition("/")[0], key), [])
        if number not in numbers:  # A second download of a file has its number too.
            numbers.append(number)
        chats.append(ChatFiles(entries, sealed=True, number=numbers.index(number) + 1))
    return chats


def _sealed_key(about: Mapping[str, Any]) -> RecordKey:
    """Return what an encrypted chat is known by.

    Each export numbers its chats anew, so the number behind the name tells nothing.
    """
    people = sorted(mended(name) for name in about["participants"])
    return digest_key("sealed", _sealed_name(about), *people)


def _sealed_name(about: Mapping[str, Any]) -> str:
    return _SEALED_NUMBER.sub("", mended(about.get("threadName"))) or "(nobody)"


def is_chat(entry: FileEntry) -> bool:
    """Tell whether a file holds messages of a chat."""
    return json_paths(entry, _OPEN) >= _OPEN


def is_sealed_chat(entry: FileEntry) -> bool:
    """Tell whether a file holds messages of a chat that was encrypted from end to end."""
    return json_paths(entry, _SEALED) >= _SEALED


def has_chats(tree: Tree) -> bool:
    """Tell whether there is a chat among the first files that may be one."""
    numbered = [entry for entry in tree.entries if _NUMBERED.match(entry.base)]
    if any(map(is_chat, numbered[:_MOST_LOOKED_AT])) or _single_chat(tree) is not None:
        return True
    flat = [entry for entry in tree.entries if _FLAT.match(entry.base)]
    return any(map(is_sealed_chat, flat[:_MOST_LOOKED_AT]))


def read_chat(chat: ChatFiles, finder: FileFinder) -> Iterator[Finding]:
    """Yield the messages of all files of a chat, and the chat itself at the end."""
    yield from _ChatReader(chat, finder).read()


class _ChatReader:
    """Reads one chat. No message has an id: the moment tells them apart, and a number.

    The name of a sender is no part of what a message is known by: people change theirs, and those
    who left are all called the same, in the language of the account.
    """

    def __init__(self, chat: ChatFiles, finder: FileFinder) -> None:
        self._chat = chat
        self._finder = finder
        about = _about(chat.entries[0])
        folder = chat.entries[0].name.rpartition("/")[0]
        # The folder is named like the path inside, which a cut file no longer tells.
        named = "" if chat.sealed or not _THREAD_ID.search(folder) else folder
        path = str(named or about.get("thread_path") or about.get("threadName") or folder)
        slug = mended(path).rpartition("/")[2] or folder
        match = _THREAD_ID.search(slug)
        self._key = safe_key(match[1] if match else slug)
        if chat.sealed:
            self._key = safe_key(_sealed_key(about), str(chat.number))
        self._odd = [name for name in about["participants"] if name and not isinstance(name, str)]
        people = [mended(name) for name in about["participants"]]
        self._people = ", ".join(name for name in people if name)
        self._name = mended(about.get("title")) or slug
        if chat.sealed:
            self._name = _sealed_name(about)
        steps = path.split("/")
        self._kind = "encrypted" if chat.sealed else (steps[-2] if len(steps) > 1 else "inbox")
        self._ordinals = Ordinals()
        self._folder = ""
        self._earlier: set[str] = set()
        self._span = ChatSpan()

    def read(self) -> Iterator[Finding]:
        """Yield everything; a file that is damaged costs none of the others."""
        folders = {_folder_of(entry) for entry in self._chat.entries}
        for name in self._odd:
            yield from odd(name, f"{self._chat.entries[0].name} participants", str)
        for entry in self._chat.entries:
            # A message may lie in both folders of a chat: each numbers what is alike by itself.
            if len(folders) > 1 and _folder_of(entry) != self._folder:
                self._folder, self._ordinals = _folder_of(entry), Ordinals()
            try:
                yield from self._file(entry)
            except DamagedFile as problem:
                where = f"{entry.name}: {problem.message}"
                yield Skipped("the rest of a file that is damaged", where, cut=True)
        if not self._span.count:
            yield Skipped("a chat without messages", self._chat.entries[0].name)
            return
        data = {
            "id": self._key,
            "name": self._name or self._people or "(nobody)",
            "participants": self._people or None,
            "kind": self._kind.replace("_", " "),
            **self._span.members(),
        }
        yield Item("chats", self._key, present(data))

    def _file(self, entry: FileEntry) -> Iterator[Finding]:
        for element in entry_elements(entry, "messages.item"):
            if isinstance(element, Skipped):
                yield element
            else:
                where = f"{entry.name} message {element.number}"
                yield from account(self._message(element.value, where), where, "message")

    def _message(self, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        moment = value.get("timestamp" if self._chat.sealed else "timestamp_ms")
        sent = None if isinstance(moment, str | bool | None) else epoch_text(moment / 1000)
        if sent is None:
            yield Unknown("a message without a time", where)
            return
        sender = mended(value.get("senderName" if self._chat.sealed else "sender_name"))
        addresses = list(_addresses(value))
        key = self._ordinals.key(str(moment), self._key)
        text = _text(value, addresses)
        if not self._folder or key not in self._earlier:
            self._span.see(sent)
        if self._folder:
            self._earlier.add(key)
        data = {
            "id": key,
            "chat_id": self._key,
            "chat": self._name or self._people or "(nobody)",
            "sender": sender or None,
            "text": text,
            "link": mended(mapped(value, "share").get("link")) or None,
            "unsent": bool(value.get("is_unsent") or value.get("isUnsent")) or None,
            "reactions": _reactions(value) or None,
            "call_seconds": _whole(value.get("call_duration")),
            "files": len(addresses) or None,
            "sent_at": sent,
        }
        yield Item("messages", key, present(data))
        yield from odd_members(value, where, content=str, text=str, share=dict, sticker=dict)
        yield from odd_items(value.get("reactions"), where, reaction=str, actor=str)
        for number, address in enumerate(addresses):
            place = f"{where} file {number + 1}"
            yield attached(self._finder, address, sent, place, message_id=key)


def _about(entry: FileEntry, *, whole: bool = True) -> dict[str, Any]:
    """Return what a chat says of itself, which may stand behind its messages."""
    about: dict[str, Any] = {"participants": []}
    wanted = ("title", "thread_path", "threadName", "participants.item")
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, *wanted, *(() if whole else ("messages.item",))):
            if isinstance(element, Skipped):
                continue
            if element.path == "messages.item":
                if "threadName" in about and about["participants"]:
                    break
                continue
            if element.path == "participants.item":
                value = element.value
                about["participants"].append(value.get("name") if _is_object(value) else value)
            else:
                about[element.path] = element.value
    return about


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _text(value: Mapping[str, Any], addresses: list[Any]) -> str:
    """Return what a message says; what has no words is put into words."""
    pieces = [mended(value.get("content") or value.get("text"))]
    share = mapped(value, "share")
    pieces += [mended(share.get(name)) for name in _SHARED]
    pieces = [piece for piece in dict.fromkeys(pieces) if piece]
    if pieces:
        return "\n".join(pieces)
    if value.get("is_unsent") or value.get("isUnsent"):
        return "[unsent]"
    if "call_duration" in value:
        return "[missed call]" if value.get("missed") else "[call]"
    if "sticker" in value:
        return "[sticker]"
    return f"[{counted(len(addresses), 'file')}]" if addresses else "[no text]"


def _reactions(value: Mapping[str, Any]) -> list[str]:
    return [
        f"{mended(reaction.get('reaction'))} {mended(reaction.get('actor'))}".strip()
        for reaction in listed(value, "reactions")
        if isinstance(reaction, dict)
    ]


def _addresses(value: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the addresses of what came with a message."""
    kinds: Iterable[str] = (*_ATTACHED, "media")
    for kind in kinds:
        for file in listed(value, kind):
            if isinstance(file, dict) and file.get("uri"):
                yield file["uri"]
    sticker = mapped(value, "sticker").get("uri")
    if sticker:
        yield sticker


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
