"""Tables of two sides, as Wise's history: what left and what arrived have columns of their own.

The direction of a row says which of them was the person's own money. Where one of their balances
was changed into another, both were.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pdpp.sources.formats.bank_csv.words import plain_name

LEAVES = MappingProxyType(
    {
        "date": "finished on",
        "amount": "source amount (after fees)",
        "fee": "source fee amount",
        "currency": "source currency",
        "payee": "target name",
        "memo": "reference",
    }
)
ARRIVES = MappingProxyType(
    {
        "amount": "target amount (after fees)",
        "currency": "target currency",
        "payee": "source name",
    }
)
DIRECTION, STATE = "direction", "status"
OUT, IN, BOTH = "out", "in", "neutral"
GIVEN_BACK = "refunded"
"""The state of a payment that came back: no row of its own says so."""


def leaving_columns(header: Sequence[str]) -> dict[str, int]:
    """Return where what left stands; nothing if a table has not two sides."""
    return _places(header, LEAVES) if _places(header, ARRIVES) else {}


def arriving_columns(header: Sequence[str]) -> dict[str, int]:
    """Return where what arrived stands; nothing if a table has not two sides."""
    return _places(header, ARRIVES) if _places(header, LEAVES) else {}


def column_of(header: Sequence[str], name: str) -> int | None:
    """Return the column of a name, or None."""
    names = [plain_name(column) for column in header]
    return names.index(name) if name in names else None


def _places(header: Sequence[str], wanted: Mapping[str, str]) -> dict[str, int]:
    needed = (*wanted.values(), DIRECTION)
    if any(column_of(header, name) is None for name in needed):
        return {}
    names = [plain_name(column) for column in header]
    return {name: names.index(column) for name, column in wanted.items()}
