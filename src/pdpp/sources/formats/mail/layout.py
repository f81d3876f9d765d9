"""Layouts: which files of a tree are mailboxes or messages, and the folders that they stand for."""

import binascii
import re
from pathlib import PurePosixPath

from pdpp.sources.formats.mail.emlx import emlx_message
from pdpp.sources.formats.mail.mmdf import MMDF_MARK
from pdpp.sources.reading.tree import FileEntry, Tree, unpacked_name

BOX_SUFFIXES = (".mbox", ".mbx", ".mboxrd", ".mmdf")
_SINGLE_SUFFIXES = (".eml", ".emlx")
_MAILDIR = ("cur", "new")
_INSIDE = ".sbd"
"""What Thunderbird calls the folder of the mailboxes inside a mailbox."""
_HEADERS = re.compile(
    rb"^(?:From|To|Date|Subject|Message-ID|Received|MIME-Version|Return-Path|Delivered-To):",
    re.MULTILINE | re.IGNORECASE,
)
_FEW_HEADERS = 3
FEW_WHERE_NAMED = 2
"""A file that is called as a message needs fewer headers to be one: drafts have no more."""
_HEAD_BYTES = 8_192
_UTF_7 = re.compile(r"&([A-Za-z0-9+,]{2,200})-")


def boxes_of(tree: Tree) -> list[FileEntry]:
    """Return the mailboxes of a tree; where Thunderbird has an index, an empty file is one too."""
    return [
        entry
        for entry in box_candidates(tree)
        if is_mbox(entry.head(_HEAD_BYTES)) or (entry.size == 0 and _has_index(tree, entry))
    ]


def box_candidates(tree: Tree) -> list[FileEntry]:
    """Return the files that may be mailboxes by their names."""
    if tree.kind == "file":
        return list(tree.entries)
    patterns = [f"*{suffix}" for suffix in BOX_SUFFIXES]
    named = tree.named(*patterns, "mbox")
    known = {entry.name for entry in named}
    # Folders of Thunderbird are called as their owner likes, with dots in their names too.
    inside = (
        entry
        for entry in tree.entries
        if not entry.suffix or _has_index(tree, entry) or _is_listed_mail(entry)
    )
    others = [entry for entry in inside if entry.name not in known and not in_maildir(entry)]
    return named + others


def singles_of(tree: Tree) -> list[FileEntry]:
    """Return the files that are one message each."""
    if tree.kind == "file":
        heads = ((entry, entry.head(_HEAD_BYTES)) for entry in tree.entries)
        return [entry for entry, head in heads if not is_mbox(head) and is_message(head)]
    return [
        entry
        for entry in tree.entries
        if entry.suffix in _SINGLE_SUFFIXES or in_maildir(entry) or _is_numbered(entry)
    ]


def _is_numbered(entry: FileEntry) -> bool:
    """Tell whether a file is a message of MH, whose names are numbers."""
    head = entry.head(_HEAD_BYTES) if entry.base.isdigit() else b""
    return is_message(head) and not is_mbox(head)


def _has_index(tree: Tree, entry: FileEntry) -> bool:
    return tree.get(f"{entry.name}.msf") is not None


def _is_listed_mail(entry: FileEntry) -> bool:
    """Tell whether a file is a mailbox that is called as a text, as archives of lists are."""
    return entry.suffix == ".txt" and is_mbox(entry.head(_HEAD_BYTES))


def in_maildir(entry: FileEntry) -> bool:
    """Tell whether a file lies where Maildir has its messages."""
    folders = entry.name.split("/")
    return len(folders) > 1 and folders[-2] in _MAILDIR


def is_mbox(head: bytes) -> bool:
    """Tell whether a file begins as a mailbox does."""
    first, _, rest = _plain(head).lstrip(b"\n").partition(b"\n")
    marked = first.startswith(b"From ") or first == MMDF_MARK
    return marked and len(_HEADERS.findall(rest)) >= 2


def is_mmdf(head: bytes) -> bool:
    """Tell whether the messages of a mailbox stand between lines of marks."""
    return _plain(head).lstrip(b"\n").startswith(MMDF_MARK + b"\n")


def is_message(head: bytes, few: int = _FEW_HEADERS) -> bool:
    """Tell whether a file begins as a single message does, with so few headers that are known."""
    message = without_envelope(emlx_message(_plain(head)).lstrip(b"\n"))
    headers, _, _ = message.partition(b"\n\n")
    return len(_HEADERS.findall(headers)) >= few


def _plain(head: bytes) -> bytes:
    """Return the beginning of a file without a mark, and with line feeds alone."""
    return head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def without_envelope(content: bytes) -> bytes:
    """Return a message without the line ``From …`` that some programs save before it."""
    return content.partition(b"\n")[2] if content.startswith(b"From ") else content


def box_name(entry: FileEntry) -> str:
    """Return the name of a mailbox: that of its file, or of the folder around it."""
    folder = entry.name.removesuffix("/mbox") if entry.base == "mbox" else entry.name
    name = folder.rpartition("/")[2]
    suffix = PurePosixPath(name).suffix.lower()
    return (
        _letters(name.removesuffix(suffix) if suffix in (*BOX_SUFFIXES, ".txt") else name) or "mail"
    )


def box_path(entry: FileEntry) -> str:
    """Return the name of a mailbox behind those of the folders that Thunderbird has it in."""
    around = [_letters(part[: -len(_INSIDE)]) for part in entry.name.split("/") if _is_inside(part)]
    return "/".join([*around, box_name(entry)])


def _is_inside(folder: str) -> bool:
    return folder.endswith(_INSIDE) and folder != _INSIDE


def folder_name(tree: Tree, entry: FileEntry) -> str:
    """Return the name of the folder that a message is in, however that came."""
    folders = entry.name.split("/")[:-1]
    if entry.suffix == ".emlx":
        boxes = [folder for folder in folders if folder.endswith(".mbox")]
        return boxes[-1].removesuffix(".mbox") if boxes else ""
    if folders and folders[-1] in _MAILDIR:
        folders = folders[:-1]
    if not folders:
        hidden = tree.folder.startswith(".") or tree.folder in _MAILDIR
        return "" if hidden else _letters(tree.folder)
    return _letters(unpacked_name(folders[-1]).lstrip("."))


def _letters(name: str) -> str:
    """Return the name of a folder in which mail servers write letters as ``&…-``."""

    def decoded(word: re.Match[str]) -> str:
        packed = word.group(1).replace(",", "/")
        try:
            return binascii.a2b_base64(packed + "===").decode("utf-16-be")
        except ValueError:
            return word.group()

    return _UTF_7.sub(decoded, name)
