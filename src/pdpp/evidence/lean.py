"""The lean envelope of a search: what the adapter passes on says nothing that it says beside it.

The adapter hands a model the server's envelope together with flat results made from it, so most of
a hit would stand there twice. A caller that asks for the lean form gets of each hit what the
results do not say, in the same order, and what they do say in a member of its own, which is not
passed on.
"""

from collections.abc import Mapping, Sequence
from typing import Any

HEADER, VALUE = "pdpp-envelope", "lean"
DISPLAY, DISPLAYED_HITS = "display", "hits"

_SHOWN = ("id", "title", "emitted_at", "connector_key", "display_name", "matched", "score")
_IN_THE_ID = ("object", "record_key", "stream", "connection_id", "record_url")
_DROPPED = frozenset((*_SHOWN, *_IN_THE_ID, "evidence_excerpts"))
_SHOWN_OF_EXCERPT = ("field_path", "preview_text", "start_chars", "end_chars", "total_chars")
_REPEATED = frozenset({"url", "links"})


def lean_search(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lean form of a search's list."""
    hits = body["data"]
    envelope = {name: value for name, value in body.items() if name not in _REPEATED}
    display: dict[str, Any] = {DISPLAYED_HITS: [_display(hit) for hit in hits]}
    if "next_cursor" in envelope:  # The adapter tells it in the call that goes on.
        display["next_cursor"] = envelope.pop("next_cursor")
    return {**envelope, "data": [_lean(hit) for hit in hits], DISPLAY: display}


def _lean(hit: Mapping[str, Any]) -> dict[str, Any]:
    lean = {
        name: value
        for name, value in hit.items()
        if name not in _DROPPED and value is not None and value != []
    }
    if len(hit.get("matched", ())) > 1:
        lean["missing"] = hit.get("missing", [])  # What is not missing is held.
    if lean.get("matched_fields") == [excerpt["field_path"] for excerpt in _excerpts(hit)]:
        del lean["matched_fields"]  # The read of the passage names the field.
    return lean


def _display(hit: Mapping[str, Any]) -> dict[str, Any]:
    display = {name: hit[name] for name in _SHOWN if hit.get(name) is not None}
    if excerpts := _excerpts(hit):
        display["evidence_excerpts"] = [
            {name: excerpt[name] for name in _SHOWN_OF_EXCERPT if name in excerpt}
            for excerpt in excerpts
        ]
    return display


def _excerpts(hit: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the passages of a hit; there is one at most."""
    excerpts: Sequence[Mapping[str, Any]] = hit.get("evidence_excerpts", [])
    return excerpts
