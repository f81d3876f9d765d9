"""The database of Apple Notes, as far as notes are in it."""

import gzip
from typing import Any

from tests.sources.samples.sample import FormatSample, sqlite_bytes

SCHEMA = """
create table ZICNOTEDATA (Z_PK integer primary key, ZNOTE integer, ZDATA blob);
create table ZICCLOUDSYNCINGOBJECT (
  Z_PK integer primary key, ZIDENTIFIER text, ZTITLE1 text, ZTITLE2 text, ZNAME text,
  ZFOLDER integer, ZACCOUNT4 integer, ZCREATIONDATE3 real, ZMODIFICATIONDATE1 real,
  ZISPASSWORDPROTECTED integer, ZMARKEDFORDELETION integer, ZISPINNED integer,
  ZTYPEUTI text, ZTITLE text, ZURLSTRING text, ZALTTEXT text, ZMEDIA integer, ZFILENAME text,
  ZOCRSUMMARY text, ZPARENTATTACHMENT integer, ZMERGEABLEDATA1 blob,
  ZTYPEUTI1 text);
"""


def _seven_bits(value: int) -> bytes:
    written = b""
    while value > 127:
        written += bytes([value & 127 | 128])
        value >>= 7
    return written + bytes([value])


def _field(number: int, content: bytes) -> bytes:
    return _seven_bits(number << 3 | 2) + _seven_bits(len(content)) + content


def _varint(number: int, value: int) -> bytes:
    return _seven_bits(number << 3) + _seven_bits(value)


def packed(text: str, *attachments: tuple[str, str]) -> bytes:
    """Return the text of a note as the program keeps it, with runs that name what stands in it."""
    runs = _field(5, b"\x08\x03")
    for identifier, kind in attachments:
        about = _field(1, identifier.encode()) + _field(2, kind.encode())
        runs += _field(5, _varint(1, 1) + _field(12, about))
    note = b"\x08\x01" + _field(2, text.encode()) + runs
    return gzip.compress(b"\x08\x00" + _field(2, b"\x10\x02" + _field(3, note)), mtime=0)


def note(number: int, title: str, text: str, **more: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the rows of a note."""
    row = _row(
        number,
        f"ID-{number}",
        title,
        None,
        None,
        2,
        None,
        788_954_400.0,
        788_958_000.5,
        more.get("locked", 0),
        more.get("deleted", 0),
        more.get("pinned", 0),
    )
    return (number, number, packed(text, *more.get("attachments", ()))), row


def _row(*values: Any) -> tuple[Any, ...]:
    return (*values, *(None,) * (22 - len(values)))


def thing(number: int, kind: str | None, **columns: Any) -> tuple[Any, ...]:
    """Return the row of an attachment, or of its file."""
    names = ("title", "url", "alt", "media", "filename", "ocr", "parent", "data")
    values = (columns.get(name) for name in names)
    return (number, f"ID-{number}", *(None,) * 10, kind, *values, None)


def table(rows: list[list[str]]) -> bytes:
    """Return a table: objects that name each other by number, with rows and columns by ids.

    A cell lies under ids that a device gave its rows and columns, which the sets translate into
    those that have an order.
    """
    height, width = len(rows), len(rows[0])
    # Ids: the rows and columns in order, then those that cells are written under.
    ids = [bytes([number]) * 16 for number in range(2 * (height + width))]
    objects: list[bytes] = [b""]

    def add(content: bytes) -> int:
        objects.append(content)
        return len(objects) - 1

    def reference(place: int) -> bytes:
        return _varint(6, place)

    def element(key: int, value: int) -> bytes:
        return _field(1, _field(1, reference(key)) + _field(2, reference(value)))

    def named(number: int) -> int:
        """Add an object that holds the number of an id."""
        held = _varint(1, 1) + _field(3, _varint(1, 2) + _field(2, _varint(2, number)))
        return add(_field(13, held))

    def ordered(first: int, count: int, written: int) -> int:
        items = b"".join(
            _field(2, _varint(1, place) + _field(2, ids[first + place])) for place in range(count)
        )
        pairs = b"".join(
            element(named(first + place), named(written + place)) for place in range(count)
        )
        return add(_field(16, _field(1, _field(1, items) + _field(2, pairs))))

    own_rows, own_columns = height + width, 2 * height + width
    row_set, column_set = ordered(0, height, own_rows), ordered(height, width, own_columns)
    columns = b""
    # Columns and rows stand in the dictionaries in no order.
    for column in reversed(range(width)):
        cells = b""
        for row in reversed(range(height)):
            text = add(_field(10, _field(2, rows[row][column].encode())))
            cells += element(named(own_rows + row), text)
        columns += element(named(own_columns + column), add(_field(6, cells)))
    cell_columns = add(_field(6, columns))
    members = (row_set, column_set, cell_columns)
    entries = b"".join(
        _field(3, _varint(1, key) + _field(2, reference(place)))
        for key, place in enumerate(members)
    )
    objects[0] = _field(13, _varint(1, 0) + entries)
    keys = ("crRows", "crColumns", "cellColumns")
    types = ("com.apple.notes.ICTable", "com.apple.CRDT.NSUUID")
    document = b"".join(
        (
            *(_field(3, content) for content in objects),
            *(_field(4, key.encode()) for key in keys),
            *(_field(5, kind.encode()) for kind in types),
            *(_field(6, content) for content in ids),
        )
    )
    return gzip.compress(_field(2, _varint(2, 1) + _field(3, document)), mtime=0)


BUOYS = note(
    10, "Buoys", "Buoys\nThe green one whistles when the swell turns \ufffc north\n", pinned=1
)
TIDES = [["Day", "High water"], ["Monday", "15:30"], ["Tuesday", ""]]
PHOTO = b"\xff\xd8\xff\xe0 a buoy"
THINGS = (
    thing(30, "com.apple.notes.table", data=table(TIDES)),
    thing(31, "public.jpeg", media=40, ocr="SLOW NEAR THE PIER"),
    thing(40, None, filename="buoy.jpg"),
    thing(32, "com.apple.notes.inlinetextattachment.hashtag", alt="#moorings"),
    thing(33, "public.url", title="Tide tables", url="https://tides.example/"),
    thing(34, "com.apple.notes.gallery"),
    thing(35, "public.jpeg", media=41, parent=34),
    thing(41, None, filename="page 1.jpg"),
    thing(36, "com.apple.notes.table", data=b"no table"),
)
RICH = note(
    14,
    "Moorings",
    "Moorings \ufffc\nWhen to paint them:\n\ufffc\n\ufffc and \ufffc\n\ufffc \ufffc \ufffc end\n",
    attachments=(
        ("ID-32", "com.apple.notes.inlinetextattachment.hashtag"),
        ("ID-30", "com.apple.notes.table"),
        ("ID-31", "public.jpeg"),
        ("ID-33", "public.url"),
        ("ID-34", "com.apple.notes.gallery"),
        ("ID-36", "com.apple.notes.table"),
        ("ID-99", "public.png"),
    ),
)
RICH_FILES = {"Accounts/A/Media/ID-40/1_AB/buoy.jpg": PHOTO}
LOCKED = note(11, "Secret", "hidden", locked=1)
DELETED = note(12, "Gone", "gone", deleted=1)
LONG = note(13, "", "A first line\n" + "words " * 400)
_GROUPS = (
    _row(1, "A", None, None, "iCloud"),
    _row(2, "F", None, "Harbour", None, None, 1),
)


def store(*notes: tuple[tuple[Any, ...], ...], things: tuple[Any, ...] = ()) -> bytes:
    """Return a database."""
    rows = {
        "ZICNOTEDATA": [held[0] for held in notes],
        "ZICCLOUDSYNCINGOBJECT": [*_GROUPS, *(held[1] for held in notes), *things],
    }
    return sqlite_bytes(SCHEMA, rows)


SAMPLES = (
    FormatSample(
        "apple_notes",
        "the database of a Mac",
        {"NoteStore.sqlite": store(BUOYS, LOCKED, DELETED, LONG)},
        units={"note": ["rows of ZICNOTEDATA"]},
        words='"whistles when the swell turns"',
        sentence="The green one whistles when the swell turns",
        earlier={"NoteStore.sqlite": store(BUOYS)},
        renamed={"NoteStore.sqlite": "NoteStore (1).sqlite"},
    ),
    FormatSample(
        "apple_notes",
        "the folder of a Mac with a table and pictures",
        {
            "group.com.apple.notes/NoteStore.sqlite": store(BUOYS, RICH, things=THINGS),
            **{f"group.com.apple.notes/{name}": held for name, held in RICH_FILES.items()},
        },
        words="Monday high water moorings",
        sentence="| Monday | 15:30 |",
        earlier={"group.com.apple.notes/NoteStore.sqlite": store(BUOYS)},
        cut="group.com.apple.notes/NoteStore.sqlite",
    ),
)
