"""Browser history: the databases of Chrome and its kin, Firefox and Safari, and Takeout's list."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pdpp.sources.formats.browser_history.bookmarks import (
    firefox_moment,
    is_bookmark_page,
    is_chrome_bookmarks,
    read_chrome_bookmarks,
    read_firefox_bookmarks,
    read_page,
)
from pdpp.sources.formats.browser_history.firefox_backup import (
    PACKED,
    backups_of,
    packed_backups,
    read_backup,
)
from pdpp.sources.formats.browser_history.safari_bookmarks import (
    read_safari_bookmarks,
    safari_bookmarks_of,
)
from pdpp.sources.formats.takeout import TAKEOUT_FILES, json_files, looks_like
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import read_each
from pdpp.sources.reading.sqlitefile import SqliteCopy, columns_of, databases, open_database
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
)

SINCE_1601 = 11_644_473_600 * 10**6
SINCE_2001 = 978_307_200 * 10**6
_CHROME_WAYS = MappingProxyType(
    dict(
        enumerate(
            (
                *("link", "typed", "bookmark", "frame", "frame", "generated", "start page"),
                *("form", "reload", "keyword", "keyword"),
            )
        )
    )
)
_FIREFOX_WAYS = MappingProxyType(
    dict(
        enumerate(
            (
                *("link", "typed", "bookmark", "frame", "redirect", "redirect", "download"),
                *("frame", "reload"),
            ),
            1,
        )
    )
)
_KINDS = ("transition", "visit_type")
_WAY = 255
"""The part of a number of Chrome that tells the way; the rest tells of redirects."""
_BESIDE_VISITS = MappingProxyType(
    {
        "Typed Url.item": "an address that you typed, of which visits are a list of their own",
        "Session.item": "what was open on a device",
    }
)


class _VisitList(NamedTuple):
    """A document of visits that a browser exports: a mark near its head, and where visits stand."""

    browser: str
    mark: bytes
    path: str

    @property
    def members(self) -> frozenset[str]:
        """Return the members by which the document is known."""
        return frozenset({f"{self.path}.url", f"{self.path}.time_usec"})


_LISTS = MappingProxyType(
    {
        listed.browser: listed
        for listed in (
            _VisitList("Chrome", b'"Browser History"', "Browser History.item"),
            _VisitList("Safari", b'"export_time_usec"', "history.item"),
        )
    }
)


class _Layout(NamedTuple):
    """A browser: its tables of visits and of pages, and what is read of them.

    A visit names its page by ``page`` and its time by ``at``, which tell the database. What else
    is known of a visit and of a page may be missing, and is then told.
    """

    browser: str
    visits: str
    page: str
    at: str
    of_visit: tuple[str, ...]
    pages: str
    of_page: tuple[str, ...]
    moment: Callable[[Any], int]
    ways: Mapping[int, str]

    @property
    def columns(self) -> Mapping[str, Set[str]]:
        """Return the columns by which the database is known."""
        return {self.visits: {"id", self.page, self.at}, self.pages: {"id", "url"}}

    def rows(self, database: SqliteCopy) -> Iterator[sqlite3.Row]:
        """Yield the visits with their pages."""
        visit = database.pick(self.visits, "v", "id", *self.of_visit)
        page = database.pick(self.pages, "p", "url", *self.of_page)
        return database.rows(
            f"SELECT {visit}, {page}, v.{self.at} AS moment FROM {self.visits} AS v"
            f" LEFT JOIN {self.pages} AS p ON p.id = v.{self.page} ORDER BY v.id"
        )

    def way(self, row: sqlite3.Row) -> str | None:
        """Return how a page was come to."""
        kind = next((row[name] for name in _KINDS if name in self.of_visit), None)
        return self.ways.get(kind & _WAY) if isinstance(kind, int) else None


def _chrome_moment(count: Any) -> int:
    return int(count) - SINCE_1601


def _safari_moment(count: Any) -> int:
    return round(float(count) * 10**6) + SINCE_2001


_LAYOUTS = (
    _Layout(
        "Chrome",
        *("visits", "url", "visit_time", ("transition", "visit_duration")),
        *("urls", ("title",)),
        _chrome_moment,
        _CHROME_WAYS,
    ),
    _Layout(
        "Firefox",
        *("moz_historyvisits", "place_id", "visit_date", ("visit_type",)),
        *("moz_places", ("title",)),
        firefox_moment,
        _FIREFOX_WAYS,
    ),
    _Layout(
        "Safari",
        *("history_visits", "history_item", "visit_time", ("title",)),
        *("history_items", ()),
        _safari_moment,
        {},
    ),
)


class BrowserHistory(Source):
    """A browser's profile, its history alone, Chrome's part of a Takeout, or Safari's export."""

    connector_key = "browser_history"
    lies_among_others = True
    in_place = True
    label = "Browser history"
    passed_over = MappingProxyType(
        {
            **TAKEOUT_FILES,
            "*-shm": "an index that the browser builds anew",
            "*-wal": "the log of a database that is not read",
            "*-journal": "the log of a database that is not read",
            "Cookies*": "cookies, which are never read",
            "Login Data*": "passwords, which are never read",
            "logins.json": "passwords, which are never read",
            "key4.db": "keys, which are never read",
            "cookies.sqlite*": "cookies, which are never read",
            "Passwords*.csv": "passwords, which are never read",
            "PaymentCards*.json": "payment cards, which are never read",
            "Extensions*.json": "the list of extensions",
            f"bookmarks*{PACKED}": "an older backup of the bookmarks",
            f"*{PACKED}": "what was open in Firefox",
        }
    )

    def recognise(
        self,
        tree: Tree,
        choices: OwnerChoices,  # noqa: ARG002 - nothing can be said
    ) -> Recognition | None:
        """Look for databases of visits, Takeout's list, and files of bookmarks."""
        browser_of = {
            entry.name: layout.browser
            for entry in databases(tree)
            if (layout := _layout(tree, entry)) is not None
        }
        lists = {entry.name: browser for entry, browser in _lists(tree)}
        marks = [entry.name for entry in tree.entries if is_chrome_bookmarks(entry)]
        pages = [entry.name for entry in tree.entries if is_bookmark_page(entry)]
        backups = [entry.name for entry in backups_of(tree)]
        safari = [entry.name for entry in safari_bookmarks_of(tree)]
        newer = [name for name, browser in browser_of.items() if browser == "Firefox"] + backups
        backups += [entry.name for entry in packed_backups(tree, newer)]
        if not (browser_of or lists or marks or pages or backups or safari):
            return None
        browsers = {
            *browser_of.values(),
            *lists.values(),
            *(["Chrome"] if marks else []),
            *(["Firefox"] if backups else []),
            *(["Safari"] if safari else []),
        }
        return Recognition(
            Confidence.CERTAIN,
            ", ".join(sorted(browsers)) or "bookmarks",
            account=self.label,
            owner_known=False,
            detail={
                "databases": list(browser_of),
                "lists": lists,
                "marks": marks,
                "pages": pages,
                "backups": backups,
                "safari": safari,
            },
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each database, list and file of bookmarks."""
        detail = recognition.detail
        for entry in tree.these(detail["databases"]):
            yield ExportPart(entry, partial(_read, tree, entry))
        for entry in tree.these(detail["lists"]):
            yield ExportPart(entry, partial(_read_list, entry, _LISTS[detail["lists"][entry.name]]))
        for entry in tree.these(detail["marks"]):
            yield ExportPart(entry, partial(read_chrome_bookmarks, entry))
        for entry in tree.these(detail["pages"]):
            yield ExportPart(entry, partial(read_page, entry))
        for entry in tree.these(detail["backups"]):
            yield ExportPart(entry, partial(read_backup, entry))
        for entry in tree.these(detail["safari"]):
            yield ExportPart(entry, partial(read_safari_bookmarks, entry))


def _lists(tree: Tree) -> Iterator[tuple[FileEntry, str]]:
    """Yield the documents of visits, each with its browser."""
    for entry, expected in json_files(tree, "BrowserHistory*.json", "History*.json"):
        for listed in _LISTS.values():
            found = looks_like(entry, (listed.mark,), listed.members, expected=expected)
            if found >= listed.members:
                yield entry, listed.browser
                break


def _layout(tree: Tree, entry: FileEntry) -> _Layout | None:
    return _fitting(columns_of(tree, entry))


def _fitting(columns: Mapping[str, frozenset[str]]) -> _Layout | None:
    for layout in _LAYOUTS:
        if all(columns.get(name, frozenset()) >= needed for name, needed in layout.columns.items()):
            return layout
    return None


def _read(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    with open_database(tree, entry) as database:
        layout = _fitting(database.columns)
        if layout is None:
            yield Skipped("a database whose tables are gone", entry.name, cut=True)
            return
        yield from _visits(database, layout, entry)
        if layout.browser == "Firefox" and database.has("moz_bookmarks"):
            yield from read_firefox_bookmarks(database, entry)
        yield from database.lacking()


def _visits(database: SqliteCopy, layout: _Layout, entry: FileEntry) -> Iterator[Finding]:
    for row in layout.rows(database):
        where, way = f"{entry.name} visit {row['id']}", layout.way(row)
        visit = _visit(
            layout.browser, row["url"], row["title"], layout.moment, row["moment"], way, where
        )
        lasted = row["visit_duration"] if "visit_duration" in layout.of_visit else None
        if lasted and isinstance(lasted, int | float) and isinstance(visit, Item):
            visit.data["seconds"] = round(lasted / 1e6, 1)
        yield from account([visit], where, "visit")


def _visit(
    browser: str,
    url: Any,
    title: Any,
    moment: Callable[[Any], int],
    count: Any,
    way: str | None,
    where: str,
) -> Finding:
    """Return one visit; databases use their ids again, so the address and the time are its key."""
    micro = moment(count) if isinstance(count, int | float) else -1
    visited = epoch_text(micro / 1e6) if micro > 0 else None
    if not isinstance(url, str) or not url or visited is None:
        return Unknown("a visit without an address or a time", where)
    if way == "frame":
        return Skipped("a frame inside a page", where)
    key = digest_key("visit", url, str(micro))
    data = {
        "id": key,
        "title": str(title or "").strip() or url[:200],
        "link": url,
        "site": site_of(url),
        "browser": browser,
        "way": way,
        "visited_at": visited,
    }
    return Item("visits", key, present(data))


def _read_list(entry: FileEntry, listed: _VisitList) -> Iterator[Finding]:
    """Yield the visits of a document, and tell what lies beside them."""
    visit = partial(_listed_visit, listed.browser)
    yield from read_each(entry, visit, listed.path, noun="visit")
    for path, reason in _BESIDE_VISITS.items():
        left_out = partial(_left_out, reason)
        yield from read_each(entry, left_out, path, noun="entry", always=False)


def _left_out(reason: str, value: object, where: str) -> Iterator[Finding]:  # noqa: ARG001
    yield Skipped(reason, where)


def _listed_visit(browser: str, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    way = str(value.get("page_transition") or "").lower().replace("_", " ")
    way = {"auto bookmark": "bookmark", "auto subframe": "frame", "manual subframe": "frame"}.get(
        way, way
    )
    micro = value.get("time_usec")
    visit = _visit(browser, value.get("url"), value.get("title"), int, micro, way or None, where)
    # Only a database tells how long a page was open.
    yield visit._replace(lacks="seconds") if isinstance(visit, Item) else visit


def site_of(url: str) -> str | None:
    """Return the site of an address without ``www``."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None
