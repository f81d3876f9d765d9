"""Layouts: how a chat is written, which only all of its lines tell."""

from typing import NamedTuple

from pdpp.sources.formats.whatsapp.chat_names import chat_name
from pdpp.sources.formats.whatsapp.lines import OrderGuess, chat_line
from pdpp.sources.formats.whatsapp.renamed_chats import ChatMarks
from pdpp.sources.formats.whatsapp.years import YearGuess
from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.tree import FileEntry, Tree

TIMES = ("sent_at", "started_at", "updated_at")
"""The times of records that a chat may tell without seconds and without a zone."""
LONGEST_LINE = 1 << 20


class ChatLayout(NamedTuple):
    """What a chat is called, what was said in it, and how it is written.

    ``mixed`` says that only some of its line ends end a message. Where the month is a word
    (``named``), dates may tell no year, and then years are counted from that of the first message.
    Of times in ``minutes`` it tells no seconds, as an Android phone does.
    """

    called: str
    marks: list[int]
    order: str
    certain: bool
    mixed: bool
    named: bool = False
    first_year: int = 0
    year_told: bool = True
    minutes: tuple[str, ...] = ()


def chat_layout(tree: Tree, entry: FileEntry, chosen: str | None, year: int | None) -> ChatLayout:
    """Find out how a chat is written, from all of it.

    An iPhone ends messages with CRLF and lines inside them with LF: where both occur, that tells
    a message from a line of another chat that somebody pasted.
    """
    called = chat_name(tree, entry)
    guess, years, marks = OrderGuess(), YearGuess(), ChatMarks(called)
    ends: set[bool] = set()
    brackets = seconds = 0
    named: bool | None = None
    with entry.open() as stream:
        for line in lines(stream, LONGEST_LINE):
            ends.add(line.text.endswith(b"\r"))
            begun = chat_line(decoded(line.text))
            if begun is not None and named in (None, begun.stamp.named):
                named = begun.stamp.named
                brackets += b"[" in line.text[:8]
                seconds += begun.stamp.second
                guess.see(begun.stamp)
                marks.see(begun)
                if named:
                    years.see(begun.stamp, begun.text)
    order, certain = guess.order()
    mixed = len(ends) == 2 and brackets > 0
    about = called, marks.told()
    layout = ChatLayout(*about, chosen or order, certain or chosen is not None, mixed, bool(named))
    if years.missing:
        layout = ChatLayout(*about, order, certain, mixed, True, *years.first_year(year, tree.path))
    return layout if seconds else layout._replace(minutes=TIMES)


def decoded(text: bytes) -> str:
    """Return a line as text."""
    return text.removesuffix(b"\r").decode("utf-8", "replace")
