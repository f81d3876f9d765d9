"""Choices: the connections that an error offers or rules out, as far as a server names them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class ConnectionChoice(NamedTuple):
    """A connection that a call may name; ``code`` says why it cannot be read now."""

    connection_id: str
    connector_key: str | None = None
    display_name: str | None = None
    grant_id: str | None = None
    code: str | None = None

    @property
    def label(self) -> str:
        """Return what a person calls it."""
        name, key = self.display_name, self.connector_key
        return f"{name} ({key})" if name and key else name or key or self.connection_id

    def as_json(self) -> dict[str, str]:
        """Return what is known of it."""
        known = zip(self._fields, self, strict=True)
        return {name: value for name, value in known if value is not None}


def choices_in(listed: object) -> Sequence[ConnectionChoice]:
    """Return the connections of a list in an error; what names none is left out."""
    items = listed if isinstance(listed, list) else []
    return [
        ConnectionChoice(
            item["connection_id"],
            _text(item, "connector_key") or _text(item, "connector_id"),
            _text(item, "display_name"),
            _text(item, "grant_id"),
            _text(item, "code"),
        )
        for item in items
        if isinstance(item, Mapping) and _text(item, "connection_id")
    ]


def _text(item: Mapping[str, object], name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) and value else None
