"""Samples of Google's timeline, activity and notes, from phones and from Takeout."""

from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes

OVERVIEW = b"<html><h1>nora.lind@gmail.example</h1></html>"

VISIT = {
    "startTime": "2026-01-05T08:00:00.000+01:00",
    "endTime": "2026-01-05T17:30:00.000+01:00",
    "startTimeTimezoneUtcOffsetMinutes": 60,
    "visit": {
        "hierarchyLevel": 0,
        "probability": 0.9,
        "topCandidate": {
            "placeId": "ChIJ-harbour",
            "semanticType": "INFERRED_WORK",
            "probability": 0.7,
            "placeLocation": {"latLng": "38.7071°, -9.1355°"},
        },
    },
}
TRIP = {
    "startTime": "2026-01-05T17:30:00.000+01:00",
    "endTime": "2026-01-05T18:00:00.000+01:00",
    "activity": {
        "start": {"latLng": "38.7071°, -9.1355°"},
        "end": {"latLng": "38.6860°, -9.1500°"},
        "distanceMeters": 2710.5,
        "topCandidate": {"type": "IN_FERRY", "probability": 0.8},
    },
}
PATH = {
    "startTime": "2026-01-05T17:00:00.000+01:00",
    "endTime": "2026-01-05T19:00:00.000+01:00",
    "timelinePath": [{"point": "38.70°, -9.14°", "time": "2026-01-05T17:31:00.000+01:00"}],
}
MEMORY = {
    "startTime": "2026-01-01T00:00:00.000+01:00",
    "endTime": "2026-01-09T00:00:00.000+01:00",
    "timelineMemory": {"trip": {"distanceFromOriginKms": 12}},
}
SIGNALS = [
    {
        "position": {
            "LatLng": "38.7071°, -9.1355°",
            "accuracyMeters": 13,
            "altitudeMeters": 4.2,
            "source": "WIFI",
            "timestamp": "2026-01-05T09:00:00.000+01:00",
        }
    },
    {"wifiScan": {"deliveryTime": "2026-01-05T09:00:00.000+01:00"}},
]
IPHONE = [
    {
        "startTime": "2026-01-05T08:00:00.000+01:00",
        "endTime": "2026-01-05T17:30:00.000+01:00",
        "visit": {
            "hierarchyLevel": "0",
            "topCandidate": {
                "probability": "0.71",
                "semanticType": "Ropewalk",
                "placeID": "ChIJ-harbour",
                "placeLocation": "geo:38.7071,-9.1355",
            },
            "probability": "0.9",
        },
    },
    {
        "startTime": "2026-01-05T17:30:00.000+01:00",
        "endTime": "2026-01-05T18:00:00.000+01:00",
        "activity": {
            "start": "geo:38.7071,-9.1355",
            "end": "geo:38.6860,-9.1500",
            "distanceMeters": "2710.5",
            "topCandidate": {"type": "in ferry", "probability": "0.8"},
        },
    },
    {
        "startTime": "2026-01-05T17:00:00.000+01:00",
        "endTime": "2026-01-05T19:00:00.000+01:00",
        "timelinePath": [{"point": "geo:38.70,-9.14", "durationMinutesOffsetFromStartTime": "31"}],
    },
]
RECORDS = {
    "locations": [
        {
            "latitudeE7": 387071000,
            "longitudeE7": -91355000,
            "timestamp": "2022-01-05T08:00:00.123Z",
            "accuracy": 20,
            "deviceTag": 1234,
            "source": "Harbourmaster beacon",
        },
        {"latitudeE7": 387071001, "longitudeE7": -91355000, "timestampMs": "1577836800000"},
    ]
}
MONTH = {
    "timelineObjects": [
        {
            "placeVisit": {
                "location": {
                    "latitudeE7": 387071000,
                    "longitudeE7": -91355000,
                    "placeId": "ChIJ-harbour",
                    "name": "Ginjal lighthouse canteen",
                    "address": "Rua da Gaivota 4",
                    "semanticType": "TYPE_WORK",
                },
                "duration": {
                    "startTimestamp": "2022-01-05T08:00:00Z",
                    "endTimestamp": "2022-01-05T17:00:00Z",
                },
            }
        },
        {
            "activitySegment": {
                "startLocation": {"latitudeE7": 387071000, "longitudeE7": -91355000},
                "endLocation": {"latitudeE7": 386860000, "longitudeE7": -91500000},
                "duration": {
                    "startTimestampMs": "1641402000000",
                    "endTimestampMs": "1641403800000",
                },
                "distance": 2710,
                "activityType": "IN_FERRY",
            }
        },
    ]
}


def activity(title: str, second: int, **more: Any) -> dict[str, Any]:
    return {
        "header": "YouTube",
        "title": title,
        "time": f"2026-01-05T09:15:{second:02}.123Z",
        "products": ["YouTube"],
        "activityControls": ["YouTube watch history"],
        **more,
    }


WATCHED = [
    activity(
        "Watched How to splice a hawser in four tucks",
        32,
        titleUrl="https://www.youtube.com/watch?v=abc",
        subtitles=[{"name": "Rope School", "url": "https://www.youtube.com/channel/r"}],
    ),
    activity("Watched a video that has been removed", 31),
    activity("Visited a page", 30, header="Search", details=[{"name": "From Google Ads"}]),
]


def cell(title: str, when: str, link: str = "", channel: str = "") -> str:
    shown = f'<a href="{link}">{title}</a>' if link else title
    told = f'<a href="https://www.youtube.com/channel/r">{channel}</a><br>' if channel else ""
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        '<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">'
        'YouTube<br></p></div><div class="content-cell mdl-cell mdl-cell--6-col '
        f'mdl-typography--body-1">Watched\u00a0{shown}<br>{told}{when}<br></div>'
        '<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 '
        'mdl-typography--text-right"></div><div class="content-cell mdl-cell mdl-cell--12-col '
        'mdl-typography--caption"><b>Products:</b><br>&emsp;YouTube<br></div></div></div>'
    )


def page(*held: str) -> bytes:
    before = '<html><head><title>My Activity</title></head><body><div class="mdl-grid">'
    return f"{before}{''.join(held)}</div></body></html>".encode()


PAGE = page(
    cell(
        "Mending a torn spinnaker by hand",
        "Jan 5, 2026, 10:15:32\u202fAM CET",
        "https://www.youtube.com/watch?v=def",
        "Rope School",
    ),
    cell("Tides", "05.01.2026, 11:15:32 MEZ", "https://www.youtube.com/watch?v=ghi"),
)
NOTE = {
    "color": "DEFAULT",
    "isTrashed": False,
    "isPinned": True,
    "isArchived": False,
    "textContent": "The spare key hangs under the third fender",
    "title": "Boat",
    "userEditedTimestampUsec": 1767261600123456,
    "createdTimestampUsec": 1767000000000000,
    "labels": [{"name": "harbour"}],
    "annotations": [
        {"description": "", "source": "WEBLINK", "title": "T", "url": "https://t.example/"}
    ],
    "attachments": [{"filePath": "pic.jpeg", "mimetype": "image/jpeg"}, {"filePath": "no.jpg"}],
}
OLD_NOTE = {
    "color": "RED",
    "isTrashed": False,
    "isPinned": False,
    "isArchived": True,
    "listContent": [{"text": "Rope", "isChecked": True}, {"text": "Tar", "isChecked": False}],
    "title": "",
    "userEditedTimestampUsec": 1577836800000000,
    "sharees": [{"email": "bo@x.example", "isOwner": False, "type": "WRITER"}],
}
KEEP = "Takeout/Keep"

SAMPLES = (
    FormatSample(
        "google_timeline",
        "a phone with Android",
        {
            "Timeline.json": json_bytes(
                {
                    "semanticSegments": [VISIT, TRIP, PATH, MEMORY],
                    "rawSignals": SIGNALS,
                    "userLocationProfile": {"frequentPlaces": []},
                }
            )
        },
        words="trip on the ferry",
        sentence="On a ferry",
        units={
            "segment": ["JSON objects at semanticSegments.item"],
            "signal": ["JSON objects at rawSignals.item"],
        },
        earlier={"Timeline.json": json_bytes({"semanticSegments": [VISIT]})},
        cut="Timeline.json",
        renamed={"Timeline.json": "Zeitachse (1).json"},
    ),
    FormatSample(
        "google_timeline",
        "an iPhone",
        {"location-history.json": json_bytes(IPHONE)},
        words="ropewalk",
        sentence="ropewalk",
        units={"segment": ["JSON objects at item"]},
        earlier={"location-history.json": json_bytes(IPHONE[:1])},
        cut="location-history.json",
    ),
    FormatSample(
        "google_timeline",
        "Takeout before 2024",
        {
            "Takeout/archive_browser.html": OVERVIEW,
            "Takeout/Location History/Semantic Location History/2022/2022_JANUARY.json": json_bytes(
                MONTH
            ),
        },
        words="Ginjal lighthouse canteen",
        sentence="Ginjal lighthouse canteen",
        units={"segment": ["JSON objects at timelineObjects.item"]},
    ),
    FormatSample(
        "google_timeline",
        "every position",
        {"Takeout/Location History/Records.json": json_bytes(RECORDS)},
        words="Harbourmaster beacon",
        sentence="harbourmaster beacon",
        units={"location": ["JSON objects at locations.item"]},
        cut="Takeout/Location History/Records.json",
    ),
    FormatSample(
        "google_activity",
        "JSON",
        {
            "Takeout/YouTube and YouTube Music/history/watch-history.json": json_bytes(WATCHED),
            "Takeout/archive_browser.html": OVERVIEW,
        },
        words="splice hawser four tucks",
        sentence="Watched How to splice a hawser in four tucks",
        units={"activity": ["JSON objects at item"]},
        earlier={
            "Takeout/YouTube and YouTube Music/history/watch-history.json": json_bytes(WATCHED[:1]),
            "Takeout/archive_browser.html": OVERVIEW,
        },
        cut="Takeout/YouTube and YouTube Music/history/watch-history.json",
    ),
    FormatSample(
        "google_activity",
        "web pages",
        {"Takeout/My Activity/YouTube/MyActivity.html": PAGE},
        words="mending torn spinnaker",
        sentence="Mending a torn spinnaker by hand",
        units={"activity": ["cells of activities"]},
        cut="Takeout/My Activity/YouTube/MyActivity.html",
        torn=1,
    ),
    FormatSample(
        "google_keep",
        "notes and lists",
        {
            f"{KEEP}/Boat.json": json_bytes(NOTE),
            f"{KEEP}/Boat.html": b"<html>Boat</html>",
            f"{KEEP}/pic.jpg": b"\xff\xd8\xff\xe0 fender",
            f"{KEEP}/2020-01-01T00_00_00.000+01_00.json": json_bytes(OLD_NOTE),
            f"{KEEP}/Labels.txt": b"harbour\n",
        },
        cut="Takeout/Keep/Boat.json",
        words="spare key third fender",
        sentence="The spare key hangs under the third fender",
        units={"note": ["JSON objects at the top"]},
        earlier={f"{KEEP}/Boat.json": json_bytes({**NOTE, "textContent": "Nothing yet"})},
    ),
)
