"""The lean envelope of a search: what the adapter passes on says nothing that it says beside it.

The adapter hands a model the server's envelope together with flat results made from it, so most of
a hit would stand there twice. A caller that asks for the lean form gets hits without what follows
from their ids, and what is shown of them in a member of its own, which is not passed on.
"""

from collections.abc import Mapping
from typing import Any

HEADER, VALUE = "pdpp-envelope", "lean"
DISPLAY = "display"

_SHOWN = ("title", "emitted_at", "connector_key", "display_name")
_IN_THE_ID = ("object", "record_key", "stream", "connection_id", "record_url")
_DROPPED = frozenset((*_SHOWN, *_IN_THE_ID))
_KEPT_OF_EXCERPT = ("field_path", "start_chars", "end_chars", "total_chars")
_REPEATED = frozenset({"url", "links"})


def lean_search(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lean form of a search's list."""
    hits = body["data"]
    envelope = {name: value for name, value in body.items() if name not in _REPEATED}
    return {**envelope, "data": [_lean(hit) for hit in hits], DISPLAY: [_display(h) for h in hits]}


def _lean(hit: Mapping[str, Any]) -> dict[str, Any]:
    lean = {
        name: value
        for name, value in hit.items()
        if name not in _DROPPED and value is not None and value != []
    }
    if isinstance(lean.get("score"), Mapping):
        lean["score"] = lean["score"].get("value")
    if "evidence_excerpts" in lean:
        lean["evidence_excerpts"] = [
            {name: excerpt[name] for name in _KEPT_OF_EXCERPT if name in excerpt}
            for excerpt in lean["evidence_excerpts"]
        ]
    return lean


def _display(hit: Mapping[str, Any]) -> dict[str, Any]:
    display = {name: hit[name] for name in _SHOWN if hit.get(name) is not None}
    for excerpt in hit.get("evidence_excerpts", [])[:1]:
        display["preview_text"] = excerpt["preview_text"]
    return display
