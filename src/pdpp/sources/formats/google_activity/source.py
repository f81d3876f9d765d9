"""Google activity: My Activity and YouTube's part of a Takeout, as JSON, web pages and tables."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.sources.formats.google_activity.files import (
    MEMBERS,
    file_beside,
    file_items,
    files_named,
    is_address,
    may_name_files,
)
from pdpp.sources.formats.google_activity.kinds import kind_of
from pdpp.sources.formats.google_activity.pages import ActivityCell, cells, is_activity_page
from pdpp.sources.formats.google_activity.youtube import is_youtube_table, read_youtube_table
from pdpp.sources.formats.takeout import (
    TAKEOUT_FILES,
    TAKEOUT_OWNER,
    json_files,
    looks_like,
    takeout_recognition,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.guard import SURPRISES, account
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.jsonstream import objects, read_each
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.shapes import odd_items
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import ExportPart, OwnerChoices, Recognition, Source

_NAMES = ("watch-history*.json", "search-history*.json", "MyActivity*.json")
_MARKS = (b'"products"', b'"titleUrl"', b'"header"')
_PATHS = frozenset({"item.header", "item.title", "item.time", "item.products"})
_YOUTUBE = re.compile(r"youtube|music[ -]library[ -]songs", re.IGNORECASE)
"""Stands in the name of YouTube's folder in every language, and in that of a table by itself."""
_NO_FILES = frozenset({".json", ".html", ".csv", ".css"})
"""Endings of lists, pages and tables, beside which nothing else may lie."""
_SECONDS = len("2026-01-31T08:00:00")


class GoogleActivity(Source):
    """The histories of Google's services in a Takeout."""

    connector_key = "google_activity"
    owner_files = TAKEOUT_OWNER
    lies_among_others = True
    label = "Google activity"
    passed_over = MappingProxyType(TAKEOUT_FILES)

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for lists of activities, and for pages of them where there is no list."""
        documents = [
            entry.name
            for entry, expected in json_files(tree, *_NAMES)
            if looks_like(entry, _MARKS, _PATHS, expected=expected) >= _PATHS
        ]
        listed = {name.removesuffix(".json") for name in documents}
        pages = [
            entry.name
            for entry in tree.entries
            if entry.suffix == ".html"
            and entry.name.removesuffix(".html") not in listed
            and is_activity_page(entry)
        ]
        tables = [
            entry.name
            for entry in tree.named("*.csv")
            if _YOUTUBE.search(f"{tree.path.name}/{entry.name}") and is_youtube_table(entry)
        ]
        found = (("JSON", documents), ("web pages", pages), ("tables of YouTube", tables))
        kinds = [words for words, files in found if files]
        if not kinds:
            return None
        return takeout_recognition(
            tree,
            self.label,
            " and ".join(kinds),
            {"documents": documents, "pages": pages, "tables": tables},
        )

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in(tree.called)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each list or page."""
        for entry in tree.these(recognition.detail["documents"]):
            reader = partial(_activity, tree, entry)
            yield ExportPart(entry, partial(read_each, entry, reader, noun="activity"))
        for entry in tree.these(recognition.detail["pages"]):
            yield ExportPart(entry, partial(_read_page, tree, entry))
        for entry in tree.these(recognition.detail["tables"]):
            yield ExportPart(entry, partial(read_youtube_table, entry))

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the files that activities name, which are no documents or photos besides."""
        lists = {*recognition.detail["documents"], *recognition.detail["pages"]}
        others = (entry.name for entry in tree.entries if entry.suffix not in _NO_FILES)
        folders = {name.rpartition("/")[0] for name in others}
        named: set[str] = set()
        for entry in tree.these(sorted(lists)):
            if entry.name.rpartition("/")[0] in folders and may_name_files(entry):
                files = (file_beside(tree, entry, name) for name in _names_in(entry))
                named.update(file.name for file in files if file is not None)
        return named


def _names_in(entry: FileEntry) -> Iterator[str]:
    """Yield the files that a list or a page names."""
    if entry.suffix == ".html":
        for cell in cells(entry):
            yield from cell.files if isinstance(cell, ActivityCell) else ()
    else:
        for value in objects(entry):
            with suppress(*SURPRISES):  # Told when its turn comes.
                yield from files_named(value)


def _activity(
    tree: Tree, entry: FileEntry, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    done, title = moment_text(value.get("time")), str(value.get("title") or "").strip()
    if done is None or not title:
        yield Unknown("an activity without a time or a title", where)
        return
    names = value.get("products") or [value.get("header")]
    channels, lines, local = _lines(value.get("subtitles") or ())
    activity = _item(
        done,
        str(value.get("titleUrl") or ""),
        title=title,
        product=str(value.get("header") or names[0]),
        channel=channels[0] if channels else None,
        details="\n".join(_details(value, [*lines, *channels[1:]])) or None,
    )
    yield activity
    yield from odd_items(value.get("subtitles"), where, name=str)
    yield from odd_items(value.get("details"), where, name=str)
    if local or not MEMBERS.isdisjoint(value):
        yield from file_items(tree, entry, activity, files_named(value))


def _lines(subtitles: Iterable[Any]) -> tuple[list[str], list[str], bool]:
    """Return the lines below an activity: links, other words, and whether a link is to a file."""
    links: list[str] = []
    words: list[str] = []
    local = False
    for line in subtitles:
        if isinstance(line, dict) and (name := line.get("name")):
            url = line.get("url")
            if is_address(url):
                links.append(str(name))
            else:
                words.append(str(name))
                local = local or bool(url)
    return links, words, local


def _details(value: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    """Yield what else is said of an activity; what Gemini answered is a page."""
    for answer in value.get("safeHtmlItem") or ():
        if text := html_text(str(answer.get("html") or "")).strip():
            yield text
    if value.get("description"):
        yield str(value["description"])
    yield from (str(line.get("name")) for line in value.get("details") or ())
    yield from lines
    yield from (
        str(place["name"]) for place in value.get("locationInfos") or () if place.get("name")
    )


def _item(done: str, link: str, **data: Any) -> Item:
    """Return an activity; its key is the same in both forms, of which pages tell only seconds."""
    key = digest_key(done[:_SECONDS], link or data["title"])
    kind = kind_of(link, data["details"] or "")
    told = {"id": key, "link": link or None, "kind": kind, "done_at": done, **data}
    # Of a video that is gone only the address is left; an earlier export told its channel.
    is_gone = bool(link) and link in data["title"] and not data["channel"]
    return Item("activities", key, present(told), lacks="channel" if is_gone else "")


def _read_page(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    for number, cell in enumerate(cells(entry), 1):
        where = f"{entry.name} activity {number}"
        if isinstance(cell, Skipped):
            yield cell
        else:
            yield from account(_cell(tree, entry, cell, where), where, "activity")


def _cell(tree: Tree, entry: FileEntry, cell: ActivityCell, where: str) -> Iterator[Finding]:
    if cell.done is None or not cell.title:
        yield Unknown("an activity whose time or title cannot be read", where)
        return
    activity = _item(
        cell.done,
        cell.link,
        title=cell.title,
        product=cell.product,
        channel=cell.channel or None,
        details=cell.details or None,
        floating=cell.floating or None,
    )
    yield activity
    yield from file_items(tree, entry, activity, dict.fromkeys(cell.files, ""))
