"""Apple Mail: messages between a length and a list of marks, and files that lie apart from them."""

import binascii
import re
from collections.abc import Mapping

from pdpp.sources.reading.tree import FileEntry, Tree

_FLAGS = re.compile(rb"<key>flags</key>\s*<integer>(\d{1,19})</integer>")
_DELETED = 2
_LONGEST_LENGTH = 20
_ATTACHED = re.compile(r"(?:(.*)/)?Attachments/(\d+)/([\d.]+)/[^/.][^/]*")
_CUT_OUT = re.compile(r"(?:(.*)/)?Messages/(\d+)\.([\d.]+)\.emlxpart")
_MESSAGE = re.compile(r"(?:(.*)/)?Messages/(\d+)(?:\.partial)?\.emlx")
_LARGEST = 64 << 20

Place = tuple[str, str, str]
"""The folder of a mailbox, the number of a message, and that of its part."""


def emlx_message(content: bytes) -> bytes:
    """Return the message of a file of Apple Mail; any other file as it is."""
    length, _, rest = content.partition(b"\n")
    known = len(length) <= _LONGEST_LENGTH and length.strip().isdigit()
    return rest[: int(length)] if known else content


def is_deleted_emlx(content: bytes) -> bool:
    """Tell whether Apple Mail marks a message as deleted."""
    flags = _FLAGS.search(content[-4_096:])
    return flags is not None and bool(int(flags.group(1)) & _DELETED)


def files_apart(tree: Tree) -> dict[Place, FileEntry]:
    """Return the files that Apple Mail keeps apart from its messages, by where they belong."""
    found: dict[Place, FileEntry] = {}
    for entry in tree.entries:
        match = _ATTACHED.fullmatch(entry.name) or _CUT_OUT.fullmatch(entry.name)
        if match:
            found[match.group(1) or "", match.group(2), match.group(3)] = entry
    return found


def read_apart(files: Mapping[Place, FileEntry], message: FileEntry, part: str) -> bytes | None:
    """Return the content of a part that lies apart from its message.

    None where it does not, or where it is too large to be read.
    """
    match = _MESSAGE.fullmatch(message.name)
    place = (match.group(1) or "", match.group(2), part) if match else ("", "", "")
    entry = files.get(place)
    if entry is None or entry.size > _LARGEST:
        return None
    content = entry.head(_LARGEST)
    if entry.suffix != ".emlxpart":
        return content
    try:
        return binascii.a2b_base64(content)
    except binascii.Error:
        return content
