"""Shop: what Nora ordered online, order by order and item by item."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from pdpp.demo.declaration import (
    Relation,
    day,
    integer,
    moment,
    number,
    optional,
    source,
    stream,
    text,
)
from pdpp.demo.moment import LAST_SYNC, at, emitted, spread, utc_text
from pdpp.demo.prose import Voice
from pdpp.demo.source import Batch, Line, Source, batched, line

Record = dict[str, Any]

CONNECTION = "cin_shop"
TOTAL = 62

GOODS = (
    ("Paper Boat Books", "books", ("The Lighthouse Year", "Cats of the Alfama", "Tide Tables")),
    ("Paper Boat Books", "books", ("Phrasebook Japanese", "Kyoto on Foot", "A History of Salt")),
    ("Casa Tinta", "renovation", ("Brass cabinet handle", "Sage wall paint 5 l", "Door stop")),
    ("Casa Tinta", "renovation", ("Dust sheet", "Oak shelf 80 cm", "Linen lamp shade")),
    ("Semente & Sol", "garden", ("Basil seeds", "Terracotta pot 22 cm", "Fig tree, small")),
    ("Bolacha Supplies", "pets", ("Salmon cat food 2 kg", "Feather toy", "Scratching board")),
    ("Notenblatt", "music", ("Vocal score, Fauré", "Tuning fork A 440", "Black folder A4")),
    ("Trilho Outdoor", "travel", ("Rain jacket", "Plug adapter Japan", "Packing cubes, three")),
)
STATES = ("delivered", "delivered", "delivered", "delivered", "returned")

ORDERS = stream(
    "orders",
    "Orders",
    "What you ordered online: from which shop, when, for how much, and whether it arrived.",
    {
        "id": text("Number of the order"),
        "summary": text("What was ordered, in short", "primary-title", search=True),
        "merchant": text("Shop", "actor", search=True, group=True),
        "placed_at": moment("When it was ordered", "event-time"),
        "delivered_on": optional(day("When it arrived")),
        "status": text("How far it is", "secondary", group=True),
        "total": number("Total", "amount", total=True),
        "currency": text("Currency", group=True),
        "link": optional(text("Address of the order in the shop", "link")),
    },
    time="placed_at",
    mutable=True,
    views={"spending": ("Sums and dates", ("id", "placed_at", "total", "currency"))},
    relations=(Relation("items", "items", "order_id", "has_many", 10, 50),),
)
ITEMS = stream(
    "items",
    "Items",
    "The single things in your orders: names, numbers and prices.",
    {
        "id": text("Number of the item"),
        "order_id": text("Order that holds it", group=True),
        "name": text("Name", "primary-title", search=True),
        "category": text("Kind of thing", group=True),
        "quantity": integer("How many", total=True),
        "unit_price": number("Price of one", "amount", total=True),
    },
    relations=(Relation("order", "orders", "order_id", "belongs_to", 1, 1),),
)


def sources() -> Iterator[Source]:
    """Yield the shopping source."""
    yield Source(source("shop", "Shopping", (ORDERS, ITEMS)), ((CONNECTION, "Online orders"),))


def batches() -> Iterator[Batch]:
    """Yield the orders and their items."""
    voice = Voice("shop")
    carts = [_cart(voice, number_) for number_ in range(TOTAL)]
    orders: list[Line] = []
    for number_, cart in enumerate(carts):
        order = _order(voice, number_, cart)
        orders.append(line(order, emitted(datetime.fromisoformat(order["placed_at"]))))
    yield from batched(CONNECTION, "orders", orders)
    items = [line(item, LAST_SYNC) for cart in carts for item in cart]
    yield from batched(CONNECTION, "items", items)


def _cart(voice: Voice, number_: int) -> list[Record]:
    _, category, names = GOODS[number_ % len(GOODS)]
    return [
        {
            "id": f"it-{number_ + 1:03}-{place}",
            "order_id": _order_key(number_),
            "name": name,
            "category": category,
            "quantity": voice.pick((1, 1, 1, 2, 4)),
            "unit_price": voice.between(250, 3_900) / 100,
        }
        for place, name in enumerate(voice.some(names, 1, 3), 1)
    ]


def _order_key(number_: int) -> str:
    return f"order-{7001 + number_}"


def _order(voice: Voice, number_: int, cart: list[Record]) -> Record:
    placed = at(spread(number_, TOTAL), voice.between(7, 23), voice.between(0, 59))
    status = "on its way" if number_ >= TOTAL - 2 else voice.pick(STATES)
    key = _order_key(number_)
    merchant = GOODS[number_ % len(GOODS)][0]
    arrival = placed.date() + timedelta(days=voice.between(2, 9))
    return {
        "id": key,
        "summary": ", ".join(item["name"] for item in cart),
        "merchant": merchant,
        "placed_at": utc_text(placed),
        "delivered_on": None if status == "on its way" else arrival.isoformat(),
        "status": status,
        "total": round(sum(item["quantity"] * item["unit_price"] for item in cart), 2),
        "currency": "EUR",
        "link": f"https://shop.example/orders/{key}" if voice.chance(0.7) else None,
    }
