"""Whose statement it is: the account's own number, in a column, above the table or in the name.

Two accounts of one bank come with the same header, and their rows may be alike: taken for one
account, rows of the second would be lost as repeats of the first.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from pdpp.sources.reading.csvtable import CsvTable, Row, rows
from pdpp.sources.reading.textfile import text_lines
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.source import plain_name

_COLUMNS = (
    *("account number", "account #", "account no", "account no.", "account id", "bank account"),
    *("client account", "accountnum", "account", "auftragskonto", "iban auftragskonto"),
    *("own iban", "iban/bban", "rekening", "rekeningnummer", "numéro de compte", "compte"),
    *("conta", "cuenta", "konto", "kontonummer"),
)
"""What banks call the column with the number of the account that a statement is of."""

_FIRST_COLUMN = "iban"
"""What such a column is called only where it is the first; else it is of the other side."""

_CUSTOMER = frozenset({"banking relationship", "bankbeziehung", "relation bancaire"})
"""What UBS tells beside the number of the account."""

_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_LABELLED = re.compile(
    r"(?:account|konto|compte|cuenta|conta|rekening)([\w .#°]*)[\"':;,=\t ]+"
    r"([A-Z]{0,2}[\d*xX][\d*xX ./-]{2,}\d)(?![,\d])",
    re.IGNORECASE,
)
_OTHER_NUMBERS = re.compile(r"balance|stand\b|saldo|solde|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")
"""What stands in a line about an account that tells a sum or a day, and not its number."""
_DIGITS = re.compile(r"\d{4}")
_NUMBER_IN_NAME = re.compile(
    r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Z0-9])"
    r"|(?<!\d)\d{4}(?:[ -]\d{4}){2,3}(?!\d)"
    r"|(?<!\d)(?!(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d|[0-3]\d[01]\d(?:19|20)\d\d(?!\d))"
    r"\d{7,}(?!\d)"
)
"""The number of an account or of a card, as banks write it into the names of files; no day."""
_SAMPLE_ROWS = 2_000


class OwnNumber(NamedTuple):
    """What speaks for one account, and whether the statement itself says so, not its name alone."""

    number: str
    told: bool


def number_of(entry: FileEntry, table: CsvTable, called: str) -> OwnNumber:
    """Return the number of the one account that a statement is of; nothing where none is told."""
    told = _above(entry, table) or _in_column(entry, table)
    if told:
        return OwnNumber(told, told=True)
    name = plain_name(called)
    return OwnNumber(name if _DIGITS.search(name) else "", told=False)


def without_number(stem: str) -> str:
    """Return the name of a file with the last four signs of each account's number alone.

    An account is called by it, and whoever may read one field of it sees what it is called.
    """
    return _NUMBER_IN_NAME.sub(lambda number: f"…{plain(number.group())[-4:]}", stem)


def _in_column(entry: FileEntry, table: CsvTable) -> str:
    """Look for a column that has the same number in every row."""
    folded = [name.strip().lstrip("#").strip().casefold() for name in table.header]
    named = [folded.index(name) for name in _COLUMNS if name in folded]
    if _FIRST_COLUMN in folded and (folded[0] == _FIRST_COLUMN or _CUSTOMER.intersection(folded)):
        named = [folded.index(_FIRST_COLUMN)]
    at = next(iter(named), None)
    if at is None:
        return ""
    sample = islice(rows(entry, table), _SAMPLE_ROWS)
    numbers = {plain(row.cells[at]) for row in sample if isinstance(row, Row)}
    return numbers.pop() if len(numbers) == 1 else ""


def _above(entry: FileEntry, table: CsvTable) -> str:
    """Look for a number in the lines before the header."""
    lines: Iterable[str] = (
        line.text
        for line in islice(text_lines(entry, table.encoding), max(0, table.header_line - 1))
    )
    for text in lines:
        iban = _IBAN.search(text)
        if iban:
            return plain(iban.group())
        labelled = _LABELLED.search(text)
        if labelled and not _OTHER_NUMBERS.search(labelled.group().casefold()):
            return plain(labelled.group(2))
    return ""


def plain(number: str) -> str:
    """Return a number as it is compared: without spaces and quotes, in small letters."""
    return "".join(number.split()).strip("'").casefold()
