"""Ambiguity: the refusal of a request that fits several connections and names none."""

from collections.abc import Sequence
from typing import Any

from pdpp.model.errors import AmbiguousConnection, CandidateJson, ErrorDetail

MOST_CANDIDATES = 12
"""How many connections are offered; ``total`` says how many there are."""


def ambiguous_connection(
    message: str,
    candidates: Sequence[CandidateJson],
    error: type[AmbiguousConnection] = AmbiguousConnection,
    **detail: Any,
) -> AmbiguousConnection:
    """Return the refusal that offers the connections to choose from.

    ``detail`` is what the error says more.
    """
    choices: ErrorDetail = {
        "retry_with": "connection_id",
        "available_connections": list(candidates[:MOST_CANDIDATES]),
        "total": len(candidates),
        "truncated": len(candidates) > MOST_CANDIDATES,
    }
    return error(message, param="connection_id", **choices, **detail)
