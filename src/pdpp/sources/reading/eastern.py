"""Letters of East Asia: which of its encodings some bytes are in that are no UTF-8."""

import re
from collections import Counter

_LOOKED_AT = 65_536
_RUN = re.compile(rb"[\x80-\xff]+")
_WIDE = re.compile(rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]")
_FEWEST = 8
_KANA = frozenset({0xA4, 0xA5})
_WINDOWS_KANA = frozenset({0x82, 0x83})
_HANGUL = range(0xB0, 0xC9)
_SIGNS = range(0xA1, 0xB0)
_BIG = re.compile(rb"(?:[\xa1-\xf9][\x40-\x7e\xa1-\xfe])+")
_BIG_SIGNS = range(0xA1, 0xA4)
_BIG_FREQUENT = range(0xA4, 0xC7)
"""Rows of Big5, which puts the letters that are used most before the others."""


def eastern_encoding(head: bytes) -> str | None:
    """Return the encoding of Korean, Japanese or Chinese text; None where it is none of them.

    Each of their letters is two bytes, so that no run of bytes above ASCII has an odd length. In
    the languages of the West such bytes mostly stand alone. Which rows of letters are used tells
    the language: Japanese text is full of kana, and Korean has hardly anything but Hangul.
    """
    head = head[:_LOOKED_AT].rpartition(b"\n")[0] or head[:_LOOKED_AT]
    runs = _RUN.findall(head)
    if sum(map(len, runs)) >= 2 * _FEWEST and not any(len(run) % 2 for run in runs):
        return _of_pairs(head, Counter(lead for run in runs for lead in run[::2]))
    wide = _WIDE.findall(head)
    kana = sum(letter[0] in _WINDOWS_KANA for letter in wide)
    often = len(wide) >= _FEWEST and kana * 3 > len(wide)
    if often and _fits(head, "cp932"):
        return "cp932"
    return "cp950" if _is_big5(head) else None


def _is_big5(head: bytes) -> bool:
    """Tell whether text is Chinese as it is written on Taiwan, whose pairs may end in ASCII.

    In the West a letter above ASCII makes a pair with the next one, and stands alone.
    """
    runs = _BIG.findall(head)
    leads = Counter(lead for run in runs for lead in run[::2])
    alone = sum(len(run) == 2 for run in runs)
    words = leads.total() - sum(leads[lead] for lead in _BIG_SIGNS)
    frequent = sum(leads[lead] for lead in _BIG_FREQUENT)
    often = words >= _FEWEST and frequent * 20 > words * 19 and alone * 2 < leads.total()
    return often and _fits(head, "big5")


def _of_pairs(head: bytes, leads: Counter[int]) -> str | None:
    """Return which encoding of two bytes above ASCII the rows of some letters speak for."""
    total = leads.total()
    kana = sum(leads[lead] for lead in _KANA)
    words = total - sum(leads[lead] for lead in _SIGNS)
    hangul = sum(leads[lead] for lead in _HANGUL)
    if kana * 5 > total and _fits(head, "euc_jp"):
        return "euc_jp"
    if hangul * 20 > words * 19 and _fits(head, "cp949"):
        return "cp949"
    return "gb18030" if _fits(head, "gb2312") else None


def _fits(head: bytes, encoding: str) -> bool:
    try:
        head.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
