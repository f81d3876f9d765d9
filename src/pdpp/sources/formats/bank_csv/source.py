"""Bank statements as CSV tables, whose columns the owner maps once."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any

from pdpp.sources.formats.bank_csv.amounts import read_amount, side_of
from pdpp.sources.formats.bank_csv.days import bare_day, is_day
from pdpp.sources.formats.bank_csv.headerless import (
    HeaderlessTable,
    find_headerless,
    name_columns,
    says_number,
)
from pdpp.sources.formats.bank_csv.mapping import (
    MONEY,
    ColumnMapping,
    make_plan,
    names_payments,
)
from pdpp.sources.formats.bank_csv.own_account import number_of, without_number
from pdpp.sources.formats.bank_csv.signs import TURNED
from pdpp.sources.formats.bank_csv.words import (
    COLUMNS,
    OUT_WORDS,
    SHARED_COSTS,
    currency_beside,
    plain_name,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.csvtable import (
    CsvTable,
    Row,
    find_named_table,
    find_table,
    rows_of,
    tables_of,
)
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.money import members
from pdpp.sources.reading.textfile import text_lines
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
    without_copy,
)
from pdpp.sources.table.form import read_time

_LEAST_CELLS = 4
"""What a bank tells above a table are names with a value, and seldom has more cells filled."""
_PATTERNS = ("*.csv", "*.CSV", "*.tsv", "*.TAB", "*.tab")


class BankCsv(Source):
    """Tables of transactions as banks offer them for download."""

    connector_key = "bank_csv"
    lies_among_others = True
    label = "Bank statement (CSV)"
    settings = MappingProxyType(
        {
            **{name: f"Column with the {name.replace('_', ' ')}." for name in COLUMNS},
            "date_form": "How dates are written, such as %d.%m.%Y.",
            "decimal": "Sign before decimals: a point or a comma.",
            "sign": "“turned” where what was spent has no sign, or “as written”.",
            "account": "What to call the account.",
        }
    )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return every table by itself: each statement may be of another account."""
        tables = [] if tree.kind == "file" else tree.named(*_PATTERNS)
        return [entry.name for entry in tables] if len(tables) > 1 else ("",)

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:
        """Look for a table with dates and amounts, in columns known by name or told."""
        entries = list(tree.entries) if tree.kind == "file" else tree.named(*_PATTERNS)
        if len(entries) != 1:
            return None
        seen: ExportRefusal | None = None
        tables = [] if says_number(choices.given) else _possible_tables(entries[0])
        for table in tables:
            found = self._with_header(tree, entries[0], table, choices)
            if isinstance(found, Recognition):
                return found
            seen = seen or found
        asked = choices.chosen or bool(set(choices.given) & set(self.settings))
        bare = self._without_header(tree, entries[0], choices, asked=asked and not tables)
        return bare or seen

    def _without_header(
        self, tree: Tree, entry: FileEntry, choices: OwnerChoices, *, asked: bool
    ) -> Recognition | ExportRefusal | None:
        found = find_headerless(entry)
        if not isinstance(found, HeaderlessTable) and asked:
            found = name_columns(entry, choices.given) or found
        if not isinstance(found, HeaderlessTable):
            return found
        return self._with_header(tree, entry, found.table, choices, found.settings)

    def _with_header(
        self,
        tree: Tree,
        entry: FileEntry,
        table: CsvTable,
        choices: OwnerChoices,
        told: Mapping[str, str] = MappingProxyType({}),
    ) -> Recognition | ExportRefusal | None:
        """Look for dates and amounts under names; ``told`` is what the lines themselves say."""
        shape = "\t".join(table.header)
        kept = choices.recall(self.connector_key, shape)
        # How columns are read follows from the header; whose a statement is does not.
        mapped = {
            name: str(value) for name, value in kept.items() if not name.startswith("account")
        }
        settings = {**told, **choices.given}
        tables = tables_of(entry, table, names_payments, is_day)
        plan = make_plan(entry, _alike(tables, table.header), settings, mapped)
        if plan is None:
            asked = bool(set(choices.given) & set(self.settings))
            return _refusal(table) if asked else _shared_costs(table)
        own = number_of(entry, table, tree.called)
        accounts = dict(kept.get("accounts") or {})
        said = choices.given.get("account") or accounts.get(f"account of {own.number}")
        if said is not None and own.number:
            accounts[f"account of {own.number}"] = said
        return Recognition(
            Confidence.LIKELY,
            "a table of transactions" + (", mapped as before" if kept else ""),
            account=f"Bank ({said or without_number(without_copy(tree.called))})",
            identity=said.casefold() if said else own.number,
            owner_known=said is not None or own.told,
            notes=(f"read as: {plan.words()}; say --set NAME=COLUMN where that is wrong",),
            shape=shape,
            remember={**plan.remembered(), "account": said or "", "accounts": accounts},
            detail={
                "entry": entry.name,
                "tables": _planned(entry, tables, plan),
            },
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return the one table."""
        entry = tree.get(recognition.detail["entry"])
        if entry is not None:
            read = partial(_read, entry, recognition.detail["tables"])
            yield ExportPart(entry, read)


def _possible_tables(entry: FileEntry) -> list[CsvTable]:
    """Return the table that most rows are of, and the one below the first names of payments.

    That one goes first if it stands above the other: both are of payments then.
    """
    found = find_table(entry), find_named_table(entry, names_payments)
    by_width, by_names = found
    if by_width and by_names and by_width.delimiter == by_names.delimiter:
        return sorted({by_width, by_names}, key=lambda table: table.header_line)
    return [table for table in found if table is not None]


def _refusal(table: CsvTable) -> ExportRefusal:
    listed = ", ".join(repr(name) for name in table.header if name)
    return ExportRefusal(
        "the table needs a date and an amount: say --set date=COLUMN and --set amount=COLUMN "
        f"(or money_in and money_out); its columns are {listed}"
    )


def _shared_costs(table: CsvTable) -> ExportRefusal | None:
    """Refuse costs that a group shares: only the person knows which column is their own."""
    names = tuple(plain_name(name) for name in table.header)
    people = [name for name in table.header[len(SHARED_COSTS) :] if name.strip()]
    if names[: len(SHARED_COSTS)] != SHARED_COSTS or not people:
        return None
    return ExportRefusal(
        "these are costs that a group shares, with a column for each of you: say --set amount=NAME "
        f"with your own name, of {', '.join(repr(name) for name in people)}"
    )


def _alike(tables: Iterable[CsvTable], header: tuple[str, ...]) -> list[CsvTable]:
    return [table for table in tables if table.header == header]


def _planned(
    entry: FileEntry, tables: Sequence[CsvTable], first: ColumnMapping
) -> list[tuple[CsvTable, ColumnMapping | None]]:
    """Return how each table is read: those of one header alike, and all by the same forms."""
    forms = {"date_form": first.date_form, "decimal": first.decimal}
    plans: dict[tuple[str, ...], ColumnMapping | None] = {first.header: first}
    for table in tables:
        if table.header not in plans:
            plans[table.header] = make_plan(entry, _alike(tables, table.header), forms)
    return [(table, plans[table.header]) for table in tables]


def _read(
    entry: FileEntry, tables: Sequence[tuple[CsvTable, ColumnMapping | None]]
) -> Iterator[Finding]:
    ordinals = Ordinals()
    if above := _rows_above(entry, tables[0][0]):
        yield Skipped("rows of another table above this one", f"{entry.name}: {above:,}")
    plans = {table.header: plan for table, plan in tables}
    for table, row in rows_of(entry, [table for table, _ in tables]):
        plan = plans[table.header]
        where = f"{entry.name} line {row.line:,}" if isinstance(row, Row) else ""
        if isinstance(row, Skipped):
            yield row
        elif plan is None:
            yield Unknown("a row without a date or an amount", where)
        else:
            found = _transactions(row, plan, ordinals, where, table.title)
            yield from account(found, where, "row")


def _rows_above(entry: FileEntry, table: CsvTable) -> int:
    """Count the rows of a table that stands above the one that is read, such as of holdings."""
    lines = islice(text_lines(entry, table.encoding), max(0, table.header_line - 1))
    cells = csv.reader((line.text for line in lines), delimiter=table.delimiter)
    try:
        widths = [sum(map(bool, map(str.strip, row))) for row in cells]
    except csv.Error:
        return 0
    wide = sum(width >= _LEAST_CELLS for width in widths)
    return wide - 1 if wide > 1 else 0


def _transactions(
    row: Row, plan: ColumnMapping, ordinals: Ordinals, where: str, title: str
) -> Iterator[Finding]:
    if not plan.is_booked(row):
        yield Skipped("a payment that is not booked", where)
    elif plan.is_balance(row):
        yield Skipped("a balance, which is no payment", where)
    else:
        sides = plan.sides(row)
        yield from (_transaction(row, side, ordinals, where, title) for side in sides)
        if not sides:
            yield Unknown("a row of a direction that is not known", where)


def _transaction(
    row: Row, plan: ColumnMapping, ordinals: Ordinals, where: str, title: str
) -> Finding:
    def cell(name: str) -> str:
        at = plan.columns.get(name)
        return "" if at is None else row.cells[at].strip()

    day = read_time(bare_day(cell("date")), plan.date_form, None)
    amount = _amount(cell, plan)
    if day is None or amount is None:
        return Unknown("a row without a date or an amount", where)
    day = day[:10]
    # A fee has a minus or none; a tax that was paid has one, and one that came back has none.
    amount -= abs(read_amount(cell("fee"), plan.decimal) or Decimal(0))
    amount += read_amount(cell("tax"), plan.decimal) or Decimal(0)
    paid, payer = plan.parties(row)
    payee, memo = (payer if amount > 0 else "") or paid, cell("memo")
    # A shop may be called otherwise in a later export, but its payment has the same number.
    number = plan.number(row)
    told = ("", number) if number else (payee, memo)
    key = ordinals.key(day, format(amount.normalize(), "f"), *told)
    balance = read_amount(cell("balance"), plan.decimal)
    others = {**({"table": title} if title else {}), **_others(row, plan)}
    data: dict[str, Any] = {
        "id": key,
        "booked_on": day,
        # Of many cards the description is all that says who was paid.
        "payee": payee or ("" if plan.tells_parties() else memo),
        "memo": memo,
        "category": cell("category"),
        # A column may tell the currency of the shop instead, beside an amount in that of the card.
        "currency": plan.currency or cell("currency") or _currency(cell),
        "other": others or None,
        **members("amount", amount),
        **(members("balance", balance) if balance is not None else {}),
    }
    return Item("transactions", key, present(data, ""))


def _amount(cell: Callable[[str], str], plan: ColumnMapping) -> Decimal | None:
    """Return what moved: one column with a sign, or what came in less what went out."""
    if "amount" in plan.columns:
        amount = read_amount(cell("amount"), plan.decimal)
        if amount is None:
            return None
        if plan.sign == TURNED and not side_of(cell("amount")):
            amount = -amount
        return -abs(amount) if cell("direction").casefold() in OUT_WORDS else amount
    came, went = (_moved(name, cell, plan) for name in ("money_in", "money_out"))
    if came is None and went is None:
        return None
    return (came or Decimal(0)) - (went or Decimal(0))


def _currency(cell: Callable[[str], str]) -> str:
    """Return the currency that stands in the cell of an amount."""
    return next(filter(None, (currency_beside(cell(name)) for name in MONEY)), "")


def _moved(name: str, cell: Callable[[str], str], plan: ColumnMapping) -> Decimal | None:
    """Return what came in or went out, whether or not its column has a minus."""
    amount = read_amount(cell(name), plan.decimal)
    return -amount if amount is not None and name in plan.minus else amount


def _others(row: Row, plan: ColumnMapping) -> Mapping[str, str]:
    """Return the columns that mean nothing to us, under their own names or their numbers.

    Fees and taxes are among them too: of the amount they are a part.
    """
    taken = {at for name, at in plan.columns.items() if name not in ("fee", "tax")}
    return {
        name or f"column {at + 1}": cell.strip()
        for at, (name, cell) in enumerate(zip(plan.header, row.cells, strict=True))
        if at not in taken and (cell.strip() if name else any(map(str.isalnum, cell)))
    }
