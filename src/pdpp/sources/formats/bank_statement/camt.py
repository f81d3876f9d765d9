"""CAMT: statements (053), reports (052) and notifications (054) of an account as XML.

A notification tells single payments that a statement may hold as one sum, so that nothing says
which of them a statement brought. They have a stream of their own, and no sum counts money twice.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from pdpp.model import instant
from pdpp.sources.formats.bank_statement.booking import BankAccount, Booking
from pdpp.sources.formats.bank_statement.kinds import iso_words
from pdpp.sources.item import Finding, Item, Skipped, Unknown
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.money import exact
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.reading.xmlstream import XmlElement, XmlEnd, XmlStart, xml_elements, xml_root

_PARTS = ("Ntry", "Acct", "Bal")
_NOTIFICATION = "Ntfctn"
_AROUND = ("Stmt", "Rpt", _NOTIFICATION)
_NAMESPACE = re.compile(r"camt\.05[234]\.")
_UNBOOKED = frozenset({"PDNG", "INFO", "FUTR"})


def is_camt(entry: FileEntry) -> bool:
    """Tell whether a file is a statement, a report or a notification by its namespace."""
    root = xml_root(entry)
    return root is not None and root.name == "Document" and bool(_NAMESPACE.search(root.namespace))


def first_account(entry: FileEntry) -> str:
    """Return the number of the first account of a file."""
    with entry.open() as stream:
        for element in xml_elements(stream, "Acct"):
            if isinstance(element, XmlElement):
                return _number(element)
    return ""


def read_camt(entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookings and accounts of a file."""
    holder, ordinals, notified = BankAccount(), Ordinals(), False
    with entry.open() as stream:
        for element in xml_elements(stream, *_PARTS, around=_AROUND):
            if isinstance(element, XmlStart):
                holder, notified = BankAccount(), element.name == _NOTIFICATION
            elif isinstance(element, XmlEnd):
                if notified:  # It knows no balance, and would take that of a statement away.
                    continue
                where = f"{entry.name} statement"
                yield from account(_account(holder, where), where, "statement")
            elif isinstance(element, Skipped):
                yield element
            elif element.name == "Acct":
                _keep_account(holder, element)
            elif element.name == "Bal":
                _keep_balance(holder, element)
            else:
                where = f"{entry.name} entry {element.number}"
                found = _entry(holder, element, ordinals, where)
                found = _notifications(found, holder) if notified else found
                yield from account(found, where, "entry")


def _notifications(found: Iterator[Finding], holder: BankAccount) -> Iterator[Finding]:
    for finding in found:
        if isinstance(finding, Item):
            data = {**finding.data, "account_number": holder.number}
            yield Item("notifications", finding.key, data)
        else:
            yield finding


def _account(holder: BankAccount, where: str) -> Iterator[Finding]:
    yield holder.item() if holder.number else Unknown("a statement without an account", where)


def _number(element: XmlElement) -> str:
    return element.text_at("Id", "IBAN") or element.text_at("Id", "Othr", "Id")


def _keep_account(holder: BankAccount, element: XmlElement) -> None:
    if not holder.number:
        holder.number = _number(element)
        holder.currency = element.text_at("Ccy")
        holder.holder = element.text_at("Ownr", "Nm")
        servicer = element.at("Svcr", "FinInstnId")
        if servicer is not None:
            holder.bank_id = servicer.text_at("BIC") or servicer.text_at("BICFI")


def _keep_balance(holder: BankAccount, element: XmlElement) -> None:
    if element.text_at("Tp", "CdOrPrtry", "Cd") == "CLBD":
        amount = element.at("Amt")
        holder.balance = _signed(element, exact(amount.text) if amount is not None else None)
        holder.balance_on = _day(element.at("Dt"))
        if amount is not None and not holder.currency:
            holder.currency = amount.attributes.get("Ccy", "")


def _signed(element: XmlElement, amount: Decimal | None) -> Decimal | None:
    """Return an amount with the sign that its side gives it; amounts themselves have none."""
    if amount is None:
        return None
    return -amount if element.text_at("CdtDbtInd") == "DBIT" else amount


def _entry(
    holder: BankAccount, entry: XmlElement, ordinals: Ordinals, where: str
) -> Iterator[Finding]:
    if (entry.text_at("Sts", "Cd") or entry.text_at("Sts")) in _UNBOOKED:
        yield Skipped("a booking that is only announced", where)
        return
    side = entry.at("Amt")
    amount = _signed(entry, exact(side.text) if side is not None else None)
    posted = _day(entry.at("BookgDt")) or _day(entry.at("ValDt"))
    if amount is None or side is None or posted is None or not holder.number:
        yield Unknown("a booking without a date, an amount or an account", where)
        return
    currency = side.attributes.get("Ccy", "")
    kind, bank_code = _kind(entry)
    details = [inner for group in entry.each("NtryDtls") for inner in group.each("TxDtls")]
    amounts = [_part_amount(entry, inner, currency) for inner in details]
    splits = len(details) > 1 and sum((part or Decimal(0)) for part in amounts) == amount
    parts = list(zip(details, amounts, strict=True)) if splits else [(None, amount)]
    for number, (inner, part) in enumerate(parts, 1):
        described = [inner] if inner is not None else details
        booking = Booking(
            holder,
            posted,
            part or Decimal(0),
            currency,
            value_on=_day(entry.at("ValDt")),
            kind=kind,
            bank_code=bank_code,
            bank_reference=entry.text_at("AcctSvcrRef"),
            part=f"{number} of {len(details)}" if inner is not None else "",
            reversal=True if entry.text_at("RvslInd") == "true" else None,
        )
        _keep_details(booking, entry, described)
        yield booking.item(ordinals)


def _part_amount(entry: XmlElement, inner: XmlElement, currency: str) -> Decimal | None:
    """Return what one payment of many comes to, where it is told in the money of the account."""
    for side in (inner.at("Amt"), inner.at("AmtDtls", "TxAmt", "Amt")):
        if side is not None and side.attributes.get("Ccy", currency) == currency:
            return _signed(inner if inner.at("CdtDbtInd") else entry, exact(side.text))
    return None


def _keep_details(booking: Booking, entry: XmlElement, details: list[XmlElement]) -> None:
    memo = [text for inner in details for text in _purposes(inner)]
    extra = entry.text_at("AddtlNtryInf")
    booking.memo = "\n".join(dict.fromkeys(memo or ([extra] if extra else [])))
    if details:
        inner, debit = details[0], booking.amount < 0
        parties = inner.at("RltdPties")
        references = [inner.text_at("Refs", "EndToEndId"), inner.text_at("Refs", "MndtId")]
        booking.reference = next((text for text in references if text != "NOTPROVIDED"), "")
        if parties is not None:
            sides = ("Cdtr", "Dbtr") if debit else ("Dbtr", "Cdtr")
            if not _name(parties, sides[0]):
                booking.behind = _name(parties, f"Ultmt{sides[0]}")
            for side in sides:
                party = _name(parties, side)
                other = parties.at(f"{side}Acct")
                number = _number(other) if other is not None else ""
                if party or number:
                    booking.payee, booking.payee_account = party, number
                    break


def _purposes(inner: XmlElement) -> list[str]:
    """Return what was written on a payment, as words or as the number of an invoice."""
    information = inner.at("RmtInf")
    if information is None:
        return [inner.text_at("AddtlTxInf")] if inner.text_at("AddtlTxInf") else []
    free = [text.text.strip() for text in information.each("Ustrd") if text.text.strip()]
    structured = [
        part.text_at("CdtrRefInf", "Ref") or part.text_at("AddtlRmtInf")
        for part in information.each("Strd")
    ]
    return free + [text for text in structured if text]


def _name(parties: XmlElement, side: str) -> str:
    return parties.text_at(side, "Nm") or parties.text_at(side, "Pty", "Nm")


def _kind(entry: XmlElement) -> tuple[str, str]:
    """Return what kind of booking it was, in words and in the code of the bank."""
    code = entry.at("BkTxCd")
    if code is None:
        return "", ""
    steps = (
        code.text_at("Domn", "Cd"),
        code.text_at("Domn", "Fmly", "Cd"),
        code.text_at("Domn", "Fmly", "SubFmlyCd"),
    )
    written = "-".join(filter(None, steps)) or code.text_at("Prtry", "Cd")
    return iso_words(*steps) or written, written


def _day(element: XmlElement | None) -> str | None:
    """Return the day of a date or of a time, as the bank's clock has it."""
    if element is None:
        return None
    text = (element.text_at("Dt") or element.text_at("DtTm"))[:10]
    return text if len(text) == len("2026-01-31") and instant.parse(text) is not None else None
