"""YouTube's tables in a Takeout: comments, subscriptions and playlists.

Names of files and columns follow the language of the account. What a row holds does not: a comment
has its text as JSON, a subscription the address of a channel, a video of a playlist an id and a
time.
"""

import csv
import re
from collections.abc import Iterator, Sequence

from pdpp.sources.formats.csv_archive import utc_text
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.csvtable import CsvTable, Row, rows
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.textfile import encoding_of, text_lines
from pdpp.sources.reading.tree import FileEntry

_CHANNEL = re.compile(r"https?://(?:www\.)?youtube\.com/channel/[\w-]+/?\Z")
_VIDEO = re.compile(r"[\w-]{11}\Z")
_WATCH = "https://www.youtube.com/watch?v="
_LAST_HEADER_LINE = 12
"""Playlists before 2022 tell about themselves, and list their videos below an empty line."""
_PLAYLIST_ENDING = re.compile(r"[- ]+(?:videos?|vídeos?|vidéos?|video's|video)\Z", re.IGNORECASE)


def is_youtube_table(entry: FileEntry) -> bool:
    """Tell whether the first row of a table is a comment, a subscription or a video."""
    table = _table(entry)
    first = next(iter(rows(entry, table)), None) if table else None
    return isinstance(first, Row) and _item(entry, first.cells) is not None


def read_youtube_table(entry: FileEntry) -> Iterator[Finding]:
    """Yield what the rows of a table hold."""
    table = _table(entry)
    for row in rows(entry, table) if table else ():
        if isinstance(row, Skipped):
            yield row
        else:
            where = f"{entry.name} line {row.line:,}"
            yield from account(_row(entry, row.cells, where), where, "row")


def _table(entry: FileEntry) -> CsvTable | None:
    """Return how a table is written: its columns stand in the first line or below an empty one."""
    encoding = encoding_of(entry.head())
    header, names = 0, ""
    after_blank = False
    for line in text_lines(entry, encoding):
        if line.number > _LAST_HEADER_LINE:
            break
        if not header or (after_blank and line.text.count(",") == 1):
            header, names = line.number, line.text
        after_blank = not line.text.strip()
    try:
        columns = next(csv.reader([names]), [])
    except csv.Error:
        return None
    return CsvTable(encoding, ",", header, tuple(columns)) if columns else None


def _row(entry: FileEntry, cells: Sequence[str], where: str) -> Iterator[Finding]:
    yield _item(entry, cells) or Unknown("a row of YouTube that is not known", where)


def _item(entry: FileEntry, cells: Sequence[str]) -> Item | None:
    texts = [text for cell in cells if (text := _spoken(cell)) is not None]
    times = [time for cell in cells if (time := utc_text(cell)) is not None]
    if texts and times:
        return _comment(cells, texts[-1], times[0])
    if len(cells) == len(("id", "address", "title")) and _CHANNEL.match(cells[1]):
        return _subscription(*cells)
    if len(cells) == len(("id", "time")) and times and _VIDEO.match(cells[0].strip()):
        return _video(_playlist_name(entry), cells[0].strip(), times[0])
    return None


def _spoken(cell: str) -> str | None:
    """Return the text of a comment, which is written as one or several pieces of JSON."""
    if not cell.startswith(('{"', '[{"')):
        return None
    try:
        pieces = read_json((cell if cell.startswith("[") else f"[{cell}]").encode())
    except NotJson:
        return None
    told = [piece["text"] for piece in pieces if isinstance(piece, dict) and "text" in piece]
    return "".join(map(str, told)) if told else None


def _comment(cells: Sequence[str], text: str, written: str) -> Item:
    key = digest_key("comment", cells[0])
    videos = [cell for cell in cells[1:] if _VIDEO.match(cell)]
    data = {
        "id": key,
        "text": text.strip() or "(no text)",
        "link": f"{_WATCH}{videos[0]}" if videos else None,
        "written_at": written,
    }
    return Item("comments", key, present(data))


def _subscription(channel: str, address: str, title: str) -> Item:
    key = digest_key("subscription", channel)
    data = {"id": key, "channel": title.strip() or channel, "link": address}
    return Item("subscriptions", key, data)


def _video(playlist: str, video: str, added: str) -> Item:
    key = digest_key("video", playlist, video, added)
    data = {"id": key, "playlist": playlist, "link": f"{_WATCH}{video}", "added_at": added}
    return Item("playlist_videos", key, data)


def _playlist_name(entry: FileEntry) -> str:
    stem = entry.base.rpartition(".")[0]
    return _PLAYLIST_ENDING.sub("", stem) or stem
