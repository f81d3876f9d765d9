"""Exports of Spotify: the extended history of today and of before, and the account data."""

import json
from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes


def play(number: int, **changes: Any) -> dict[str, Any]:
    """Return a play of the extended history."""
    return {
        "ts": f"2025-03-{number:02}T10:00:00Z",
        "platform": "ios",
        "ms_played": 180_000 + number,
        "conn_country": "PT",
        "ip_addr": "192.0.2.7",
        "master_metadata_track_name": "Seven gulls above Almada",
        "master_metadata_album_artist_name": "Harbour Choir",
        "master_metadata_album_album_name": "Low Water",
        "spotify_track_uri": f"spotify:track:{number:022}",
        "episode_name": None,
        "episode_show_name": None,
        "spotify_episode_uri": None,
        "audiobook_title": None,
        "audiobook_uri": None,
        "audiobook_chapter_uri": None,
        "audiobook_chapter_title": None,
        "reason_start": "trackdone",
        "reason_end": "trackdone",
        "shuffle": False,
        "skipped": False,
        "offline": False,
        "offline_timestamp": 1_740_000_000,
        "incognito_mode": False,
        **changes,
    }


EPISODE = play(
    5,
    master_metadata_track_name=None,
    master_metadata_album_artist_name=None,
    master_metadata_album_album_name=None,
    spotify_track_uri=None,
    episode_name="How a lighthouse keeps time",
    episode_show_name="Harbour Talk",
    spotify_episode_uri="spotify:episode:1",
)
CHAPTER = play(
    6,
    master_metadata_track_name=None,
    master_metadata_album_artist_name=None,
    master_metadata_album_album_name=None,
    spotify_track_uri=None,
    audiobook_title="The Keeper",
    audiobook_chapter_title="Chapter 3",
    audiobook_chapter_uri="spotify:chapter:3",
)
FILM = play(7, spotify_track_uri="spotify:track:film", reason_end="endplay", skipped=True)
FOLDER = "Spotify Extended Streaming History"


def extended(*plays: dict[str, Any], video: bool = True) -> dict[str, bytes]:
    """Return the files of an extended history."""
    files = {
        f"{FOLDER}/Streaming_History_Audio_2024-2025_0.json": json_bytes(plays),
        f"{FOLDER}/ReadMeFirst_ExtendedStreamingHistory.pdf": b"%PDF",
    }
    if video:
        files[f"{FOLDER}/Streaming_History_Video_2025.json"] = json_bytes([FILM])
    return files


def old_play(number: int) -> dict[str, Any]:
    """Return a play as it was written before 2023, with the name of the account."""
    made = {"username": "nora84", "user_agent_decrypted": "unknown", **play(number)}
    return {name: value for name, value in made.items() if not name.startswith("audiobook")}


def recent(number: int, track: str = "Seven gulls above Almada") -> dict[str, Any]:
    """Return a play of the account data."""
    return {
        "endTime": f"2025-03-{number:02} 10:00",
        "artistName": "Harbour Choir",
        "trackName": track,
        "msPlayed": 180_000 + number,
    }


PLAYLISTS = {
    "playlists": [
        {
            "name": "For the ferry",
            "lastModifiedDate": "2025-03-04",
            "description": "Songs that last one crossing",
            "numberOfFollowers": 2,
            "items": [
                {
                    "track": {
                        "trackName": "Seven gulls above Almada",
                        "artistName": "Harbour Choir",
                        "albumName": "Low Water",
                        "trackUri": "spotify:track:1",
                    },
                    "episode": None,
                    "localTrack": None,
                    "addedDate": "2025-03-01",
                },
                {"track": None, "episode": {"episodeName": "Fog", "showName": "Harbour Talk"}},
            ],
        }
    ]
}
LIBRARY = {
    "tracks": [
        {"artist": "Harbour Choir", "album": "Low Water", "track": "Low water", "uri": "u:1"}
    ],
    "albums": [{"artist": "Harbour Choir", "album": "Low Water", "uri": "u:2"}],
    "shows": [{"name": "Harbour Talk", "publisher": "Radio Cais", "uri": "u:3"}],
    "episodes": [],
    "bannedTracks": [],
    "artists": [{"name": "Harbour Choir", "uri": "u:4"}],
    "bannedArtists": [],
    "other": [],
}
SEARCHES = [
    {
        "platform": "IPHONE",
        "searchTime": "2025-03-02T09:00:00.123Z[UTC]",
        "searchQuery": "harbour",
        "searchInteractionURIs": [],
    }
]
ACCOUNT = {
    "Spotify Account Data/StreamingHistory_music_0.json": json_bytes(
        [recent(1), recent(2), recent(2), recent(3, "Low water")]
    ),
    "Spotify Account Data/StreamingHistory_podcast_0.json": json_bytes(
        [
            {
                "endTime": "2025-03-05 10:00",
                "podcastName": "Harbour Talk",
                "episodeName": "Fog",
                "msPlayed": 5,
            }
        ]
    ),
    "Spotify Account Data/Playlist1.json": json_bytes(PLAYLISTS),
    "Spotify Account Data/YourLibrary.json": json_bytes(LIBRARY),
    "Spotify Account Data/SearchQueries.json": json_bytes(SEARCHES),
    "Spotify Account Data/Userdata.json": json_bytes({"username": "nora84", "country": "PT"}),
    "Spotify Account Data/Payments.json": json.dumps({}).encode(),
}

SAMPLES = (
    FormatSample(
        "spotify",
        "the extended history",
        extended(play(1), play(2), play(3), EPISODE, CHAPTER),
        words='"How a lighthouse keeps time"',
        sentence="How a lighthouse keeps time",
        units={"play": ["JSON objects at item"]},
        earlier=extended(play(1), play(2), video=False),
        cut=f"{FOLDER}/Streaming_History_Audio_2024-2025_0.json",
        renamed={
            f"{FOLDER}/Streaming_History_Audio_2024-2025_0.json": "Streaming_History (1).json"
        },
    ),
    FormatSample(
        "spotify",
        "the extended history of before 2023",
        {"MyData/endsong_0.json": json_bytes([old_play(number) for number in range(1, 6)])},
        words="seven gulls above Almada",
        sentence="Seven gulls above Almada",
        units={"play": ["JSON objects at item"]},
        earlier={"MyData/endsong_0.json": json_bytes([old_play(1), old_play(2)])},
        cut="MyData/endsong_0.json",
        renamed={"MyData/endsong_0.json": "MyData/endsong_7.json"},
    ),
    FormatSample(
        "spotify",
        "the account data",
        ACCOUNT,
        words="songs that last one crossing",
        sentence="Songs that last one crossing",
        cut="Spotify Account Data/StreamingHistory_music_0.json",
    ),
)
