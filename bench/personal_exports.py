"""Personal exports: what people measure, hear, write and pay, as files of any size.

``python -m bench.personal_exports FOLDER MEGABYTES`` writes a health export of about that size.
"""

import gzip
import json
import sqlite3
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import MappingProxyType

from bench.world import prose

_START = datetime(2025, 1, 1, tzinfo=UTC)
_KINDS = (
    ("HeartRate", "count/min", "Nora’s Watch"),
    ("StepCount", "count", "Nora’s iPhone"),
    ("ActiveEnergyBurned", "kcal", "Nora’s Watch"),
    ("DistanceWalkingRunning", "km", "Nora’s iPhone"),
)
_DEVICE = (
    "&lt;&lt;HKDevice: 0x283e0c0&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch,"
    " hardware:Watch6,1, software:10.1&gt;"
)
_RECORD_BYTES = 465


def apple_health(folder: Path, count: int) -> Path:
    """Write a document of measurements, one every few seconds."""

    def records() -> Iterator[str]:
        for number in range(count):
            kind, unit, source = _KINDS[number % 4]
            when = f"{_START + timedelta(seconds=7 * number):%Y-%m-%d %H:%M:%S} +0100"
            yield (
                f' <Record type="HKQuantityTypeIdentifier{kind}" sourceName="{source}"'
                f' sourceVersion="10.1" device="{_DEVICE}" unit="{unit}" creationDate="{when}"'
                f' startDate="{when}" endDate="{when}" value="{50 + number % 90}">\n'
                '  <MetadataEntry key="HKMetadataKeyHeartRateMotionContext" value="1"/>\n'
                " </Record>\n"
            )

    path = folder / "export.xml"
    with path.open("w") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_GB">\n')
        file.write(' <ExportDate value="2026-01-31 10:00:00 +0100"/>\n')
        file.writelines(records())
        file.write("</HealthData>\n")
    return path


def spotify(folder: Path, count: int) -> Path:
    """Write an extended history."""

    def plays() -> Iterator[dict[str, object]]:
        for number in range(count):
            yield {
                "ts": f"{_START + timedelta(seconds=200 * number):%Y-%m-%dT%H:%M:%SZ}",
                "platform": "ios",
                "ms_played": 180_000 + number,
                "conn_country": "PT",
                "ip_addr": "192.0.2.7",
                "master_metadata_track_name": f"Song {number % 900}",
                "master_metadata_album_artist_name": f"Choir {number % 90}",
                "master_metadata_album_album_name": f"Album {number % 300}",
                "spotify_track_uri": f"spotify:track:{number % 900:022}",
                "reason_start": "trackdone",
                "reason_end": "trackdone",
                "shuffle": False,
                "skipped": False,
                "offline": False,
                "incognito_mode": False,
            }

    path = folder / "Streaming_History_Audio_2025_0.json"
    path.write_text(json.dumps(list(plays()), indent=1))
    return path


def evernote(folder: Path, count: int) -> Path:
    """Write a notebook."""
    path = folder / "Notebook.enex"
    with path.open("w") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<en-export application="Evernote">\n')
        for number in range(count):
            text = prose(Random(f"note {number}"), 60)
            made = f"{_START + timedelta(minutes=number):%Y%m%dT%H%M%SZ}"
            file.write(
                f"<note><title>Note {number}</title><created>{made}</created><content>"
                f"<![CDATA[<en-note><div>{text}</div></en-note>]]></content></note>\n"
            )
        file.write("</en-export>\n")
    return path


def notion(folder: Path, count: int) -> Path:
    """Write pages as Markdown."""
    place = folder / "Export"
    place.mkdir(parents=True)
    for number in range(count):
        text = prose(Random(f"page {number}"), 60)
        page = f"# Page {number}\n\nCreated: January 5, 2026 10:30 AM\nTags: a, b\n\n{text}\n"
        (place / f"Page {number} {number:032x}.md").write_text(page)
    return place


def bank_statement(folder: Path, count: int) -> Path:
    """Write a statement as CAMT.053."""
    path = folder / "statement.xml"
    with path.open("w") as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech'
            ':xsd:camt.053.001.02"><BkToCstmrStmt><Stmt><Acct><Id><IBAN>PT50</IBAN></Id></Acct>\n'
        )
        for number in range(count):
            day = (_START + timedelta(hours=number)).date()
            file.write(
                f'<Ntry><Amt Ccy="EUR">{number % 90}.50</Amt><CdtDbtInd>DBIT</CdtDbtInd>'
                f"<Sts>BOOK</Sts><BookgDt><Dt>{day}</Dt></BookgDt><AcctSvcrRef>{number}"
                "</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><Cdtr>"
                f"<Nm>Shop {number % 70}</Nm></Cdtr>"
                f"</RltdPties><RmtInf><Ustrd>{prose(Random(f'b{number}'), 12)}</Ustrd></RmtInf>"
                "</TxDtls></NtryDtls></Ntry>\n"
            )
        file.write("</Stmt></BkToCstmrStmt></Document>\n")
    return path


def gpx(folder: Path, count: int) -> Path:
    """Write tracks of twenty points each."""
    path = folder / "tracks.gpx"
    with path.open("w") as file:
        file.write('<?xml version="1.0"?>\n<gpx version="1.1" creator="Watch">\n')
        for number in range(count):
            file.write(f"<trk><name>Track {number}</name><type>running</type><trkseg>\n")
            for step in range(20):
                when = _START + timedelta(days=number, minutes=step)
                file.write(
                    f'<trkpt lat="{38 + step / 1e3:.6f}" lon="-9.{number % 1000:03}">'
                    f"<ele>{step}</ele><time>{when:%Y-%m-%dT%H:%M:%SZ}</time></trkpt>\n"
                )
            file.write("</trkseg></trk>\n")
        file.write("</gpx>\n")
    return path


def photos(folder: Path, count: int) -> Path:
    """Write raw pictures with a camera and a time, and noise for the picture itself."""
    place = folder / "Pictures"
    place.mkdir(parents=True)
    for number in range(count):
        when = f"{_START + timedelta(minutes=number):%Y:%m:%d %H:%M:%S}\0".encode()
        table = struct.pack("<HHHII", 2, 0x0110, 2, 6, 38) + struct.pack("<HHII", 0x0132, 2, 20, 44)
        block = b"II*\0" + struct.pack("<I", 8) + table + bytes(4) + b"Watch\0" + when
        (place / f"IMG_{number:05}.dng").write_bytes(block + Random(number).randbytes(4_000))
    return place


def documents(folder: Path, count: int) -> Path:
    """Write Word files of a page each."""
    place = folder / "Papers"
    place.mkdir(parents=True)
    for number in range(count):
        text = prose(Random(f"paper {number}"), 200)
        with zipfile.ZipFile(place / f"Paper {number}.docx", "w", zipfile.ZIP_DEFLATED) as archive:
            body = f'<d xmlns:w="urn:w"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></d>'
            archive.writestr("word/document.xml", body)
    return place


_APPLE_COLUMNS = (
    *("ZCREATIONDATE3", "ZMODIFICATIONDATE1", "ZACCOUNT4", "ZTITLE2", "ZNAME", "ZTYPEUTI"),
    *("ZTITLE", "ZURLSTRING", "ZMEDIA", "ZFILENAME", "ZFOLDER", "ZISPASSWORDPROTECTED"),
    "ZMARKEDFORDELETION",
)
"""What a note has besides, which is empty here."""


def apple_notes(folder: Path, count: int) -> Path:
    """Write a database of notes."""
    path = folder / "NoteStore.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("create table ZICNOTEDATA (ZNOTE integer, ZDATA blob)")
    connection.execute(
        "create table ZICCLOUDSYNCINGOBJECT (Z_PK integer primary key, ZIDENTIFIER, ZTITLE1,"
        f" {', '.join(_APPLE_COLUMNS)})"
    )
    insert = "insert into ZICCLOUDSYNCINGOBJECT (Z_PK, ZIDENTIFIER, ZTITLE1) values (?, ?, ?)"
    for number in range(count):
        text = prose(Random(f"memo {number}"), 15)[:100].encode()
        note = b"\x12" + bytes([len(text)]) + text
        inner = b"\x1a" + bytes([len(note)]) + note
        content = gzip.compress(b"\x12" + bytes([len(inner)]) + inner)
        connection.execute("insert into ZICNOTEDATA values (?, ?)", (number, content))
        row = (number, f"ID-{number}", f"Memo {number}")
        connection.execute(insert, row)
    connection.commit()
    connection.close()
    return path


MAKERS: Mapping[str, Callable[[Path, int], Path]] = MappingProxyType(
    {
        make.__name__: make
        for make in (
            apple_health,
            spotify,
            evernote,
            notion,
            bank_statement,
            gpx,
            photos,
            documents,
            apple_notes,
        )
    }
)
"""What writes an export with a number of things into a folder, by the key of its source."""


def main() -> None:
    """Write a health export of about some megabytes."""
    folder, size = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    path = apple_health(folder, (size << 20) // _RECORD_BYTES)
    print(f"{path}: {path.stat().st_size / (1 << 20):,.0f} MiB")


if __name__ == "__main__":
    main()
