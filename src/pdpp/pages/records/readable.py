"""Readable text: HTML and Markdown as plain blocks of text, in which nothing can be executed."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pdpp.evidence.budget import cut
from pdpp.evidence.fence import visible
from pdpp.pages.room import fitting, sent_bytes

_HTML = re.compile(
    r"<(?:!doctype|html|body|div|p|br|table|span|a|ul|ol|h[1-6]|b|i|em|strong|img)\b[^<>]*>", re.I
)
_MARKUP_SHARE = 2
"""So many tags make a text HTML; one may be a quotation."""

_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*\Z")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+(.+)\Z")
_FENCE = re.compile(r"\s*(```|~~~)")
_LINK = re.compile(r"!?\[([^\]\n]{0,500})\]\(([^()\s]{1,2000})\)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.{1,2000}?)(?<=\S)\1")


class TextBlock(NamedTuple):
    """A piece of text: a ``heading``, an ``item`` of a list, ``code`` or a ``paragraph``."""

    kind: str
    text: str


class ReadableText(NamedTuple):
    """Blocks in their order; ``left`` is how many characters are not shown."""

    blocks: list[TextBlock]
    left: int
    source: str


def readable(text: str, most: int) -> ReadableText:
    """Return a text for reading: without the tags of HTML or the marks of Markdown."""
    kept, _ = cut(text, most)
    left = len(text) - len(kept)
    if len(_HTML.findall(kept[:20_000])) >= _MARKUP_SHARE:
        # Loaded with the first mail of HTML, not with the server.
        from pdpp.sources.reading.html import html_text

        return ReadableText(list(_paragraphs(html_text(kept))), left, "HTML")
    if _looks_like_markdown(kept):
        return ReadableText(list(_markdown(kept)), left, "Markdown")
    return ReadableText([TextBlock("paragraph", visible(kept))] if kept else [], left, "")


def shortened(text: ReadableText, most: int) -> ReadableText:
    """Return the beginning of a text that takes at most so many bytes of a page."""
    blocks, room, left = [], most, text.left
    for block in text.blocks:
        kept = fitting(block.text, room)
        room -= sent_bytes(kept)
        left += len(block.text) - len(kept)
        if kept:
            blocks.append(TextBlock(block.kind, kept))
        if kept != block.text:
            room = 0
    return ReadableText(blocks, left, text.source)


def _looks_like_markdown(text: str) -> bool:
    lines = text.split("\n", 400)
    return any(_HEADING.match(line) or _FENCE.match(line) for line in lines[:400])


def _paragraphs(text: str) -> Iterator[TextBlock]:
    for paragraph in re.split(r"\n{2,}", text):
        if paragraph.strip():
            yield TextBlock("paragraph", visible(paragraph))


def _markdown(text: str) -> Iterator[TextBlock]:
    gathered: list[str] = []
    fenced = False

    def flush(kind: str) -> Iterator[TextBlock]:
        whole = "\n".join(gathered).strip("\n")
        gathered.clear()
        if whole:
            yield TextBlock(kind, visible(whole if kind == "code" else _plain(whole)))

    for line in text.split("\n"):
        if _FENCE.match(line):
            yield from flush("code" if fenced else "paragraph")
            fenced = not fenced
        elif fenced:
            gathered.append(line)
        elif heading := _HEADING.match(line):
            yield from flush("paragraph")
            yield TextBlock("heading", visible(_plain(heading[2]), lines=False))
        elif item := _ITEM.match(line):
            yield from flush("paragraph")
            yield TextBlock("item", visible(_plain(item[1]), lines=False))
        elif not line.strip():
            yield from flush("paragraph")
        else:
            gathered.append(line)
    yield from flush("code" if fenced else "paragraph")


def _plain(text: str) -> str:
    """Return a text of Markdown without its marks; an address stays beside its words."""
    return _STRONG.sub(r"\2", _LINK.sub(r"\1 (\2)", text))
