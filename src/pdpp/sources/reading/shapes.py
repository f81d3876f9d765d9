"""Shapes: values of another kind than is read, which are told and not passed over as empty."""

from collections.abc import Mapping, Sequence

from pdpp.sources.item import Unknown

ODD = "a value of a shape that is not known"
Kind = type | tuple[type, ...]

# Nothing is made where nothing is odd: these are asked of every message of every export.


def odd(value: object, where: str, kind: Kind) -> Sequence[Unknown]:
    """Tell of a value that is not of a kind; one that is empty says nothing, and is of any."""
    return [Unknown(ODD, where)] if value and not isinstance(value, kind) else ()


def odd_members(holder: object, where: str, **kinds: Kind) -> Sequence[Unknown]:
    """Tell of the members of an object that are not of the kind that is read."""
    return odd_among(holder, where, kinds)


def odd_among(holder: object, where: str, kinds: Mapping[str, Kind]) -> Sequence[Unknown]:
    """Tell the same of members whose kinds stand in a table."""
    if not isinstance(holder, dict):
        return ()
    value_of = holder.get
    names = [
        name
        for name, kind in kinds.items()
        if (value := value_of(name)) and not isinstance(value, kind)
    ]
    return [Unknown(ODD, f"{where} {name}") for name in names] if names else ()


def odd_items(values: object, where: str, kind: Kind = dict, **kinds: Kind) -> Sequence[Unknown]:
    """Tell of a list that is none, of what in it is not of a kind, and of members of that."""
    if not values:
        return ()
    if not isinstance(values, list):
        return odd(values, where, list)
    found: list[Unknown] = []
    for value in values:
        found += odd(value, where, kind)
        found += odd_among(value, where, kinds)
    return found
