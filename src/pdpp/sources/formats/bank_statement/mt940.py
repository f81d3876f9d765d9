"""MT940: the statement of an account as lines of tags, from the time before XML."""

import re
from collections.abc import Iterator

from pdpp.sources.formats.bank_statement.booking import BankAccount, Booking, day_text
from pdpp.sources.formats.bank_statement.kinds import swift_words
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.money import exact
from pdpp.sources.reading.textfile import plain_head, text_lines
from pdpp.sources.reading.tree import FileEntry

_TAG = re.compile(r":(\d{2}[A-Z]?):(.*)\Z", re.DOTALL)
_OPENING = re.compile(rb"(?:\A|\n):25[A-Z]?:")
_BALANCE = re.compile(rb"(?:\A|\n):60[FM]:[CD]\d{6}[A-Z]{3}")
_MONEY = re.compile(r"([CD])(\d{2})(\d{2})(\d{2})([A-Z]{3})([\d,.]+)")
_MOVEMENT = re.compile(
    r"(\d{2})(\d{2})(\d{2})(\d{2})?(\d{2})?(R?[CD])[A-Z]?(\d[\d,.]*)"
    r"([A-Z][A-Z0-9 ]{3})((?:(?!//)[^\n]){0,40}?)(?://([^\n]{0,40}))?(?:\n(.*))?\Z",
    re.DOTALL,
)
_NUMBERED = re.compile(r"\s*\d{3}([?<~^@])")
_SLASHED = re.compile(
    r"/(NAME|REMI|IBAN|EREF|TRTP|CNTP|BENM|ORDP|ISDT|MARF|CSID|PURP|BIC|ADDR|RTRN|KREF|PREF|SVCL)/"
)
_REMITTANCE = re.compile(r"USTD//|STRD/\w*/")
_CURRENCY = re.compile(r"(?:[/ ]|(?<=\d))[A-Z]{3}\Z")
_SEPA = re.compile(r"(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|IBAN|BIC)\+")
_LONGEST_FIELD = 8_192


def is_mt940(entry: FileEntry) -> bool:
    """Tell whether a file is a statement, by tags that only this layout has."""
    head = plain_head(entry, 16_384)
    return bool(_OPENING.search(head)) and bool(_BALANCE.search(head))


def first_account(entry: FileEntry) -> str:
    """Return the number of the first account of a file."""
    texts = (text for tag, text, _ in _tags(entry) if tag.startswith("25"))
    return next((_bank_and_number(text)[1] for text in texts), "")


def _bank_and_number(text: str) -> tuple[str, str]:
    """Return the bank and the account of tag 25; some banks put the currency behind them."""
    bank, _, number = _CURRENCY.sub("", text.strip()).rpartition("/")
    return bank, number


def _tags(entry: FileEntry) -> Iterator[tuple[str, str, int]]:
    """Yield each tag with its text, of one line or several.

    ``-`` is the end of a statement; ``?`` is a last line that nothing closes.
    """
    tag, lines, number, whole = "", [""], 0, True
    for line in text_lines(entry):
        text, whole = line.text.rstrip("\r\n"), line.whole
        match = _TAG.match(text)
        if match is None and text[:2] not in ("-", "-}", "{1", "{2", "{4") and not line.too_long:
            if sum(map(len, lines)) < _LONGEST_FIELD:
                lines.append(text)
            continue
        if tag:
            yield tag, "\n".join(lines), number
        tag, number = (match[1], line.number) if match else ("", line.number)
        lines = [match[2]] if match else []
        if match is None and text.startswith("-"):
            yield "-", "", line.number
    if tag:
        yield tag, "\n".join(lines), number
    if not whole and tag:
        yield "?", "", number


def read_mt940(entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookings and accounts of a file."""
    holder, ordinals = BankAccount(), Ordinals()
    waiting: tuple[str, int] | None = None
    information, closed = "", True
    for tag, text, number in _tags(entry):
        if tag == "?":
            where = f"{entry.name} line {number}"
            yield Skipped("a last line without an end, which may be cut off", where)
            continue
        if waiting is not None and tag == "86":
            information = text
            continue
        if waiting is not None:
            yield from _booking(holder, waiting, information, ordinals, entry)
            waiting, information = None, ""
        if tag == "61":
            waiting = (text, number)
        elif tag == "20":
            if not closed:
                yield Skipped("a statement without its end", f"{entry.name} line {number}")
            holder, closed = BankAccount(), False
        elif tag.startswith("25"):
            holder.bank_id, holder.number = _bank_and_number(text)
        elif tag[:2] in ("60", "62"):
            _keep_balance(holder, text)
            if tag.startswith("62"):
                where = f"{entry.name} line {number}"
                yield from account(_account(holder, where), where, "statement")
                closed = True
    if not closed:
        # The last booking may be cut in the middle of a word: better none than a wrong one.
        yield Skipped("the end of a statement that breaks off", entry.name, cut=True)


def _account(holder: BankAccount, where: str) -> Iterator[Finding]:
    yield holder.item() if holder.number else Unknown("a statement without an account", where)


def _keep_balance(holder: BankAccount, text: str) -> None:
    match = _MONEY.match(text.strip())
    amount = exact(match[6]) if match else None
    # What an account had before is not what it has.
    holder.balance = holder.balance_on = None
    if match is not None and amount is not None:
        holder.currency = match[5]
        holder.balance = -amount if match[1] == "D" else amount
        holder.balance_on = day_text(_year(match[2]), int(match[3]), int(match[4]))


def _year(digits: str) -> int:
    """Return a year of two digits; the layout is younger than 1980."""
    return int(digits) + (1900 if int(digits) >= 80 else 2000)


def _booking(
    holder: BankAccount,
    movement: tuple[str, int],
    information: str,
    ordinals: Ordinals,
    entry: FileEntry,
) -> Iterator[Finding]:
    where = f"{entry.name} line {movement[1]}"
    yield from account(_movement(holder, movement[0], information, ordinals, where), where, "entry")


def _movement(
    holder: BankAccount, text: str, information: str, ordinals: Ordinals, where: str
) -> Iterator[Finding]:
    match = _MOVEMENT.match(text.strip())
    amount = exact(match[7]) if match else None
    if match is None or amount is None or not holder.number:
        yield Unknown("a booking without a date, an amount or an account", where)
        return
    year, month, day = _year(match[1]), int(match[2]), int(match[3])
    value_on = day_text(year, month, day)
    posted = value_on
    if match[4] and match[5]:
        booked = int(match[4])
        # Booked in January what counts from December, or the other way round.
        year += (booked == 1 and month == 12) - (booked == 12 and month == 1)
        posted = day_text(year, booked, int(match[5])) or value_on
    if posted is None:
        yield Unknown("a booking without a date, an amount or an account", where)
        return
    side = match[6]
    leaves = side in ("D", "RC")
    reference, code = match[9].strip(), match[8].strip()
    booking = Booking(
        holder,
        posted,
        -amount if leaves else amount,
        value_on=value_on,
        kind=swift_words(code) or code,
        bank_code=code,
        reference=reference if reference not in ("NONREF", "NOTPROVIDED") else "",
        bank_reference=(match[10] or "").strip(),
        reversal=True if side.startswith("R") else None,
    )
    further = match[11] or ""
    if information:
        booking.details = " ".join(further.split())
    _keep_information(booking, information or further)
    yield booking.item(ordinals)


def _keep_information(booking: Booking, text: str) -> None:
    """Take apart what a bank says of a booking: in numbered fields, in words with slashes, or free.

    Lines are broken wherever they are full, so that they are put together without a space.
    """
    joined = text.replace("\n", "")
    if numbered := _NUMBERED.match(joined):
        _keep_numbered(booking, joined, numbered[1])
    elif _SLASHED.search(joined):
        _keep_slashed(booking, joined)
    else:
        booking.memo = " ".join(text.split())


def _keep_numbered(booking: Booking, text: str, mark: str) -> None:
    """Take over fields of two digits; most banks put a question mark before each."""
    pieces = re.split(rf"{re.escape(mark)}(\d{{2}})", text)
    fields: dict[int, str] = {}
    for number, value in zip(pieces[1::2], pieces[2::2], strict=True):
        fields[int(number)] = fields.get(int(number), "") + value
    purpose = "".join(fields.get(n, "") for n in (*range(20, 30), *range(60, 64)))
    booking.kind = fields.get(0, "").strip() or booking.kind
    booking.payee = (fields.get(32, "") + fields.get(33, "")).strip()
    booking.payee_account = fields.get(31, "").strip()
    booking.memo = _purpose(purpose, booking)


def _keep_slashed(booking: Booking, text: str) -> None:
    """Take over words between slashes, as banks in the Netherlands write them."""
    pieces = _SLASHED.split(text)
    named: dict[str, str] = {}
    for name, value in zip(pieces[1::2], pieces[2::2], strict=True):
        named.setdefault(name, value.strip("/ "))
    # The account, the bank and the name of the other side, in this order.
    other = [*named.get("CNTP", "").split("/"), "", ""]
    booking.payee = named.get("NAME") or other[2].strip()
    booking.payee_account = named.get("IBAN") or other[0].strip()
    if booking.reference in ("", "EREF"):
        booking.reference = named.get("EREF", "").replace("NOTPROVIDED", "")
    booking.memo = _REMITTANCE.sub("", named.get("REMI", ""), count=1) or text


def _purpose(text: str, booking: Booking) -> str:
    """Return the purpose among the marked parts of a SEPA payment, or the text as it is."""
    pieces = _SEPA.split(text)
    named = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    reference = named.get("EREF", "").strip()
    if reference and reference != "NOTPROVIDED":
        booking.reference = reference
    return (named.get("SVWZ") or (pieces[0] if named else text) or text).strip()
