"""Mail: mbox files, single messages and Maildir folders."""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pdpp.evidence.amount import counted
from pdpp.sources.formats.mail.mbox import LARGEST, mbox_messages
from pdpp.sources.formats.mail.owner import is_called_as_owner, owner_of, without_copy
from pdpp.sources.item import Attachment, Finding, Item, Skipped
from pdpp.sources.keys import RecordKey, SeenKeys, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.times import local_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

if TYPE_CHECKING:
    from email.message import Message

_HEADERS = re.compile(
    rb"^(?:From|To|Date|Subject|Message-ID|Received|MIME-Version|Return-Path|Delivered-To):",
    re.MULTILINE | re.IGNORECASE,
)
_FEW_HEADERS = 3
_LENGTH = re.compile(rb"(\d{1,9})[ \t]*\r?\n")
_EXPUNGED = 0x0008
_SINGLE_SUFFIXES = (".eml", ".emlx")

_MOST_LOOKED_AT = 20
_MOST_REMEMBERED = 2_000_000
_MAILDIR = ("cur", "new")
_BOX_SUFFIXES = (".mbox", ".mbx")


class Mail(Source):
    """Mail as Gmail, Thunderbird, Apple Mail and most others hand it out."""

    connector_key = "mail"
    lies_among_others = True
    label = "Mail (mbox, .eml or Maildir)"

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for mailboxes and messages by their first lines."""
        boxes = [entry for entry in _box_candidates(tree) if is_mbox(entry.head(8_192))]
        singles = _singles(tree)
        if not boxes and not any(
            is_message(entry.head(8_192)) for entry in singles[:_MOST_LOOKED_AT]
        ):
            return None
        owner = owner_of([*boxes, *singles])
        account = owner or without_copy(tree.path.stem)
        kinds = [
            counted(len(entries), one, many)
            for entries, one, many in ((boxes, "mailbox", "mailboxes"), (singles, "message", ""))
            if entries
        ]
        return Recognition(
            Confidence.CERTAIN,
            " and ".join(kinds),
            account=f"Mail ({account})",
            identity=owner or "",
            owner_known=bool(owner),
            records=None if boxes else len(singles),
            detail={"boxes": [entry.name for entry in boxes], "several": len(boxes) > 1},
        )

    def owner_entries(self, tree: Tree) -> Sequence[FileEntry]:
        """Return the mailboxes that stand for one of several people's.

        Two folders have an inbox each, or a mailbox is called as whom its messages came to. Who
        sorts mail into folders has boxes of any other name, and may have several addresses.
        """
        boxes = _box_candidates(tree)
        names = Counter(_box_name(entry).casefold() for entry in boxes)
        return [
            entry
            for entry in boxes
            if (names[_box_name(entry).casefold()] > 1 and is_mbox(entry.head(8_192)))
            or (entry.suffix in _BOX_SUFFIXES and is_called_as_owner(entry, _box_name(entry)))
        ]

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each mailbox and each message."""
        seen = SeenKeys(_MOST_REMEMBERED)
        for entry in tree.these(recognition.detail["boxes"]):
            # A file alone is called as its owner likes: its name says nothing of the messages.
            several = recognition.detail["several"]
            folder = _Folder(entry, _box_name(entry) if several else "", several, seen)
            yield ExportPart(entry, partial(_read_box, folder))
        for entry in _singles(tree):
            folder = _Folder(entry, _folder_name(entry), False, SeenKeys())
            yield ExportPart(entry, partial(_read_single, folder))


class _Folder(NamedTuple):
    """The mailbox that messages are in; in an export of several a message may be in more."""

    entry: FileEntry
    name: str
    several: bool
    seen: SeenKeys

    def key(self, *parts: str) -> RecordKey | None:
        """Return the key of a message; None where it stands twice in its mailbox.

        The first of several mailboxes that hold a message gives it the key that it has where a
        mailbox comes alone; in the others it is a message of that mailbox.
        """
        plain = digest_key(*parts)
        if not self.several:
            return plain if self.seen.first(plain) else None
        placed = digest_key(self.name, *parts)
        if not self.seen.first(placed):
            return None
        return plain if self.seen.first(plain) else placed


def _box_candidates(tree: Tree) -> list[FileEntry]:
    if tree.kind == "file":
        return list(tree.entries)
    inside = [entry for entry in tree.entries if not entry.suffix and not _in_maildir(entry)]
    return [*tree.named("*.mbox", "*.mbx", "mbox"), *(e for e in inside if e.base != "mbox")]


def _singles(tree: Tree) -> list[FileEntry]:
    if tree.kind == "file":
        single = (entry for entry in tree.entries if not is_mbox(entry.head(8_192)))
        return [entry for entry in single if is_message(entry.head(8_192))]
    return [
        entry for entry in tree.entries if entry.suffix in _SINGLE_SUFFIXES or _in_maildir(entry)
    ]


def _in_maildir(entry: FileEntry) -> bool:
    folders = entry.name.split("/")
    return len(folders) > 1 and folders[-2] in _MAILDIR


def is_mbox(head: bytes) -> bool:
    """Tell whether a file begins as a mailbox does."""
    first, _, rest = _plain(head).lstrip(b"\n").partition(b"\n")
    return first.startswith(b"From ") and len(_HEADERS.findall(rest)) >= 2


def is_message(head: bytes) -> bool:
    """Tell whether a file begins as a single message does."""
    headers, _, _ = without_envelope(_plain(head).lstrip(b"\n")).partition(b"\n\n")
    return len(_HEADERS.findall(headers)) >= _FEW_HEADERS


def _plain(head: bytes) -> bytes:
    """Return the beginning of a file without a mark, and with line feeds alone."""
    return head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def without_envelope(content: bytes) -> bytes:
    """Return a message without what some programs save around it.

    That is a line ``From …`` before it. Apple Mail writes how long the message is before it, and
    what it knows of it behind.
    """
    if content.startswith(b"From "):
        return content.partition(b"\n")[2]
    length = _LENGTH.match(content)
    return content[length.end() :][: int(length[1])] if length else content


def _box_name(entry: FileEntry) -> str:
    folder = entry.name.removesuffix("/mbox") if entry.base == "mbox" else entry.name
    return re.sub(r"\.(?:mbox|mbx)$", "", folder.rpartition("/")[2]) or "mail"


def _folder_name(entry: FileEntry) -> str:
    folders = entry.name.split("/")[:-1]
    # Apple Mail keeps messages some folders below the one that a person knows.
    boxes = [folder for folder in folders if folder.endswith(_BOX_SUFFIXES)]
    if boxes:
        return boxes[-1].rpartition(".")[0]
    if folders and folders[-1] in _MAILDIR:
        folders = folders[:-1]
    return folders[-1].lstrip(".") if folders else ""


def _read_box(folder: _Folder) -> Iterator[Finding]:
    with folder.entry.open() as stream:
        for finding in mbox_messages(stream, folder.entry.name):
            if isinstance(finding, Skipped):
                yield finding
            else:
                where = f"{folder.entry.name} message {finding.number}"
                findings = _message(folder, finding.content, finding.envelope, where)
                yield from account(findings, where, "message")


def _read_single(folder: _Folder) -> Iterator[Finding]:
    name = folder.entry.name
    with folder.entry.open() as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        yield Skipped("a message too large", name)
    elif not is_message(content[:65_536]):
        yield Skipped("a file that is no message", name)
    else:
        content = without_envelope(content.removeprefix(b"\xef\xbb\xbf"))
        yield from account(_message(folder, content, "", name), name, "message")


def _message(folder: _Folder, content: bytes, envelope: str, where: str) -> Iterator[Finding]:
    from pdpp.sources.formats.mail.body import MOST_PARTS, body
    from pdpp.sources.formats.mail.message import header, parse

    message = parse(content)
    if _is_deleted(header(message, "X-Mozilla-Status")):
        yield Skipped("a message that was deleted, and only waits to be removed", where)
        return
    name = header(message, "Message-ID")
    parts = [header(message, header_name) for header_name in ("Date", "From", "Subject")]
    key = folder.key(name or digest_key(content), *parts)
    if key is None:
        yield Skipped("a message that stands twice", where)
        return
    said = body(message)
    data = _data(folder, message, key, envelope, said.text)
    html = () if said.html is None else (_attachment("html", said.html, "text/html"),)
    yield Item("messages", key, data, html)
    times = {name: data[name] for name in ("sent_at", "floating") if name in data}
    for number, file in enumerate(said.files, 1):
        own = safe_key(key, str(number))
        about = {"id": own, "message_id": key, "name": file.name, "media_type": file.media_type}
        attachment = _attachment("file", file.content, file.media_type)
        yield Item("attachments", own, about | times, (attachment,))
    if said.left_out:
        yield Skipped(f"parts of a message beyond the first {MOST_PARTS:,}", where)


def _is_deleted(status: str) -> bool:
    """Tell whether Thunderbird marked a message as deleted; it stays in the file for a while."""
    try:
        return bool(int(status, 16) & _EXPUNGED)
    except ValueError:
        return False


def _attachment(field: str, content: bytes, media_type: str) -> Attachment:
    return Attachment(field, partial(io.BytesIO, content), media_type)


def _data(
    folder: _Folder, message: "Message", key: str, envelope: str, text: str
) -> dict[str, object]:
    from pdpp.sources.formats.mail.message import header, people, references, sent

    before = references(message)
    moment = sent(message, envelope)
    when, floating = (None, None) if moment is None else local_text(moment, None)
    thread = header(message, "X-GM-THRID") or (before[0] if before else "")
    labels = [label.strip() for label in header(message, "X-Gmail-Labels").split(",")]
    data: dict[str, object] = {
        "id": key,
        "message_id": header(message, "Message-ID"),
        "thread_id": thread or header(message, "Message-ID"),
        "subject": header(message, "Subject") or "(no subject)",
        "sender": ", ".join(people(message, "From")),
        "to": people(message, "To"),
        "cc": people(message, "Cc"),
        "bcc": people(message, "Bcc"),
        "body": text,
        "labels": [label for label in labels if label],
        "folder": folder.name,
        "in_reply_to": before[-1] if before else None,
        "sent_at": when,
        "floating": floating,
    }
    return {
        name: value
        for name, value in data.items()
        if name in ("body", "sender") or value not in (None, "", [])
    }
