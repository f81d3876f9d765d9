"""Google's timeline, activity and notes: what only these have."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, check_twice, look, read, told, zipped
from tests.sources.samples import every_sample
from tests.sources.samples.google import KEEP, NOTE, WATCHED, cell, page
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.google_activity.source import GoogleActivity
from pdpp.sources.formats.google_keep.source import GoogleKeep
from pdpp.sources.formats.google_timeline.source import GoogleTimeline
from pdpp.sources.formats.takeout_time import read_time
from pdpp.sources.source import ExportRefusal, Recognition

SAMPLES = every_sample()


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_both_phones_write_the_same_stays_and_ways(tmp_path: Path) -> None:
    android = SAMPLES["google_timeline: a phone with Android"].folder(tmp_path / "a")
    iphone = SAMPLES["google_timeline: an iPhone"].folder(tmp_path / "b")
    one, other = read(GoogleTimeline(), android), read(GoogleTimeline(), iphone)
    [stay], [same_stay] = of(one, "visits"), of(other, "visits")
    assert (stay["latitude"], stay["longitude"], stay["minutes"]) == (38.7071, -9.1355, 570.0)
    assert stay["id"] == same_stay["id"]
    assert of(one, "trips") == of(other, "trips")
    assert of(one, "trips")[0]["metres"] == 2710.5
    points = {data["id"] for data in of(one, "points")}
    assert {data["id"] for data in of(other, "points")} < points
    assert [skip.reason for skip in told(GoogleTimeline(), android)] == [
        "a memory of a journey, which Google made of the rest",
        "a raw signal that is no position",
        "places and ways that Google counts as frequent, made of the rest",
    ]


def test_older_positions_have_milliseconds(tmp_path: Path) -> None:
    path = SAMPLES["google_timeline: every position"].folder(tmp_path)
    moments = [data["recorded_at"] for data in of(read(GoogleTimeline(), path), "points")]
    assert moments == ["2022-01-05T08:00:00.123Z", "2020-01-01T00:00:00Z"]


def test_the_account_is_the_one_on_the_overview_of_the_takeout(tmp_path: Path) -> None:
    seen = look(GoogleActivity(), SAMPLES["google_activity: JSON"].folder(tmp_path))
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("nora.lind@gmail.example", True)


@pytest.mark.parametrize(
    ("text", "moment", "floating"),
    [
        ("Jan 5, 2026, 10:15:32\u202fPM CET", "2026-01-05T21:15:32Z", False),
        ("5 janv. 2026, 22:15:32 UTC+2", "2026-01-05T20:15:32Z", False),
        ("05.01.2026, 10:15:32 MEZ", "2026-01-05T09:15:32Z", False),
        ("5 Jan 2026, 00:15:32 IST", "2026-01-05T00:15:32", True),
        ("2026/01/05 10:15:32 JST", "2026-01-05T01:15:32Z", False),
        ("5 de ago. de 2026, 10:15:32 BRT", "2026-08-05T13:15:32Z", False),
        ("Tuesday, 1 November 2022 at 17:04:31 UTC", "2022-11-01T17:04:31Z", False),
        ("Thursday, May 3, 2016 at 12:59:50\u202fAM UTC", "2016-05-03T00:59:50Z", False),
        ("martes, 3 de noviembre de 2020, 17:04:31 UTC", "2020-11-03T17:04:31Z", False),
        ("mardi 3 mars 2020 à 17:04:31 UTC", "2020-03-03T17:04:31Z", False),
        ("Dienstag, 3. März 2020 um 17:04:31 UTC", "2020-03-03T17:04:31Z", False),
        ("2015. február 15., vasárnap 21:54:36 UTC", "2015-02-15T21:54:36Z", False),
        ("wtorek, 3 listopada 2020 17:04:31 UTC", "2020-11-03T17:04:31Z", False),
        ("tiistai 3. marraskuuta 2020 klo 17.04.31 UTC", "2020-11-03T17:04:31Z", False),
        ("úterý 7. července 2020 17:04:31 UTC", "2020-07-07T17:04:31Z", False),
        ("2022年11月1日火曜日 17:04:31 UTC", "2022-11-01T17:04:31Z", False),
        ("2022년 11월 1일 화요일 오후 5:04:31 UTC", "2022-11-01T17:04:31Z", False),
        ("martes, 3 de noviembre de 2020, 5:04:31 p. m. UTC", "2020-11-03T17:04:31Z", False),
        ("2022年11月1日星期二 上午12:04:31 UTC", "2022-11-01T00:04:31Z", False),
        ("2026. 1. 5. 오후 10:15:32 KST", "2026-01-05T13:15:32Z", False),
        ("5. 1. 2026 22:15:32 SEČ", "2026-01-05T21:15:32Z", False),
        ("5 січ. 2026 р., 22:15:32 EET", "2026-01-05T20:15:32Z", False),
        ("5 Ιαν 2026, 10:15:32 μ.μ. EET", "2026-01-05T20:15:32Z", False),
        ("5 בינו׳ 2026, 22:15:32 GMT+2", "2026-01-05T20:15:32Z", False),
        ("05\u200f/01\u200f/2026\u060c 10:15:32 م EET", "2026-01-05T20:15:32Z", False),
        ("22:15:32 5 thg 1, 2026 GMT+7", "2026-01-05T15:15:32Z", False),
        ("5 ian. 2026, 22:15:32 EET", "2026-01-05T20:15:32Z", False),
        ("5 Agu 2026 22.15.32 WIB", "2026-08-05T15:15:32Z", False),
        ("5 Jan 2026, 10:15:32 pm AEDT", "2026-01-05T11:15:32Z", False),
        ("yesterday", None, False),
        ("Jan 55, 2026, 10:15:32 UTC", None, False),
    ],
)
def test_times_of_pages_are_read(text: str, moment: str | None, floating: bool) -> None:
    assert read_time(text) == (moment, floating)


def test_a_page_and_a_list_of_the_same_are_the_same_records(tmp_path: Path) -> None:
    when = "Jan 5, 2026, 9:15:32\u202fAM UTC"
    told_twice = cell(
        "How to splice a hawser in four tucks", when, WATCHED[0]["titleUrl"], "Rope School"
    )
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "watch-history.html").write_bytes(page(told_twice))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "watch-history.json").write_bytes(json_bytes(WATCHED[:1]))
    [shown] = read(GoogleActivity(), tmp_path / "a").values()
    [listed] = read(GoogleActivity(), tmp_path / "b").values()
    assert shown["id"] == listed["id"]
    assert (shown["title"], shown["channel"]) == (listed["title"], listed["channel"])


def test_a_list_is_read_once_where_its_page_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "watch-history.json").write_bytes(json_bytes(WATCHED))
    (tmp_path / "watch-history.html").write_bytes(page(cell("x", "Jan 5, 2026, 9:15:32 AM UTC")))
    seen = look(GoogleActivity(), tmp_path)
    assert isinstance(seen, Recognition)
    assert seen.version == "JSON"


def test_a_list_to_tick_is_text_and_files_become_blobs(tmp_path: Path) -> None:
    path = SAMPLES["google_keep: notes and lists"].folder(tmp_path / "e")
    home = Home(tmp_path / "home")
    home.bring(path)
    old, boat = sorted(of(home.records(), "notes"), key=lambda data: str(data["edited_at"]))
    assert (old["text"], old["title"], old["people"]) == (
        "[x] Rope\n[ ] Tar",
        "[x] Rope [ ] Tar",
        "bo@x.example",
    )
    assert (boat["labels"], boat["pinned"], boat["link"]) == (
        ["harbour"],
        True,
        "https://t.example/",
    )
    [file] = of(home.records(), "attachments")
    assert (file["name"], file["file"]["mime_type"]) == ("pic.jpg", "image/jpeg")


def test_a_note_that_is_cut_is_told_as_a_file_that_is_not_known(tmp_path: Path) -> None:
    sample = SAMPLES["google_keep: notes and lists"]
    cut = {**sample.files, f"{KEEP}/Boat.json": json_bytes(NOTE)[:60]}
    report = Home(tmp_path / "home").bring(sample.folder(tmp_path / "e", cut))
    assert [case["examples"] for case in report["files"]["unknown"]][-1] == [f"{KEEP}/Boat.json"]
    assert "attachments" not in {data for data, _ in read(GoogleKeep(), tmp_path / "e")}


def test_a_whole_takeout_is_one_import(tmp_path: Path) -> None:
    for name in ("google_keep: notes and lists", "google_activity: JSON"):
        SAMPLES[name].folder(tmp_path / "e")
    SAMPLES["google_timeline: every position"].folder(tmp_path / "e")
    report = Home(tmp_path / "home").bring(tmp_path / "e")
    sources = {each["source"]["connector_key"] for each in report["imports"]}
    assert sources == {"google_keep", "google_activity", "google_timeline"}


def test_what_gemini_answered_comes_in_from_a_list_and_from_a_page(tmp_path: Path) -> None:
    asked = {
        "header": "Gemini Apps",
        "title": "Prompted how high is the tide",
        "time": "2026-01-05T09:15:32.123Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": "<p>Four metres.</p><ul><li>At noon</li></ul>"}],
        "subtitles": [{"name": "a.png", "url": "a.png"}, {"name": "b.png", "url": "b.png"}],
        "description": "Two pictures",
    }
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "MyActivity.json").write_bytes(json_bytes([asked]))
    [listed] = read(GoogleActivity(), tmp_path / "a").values()
    details = [line for line in listed["details"].split("\n") if line]
    assert details == ["Four metres.", "- At noon", "Two pictures", "a.png", "b.png"]
    assert "channel" not in listed
    (tmp_path / "b").mkdir()
    when = "Jan 5, 2026, 9:15:32 AM UTC<br><p>Four metres.</p><ul><li>At noon</li></ul>"
    shown = cell("how high is the tide", when).replace("Watched", "Prompted")
    (tmp_path / "b" / "MyActivity.html").write_bytes(page(shown))
    [told_page] = read(GoogleActivity(), tmp_path / "b").values()
    assert told_page["id"] == listed["id"]
    assert told_page["details"].startswith("Four metres.\nAt noon")


def test_files_that_were_given_to_gemini_come_in_and_are_no_documents_besides(
    tmp_path: Path,
) -> None:
    asked = {
        "header": "Gemini Apps",
        "title": "Prompted what is on the chart",
        "time": "2026-01-05T09:15:32.123Z",
        "products": ["Gemini Apps"],
        "subtitles": [
            {"name": "Attached 2 files."},
            {"name": "-  chart of tides.png", "url": "chart%20of%20tides-1e98.png"},
            {"name": "-  depths.rtf", "url": "depths-77.rtf"},
        ],
        "imageFile": "chart of tides-1e98.png",
        "audioFiles": ["said.mp3", "gone.mp3"],
    }
    folder = tmp_path / "e" / "My Activity" / "Gemini Apps"
    folder.mkdir(parents=True)
    (folder / "MyActivity.json").write_bytes(json_bytes([asked]))
    (folder / "chart of tides-1e98.png").write_bytes(b"\x89PNG chart")
    (folder / "depths-77.rtf").write_bytes(b"{\\rtf1 Four metres}")
    (folder / "said.mp3").write_bytes(b"ID3 said")
    held = check_twice(tmp_path / "e", tmp_path)
    [activity] = of(held, "activities")
    files = of(held, "files")
    assert sorted((data["name"], data["file"]["size_bytes"]) for data in files) == [
        ("chart of tides.png", 10),
        ("depths.rtf", 19),
        ("said.mp3", 8),
    ]
    assert {data["activity_id"] for data in files} == {activity["id"]}
    assert {stream for stream, _ in held} == {"activities", "files"}
    assert [skip.reason for skip in told(GoogleActivity(), tmp_path / "e")] == [
        "a file that is not in the export"
    ]
    (folder / "MyActivity.json").unlink()
    when = "Jan 5, 2026, 9:15:32 AM UTC"
    said = 'Attached 1 file.<br><a href="depths-77.rtf">- depths.rtf</a><br>'
    shown = cell("what is on the chart", said + when).replace("Watched", "Prompted")
    (folder / "MyActivity.html").write_bytes(page(shown))
    from_page = read(GoogleActivity(), tmp_path / "e")
    assert [data["name"] for data in of(from_page, "files")] == ["depths-77.rtf"]
    assert "channel" not in of(from_page, "activities")[0]


def test_a_file_that_a_page_links_and_shows_comes_in_once(tmp_path: Path) -> None:
    shown = '<img src="low tide.png"><img src="//host.example/x.png"><a href="javascript:0">x</a>'
    said = f'<a href="low%20tide.png">- low tide.png</a><br>Jan 5, 2026, 9:15:32 AM UTC<br>{shown}'
    (tmp_path / "MyActivity.html").write_bytes(page(cell("what is on it", said)))
    (tmp_path / "low tide.png").write_bytes(b"\x89PNG tide")
    [file] = of(read(GoogleActivity(), tmp_path), "files")
    assert file["name"] == "low tide.png"
    assert told(GoogleActivity(), tmp_path) == []


def test_an_activity_of_another_shape_takes_no_documents_of_an_archive(tmp_path: Path) -> None:
    asked = {
        "header": "Gemini Apps",
        "title": "Prompted what is on the chart",
        "time": "2026-01-05T09:15:32.123Z",
        "products": ["Gemini Apps"],
    }
    odd = [{**asked, "attachedFiles": 5}, {**asked, "subtitles": 5}]
    files = {
        "Takeout/My Activity/Gemini Apps/MyActivity.json": json_bytes([*odd, asked]),
        "Takeout/My Activity/Gemini Apps/chart.png": b"\x89PNG chart",
        "Takeout/Drive/plan.pdf": b"%PDF-1.4 plan",
    }
    report = Home(tmp_path / "home").bring(zipped(tmp_path / "takeout.zip", files))
    found = {each["source"]["connector_key"] for each in report["imports"]}
    assert found == {"documents", "google_activity"}


def test_stays_within_stays_and_points_on_the_way_come_in(tmp_path: Path) -> None:
    def stay(hour: int, name: str) -> dict[str, Any]:
        times = {
            "startTimestamp": f"2022-01-05T{hour:02}:00:00Z",
            "endTimestamp": "2022-01-05T20:00:00Z",
        }
        place = {"latitudeE7": 387071000, "longitudeE7": -91355000, "name": name, "placeId": name}
        return {"location": place, "duration": times}

    point = {"latE7": 387072000, "lngE7": -91356000, "timestamp": "2022-01-05T08:30:00Z"}
    mall = {**stay(8, "Mall"), "childVisits": [stay(9, "Rope shop")]}
    mall["simplifiedRawPath"] = {"points": [point]}
    document = {"timelineObjects": [{"placeVisit": mall}]}
    (tmp_path / "2022_JANUARY.json").write_bytes(json_bytes(document))
    records = read(GoogleTimeline(), tmp_path)
    assert [data["place"] for data in of(records, "visits")] == ["Mall", "Rope shop"]
    assert [data["latitude"] for data in of(records, "points")] == [38.7072]


def test_a_video_that_is_gone_keeps_its_title_and_channel(tmp_path: Path) -> None:
    link = "https://www.youtube.com/watch?v=k"
    gone = {name: value for name, value in WATCHED[0].items() if name != "subtitles"}
    gone |= {"title": f"Watched {link}", "titleUrl": link}
    known = {**gone, "title": "Watched Knots", "subtitles": [{"name": "Sea", "url": "https://s"}]}
    home, path = Home(tmp_path / "data"), tmp_path / "watch-history.json"
    titles = []
    for entry in (gone, known, gone):
        path.write_bytes(json_bytes([entry]))
        home.bring(path, "--account", "nora")
        [data] = of(home.records(), "activities")
        titles.append(data["title"])
    assert titles == [f"Watched {link}", "Watched Knots", "Watched Knots"]


def of_phone(place: str, end: str, level: int = 0) -> dict[str, Any]:
    best = {"placeId": place, "semanticType": "UNKNOWN", "placeLocation": "geo:38.7,-9.1"}
    visit = {"hierarchyLevel": level, "topCandidate": best}
    return {"startTime": "2023-03-30T20:00:00Z", "endTime": f"2023-03-{end}Z", "visit": visit}


def test_a_stay_whose_place_was_corrected_is_there_once(tmp_path: Path) -> None:
    home, path = Home(tmp_path / "data"), tmp_path / "Timeline.json"
    inner = of_phone("kiosk", "30T21:00:00", level=1)
    for place, end in (("bar", "30T22:00:00"), ("cafe", "31T06:00:00")):
        segments = [of_phone(place, end), inner, of_phone("twin", "30T20:10:00")]
        path.write_bytes(json_bytes({"semanticSegments": segments}))
        home.bring(path)
    stays = {data["place_id"]: data["minutes"] for data in of(home.records(), "visits")}
    assert stays == {"cafe": 600.0, "kiosk": 60.0, "twin": 10.0}


def test_what_a_phone_tells_of_a_stay_takes_no_name_or_address_away(tmp_path: Path) -> None:
    def stay(place: str, end: str, *inner: object) -> dict[str, Any]:
        times = {"startTimestamp": "2023-03-30T20:00:00Z", "endTimestamp": f"2023-03-{end}Z"}
        about = {"placeId": place, "name": f"The {place}", "address": "Quay 1"}
        return {"location": about, "duration": times, "childVisits": [*inner]}

    month = stay("cafe", "31T06:00:00", stay("kiosk", "30T21:00:00"))
    phone = [of_phone("cafe", "31T06:00:00"), of_phone("kiosk", "30T21:00:00", level=1)]
    (tmp_path / "2023_MARCH.json").write_bytes(
        json_bytes({"timelineObjects": [{"placeVisit": month}]})
    )
    (tmp_path / "Timeline.json").write_bytes(json_bytes({"semanticSegments": phone}))
    for names in (["2023_MARCH", "Timeline"], ["Timeline", "2023_MARCH", "Timeline"]):
        home = Home(tmp_path / f"data {len(names)}")
        for name in names:
            home.bring(tmp_path / f"{name}.json")
        assert sorted(data["place"] for data in of(home.records(), "visits")) == [
            "The cafe",
            "The kiosk",
        ]


def test_a_position_that_lost_its_sign_has_it(tmp_path: Path) -> None:
    position = {
        "latitudeE7": (1 << 32) - 338_700_000,
        "longitudeE7": (1 << 32) - 584_000_000,
        "timestamp": "2022-01-05T08:00:00Z",
    }
    (tmp_path / "Records.json").write_bytes(json_bytes({"locations": [position]}))
    [data] = of(read(GoogleTimeline(), tmp_path), "points")
    assert (data["latitude"], data["longitude"]) == (-33.87, -58.4)


def test_notes_of_keep_that_a_program_made_at_once_are_all_kept(tmp_path: Path) -> None:
    about = {
        "isTrashed": False,
        "isArchived": False,
        "userEditedTimestampUsec": 1_767_261_600_000_000,
    }
    for name, made in (("a", 1), ("b", 1), ("c", 2)):
        note = {**about, "title": name, "textContent": name, "createdTimestampUsec": made * 10**15}
        (tmp_path / f"{name}.json").write_bytes(json_bytes(note))
    assert len(read(GoogleKeep(), tmp_path)) == 3


def test_a_note_that_was_never_edited_has_the_time_it_was_made(tmp_path: Path) -> None:
    note = {**NOTE, "userEditedTimestampUsec": 0, "attachments": []}
    (tmp_path / "Boat.json").write_bytes(json_bytes(note))
    older = {**note, "createdTimestampUsec": 0}
    (tmp_path / "2014-05-01T12_30_00.123+02_00.json").write_bytes(json_bytes(older))
    (tmp_path / "2014-05-02T12_30_00.123Z.json").write_bytes(json_bytes(older))
    records = read(GoogleKeep(), tmp_path)
    assert sorted(data["edited_at"] for data in records.values()) == [
        "2014-05-01T12:30:00.123+02:00",
        "2014-05-02T12:30:00.123Z",
        "2025-12-29T09:20:00Z",
    ]


COMMENTS = (
    "Kommentar-ID,Kanal-ID,Erstellt,Preis,Eltern,Beitrag,Video-ID,Text,Oberster\n"
    "Ugx1,UCme,2026-01-05T16:00:00.211488+00:00,0,,,aaaaaaaaaaa,"
    '"{""text"":""The mole is missing.""},{""text"":""\\n""},{""text"":""Pity""}",\n'
    "Ugx2,UCme,soon,0,,,aaaaaaaaaaa,,\n"
)


def youtube(folder: Path, name: str, content: str) -> Path:
    path = folder / "Takeout" / "YouTube und YouTube Music" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return folder


def test_comments_subscriptions_and_playlists_of_youtube_come_in(tmp_path: Path) -> None:
    youtube(tmp_path, "Kommentare/Kommentare.csv", COMMENTS)
    address = "http://www.youtube.com/channel/UC1"
    youtube(tmp_path, "Abos/Abos.csv", f"Kanal-ID,Kanal-URL,Kanaltitel\nUC1,{address},Quay\n")
    videos = "Video ID,Playlist Video Creation Timestamp\nbbbbbbbbbbb,2026-01-06T08:00:00+00:00\n"
    youtube(tmp_path, "Playlists/Tides-videos.csv", videos)
    older = "Id,Title\nPL1,Fog\n\nVideo Id,Time Added\nccccccccccc,2021-05-01 12:00:00 UTC\n"
    youtube(tmp_path, "Playlists/Fog.csv", older)
    youtube(tmp_path, "Kanäle/Kanal.csv", "Kanal-ID,Land\nUCme,PT\n")
    records = read(GoogleActivity(), tmp_path)
    kept: dict[str, list[dict[str, Any]]] = {stream: [] for stream, _ in records}
    for (stream, _), data in records.items():
        kept[stream].append({name: value for name, value in data.items() if name != "id"})
    watch = "https://www.youtube.com/watch?v="
    assert kept == {
        "comments": [
            {
                "text": "The mole is missing.\nPity",
                "link": f"{watch}aaaaaaaaaaa",
                "written_at": "2026-01-05T16:00:00.211488Z",
            }
        ],
        "subscriptions": [{"channel": "Quay", "link": address}],
        "playlist_videos": [
            {"playlist": name, "link": f"{watch}{video}", "added_at": added}
            for name, video, added in (
                ("Fog", "ccccccccccc", "2021-05-01T12:00:00Z"),
                ("Tides", "bbbbbbbbbbb", "2026-01-06T08:00:00Z"),
            )
        ],
    }
    assert [finding.reason for finding in told(GoogleActivity(), tmp_path)] == [
        "a row of YouTube that is not known"
    ]


def of_stream(path: Path, stream: str) -> list[dict[str, Any]]:
    records = read(GoogleActivity(), path).items()
    return [data for (name, _), data in records if name == stream]


@pytest.mark.parametrize(
    "header",
    [
        "Video ID,Song Title,Album Title,Artist Name 1,Artist Name 2",
        "影片 ID,Song Title,Album Title,Artist Name 1,Artist Name 2",
        "Song URL,Song Title,Album Title,Artist Names,",
    ],
)
def test_songs_of_the_library_come_in(tmp_path: Path, header: str) -> None:
    id_or_link = "https://music.youtube.com/watch?v={}" if "URL" in header else " {}"
    rows = [
        f"{id_or_link.format('-aaaaaaaaa1')},Low tide,Quay,Nora Lind,Ben Lind",
        f"{id_or_link.format('bbbbbbbbbbb')},Fog,,Nora Lind,",
    ]
    youtube(tmp_path, "music/songs.csv", "\n".join([header, *rows, ""]))
    first, second = of_stream(tmp_path, "songs")
    assert (first["title"], first["artist"]) == ("Low tide", "Nora Lind, Ben Lind")
    assert (first["album"], first["link"]) == (
        "Quay",
        "https://www.youtube.com/watch?v=-aaaaaaaaa1",
    )
    assert "album" not in second


def test_uploaded_songs_and_a_library_by_itself_come_in(tmp_path: Path) -> None:
    path = tmp_path / "music-library-songs.csv"
    path.write_text("Video ID,Song Title,Album Title,Artist Name 1\nbbbbbbbbbbb,Fog,Quay,Nora\n")
    assert [song["title"] for song in of_stream(path, "songs")] == ["Fog"]
    path.unlink()
    uploads = "Song Title,Album Title,Artist Name 1,Duration Seconds\nRope,Quay,Nora,181.5\n"
    youtube(tmp_path, "music/music uploads metadata.csv", uploads)
    [song] = of_stream(tmp_path, "songs")
    assert (song["title"], song["artist"]) == ("Rope", "Nora")


@pytest.mark.parametrize(
    "names",
    [
        (
            "Add new videos to top",
            "Playlist Title (Original)",
            "Playlist Title (Original) Language",
        ),
        ("Pridėti", "Grojaraščio pavadinimas (originalas)", "Pavadinimo (originalo) kalba"),
    ],
)
def test_playlists_and_own_channels_come_in(tmp_path: Path, names: tuple[str, ...]) -> None:
    header = ",".join(
        ["ID", names[0], "Text (Original)", *names[1:], "Made", "Changed", "Way", "x"]
    )
    times = "2024-01-01T08:00:00+00:00,2025-01-01T08:00:00+00:00"
    row = f"PLaaaaaaaaaaaa,False,For foggy days,Fog songs,en,{times},Manual,Private"
    youtube(tmp_path, "playlists/playlists.csv", f"{header}\n{row}\n")
    channel = "UC" + "a" * 22
    own = "ID,Country,Description (Original),Title (Original),Visibility"
    youtube(tmp_path, "channels/channel.csv", f"{own}\n{channel},PT,On ropes,Quay,Public\n")
    settings = f"Channel ID,Channel Vanity URL 1 Name,Other\n{channel},quay,x\n"
    youtube(tmp_path, "channels/channel URL configs.csv", settings)
    texts = "Video ID,Video Description (Original) Segment 1,Video Title (Original) Segment 1\n"
    youtube(tmp_path, "video metadata/video texts.csv", f"{texts}bbbbbbbbbbb,x,y\n")
    [playlist] = of_stream(tmp_path, "playlists")
    assert (playlist["title"], playlist["description"]) == ("Fog songs", "For foggy days")
    assert (playlist["created_at"], playlist["visibility"]) == ("2024-01-01T08:00:00Z", "Private")
    [mine] = of_stream(tmp_path, "channels")
    assert (mine["title"], mine["description"], mine["visibility"]) == (
        "Quay",
        "On ropes",
        "Public",
    )
    assert of_stream(tmp_path, "songs") == []


def test_tables_elsewhere_are_not_of_youtube(tmp_path: Path) -> None:
    (tmp_path / "keys.csv").write_text("Key,When\nbbbbbbbbbbb,2026-01-06T08:00:00+00:00\n")
    assert look(GoogleActivity(), tmp_path) is None


def test_a_point_of_a_path_and_a_position_do_not_replace_each_other(tmp_path: Path) -> None:
    start, end = "2026-01-31T10:00:00.000Z", "2026-01-31T11:00:00.000Z"
    place = {"point": "38.7000000°, -9.1000000°", "time": start}
    more = {"accuracyMeters": 13, "source": "WIFI"}
    signal = {"LatLng": "38.7000000°, -9.1000000°", "timestamp": start, **more}
    document = {
        "semanticSegments": [{"startTime": start, "endTime": end, "timelinePath": [place]}],
        "rawSignals": [{"position": signal}],
    }
    (tmp_path / "Timeline.json").write_bytes(json_bytes(document))
    points = of(read(GoogleTimeline(), tmp_path), "points")
    assert [(data["source"], data.get("accuracy")) for data in points] == [
        ("path", None),
        ("wifi", 13.0),
    ]


def test_a_takeout_with_edits_alone_says_where_the_timeline_is(tmp_path: Path) -> None:
    folder = tmp_path / "Takeout" / "Timeline"
    folder.mkdir(parents=True)
    edits = {"timelineEdits": [{"deviceId": "1", "placeAggregates": {}}]}
    (folder / "Timeline Edits.json").write_bytes(json_bytes(edits))
    (folder / "Settings.json").write_bytes(b"{}")
    refusal = look(GoogleTimeline(), tmp_path)
    assert isinstance(refusal, ExportRefusal)
    assert "Location services, Timeline, Export" in refusal.message


def test_a_timeline_is_known_by_signals_alone_and_by_memories_that_stand_first(
    tmp_path: Path,
) -> None:
    signal = {"LatLng": "38.7°, -9.1°", "timestamp": "2026-01-31T10:00:00.000Z", "source": "GPS"}
    android = tmp_path / "Timeline.json"
    android.write_bytes(json_bytes({"rawSignals": [{"position": signal}]}))
    assert len(read(GoogleTimeline(), android)) == 1
    span = {"startTime": "2026-01-31T10:00:00.000Z", "endTime": "2026-01-31T11:00:00.000Z"}
    memory = {**span, "timelineMemory": {"destinations": [{"identifier": "x"}]}}
    visit = {**span, "visit": {"topCandidate": {"placeLocation": "geo:38.7,-9.1"}}}
    iphone = tmp_path / "location-history.json"
    iphone.write_bytes(json_bytes([*[memory] * 5_000, visit]))
    assert len(read(GoogleTimeline(), iphone)) == 1


def test_a_note_tells_the_titles_of_the_pages_it_shows(tmp_path: Path) -> None:
    page = {"source": "WEBLINK", "title": "Tide tables", "url": "https://t.example/"}
    told_already = {"source": "WEBLINK", "title": "Rope", "url": "https://r.example/"}
    note = {
        "color": "DEFAULT",
        "isTrashed": False,
        "isPinned": False,
        "isArchived": False,
        "textContent": "see https://r.example/",
        "title": "Boat",
        "userEditedTimestampUsec": 1767261600123456,
        "annotations": [page, told_already],
    }
    place = tmp_path / "Takeout" / "Keep" / "Boat.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(json_bytes(note))
    [data] = read(GoogleKeep(), tmp_path).values()
    assert data["text"].split("\n") == [
        "see https://r.example/",
        "Tide tables https://t.example/",
        "Rope",
    ]
