"""Telegram's web pages, written as Telegram Desktop writes them, for the tests of their reader."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

PHOTO = b"\xff\xd8\xff\xe0 boat"


def page(body: str, header: str, kind: str = "chat_page", base: str = "") -> str:
    """Return a whole page under a header."""
    inside = f'<div class="history">\n{body}\n</div>' if kind == "chat_page" else body
    return (
        '<!DOCTYPE html>\n<html>\n\n <head>\n\n  <meta charset="utf-8"/>\n'
        "<title>Exported Data</title>\n"
        f'  <link href="{base}css/style.css" rel="stylesheet"/>\n\n </head>\n\n'
        ' <body onload="CheckLocation();">\n\n  <div class="page_wrap">\n\n'
        '   <div class="page_header">\n\n    <div class="content">\n\n'
        f'     <div class="text bold">\n{header}\n     </div>\n\n    </div>\n\n   </div>\n\n'
        f'   <div class="page_body {kind}">\n\n{inside}\n\n   </div>\n\n  </div>\n\n'
        " </body>\n\n</html>\n"
    )


def said(
    number: int,
    clock: str,
    text: str = "",
    *,
    sender: str | None = None,
    before: str = "",
    after: str = "",
    day: str = "01.01.2026",
    zone: str = " UTC+03:00",
) -> str:
    """Return a message; without a sender it is joined to the one before."""
    joined = "" if sender is not None else " joined"
    name = (
        f'       <div class="from_name">\n{sender}\n       </div>\n' if sender is not None else ""
    )
    words = f'       <div class="text">\n{text}\n       </div>\n' if text else ""
    picture = (
        '      <div class="pull_left userpic_wrap">\n\n       <div class="userpic userpic1">\n\n'
        '        <div class="initials">\nNL\n        </div>\n\n       </div>\n\n      </div>\n'
    )
    return (
        f'     <div class="message default clearfix{joined}" id="message{number}">\n\n'
        f"{picture if sender is not None else ''}\n"
        '      <div class="body">\n\n'
        f'       <div class="pull_right date details" title="{day} {clock}{zone}">\n'
        f"{clock[:5]}\n       </div>\n\n{name}\n{before}\n{words}\n{after}\n"
        "      </div>\n\n     </div>\n\n"
    )


def note(number: int, text: str, more: str = "") -> str:
    """Return a note of Telegram, or the mark of a day."""
    return (
        f'     <div class="message service" id="message{number}">\n\n'
        f'      <div class="body details">\n{text}\n      </div>\n{more}\n     </div>\n\n'
    )


def card(kind: str, title: str, status: str = "", link: str = "", description: str = "") -> str:
    """Return a card for a file, a place or a call."""
    tag, href = ("a", f' href="{escape(link)}"') if link else ("div", "")
    parts = [("title bold", title), ("description", description), ("status details", status)]
    inner = "".join(
        f'<div class="{name}">\n{escape(text)}\n   </div>\n\n' for name, text in parts if text
    )
    return (
        '<div class="media_wrap clearfix">\n\n'
        f'<{tag} class="media clearfix pull_left {kind}"{href}>\n\n'
        '<div class="fill pull_left">\n\n</div>\n\n'
        f'<div class="body">\n\n{inner}</div>\n\n</{tag}>\n\n</div>\n\n'
    )


def shown(kind: str, link: str) -> str:
    """Return a picture that leads to its file."""
    return (
        '<div class="media_wrap clearfix">\n\n'
        f'<a class="{kind}_wrap clearfix pull_left" href="{link}">\n\n'
        f'<img class="{kind}" src="{link}_thumb.jpg" style="width: 260px; height: 195px"/>\n\n'
        "</a>\n\n</div>\n\n"
    )


def answer_to(number: int, file: str = "") -> str:
    """Return the line that leads to the message that one answers."""
    link = f'<a href="{file}#go_to_message{number}">this message</a>'
    return f'<div class="reply_to details">\nIn reply to {link}\n       </div>\n\n'


def entry(name: str, info: str, details: Iterable[str], link: str = "", text: str = "") -> str:
    """Return an entry of a list."""
    tag = (
        f'a class="entry block_link clearfix" href="{link}"'
        if link
        else 'div class="entry clearfix"'
    )
    told = "".join(f'<div class="details_entry details">\n{each}\n</div>\n' for each in details)
    words = f'<div class="text">\n{text}\n</div>\n' if text else ""
    return (
        f'     <{tag}>\n\n<div class="body">\n\n<div class="pull_right info details">\n{info}\n'
        f'</div>\n\n<div class="name bold">\n{name}\n</div>\n\n{words}{told}</div>\n\n'
        f"     </{tag.partition(' ')[0]}>\n\n"
    )


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files into a folder."""
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
