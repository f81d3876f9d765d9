"""Texts: what a card lists, as one text for each list, because only texts can be searched."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pdpp.sources.item import present

_KIND = re.compile(r" \([^()]*\)\Z")
_SIGNS = re.compile(r"[^\d+]")
_FEWEST_DIGITS = 3
_MONTH_AND_DAY = re.compile(r"(?:\d{4}|-)-(\d\d-\d\d)\Z")


def texts_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the lists of a card as texts, and its birthday without the year."""
    birthday = _MONTH_AND_DAY.match(data.get("birthday") or "")
    texts = {
        "email": _joined(data.get("emails", ())),
        "phone": ", ".join(dict.fromkeys(_numbers(data.get("phones", ())))),
        "address": _joined(data.get("addresses", ()), "; "),
        "groups": ", ".join(data.get("categories", ())),
        "birthday_month_day": birthday[1] if birthday else None,
    }
    return present(texts, "")


def _joined(values: Iterable[str], between: str = ", ") -> str:
    return between.join(_KIND.sub("", value) for value in values)


def _numbers(phones: Iterable[str]) -> Iterator[str]:
    """Yield each number without spaces, as messages have it, and as it is written."""
    for phone in phones:
        written = _KIND.sub("", phone)
        bare = _SIGNS.sub("", written)
        if len(bare) >= _FEWEST_DIGITS and not any(map(str.isalpha, written)):
            yield bare
        yield written
