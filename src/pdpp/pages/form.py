"""Forms: what a browser posted, read within bounds."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.requests import Request

from pdpp.model.errors import InvalidRequest
from pdpp.service.form import FORM, read_pairs, read_typed_body

OWNERS_BYTES = 4 << 20
STRANGERS_BYTES = 64 << 10
"""A stranger has a passphrase to send; taking a form of the owner's size apart takes a while."""
_MOST_PAIRS = 50_000


@dataclass(frozen=True, slots=True)
class PostedForm:
    """The fields of a form; a box that is not ticked is not there."""

    values: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str, str]]) -> "PostedForm":
        """Return the form that pairs of names and values make."""
        values: dict[str, list[str]] = {}
        for name, value in pairs:
            values.setdefault(name, []).append(value)
        return cls(values)

    def one(self, name: str) -> str:
        """Return the only value of a field, empty where there is none."""
        values = self.values.get(name, [""])
        if len(values) > 1:
            raise InvalidRequest(f"{name} is given twice.", param=name)
        return values[0]

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of a field."""
        return tuple(self.values.get(name, ()))

    def replaced(self, name: str, values: list[str]) -> "PostedForm":
        """Return a form with other values of one field."""
        return PostedForm({**self.values, name: values})

    def without(self, *names: str) -> "PostedForm":
        """Return a form without some fields."""
        return PostedForm({name: value for name, value in self.values.items() if name not in names})

    def pairs(self) -> list[tuple[str, str]]:
        """Return every name with each of its values."""
        return [(name, value) for name, values in self.values.items() for value in values]

    def __contains__(self, name: str) -> bool:
        return name in self.values


async def read_form(request: Request, most_bytes: int, most_pairs: int = _MOST_PAIRS) -> PostedForm:
    """Return the form in the body of a request."""
    body = await read_typed_body(request, FORM, most_bytes)
    if len(body) <= STRANGERS_BYTES:
        return _parsed(body, most_pairs)
    # A megabyte of short fields takes tens of milliseconds, in which nobody else is answered.
    return await asyncio.to_thread(_parsed, body, most_pairs)


def _parsed(body: bytes, most_pairs: int) -> PostedForm:
    return PostedForm.of_pairs(read_pairs(body, most_pairs))
