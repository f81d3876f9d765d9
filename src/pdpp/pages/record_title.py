"""Record titles: what a record is called, and when it happened, by the roles of its fields."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.presentation import Presentation
from pdpp.model import instant
from pdpp.pages.display import presentation_of
from pdpp.store.catalogue import Catalogue
from pdpp.store.numbers import write_data
from pdpp.store.query import Record
from pdpp.store.scope import Reach


def record_of(catalogue: Catalogue, answer: Mapping[str, Any]) -> Record:
    """Return a record that an operation answered, to be shown as all of it that is there."""
    feed = catalogue.feeds[answer["connection_id"], answer["stream"]]
    return Record(
        Reach(feed, feed.stream, None, True),
        answer["id"],
        write_data(answer["data"]),
        instant.parse(answer["emitted_at"]) or 0,
        answer["version"],
    )


def presented(catalogue: Catalogue, answer: Mapping[str, Any]) -> Presentation:
    """Return an answered record's title, time and so on by its declared roles."""
    return presentation_of(record_of(catalogue, answer))


def untitled(title: str, account: str, stream: str) -> bool:
    """Tell whether a title only says where a record is from: it has none of its own."""
    return title.startswith(f"{' '.join(account.split())} / {stream} / ")
