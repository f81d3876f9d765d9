"""Passages: what proves a search hit, wherever a server puts it."""

from collections.abc import Sequence
from typing import NamedTuple

from pdpp.wire.members import Json, object_in, objects_in, text_in, texts_in

_NO_FACTS: Json = {}


class MatchPassage(NamedTuple):
    """A passage of one field that holds the match; ``facts`` is what a server tells of it."""

    field_path: str
    text: str
    facts: Json = _NO_FACTS


def passages_in(hit: Json, preview: str | None = None) -> Sequence[MatchPassage]:
    """Return the passages of a hit; ``preview`` is the text of the first, where it stands apart.

    Other servers may send a snippet alone: it names its field and has no offsets. A snippet of a
    field that did not match proves nothing.
    """
    passages: list[MatchPassage] = []
    for excerpt in objects_in(hit, "evidence_excerpts"):
        field = text_in(excerpt, "field_path")
        text = text_in(excerpt, "preview_text") or (None if passages else preview)
        if field is not None and text is not None:
            passages.append(MatchPassage(field, text, excerpt))
    return passages or _snippet_in(hit)


def _snippet_in(hit: Json) -> Sequence[MatchPassage]:
    matched, snippet = texts_in(hit, "matched_fields"), object_in(hit, "snippet")
    field, text = text_in(snippet, "field"), text_in(snippet, "text")
    if not snippet and len(matched) == 1:
        field, text = matched[0], text_in(hit, "snippet")
    if field is None or text is None or (matched and field not in matched):
        return []
    return [MatchPassage(field, text)]
