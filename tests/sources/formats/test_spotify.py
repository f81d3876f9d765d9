"""What is particular to the exports of Spotify."""

from pathlib import Path
from typing import Any

from tests.sources.kit import Home, read, told
from tests.sources.samples import spotify
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.spotify.source import Spotify

SOURCE = Spotify()


def put(folder: Path, rows: Any, name: str = "Streaming_History_Audio_2025.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(json_bytes(rows))
    return path


def test_tracks_episodes_chapters_and_films_are_plays(tmp_path: Path) -> None:
    rows = [spotify.play(1), spotify.EPISODE, spotify.CHAPTER]
    plays = list(read(SOURCE, put(tmp_path, rows)).values())
    assert [(play["kind"], play["title"], play["artist"]) for play in plays] == [
        ("track", "Seven gulls above Almada", "Harbour Choir"),
        ("episode", "How a lighthouse keeps time", "Harbour Talk"),
        ("audiobook", "Chapter 3", "The Keeper"),
    ]
    assert plays[0]["seconds_played"] == 180.001
    assert plays[0]["ended_at"] == "2025-03-01T10:00:00Z"
    assert "ip_addr" not in plays[0]


def test_a_row_that_stands_twice_is_one_play(tmp_path: Path) -> None:
    path = put(tmp_path, [spotify.play(1), spotify.play(1), spotify.play(2)])
    assert len(read(SOURCE, path)) == 2
    assert [finding.reason for finding in told(SOURCE, path)] == ["a play that stands twice"]


def test_a_row_without_a_name_or_a_time_is_told(tmp_path: Path) -> None:
    nameless = spotify.play(
        1, master_metadata_track_name=None, spotify_track_uri=None, platform=None
    )
    path = put(tmp_path, [nameless, spotify.play(2, ts="soon"), spotify.play(3, ms_played=-1)])
    assert [finding.reason for finding in told(SOURCE, path)] == [
        "a play of which nothing is told but its time",
        "a play without a time or a length",
        "a play without a time or a length",
    ]


def test_the_account_data_brings_playlists_the_library_and_searches(tmp_path: Path) -> None:
    folder = spotify.SAMPLES[2].folder(tmp_path)
    records = read(SOURCE, folder)
    [playlist] = [data for (stream, _), data in records.items() if stream == "playlists"]
    assert playlist["tracks"].splitlines() == [
        "Harbour Choir – Seven gulls above Almada",
        "Harbour Talk – Fog",
    ]
    kinds = sorted(data["kind"] for (stream, _), data in records.items() if stream == "library")
    assert kinds == ["album", "artist", "show", "track"]
    [search] = [data for (stream, _), data in records.items() if stream == "searches"]
    assert search["searched_at"] == "2025-03-02T09:00:00.123Z"


def test_two_accounts_are_two_and_a_later_export_is_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    nora = put(tmp_path / "a", [spotify.play(number) for number in range(1, 9)])
    ivo = put(tmp_path / "b", [spotify.play(number, ms_played=7) for number in range(9, 20)])
    later = put(tmp_path / "c", [spotify.play(number) for number in range(3, 25)])
    ids = [home.bring(path)["connection"]["connection_id"] for path in (nora, ivo, later)]
    assert ids[0] == ids[2] != ids[1]
