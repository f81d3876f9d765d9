"""Amounts: how banks write them in tables, with currencies, signs and words around the digits."""

import re
from collections.abc import Iterable
from decimal import Decimal

from pdpp.sources.reading.money import exact
from pdpp.sources.table.form import read_number

DECIMALS = (".", ",")
_WORD = re.compile(r"[^\W\d_]+\.?")
_SIDE = re.compile(r"\d\s?(?:(dr|db|d|s)|cr|c|h)\.?\s*\Z", re.IGNORECASE)
_ZEROS = re.compile(r"\A([-+]?)0+(?=\d)")


def bare_amount(text: str) -> str:
    """Return an amount without its currency, the sign in front."""
    worded = _WORD.sub("", text)
    bare = "".join(letter for letter in worded if letter in "0123456789.,-+ '\u2212\u00a0\u202f")
    bare = bare.strip().replace("\u2212", "-")
    if bare.endswith(("-", "+")):
        bare = bare[-1] + bare[:-1]
    if bare[:1] in ("-", "+"):
        bare = bare[0] + bare[1:].strip()
    bare = _ZEROS.sub(r"\1", re.sub(r"\A([-+]?)(?=[.,]\d)", r"\g<1>0", bare))
    return f"-{bare}" if "(" in text and ")" in text and bare else bare


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


def decimal_of(texts: Iterable[str]) -> str:
    """Return the sign before decimals that fits every amount; the point where both do."""
    left = list(DECIMALS)
    for text in texts:
        bare = bare_amount(text)
        if bare:
            left = [sign for sign in left if read_number(bare, sign) is not None] or left
    return left[0]
