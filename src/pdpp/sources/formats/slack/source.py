"""Slack exports: a folder for each conversation, with a file for each day."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from html import unescape
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.evidence.amount import counted
from pdpp.sources.formats.slack.blocks import attachment_texts, block_text, message_text
from pdpp.sources.formats.slack.uploads import FOLDER, Uploads, file_items, uploads_of
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.code_words import plain_words
from pdpp.sources.reading.jsonstream import Reader, objects, read_each
from pdpp.sources.reading.named_days import day_in_words
from pdpp.sources.reading.shapes import odd_items, odd_members
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_LISTS = {
    "channels.json": "public channel",
    "groups.json": "private channel",
    "dms.json": "direct messages",
    "mpims.json": "group of people",
    "file_conversations.json": "comments on a document",
}
_DOCUMENTS = {
    "canvases.json": "canvas",
    "lists.json": "list",
    "huddle_transcripts.json": "huddle transcript",
}
_CANVAS_OF_ROOM = "canvas_in_the_conversation.json"
_PEOPLE = ("users.json", "org_users.json")
_ABOUT_FILE = re.compile(r"FC:(?P<file>[A-Z0-9]+)(?::(?P<title>.*))?\Z")
"""How conversations about a canvas or a list are called."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json\Z")
_MARK = re.compile(r"<([^<>]*)>")
_RANGE = re.compile(r"\s*(?:-\s*)?Slack export\b.*\Z", re.IGNORECASE)
"""What Slack puts behind the name of a workspace, with the days that an export is of."""
_TOKEN = re.compile(r"\?(?:t|token)=xox[^&#]*")
_FILED = frozenset({"file", "files", "attachments"})
"""Members of a message that files may stand in, which most have not."""
_SPECIAL = {"here": "@here", "channel": "@channel", "everyone": "@everyone"}
_MOST_PEOPLE = 1_000_000


class Slack(Source):
    """The zip that a workspace's owner exports."""

    connector_key = "slack"
    owner_files = _PEOPLE
    own_folders = (FOLDER,)
    passed_over = MappingProxyType(
        {
            "integration_logs.json": "which integrations were installed",
            "content_flags.json": "messages that somebody reported",
            ".slack-manifest.json": "the list of the export's files",
        }
    )
    label = "Slack export"

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for people, conversations and days of messages."""
        people, lists = _people(tree), tree.named(*_LISTS)
        if not people or not lists:
            return None
        head = people[0].head()
        days = _days(tree, people)
        team = re.search(rb'"team_id"\s*:\s*"([A-Z0-9]{2,20})"', head)
        name = _RANGE.sub("", tree.called) or tree.called
        return Recognition(
            Confidence.CERTAIN if days else Confidence.LIKELY,
            f"{counted(len(days), 'day')} of messages",
            account=f"Slack ({name})",
            identity=team.group(1).decode() if team else "",
            owner_known=bool(team),
        )

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the files that a program put beside the messages."""
        return [entry.name for entry in uploads_of(tree).values()]

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in_words(tree.called)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:  # noqa: ARG002
        """Return the people, the conversations, canvases and lists, then every day of each."""
        people, lists = _people(tree), tree.named(*_LISTS)
        book = _book(people, lists, uploads_of(tree))
        for entry in people:
            yield ExportPart(entry, partial(_read, entry, _person))
        for entry in lists:
            kind = _LISTS[entry.base]
            yield ExportPart(entry, partial(_read, entry, partial(_conversation, book, kind)))
        for entry in tree.named(*_DOCUMENTS):
            kind = _DOCUMENTS[entry.base]
            yield ExportPart(entry, partial(_read, entry, partial(_document, book, kind)))
        for entry in tree.named(_CANVAS_OF_ROOM):
            yield ExportPart(entry, partial(_read, entry, partial(_document, book, "canvas")))
        for entry in _days(tree, people):
            folder = entry.name.split("/")[-2]
            room = book.rooms.get(folder, _Room(folder, folder))
            yield ExportPart(entry, partial(_read, entry, partial(_message, book, room)))


def _people(tree: Tree) -> list[FileEntry]:
    """Return the lists of people; other services have a file of that name too."""
    return [
        entry
        for entry in tree.named(*_PEOPLE)
        if b'"team_id"' in (head := entry.head()) or b'"profile"' in head
    ]


def _days(tree: Tree, people: list[FileEntry]) -> list[FileEntry]:
    """Return the days of messages: each lies in the folder of a room, beside the people."""
    tops = [entry.name.split("/")[:-1] for entry in people]
    return [
        entry
        for entry in tree.entries
        if _DAY.match(entry.base) and "/" in entry.name and entry.name.split("/")[:-2] in tops
    ]


class _Room(NamedTuple):
    """A conversation: its id, and what people call it."""

    id: str
    name: str


class _Book(NamedTuple):
    """The names of people by id, the conversations by the folder they are in, and the files."""

    people: dict[str, str]
    rooms: dict[str, _Room]
    uploads: Uploads


def _book(people: list[FileEntry], lists: list[FileEntry], uploads: Uploads) -> _Book:
    book = _Book({}, {}, uploads)
    for value in chain.from_iterable(map(objects, people)):
        if isinstance(value.get("id"), str) and len(book.people) < _MOST_PEOPLE:
            book.people[value["id"]] = _person_name(value)
    for value in chain.from_iterable(map(objects, lists)):
        if isinstance(value.get("id"), str):
            room = _Room(value["id"], _room_name(value, book))
            book.rooms[str(value.get("name") or value["id"])] = room
            book.rooms[value["id"]] = room
    return book


def _room_name(value: Mapping[str, object], book: _Book) -> str:
    if about := _ABOUT_FILE.match(str(value.get("name") or "")):
        return f"comments on {about['title'] or about['file']}"
    if value.get("name") and not str(value["name"]).startswith("mpdm-"):
        return f"#{value['name']}"
    ids = value.get("members")
    listed = ids if isinstance(ids, list) else []
    members = [member for member in listed if isinstance(member, str)]
    return ", ".join(book.people.get(member, member) for member in members) or str(value["id"])


def _person_name(value: Mapping[str, object]) -> str:
    names = _profile(value)
    for name in (names.get("display_name"), names.get("real_name"), value.get("real_name")):
        if isinstance(name, str) and name:
            return name
    return str(value.get("name") or value["id"])


def _profile(value: Mapping[str, object], name: str = "profile") -> Mapping[str, object]:
    profile = value.get(name)
    return profile if isinstance(profile, dict) else {}


def _read(entry: FileEntry, reader: Reader) -> Iterator[Finding]:
    return read_each(entry, reader)


def _person(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    if not isinstance(value.get("id"), str):
        yield Unknown("a person without an id", where)
        return
    profile = _profile(value)
    key = safe_key(value["id"])
    data = {
        "id": key,
        "name": _person_name(value),
        "real_name": profile.get("real_name") or value.get("real_name"),
        "email": profile.get("email"),
        "job_title": profile.get("title") or None,
        "bot": bool(value.get("is_bot")),
        "gone": bool(value.get("deleted")),
    }
    yield Item("people", key, present(data, []))
    yield from odd_members(value, where, profile=dict)


def _conversation(
    book: _Book, kind: str, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    if not isinstance(value.get("id"), str):
        yield Unknown("a conversation without an id", where)
        return
    key = safe_key(value["id"])
    data = {
        "id": key,
        "name": _room_name(value, book),
        "kind": kind,
        "topic": _inner(value, "topic"),
        "purpose": _inner(value, "purpose"),
        "members": [
            book.people.get(member, member)
            for member in value.get("members") or ()
            if isinstance(member, str)
        ],
        "created_at": epoch_text(value.get("created")),
    }
    yield Item("conversations", key, present(data, []))
    yield from odd_members(value, where, topic=dict, purpose=dict)
    yield from odd_members(value.get("topic"), where, value=str)


def _document(book: _Book, kind: str, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield a canvas, a list or a transcript: mostly its title and where it lies, and no words."""
    if not isinstance(value.get("id"), str):
        yield Unknown(f"a {kind} without an id", where)
        return
    key = safe_key(value["id"])
    author = value.get("user")
    data = {
        "id": key,
        "kind": kind,
        "title": str(value.get("title") or value.get("name") or value["id"]),
        "text": _document_text(book, value),
        "columns": _columns(value),
        "author": book.people.get(author, author) if isinstance(author, str) else None,
        "author_id": author if isinstance(author, str) else None,
        "conversations": [
            book.rooms[room].name if room in book.rooms else room for room in _shared_in(value)
        ],
        "link": _link(value),
        "created_at": epoch_text(value.get("created")),
        "updated_at": epoch_text(value.get("updated")),
    }
    yield Item("documents", key, present(data, [], ""))


def _shared_in(value: Mapping[str, object]) -> Iterator[str]:
    """Yield the conversations that a document was shared in."""
    for name in ("channels", "groups", "ims", "shares"):
        rooms = value.get(name)
        for room in rooms if isinstance(rooms, list) else ():
            shared = room.get("channel") if isinstance(room, dict) else room
            if isinstance(shared, str):
                yield shared


def _document_text(book: _Book, value: Mapping[str, object]) -> str:
    """Return what an export shows of a document's words, which is little or nothing."""
    for name in ("plain_text", "preview_plain_text", "preview"):
        if isinstance(text := value.get(name), str) and text.strip():
            return readable(text.strip(), book.people)
    return readable(block_text(value.get("blocks")), book.people)


def _columns(value: Mapping[str, object]) -> list[str]:
    """Return the names of the columns of a list."""
    about = value.get("list_metadata")
    schema = about.get("schema") if isinstance(about, dict) else None
    columns = schema if isinstance(schema, list) else []
    return [
        str(column.get("name") or column.get("key"))
        for column in columns
        if isinstance(column, dict) and (column.get("name") or column.get("key"))
    ]


def _link(value: Mapping[str, object]) -> str | None:
    links = (value.get(name) for name in ("permalink", "url_private"))
    return next((open_link(link) for link in links if isinstance(link, str) and link), None)


def open_link(link: str) -> str:
    """Return a link without the token of the export, which opens the file for everybody."""
    return _TOKEN.sub("", link)


def _inner(value: Mapping[str, object], name: str) -> str | None:
    inner = value.get(name)
    text = inner.get("value") if isinstance(inner, dict) else None
    return text if isinstance(text, str) and text else None


def _message(book: _Book, room: _Room, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    stamp = value.get("ts")
    sent = epoch_text(stamp) if isinstance(stamp, str) else None
    if sent is None or not isinstance(stamp, str) or value.get("type") != "message":
        yield Unknown("an entry that is no message with a time", where)
        return
    channel = safe_key(room.id)
    key = safe_key(channel, stamp)
    thread = value.get("thread_ts")
    edited = value.get("edited")
    files = _files(value) if _FILED & value.keys() else []
    names = [str(file.get("name") or file.get("title") or file.get("id")) for file in files]
    comment = _profile(value, "comment")
    data = {
        "id": key,
        "conversation_id": channel,
        "conversation": room.name,
        "sender": _sender(book, {**comment, **value}),
        "sender_id": value.get("user") or comment.get("user") or value.get("bot_id"),
        "text": _text(book, value, files) or (f"[{', '.join(names)}]" if names else ""),
        "kind": plain_words(str(value.get("subtype") or "")) or None,
        "thread_id": safe_key(channel, thread) if isinstance(thread, str) else None,
        "reply_count": value.get("reply_count"),
        "reactions": _reactions(value),
        "file_names": names,
        "shared_files": ", ".join(names) or None,
        "file_links": [
            open_link(file["url_private"])
            for file in files
            if isinstance(file.get("url_private"), str)
        ],
        "edited_at": epoch_text(edited.get("ts")) if isinstance(edited, dict) else None,
        "sent_at": sent,
    }
    if not data["text"] and not files:
        yield Skipped("a message without text or files", where)
        return
    yield Item("messages", key, present(data, []))
    yield from odd_members(value, where, text=str, username=str, blocks=list, files=list)
    yield from odd_items(
        value.get("attachments"), where, text=str, title=str, fallback=str, pretext=str
    )
    if book.uploads:
        yield from file_items(book.uploads, key, files, sent)


def _files(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the files of a message, and of one that it passes on; before 2018 one at most."""
    own = value.get("files") or [value.get("file")]
    passed_on = [
        attachment.get("files")
        for attachment in value.get("attachments") or ()
        if isinstance(attachment, dict)
    ]
    listed = [files for files in (own, *passed_on) if isinstance(files, list)]
    return [file for files in listed for file in files if isinstance(file, dict)]


def _sender(book: _Book, value: Mapping[str, object]) -> str:
    user = value.get("user")
    if isinstance(user, str) and user in book.people:
        return book.people[user]
    names, program = _profile(value, "user_profile"), _profile(value, "bot_profile")
    told = (names.get("display_name"), names.get("real_name"), value.get("username"))
    for name in (*told, program.get("name")):
        if isinstance(name, str) and name:
            return name
    return str(user or value.get("bot_id") or "unknown")


def _text(book: _Book, value: Mapping[str, Any], files: list[Mapping[str, Any]]) -> str:
    """Return what a message says, with the text of what was attached by programs."""
    pieces: list[object] = [message_text(value)]
    for attachment in value.get("attachments") or ():
        if isinstance(attachment, dict):
            pieces += attachment_texts(attachment)
    # The beginning of a text that was pasted as a file, or the whole of a mail.
    pieces += [file.get("plain_text") or file.get("preview") for file in files]
    # Before 2018 a comment on a file was a message that told of it, and often repeated it.
    comment = _profile(value, "comment").get("comment")
    pieces += [] if str(comment) in str(pieces[0]) else [comment]
    said = [piece for piece in pieces if isinstance(piece, str) and piece.strip()]
    return "\n".join(readable(piece, book.people) for piece in said)


def readable(text: str, people: Mapping[str, str]) -> str:
    """Return Slack's markup as a person sees it: names for people, words for links."""
    return unescape(_MARK.sub(lambda mark: _marked(mark.group(1), people), text))


def _marked(inner: str, people: Mapping[str, str]) -> str:
    target, _, words = inner.partition("|")
    if target.startswith("@"):
        return f"@{words or people.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{words or target[1:]}"
    if target.startswith("!"):
        name = target[1:].partition("^")[0]
        return words or _SPECIAL.get(name, name)
    address = target.removeprefix("mailto:")
    return address if not words or words == address else f"{words} ({address})"


def _reactions(value: Mapping[str, Any]) -> list[str]:
    return [
        f"{reaction.get('name')} ×{reaction.get('count')}"
        for reaction in value.get("reactions") or ()
        if isinstance(reaction, dict)
    ]
