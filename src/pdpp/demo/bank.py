"""Bank: three accounts and their transactions, which have no titles."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from pdpp.demo import story
from pdpp.demo.awkward import disfigure, oddities
from pdpp.demo.declaration import Relation, day, flag, number, optional, source, stream, text
from pdpp.demo.moment import FIRST_DAY, LAST_DAY, LAST_SYNC, SPAN_DAYS, at, emitted
from pdpp.demo.prose import Voice
from pdpp.demo.source import Batch, Line, Source, batched, line
from pdpp.demo.topics import TRIP

Record = dict[str, Any]

CONNECTION = "cin_bank"
MAIN, SAVINGS, TRAVEL = "acc-main", "acc-savings", "acc-travel"


@dataclass(frozen=True, slots=True)
class Payee:
    """Someone whom Nora pays: what for, and the usual sums in cents."""

    name: str
    category: str
    words: str
    least: int
    most: int


SHOPS = (
    Payee("Feira Market", "groceries", "Groceries, {weekday}", 800, 9_500),
    Payee("Padaria Rosa", "eating out", "Bread and coffee", 180, 1_450),
    Payee("Café Lua", "eating out", "Lunch for {n} minutes of peace", 450, 2_600),
    Payee("Carris do Tejo", "transport", "Ticket, {tram}", 165, 4_000),
    Payee("Paper Boat Books", "books", "Paperbacks", 900, 6_200),
    Payee("Farmácia da Graça", "health", "Pharmacy", 420, 3_800),
    Payee("Cinema Farol", "leisure", "Two seats, row {n}", 700, 1_900),
    Payee("Oficina das Cores", "renovation", "Paint and brushes", 1_200, 14_000),
)
KYOTO_SHOPS = (
    Payee("森ゲストハウス", "travel", "Guesthouse by the river", 900_000, 1_800_000),
    Payee("錦市場 たなか", "eating out", "Pickles and grilled mochi", 40_000, 320_000),
    Payee("Kamo Bakery", "eating out", "Egg sandwich", 38_000, 110_000),
    Payee("Keihan line", "transport", "Train to Demachiyanagi", 21_000, 52_000),
)
MONTHLY = (
    (1, Payee("Banco Azul", "housing", "Mortgage, flat in Graça", 71_240, 71_240)),
    (5, Payee("Tejo Power", "bills", "Electricity", 3_900, 9_800)),
    (8, Payee("Água Clara", "bills", "Water", 1_400, 2_900)),
    (11, Payee("Graça Choir", "leisure", "Choir fee", 2_000, 2_000)),
    (15, Payee("Fio Telecom", "bills", "Phone and internet", 3_499, 3_499)),
)

TRANSACTIONS = stream(
    "transactions",
    "Payments",
    "Money in and out of your accounts: how much, when, with whom and what for.",
    {
        "id": text("Number of the payment"),
        "account_id": text("Account it belongs to", group=True),
        "amount": number("Sum; below zero is money spent", "amount", total=True),
        "currency": text("Currency", "secondary", group=True),
        "booked_on": day("Day it was booked", "event-time"),
        "counterparty": optional(
            text("Who was paid, or who paid", "actor", search=True, group=True)
        ),
        "description": optional(text("What it was for", "body", search=True)),
        "reference": optional(text("Reference given with the payment", "secondary", search=True)),
        "category": text("Kind of spending", group=True),
        "pending": flag("Not final yet"),
    },
    time="booked_on",
    views={
        "sums": (
            "Sums and dates, without names",
            ("id", "amount", "currency", "booked_on", "category"),
        ),
    },
    relations=(Relation("account", "accounts", "account_id", "belongs_to", 1, 1),),
)
ACCOUNTS = stream(
    "accounts",
    "Accounts",
    "Your accounts: their names, currencies and balances.",
    {
        "id": text("Number of the account"),
        "name": text("Name", "primary-title", search=True),
        "iban_ending": text("Last four characters of the account number"),
        "currency": text("Currency", group=True),
        "balance": number("Balance on the last day", "amount", total=True),
        "balance_on": day("Day of the balance", "event-time"),
    },
    mutable=True,
    relations=(Relation("transactions", "transactions", "account_id", "has_many", 10, 100),),
)


def sources() -> Iterator[Source]:
    """Yield the bank source."""
    streams = (TRANSACTIONS, ACCOUNTS)
    yield Source(source("bank", "Bank", streams), ((CONNECTION, "Banco Azul"),))


def batches() -> Iterator[Batch]:
    """Yield the accounts and every payment in order of its day."""
    payments = sorted(_payments(), key=lambda record: record["booked_on"])
    yield from batched(CONNECTION, "accounts", [line(item, LAST_SYNC) for item in _accounts()])
    yield from batched(CONNECTION, "transactions", [_line(item) for item in payments])


def _accounts() -> Iterator[Record]:
    for key, name, ending, currency, balance in (
        (MAIN, "Everyday account", "K7Q2", "EUR", 3_412.75),
        (SAVINGS, "Savings for the flat", "M310", "EUR", 11_870.00),
        (TRAVEL, "Travel card", "T845", "JPY", 8_240.0),
    ):
        yield {
            "id": key,
            "name": name,
            "iban_ending": ending,
            "currency": currency,
            "balance": balance,
            "balance_on": LAST_DAY.isoformat(),
        }


def _payments() -> Iterator[Record]:
    voice = Voice("bank")
    serial = 0
    for offset in range(SPAN_DAYS):
        day_ = FIRST_DAY + timedelta(days=offset)
        for payment in _of_day(voice, day_):
            serial += 1
            yield {"id": f"tx-{serial:05}", **payment}
    yield _invoice_payment()
    for oddity in oddities(CONNECTION, "transactions"):
        plain = {"id": oddity.key, **_payment(voice, SHOPS[0], date(2026, 9, 9))}
        yield disfigure(plain, oddity)


def _of_day(voice: Voice, day_: date) -> Iterator[Record]:
    for due, payee in MONTHLY:
        if day_.day == due:
            yield _payment(voice, payee, day_)
    if day_.day == 27:
        yield _salary(day_)
    if TRIP[0] <= day_ <= TRIP[1]:
        for payee in voice.some(KYOTO_SHOPS, 1, 3):
            yield _payment(voice, payee, day_, TRAVEL)
    elif voice.chance(0.75):
        yield _payment(voice, voice.pick(SHOPS), day_)


def _payment(voice: Voice, payee: Payee, day_: date, account: str = MAIN) -> Record:
    cents = voice.between(payee.least, payee.most)
    amount = -float(cents // 100) if account == TRAVEL else -cents / 100
    return {
        "account_id": account,
        "amount": amount,
        "currency": "JPY" if account == TRAVEL else "EUR",
        "booked_on": day_.isoformat(),
        "counterparty": payee.name,
        "description": voice.say(payee.words),
        "reference": f"{payee.category[:2].upper()}-{day_:%y%m%d}" if voice.chance(0.4) else None,
        "category": payee.category,
        "pending": day_ >= LAST_DAY - timedelta(days=3),
    }


def _salary(day_: date) -> Record:
    return {
        "account_id": MAIN,
        "amount": 2_940.0,
        "currency": "EUR",
        "booked_on": day_.isoformat(),
        "counterparty": "Atlas & Tide Lda",
        "description": f"Salary for {day_:%Y-%m}",
        "reference": None,
        "category": "income",
        "pending": False,
    }


def _invoice_payment() -> Record:
    return {
        "id": story.PAYMENT_KEY,
        "account_id": SAVINGS,
        "amount": -story.AMOUNT,
        "currency": "EUR",
        "booked_on": "2026-03-18",
        "counterparty": "Almeida Renovations Lda",
        "description": story.PAYMENT,
        "reference": story.INVOICE.upper(),
        "category": "renovation",
        "pending": False,
    }


def _line(record: Record) -> Line:
    return line(record, emitted(at(date.fromisoformat(record["booked_on"]), 20)))
