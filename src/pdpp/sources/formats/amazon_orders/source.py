"""Amazon: the history of orders, a row for each thing that was ordered."""

from collections.abc import Iterator

from pdpp.sources.formats.csv_archive import Cells, KnownTables, TableKind, numbered, utc_text
from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.money import exact, members

_COLUMNS = frozenset({"order id", "order date", "asin", "product name", "currency"})
_NOTHING = frozenset({"not available", "not applicable", "n/a", ""})


def _thing(ordinals: Ordinals, cells: Cells, where: str) -> Iterator[Finding]:
    ordered, number = utc_text(cells["order date"]), _said(cells, "order id")
    if ordered is None or not number:
        yield Unknown("an order without a number or a time", where)
        return
    total = exact(_said(cells, "total owed", "total amount").strip("'$€£ "))
    price = exact(_said(cells, "unit price").strip("'$€£ "))
    quantity = exact(_said(cells, "quantity", "original quantity"))
    # What changes while a thing is on its way is no part of what it is known by.
    key = ordinals.key(number, _said(cells, "asin"), _said(cells, "product name"))
    data = {
        "id": key,
        "title": _said(cells, "product name") or "(no name)",
        "order_id": number,
        "product_id": _said(cells, "asin"),
        "shop": _said(cells, "website"),
        "ordered_at": ordered,
        "shipped_at": utc_text(_said(cells, "ship date")),
        "status": _said(cells, "order status"),
        "quantity": None if quantity is None else float(quantity),
        "condition": _said(cells, "product condition"),
        "paid_with": _said(cells, "payment instrument type", "payment method type"),
        "gift_message": _said(cells, "gift message"),
        "currency": _said(cells, "currency"),
        **({} if total is None else members("amount", total)),
        **({} if price is None else members("unit_price", price)),
    }
    yield Item("orders", key, present(data, ""))


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
    kinds = (TableKind("*.csv", _COLUMNS, "thing ordered", numbered(_thing)),)
