"""Mail: mbox files, single messages and Maildir folders."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pdpp.evidence.amount import counted
from pdpp.sources.formats.mail.emlx import (
    Place,
    emlx_message,
    files_apart,
    is_deleted_emlx,
    read_apart,
)
from pdpp.sources.formats.mail.layout import (
    BOX_SUFFIXES,
    FEW_WHERE_NAMED,
    box_candidates,
    box_name,
    box_path,
    boxes_of,
    folder_name,
    is_mbox,
    is_message,
    is_mmdf,
    singles_of,
    without_envelope,
)
from pdpp.sources.formats.mail.mbox import LARGEST, mbox_messages
from pdpp.sources.formats.mail.mmdf import mmdf_messages
from pdpp.sources.formats.mail.olm import (
    OLM_REASONS,
    olm_entries,
    olm_folder,
    olm_messages,
    olm_owner,
)
from pdpp.sources.formats.mail.outlook import OutlookMessage, outlook_entries
from pdpp.sources.formats.mail.owner import is_called_as_owner, owner_of
from pdpp.sources.formats.mail.owners import owners_apart
from pdpp.sources.formats.mail.proton import ProtonLabels
from pdpp.sources.item import Attachment, Finding, Item, Skipped
from pdpp.sources.keys import RecordKey, SeenKeys, digest_key, safe_key
from pdpp.sources.reading.compoundfile import CompoundFile
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.times import local_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
    without_copy,
)

if TYPE_CHECKING:
    from pdpp.sources.formats.mail.body import MessageBody
    from pdpp.sources.formats.mail.message import MailMessage

_MOST_LOOKED_AT = 20
_MOST_REMEMBERED = 2_000_000
_LABEL = re.compile(r'"([^"]*+)"(?=\s*(?:,|\Z))|([^,]++)')
_UNREADABLE = {
    ".pst": "Outlook keeps mail in it that only Outlook reads",
    ".ost": "Outlook keeps mail in it that only Outlook reads",
    ".msg": "it is no message as Outlook saves it",
    ".dbx": "Outlook Express keeps mail in it",
}
_TRY_THUNDERBIRD = (
    "bring the mail into Thunderbird or save it as .eml files, and import the folder of that"
)


class Mail(Source):
    """Mail as Gmail, Thunderbird, Apple Mail and most others hand it out."""

    connector_key = "mail"
    parts_depend = True
    lies_among_others = True
    files_stand_alone = True
    label = "Mail (mbox, .eml or Maildir)"
    passed_over = MappingProxyType(
        {
            "*.msf": "an index of Thunderbird",
            "*.wdseml": "a copy of a message for the search of Windows",
            "*.mozeml": "a copy of a message for the search of macOS",
            "table_of_contents": "an index of Apple Mail",
            "Envelope Index*": "an index of Apple Mail",
            "*mboxCache.plist": "an index of Apple Mail",
            "dovecot*": "an index of a mail server",
            "courierimap*": "an index of a mail server",
            "maildirfolder": "an index of a mail server",
            ".mh_sequences": "an index of a mail program",
            "*/User Settings/*.json": "settings of Gmail",
            **OLM_REASONS,
        }
    )

    def recognise(
        self,
        tree: Tree,
        choices: OwnerChoices,  # noqa: ARG002 - nothing can be said
    ) -> Recognition | ExportRefusal | None:
        """Look for mailboxes and messages by their first lines."""
        boxes = boxes_of(tree)
        singles, of_mac, of_outlook = singles_of(tree), olm_entries(tree), outlook_entries(tree)
        if (
            not any(entry.size for entry in boxes)
            and not any(is_message(entry.head(8_192)) for entry in singles[:_MOST_LOOKED_AT])
            and not of_mac
            and not of_outlook
        ):
            return _refusal(tree)
        owner = owner_of([*boxes, *singles]) or olm_owner(of_mac)
        account = owner or without_copy(tree.called)
        kinds = [
            counted(len(entries), one, many)
            for entries, one, many in (
                (boxes, "mailbox", "mailboxes"),
                ([*singles, *of_mac, *of_outlook], "message", ""),
            )
            if entries
        ]
        return Recognition(
            Confidence.CERTAIN,
            " and ".join(kinds),
            account=f"Mail ({account})",
            identity=owner or "",
            owner_known=bool(owner),
            records=None if boxes else len(singles) + len(of_mac) + len(of_outlook),
            notes=(refusal.message,) if (refusal := _refusal(tree)) else (),
            detail={"boxes": [entry.name for entry in boxes]},
        )

    def owner_entries(self, tree: Tree) -> Sequence[FileEntry]:
        """Return the mailboxes that stand for one of several people's.

        Two folders have an inbox each, or a mailbox is called as whom its messages came to. Who
        sorts mail into folders has boxes of any other name, and may have several addresses.
        """
        boxes = box_candidates(tree)
        names = Counter(box_name(entry).casefold() for entry in boxes)
        return [
            entry
            for entry in boxes
            if (names[box_name(entry).casefold()] > 1 and is_mbox(entry.head(8_192)))
            or (entry.suffix in BOX_SUFFIXES and is_called_as_owner(entry, box_name(entry)))
        ]

    def apart(self, tree: Tree) -> Sequence[Tree]:
        """Return the mail of each person where Takeouts lie among other mail."""
        return owners_apart(tree)

    def owned_files(self, recognition: Recognition) -> Sequence[str]:
        """Return the mailboxes."""
        boxes: Sequence[str] = recognition.detail["boxes"]
        return boxes

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each mailbox and each message."""
        seen = SeenKeys(_MOST_REMEMBERED)
        boxes = list(tree.these(recognition.detail["boxes"]))
        # The first that holds a message says where it is. One with all mail holds most, and says
        # least.
        for entry in sorted(boxes, key=lambda box: (box.size, box.name)):
            # A file alone is called as its owner likes: its name says nothing of the messages.
            folder = _Folder(entry, box_path(entry) if len(boxes) > 1 else "", seen, is_box=True)
            yield ExportPart(entry, partial(_read_box, folder))
        labels, apart = ProtonLabels(tree), files_apart(tree)
        for entry in singles_of(tree):
            folder = _Folder(entry, folder_name(tree, entry), seen)
            yield ExportPart(entry, partial(_read_single, folder, labels, apart))
        for entry in olm_entries(tree):
            folder = _Folder(entry, olm_folder(entry), seen)
            yield ExportPart(entry, partial(_read_olm, tree, folder))
        for entry in outlook_entries(tree):
            folder = _Folder(entry, folder_name(tree, entry), seen)
            yield ExportPart(entry, partial(_read_outlook, folder))

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the files that Apple Mail keeps apart from its messages."""
        return [entry.name for entry in files_apart(tree).values()]


def _refusal(tree: Tree) -> ExportRefusal | None:
    """Say what to do with files in which Microsoft's programs keep mail."""
    readable = {entry.name for entry in outlook_entries(tree)}
    for entry in tree.entries:
        why = _UNREADABLE.get(entry.suffix) if entry.name not in readable else None
        if why is not None:
            return ExportRefusal(f"{entry.name} cannot be read: {why}; {_TRY_THUNDERBIRD}")
    return None


class _Folder(NamedTuple):
    """The mailbox that messages are in, and the messages of the export that came before."""

    entry: FileEntry
    name: str
    seen: SeenKeys
    is_box: bool = False

    def key(self, *parts: str) -> RecordKey | None:
        """Return the key of a message; None where it stands twice, in one mailbox or in two.

        Mailboxes of one folder are often copies: downloads of several months, or what Gmail shows
        under several labels.
        """
        key = digest_key(*parts)
        return key if self.seen.first(key) else None


def _read_box(folder: _Folder) -> Iterator[Finding]:
    messages = mmdf_messages if is_mmdf(folder.entry.head(8_192)) else mbox_messages
    with folder.entry.open() as stream:
        for finding in messages(stream, folder.entry.name):
            if isinstance(finding, Skipped):
                yield finding
            else:
                where = f"{folder.entry.name} message {finding.number}"
                stored = StoredMessage(finding.content, finding.envelope, where)
                yield from account(_message(folder, stored), where, "message")


def _read_single(
    folder: _Folder, labels: ProtonLabels, apart: Mapping[Place, FileEntry]
) -> Iterator[Finding]:
    entry = folder.entry
    with entry.open() as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        yield Skipped("a message too large", entry.name)
    elif not is_message(content[:65_536], FEW_WHERE_NAMED):
        yield Skipped("a file that is no message", entry.name)
    elif entry.suffix == ".emlx" and is_deleted_emlx(content):
        yield Skipped("a message that its owner deleted", entry.name)
    else:
        known = labels.of(entry)
        # The folder that Proton writes is called by the time of the export.
        folder = folder if known is None else folder._replace(name="")
        whole = emlx_message(content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n"))
        stored = StoredMessage(
            without_envelope(whole), "", entry.name, partial(read_apart, apart, entry), known or []
        )
        yield from account(_message(folder, stored), entry.name, "message")


def _read_olm(tree: Tree, folder: _Folder) -> Iterator[Finding]:
    name = folder.entry.name
    for found in olm_messages(tree, folder.entry):
        if isinstance(found, Skipped):
            yield found
        else:
            content, labels = found
            stored = StoredMessage(content, "", name, labels=labels)
            yield from account(_message(folder, stored), name, "message")


def _read_outlook(folder: _Folder) -> Iterator[Finding]:
    name = folder.entry.name
    with folder.entry.open() as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        yield Skipped("a message too large", name)
    else:
        yield from account(_saved_by_outlook(folder, content), name, "message")


def _saved_by_outlook(folder: _Folder, content: bytes) -> Iterator[Finding]:
    name = folder.entry.name
    message = OutlookMessage(CompoundFile(content))
    if not message.is_mail:
        yield Skipped("an appointment, a contact or a task of Outlook, which is not read", name)
        return
    yield from _message(folder, StoredMessage(message.as_mail(), "", name))
    if message.lacks_text:
        yield Skipped("a text that Outlook packed as rich text, which is not read", name)


class StoredMessage(NamedTuple):
    """A message as a file or a mailbox holds it, and what stands beside it."""

    content: bytes
    envelope: str
    where: str
    apart: Callable[[str], bytes | None] = lambda _: None
    labels: Sequence[str] = ()


def _message(folder: _Folder, stored: StoredMessage) -> Iterator[Finding]:
    from pdpp.sources.formats.mail.body import MOST_PARTS, body
    from pdpp.sources.formats.mail.identity import contents_mark, message_id, other_marks
    from pdpp.sources.formats.mail.message import header, lacks_end, parse
    from pdpp.sources.formats.mail.tags import is_deleted, is_of_mailbox

    message = parse(stored.content)
    if is_deleted(message):
        yield Skipped("a message that its owner deleted", stored.where)
        return
    if is_of_mailbox(message):
        yield Skipped("what a mail program notes of a mailbox, which is no message", stored.where)
        return
    if folder.is_box and header(message, "X-Gmail-Labels"):
        # Gmail writes a mailbox for each label, and all labels of a message into each of them.
        folder = folder._replace(name="")
    # To read what a message says takes longest, and most have an id.
    name, said = message_id(message), None
    if not name:
        said = body(message, stored.apart)
        name = contents_mark(message, said)
    key = folder.key(name, *other_marks(message))
    if key is None:
        yield Skipped("a message that stands twice", stored.where)
        return
    said = said or body(message, stored.apart)
    data = _data(folder, message, key, stored, said.text)
    html = () if said.html is None else (_attachment("html", said.html, "text/html"),)
    # A mailbox that comes alone names no folder: what an export of several said of it stays.
    keeps = "" if folder.name or stored.labels or header(message, "X-Gmail-Labels") else "folder"
    yield Item("messages", key, data, html, keeps=keeps)
    times = {name: data[name] for name in ("sent_at", "floating") if name in data}
    for number, file in enumerate(said.files, 1):
        own = safe_key(key, str(number))
        about = {"id": own, "message_id": key, "name": file.name, "media_type": file.media_type}
        if file.content is None:
            yield Item("attachments", own, about | times)
            yield Skipped("a file that the mail program had not downloaded", stored.where)
        else:
            attachment = _attachment("file", file.content, file.media_type)
            yield Item("attachments", own, about | times, (attachment,))
    if reason := _lacking_text(said, stored.where):
        yield Skipped(reason, stored.where)
    if lacks_end(message):
        yield Skipped(
            "the end of a message, which its sender left out or which is cut off", stored.where
        )
    if said.left_out:
        yield Skipped(f"parts of a message beyond the first {MOST_PARTS:,}", stored.where)


def _lacking_text(said: "MessageBody", where: str) -> str:
    """Say that a text is missing that Apple Mail left on the server; nothing where it is there."""
    empty = not (said.text or said.html or said.files)
    if said.lacks_text or (empty and where.endswith(".partial.emlx")):
        return "a text that the mail program had not downloaded"
    if empty and where.endswith(".emlx"):
        return "a message without text, which the mail program may not have downloaded"
    return ""


def _attachment(field: str, content: bytes, media_type: str) -> Attachment:
    return Attachment(field, partial(io.BytesIO, content), media_type)


def _labels(text: str) -> list[str]:
    """Return the labels that Gmail writes, in quotes where one has a comma."""
    labels = (bare or quoted for quoted, bare in _LABEL.findall(text))
    return [label.strip() for label in labels if label.strip()]


def _data(
    folder: _Folder, message: "MailMessage", key: str, stored: StoredMessage, text: str
) -> dict[str, object]:
    from pdpp.sources.formats.mail.label_names import label_names
    from pdpp.sources.formats.mail.message import address_of, header, people, references, sent
    from pdpp.sources.formats.mail.tags import tags

    before = references(message)
    moment = sent(message, stored.envelope)
    when, floating = (None, None) if moment is None else local_text(moment, None)
    thread = header(message, "X-GM-THRID") or (before[0] if before else "")
    senders, to, cc, bcc = (people(message, name) for name in ("From", "To", "Cc", "Bcc"))
    of_gmail = _labels(header(message, "X-Gmail-Labels"))
    labels = [*of_gmail, *stored.labels, *tags(message)]
    data: dict[str, object] = {
        "id": key,
        "message_id": header(message, "Message-ID"),
        "thread_id": thread or header(message, "Message-ID"),
        "subject": header(message, "Subject") or "(no subject)",
        "sender": ", ".join(senders),
        "sender_email": next(filter(None, map(address_of, senders)), None),
        "to": to,
        "cc": cc,
        "bcc": bcc,
        "recipients": ", ".join((*to, *cc, *bcc)),
        "body": text,
        "labels": labels,
        "label_names": label_names(labels),
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
