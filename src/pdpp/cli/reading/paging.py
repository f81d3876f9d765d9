"""Paging: one page or all of them, for a person or as lines of JSON."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from pdpp.cli.progress import Progress
from pdpp.cli.progress_bar import ProgressBar
from pdpp.cli.reading import raw
from pdpp.cli.reading.hint import same_command
from pdpp.cli.reading.printer import Printer, StyledText
from pdpp.client.listing import Listing
from pdpp.client.result import Json, Page
from pdpp.wire.paging import FIRST_PAGE_ONLY

MOST_A_PAGE = 100
T = TypeVar("T")
Item = TypeVar("Item", bound="Enveloped")


def pages_of(
    listing: Listing[T], *, every: bool, total: Callable[[], int | None] = lambda: None
) -> Iterator[Page[T]]:
    """Yield the pages a command shows; a bar on stderr says how far all of them are."""
    if not every:
        yield listing.first()
        return
    if sys.stdout.isatty() or not sys.stderr.isatty():
        yield from listing.pages()
        return
    bar, known, done = ProgressBar(time.monotonic()), total(), 0
    with Progress("Records:") as progress:
        for page in listing.pages():
            yield page
            done += len(page.items)
            _tell(progress, bar, done, known or page.count)


def _tell(progress: Progress, bar: ProgressBar, done: int, total: int | None) -> None:
    if total is None:
        progress.tell(done)
    else:
        progress.say(lambda: bar.line(time.monotonic(), done, done, total))


class Enveloped(Protocol):
    """An item of a page with the object that the server sent for it."""

    @property
    def raw(self) -> Json: ...


def write_lines(pages: Iterator[Page[Item]]) -> None:
    """Write each item of some pages as a line of JSON, as the server enveloped it."""
    for page in pages:
        for item in page.items:
            raw.one_line(item.raw)


def write_items(
    printer: Printer, pages: Iterator[Page[T]], write_item: Callable[[Printer, int, T], None]
) -> tuple[int, Page[T]]:
    """Write the items of some pages one below the other; return how many, and the last page."""
    count = 0
    for page in pages:
        for item in page.items:
            count += 1
            write_item(printer, count, item)
    return count, page


def write_end(printer: Printer, page: Page[T], total: str) -> None:
    """Write what there is in all, what the server warns of, and how to go on."""
    printer.line(StyledText(total, "quiet"))
    for notice in page.warnings:
        printer.line(f"note: {notice.message}")
    for sentence in page.advice.sentences():
        printer.line(sentence)
    if page.has_more and page.next_cursor is not None:
        without = dict.fromkeys(FIRST_PAGE_ONLY)
        printer.command("next", same_command(**without, cursor=page.next_cursor))
    elif page.next_changes_since is not None:
        since = same_command(changes_since=page.next_changes_since, cursor=None)
        printer.command("later", since)
