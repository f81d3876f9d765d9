"""Flat HTML: the words of pages whose tree would cost too much, read mark by mark.

The tree of a page repeats every ``<b>`` that was never closed in each later paragraph, and all that
is open is looked through at each mark: thirty kilobytes of mail can fill gigabytes.
"""

import re
from collections.abc import Collection, Iterator
from html import unescape

_PIECE = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([A-Za-z][^\s/<>]*+)[^<>]*+>|([^<]++)|<", re.DOTALL)
_MARK = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)")
_FEW_MARKS = 2_000
"""Marks that cannot become a large tree, however they lie: half of them repeated in all others."""
_MOST_MARKS = 500_000
"""A mark is a few bytes, and some hundred in a tree."""
_MANY_ATTRIBUTES = re.compile(r"<[A-Za-z](?:[^<>\s]*+\s++){1000}")
_MOST_OPTIONS = 5_000
"""Attributes of one mark, and options of a list, are compared with each other."""
_DEEPEST = 256
_MOST_REPEATED = 1_000_000
_MOST_LOOKED_THROUGH = 10_000_000
_REPEATED = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt"}
    | {"u"}
)
"""Marks that go on in the next paragraph until they are closed."""
_CLOSED_BY_OTHERS = frozenset(
    {"area", "base", "body", "br", "col", "dd", "dt", "embed", "head", "hr", "html", "img"}
    | {"input", "li", "link", "meta", "option", "p", "param", "source", "tbody", "td", "tfoot"}
    | {"th", "thead", "tr", "track", "wbr"}
)
_SCOPES = frozenset(
    {"annotation-xml", "applet", "desc", "foreignobject", "marquee", "math", "mi", "mn", "mo"}
    | {"ms", "mtext", "object", "svg", "table", "template", "title"}
)
"""Inside these nothing can be closed that was opened outside."""


def is_costly(html: str) -> bool:
    """Tell whether the tree of a page would take far more memory or time than the page."""
    if _MANY_ATTRIBUTES.search(html):
        return True
    marks = html.count("<")
    if marks <= _FEW_MARKS:
        return False
    if marks > _MOST_MARKS or html.lower().count("<option") > _MOST_OPTIONS:
        return True
    opened: list[str] = []
    carried = repeated = looked_through = 0
    for mark in _MARK.finditer(html):
        name = mark[2].lower()
        if mark[1]:
            carried += _close(opened, name)
        elif name not in _CLOSED_BY_OTHERS:
            opened.append(name)
            carried += name in _REPEATED
        repeated += carried
        looked_through += len(opened)
        if len(opened) > _DEEPEST or repeated > _MOST_REPEATED:
            return True
        if looked_through > _MOST_LOOKED_THROUGH:
            return True
    return False


def _close(opened: list[str], name: str) -> int:
    """Close a mark with all that is in it; return how the number of those that go on changes."""
    for place in range(len(opened) - 1, -1, -1):
        if opened[place] == name:
            del opened[place:]
            return -(name in _REPEATED)
        if opened[place] in _SCOPES:
            break
    return 0


def flat_text(html: str, blocks: Collection[str], left_out: Collection[str]) -> Iterator[str]:
    """Yield the words of a page mark by mark, with a line feed at each block."""
    inside = ""
    for piece in _PIECE.finditer(html):
        closing, name, words = piece[1], (piece[2] or "").lower(), piece[3]
        if inside:
            inside = "" if closing and name == inside else inside
        elif name in left_out and not closing:
            inside = name
        elif name in blocks:
            yield "\n"
        elif words:
            yield unescape(words).replace("\n", " ")
