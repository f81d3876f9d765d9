"""Amazon: the history of orders, a row for each thing that was ordered."""

from collections.abc import Iterator
from datetime import datetime

from pdpp.sources.formats.csv_archive import Cells, KnownTables, TableKind, numbered, utc_text
from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.money import exact, members

_COLUMNS = frozenset({"order id", "order date", "asin", "product name", "currency"})
_COLUMNS_BEFORE = frozenset({"order id", "order date", "asin/isbn", "title", "item total"})
"""Columns of the reports of items that the American shop offered until 2023."""
_NOTHING = frozenset({"not available", "not applicable", "n/a", ""})


def _thing(ordinals: Ordinals, cells: Cells, where: str) -> Iterator[Finding]:
    ordered, number = _moment(cells["order date"]), _said(cells, "order id")
    title, product = _said(cells, "product name", "title"), _said(cells, "asin", "asin/isbn")
    if ordered is None or not number:
        yield Unknown("an order without a number or a time", where)
        return
    total = exact(_said(cells, "total owed", "total amount", "item total").strip("'$€£ "))
    price = exact(_said(cells, "unit price", "purchase price per unit").strip("'$€£ "))
    quantity = exact(_said(cells, "quantity", "original quantity"))
    # What changes while a thing is on its way is no part of what it is known by.
    key = ordinals.key(number, product, title)
    data = {
        "id": key,
        "title": title or "(no name)",
        "order_id": number,
        "product_id": product,
        "shop": _said(cells, "website"),
        "ordered_at": ordered,
        "shipped_at": _moment(_said(cells, "ship date", "shipment date")),
        "status": _said(cells, "order status"),
        "quantity": None if quantity is None else float(quantity),
        "condition": _said(cells, "product condition", "condition"),
        "paid_with": _said(cells, "payment instrument type", "payment method type"),
        "gift_message": _said(cells, "gift message"),
        "currency": _said(cells, "currency"),
        **({} if total is None else members("amount", total)),
        **({} if price is None else members("unit_price", price)),
    }
    yield Item("orders", key, present(data, ""))


def _moment(text: str) -> str | None:
    """Return a time in UTC; a day of the reports is its midnight, wherever one is."""
    for form in ("%m/%d/%y", "%m/%d/%Y"):
        try:
            return datetime.strptime(text, form).isoformat()  # noqa: DTZ007 - it has no zone
        except ValueError:
            continue
    return utc_text(text)


def _said(cells: Cells, *names: str) -> str:
    """Return the first of some cells that says something."""
    said = (cells.get(name, "") for name in names)
    return next((text for text in said if text.casefold() not in _NOTHING), "")


class AmazonOrders(KnownTables):
    """The table of orders among the data that Amazon hands out.

    It is that of things which were sent by mail; one order has a row for each.
    """

    connector_key = "amazon_orders"
    label = "Amazon orders"
    kinds = (
        TableKind("*.csv", _COLUMNS, "thing ordered", numbered(_thing)),
        TableKind("*.csv", _COLUMNS_BEFORE, "thing ordered", numbered(_thing)),
    )
