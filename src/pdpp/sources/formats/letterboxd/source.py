"""Letterboxd: the diary of films, reviews, ratings and lists, as flat tables."""

from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial
from types import MappingProxyType

from pdpp.sources.formats.csv_archive import Cells, KnownTables, TableKind, numbered, plain
from pdpp.sources.formats.letterboxd.own_list import is_own_list, read_own_list, written_text
from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import Ordinals, safe_key
from pdpp.sources.reading.money import exact
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition

_FILM = frozenset({"date", "name", "year", "letterboxd uri"})
_LISTS = {"watchlist*.csv": "watchlist", "watched*.csv": "watched", "films*.csv": "liked"}
"""Lists of films have the same columns, so that the names of their files tell them apart."""
_LIKED = ("likes/reviews.csv", "*/likes/reviews.csv", "likes/lists.csv", "*/likes/lists.csv")
_GONE = frozenset({"deleted", "orphaned"})
"""Folders of what somebody deleted, in tables that are called as those of what is there."""


def _about(cells: Cells) -> dict[str, object]:
    """Return what every table says of a film."""
    year, rating = cells["year"], exact(cells.get("rating", ""))
    return {
        "title": cells["name"],
        "year": int(year) if year.isdecimal() and len(year) == len("2026") else None,
        "rating": None if rating is None else float(rating),
        "link": cells["letterboxd uri"],
    }


def _is_known(cells: Cells) -> bool:
    return bool(cells["letterboxd uri"] and cells["name"])


def _viewing(cells: Cells, where: str) -> Iterator[Finding]:
    watched = _day(cells["watched date"] or cells["date"])
    if not _is_known(cells) or watched is None:
        yield Unknown("a viewing without a film or a day", where)
        return
    key = safe_key("viewing", cells["letterboxd uri"])
    data = {
        "id": key,
        **_about(cells),
        "watched_on": watched,
        "logged_on": _day(cells["date"]),
        "rewatch": cells["rewatch"].casefold() == "yes",
        "tags": _tags(cells),
        "tag_names": ", ".join(_tags(cells)),
    }
    yield Item("diary", key, present(data, "", []))


def _review(cells: Cells, where: str) -> Iterator[Finding]:
    written = _day(cells["date"])
    if not _is_known(cells) or written is None:
        yield Unknown("a review without a film or a day", where)
        return
    key = safe_key("review", cells["letterboxd uri"])
    data = {
        "id": key,
        **_about(cells),
        "text": written_text(cells["review"]),
        "watched_on": _day(cells["watched date"]),
        "written_on": written,
        "tags": _tags(cells),
        "tag_names": ", ".join(_tags(cells)),
    }
    yield Item("reviews", key, present(data, "", []))


def _rating(cells: Cells, where: str) -> Iterator[Finding]:
    rated, rating = _day(cells["date"]), exact(cells["rating"])
    if not _is_known(cells) or rated is None or rating is None:
        yield Unknown("a rating without a film, a day or stars", where)
        return
    key = safe_key("rating", cells["letterboxd uri"])
    data = {"id": key, **_about(cells), "rated_on": rated}
    yield Item("ratings", key, present(data, ""))


def _film(name: str, cells: Cells, where: str) -> Iterator[Finding]:
    added = _day(cells["date"])
    if not _is_known(cells) or added is None:
        yield Unknown("an entry of a list without a film or a day", where)
        return
    key = safe_key(name, cells["letterboxd uri"])
    data = {"id": key, **_about(cells), "list": name, "added_on": added}
    yield Item("films", key, present(data, ""))


def _comment(ordinals: Ordinals, cells: Cells, where: str) -> Iterator[Finding]:
    written, text = _day(cells["date"][:10]), written_text(cells["comment"])
    if written is None or not text:
        yield Unknown("a comment without a day or a text", where)
        return
    key = ordinals.key(written, cells["content"], text)
    data = {"id": key, "about": cells["content"], "text": text, "written_on": written}
    yield Item("comments", key, present(data, ""))


def _tags(cells: Cells) -> list[str]:
    return [tag.strip() for tag in cells.get("tags", "").split(",") if tag.strip()]


def _day(text: str) -> str | None:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


class Letterboxd(KnownTables):
    """The zip that Letterboxd hands out, or tables of it."""

    connector_key = "letterboxd"
    label = "Letterboxd"
    passed_over = MappingProxyType(
        {
            "profile.csv": "what Letterboxd knows of you",
            **dict.fromkeys(_LIKED, "addresses of what others wrote and you liked"),
            **dict.fromkeys(("deleted/*", "*/deleted/*"), "what you deleted"),
            **dict.fromkeys(("orphaned/*", "*/orphaned/*"), "what belongs to something deleted"),
        }
    )
    # Those with more columns come first: they have the columns of the others too.
    kinds = (
        TableKind("*.csv", _FILM | {"watched date", "review"}, "review", plain(_review)),
        TableKind("*.csv", _FILM | {"watched date", "rewatch"}, "viewing", plain(_viewing)),
        TableKind("*.csv", _FILM | {"rating"}, "rating", plain(_rating)),
        *(
            TableKind(pattern, _FILM, "film", plain(partial(_film, name)))
            for pattern, name in _LISTS.items()
        ),
        TableKind("*.csv", _FILM, "film", plain(partial(_film, "list"))),
        TableKind(
            "*.csv", frozenset({"date", "content", "comment"}), "comment", numbered(_comment)
        ),
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for tables by their columns, and for lists of somebody's own."""
        kept = _kept(tree)
        seen = super().recognise(kept, choices)
        own = any(map(is_own_list, kept.named("*.csv")))
        if seen is not None or not own:
            return seen
        return Recognition(Confidence.CERTAIN, "list", account=self.label, owner_known=False)

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in(tree.called)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each table and list."""
        kept = _kept(tree)
        yield from super().parts(kept, recognition)
        for entry in kept.named("*.csv"):
            if is_own_list(entry):
                yield ExportPart(entry, partial(read_own_list, entry))


def _kept(tree: Tree) -> Tree:
    """Return a tree without what was deleted."""
    gone = {entry.name for entry in tree.entries if _GONE & set(entry.name.split("/")[:-1])}
    return tree.without(gone) if gone else tree
