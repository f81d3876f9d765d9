"""Hypertext: the text of an HTML page or mail as a person would read it."""

import re

_LEFT_OUT = "script,style,head,template,noscript,svg,title"
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset"}
    | {"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"}
    | {"main", "nav", "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead"}
    | {"tr", "ul"}
)
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]+")
_LINES = re.compile(r"\n{3,}")


def html_text(html: str) -> str:
    """Return the words of a page in reading order, with a line for each block."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(html)
    for node in page.css(_LEFT_OUT):
        node.decompose()
    pieces: list[str] = []
    nodes = page.root.traverse(include_text=True) if page.root is not None else ()
    for node in nodes:
        if node.tag == "-text":
            pieces.append(_SPACE.sub(" ", (node.text_content or "").replace("\n", " ")))
        elif node.tag in _BLOCKS:
            pieces.append("\n")
            if node.tag == "li":
                pieces.append("- ")
    lines = (line.strip() for line in "".join(pieces).split("\n"))
    return _LINES.sub("\n\n", "\n".join(lines)).strip()
