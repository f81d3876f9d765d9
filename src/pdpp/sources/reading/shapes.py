"""Shapes: values of another kind than is read, which are told and not passed over as empty."""

from collections.abc import Iterator, Mapping
from types import UnionType

from pdpp.sources.item import Unknown

ODD = "a value of a shape that is not known"
Kind = type | UnionType


def odd(value: object, where: str, kind: Kind) -> Iterator[Unknown]:
    """Tell of a value that is not of a kind; one that is empty says nothing, and is of any."""
    if value and not isinstance(value, kind):
        yield Unknown(ODD, where)


def odd_members(holder: object, where: str, **kinds: Kind) -> Iterator[Unknown]:
    """Tell of the members of an object that are not of the kind that is read."""
    if isinstance(holder, Mapping):
        for name, kind in kinds.items():
            yield from odd(holder.get(name), f"{where} {name}", kind)


def odd_items(values: object, where: str, kind: Kind = dict, **kinds: Kind) -> Iterator[Unknown]:
    """Tell of a list that is none, of what in it is not of a kind, and of members of that."""
    yield from odd(values, where, list)
    for value in values if isinstance(values, list) else ():
        yield from odd(value, where, kind)
        yield from odd_members(value, where, **kinds)
