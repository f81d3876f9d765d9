"""Netflix: what was watched, as the list of a profile and as the table of an account."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import partial
from itertools import islice, pairwise
from types import MappingProxyType

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.csv_archive import (
    Cells,
    KnownTables,
    TableKind,
    find_columns,
    find_tables,
    numbered,
    read_table,
    utc_text,
)
from pdpp.sources.formats.netflix.series import series_of
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.csvtable import CsvTable, rows
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition

_ACTIVITY = frozenset({"profile name", "start time", "duration", "title", "device type"})
_TITLES = ("title", "titel", "titre", "título", "titolo", "tytuł", "başlık", "název", "cím")
_DAYS = ("date", "datum", "fecha", "data", "tarih", "dátum", "dato")
_ORDERS: Mapping[str, str] = MappingProxyType({"MDY": "mdy", "DMY": "dmy", "YMD": "ymd"})
_LOOKED_AT = 50
_MOST_DAYS = 100_000


def _viewing(ordinals: Ordinals, cells: Cells, where: str) -> Iterator[Finding]:
    if cells.get("supplemental video type"):
        yield Skipped("a trailer or clip, which plays by itself", where)
        return
    started = utc_text(cells["start time"])
    if started is None or not cells["title"]:
        yield Unknown("a viewing without a title or a time", where)
        return
    # A profile may get another name, and is then called so in every row.
    key = ordinals.key(started, cells["title"])
    data = {
        "id": key,
        "title": cells["title"],
        "series": series_of(cells["title"]),
        "profile": cells["profile name"],
        "started_at": started,
        "seconds": _seconds(cells["duration"]),
        "device": cells["device type"],
        "country": cells.get("country", ""),
    }
    yield Item("viewings", key, present(data, ""))


def _seconds(clock: str) -> int | None:
    parts = clock.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    hours, minutes, seconds = map(int, parts)
    return hours * 3600 + minutes * 60 + seconds


def _lists(tree: Tree, *, chosen: bool) -> Iterator[tuple[FileEntry, CsvTable]]:
    """Yield the lists of a profile: tables of a title and a day, with titles of episodes."""
    for entry in tree.named("*.csv"):
        table = _list_table(entry)
        if table is not None and (chosen or _is_of_netflix(entry, table)):
            yield entry, table


def _list_table(entry: FileEntry) -> CsvTable | None:
    table = find_columns(entry, ())
    known = table is not None and len(table.header) == 2 and table.header_line == 1
    if table is None or not known:
        return None
    return table if table.header[0] in _TITLES and table.header[1] in _DAYS else None


def _is_of_netflix(entry: FileEntry, table: CsvTable) -> bool:
    """Tell whether a list is one by its name, or because its titles name series and episodes."""
    if "netflix" in entry.base.casefold():
        return True
    first = [row for row, _ in zip(rows(entry, table), range(_LOOKED_AT), strict=False)]
    titles = [row.cells[0] for row in first if not isinstance(row, Skipped)]
    return sum(title.count(": ") > 1 for title in titles) * 3 > len(titles) > 0


def _read_list(entry: FileEntry, table: CsvTable, given: str) -> Iterator[Finding]:
    order = given or _order(entry, table)
    english = CsvTable(table.encoding, table.delimiter, table.header_line, ("title", "date"))
    return read_table(entry, english, "day", partial(_day_of_title, order, Ordinals()))


def _day_of_title(order: str, ordinals: Ordinals, cells: Cells, where: str) -> Iterator[Finding]:
    watched = _day(cells["date"], order)
    if watched is None or not cells["title"]:
        yield Unknown("a viewing without a title or a day", where)
        return
    day = watched.isoformat()
    key = ordinals.key(day, cells["title"])
    data = {"title": cells["title"], "series": series_of(cells["title"]), "watched_on": day}
    yield Item("watched_titles", key, present({"id": key, **data}))


def _order(entry: FileEntry, table: CsvTable) -> str:
    """Return the order of the numbers of a day: that in which the list is sorted, newest first."""
    scores = _scores(entry, table)
    return max(scores, key=lambda order: scores[order])


def _doubts(lists: Iterable[tuple[FileEntry, CsvTable]]) -> Iterator[str]:
    """Tell of lists that are sorted in two orders."""
    for entry, table in lists:
        scores = list(_scores(entry, table).values())
        if scores.count(max(scores)) > 1:
            yield (
                f"the days of {entry.base} could be read in another order; say --set "
                "date_order=DMY, MDY or YMD if they are wrong"
            )


def _scores(entry: FileEntry, table: CsvTable) -> dict[str, tuple[int, int]]:
    first = islice(rows(entry, table), _MOST_DAYS)
    texts = [row.cells[1] for row in first if not isinstance(row, Skipped)]
    if any(len(text) > len("31/12/26") and text[:4].isdecimal() for text in texts):
        return {"ymd": (len(texts), 0)}
    return {order: _score([_day(text, order) for text in texts]) for order in _ORDERS.values()}


def _score(days: list[date | None]) -> tuple[int, int]:
    """Return how many of some days there are, and how many do not lie behind the one before."""
    known = [day for day in days if day is not None]
    return len(known), sum(one >= two for one, two in pairwise(known))


def _day(text: str, order: str) -> date | None:
    parts = text.replace(".", "/").replace("-", "/").replace(" ", "").strip("/").split("/")
    if len(parts) != 3 or not all(part.isdecimal() and len(part) <= 4 for part in parts):
        return None
    if len(parts[0]) == len("2026"):
        order = "ymd"
    named = dict(zip(order, map(int, parts), strict=True))
    year = named["y"] + (2000 if named["y"] < 100 else 0)
    try:
        return datetime(year, named["m"], named["d"]).date()  # noqa: DTZ001 - a day
    except ValueError:
        return None


class Netflix(KnownTables):
    """The list that a profile lets download, or the table among the data of an account."""

    connector_key = "netflix"
    label = "Netflix"
    kinds = (TableKind("*.csv", _ACTIVITY, "viewing", numbered(_viewing)),)
    settings = MappingProxyType(
        {"date_order": "Order of day, month and year in the list: DMY, MDY or YMD."}
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for tables by their columns; a list has two, which other tables have too."""
        order = choices.given.get("date_order", "")
        if order and order not in _ORDERS:
            raise ImportRefused("date_order is DMY, MDY or YMD")
        found = list(_lists(tree, chosen=choices.chosen))
        lists = [entry.name for entry, _ in found]
        tables = find_tables(tree, self.kinds)
        if not lists and not tables:
            return None
        words = ["the list of a profile"] * bool(lists) + ["viewing activity"] * bool(tables)
        return Recognition(
            Confidence.CERTAIN if tables else Confidence.LIKELY,
            " and ".join(words),
            account=self.label,
            owner_known=False,
            notes=() if order else tuple(_doubts(found)),
            detail={"lists": lists, "date_order": order},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each table."""
        yield from super().parts(tree, recognition)
        given = _ORDERS.get(recognition.detail["date_order"], "")
        for entry in tree.these(recognition.detail["lists"]):
            if (days := _list_table(entry)) is not None:
                yield ExportPart(entry, partial(_read_list, entry, days, given))
