"""Ambiguity: the refusal of a request that fits several connections and names none."""

from collections.abc import Mapping, Sequence
from typing import Any

from pdpp.model.errors import AmbiguousConnection

MOST_CANDIDATES = 12
"""How many connections are offered; ``total`` says how many there are."""


def ambiguous_connection(
    message: str,
    candidates: Sequence[Mapping[str, Any]],
    error: type[AmbiguousConnection] = AmbiguousConnection,
    **detail: Any,
) -> AmbiguousConnection:
    """Return the refusal that offers the connections to choose from.

    A candidate has ``connection_id``, ``connector_key``, ``display_name`` and ``grant_id``.
    """
    return error(
        message,
        param="connection_id",
        retry_with="connection_id",
        available_connections=list(candidates[:MOST_CANDIDATES]),
        total=len(candidates),
        truncated=len(candidates) > MOST_CANDIDATES,
        **detail,
    )
