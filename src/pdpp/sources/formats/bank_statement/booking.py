"""Bookings: what statements of every layout say of accounts and of the money that moved."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from pdpp.sources.item import Item, present
from pdpp.sources.keys import Ordinals, RecordKey, digest_key
from pdpp.sources.reading.money import members


@dataclass(slots=True)
class BankAccount:
    """An account as far as a statement has told it."""

    number: str = ""
    bank_id: str = ""
    holder: str = ""
    kind: str = ""
    currency: str = ""
    balance: Decimal | None = None
    balance_on: str | None = None

    @property
    def key(self) -> RecordKey:
        """Return the name of the account in records."""
        return digest_key("account", self.number.replace(" ", ""))

    def item(self) -> Item:
        """Return the account as a record."""
        data = {
            "id": self.key,
            "number": self.number,
            "bank_id": self.bank_id,
            "holder": self.holder,
            "kind": self.kind,
            "currency": self.currency,
            **(members("ledger_balance", self.balance) if self.balance is not None else {}),
            "balance_on": self.balance_on,
        }
        return Item("accounts", self.key, present(data, ""))


@dataclass(slots=True)
class Booking:
    """One movement of money."""

    account: BankAccount
    posted_on: str
    amount: Decimal
    currency: str = ""
    value_on: str | None = None
    kind: str = ""
    bank_code: str = ""
    payee: str = ""
    payee_account: str = ""
    behind: str = ""
    """For whom or from whom it was, where the bank tells no other side; it makes no key."""
    memo: str = ""
    category: str = ""
    reference: str = ""
    bank_reference: str = ""
    details: str = ""
    check_number: str = ""
    security: str = ""
    units: float | None = None
    unit_price: float | None = None
    part: str = ""
    reversal: bool | None = None
    more: tuple[str, ...] = field(default=())

    def item(self, ordinals: Ordinals) -> Item:
        """Return the booking as a record.

        No layout gives every booking an id of its own. What the bank does not change later makes
        the key, and equal bookings of one day are numbered in the order they stand.
        """
        references = (self.bank_reference, self.reference, self.payee, self.memo, self.check_number)
        key = ordinals.key(
            self.posted_on,
            self.account.key,
            format(self.amount, "f"),
            *references,
            self.part,
            *self.more,
        )
        data = {
            "id": key,
            "account_id": self.account.key,
            "posted_on": self.posted_on,
            "value_on": self.value_on,
            "kind": self.kind,
            "bank_code": self.bank_code,
            "payee": self.behind or self.payee,
            "payee_account": self.payee_account,
            "memo": self.memo,
            "category": self.category,
            "reference": self.reference,
            "bank_reference": self.bank_reference,
            "details": self.details,
            "check_number": self.check_number,
            "security": self.security,
            "units": self.units,
            "unit_price": self.unit_price,
            "part": self.part,
            "reversal": self.reversal,
            "currency": self.currency or self.account.currency,
            **members("amount", self.amount),
        }
        return Item("transactions", key, present(data, ""))


def day_text(year: int, month: int, day: int) -> str | None:
    """Return a date, or None where there is no such day."""
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
