"""Page texts: words on Telegram's web pages as its JSON export writes them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MarkedText = list[str | dict[str, str]]


def words_of(node: "LexborNode", selector: str) -> str:
    """Return the words of the first part of a page that fits, or nothing."""
    found = node.css_first(selector)
    return plain(found).strip() if found is not None else ""


def plain(node: "LexborNode") -> str:
    """Return the words of a part of a page, where they lead left out."""
    return "".join(piece if isinstance(piece, str) else piece["text"] for piece in _walk(node))


def marked_text(node: "LexborNode") -> MarkedText:
    """Return a text as strings, and as pieces with an address where words lead somewhere."""
    pieces = list(_walk(node))
    # The page breaks the line before a text and after it; its own line breaks are elements.
    if pieces and isinstance(pieces[0], str):
        pieces[0] = pieces[0].removeprefix("\n")
    if pieces and isinstance(last := pieces[-1], str):
        before, newline, after = last.rpartition("\n")
        pieces[-1] = before if newline and not after.strip(" ") else last
    return [piece for piece in pieces if piece]


def _walk(node: "LexborNode") -> Iterator[str | dict[str, str]]:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            yield child.text_content or ""
        elif child.tag == "br":
            yield "\n"
        elif child.tag == "a":
            text, link = plain(child), _address(child)
            yield {"text": text, "href": link} if link and not _is_shown(link, text) else text
        else:
            yield from _walk(child)


def _address(node: "LexborNode") -> str:
    """Return where words lead; marks such as hashtags and signs lead nowhere outside the page."""
    link = (node.attributes.get("href") or "").strip()
    return link if ":" in link and not node.attributes.get("onclick") else ""


def _is_shown(link: str, text: str) -> bool:
    """Tell whether the words are the address itself, as in a number, a mail or a name."""
    bare = link.removeprefix("mailto:").removeprefix("tel:")
    return text in (link, bare) or (text.startswith("@") and link.endswith(f"/{text[1:]}"))
