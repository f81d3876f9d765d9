"""Rows: how plays, playlists, saved things and searches of Spotify become records."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any
from urllib.parse import unquote_plus

from pdpp.sources.formats.spotify.reasons import reason_words
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import SeenKeys, digest_key
from pdpp.sources.reading.shapes import odd_among, odd_members
from pdpp.sources.reading.times import moment_text

_TITLES = (
    ("master_metadata_track_name", "master_metadata_album_artist_name", "track"),
    ("episode_name", "episode_show_name", "episode"),
    ("audiobook_chapter_title", "audiobook_title", "audiobook"),
)
_TITLE_KINDS = {name: str for *names, _ in _TITLES for name in names}
_RECENT_KINDS = (("podcastName", "episode"), ("audiobookName", "audiobook"))
_URIS = ("spotify_track_uri", "spotify_episode_uri", "audiobook_chapter_uri")
_LOCAL = re.compile(r"spotify:local:([^:]*):[^:]*:([^:]+)")
"""A file of the listener's own, which is told as an address: artist, album, title, length."""
_TWICE = "a play that stands twice"
_MOST_ENTRIES = 20_000
_LONGEST_PLAY = 7 * 86_400_000


def _text(row: Mapping[str, object], *names: str) -> str | None:
    for name in names:
        if isinstance(value := row.get(name), str) and value:
            return value
    return None


def _flag(row: Mapping[str, object], name: str) -> bool | None:
    return value if isinstance(value := row.get(name), bool) else None


def _seconds(value: object) -> float | None:
    """Return milliseconds as seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / 1_000 if 0 <= value <= _LONGEST_PLAY else None


def read_play(seen: SeenKeys, row: Any, where: str) -> Iterator[Finding]:
    """Yield a play of the extended history; its time is that of its end."""
    ended, seconds = moment_text(row["ts"]), _seconds(row["ms_played"])
    if ended is None or seconds is None:
        yield Unknown("a play without a time or a length", where)
        return
    title, artist, kind = None, None, "video"
    for name, performer, title_kind in _TITLES:
        if title is None and (title := _text(row, name)):
            artist, kind = _text(row, performer), title_kind
    uri, platform = _text(row, *_URIS), _text(row, "platform")
    if title is None and uri is None:
        yield Skipped("a play of which nothing is told but its time", where)
        return
    # Artists rename their works, and an export tells the names of its own day.
    key = digest_key(ended, str(row["ms_played"]), uri or title or "", platform or "")
    if not seen.first(key):
        yield Skipped(_TWICE, where)
        return
    data = {
        "id": key,
        "title": title or uri,
        "artist": artist,
        "album": _text(row, "master_metadata_album_album_name"),
        "kind": kind,
        "ended_at": ended,
        "seconds_played": seconds,
        "skipped": _flag(row, "skipped"),
        "shuffle": _flag(row, "shuffle"),
        "offline": _flag(row, "offline"),
        "incognito": _flag(row, "incognito_mode"),
        "reason_start": reason_words(_text(row, "reason_start")),
        "reason_end": reason_words(_text(row, "reason_end"), trackdone="played to the end"),
        "platform": platform,
        "country": _text(row, "conn_country"),
        "uri": uri,
    }
    yield Item("plays", key, present(data))
    yield from odd_among(row, where, _TITLE_KINDS)


def read_recent_play(seen: SeenKeys, row: Any, where: str) -> Iterator[Finding]:
    """Yield a play of the account data, which tells minutes in UTC."""
    ended = moment_text(f"{row['endTime'].replace(' ', 'T')}:00Z")
    seconds = _seconds(row["msPlayed"])
    title = _text(row, "trackName", "episodeName", "chapterName", "audiobookName")
    book = "audiobookName" if "chapterName" in row else "authorName"
    artist = _text(row, "artistName", "podcastName", book)
    if ended is None or seconds is None or title is None:
        yield Unknown("a play without a name, a time or a length", where)
        return
    key = digest_key("recent", ended, str(row["msPlayed"]), title, artist or "")
    if not seen.first(key):
        yield Skipped(_TWICE, where)
        return
    data = {
        "id": key,
        "title": title,
        "artist": artist,
        "kind": next((kind for name, kind in _RECENT_KINDS if name in row), "track"),
        "ended_at": ended,
        "seconds_played": seconds,
    }
    yield Item("recent_plays", key, present(data))


def read_search(seen: SeenKeys, row: Any, where: str) -> Iterator[Finding]:
    """Yield a search."""
    when = moment_text(row["searchTime"].removesuffix("[UTC]"))
    query = row.get("searchQuery")
    yield from _search(seen, row, when, str(query) if type(query) is int else query, where)


def read_spoken_search(seen: SeenKeys, row: Any, where: str) -> Iterator[Finding]:
    """Yield a search that was spoken; of most only the time is told."""
    query = _text(row, "voiceSearchQuery")
    if query is None:
        yield Skipped("a spoken search of which nothing is told but its time", where)
        return
    yield from _search(seen, row, moment_text(row["time"]), query, where)


def _search(
    seen: SeenKeys, row: Any, when: str | None, query: object, where: str
) -> Iterator[Finding]:
    if when is None or not isinstance(query, str) or not query:
        yield Unknown("a search without words or a time", where)
        return
    key = digest_key("search", when, query)
    if not seen.first(key):
        yield Skipped("a search that stands twice", where)
        return
    data = {"id": key, "query": query, "searched_at": when, "platform": _text(row, "platform")}
    yield Item("searches", key, present(data))


def read_playlist(seen: SeenKeys, row: Any, where: str) -> Iterator[Finding]:
    """Yield a playlist; it has no id, so that those of one name are numbered."""
    name, entries = str(row["name"]), list(row["items"])
    lines = [line for entry in entries[:_MOST_ENTRIES] if (line := _entry(entry))]
    number = 1
    while not seen.first(f"playlist {name} {number}"):
        number += 1
    key = digest_key("playlist", name, str(number))
    followers = row.get("numberOfFollowers")
    data = {
        "id": key,
        "name": name or "(no name)",
        "description": _text(row, "description"),
        "modified_on": _day(row.get("lastModifiedDate")),
        "entries": len(entries),
        "followers": followers if type(followers) is int else None,
        "tracks": "\n".join(lines),
    }
    yield Item("playlists", key, present(data))
    yield from odd_members(row, where, description=str)
    if len(lines) < len(entries):
        yield Skipped("entries of a playlist without a name", where)


def _entry(entry: object) -> str:
    """Return an entry of a playlist as a line."""
    for kind in ("track", "episode", "audiobook", "localTrack"):
        inner = entry.get(kind) if isinstance(entry, dict) else None
        if isinstance(inner, dict):
            title = _text(inner, "trackName", "episodeName", "audiobookName", "name", "uri")
            artist = _text(inner, "artistName", "showName", "author")
            if title and (local := _LOCAL.match(title)):
                artist, title = (unquote_plus(part) for part in local.groups())
            return f"{artist} – {title}" if artist and title else title or ""
    return ""


def read_saved(part: str, seen: SeenKeys, row: Any, where: str) -> Iterator[Finding]:
    """Yield something that was saved."""
    entry = {"name": row} if isinstance(row, str) else row
    name = _text(entry, "album" if part == "albums" else "track", "name", "album", "uri")
    if name is None:
        yield Unknown("a saved entry without a name", where)
        return
    artist, uri = _text(entry, "artist", "publisher", "show"), _text(entry, "uri")
    key = digest_key("saved", part, uri or f"{name}\n{artist}")
    if not seen.first(key):
        yield Skipped("a saved entry that stands twice", where)
        return
    data = {
        "id": key,
        "name": name,
        "kind": part.removesuffix("s"),
        "artist": artist,
        "album": _text(entry, "album") if part == "tracks" else None,
        "uri": uri,
    }
    yield Item("library", key, present(data))
    yield from odd_members(entry, where, artist=str, publisher=str, show=str, album=str)


def _day(text: Any) -> str | None:
    try:
        return date.fromisoformat(text).isoformat()
    except (TypeError, ValueError):
        return None
