"""GPX files of a watch and of a program for hiking."""

from tests.sources.samples.sample import FormatSample

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="Watch 7"'
    ' xmlns="http://www.topografix.com/GPX/1/1">\n<metadata><name>All</name></metadata>\n'
)
HIKE = (
    "<trk><name>Cabo Espichel</name><desc>Dinosaur prints on the cliff below the chapel</desc>"
    "<type>hiking</type><trkseg>\n"
    '<trkpt lat="38.40" lon="-9.20"><ele>100</ele><time>2026-01-05T08:00:00Z</time></trkpt>\n'
    '<trkpt lat="38.41" lon="-9.20"><ele>150</ele><time>2026-01-05T08:20:00Z</time></trkpt>\n'
    "</trkseg><trkseg>\n"
    '<trkpt lat="38.50" lon="-9.20"><ele>120</ele><time>2026-01-05T09:00:00Z</time></trkpt>\n'
    '<trkpt lat="38.51" lon="-9.20"><ele>119</ele><time>2026-01-05T09:20:00Z</time></trkpt>\n'
    "</trkseg></trk>\n"
)
ROUTE = (
    '<rte><name>To the beach</name><rtept lat="38.4" lon="-9.2"/><rtept lat="38.4" lon="-9.1"/>'
    "</rte>\n"
)
WELL = (
    '<wpt lat="38.4" lon="-9.2"><ele>90.5</ele><time>2026-01-05T07:00:00Z</time><name>Well</name>'
    "<cmt>Drinkable</cmt><sym>Water</sym></wpt>\n"
)


def gpx(*elements: str) -> bytes:
    """Return a document."""
    return (_HEAD + "".join(elements) + "</gpx>\n").encode()


SAMPLES = (
    FormatSample(
        "gpx",
        "tracks, a route and a place",
        {"hike.gpx": gpx(WELL, HIKE), "beach.gpx": gpx(ROUTE)},
        words='"Dinosaur prints on the cliff"',
        sentence="Dinosaur prints on the cliff below the chapel",
        units={
            "track": ["XML elements trk"],
            "route": ["XML elements rte"],
            "waypoint": ["XML elements wpt"],
        },
        earlier={"hike.gpx": gpx(WELL, HIKE)},
        cut="hike.gpx",
        renamed={"hike.gpx": "hike (1).gpx"},
    ),
)
