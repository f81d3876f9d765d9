"""Hypertext: the text of an HTML page or mail as a person would read it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pdpp.sources.reading.flat_html import flat_text, is_costly

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_LEFT_OUT = ("script", "style", "head", "template", "noscript", "svg", "title")
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset"}
    | {"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"}
    | {"main", "nav", "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead"}
    | {"tr", "ul"}
)
_PARAGRAPHS = frozenset({"div", "p"})
_EMPTY = frozenset({"br", "hr"})
"""Blocks that hold nothing: they end a line once."""
_DEEPEST_END = 4
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]+")
_LINES = re.compile(r"\n{3,}")


def html_text(html: str) -> str:
    """Return the words of a page in reading order, with a line for each block."""
    pieces = flat_text(html, _BLOCKS, _LEFT_OUT) if is_costly(html) else _tree_text(html)
    lines = (line.strip() for line in "".join(pieces).split("\n"))
    return _LINES.sub("\n\n", "\n".join(lines)).strip()


def html_tree(html: str) -> "LexborHTMLParser":
    """Return a page as a tree; one that would fill the memory is a ``ValueError``."""
    from selectolax.lexbor import LexborHTMLParser

    if is_costly(html):
        raise ValueError("a page that is made to fill the memory")
    return LexborHTMLParser(html)


def _tree_text(html: str) -> Iterator[str]:
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(html)
    for node in page.css(",".join(_LEFT_OUT)):
        node.decompose()
    yield from _pieces(page.root)


def _pieces(root: "LexborNode | None") -> Iterator[str]:
    """Yield the words of a page, with a line feed where a block begins, and after its end.

    A paragraph that is the first thing in an entry of a list stands in its line.
    """
    kept_lines: set[int] = set()
    in_new_entry = False
    for node in root.traverse(include_text=True) if root is not None else ():
        tag = node.tag
        text = (node.text_content or "") if tag == "-text" else None
        if tag in _BLOCKS:
            if not in_new_entry or tag not in _PARAGRAPHS:
                yield "\n- " if tag == "li" else "\n"
            in_new_entry = tag == "li"
            if tag == "pre" and node.mem_id not in kept_lines:
                kept_lines.update(inner.mem_id for inner in node.traverse(include_text=True))
        elif (text is None or text.strip()) and _ends_block(node.prev):
            yield "\n"
        if text is not None:
            in_new_entry = in_new_entry and not text.strip()
            lines = text if node.mem_id in kept_lines else text.replace("\n", " ")
            yield _SPACE.sub(" ", lines)


def _ends_block(before: "LexborNode | None") -> bool:
    """Tell whether what stands before words is a block, which they would otherwise run into."""
    for _ in range(_DEEPEST_END):
        if before is None or before.tag in _EMPTY:
            return False
        if before.tag in _BLOCKS:
            return True
        before = before.last_child
    return False
