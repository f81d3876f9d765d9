"""Pages: what Telegram's export as web pages tells, in the members of its JSON export.

Each page holds up to a thousand messages. It names senders and no ids of people or chats, writes
times to the second, in the zone of the computer that exported, and of its own notes, such as who
joined, nothing but the day.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

from pdpp.sources.formats.telegram.page_media import media_of, reactions_in
from pdpp.sources.formats.telegram.page_text import marked_text, plain, words_of
from pdpp.sources.item import Skipped, Unknown
from pdpp.sources.reading.guard import SURPRISES, surprise
from pdpp.sources.reading.html import html_text, html_tree
from pdpp.sources.reading.page_pieces import page_pieces
from pdpp.sources.reading.tree import FileEntry

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MESSAGE = b'<div class="message '
_ENTRY = b'class="entry '
_HISTORY = b'<div class="history">'
_PAGE = b'<div class="page_wrap">'
_MOST_MARKS = 500_000
_TIME = re.compile(
    r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d):(\d\d):(\d\d)(?: UTC([+-])(\d\d):?(\d\d))?", re.ASCII
)
_ZONE = re.compile(rb'title="[\d.: ]{19} (UTC[+-]\d\d:?\d\d)"')
_DAY = re.compile(r"(\d{1,2}) ([A-Z][a-z]+) (\d{4})", re.ASCII)
_ID = re.compile(r"message(-?\d+)", re.ASCII)
_ANSWERED = re.compile(r"#go_to_message(-?\d+)\Z", re.ASCII)
_VIA = re.compile(r" via @\w+\Z")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_OLDEST_MARK_OF_DAY = -100_000
"""Marks of days count down from -1; messages of a group that became a larger one are far below."""
_UNSUPPORTED = "This message is not supported"
_NOBODY = "Deleted Account"
_OTHER_PARTS = (
    ".userpic_wrap, .date, .from_name, .reply_to, .reactions, .bot_buttons_table, .signature, "
    ".rich_slideshow_prev, .rich_slideshow_next"
)
_ZONE_STEP = 15


def is_page(entry: FileEntry) -> bool:
    """Tell whether a file is one of Telegram's pages."""
    head = entry.head()
    return _PAGE in head and b'class="page_header"' in head


def page_title(entry: FileEntry) -> str | None:
    """Return whose messages a page holds; None where it is no page of a chat."""
    head = entry.head()
    before, found, _ = head.partition(_HISTORY)
    if not found or _PAGE not in before or b"chat_page" not in before:
        return None
    title = _parsed(before).css_first(".page_header .text")
    return plain(title).strip() if title is not None else ""


def first_mark(entry: FileEntry) -> str:
    """Return the first message of a page, as a text that no other chat has in any zone."""
    number, mark = next(head_marks(entry), (0, entry.name))
    return f"{number} {mark}"


def head_marks(entry: FileEntry) -> Iterator[tuple[int, str]]:
    """Yield the ids of the first messages of a page, each with what is the same in every zone."""
    for piece in entry.head().split(_MESSAGE)[1:]:
        number = re.search(rb'id="message(-?\d{1,18})"', piece)
        if number is None or _OLDEST_MARK_OF_DAY < int(number[1]) < 0:
            continue
        if piece.startswith(b"service"):
            yield int(number[1]), ""
        elif (told := re.search(rb'title="([^"]+)"', piece)) is not None:
            moment = local_time(told[1].decode("utf-8", "replace"))
            if moment is not None:
                yield int(number[1]), time_mark(moment)


def time_mark(moment: datetime) -> str:
    """Return what of a time is the same in every zone: they differ by quarters of an hour."""
    return f"{moment.minute % _ZONE_STEP}:{moment.second}"


def list_entries(entry: FileEntry) -> Iterator[dict[str, Any]]:
    """Yield the entries of a page that is a list: of chats, contacts or stories."""
    for piece in page_pieces(entry, _ENTRY):
        if piece is not None:
            node = _parsed(b'<a class="entry ' + piece)
            link = node.css_first("a[href]")
            text = node.css_first(".text")
            yield {
                "link": (link.attributes.get("href") or "") if link is not None else "",
                "name": words_of(node, ".name"),
                "info": words_of(node, ".info"),
                "details": [plain(each).strip() for each in node.css(".details_entry")],
                "text": marked_text(text) if text is not None else [],
            }


def personal_facts(entry: FileEntry) -> dict[str, str]:
    """Return what the first page of an account says of its owner."""
    rows = _parsed(entry.head()).css(".personal_info .row")
    return {words_of(row, ".label"): words_of(row, ".value") for row in rows}


def local_time(text: str) -> datetime | None:
    """Return a time as pages write it, with its zone where that is told."""
    found = _TIME.search(text)
    if found is None:
        return None
    day, month, year, hour, minute, second = map(int, found.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - told below
    except ValueError:
        return None
    return moment.replace(tzinfo=_zone(found[0]))


def _zone(text: str) -> tzinfo | None:
    found = re.search(r"UTC([+-])(\d\d):?(\d\d)", text, re.ASCII)
    if found is None:
        return None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return timezone(-offset if found[1] == "-" else offset) if offset < timedelta(days=1) else None


class ChatPageReader:
    """Reads the pages of one chat, one message at a time.

    ``by_id`` says that the id of the chat is known, so that the id of a message is enough to name
    it. Else two chats may have the same name, and what is the same in every zone is added.
    """

    def __init__(self, *, by_id: bool = False) -> None:
        self._by_id = by_id
        self._sender: str | None = None
        self._forwarded_from: str | None = None
        self._day: date | None = None
        self._last: datetime | None = None
        self._zone: tzinfo | None = None
        self._keys = PageKeys()

    def messages(self, entry: FileEntry) -> Iterator[dict[str, Any] | Skipped | Unknown]:
        """Yield the messages of a page, however long it is; one that is broken costs no other."""
        told = _ZONE.search(entry.head())
        self._zone = _zone(told[1].decode()) if told else None
        piece: bytes | None = b""
        number = 0
        for number, piece in enumerate(page_pieces(entry, _MESSAGE), 1):
            where = f"{entry.name} {number}"
            if piece is None:
                yield Skipped("a message too large", where)
            elif _is_whole(piece):
                try:
                    value = self._value(_parsed(_MESSAGE + piece))
                except SURPRISES as problem:
                    yield surprise(problem, where)
                    continue
                if value is not None:
                    yield value
        if number and b"</html>" not in (piece or b"").lower():
            yield Skipped("the page ends in the middle", entry.name, cut=True)

    def _value(self, page: "LexborNode") -> dict[str, Any] | None:
        """Return one message in the members of the JSON export; None for the mark of a day."""
        node = page.css_first(".message")
        found = _ID.fullmatch((node.attributes.get("id") or "") if node is not None else "")
        number = int(found[1]) if found else None
        if node is None or "service" not in (node.attributes.get("class") or "").split():
            return self._said(page, number)
        text = words_of(page, ".body")
        if number is not None and _OLDEST_MARK_OF_DAY < number < 0:
            self._day = _day(text) or self._day
            return None
        return self._note(page, number, text)

    def _note(self, page: "LexborNode", number: int | None, text: str) -> dict[str, Any]:
        """Return a note of Telegram, whose time is that of what was said before on its day."""
        self._sender = self._forwarded_from = None
        picture = page.css_first("a.userpic_link")
        value: dict[str, Any] = {"id": number, "type": "service", "text": text}
        if text.startswith(_UNSUPPORTED):
            value["type"] = "unsupported"
        if picture is not None:
            value["photo"] = picture.attributes.get("href") or ""
        if self._last is not None and self._last.date() == self._day:
            value |= _sent(self._last)
        elif self._day is not None:
            # With its offset, because in UTC the beginning of a day is mostly of another one.
            value["date"] = datetime.combine(self._day, time(), self._zone).isoformat()
        return self._named(value, "")

    def _said(self, page: "LexborNode", number: int | None) -> dict[str, Any]:
        """Return what somebody said; a message joined to the one before has its sender."""
        time_node = page.css_first(".body > .date[title]") or page.css_first(".date[title]")
        title = (time_node.attributes.get("title") or "") if time_node is not None else ""
        self._last = moment = local_time(title)
        own = page.css_first(".body > .from_name")
        self._take_senders(page)
        value: dict[str, Any] = {"id": number, "type": "message", "from": self._sender}
        if page.css_first(".forwarded.body") is not None:
            value["forwarded_from"] = self._forwarded_from
        elif own is not None:
            self._forwarded_from = None
        value |= _sent(moment)
        value |= media_of(page)
        value["reactions"] = reactions_in(page)
        self._answer(page, value)
        text = page.css_first(".body > .text")
        has_media = bool(value.keys() - _BARE)
        value["text"] = marked_text(text) if text is not None else _other_words(page, has_media)
        if value["type"] == "service":
            value["actor"] = value["from"]
        return self._named(value, time_mark(moment) if moment else "")

    def _take_senders(self, page: "LexborNode") -> None:
        for node in page.css(".from_name"):
            for date_node in node.css(".date"):
                date_node.decompose()
            name = _VIA.sub("", plain(node).strip()).strip()
            parent = node.parent
            inner = parent is not None and "forwarded" in (parent.attributes.get("class") or "")
            if inner:
                self._forwarded_from = None if name == _NOBODY else name
            else:
                self._sender = None if name == _NOBODY else name

    def _answer(self, page: "LexborNode", value: dict[str, Any]) -> None:
        link = page.css_first(".reply_to a[href]")
        found = _ANSWERED.search((link.attributes.get("href") or "") if link is not None else "")
        if found:
            value["reply_to_message_id"] = int(found[1])

    def _named(self, value: dict[str, Any], mark: str) -> dict[str, Any]:
        return value if self._by_id else self._keys.named(value, mark)


class PageKeys:
    """Names the messages of a chat whose id is not known: by their ids and marks of their times."""

    def __init__(self) -> None:
        self._keys: dict[int, str] = {}

    def named(self, value: dict[str, Any], mark: str) -> dict[str, Any]:
        """Return a message with what it, and the message that it answers, are known by."""
        number = value.get("id")
        if isinstance(number, int):
            if len(self._keys) >= _MOST_MARKS:
                self._keys.clear()
            value["answered_key"] = self._keys.get(value.get("reply_to_message_id", 0))
            value["own_key"] = self._keys[number] = f"{number}-{mark}"
        return value


_BARE = frozenset(
    {"id", "type", "from", "forwarded_from", "date", "date_unixtime", "reactions"}
    | {"reply_to_message_id"}
)
"""Members of a message that say nothing by themselves."""


def _sent(moment: datetime | None) -> Mapping[str, str]:
    if moment is None:
        return {}
    if moment.tzinfo is None:
        return {"date": moment.isoformat()}
    return {"date_unixtime": str(int(moment.timestamp()))}


def _day(text: str) -> date | None:
    found = _DAY.fullmatch(text)
    if found is None or found[2] not in _MONTHS:
        return None
    try:
        return date(int(found[3]), _MONTHS.index(found[2]) + 1, int(found[1]))
    except ValueError:
        return None


def _other_words(page: "LexborNode", has_media: bool) -> str:
    """Return the words of a message of a layout that is not known, so that none are lost."""
    for node in page.css(f"{_OTHER_PARTS}, .media_wrap" if has_media else _OTHER_PARTS):
        node.decompose()
    return html_text(page.html or "")


def _is_whole(piece: bytes) -> bool:
    """Tell whether a message has its end; its first mark was cut off."""
    return piece.count(b"</div>") > piece.count(b"<div")


def _parsed(html: bytes) -> "LexborNode":
    root = html_tree(html.decode("utf-8", "replace")).root
    if root is None:
        raise ValueError("a page without content")
    return root
