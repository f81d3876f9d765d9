"""Long posts: X keeps the whole text in a file of its own and a shortened one among the posts.

Nothing names the other half. Both were written in the same moment, and the shortened text is how
the whole one begins.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from html import unescape
from typing import Any, NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.jsonstream import objects
from pdpp.sources.reading.jsprefix import without_prefix
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry

_SHORTENED = re.compile(r"\s*(?:…|\.\.\.)?\s*(?:https://t\.co/\w+\s*)*\Z")
_SPACES = re.compile(r"\s+")
_LEAST = 40
"""So many letters must be the same: shorter posts are never cut."""
_APART = 2
"""Seconds that the two halves of a post may lie apart."""
_MOST = 200_000


class LongPost(NamedTuple):
    """A whole text, and the number of the post that shows its beginning."""

    note: str
    text: str
    posted: datetime


def whole_text(note: Mapping[str, Any]) -> str:
    """Return the whole text with true addresses for shortened ones."""
    core = note["core"]
    text = str(core["text"])
    for url in core.get("urls") or ():
        if isinstance(url, dict) and url.get("shortUrl") and url.get("expandedUrl"):
            text = text.replace(str(url["shortUrl"]), str(url["expandedUrl"]))
    return unescape(text).strip()


class LongPosts:
    """The whole texts of an archive by the post that they belong to; read when first asked for."""

    def __init__(self, notes: Iterable[FileEntry], posts: Iterable[FileEntry]) -> None:
        self._notes, self._posts = tuple(notes), tuple(posts)
        self._by_post: dict[str, LongPost] | None = None
        self._paired_notes: frozenset[str] = frozenset()

    def of_post(self, number: str) -> str | None:
        """Return the whole text of a post, where there is one."""
        long = self._pairs().get(number)
        return long.text if long else None

    def has_post(self, note: str) -> bool:
        """Tell whether a whole text is told with its post."""
        self._pairs()
        return note in self._paired_notes

    def _pairs(self) -> dict[str, LongPost]:
        if self._by_post is None:
            self._by_post = dict(self._paired()) if self._notes else {}
            self._paired_notes = frozenset(long.note for long in self._by_post.values())
        return self._by_post

    def _paired(self) -> Iterator[tuple[str, LongPost]]:
        by_second: dict[int, list[LongPost]] = {}
        for long in _long_posts(self._notes):
            by_second.setdefault(int(long.posted.timestamp()), []).append(long)
        for post in _values(self._posts, "tweet"):
            with suppress(*SURPRISES):
                if whole := _match(post, by_second):
                    yield str(post.get("id_str") or post.get("id")), whole


def _long_posts(entries: Iterable[FileEntry]) -> Iterator[LongPost]:
    for count, note in enumerate(_values(entries, "noteTweet")):
        with suppress(*SURPRISES):
            posted = datetime.fromisoformat(moment_text(note.get("createdAt")) or "")
            yield LongPost(str(note["noteTweetId"]), whole_text(note), posted)
        if count >= _MOST:
            return


def _match(post: Mapping[str, object], by_second: Mapping[int, list[LongPost]]) -> LongPost | None:
    posted = created(post["created_at"])
    begins = _even(_SHORTENED.sub("", unescape(str(post.get("full_text") or post.get("text")))))
    if posted is None or len(begins) < _LEAST:
        return None
    second = int(posted.timestamp())
    for near in range(second - _APART, second + _APART + 1):
        for long in by_second.get(near, ()):
            if _even(long.text).startswith(begins):
                by_second[near].remove(long)
                return long
    return None


def _even(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _values(entries: Iterable[FileEntry], member: str) -> Iterator[Mapping[str, object]]:
    for entry in entries:
        with suppress(DamagedFile):
            for value in objects(without_prefix(entry)):
                inner = value.get(member, value)
                if isinstance(inner, dict):
                    yield inner


def created(text: object) -> datetime | None:
    """Return a time as X writes it, ``Wed Oct 10 20:19:24 +0000 2018``, or wrote it until 2018."""
    for form in ("%a %b %d %H:%M:%S %z %Y", "%Y-%m-%d %H:%M:%S %z"):
        with suppress(ValueError):
            return datetime.strptime(str(text), form)  # noqa: DTZ007 - both forms have the zone
    moment = moment_text(text)
    return datetime.fromisoformat(moment) if moment else None
