"""YouTube's tables in a Takeout: comments, subscriptions, playlists, songs and channels.

Names of files and columns follow the language of the account. What a row holds does not: a comment
has its text as JSON, a subscription the address of a channel, a video of a playlist an id and a
time, a playlist its own id and two times, and a song the id of a video and no time.
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
_OWN_CHANNEL = re.compile(r"UC[\w-]{22}\Z")
_PLAYLIST = re.compile(r"(?:PL|OLAK5uy_|RD|FL|UU)[\w-]{10,64}\Z|(?:WL|LL|LM)\Z")
_VIDEO = re.compile(r"[\w-]{11}\Z")
_SONG = re.compile(r"(?:https?://[\w.]{1,20}youtube\.com/watch\?v=)?([\w-]{11})(?:&.*)?\Z")
_ORIGINAL = re.compile(r"[(（]\s*origin[^)）]*[)）]\s*(.*)", re.IGNORECASE)
"""Stands in the names of columns with the words of the account's owner; of the language of these,
or of pieces of a long text, more stands behind it."""
_LENGTH = "Duration Seconds"
_WATCH = "https://www.youtube.com/watch?v="
_LAST_HEADER_LINE = 12
"""Playlists before 2022 tell about themselves, and list their videos below an empty line."""
_PLAYLIST_ENDING = re.compile(r"[- ]+(?:videos?|vídeos?|vidéos?|video's|video)\Z", re.IGNORECASE)


def is_youtube_table(entry: FileEntry) -> bool:
    """Tell whether the first row of a table is one of those that are known."""
    table = _table(entry)
    first = next(iter(rows(entry, table)), None) if table else None
    return (
        table is not None
        and isinstance(first, Row)
        and _item(entry, table.header, first.cells) is not None
    )


def read_youtube_table(entry: FileEntry) -> Iterator[Finding]:
    """Yield what the rows of a table hold."""
    table = _table(entry)
    if table is None:
        return
    for row in rows(entry, table):
        if isinstance(row, Skipped):
            yield row
        else:
            where = f"{entry.name} line {row.line:,}"
            yield from account(_row(entry, table.header, row.cells, where), where, "row")


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


def _row(
    entry: FileEntry, columns: Sequence[str], cells: Sequence[str], where: str
) -> Iterator[Finding]:
    yield _item(entry, columns, cells) or Unknown("a row of YouTube that is not known", where)


def _item(entry: FileEntry, columns: Sequence[str], cells: Sequence[str]) -> Item | None:
    texts = [text for cell in cells if (text := _spoken(cell)) is not None]
    times = [time for cell in cells if (time := utc_text(cell)) is not None]
    first = cells[0].strip()
    own_words = _own_words(columns, cells)
    if texts and times:
        return _comment(cells, texts[-1], times[0])
    if len(cells) == len(("id", "address", "title")) and _CHANNEL.match(cells[1]):
        return _subscription(*cells)
    if len(cells) == len(("id", "time")) and times and _VIDEO.match(first):
        return _video(_playlist_name(entry), first, times[0])
    if len(times) > 1 and _PLAYLIST.match(first):
        return _playlist(first, columns, cells)
    if own_words and not times and _OWN_CHANNEL.match(first):
        return _channel(first, own_words, cells[-1])
    if times or any(map(_ORIGINAL.search, columns)) or len(cells) < len(("id", "title", "album")):
        return None
    if video := _SONG.match(first):
        return _song(video[1], *cells[1:])
    return _song("", *cells[:-1]) if columns[-1].strip() == _LENGTH else None


def _own_words(columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Return the cells of a row that the owner of the account wrote."""
    found = ((_ORIGINAL.search(name), cell) for name, cell in zip(columns, cells, strict=False))
    return [cell for match, cell in found if match and not match[1]]


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


def _song(video: str, title: str, album: str = "", *artists: str) -> Item:
    artist = ", ".join(dict.fromkeys(filter(None, map(str.strip, artists))))
    key = digest_key("song", video) if video else digest_key("upload", title, album, artist)
    data = {
        "id": key,
        "title": title.strip() or video or "(no title)",
        "artist": artist,
        "album": album.strip(),
        "link": f"{_WATCH}{video}" if video else None,
    }
    return Item("songs", key, present(data, ""))


def _playlist(playlist: str, columns: Sequence[str], cells: Sequence[str]) -> Item:
    """Return a playlist: its title and the language of that stand before the last two times."""
    times = [number for number, cell in enumerate(cells) if utc_text(cell) is not None][-2:]
    title = max(1, times[0] - 2)
    told = _own_words(columns[1:title], cells[1:title])
    key = digest_key("playlist", playlist)
    data = {
        "id": key,
        "title": cells[title].strip() or playlist,
        "description": told[0].strip() if told else None,
        "visibility": cells[-1].strip(),
        "link": f"https://www.youtube.com/playlist?list={playlist}",
        "created_at": utc_text(cells[times[0]]),
        "updated_at": utc_text(cells[times[1]]),
    }
    return Item("playlists", key, present(data, ""))


def _channel(channel: str, own_words: Sequence[str], visibility: str) -> Item:
    """Return a channel of the owner: a description, if there is one, stands before its title."""
    key = digest_key("channel", channel)
    data = {
        "id": key,
        "title": own_words[-1].strip() or channel,
        "description": "\n".join(filter(None, own_words[:-1])),
        "visibility": visibility.strip(),
        "link": f"https://www.youtube.com/channel/{channel}",
    }
    return Item("channels", key, present(data, ""))


def _playlist_name(entry: FileEntry) -> str:
    stem = entry.base.rpartition(".")[0]
    return _PLAYLIST_ENDING.sub("", stem) or stem
