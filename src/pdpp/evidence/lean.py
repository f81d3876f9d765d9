"""The lean envelope of a search: what the adapter passes on says nothing that it says beside it.

The adapter hands a model the server's envelope together with flat results made from it, so most of
a hit would stand there twice. A caller that asks for the lean form gets hits without what follows
from their ids, and what is shown of them in a member of its own, which is not passed on.
"""

from collections.abc import Mapping, Sequence
from typing import Any

HEADER, VALUE = "pdpp-envelope", "lean"
DISPLAY = "display"

UNWRITTEN = "pdpp.unwritten"
"""The member of a message with which a server answers the adapter in its own process: the list as
it is, which the adapter then makes lean itself."""

KEPT = ("id", "event_time", "matched_fields", "matched", "missing", "score", "evidence_excerpts")
"""The members of a hit that the lean form has, in their order."""

SHOWN = ("title", "emitted_at", "connector_key", "display_name")
"""The members of a hit that stand beside the lean form."""

_REPEATED = frozenset({"url", "links"})


def lean_search(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lean form of a search's list."""
    hits = body["data"]
    envelope = lean_envelope(body, [lean_hit(hit) for hit in hits])
    return {**envelope, DISPLAY: [_display(hit) for hit in hits]}


def lean_envelope(body: Mapping[str, Any], hits: Sequence[object]) -> dict[str, Any]:
    """Return the envelope of a list around its hits in their lean form."""
    envelope = {name: value for name, value in body.items() if name not in _REPEATED}
    envelope["data"] = hits
    return envelope


def lean_hit(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lean form of a hit of our own."""
    lean = {name: value for name in KEPT if (value := hit[name])}
    lean["score"] = hit["score"]["value"]
    if excerpts := hit["evidence_excerpts"]:
        lean["evidence_excerpts"] = [_lean_excerpt(excerpt) for excerpt in excerpts]
    return lean


def _lean_excerpt(excerpt: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "field_path": excerpt["field_path"],
        "start_chars": excerpt["start_chars"],
        "end_chars": excerpt["end_chars"],
        "total_chars": excerpt["total_chars"],
    }


def _display(hit: Mapping[str, Any]) -> dict[str, Any]:
    display = {name: hit[name] for name in SHOWN if hit[name] is not None}
    for excerpt in hit["evidence_excerpts"][:1]:
        display["preview_text"] = excerpt["preview_text"]
    return display
