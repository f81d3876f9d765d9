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


def test_a_play_whose_track_was_renamed_is_the_same_play(tmp_path: Path) -> None:
    then = read(SOURCE, put(tmp_path, [spotify.play(1)]))
    renamed = spotify.play(1, master_metadata_track_name="Seven gulls (2027 remaster)")
    assert read(SOURCE, put(tmp_path, [renamed])).keys() == then.keys()


def test_films_of_older_exports_are_plays(tmp_path: Path) -> None:
    put(tmp_path, [spotify.play(1)], "endsong_0.json")
    put(tmp_path, [spotify.play(2)], "endvideo.json")
    assert len(read(SOURCE, tmp_path)) == 2


def test_searches_that_were_spoken_or_are_a_number_are_searches(tmp_path: Path) -> None:
    put(tmp_path, [spotify.play(1)])
    number = {"searchTime": "2026-01-05T08:00:00.000Z[UTC]", "searchQuery": 1979}
    put(tmp_path, [number], "SearchQueries.json")
    spoken = {"voiceSearchQuery": "play sea shanties", "time": "2026-01-06T08:00:00.431Z"}
    put(tmp_path, [spoken, {**spoken, "voiceSearchQuery": ""}], "VoiceInput.json")
    records = read(SOURCE, tmp_path)
    assert [data["query"] for (stream, _), data in records.items() if stream == "searches"] == [
        "1979",
        "play sea shanties",
    ]
    assert [finding.reason for finding in told(SOURCE, tmp_path)] == [
        "a spoken search of which nothing is told but its time"
    ]


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


def test_a_file_of_ones_own_in_a_playlist_has_its_artist_and_title(tmp_path: Path) -> None:
    put(tmp_path, [spotify.play(1)])
    files = ("spotify:local:Harbour+Choir:Sea:Low+tide%3A+dawn:123", "spotify:local:::Demo:9")
    items = [{"track": None, "localTrack": {"uri": uri}} for uri in files]
    put(tmp_path, {"playlists": [{"name": "Mine", "items": items}]}, "Playlist1.json")
    records = read(SOURCE, tmp_path)
    [playlist] = [data for (stream, _), data in records.items() if stream == "playlists"]
    assert playlist["tracks"].splitlines() == ["Harbour Choir – Low tide: dawn", "Demo"]


def test_two_accounts_are_two_and_a_later_export_is_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    nora = put(tmp_path / "a", [spotify.play(number) for number in range(1, 9)])
    ivo = put(tmp_path / "b", [spotify.play(number, ms_played=7) for number in range(9, 20)])
    later = put(tmp_path / "c", [spotify.play(number) for number in range(3, 25)])
    ids = [home.bring(path)["connection"]["connection_id"] for path in (nora, ivo, later)]
    assert ids[0] == ids[2] != ids[1]
