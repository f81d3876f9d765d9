"""Mappings: which column of a bank's table is what, found by its names or told by the owner."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import islice, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.model.errors import ImportRefused
from pdpp.sources.reading.csvtable import CsvTable, Row, rows
from pdpp.sources.reading.money import exact
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.table.form import (
    COMPACT,
    TIME_FORMS,
    ZONED,
    is_compact_day,
    is_time_like,
    read_number,
    read_time,
)

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "date": (
            "date",
            "booking date",
            "transaction date",
            "posting date",
            "posted date",
            "completed date",
            "post date",
            "activity date",
            "buchung",
            "buchungstag",
            "buchungsdatum",
            "datum",
            "fecha",
            "fecha operación",
            "data",
            "data mov.",
            "data movimento",
            "date opération",
            "date de comptabilisation",
            "data contabile",
            "created",
            "created (utc)",
        ),
        "amount": (
            "amount",
            "transaction amount",
            "betrag",
            "betrag (eur)",
            "betrag (€)",
            "amount (eur)",
            "amount (gbp)",
            "amount (usd)",
            "bedrag (eur)",
            "umsatz",
            "importe",
            "valor",
            "montante",
            "montant",
            "importo",
            "bedrag",
            "net",
            "netto",
            "gross",
            "brutto",
        ),
        "direction": (
            "transaction type",
            "debit/credit",
            "credit/debit",
            "credit debit indicator",
            "af bij",
            "soll/haben",
            "d/c",
            "dr/cr",
            "cr/dr",
            "sign",
        ),
        "money_out": (
            "outflow",
            "withdrawals",
            "debet",
            "uitgaven",
            "debit",
            "withdrawal",
            "paid out",
            "money out",
            "soll",
            "débito",
            "débit",
        ),
        "money_in": (
            "inflow",
            "deposits",
            "ontvangsten",
            "credit",
            "deposit",
            "paid in",
            "money in",
            "haben",
            "crédito",
            "crédit",
        ),
        "payee": (
            "payee",
            "name",
            "merchant",
            "counterparty",
            "counter party",
            "partner name",
            "naam / omschrijving",
            "beguenstigter/zahlungspflichtiger",
            "begünstigter/zahlungspflichtiger",
            "auftraggeber/empfänger",
            "empfänger",
            "beneficiario",
            "destinatário",
            "tiers",
        ),
        "memo": (
            "description",
            "memo",
            "details",
            "reference",
            "narrative",
            "verwendungszweck",
            "buchungstext",
            "concepto",
            "descrição",
            "libellé",
            "descrizione",
            "omschrijving",
        ),
        "balance": ("balance", "running balance", "saldo", "solde", "kontostand"),
        "currency": ("currency", "währung", "waehrung", "moneda", "moeda", "devise", "valuta"),
    }
)
"""The names that banks give to columns, in several languages."""

OUT_WORDS = frozenset(
    {"debit", "d", "dr", "af", "soll", "s", "debet", "out", "-", "dbit", "withdrawal", "outflow"}
)
IN_WORDS = frozenset(
    {"credit", "c", "cr", "bij", "haben", "h", "in", "+", "crdt", "deposit", "inflow", ""}
)
"""What banks write beside an amount without a sign to say that it went out or came in."""

_STATES = ("state", "status", "info")
NOT_BOOKED = frozenset(
    {"pending", "reverted", "declined", "failed", "denied", "cancelled", "canceled"}
    | {"vorgemerkt", "umsatz vorgemerkt", "ausstehend"}
)
"""What banks write beside a payment that was never booked, or is not yet: it may come again."""

TURNED, AS_WRITTEN = "turned", "as written"
_CARDS = ({"card member", "amount"}, {"date", "title", "amount"})
"""The columns of statements of cards that write what was spent without a sign."""

_SAMPLE_ROWS = 2_000
DECIMALS = (".", ",")


class ColumnMapping(NamedTuple):
    """Where each value of a transaction stands, and how dates and amounts are written."""

    columns: Mapping[str, int]
    date_form: str
    decimal: str
    header: tuple[str, ...]
    sign: str = AS_WRITTEN

    def words(self) -> str:
        """Return the mapping as a person reads it."""
        columns = [f"{name} ← {self.header[at]!r}" for name, at in self.columns.items()]
        sign = "; signs turned, because what was spent has none" if self.sign == TURNED else ""
        forms = f"dates as {self.date_form}, decimals after {self.decimal!r}{sign}"
        return f"{', '.join(columns)}; {forms}"

    def is_booked(self, row: Row) -> bool:
        """Tell whether a row is no payment that only may come to be."""
        cells = zip(self.header, row.cells, strict=True)
        states = (cell for name, cell in cells if name.strip().casefold() in _STATES)
        return not any(state.strip().casefold() in NOT_BOOKED for state in states)

    def remembered(self) -> dict[str, str]:
        """Return the mapping as it is kept for files of the same shape."""
        columns = {name: self.header[at] for name, at in self.columns.items()}
        forms = {"date_form": self.date_form, "decimal": self.decimal, "sign": self.sign}
        return {**columns, **forms}


def make_plan(
    entry: FileEntry, table: CsvTable, settings: Mapping[str, str]
) -> ColumnMapping | None:
    """Return how a table is read; None where nothing in it is a date or an amount."""
    columns = _columns(table.header, settings)
    moves = {"amount"} <= columns.keys() or {"money_in", "money_out"} & columns.keys()
    if "date" not in columns or not moves:
        return None
    sample = [row for row in islice(rows(entry, table), _SAMPLE_ROWS) if isinstance(row, Row)]
    if "direction" in columns and not _tells_direction(sample, columns["direction"]):
        del columns["direction"]
    dates = [row.cells[columns["date"]] for row in sample]
    form = settings.get("date_form") or _date_form(dates)
    if form is None:
        return None
    if form not in (COMPACT, *TIME_FORMS):
        raise ImportRefused(f"date_form must be like %d.%m.%Y, not {form!r}")
    amounts = [columns[name] for name in ("amount", "money_in", "money_out") if name in columns]
    decimal = settings.get("decimal") or _decimal(row.cells[at] for row in sample for at in amounts)
    if decimal not in DECIMALS:
        raise ImportRefused(f"decimal must be a point or a comma, not {decimal!r}")
    return ColumnMapping(columns, form, decimal, table.header, _sign(table.header, settings))


def _sign(header: tuple[str, ...], settings: Mapping[str, str]) -> str:
    """Return whether signs are turned; a table that was read before is read as it was."""
    said = settings.get("sign")
    if said not in (None, TURNED, AS_WRITTEN):
        raise ImportRefused(f"sign must be {TURNED!r} or {AS_WRITTEN!r}, not {said!r}")
    if said is not None:
        return said
    names = {name.strip().casefold() for name in header}
    is_card = _CARDS[0] <= names or _CARDS[1] == names
    return TURNED if is_card and "date_form" not in settings else AS_WRITTEN


def _tells_direction(sample: Iterable[Row], at: int) -> bool:
    """Tell whether a column says of every row whether money came or went, and nothing else."""
    words = {row.cells[at].strip().casefold() for row in sample}
    return bool(words) and words <= IN_WORDS | OUT_WORDS


def _columns(header: tuple[str, ...], settings: Mapping[str, str]) -> dict[str, int]:
    folded = [name.strip().lstrip("#").strip().casefold() for name in header]
    columns: dict[str, int] = {}
    for name, known in COLUMNS.items():
        chosen = settings.get(name)
        if chosen is not None:
            if chosen.strip().casefold() not in folded:
                listed = ", ".join(repr(column) for column in header)
                raise ImportRefused(f"there is no column {chosen!r}; there are {listed}")
            columns[name] = folded.index(chosen.strip().casefold())
        else:
            at = next((folded.index(name) for name in known if name in folded), None)
            if at is not None and at not in columns.values():
                columns[name] = at
    return columns


def _date_form(texts: Sequence[str]) -> str | None:
    """Return the one way to write dates that fits every row; of two the more usual."""
    told = [text.strip() for text in texts if text.strip()]
    if told and all(is_compact_day(text) and read_time(text, COMPACT, None) for text in told):
        return COMPACT
    left = [form for form in TIME_FORMS if form != ZONED] + [ZONED]
    seen = False
    for text in texts:
        if not text.strip():
            continue
        seen = True
        if not is_time_like(text.strip()):
            return None
        left = [form for form in left if read_time(text, form, None) is not None]
    return min(left, key=lambda form: _disorder(texts, form)) if seen and left else None


def _disorder(texts: Sequence[str], form: str) -> tuple[int, int]:
    """Return how badly the days of a column are ordered, and how long a time they span.

    Statements go forward or backward in time. Of day and month the one that is right leaves them
    in order, and within a few months.
    """
    days = [day for text in texts if (day := read_time(text, form, None)) is not None]
    pairs = list(pairwise(days))
    falls = sum(later < earlier for earlier, later in pairs)
    rises = sum(later > earlier for earlier, later in pairs)
    span = date.fromisoformat(max(days)[:10]) - date.fromisoformat(min(days)[:10])
    return min(falls, rises), span.days


def _decimal(texts: Iterable[str]) -> str:
    """Return the sign before decimals that fits every amount; the point where both do."""
    left = list(DECIMALS)
    for text in texts:
        bare = bare_amount(text)
        if bare:
            left = [sign for sign in left if read_number(bare, sign) is not None] or left
    return left[0]


def bare_amount(text: str) -> str:
    """Return an amount without its currency, the sign in front."""
    bare = "".join(letter for letter in text if letter in "0123456789.,-+ '\u2212\u00a0\u202f")
    bare = bare.strip().replace("\u2212", "-")
    if bare.endswith(("-", "+")):
        bare = bare[-1] + bare[:-1]
    return f"-{bare}" if "(" in text and ")" in text and bare else bare


def read_amount(text: str, decimal: str) -> Any:
    """Return an exact amount, or None where there is none."""
    bare = bare_amount(text)
    if not bare or read_number(bare, decimal) is None:
        return None
    thousands = "," if decimal == "." else "."
    plain = "".join(letter for letter in bare if letter not in f"{thousands} '\u00a0\u202f")
    return exact(plain.replace(",", "."))
