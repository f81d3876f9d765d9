"""Signs: whether amounts are written with the sign they have, as a table itself tells."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.bank_csv.amounts import bare_amount, read_amount, side_of
from pdpp.sources.formats.bank_csv.words import BARE_CARD, CARDS, OUT_WORDS, plain_name
from pdpp.sources.reading.csvtable import Row

TURNED, AS_WRITTEN = "turned", "as written"


def sign_of(
    header: tuple[str, ...],
    settings: Mapping[str, str],
    kept: Mapping[str, str],
    amounts: Sequence[str],
) -> str:
    """Return whether signs are turned; a table that was read before is read as it was."""
    said = settings.get("sign", kept.get("sign"))
    if said not in (None, TURNED, AS_WRITTEN):
        raise ImportRefused(f"sign must be {TURNED!r} or {AS_WRITTEN!r}, not {said!r}")
    if said is not None:
        return said
    names = {plain_name(name).rstrip("# ") for name in header}
    is_card = any(card <= names for card in CARDS) or names == BARE_CARD
    return TURNED if (is_card and not kept) or _marks_credit(amounts) else AS_WRITTEN


def _marks_credit(amounts: Sequence[str]) -> bool:
    """Tell whether only money that came is marked, so that all other went out."""
    sides = {side_of(text) for text in amounts}
    return 1 in sides and -1 not in sides and not any("-" in bare_amount(text) for text in amounts)


def turned_by_side(sample: Sequence[Row], columns: Mapping[str, int]) -> bool:
    """Tell whether what came has a minus, and what went has none, as a column of sides tells."""
    if not {"amount", "direction"} <= columns.keys():
        return False
    signs = Counter(
        (row.cells[columns["direction"]].strip().casefold() in OUT_WORDS, has_minus(amount))
        for row in sample
        if (amount := bare_amount(row.cells[columns["amount"]])).strip("0.,")
    )
    return signs[False, True] > signs[False, False] and not signs[True, True]


def has_minus(amount: str) -> bool:
    """Tell whether a bare amount is written with a minus."""
    return amount.startswith("-")


def mostly_minus(texts: Sequence[str], decimal: str) -> bool:
    """Tell whether most amounts of a column have a minus."""
    signs = Counter(amount < 0 for text in texts if (amount := read_amount(text, decimal)))
    return signs[True] > signs[False]
