"""Amounts: how banks write them in tables, with currencies, signs and words around the digits."""

import re
from collections.abc import Iterable
from decimal import Decimal

from pdpp.sources.reading.money import exact
from pdpp.sources.table.form import read_number

DECIMALS = (".", ",")
_WORD = re.compile(r"[^\W\d_]+\.?")
_CURRENCY = re.compile(r"\w{1,3}|euros?|[^\W\d_a-z]{1,6}")
"""What a currency beside an amount is called: few letters, or a word in other letters than ours."""
_COIN = re.compile(r"\d\s?[A-Z]{4,6}\s*\Z")
"""The longer code of a coin, which stands behind its amount; the name of a shop stands before."""
_SIDES = frozenset({"dr", "db", "d", "s", "cr", "c", "h"})
_SIDE = re.compile(r"\d\s?(?:(dr|db|d|s)|cr|c|h)\.?\s*\Z", re.IGNORECASE)
_GROUPED, _BELOW_GROUPS = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+"), re.compile(r"[-+]?\d{1,3}")
_OF_THREE_DECIMALS = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})
_MINUS = dict.fromkeys(map(ord, "\u2212\u2013\ufe63\uff0d"), "-")
"""Signs that are printed as a minus; some programs write a dash."""
_BRACKETED = re.compile(r"\([^)]*\d[^)]*\)")
_ZEROS = re.compile(r"\A([-+]?)0+(?=\d)")


def bare_amount(text: str) -> str:
    """Return an amount without its currency, the sign in front; nothing where a text has a number.

    Such a text stands there if a cell before it was cut at a comma.
    """
    words = [word.rstrip(".").casefold() for word in _WORD.findall(text)]
    others = [word for word in words if word not in _SIDES]
    known = all(map(_CURRENCY.fullmatch, others)) or _COIN.search(text)
    if len(others) > 1 or not known:
        return ""
    worded = _WORD.sub("", text).translate(_MINUS)
    bare = "".join(letter for letter in worded if letter in "0123456789.,-+ '\u00a0\u202f").strip()
    if bare.endswith(("-", "+")):
        bare = bare[-1] + bare[:-1]
    if bare[:1] in ("-", "+"):
        bare = bare[0] + bare[1:].strip()
    bare = _ZEROS.sub(r"\1", re.sub(r"\A([-+]?)(?=[.,]\d)", r"\g<1>0", bare))
    return f"-{bare}" if _BRACKETED.search(text) and bare else bare


def read_amount(text: str, decimal: str) -> Decimal | None:
    """Return an exact amount, or None where there is none."""
    bare = bare_amount(text)
    if not bare or read_number(bare, decimal) is None:
        return None
    thousands = "," if decimal == "." else "."
    plain = "".join(letter for letter in bare if letter not in f"{thousands} '\u00a0\u202f")
    amount = exact(plain.replace(",", "."))
    side = side_of(text)
    return amount if amount is None or not side else side * abs(amount)


def side_of(text: str) -> int:
    """Return -1 where letters behind an amount say that it went out, 1 in; 0 without such."""
    match = _SIDE.search(text)
    return 0 if match is None else -1 if match[1] else 1


def decimal_of(texts: Iterable[str], remembered: str = "", currencies: Iterable[str] = ()) -> str:
    """Return the sign before decimals that fits every amount.

    Where both do, it is the one that is ``remembered``, or else the point, unless that stands
    before three digits each time: few currencies have as many, and none writes 50 beside 1.000.
    """
    bare = [amount for text in texts if (amount := bare_amount(text))]
    left = list(DECIMALS)
    for amount in bare:
        left = [sign for sign in left if read_number(amount, sign) is not None] or left
    if remembered in left or len(left) < len(DECIMALS):
        return remembered if remembered in left else left[0]
    named = {currency.upper() for currency in currencies}
    of_two = bool(named) and not named & _OF_THREE_DECIMALS
    grouped = any(map(_GROUPED.fullmatch, bare))
    return "," if grouped and (of_two or any(map(_BELOW_GROUPS.fullmatch, bare))) else "."
