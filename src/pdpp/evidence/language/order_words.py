"""Order words: those by which a question asks for what is newest or oldest.

Mostly they say nothing of what a record holds, so they are not looked for.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType


class Order(Enum):
    """Which of the records that answer equally well come first."""

    NEWEST = "newest"
    OLDEST = "oldest"


_NEWEST = """
    latest newest recent neueste neuesten neuester neuestes recents recente recentes derniere
    dernieres dernier derniers ultimo ultimos ultima ultimas reciente recientes
"""
_OLDEST = """
    oldest earliest alteste altesten altester altestes fruheste fruhesten fruhester fruhestes
"""
_LAST = "last letzte letzten letzter letztes"
_FIRST = """
    first erste ersten erster erstes premier premiere premieres premiers primer primera primeras
    primero primeros prima primi primo
"""


def _table(newest: str, oldest: str) -> Mapping[str, Order]:
    return MappingProxyType(
        dict.fromkeys(newest.split(), Order.NEWEST) | dict.fromkeys(oldest.split(), Order.OLDEST)
    )


ORDER_WORDS = _table(_NEWEST, _OLDEST)
"""The folded words that ask for an order, and that texts seldom say of themselves."""

PLACE_WORDS = _table(_LAST, _FIRST)
"""The folded words that ask for an order and that texts say of themselves: "the first instalment".
They are looked for, unless they stand before the name of a stream: "first mail", "last orders"."""


def order_asked(words: Iterable[str]) -> Order | None:
    """Return the order that words of a question ask for."""
    asked, tables = list(words), (ORDER_WORDS, PLACE_WORDS)
    return next((table[word] for table in tables for word in asked if word in table), None)
