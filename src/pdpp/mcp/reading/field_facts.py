"""FieldFacts: what a stream's declaration says of its fields, as far as a server tells it."""

from collections.abc import Mapping
from typing import NamedTuple

from pdpp.model.vocabulary import Kind


class FieldFacts(NamedTuple):
    """What a stream's declaration says of its fields: their roles and kinds."""

    roles: Mapping[str, str]
    kinds: Mapping[str, Kind]


NO_FACTS = FieldFacts({}, {})
_KINDS = {kind.value: kind for kind in Kind}


def facts_of(flags: Mapping[str, object]) -> FieldFacts:
    """Read roles and kinds from a compact schema's flags; what is not told is not guessed."""
    roles: dict[str, str] = {}
    kinds: dict[str, Kind] = {}
    for name, text in flags.items():
        for flag in str(text).split(","):
            key, _, value = flag.partition("=")
            if key == "role":
                roles[name] = value
            elif key == "t" and value in _KINDS:
                kinds[name] = _KINDS[value]
    return FieldFacts(roles, kinds)
