"""Encoded words: headers of RFC 2047 as letters, in time that grows with their length alone."""

import binascii
import quopri
import re

from pdpp.sources.formats.mail.charset import guessed

# Programs leave spaces and question marks in the text as they are, though they may not. What begins
# as another word ends the text, so that no letter is looked at more than twice.
_WORD = re.compile(
    r"=\?\"?([A-Za-z0-9_.:+-]{1,60})\"?(?:\*[A-Za-z-]{1,20})?\s?\?"
    r"(?:([bB])\?([^?]*+)|([qQ])\?((?:[^?=]|=(?!\?[^=])|\?(?!=))*+))\?="
)
_SPACE = re.compile(r"\s+")
LONGEST = 256 << 10
"""So much of a header is read; no honest one is longer."""

_BROKEN = "\ufffd"
_MOSTLY = 4
_MEANT = {
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "gb_2312-80"), ("gb18030",)),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ks_c_5601", "korean"), ("cp949",)),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis"), ("cp932",)),
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), ("utf-8", "cp1252")),
    "iso-2022-jp": ("iso2022_jp_ext", "iso2022_jp_2"),
    "big5": ("big5hkscs", "cp950"),
    "iso-8859-8-i": ("iso-8859-8",),
    "iso-8859-9": ("cp1254",),
    "tis-620": ("cp874",),
    "unicode-1-1-utf-7": ("utf-7",),
}
"""What programs write that claim a charset: mostly the larger one of their maker."""


def decoded(text: str) -> str:
    """Return text in which encoded words are letters again, on one line.

    Space between two encoded words is no part of the text, any other space is.
    """
    text = text[:LONGEST]
    pieces: list[str] = []
    charset, content, at = "", b"", 0
    for word in _WORD.finditer(text):
        between = text[at : word.start()]
        adjacent = bool(charset) and not between.strip()
        # A character may be cut in two by the end of an encoded word, so that neighbours of one
        # charset are decoded together.
        if not adjacent or word.group(1).lower() != charset:
            pieces.append(guessed(content, charset) if charset else "")
            content = b""
        if not adjacent:
            pieces.append(between)
        charset = word.group(1).lower()
        content += _bytes(word)
        at = word.end()
    pieces.append(guessed(content, charset) if charset else "")
    pieces.append(text[at:])
    return _SPACE.sub(" ", "".join(pieces)).strip()


def _bytes(word: re.Match[str]) -> bytes:
    raw = (word.group(3) or word.group(5) or "").encode("utf-8", "surrogateescape")
    if word.group(4):
        return quopri.decodestring(raw, header=True)
    try:
        # Padding that is left off is common, and too much of it does no harm.
        return binascii.a2b_base64(raw + b"==")
    except binascii.Error:
        return raw
