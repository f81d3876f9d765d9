"""Paging: one page or all of them, on a sheet or as lines of JSON."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from pdpp.cli.pace import Pace
from pdpp.cli.progress import Progress
from pdpp.cli.reading import raw
from pdpp.cli.reading.hint import same_command
from pdpp.cli.reading.sheet import Sheet, Span
from pdpp.client.listing import Listing
from pdpp.client.result import Page

MOST_A_PAGE = 100
T = TypeVar("T")


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
    pace, known, done = Pace(time.monotonic()), total(), 0
    with Progress("Records:") as progress:
        for page in listing.pages():
            yield page
            done += len(page.items)
            _tell(progress, pace, done, known or page.count)


def _tell(progress: Progress, pace: Pace, done: int, total: int | None) -> None:
    if total is None:
        progress.tell(done)
    else:
        progress.say(lambda: pace.line(time.monotonic(), done, done, total))


def write_lines(pages: Iterator[Page[T]]) -> None:
    """Write each item of some pages as a line of JSON, as the server enveloped it."""
    for page in pages:
        for item in page.raw["data"]:
            raw.one_line(item)


def write_cards(
    sheet: Sheet, pages: Iterator[Page[T]], card: Callable[[Sheet, int, T], None]
) -> tuple[int, Page[T]]:
    """Write the items of some pages one below the other; return how many, and the last page."""
    shown = 0
    for page in pages:
        for item in page.items:
            shown += 1
            card(sheet, shown, item)
    return shown, page


def write_end(sheet: Sheet, page: Page[T], told: str) -> None:
    """Write what there is in all, what the server warns of, and how to go on."""
    sheet.line(Span(told, "quiet"))
    for notice in page.warnings:
        sheet.line(f"note: {notice.message}")
    if page.has_more and page.next_cursor is not None:
        sheet.command("next", same_command(cursor=page.next_cursor))
    if page.next_changes_since is not None:
        since = same_command(changes_since=page.next_changes_since, cursor=None)
        sheet.command("later", since)
