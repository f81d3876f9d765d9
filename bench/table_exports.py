"""Table exports: books, films and orders as services hand them out, of any size."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from bench.exports import moment_of, text_of


def _table(path: Path, head: str, rows: Iterable[str]) -> Path:
    with path.open("w") as file:
        file.write(head + "\n")
        file.writelines(f"{row}\n" for row in rows)
    return path


def amazon_orders(folder: Path, count: int) -> Path:
    """Write a history of orders."""
    rows = (
        f"Amazon.com,111-{number:07}-1,{moment_of(number):%Y-%m-%dT%H:%M:%SZ},B{number % 900:09},"
        f'"{text_of(number)}",USD,{number % 90}.25,{number % 90}.25,1,Closed'
        for number in range(count)
    )
    head = (
        "Website,Order ID,Order Date,ASIN,Product Name,Currency,Unit Price,Total Owed,Quantity,"
        "Order Status"
    )
    return _table(folder / "Retail.OrderHistory.1.csv", head, rows)


def goodreads(folder: Path, count: int) -> Path:
    """Write the books of all shelves."""
    rows = (
        f'{number},Harbour {number},Ann Row,{number % 6},read,{moment_of(number):%Y/%m/%d},"'
        f'{text_of(number)}"'
        for number in range(count)
    )
    head = "Book Id,Title,Author,My Rating,Exclusive Shelf,Date Added,My Review"
    return _table(folder / "goodreads_library_export.csv", head, rows)


def kindle(folder: Path, count: int) -> Path:
    """Write clippings of one book."""
    path = folder / "My Clippings.txt"
    with path.open("w") as file:
        for number in range(count):
            when = f"{moment_of(number):%A, %B %d, %Y %I:%M:%S %p}"
            place = f"Location {number * 10 + 1}-{number * 10 + 2}"
            file.write(f"Harbour (Ann Row)\n- Your Highlight on {place} | Added on {when}\n\n")
            file.write(f"{text_of(number)}\n==========\n")
    return path


def letterboxd(folder: Path, count: int) -> Path:
    """Write the reviews of a diary."""
    rows = (
        f"{moment_of(number):%Y-%m-%d},Harbour {number},{1950 + number % 70},"
        f'https://boxd.it/{number},4.5,,"{text_of(number)}",,{moment_of(number):%Y-%m-%d}'
        for number in range(count)
    )
    head = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date"
    return _table(folder / "reviews.csv", head, rows)


def netflix(folder: Path, count: int) -> Path:
    """Write the viewing activity of an account."""
    rows = (
        f"Nora,{moment_of(number):%Y-%m-%d %H:%M:%S},00:41:07,,Harbour: Season 1: Part {number},,"
        "Television,00:41:07,00:41:07,PT (Portugal)"
        for number in range(count)
    )
    head = (
        "Profile Name,Start Time,Duration,Attributes,Title,Supplemental Video Type,Device Type,"
        "Bookmark,Latest Bookmark,Country"
    )
    return _table(folder / "ViewingActivity.csv", head, rows)


MAKERS: Mapping[str, Callable[[Path, int], Path]] = MappingProxyType(
    {make.__name__: make for make in (amazon_orders, goodreads, kindle, letterboxd, netflix)}
)
"""What writes an export with a number of things into a folder, by the key of its source."""
