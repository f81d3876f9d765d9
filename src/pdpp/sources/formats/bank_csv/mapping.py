"""Mappings: which column of a bank's table is what, found by its names or told by the owner."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.bank_csv.amounts import DECIMALS, bare_amount, decimal_of
from pdpp.sources.formats.bank_csv.days import bare_day, day_forms
from pdpp.sources.formats.bank_csv.signs import (
    AS_WRITTEN,
    TURNED,
    has_minus,
    mostly_minus,
    sign_of,
    turned_by_side,
)
from pdpp.sources.formats.bank_csv.two_sided import (
    BOTH,
    DIRECTION,
    GIVEN_BACK,
    IN,
    OUT,
    STATE,
    arriving_columns,
    column_of,
    leaving_columns,
)
from pdpp.sources.formats.bank_csv.words import (
    BALANCES,
    COLUMNS,
    FEES_APART,
    IN_WORDS,
    NEITHER_WORDS,
    NOT_BOOKED,
    NUMBERS,
    OUT_WORDS,
    PARTIES,
    REQUEST,
    SHORTEST_NUMBER,
    STATES,
    TAXES_APART,
    currency_in,
    plain_name,
)
from pdpp.sources.reading.csvtable import CsvTable, Row, rows_of
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.table.form import COMPACT, TIME_FORMS, is_time_like, read_time

_SAMPLE_ROWS = 2_000
MONEY = ("amount", "money_in", "money_out")
SIDES = ("direction", "money_in", "money_out")
_CODE = re.compile(r"[A-Z]{3}", re.ASCII)
_CURRENCY_NAME = re.compile(r"([A-Z]{3})\$", re.ASCII)


class ColumnMapping(NamedTuple):
    """Where each value of a transaction stands, and how dates and amounts are written.

    ``minus`` names the columns of money in or out that write it with a minus, and ``other_form`` is
    a way to write dates that fits as well. In a table of two sides ``columns`` are those of what
    left, and ``arrives`` those of what arrived. ``by_currency`` are amounts of which each currency
    has its own column, and ``numbers`` what a service calls each payment.
    """

    columns: Mapping[str, int]
    date_form: str
    decimal: str
    header: tuple[str, ...]
    sign: str = AS_WRITTEN
    currency: str = ""
    minus: frozenset[str] = frozenset()
    other_form: str = ""
    arrives: Mapping[str, int] = MappingProxyType({})
    by_currency: Mapping[str, int] = MappingProxyType({})
    numbers: tuple[int, ...] = ()

    def sides(self, row: Row) -> "list[ColumnMapping]":
        """Return how a row is read: once, or for each side of it that was the person's money.

        There is none where its direction is not known.
        """
        if not self.arrives:
            filled = {code: at for code, at in self.by_currency.items() if row.cells[at].strip()}
            return [
                self._replace(columns={**self.columns, "amount": at}, currency=code)
                for code, at in filled.items()
            ] or [self]
        direction = self._plain_cell(row, DIRECTION)
        columns = {name: at for name, at in self.columns.items() if name != "fee"}
        leaving = self._replace(sign=TURNED)
        arriving = self._replace(columns={**columns, **self.arrives})
        sides = {OUT: [leaving], IN: [arriving], BOTH: [leaving, arriving]}
        return sides.get(direction, [])

    def tells_parties(self) -> bool:
        """Tell whether a column says who was paid or who paid."""
        return bool(self.columns.keys() & {"payee", "payer"})

    def parties(self, row: Row) -> tuple[str, str]:
        """Return who was paid and who paid, as far as a row tells them apart."""
        paid, payer = (
            row.cells[self.columns[name]].strip() if name in self.columns else ""
            for name in ("payee", "payer")
        )
        asked = self._plain_cell(row, "type") == REQUEST
        # Wise names the shop of a card, or else who was paid, in columns of their own.
        other = (
            column_of(self.header, "payee name") if "payee" in self.columns and not paid else None
        )
        if other is not None:
            paid = row.cells[other].strip()
        is_venmo = {plain_name(name) for name in self.header} >= PARTIES
        return (payer, paid) if asked and is_venmo else (paid, payer)

    def number(self, row: Row) -> str:
        """Return the number that a service gave a payment, or nothing."""
        numbers = (row.cells[at].strip() for at in self.numbers)
        return next((text for text in numbers if len(text) >= SHORTEST_NUMBER), "")

    def _plain_cell(self, row: Row, name: str) -> str:
        at = column_of(self.header, name)
        return "" if at is None else row.cells[at].strip().casefold()

    def words(self) -> str:
        """Return the mapping as a person reads it."""
        columns = [
            f"{name} ← {self.header[at] or f'column {at + 1}'!r}"
            for name, at in self.columns.items()
        ]
        sign = "; signs turned, because what was spent has none" if self.sign == TURNED else ""
        forms = f"dates as {self.date_form}, decimals after {self.decimal!r}{sign}"
        doubt = f"; or as {self.other_form}: say --set date_form=… if so" if self.other_form else ""
        return f"{', '.join(columns)}; {forms}{doubt}"

    def is_booked(self, row: Row) -> bool:
        """Tell whether a row is no payment that only may come to be."""
        cells = zip(self.header, row.cells, strict=True)
        states = [cell for name, cell in cells if name.strip().casefold() in STATES]
        # Some banks write the state of a payment where its date will stand.
        states.append(row.cells[self.columns["date"]])
        if any(state.strip().casefold() in NOT_BOOKED for state in states):
            return False
        left = self.arrives and self._plain_cell(row, DIRECTION) == OUT
        return not (left and self._plain_cell(row, STATE) == GIVEN_BACK)

    def is_balance(self, row: Row) -> bool:
        """Tell whether a row only says how much there was."""
        if any(BALANCES.fullmatch(cell.strip()) for cell in row.cells):
            return True
        cells = zip(self.header, row.cells, strict=True)
        told = {name.strip() for name, cell in cells if cell.strip()}
        used = (row.cells[at].strip() for name, at in self.columns.items() if name != "balance")
        return not any(used) and any(BALANCES.fullmatch(name) for name in told)

    def remembered(self) -> dict[str, str]:
        """Return the mapping as it is kept for files of the same shape."""
        columns = {name: self.header[at] for name, at in self.columns.items()}
        forms = {"date_form": self.date_form, "decimal": self.decimal, "sign": self.sign}
        return {**columns, **forms}


def names_payments(header: tuple[str, ...]) -> bool:
    """Tell whether a row names columns of days and amounts in words that banks use."""
    names = {plain_name(name) for name in header}
    known = (names.intersection(COLUMNS[name]) for name in MONEY)
    return bool(names.intersection(COLUMNS["date"])) and any(known)


def make_plan(
    entry: FileEntry,
    tables: Sequence[CsvTable],
    settings: Mapping[str, str],
    kept: Mapping[str, str] = MappingProxyType({}),
) -> ColumnMapping | None:
    """Return how tables of one header are read; None where nothing is a date or an amount.

    A table of which something is ``kept`` is read by the same columns, or its rows would come
    again. How its days and amounts were written counts only where the table itself does not tell:
    a month of whole amounts says nothing of decimals.
    """
    header, read = tables[0].header, islice(rows_of(entry, tables), _SAMPLE_ROWS)
    sample = [row for _, row in read if isinstance(row, Row)]
    columns = _columns(header, {**kept, **settings}, sample, read_before=bool(kept))
    if "date" not in columns or not columns.keys() & set(MONEY):
        return None
    days = [bare_day(row.cells[columns["date"]]) for row in sample]
    said = settings.get("date_form")
    forms = [said] if said is not None else day_forms(days, kept.get("date_form", ""))
    if not forms:
        return None
    form, *others = _told_by_other_days(forms, columns["date"], sample)
    if form not in (COMPACT, *TIME_FORMS):
        raise ImportRefused(f"date_form must be like %d.%m.%Y, not {form!r}")
    money = {
        name: [row.cells[columns[name]] for row in sample] for name in MONEY if name in columns
    }
    amounts = (text for texts in money.values() for text in texts)
    currency = _currency(header, columns)
    currencies = {row.cells[columns["currency"]].strip() for row in sample if "currency" in columns}
    decimal = settings.get("decimal") or decimal_of(
        amounts, kept.get("decimal", ""), {currency, *currencies} - {""}
    )
    if decimal not in DECIMALS:
        raise ImportRefused(f"decimal must be a point or a comma, not {decimal!r}")
    return ColumnMapping(
        columns,
        form,
        decimal,
        header,
        sign=sign_of(header, settings, kept, money.get("amount", []))
        if "sign" in settings or not turned_by_side(sample, columns)
        else TURNED,
        currency=currency,
        minus=frozenset(name for name, texts in money.items() if mostly_minus(texts, decimal)),
        other_form=next(iter(others), ""),
        arrives=_arrives(header, columns),
        by_currency=_by_currency(header, columns),
        numbers=tuple(at for at, name in enumerate(header) if plain_name(name) in NUMBERS),
    )


def _told_by_other_days(forms: Sequence[str], at: int, sample: Sequence[Row]) -> Sequence[str]:
    """Return the ways to write days that other columns of days allow too, such as of the value."""
    if len(forms) == 1:
        return forms
    cells = {cell for row in sample for cell in (*row.cells[:at], *row.cells[at + 1 :])}
    days = [bare_day(cell) for cell in cells if is_time_like(cell.strip())]
    fits = {form: sum(read_time(day, form, None) is not None for day in days) for form in forms}
    return [form for form in forms if fits[form] == max(fits.values())]


def _by_currency(header: tuple[str, ...], columns: Mapping[str, int]) -> Mapping[str, int]:
    """Return the amounts of each currency, as RBC writes them in columns of their own."""
    codes = [_CURRENCY_NAME.fullmatch(name.strip()) for name in header]
    found = {code[1]: at for at, code in enumerate(codes) if code}
    return found if columns.get("amount") in found.values() else {}


def _arrives(header: tuple[str, ...], columns: Mapping[str, int]) -> Mapping[str, int]:
    """Return the columns of what arrived, unless the owner named other columns."""
    sides = {name: at for name, at in columns.items() if name != "category"}
    return arriving_columns(header) if sides == leaving_columns(header) else {}


def _currency(header: tuple[str, ...], columns: Mapping[str, int]) -> str:
    """Return the currency that the name of the amount tells."""
    told = (currency_in(header[columns[name]]) for name in MONEY if name in columns)
    return next(filter(None, told), "")


def _columns(
    header: tuple[str, ...],
    settings: Mapping[str, str],
    sample: Sequence[Row],
    *,
    read_before: bool,
) -> dict[str, int]:
    columns: dict[str, int] = {}
    leaving = leaving_columns(header)
    for name in COLUMNS:
        if chosen := settings.get(name):
            columns[name] = _chosen(header, chosen)
        elif leaving and not read_before and name != "category":
            columns |= {name: leaving[name]} if name in leaving else {}
        elif not read_before or (name == "direction" and chosen == ""):
            at = _found(name, header, sample, taken=set(columns.values()))
            if at is not None:
                columns[name] = at
    if not columns.keys() & set(MONEY):
        columns |= _nameless_amounts(header, sample)
    if not read_before and "amount" in columns and not columns.keys() & set(SIDES):
        columns |= _worded_direction(sample, columns)
    if not read_before and not columns.keys() & {"payee", "payer", "memo"}:
        at = _wordiest(sample, taken=set(columns.values()))
        columns |= {"memo": at} if at is not None else {}
    return columns


def _nameless_amounts(header: tuple[str, ...], sample: Sequence[Row]) -> dict[str, int]:
    """Return amounts without a name, as DEGIRO has them behind the column of their currency."""
    columns: dict[str, int] = {}
    for at, name in enumerate(header[:-1]):
        codes = {row.cells[at].strip() for row in sample} - {""}
        amounts = {row.cells[at + 1].strip() for row in sample} - {""}
        if not name or header[at + 1] or not codes or not all(map(_CODE.fullmatch, codes)):
            continue
        if all(bare_amount(text) and not is_time_like(text) for text in amounts):
            if plain_name(name) in COLUMNS["balance"]:
                columns["balance"] = at + 1
            elif "amount" not in columns:
                columns |= {"amount": at + 1, "currency": at}
    return columns if "amount" in columns else {}


def _worded_direction(sample: Sequence[Row], columns: Mapping[str, int]) -> dict[str, int]:
    """Return a column that says of every row whether money went, under whatever name.

    It counts where no amount that went has a minus. A letter alone could mean anything.
    """
    for at in range(len(sample[0].cells) if sample else 0):
        cells = {row.cells[at].strip().casefold() for row in sample}
        went = [row for row in sample if row.cells[at].strip().casefold() in OUT_WORDS]
        told = went and all(len(word) > 1 and word in IN_WORDS | OUT_WORDS for word in cells)
        amounts = (bare_amount(row.cells[columns["amount"]]) for row in went)
        if told and at not in columns.values() and not any(map(has_minus, amounts)):
            return {"direction": at}
    return {}


def _wordiest(sample: Sequence[Row], taken: set[int]) -> int | None:
    """Return the column with the most different texts: under whatever name, it says what for."""
    texts: dict[int, set[str]] = {}
    for row in sample:
        for at, cell in enumerate(row.cells):
            if at not in taken and any(letter.isalpha() for letter in cell):
                texts.setdefault(at, set()).add(cell.strip())
    return max(texts, key=lambda at: (len(texts[at]), sum(map(len, texts[at]))), default=None)


def _chosen(header: tuple[str, ...], name: str) -> int:
    folded = [column.strip().lstrip("#").strip().casefold() for column in header]
    if name.strip().lstrip("#").strip().casefold() not in folded:
        listed = ", ".join(repr(column) for column in header)
        raise ImportRefused(f"there is no column {name!r}; there are {listed}")
    return folded.index(name.strip().lstrip("#").strip().casefold())


def _found(
    name: str, header: tuple[str, ...], sample: Sequence[Row], taken: set[int]
) -> int | None:
    """Return the column that is called as such columns are, and holds what they hold."""
    whole = [" ".join(column.split()).strip("# ").casefold() for column in header]
    plain = [plain_name(column) for column in header]
    for known in COLUMNS[name]:
        for names in (whole, plain):
            for at, column in enumerate(names):
                if column == known and at not in taken and _holds(name, known, at, sample, plain):
                    return at
    return None


def _holds(name: str, known: str, at: int, sample: Sequence[Row], header: Sequence[str]) -> bool:
    """Tell whether the cells of a column can be what its name says."""
    cells = {row.cells[at].strip() for row in sample} - {""}
    if name == "direction":
        return _tells_direction(cells)
    if name == "fee":
        return bool(FEES_APART.intersection(header)) or set(header) >= TAXES_APART
    if name == "tax":
        return set(header) >= TAXES_APART
    if name == "currency":
        # Sberbank tells the currency of the shop beside an amount in that of the account.
        is_other = known == "валюта операции" and "сумма в валюте счета" in header
        return not is_other and not any(letter.isdecimal() for cell in cells for letter in cell)
    if known in PARTIES:
        return set(header) >= PARTIES
    if known == "total" and "fees" not in header:  # PayPal's; those of others are sums.
        return False
    # What was paid: of Stripe and Cash App the fee beside it never arrived.
    if known == "amount" and "fee" in header and {"net", "net amount"}.intersection(header):
        return False
    if known == "value":  # Of measurements too; those of a bank lead to a balance.
        return "balance" in header
    if name in MONEY:
        return not cells or any(bare_amount(cell) and not is_time_like(cell) for cell in cells)
    return True


def _tells_direction(cells: set[str]) -> bool:
    """Tell whether a column says of every row whether money came or went, and nothing else."""
    words = {cell.casefold() for cell in cells}
    return bool(words & (IN_WORDS | OUT_WORDS)) and words <= IN_WORDS | OUT_WORDS | NEITHER_WORDS
