"""Charsets: bytes of mail as letters, also where their charset is misnamed or not named at all."""

import codecs
import re

from pdpp.sources.reading.eastern import eastern_encoding

_WIDER = {
    "ascii": "utf-8",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
"""Programs name the charset on the left and write letters that only the right one has."""
_WESTERN = frozenset({"ascii", "iso8859-1", "iso8859-15", "cp1252"})
_NO_CHARSETS = frozenset(
    {"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "mbcs", "oem"}
)
_WINDOWS = re.compile(r"(?:windows|win|cp|x-cp|x-windows|ms|ibm)[-_ ]?(\d{3,5})")
_ALSO_CALLED = {
    "iso-8859-8-e": "iso8859-8",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-roman": "mac_roman",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "utf8mb4": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
}
_JAPANESE = re.compile(rb"\x1b\$[@B]([^\x1b\n]*)")
"""Letters of two bytes in Japanese text of seven bits."""
_ESCAPE = re.compile(rb"\x1b\([BJ]")
_NOT_A_LETTER = "\ufffd"


def guessed(content: bytes, charset: str) -> str:
    """Return text in the charset it claims, else in one that it can be.

    UTF-8 is hardly ever anything else by chance, so that it wins over a western charset, in which
    all bytes have a meaning. One bad byte does not spoil the text around it.
    """
    claimed = _codec(charset)
    if claimed in (None, "ascii", "utf-8", "iso2022_jp") and _JAPANESE.search(content):
        return _japanese(content)
    codec = _WIDER.get(claimed or "utf-8", claimed or "utf-8")
    for name in ("utf-8", codec) if claimed in _WESTERN else (codec, "utf-8"):
        try:
            return content.decode(name)
        except ValueError:
            continue
    if claimed in (None, "ascii") and (eastern := eastern_encoding(content + b"\n")):
        return content.decode(eastern, "replace")
    text = content.decode(codec, "replace")
    good = sum(letter > "\x7f" for letter in text) - (bad := text.count(_NOT_A_LETTER))
    return text if good > bad else content.decode("cp1252", "replace")


def _japanese(content: bytes) -> str:
    """Return text of ISO-2022-JP, also with the letters of Windows that it does not have."""
    try:
        return content.decode("iso2022_jp_2")
    except ValueError:
        eight_bits = _JAPANESE.sub(lambda found: bytes(b | 0x80 for b in found.group(1)), content)
        return _ESCAPE.sub(b"", eight_bits).decode("euc_jis_2004", "replace")


def _codec(charset: str) -> str | None:
    """Return the name that Python has for a charset, or None where it is none."""
    name = charset.strip(" '\"").lower()
    numbered = _WINDOWS.fullmatch(name)
    name = f"cp{numbered.group(1)}" if numbered else _ALSO_CALLED.get(name, name)
    for called in (name, name.removeprefix("x-")):
        try:
            found = codecs.lookup(called)
        except (LookupError, ValueError):
            continue
        if found._is_text_encoding and found.name not in _NO_CHARSETS:
            return found.name
    return None
