"""Names in zips: in which letters they are written, where the zip does not say that.

A zip marks names in UTF-8. Older programs, and Windows' own, write the letters of the machine
instead, which is one encoding for all names of a zip: it is guessed from all of them together.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress

_SAYS_UTF8 = 0x800
_DOS = "cp437"
"""How the zip reader decodes names that are not marked; it has a letter for each byte."""
_UNICODE_PATH = 0x7075
_FIELD = struct.Struct("<HH")
_UNICODE_HEAD = struct.Struct("<BL")
_SLASHES = re.compile("/{2,}")
_NO_STEPS = re.compile(r"(?:(?<=/)|\A)(?:\./)+")
_KANA = re.compile("[\u3041-\u30ff]{2}")
_NARROW_KANA = re.compile("[\uff61-\uff9f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]*")
_CYRILLIC = re.compile("[\u0400-\u045f\u2116]*")
_MIXED = re.compile("[A-Za-z][\u0400-\u045f]|[\u0400-\u045f][A-Za-z]")
_LATIN = re.compile("[\u00c0-\u017f\xaa\xba\xb0\xa1\xbf]*")
_MOST_ACCENTS = 3
"""At most every third letter of Western names has an accent."""
_MANY_HANGUL = 8
"""So many different syllables are not Chinese by chance, of which many lie elsewhere."""


def entry_names(infos: Sequence[zipfile.ZipInfo]) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Yield the entries of a zip with the names that they have once somebody unpacks it.

    Some programs of Windows write backslashes between folders. Those of macOS write UTF-8 and do
    not say so; what is UTF-8 by chance in older letters is no name that anybody gave.
    """
    slashes = any("/" in info.filename for info in infos)
    encoding = guess_encoding([raw for info in infos if (raw := _unmarked(info)) is not None])
    for info in infos:
        raw = _unmarked(info)
        name = _unicode_path(info) or (info.filename if raw is None else _decoded(raw, encoding))
        yield _straight(name if slashes else name.replace("\\", "/")), info


def _straight(name: str) -> str:
    """Return a name without steps that lead nowhere: ``./a`` and ``a`` are one file."""
    if not name.startswith("./") and "/./" not in name and "//" not in name:
        return name
    return _NO_STEPS.sub("", _SLASHES.sub("/", name)) or "./"


def _unmarked(info: zipfile.ZipInfo) -> bytes | None:
    """Return the bytes of a name of which nothing says in which letters it is."""
    if info.flag_bits & _SAYS_UTF8 or info.filename.isascii():
        return None
    return info.filename.encode(_DOS)


def _decoded(raw: bytes, encoding: str) -> str:
    for name in ("utf-8", encoding):
        with suppress(UnicodeDecodeError):
            return raw.decode(name)
    return raw.decode(_DOS)


def _unicode_path(info: zipfile.ZipInfo) -> str | None:
    """Return the name that stands in UTF-8 beside the older one; it names the one it is of."""
    rest = info.extra
    while len(rest) >= _FIELD.size:
        kind, size = _FIELD.unpack_from(rest)
        content, rest = rest[_FIELD.size : _FIELD.size + size], rest[_FIELD.size + size :]
        if kind == _UNICODE_PATH and len(content) > _UNICODE_HEAD.size:
            version, checksum = _UNICODE_HEAD.unpack_from(content)
            with suppress(UnicodeError):
                if version == 1 and checksum == zlib.crc32(info.orig_filename.encode(_DOS)):
                    return content[_UNICODE_HEAD.size :].decode()
    return None


def guess_encoding(names: Sequence[bytes]) -> str:
    """Return the encoding that all of some names can be in and make sense in."""
    others = [name for name in names if not _is_utf8(name)]
    if others:
        for encoding, makes_sense in _GUESSES:
            with suppress(UnicodeDecodeError):
                if makes_sense(" ".join(name.decode(encoding) for name in others)):
                    return encoding
    return _DOS


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _accents(text: str) -> str:
    return "".join(letter for letter in text if not letter.isascii())


def _is_western(text: str) -> bool:
    accents = _accents(text)
    letters = sum(letter.isalpha() for letter in text)
    return bool(_LATIN.fullmatch(accents)) and len(accents) * _MOST_ACCENTS <= letters


def _has_kana(text: str) -> bool:
    return bool(_KANA.search(text)) and not _NARROW_KANA.search(text)


def _is_cyrillic(text: str) -> bool:
    return bool(_CYRILLIC.fullmatch(_accents(text))) and not _MIXED.search(text)


def _is_east_asian(text: str) -> bool:
    return bool(_EAST_ASIAN.fullmatch(_accents(text)))


def _is_korean(text: str) -> bool:
    return _is_east_asian(text) and len(set(_HANGUL.findall(text))) >= _MANY_HANGUL


# The order matters: what stands first can hardly be any of the later ones by chance.
_GUESSES = (
    ("cp932", _has_kana),
    (_DOS, _is_western),
    ("cp850", _is_western),
    ("cp852", _is_western),
    ("cp866", _is_cyrillic),
    ("euc_kr", _is_korean),
    ("gb2312", _is_east_asian),
    ("cp932", _is_east_asian),
    ("big5", _is_east_asian),
    ("gbk", _is_east_asian),
)
