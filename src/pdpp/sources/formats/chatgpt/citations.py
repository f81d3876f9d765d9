"""Citations: the marks that ChatGPT leaves in a text where it shows a source or a name."""

import re
from collections.abc import Mapping
from typing import Any

_MARK = "\ue200"
"""A sign without a meaning of its own, with which every mark begins."""
_MOST_COMPARED = 10_000_000
_MOST_SHOWN = 1_000_000
"""Characters that are put in for marks: one with long words may stand in a text very often."""


def cited(text: str, metadata: Mapping[str, Any]) -> str:
    """Return a text with the words and links that its marks stand for."""
    references = metadata.get("content_references")
    shown: dict[str, str] = {}
    for reference in references if isinstance(references, list) else ():
        mark = reference.get("matched_text") if isinstance(reference, Mapping) else None
        if isinstance(mark, str) and mark.startswith(_MARK):
            shown.setdefault(mark, _shown(reference))
    if not shown or len(shown) * text.count(_MARK) > _MOST_COMPARED:
        return text
    # All at once, because words that hold a mark themselves would grow with each of them.
    marks = re.compile("|".join(map(re.escape, sorted(shown, key=len, reverse=True))))
    if sum(len(shown[mark]) for mark in marks.findall(text)) > _MOST_SHOWN:
        return text
    return marks.sub(lambda mark: shown[mark[0]], text)


def _shown(reference: Mapping[str, Any]) -> str:
    """Return what a person sees instead of a mark."""
    words = reference.get("alt")
    if isinstance(words, str) and words:
        return words
    items = reference.get("items")
    pages = [page for page in items if isinstance(page, Mapping)] if isinstance(items, list) else []
    links = [
        f"[{page.get('title') or page['url']}]({page['url']})" for page in pages if page.get("url")
    ]
    return f"({', '.join(links)})" if links else ""
