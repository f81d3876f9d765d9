"""Tables without a header: what their columns are, as every one of their lines tells.

A single line tells nothing: its number may be an amount, a check or an account. Wells Fargo writes
a date, an amount, a star, the number of a check and a text, and no names above them. TD in Canada
writes a date, a text, what went, what came and the balance. ABN AMRO writes an account, a currency,
a day, the balances before and after, another day, an amount and a text; two groups of banks in
Austria and one in the Netherlands have layouts of their own. A table in which every line is like
one of these is taken. Of any other the owner has to say that it is one.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.bank_csv.amounts import bare_amount
from pdpp.sources.item import Skipped
from pdpp.sources.reading.csvtable import CsvTable, Row, rows
from pdpp.sources.reading.textfile import encoding_of, text_lines
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.source import ExportRefusal
from pdpp.sources.table.form import is_time_like, read_time

_FORM = "%m/%d/%Y"
_DUTCH_FORM = "%Y%m%d"
_AUSTRIAN_FORM = "%d.%m.%Y"
_VOLKSBANK_FORM = "%d-%m-%Y"
_ACCOUNT = re.compile(r"[A-Z0-9]{6,34}", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
_DUTCH_AMOUNT = re.compile(r"[-+]?\d+,\d{1,2}", re.ASCII)
_COMMA_AMOUNT = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d{2}", re.ASCII)
_POINT_AMOUNT = re.compile(r"-?\d+\.\d{2}", re.ASCII)
_AMOUNT = re.compile(r"[-+]?\$?(?:\d+|\d{1,3}(?:,\d{3})+)\.\d{2}", re.ASCII)
_CHECK = re.compile(r"\d{0,12}", re.ASCII)
_NUMBER = re.compile(r"[-+(]?\s?[$€£]?\s?\d[\d.,' ]*[$€£)]?[-+]?", re.ASCII)
_NUMBERED = re.compile(r"column \d+", re.IGNORECASE)
_FEWEST = 2
_SAMPLE = 60
_DELIMITERS = ",;\t|"
_SAY = "say --set date='column 1', --set amount='column 2' and --set memo='column 3' as they are"


class HeaderlessTable(NamedTuple):
    """A table under names of our own, and how its lines are to be read."""

    table: CsvTable
    settings: Mapping[str, str]


class _Layout(NamedTuple):
    """How a bank writes lines without a header; ``fits`` tells whether one is such a line."""

    bank: str
    delimiter: str
    names: tuple[str, ...]
    settings: Mapping[str, str]
    fits: Callable[[tuple[str, ...]], bool]
    quote: str = '"'


def find_headerless(entry: FileEntry) -> HeaderlessTable | ExportRefusal | None:
    """Return a statement of a bank that writes no header; refuse one with other lines in it."""
    for layout in _LAYOUTS:
        if (found := _in_layout(entry, layout)) is not None:
            return found
    return None


def _in_layout(entry: FileEntry, layout: _Layout) -> HeaderlessTable | ExportRefusal | None:
    table = CsvTable(encoding_of(entry.head()), layout.delimiter, 0, layout.names, layout.quote)
    fitting = 0
    for row in _whole_rows(entry, table):
        if isinstance(row, Row) and layout.fits(row.cells):
            fitting += 1
        elif fitting < _FEWEST:
            return None
        else:
            where = f"line {row.line:,}" if isinstance(row, Row) else row.example
            return ExportRefusal(
                f"{entry.base} has no header, and looks like a statement of {layout.bank} except "
                f"for {where}: {_SAY}"
            )
    if fitting and fitting < _FEWEST:
        return ExportRefusal(
            f"{entry.base} has no header and only {fitting} line, which is not enough to tell what "
            f"its columns are: {_SAY}"
        )
    return HeaderlessTable(table, layout.settings) if fitting else None


def _whole_rows(entry: FileEntry, table: CsvTable) -> Iterator[Row | Skipped]:
    """Yield the rows of a table without one at its end that is cut off."""
    # What never ends is no table; its reader would say so of every other kind of file too.
    with suppress(DamagedFile):
        yield from (row for row in rows(entry, table) if isinstance(row, Row) or not row.cut)


def _is_of_wells_fargo(cells: tuple[str, ...]) -> bool:
    day, amount, mark, check, text = (cell.strip() for cell in cells)
    return (
        read_time(day, _FORM, None) is not None
        and _AMOUNT.fullmatch(amount) is not None
        and mark in ("", "*")
        and _CHECK.fullmatch(check) is not None
        and _has_letters(text)
    )


def _is_of_td(cells: tuple[str, ...]) -> bool:
    day, text, went, came, balance = (cell.strip() for cell in cells)
    return (
        read_time(day, _FORM, None) is not None
        and _has_letters(text)
        and bool(went) != bool(came)
        and all(map(_AMOUNT.fullmatch, (went or came, balance)))
    )


def _is_of_abn_amro(cells: tuple[str, ...]) -> bool:
    account, currency, day, before, after, value_day, amount, text = (
        cell.strip() for cell in cells
    )
    return (
        _ACCOUNT.fullmatch(account) is not None
        and _CURRENCY.fullmatch(currency) is not None
        and all(read_time(told, _DUTCH_FORM, None) for told in (day, value_day))
        and all(map(_DUTCH_AMOUNT.fullmatch, (before, after, amount)))
        and _has_letters(text)
    )


def _is_of_bawag(cells: tuple[str, ...]) -> bool:
    account, text, day, value_day, amount, currency = (cell.strip() for cell in cells)
    return (
        _ACCOUNT.fullmatch(account) is not None
        and _has_letters(text)
        and all(read_time(told, _AUSTRIAN_FORM, None) for told in (day, value_day))
        and _COMMA_AMOUNT.fullmatch(amount) is not None
        and _CURRENCY.fullmatch(currency) is not None
    )


def _is_of_raiffeisen(cells: tuple[str, ...]) -> bool:
    day, text, value_day, amount, currency, moment = (cell.strip() for cell in cells)
    return (
        all(read_time(told, _AUSTRIAN_FORM, None) for told in (day, value_day, moment[:10]))
        and _has_letters(text)
        and _COMMA_AMOUNT.fullmatch(amount) is not None
        and _CURRENCY.fullmatch(currency) is not None
    )


def _is_of_volksbank(cells: tuple[str, ...]) -> bool:
    told = [cell.strip() for cell in cells]
    return (
        all(read_time(told[at], _VOLKSBANK_FORM, None) for at in (0, 11, 12))
        and _ACCOUNT.fullmatch(told[1]) is not None
        and all(_CURRENCY.fullmatch(told[at]) for at in (7, 9))
        and all(_POINT_AMOUNT.fullmatch(told[at]) for at in (8, 10))
    )


_LAYOUTS = (
    _Layout(
        "Wells Fargo",
        ",",
        ("Date", "Amount", "", "Check number", "Description"),
        MappingProxyType({"date_form": _FORM}),
        _is_of_wells_fargo,
    ),
    _Layout(
        "TD",
        ",",
        ("Date", "Description", "Withdrawal", "Deposit", "Balance"),
        MappingProxyType({"date_form": _FORM}),
        _is_of_td,
    ),
    _Layout(
        "ABN AMRO",
        "\t",
        (
            *("Rekeningnummer", "Currency", "Date", "Beginsaldo", "Balance", "Rentedatum"),
            *("Amount", "Description"),
        ),
        MappingProxyType({"date_form": _DUTCH_FORM, "decimal": ","}),
        _is_of_abn_amro,
    ),
    _Layout(
        "BAWAG or easybank",
        ";",
        ("Kontonummer", "Description", "Date", "Valutadatum", "Amount", "Currency"),
        MappingProxyType({"date_form": _AUSTRIAN_FORM, "decimal": ","}),
        _is_of_bawag,
    ),
    _Layout(
        "Raiffeisen",
        ";",
        ("Date", "Description", "Valutadatum", "Amount", "Currency", "Zeitpunkt"),
        MappingProxyType({"date_form": _AUSTRIAN_FORM, "decimal": ","}),
        _is_of_raiffeisen,
    ),
    _Layout(
        "ASN, SNS or RegioBank",
        ",",
        (
            *("Date", "Rekeningnummer", "Tegenrekening", "Payee", "Adres", "Postcode", "Plaats"),
            *("Valuta saldo", "Saldo voor boeking", "Currency", "Amount", "Journaaldatum"),
            *("Valutadatum", "Interne code", "Code", "Volgnummer", "Betalingskenmerk"),
            *("Description", "Afschrift"),
        ),
        MappingProxyType({"date_form": _VOLKSBANK_FORM, "decimal": "."}),
        _is_of_volksbank,
        quote="'",
    ),
)


def says_number(given: Mapping[str, str]) -> bool:
    """Tell whether the owner names columns by their number."""
    return any(_NUMBERED.fullmatch(value.strip()) for value in given.values())


def name_columns(
    entry: FileEntry, given: Mapping[str, str]
) -> HeaderlessTable | ExportRefusal | None:
    """Return a table of which the owner says that it is a statement, its columns numbered.

    What is not said must be told by all lines: one column each of dates, amounts and words.
    """
    delimiter, width = _shape(entry)
    if width < _FEWEST:
        return None
    header = tuple(f"column {number}" for number in range(1, width + 1))
    table = CsvTable(encoding_of(entry.head()), delimiter, 0, header)
    facts = _facts(entry, table)
    if given.keys() >= {"date", "amount"} or given.keys() & {"money_in", "money_out"}:
        return HeaderlessTable(table, {})
    told: dict[str, str] = {}
    for name, columns in facts.items():
        if name in given:
            continue
        if len(columns) != 1:
            found = ", ".join(repr(header[at]) for at in columns) or "none of them"
            return ExportRefusal(
                f"{entry.base} has {width} columns and no header, and what its {name} is cannot be "
                f"told from its lines (it could be {found}): {_SAY}"
            )
        told[name] = header[columns[0]]
    return HeaderlessTable(table, MappingProxyType(told))


def _shape(entry: FileEntry) -> tuple[str, int]:
    """Return the delimiter that gives all of the first lines the same number of cells."""
    sample = [line.text for line in islice(text_lines(entry), _SAMPLE) if line.text.strip()]
    best = (",", 0)
    for delimiter in _DELIMITERS:
        try:
            widths = {len(cells) for cells in csv.reader(sample, delimiter=delimiter) if cells}
        except csv.Error:
            continue
        if len(widths) == 1 and (width := widths.pop()) > best[1]:
            best = (delimiter, width)
    return best


def _facts(entry: FileEntry, table: CsvTable) -> dict[str, list[int]]:
    """Return which columns hold a date, an amount or words, in every line or not at all."""
    counts: Counter[tuple[str, int]] = Counter()
    total = 0
    for row in _whole_rows(entry, table):
        total += 1
        if isinstance(row, Row):
            counts.update((_kind(cell.strip()), at) for at, cell in enumerate(row.cells))
    columns = range(len(table.header))
    return {
        "date": [at for at in columns if total and counts["date", at] == total],
        "amount": [at for at in columns if total and counts["amount", at] == total],
        "memo": [at for at in columns if counts["memo", at]],
    }


def _kind(cell: str) -> str:
    if is_time_like(cell):
        return "date"
    if _NUMBER.fullmatch(cell) and bare_amount(cell):
        return "amount"
    return "memo" if _has_letters(cell) else ""


def _has_letters(text: str) -> bool:
    return any(letter.isalpha() for letter in text)
