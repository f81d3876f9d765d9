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
_LISTS = frozenset({"ol", "ul"})
_DEEPEST_END = 4
_LEVEL = "\x02"
"""Stands at the beginning of a line for each list that is around that of its entry."""
_INDENT = "  "
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]+")
_NUMBER = re.compile(r"[0-9]{1,9}")
_LINES = re.compile(r"\n{3,}")


def html_text(html: str, *, levels: bool = True) -> str:
    """Return the words of a page in reading order, with a line for each block.

    Without ``levels`` each entry of a list has a dash alone: keys that are made of such a text must
    stay as they are.
    """
    costly = is_costly(html)
    pieces = flat_text(html, _BLOCKS, _LEFT_OUT) if costly else _tree_text(html, levels=levels)
    lines = map(_tidy, "".join(pieces).split("\n"))
    return _LINES.sub("\n\n", "\n".join(lines)).strip()


def _tidy(line: str) -> str:
    """Return a line without space around it, behind the indent of an entry of a list."""
    line = line.strip()
    words = line.lstrip(_LEVEL)
    return _INDENT * (len(line) - len(words)) + words


def html_tree(html: str) -> "LexborHTMLParser":
    """Return a page as a tree; one that would fill the memory is a ``ValueError``."""
    from selectolax.lexbor import LexborHTMLParser

    if is_costly(html):
        raise ValueError("a page that is made to fill the memory")
    return LexborHTMLParser(html)


def _tree_text(html: str, *, levels: bool) -> Iterator[str]:
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(html)
    for node in page.css(",".join(_LEFT_OUT)):
        node.decompose()
    yield from _pieces(page.root, _Lists() if levels else None)


def _pieces(root: "LexborNode | None", lists: "_Lists | None") -> Iterator[str]:
    """Yield the words of a page, with a line feed where a block begins, and after its end.

    A paragraph that is the first thing in an entry of a list stands in its line, and a list in an
    entry begins below it, indented.
    """
    kept_lines: set[int] = set()
    in_new_entry = in_new_list = False
    for node in root.traverse(include_text=True) if root is not None else ():
        tag = node.tag
        text = (node.text_content or "") if tag == "-text" else None
        if tag in _BLOCKS:
            if tag == "li":
                yield "" if in_new_list else "\n"
                yield "- " if lists is None else lists.mark(node)
            elif not in_new_entry or tag not in _PARAGRAPHS:
                yield "\n"
            in_new_entry = tag == "li"
            in_new_list = tag in _LISTS and lists is not None and lists.depth(node) > 0
            if tag == "pre" and node.mem_id not in kept_lines:
                kept_lines.update(inner.mem_id for inner in node.traverse(include_text=True))
        elif (text is None or text.strip()) and _ends_block(node.prev):
            yield "\n"
        if text is not None:
            if text.strip():
                in_new_entry = in_new_list = False
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


class _Lists:
    """The lists of a page: how deep each lies in others, and how many entries it had so far."""

    def __init__(self) -> None:
        self._depths: dict[int, int] = {}
        self._numbers: dict[int, int] = {}

    def mark(self, entry: "LexborNode") -> str:
        """Return what stands before an entry: its indent, and its number or a dash."""
        held = entry.parent
        if held is None or held.tag not in _LISTS:
            return "- "
        levels = _LEVEL * self.depth(held)
        if held.tag == "ul":
            return f"{levels}- "
        self._numbers[held.mem_id] = number = self._next_number(held)
        return f"{levels}{number}. "

    def depth(self, held: "LexborNode") -> int:
        """Return how many lists are around a list."""
        if (known := self._depths.get(held.mem_id)) is not None:
            return known
        around = held.parent
        while around is not None and around.tag not in _LISTS:
            around = around.parent
        self._depths[held.mem_id] = found = 0 if around is None else self.depth(around) + 1
        return found

    def _next_number(self, held: "LexborNode") -> int:
        if (last := self._numbers.get(held.mem_id)) is not None:
            return last + 1
        start = held.attributes.get("start") or ""
        return int(start) if _NUMBER.fullmatch(start) else 1
