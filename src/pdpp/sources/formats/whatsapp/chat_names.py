"""Chat names: whom a chat is with, as its file, what lies around it or its first note tells."""

import re

from pdpp.sources.formats.whatsapp.lines import MARKS, chat_line
from pdpp.sources.formats.whatsapp.titles import name_in_title
from pdpp.sources.reading.tree import FileEntry, Tree, composed, unpacked_name

_COPY = re.compile(r" ?\(\d+\)\Z")


def chat_name(tree: Tree, entry: FileEntry) -> str:
    """Return who a chat is with; a download that was there already has a number behind it."""
    stem = _COPY.sub("", entry.base.removesuffix(".txt"))
    if stem == "_chat":
        folder = entry.name.rpartition("/")[0].rpartition("/")[2]
        stem = _told_name(unpacked_name(folder) or _outside(tree), entry)
    plain = _plain(stem)
    return name_in_title(plain) or plain or "chat"


def _plain(stem: str) -> str:
    return _COPY.sub("", composed(stem).replace("\u00a0", " ").replace("_", " ").strip())


def _outside(tree: Tree) -> str:
    """Return the name of the zip that a chat lies in, or of the folder it was taken out to."""
    folder = tree.path.parent.name
    is_named = tree.kind == "file" and name_in_title(_plain(folder))
    return folder if is_named else tree.called


def _told_name(around: str, entry: FileEntry) -> str:
    """Return what a chat is called whose file has the name that every iPhone gives it.

    A zip or a folder that somebody renamed tells nothing. The note that the phone puts first bears
    the name of the chat.
    """
    if name_in_title(_plain(around)):
        return around
    text = entry.head().decode("utf-8", "replace")
    first = next((begun for line in text.splitlines() if (begun := chat_line(line))), None)
    if first is not None and first.sender and first.text.startswith(MARKS[0]):
        return first.sender
    return around
