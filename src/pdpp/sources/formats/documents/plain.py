"""Plain text: letters in one of several encodings, and nothing else."""

from pdpp.sources.formats.documents.text import LONGEST_TEXT, NotReadable, PagedText
from pdpp.sources.reading.textfile import decoded

_CONTROLS = frozenset(map(chr, range(32))) - set("\t\n\r\f\x1a")


def is_plain(content: bytes) -> bool:
    """Tell whether bytes are text."""
    text = decoded(content)
    return bool(text.strip()) and _CONTROLS.isdisjoint(text)


def read_plain(content: bytes) -> PagedText:
    """Return a plain text as it stands."""
    if content.strip() and not is_plain(content):
        raise NotReadable("a file that is no text")
    text = decoded(content)
    document = PagedText()
    document.text = text[:LONGEST_TEXT]
    document.is_cut = len(text) > LONGEST_TEXT
    return document
