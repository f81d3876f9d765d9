"""Mappings: which column of a bank's table is what, found by its names or told by the owner."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import islice, pairwise
from types import MappingProxyType
from typing import NamedTuple

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.bank_csv.amounts import (
    DECIMALS,
    bare_amount,
    decimal_of,
    read_amount,
    side_of,
)
from pdpp.sources.formats.bank_csv.days import bare_day
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
    BARE_CARD,
    CARDS,
    COLUMNS,
    FEES_APART,
    IN_WORDS,
    NEITHER_WORDS,
    NOT_BOOKED,
    OUT_WORDS,
    PARTIES,
    REQUEST,
    STATES,
    TAXES_APART,
    currency_in,
    plain_name,
)
from pdpp.sources.reading.csvtable import CsvTable, Row, rows
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.table.form import (
    COMPACT,
    TIME_FORMS,
    ZONED,
    is_compact_day,
    is_time_like,
    possible_forms,
    read_time,
)

TURNED, AS_WRITTEN = "turned", "as written"
_SAMPLE_ROWS = 2_000
_FIRST_DATES = 40
MONEY = ("amount", "money_in", "money_out")
_CODE = re.compile(r"[A-Z]{3}", re.ASCII)


class ColumnMapping(NamedTuple):
    """Where each value of a transaction stands, and how dates and amounts are written.

    ``minus`` names the columns of money in or out that write it with a minus, and ``other_form`` is
    a way to write dates that fits as well. In a table of two sides ``columns`` are those of what
    left, and ``arrives`` those of what arrived.
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

    def sides(self, row: Row) -> "list[ColumnMapping]":
        """Return how a row is read: once, or for each side of it that was the person's money.

        There is none where its direction is not known.
        """
        if not self.arrives:
            return [self]
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


def make_plan(
    entry: FileEntry, table: CsvTable, settings: Mapping[str, str], *, read_before: bool = False
) -> ColumnMapping | None:
    """Return how a table is read; None where nothing in it is a date or an amount.

    A table that was ``read_before`` is read by the same columns, or its rows would come again.
    """
    sample = [row for row in islice(rows(entry, table), _SAMPLE_ROWS) if isinstance(row, Row)]
    columns = _columns(table.header, settings, sample, read_before=read_before)
    if "date" not in columns or not columns.keys() & set(MONEY):
        return None
    days = [bare_day(row.cells[columns["date"]]) for row in sample]
    forms = [settings["date_form"]] if "date_form" in settings else _date_forms(days)
    if not forms:
        return None
    form, *others = forms
    if form not in (COMPACT, *TIME_FORMS):
        raise ImportRefused(f"date_form must be like %d.%m.%Y, not {form!r}")
    money = {
        name: [row.cells[columns[name]] for row in sample] for name in MONEY if name in columns
    }
    decimal = settings.get("decimal") or decimal_of(
        text for texts in money.values() for text in texts
    )
    if decimal not in DECIMALS:
        raise ImportRefused(f"decimal must be a point or a comma, not {decimal!r}")
    return ColumnMapping(
        columns,
        form,
        decimal,
        table.header,
        sign=_sign(table.header, settings, money.get("amount", [])),
        currency=_currency(table.header, columns),
        minus=frozenset(name for name, texts in money.items() if _is_minus(texts, decimal)),
        other_form=next(iter(others), ""),
        arrives=_arrives(table.header, columns),
    )


def _arrives(header: tuple[str, ...], columns: Mapping[str, int]) -> Mapping[str, int]:
    """Return the columns of what arrived, unless the owner named other columns."""
    sides = {name: at for name, at in columns.items() if name != "category"}
    return arriving_columns(header) if sides == leaving_columns(header) else {}


def _sign(header: tuple[str, ...], settings: Mapping[str, str], amounts: Sequence[str]) -> str:
    """Return whether signs are turned; a table that was read before is read as it was."""
    said = settings.get("sign")
    if said not in (None, TURNED, AS_WRITTEN):
        raise ImportRefused(f"sign must be {TURNED!r} or {AS_WRITTEN!r}, not {said!r}")
    if said is not None:
        return said
    names = {plain_name(name).rstrip("# ") for name in header}
    is_card = any(card <= names for card in CARDS) or names == BARE_CARD
    return (
        TURNED
        if (is_card and "date_form" not in settings) or _marks_credit(amounts)
        else AS_WRITTEN
    )


def _marks_credit(amounts: Sequence[str]) -> bool:
    """Tell whether only money that came is marked, so that all other went out."""
    sides = {side_of(text) for text in amounts}
    return 1 in sides and -1 not in sides and not any("-" in text for text in amounts)


def _is_minus(texts: Sequence[str], decimal: str) -> bool:
    """Tell whether most amounts of a column have a minus."""
    signs = Counter(amount < 0 for text in texts if (amount := read_amount(text, decimal)))
    return signs[True] > signs[False]


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
    if known == "value":  # Of measurements too; those of a bank lead to a balance.
        return "balance" in header
    if name in MONEY:
        return not cells or any(bare_amount(cell) and not is_time_like(cell) for cell in cells)
    return True


def _tells_direction(cells: set[str]) -> bool:
    """Tell whether a column says of every row whether money came or went, and nothing else."""
    words = {cell.casefold() for cell in cells}
    return bool(words & (IN_WORDS | OUT_WORDS)) and words <= IN_WORDS | OUT_WORDS | NEITHER_WORDS


def _date_forms(texts: Sequence[str]) -> list[str]:
    """Return the ways to write dates that fit most rows, the more usual first.

    A row that has something else there, such as a sum at the end, is told when it is read.
    """
    told = [text.strip() for text in texts if text.strip()]
    if told and all(is_compact_day(text) and read_time(text, COMPACT, None) for text in told):
        return [COMPACT]
    dates = [text for text in told if is_time_like(text)]
    if not dates or 2 * len(dates) < len(told):
        return []
    forms = [form for form in TIME_FORMS if form != ZONED] + [ZONED]
    some = [(text, possible_forms(text)) for text in dates[:_FIRST_DATES]]
    left = [
        form
        for form in forms
        if any(form in possible and read_time(text, form, None) for text, possible in some)
    ]
    days = {form: [read_time(text, form, None) for text in dates] for form in left}
    fits = {form: len(read) - read.count(None) for form, read in days.items()}
    most = max(fits.values(), default=0)
    if 2 * most < len(told):
        return []
    disorder = {form: _disorder(days[form]) for form in left if fits[form] == most}
    best = min(disorder, key=lambda form: disorder[form])
    # How long a time a table spans is a guess; that its rows are in order is none.
    as_good = [form for form in disorder if disorder[form][0] == disorder[best][0]]
    return [best, *(form for form in as_good if days[form] != days[best])]


def _disorder(read: Sequence[str | None]) -> tuple[int, int]:
    """Return how badly the days of a column are ordered, and how long a time they span.

    Statements go forward or backward in time. Of day and month the one that is right leaves them
    in order, and within a few months.
    """
    days = [day for day in read if day is not None]
    pairs = list(pairwise(days))
    falls = sum(later < earlier for earlier, later in pairs)
    rises = sum(later > earlier for earlier, later in pairs)
    span = date.fromisoformat(max(days)[:10]) - date.fromisoformat(min(days)[:10])
    return min(falls, rises), span.days
