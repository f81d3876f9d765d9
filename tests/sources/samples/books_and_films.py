"""Tables of Goodreads, Letterboxd, Netflix and Amazon, and the clippings of a Kindle."""

import csv
import io
from collections.abc import Iterable, Sequence

from tests.sources.samples.sample import FormatSample


def table(header: str, *rows: Sequence[str], quoted: bool = False) -> bytes:
    """Return a table whose columns are written with commas between them."""
    out = io.StringIO()
    dialect = csv.unix_dialect if quoted else csv.excel
    writer = csv.writer(out, dialect, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return out.getvalue().encode()


BOOKS_HEADER = (
    "Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,Average Rating,"
    "Publisher,Binding,Number of Pages,Year Published,Original Publication Year,Date Read,"
    "Date Added,Bookshelves,Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,"
    "Private Notes,Read Count,Owned Copies"
)


def book(number: str, title: str, stars: str, read: str, shelf: str, review: str = "") -> list[str]:
    """Return a row of the library."""
    isbn = ['=""', f'="978000000{number:0>4}"']
    about = ["4.08", "Quay Press", "Paperback", "240", "2016", "1999"]
    days = [read, "2020/03/26", "sea, boats", "sea (#1), boats (#2)", shelf]
    names = ["Ana Lind", "Lind, Ana", "Ivo Cais, Nora Lind"]
    return [number, title, *names, *isbn, stars, *about, *days, review, "", "", "1", "0"]


KNOTS = book(
    "41", "Knots for the Harbour", "5", "2026/05/03", "read", "Wet rope<br/>explained well"
)
TIDES = book("42", "Tides", "0", "", "to-read")
LIBRARY = table(BOOKS_HEADER, KNOTS, TIDES)

DIARY_HEADER = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date"
SEEN = ["2026-05-02", "Foghorn Island", "2019", "https://boxd.it/a1", "4.5", "", "sea, dad"]
AGAIN = ["2026-05-09", "Foghorn Island", "2019", "https://boxd.it/a2", "", "Yes", ""]
REVIEW = [
    "2026-05-02",
    "Foghorn Island",
    "2019",
    "https://boxd.it/a1",
    "4.5",
    "",
    "The fog!",
]
LETTERBOXD = {
    "diary.csv": table(DIARY_HEADER, [*SEEN, "2026-05-01"], [*AGAIN, "2026-05-08"]),
    "reviews.csv": table(
        "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date",
        [*REVIEW, "", "2026-05-01"],
    ),
    "ratings.csv": table(
        "Date,Name,Year,Letterboxd URI,Rating",
        ["2026-05-02", "Foghorn Island", "2019", "https://boxd.it/film", "4.5"],
    ),
    "watchlist.csv": table(
        "Date,Name,Year,Letterboxd URI", ["2026-05-03", "Tides", "2020", "https://boxd.it/tides"]
    ),
    "likes/films.csv": table(
        "Date,Name,Year,Letterboxd URI", ["2026-05-03", "Ropes", "2021", "https://boxd.it/ropes"]
    ),
    "comments.csv": table(
        "Date,Content,Comment", ["2026-05-04", "https://boxd.it/x", "The <i>fog</i> again"]
    ),
    "profile.csv": table("Date Joined,Username", ["2019-01-01", "nora"]),
}

WATCHED = (
    ["Harbour Watch: Season 1: The Wet Rope", "5/9/26"],
    ["Harbour Watch: Season 1: Fog", "5/8/26"],
    ["Foghorn Island", "5/8/26"],
    ["Foghorn Island", "12/1/25"],
)
ACTIVITY_HEADER = (
    "Profile Name,Start Time,Duration,Attributes,Title,Supplemental Video Type,Device Type,"
    "Bookmark,Latest Bookmark,Country"
)


def viewing(title: str, started: str, extra: str = "") -> list[str]:
    """Return a row of the account's table."""
    return ["Nora", started, "00:41:49", "", title, extra, "Tide TV", "x", "x", "PT (Portugal)"]


ACTIVITY = table(
    ACTIVITY_HEADER,
    viewing("Harbour Watch: Season 1: The Wet Rope (Episode 1)", "2026-05-09 20:00:02"),
    viewing("Fog (Trailer)", "2026-05-09 19:59:00", "TRAILER"),
)

ORDERS_HEADER = (
    "Website,Order ID,Order Date,Purchase Order Number,Currency,Unit Price,Unit Price Tax,"
    "Shipping Charge,Total Discounts,Total Owed,ASIN,Product Condition,Quantity,"
    "Payment Instrument Type,Order Status,Ship Date,Shipping Address,Product Name,Gift Message"
)


def order(number: str, product: str, owed: str, status: str = "Closed") -> list[str]:
    """Return a row of the history of orders."""
    no = "Not Available"
    money = ["EUR", "10", "0", "0", "0", owed]
    about = [f"B{product[:3]}", "New", "2", "Visa - 0000", status, no, "Pier 1", product, no]
    return ["Amazon.es", number, "2026-02-03T02:04:59Z", "Not Applicable", *money, *about]


ROPE = order("111-1", "Rope of the harbour, 20 m", "20.00")
FLARE = order("111-2", "Flare", "1,019.01", "Authorized")
ORDERS = table(ORDERS_HEADER, ROPE, ROPE, FLARE, quoted=True)

CLIPPINGS = (
    "Knots for the Harbour (Lind, Ana)\r\n- Your Highlight on page 3 | Location 145-146 | "
    "Added on Monday, July 31, 2017 11:11:20 PM\r\n\r\nA wet bowline slips on the quay\r\n",
    "Nudos (Cais, Ivo)\r\n- Tu nota en la página 7 | posición 12 | Añadido el lunes, 28 de "
    "diciembre de 2020 21:33:49\r\n\r\ncuerda\r\n",
    "Knoten\r\n- Ihr Lesezeichen bei Position 3257 | Hinzugefügt am Dienstag, 8. Juli 2014 "
    "22:42:55\r\n\r\n\r\n",
    "Old Ropes (Lind)\r\n- Highlight Loc. 12-25  | Added on Sunday, January 02, 2011, 07:49 PM"
    "\r\n\r\nan old one\r\n",
    "绳结 (Lind)\r\n- 您在位置 #204-205的标注 | 添加于 2014年6月5日星期四 下午7:34:01"
    "\r\n\r\n绳子\r\n",
)


def clippings(pieces: Iterable[str] = CLIPPINGS) -> bytes:
    """Return the file as a Kindle writes it: with a mark before every piece."""
    return "".join(f"\ufeff{piece}==========\r\n" for piece in pieces).encode()


SAMPLES = (
    FormatSample(
        "goodreads",
        "a library",
        {"goodreads_library_export.csv": LIBRARY},
        words="Knots for the Harbour",
        sentence="Knots for the Harbour",
        units={"book": ["rows below a header"]},
        earlier={"goodreads_library_export.csv": table(BOOKS_HEADER, KNOTS)},
        cut="goodreads_library_export.csv",
        torn=1,
        renamed={"goodreads_library_export.csv": "export (1).csv"},
    ),
    FormatSample(
        "letterboxd",
        "an archive",
        LETTERBOXD,
        words="Foghorn Island fog",
        sentence="The fog!",
        earlier={"diary.csv": table(DIARY_HEADER, [*SEEN, "2026-05-01"])},
        renamed={"diary.csv": "diary (1).csv"},
    ),
    FormatSample(
        "letterboxd",
        "a diary",
        {"diary.csv": LETTERBOXD["diary.csv"]},
        words="Foghorn Island",
        sentence="Foghorn Island",
        units={"viewing": ["rows below a header"]},
        uncut="the last cell of a row is a day without quotes around it",
    ),
    FormatSample(
        "netflix",
        "the list of a profile",
        {"NetflixViewingHistory.csv": table("Title,Date", *WATCHED, quoted=True)},
        words="Harbour Watch The Wet Rope",
        sentence="The Wet Rope",
        units={"day": ["rows below a header"]},
        earlier={"NetflixViewingHistory.csv": table("Title,Date", *WATCHED[1:])},
        cut="NetflixViewingHistory.csv",
        torn=1,
        renamed={"NetflixViewingHistory.csv": "netflix (1).csv"},
    ),
    FormatSample(
        "netflix",
        "the table of an account",
        {"CONTENT_INTERACTION/ViewingActivity.csv": ACTIVITY},
        words="Harbour Watch Episode 1",
        sentence="The Wet Rope (Episode 1)",
        units={"viewing": ["rows below a header"]},
    ),
    FormatSample(
        "amazon_orders",
        "a history",
        {"Retail.OrderHistory.1/Retail.OrderHistory.1.csv": ORDERS},
        words="Rope of the harbour 20",
        sentence="Rope of the harbour, 20 m",
        units={"thing ordered": ["rows below a header"]},
        earlier={"Retail.OrderHistory.1/Retail.OrderHistory.1.csv": table(ORDERS_HEADER, ROPE)},
        cut="Retail.OrderHistory.1/Retail.OrderHistory.1.csv",
        torn=1,
    ),
    FormatSample(
        "kindle",
        "clippings of several languages",
        {"My Clippings.txt": clippings()},
        words="wet bowline slips quay",
        sentence="A wet bowline slips on the quay",
        units={"clipping": ["ends of clippings"]},
        earlier={"My Clippings.txt": clippings(CLIPPINGS[:2])},
        cut="My Clippings.txt",
        renamed={"My Clippings.txt": "clippings.txt"},
    ),
)
