"""QIF: what Quicken and its heirs wrote for thirty years, a letter and a value on each line."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from pdpp.sources.formats.bank_statement.booking import BankAccount, Booking, day_text
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.money import exact
from pdpp.sources.reading.textfile import plain_head, text_lines
from pdpp.sources.reading.tree import FileEntry

_HEADER = re.compile(rb"\A\s*!(Type|Account|Option|Clear)\b", re.IGNORECASE)
_LEDGERS = frozenset({"bank", "ccard", "cash", "invst", "oth a", "oth l", "invoice"})
_DATE = re.compile(r"(\d{1,4})[-/.]\s*(\d{1,2})\s*(['/.-])\s*(\d{1,4})\Z")
_WORDED = ("%Y%m%d", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y")
_PAID = frozenset({"buy", "cvrshrt", "miscexp", "margint", "xout", "withdrw"})
"""What costs money though its amount has no sign."""
_OPENING = frozenset(
    {"opening balance", "solde initial", "saldo inicial", "saldo iniziale", "anfangssaldo"}
    | {"eröffnungssaldo", "beginsaldo", "startsaldo"}
)
"""Whom the first entry of a ledger names: its category is the ledger itself."""
_DECIMALS = re.compile(r",\d{1,2}\Z"), re.compile(r"\.\d{1,2}\Z")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})*(?:,\d+)?\Z")
_LAST_MONTH = 12
_CENTURY = 100
ORDERS = _MONTH_FIRST, _DAY_FIRST, _YEAR_FIRST = "MDY", "DMY", "YMD"
_MOST_COMPARED = 2_000
"""Dates that are read in two orders to see which is meant."""
_YEARS_BEFORE_2000 = 70


@dataclass(slots=True)
class _Entry:
    """One entry: its lines by letter, and its splits."""

    number: int
    values: dict[str, str] = field(default_factory=dict)
    splits: list[dict[str, str]] = field(default_factory=list)

    def add(self, letter: str, value: str) -> None:
        if letter == "S":
            self.splits.append({"S": value})
        elif letter in "E$%" and self.splits:
            self.splits[-1].setdefault(letter, value)
        elif letter == "A" and "A" in self.values:
            self.values["A"] += f"\n{value}"
        else:
            self.values.setdefault(letter, value)


class _Forms(NamedTuple):
    """How a file writes days, and whether a comma stands before its decimals."""

    order: str
    commas: bool


class DateOrder(NamedTuple):
    """In which order dates name day, month and year, and whether the file shows it."""

    order: str
    certain: bool


def is_qif(entry: FileEntry) -> bool:
    """Tell whether a file begins with a header of this layout."""
    return bool(_HEADER.match(plain_head(entry)))


def date_order(entry: FileEntry) -> DateOrder:
    """Return the order in which the dates of a file name day, month and year.

    Most name the month first. Years of two digits may stand first too: entries stand in the order
    of their days, and that shows which of two readings is meant.
    """
    dates: list[re.Match[str]] = []
    first = second = 0
    for line in text_lines(entry):
        match = _DATE.match(line.text[1:].strip()) if line.text.startswith("D") else None
        if match is not None and len(match[1]) <= 2:
            first += int(match[1]) > _LAST_MONTH
            second += int(match[2]) > _LAST_MONTH
            if len(dates) < _MOST_COMPARED:
                dates.append(match)
    usual = _DAY_FIRST if first > second else _MONTH_FIRST
    certain = bool(first or second) or all(match[1] == match[2] for match in dates)
    if not certain:
        # No country writes a point behind a month that stands first.
        dotted = all("." in match[0] for match in dates)
        usual, certain = (_DAY_FIRST, True) if dotted else _sorted_order(dates)
    if any(len(match[4]) > 2 or match[3] == "'" for match in dates):
        return DateOrder(usual, certain)
    return DateOrder(_YEAR_FIRST, True) if _is_turned(dates, usual) else DateOrder(usual, certain)


def _sorted_order(dates: Sequence[re.Match[str]]) -> DateOrder:
    """Return the order in which the entries of a file are sorted, of those two that are days."""
    by_month, by_day = (
        _breaks([_day(match[0], order) for match in dates]) for order in (_MONTH_FIRST, _DAY_FIRST)
    )
    if by_day * 4 < by_month:
        return DateOrder(_DAY_FIRST, True)
    return DateOrder(_MONTH_FIRST, by_month * 4 < by_day)


def _is_turned(dates: Sequence[re.Match[str]], usual: str) -> bool:
    """Tell whether dates are days only with the year first, or stand in order only then."""
    turned = [_day(match[0], _YEAR_FIRST) for match in dates]
    if None in turned:
        return False
    as_usual = [_day(match[0], usual) for match in dates]
    none_such = as_usual.count(None) * 2 > len(dates)
    return none_such or _breaks(turned) * 4 < _breaks(as_usual)


def _breaks(days: Sequence[str | None]) -> int:
    """Count where days do not go on as most of them do, forwards or backwards."""
    steps = [(one or "") <= (other or "") for one, other in pairwise(days)]
    back = [(one or "") >= (other or "") for one, other in pairwise(days)]
    return min(steps.count(False), back.count(False))


def writes_commas(entry: FileEntry) -> bool:
    """Tell whether a file writes decimals behind a comma, so that its points divide thousands."""
    lines = (line.text for line in text_lines(entry))
    amounts = [line[1:].strip() for line in lines if line[:1] in ("T", "U", "$")]
    commas, points = (sum(bool(sign.search(text)) for text in amounts) for sign in _DECIMALS)
    return commas > points


def opened_account(entry: FileEntry) -> str:
    """Return the account that the first entry of a file opens, which tells its name."""
    opening = _Entry(1)
    for line in text_lines(entry):
        if line.text.startswith("^"):
            break
        if line.text.strip() and not line.text.startswith("!"):
            opening.add(line.text[:1], line.text[1:].strip())
    opens = opening.values.get("P", "").casefold() in _OPENING
    category = opening.values.get("L", "") if opens else ""
    return category[1:-1].strip() if category.startswith("[") and category.endswith("]") else ""


def read_qif(entry: FileEntry, name: str, order: str = "") -> Iterator[Finding]:
    """Yield the bookings and accounts of a file; ``name`` is that of an account without one.

    Dates are read in the ``order`` that the owner tells, or else in that of the file.
    """
    forms = _Forms(order or date_order(entry).order, commas=writes_commas(entry))
    ordinals = Ordinals()
    name = opened_account(entry) or name
    section, current = "", _Entry(1)
    holder: BankAccount | None = None
    broken = False
    for line in text_lines(entry):
        broken = not line.whole and not line.text.startswith("^")
        letter, value = line.text[:1], line.text[1:].strip()
        if letter == "!":
            section = value.lower().removeprefix("type:").strip()
            if section in _LEDGERS and holder is None:
                holder = BankAccount(number=name or value[5:], kind=value[5:])
                yield from account(iter([holder.item()]), entry.name, "account")
        elif letter == "^":
            where = f"{entry.name} line {line.number}"
            if section == "account":
                holder = BankAccount(current.values.get("N", ""), kind=current.values.get("T", ""))
                yield from account(_account(holder, where), where, "account")
            elif current.values:
                finding = _entry(section, holder, current, forms, ordinals, where)
                yield from account(finding, where, "entry")
            current = _Entry(line.number + 1)
        elif letter.strip():
            current.add(letter, value)
    if current.values or broken:
        yield Skipped("an entry without its end", f"{entry.name} line {current.number}", cut=True)


def _account(holder: BankAccount, where: str) -> Iterator[Finding]:
    yield holder.item() if holder.number else Unknown("an account without a name", where)


def _entry(
    section: str,
    holder: BankAccount | None,
    entry: _Entry,
    forms: _Forms,
    ordinals: Ordinals,
    where: str,
) -> Iterator[Finding]:
    if section not in _LEDGERS or holder is None:
        yield Skipped("an entry of a list that is no ledger, such as categories", where)
        return
    values = entry.values
    posted = _day(values.get("D", ""), forms.order)
    amount = _amount(values.get("T") or values.get("U", ""), forms)
    if section == "invst" and amount is None and "Q" in values:
        amount = Decimal(0)
    if section == "invst" and values.get("N", "").lower().removesuffix("x") in _PAID:
        amount = None if amount is None else -abs(amount)
    if posted is None or amount is None:
        yield Unknown("a booking without a date or an amount", where)
        return
    splits = [(split, _amount(split.get("$", ""), forms)) for split in entry.splits]
    whole = len(splits) > 1 and sum((part or Decimal(0)) for _, part in splits) == amount
    parts = splits if whole else [({}, amount)]
    for number, (split, part) in enumerate(parts, 1):
        invests = section == "invst"
        yield Booking(
            holder,
            posted,
            part or Decimal(0),
            kind=values.get("N", "") if invests else "",
            payee=values.get("P", ""),
            memo=split.get("E") or values.get("M", ""),
            category=split.get("S") or values.get("L", ""),
            check_number="" if invests else values.get("N", ""),
            details="" if whole else "\n".join(_told(split) for split in entry.splits),
            security=values.get("Y", ""),
            units=_number(values.get("Q"), forms),
            unit_price=_number(values.get("I"), forms),
            part=f"{number} of {len(parts)}" if whole else "",
            more=(values.get("Y", ""), values.get("Q", "")),
        ).item(ordinals)


def _told(split: dict[str, str]) -> str:
    """Return what a split says that makes no booking, because the splits do not add up."""
    return " ".join(filter(None, (split.get(letter, "") for letter in "S$%E")))


def _day(text: str, order: str) -> str | None:
    """Return a date such as ``12/19'18``, ``19.12.2018``, ``2018-12-19`` or ``18-12-19``."""
    match = _DATE.match(text.strip())
    if match is None:
        return _worded_day(text.strip())
    one, two, three = int(match[1]), int(match[2]), int(match[4])
    if len(match[1]) == len("2018"):
        return day_text(one, two, three)
    if order == _YEAR_FIRST:
        one, three = three, one
    year = three
    if year < _CENTURY:
        modern = match[3] == "'" or year < _YEARS_BEFORE_2000
        year += 2_000 if modern else 1_900
    day, month = (two, one) if order == _MONTH_FIRST else (one, two)
    return day_text(year, month, day)


def _worded_day(text: str) -> str | None:
    """Return a date with the month as a word, or in eight digits."""
    for form in _WORDED:
        with suppress(ValueError):
            return datetime.strptime(text, form).date().isoformat()  # noqa: DTZ007 - a day
    return None


def _amount(text: str, forms: _Forms) -> Decimal | None:
    """Return an amount; a comma before three digits divides thousands if it is not for decimals."""
    plain = text.strip().replace("'", "").replace(" ", "")
    if forms.commas and _GROUPED.match(plain):
        plain = plain.replace(".", "")
    elif re.search(r",\d{3}(\D|\Z)", plain) and not re.search(r",\d{1,2}\Z", plain):
        plain = plain.replace(",", "")
    elif re.search(r"\.\d{3},\d{1,2}\Z", plain):
        plain = plain.replace(".", "")
    return exact(plain)


def _number(text: str | None, forms: _Forms) -> float | None:
    amount = _amount(text or "", forms)
    return None if amount is None else float(amount)
