"""Citations: the marks that ChatGPT leaves in a text where it shows a source or a name."""

from collections.abc import Mapping
from typing import Any

_MARK = "\ue200"
"""A sign without a meaning of its own, with which every mark begins."""


def cited(text: str, metadata: Mapping[str, Any]) -> str:
    """Return a text with the words and links that its marks stand for."""
    references = metadata.get("content_references")
    for reference in references if isinstance(references, list) else ():
        mark = reference.get("matched_text") if isinstance(reference, Mapping) else None
        if isinstance(mark, str) and _MARK in mark:
            text = text.replace(mark, _shown(reference))
    return text


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
