"""Label names: the labels of a message as one text, which can be searched and grouped by."""

from collections.abc import Iterable

_ON_MOST = frozenset({"inbox", "opened", "important", "archived"})
"""Labels that Gmail itself puts on most messages: a search for such a word means another thing."""


def label_names(labels: Iterable[str]) -> str:
    """Return the labels that tell messages apart, each once and in one order."""
    return ", ".join(sorted({label for label in labels if label.casefold() not in _ON_MOST}))
