"""Archives of Outlook for Mac: a zip with a document of XML for each message.

A message is put together as mail is written, so that everything behind reads it like any other.
"""

import re
from collections.abc import Iterable, Iterator
from email.encoders import encode_base64
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.text import MIMEText

from pdpp.sources.formats.mail.body import LEFT_OUT
from pdpp.sources.formats.mail.mbox import LARGEST
from pdpp.sources.formats.mail.parts import parts_of
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.reading.xmlstream import XmlElement, xml_elements, xml_root

OLM_REASONS = {
    "*/Address Book/Contacts.xml": "contacts of Outlook for Mac, which are not read",
    "*/Calendar/Calendar.xml": "a calendar of Outlook for Mac, which is not read",
    "*/Tasks/Tasks.xml": "tasks of Outlook for Mac, which are not read",
    "*/Notes/Notes.xml": "notes of Outlook for Mac, which are not read",
    "Categories.xml": "names of categories, which messages have too",
    "*/com.microsoft.__Attachments/*": "a file that no message names",
}
_MESSAGES = "com.microsoft.__Messages"
_MARKUP = re.compile(r"<(?:html|body|div|p|br|table|span)\b", re.IGNORECASE)
_KIND = re.compile(r"([\w.+-]+)/([\w.+-]+)", re.ASCII)
_CONTAINERS = ("message", "multipart")
"""Kinds whose parts would be looked for in a file that is not there."""
_BREAKS = re.compile(r"[\r\n]+")
_PEOPLE = {
    "From": ("FromAddresses", "SenderAddress"),
    "To": ("ToAddresses",),
    "Cc": ("CCAddresses",),
    "Bcc": ("BCCAddresses",),
}


def olm_entries(tree: Tree) -> list[FileEntry]:
    """Return the documents of messages; Outlook keeps those of a folder in one of its own."""
    named = [entry for entry in tree.named("*.xml") if _MESSAGES in entry.name.split("/")]
    first = xml_root(named[0]) if named else None
    return named if first is not None and first.name == "emails" else []


def olm_owner(entries: Iterable[FileEntry]) -> str:
    """Return the address that all messages are of, as the folder of an account is called."""
    owners = {_before(entry)[-1] for entry in entries if _before(entry)}
    return owners.pop() if len(owners) == 1 and "@" in min(owners) else ""


def olm_folder(entry: FileEntry) -> str:
    """Return the folder that a message is in, behind those around it."""
    _, _, inside = entry.name.partition(f"{_MESSAGES}/")
    return "/".join(part for part in inside.split("/")[:-1] if part != _MESSAGES)


def olm_messages(tree: Tree, entry: FileEntry) -> Iterator[tuple[bytes, list[str]] | Skipped]:
    """Yield the messages of a document, each with its categories; one that is too long is told."""
    with entry.open() as stream:
        for found in xml_elements(stream, "email"):
            if isinstance(found, XmlElement):
                labels = [each for node in found.walk() if (each := _category(node))]
                yield _headers(found) + _body(tree, entry, found).as_bytes(), labels
            elif isinstance(found, Skipped):
                yield found


def _before(entry: FileEntry) -> list[str]:
    """Return the folders around the messages of an account."""
    return entry.name.partition(f"/{_MESSAGES}/")[0].split("/")


def _said(message: XmlElement, name: str) -> str:
    return message.text_at(f"OPFMessageCopy{name}")


def _category(node: XmlElement) -> str:
    return node.attributes.get("OPFCategoryCopyName", "").strip()


def _headers(message: XmlElement) -> bytes:
    number = _said(message, "MessageID").strip("<>")
    answered = _said(message, "InReplyTo").strip("<>")
    # The times are UTC, though they do not say so.
    sent = (_said(message, "SentTime") or _said(message, "ReceivedTime")).removesuffix("Z")
    named = {
        "Message-ID": f"<{number}>" if number else "",
        "In-Reply-To": f"<{answered}>" if answered else "",
        "References": _said(message, "References"),
        "Date": f"{sent}Z" if sent else "",
        "Subject": _said(message, "Subject"),
        **{name: _people(message, places) for name, places in _PEOPLE.items()},
    }
    lines = [f"{name}: {_BREAKS.sub(' ', text)}\n" for name, text in named.items() if text]
    return "".join(lines).encode("utf-8", "replace")


def _people(message: XmlElement, places: Iterable[str]) -> str:
    found = (message.at(f"OPFMessageCopy{place}") for place in places)
    people = ([_person(each) for each in node.walk()] for node in found if node is not None)
    return next((", ".join(filter(None, each)) for each in people if any(each)), "")


def _person(node: XmlElement) -> str:
    name = node.attributes.get("OPFContactEmailAddressName", "").strip().replace('"', "'")
    address = node.attributes.get("OPFContactEmailAddressAddress", "").strip()
    if not address:
        return f'"{name}"' if name else ""
    return f'"{name}" <{address}>' if name and name != address else address


def _body(tree: Tree, entry: FileEntry, message: XmlElement) -> Message:
    whole, texts = parts_of("mixed"), parts_of("alternative")
    plain, page = _said(message, "Body"), _said(message, "HTMLBody")
    if plain and not page and _MARKUP.search(plain):
        plain, page = "", plain
    if plain and not _MARKUP.search(plain):
        texts.attach(MIMEText(plain, "plain", "utf-8"))
    if page:
        texts.attach(MIMEText(page, "html", "utf-8"))
    whole.attach(texts)
    for node in message.walk():
        if node.name == "messageAttachment":
            whole.attach(_attachment(tree, entry, node))
    return whole


def _attachment(tree: Tree, entry: FileEntry, node: XmlElement) -> Message:
    told = node.attributes
    name = _BREAKS.sub(" ", told.get("OPFAttachmentName", "")) or "file"
    file = _file(tree, entry, told.get("OPFAttachmentURL", ""))
    lost = file is None or file.size > LARGEST
    kind = _KIND.fullmatch(told.get("OPFAttachmentContentType", ""))
    if kind is None or (lost and kind[1].lower() in _CONTAINERS):
        part = MIMEBase("application", "octet-stream")
    else:
        part = MIMEBase(kind[1], kind[2])
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    if file is None or lost:
        part[LEFT_OUT] = "0"
    else:
        with file.open_exact() as stream:
            part.set_payload(stream.read(LARGEST))
        encode_base64(part)
    return part


def _file(tree: Tree, entry: FileEntry, place: str) -> FileEntry | None:
    """Return a file by its place in the archive, which may lie in something else."""
    for start in ("Accounts/", "Local/"):
        top, found, _ = entry.name.rpartition(start)
        if found and place:
            return tree.get(f"{top}{place}")
    return tree.get(place) if place else None
