"""Guesses: what a column holds, found out by looking at its values one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pdpp.model.declaration import Kind
from pdpp.sources.table.form import (
    COMMA,
    POINT,
    TIME_FORMS,
    is_time_like,
    possible_forms,
    read_number,
    read_time,
    read_whole,
    read_word,
)

_MOST_DISTINCT = 20_000
_CHOICES = 60
_SHORT = 60
_PROSE = 50.0


@dataclass(slots=True)
class ColumnGuess:
    """What the values of one column have in common so far."""

    name: str
    filled: int = 0
    chars: int = 0
    links: int = 0
    kinds: set[Kind] = field(default_factory=set)
    distinct: set[str] = field(default_factory=set)
    repeated: bool = False
    longest: int = 0
    _texts: set[Kind] = field(default_factory=lambda: {Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN})
    _decimals: set[str] = field(default_factory=lambda: {POINT, COMMA})
    _times: set[str] = field(default_factory=lambda: set(TIME_FORMS))

    def see(self, value: Any) -> None:
        """Take in one value; nothing and empty text say nothing."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return
        self.filled += 1
        if isinstance(value, bool):
            self.kinds.add(Kind.BOOLEAN)
        elif isinstance(value, int):
            self.kinds.add(Kind.INTEGER)
        elif isinstance(value, float):
            self.kinds.add(Kind.NUMBER)
        elif isinstance(value, str):
            self._see_text(value)
        else:
            self.kinds.add(Kind.JSON)
            return
        self._count(str(value))

    def _count(self, text: str) -> None:
        if text in self.distinct:
            self.repeated = True
        elif len(self.distinct) < _MOST_DISTINCT:
            self.distinct.add(text)

    def _see_text(self, text: str) -> None:
        self.kinds.add(Kind.TEXT)
        self.chars += len(text)
        self.longest = max(self.longest, len(text))
        self.links += text.startswith(("http://", "https://"))
        if Kind.BOOLEAN in self._texts and read_word(text) is None:
            self._texts.discard(Kind.BOOLEAN)
        if Kind.INTEGER in self._texts and read_whole(text) is None:
            self._texts.discard(Kind.INTEGER)
        if self._decimals:
            self._decimals = {
                form for form in self._decimals if read_number(text, form) is not None
            }
        if self._times:
            fitting = self._times & possible_forms(text) if is_time_like(text) else ()
            self._times = {form for form in fitting if read_time(text, form, None) is not None}

    @property
    def unique(self) -> bool:
        """Tell whether no value came twice."""
        return bool(self.filled) and not self.repeated

    @property
    def is_choice(self) -> bool:
        """Tell whether its values are few and short, so that records can be grouped by them."""
        few = len(self.distinct) <= max(_CHOICES, self.filled // 5)
        return few and self.longest <= _SHORT and not self.unique

    @property
    def is_prose(self) -> bool:
        """Tell whether its values read like sentences."""
        return bool(self.filled) and self.chars / self.filled >= _PROSE

    @property
    def is_link(self) -> bool:
        """Tell whether all its values are addresses."""
        return bool(self.filled) and self.links == self.filled

    def kind(self, *, month_first: bool = False, decimal: str = POINT) -> tuple[Kind, str]:
        """Return the kind that every value fits, and the form it is written in.

        Of two signs that may divide the decimals, ``decimal`` does.
        """
        if self.kinds == {Kind.INTEGER, Kind.NUMBER}:
            return Kind.NUMBER, ""
        if len(self.kinds) != 1:
            return (Kind.JSON, "") if self.kinds - {Kind.TEXT} else (Kind.TEXT, "")
        [only] = self.kinds
        return self._text_kind(month_first, decimal) if only is Kind.TEXT else (only, "")

    def _text_kind(self, month_first: bool, decimal: str) -> tuple[Kind, str]:
        forms = [form for form in TIME_FORMS if form in self._times]
        forms.sort(key=lambda form: month_first and not form.startswith("%m"))
        if forms:
            return TIME_FORMS[forms[0]], forms[0]
        if Kind.BOOLEAN in self._texts:
            return Kind.BOOLEAN, ""
        if Kind.INTEGER in self._texts:
            return Kind.INTEGER, ""
        if self._decimals:
            return Kind.NUMBER, self.decimal or decimal
        return Kind.TEXT, ""

    @property
    def decimal(self) -> str:
        """Return the sign that must divide the decimals of its numbers; nothing if two may."""
        [sign, *others] = self._decimals if self.kinds == {Kind.TEXT} and self._decimals else [""]
        return "" if others else sign

    @property
    def ambiguous_days(self) -> bool:
        """Tell whether its dates could also be read with the month before the day."""
        return self.kinds == {Kind.TEXT} and {"%d/%m/%Y", "%m/%d/%Y"} <= {
            form[:8] for form in self._times
        }


def decimal_of(guesses: Iterable[ColumnGuess]) -> str:
    """Return the sign that divides decimals in a table: the comma if only that is seen to."""
    return COMMA if {guess.decimal for guess in guesses} - {""} == {COMMA} else POINT
