"""Export days: an older export sets back nothing of a newer one, where names tell the day."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.sources.kit import Home, zipped
from tests.sources.samples import every_sample
from tests.sources.samples.sample import Files

from pdpp.sources.importing.export_day import ExportDay
from pdpp.sources.reading.named_days import american_day_in, day_in, day_in_words

SAMPLES = every_sample()
DATED = "export-{}.zip"


class Change(NamedTuple):
    """What changed between two exports, neither of which tells of anything that is new."""

    sample: str
    words: Mapping[str, str]
    gone: Sequence[str] = ()
    archive: str = DATED
    days: tuple[str, str] = ("2026-02-01", "2026-03-01")

    @property
    def earlier(self) -> Files:
        return SAMPLES[self.sample].files

    @property
    def later(self) -> Files:
        """Return the files with what changed; each change must be one."""
        files = {
            name: held for name, held in self.earlier.items() if not name.endswith((*self.gone,))
        }
        for before, after in self.words.items():
            assert any(before.encode() in held for held in files.values()), before
            files = {
                name: held.replace(before.encode(), after.encode()) for name, held in files.items()
            }
        return files


CHANGES = (
    Change(
        "facebook: since 2025",
        {'"title": "Bo"': '"title": "Bo Reis"', '"sender_name": "Bo"': '"sender_name": "Bo Reis"'},
        gone=["gull.jpg"],
        archive="facebook-nora-{}-AbCd.zip",
    ),
    Change(
        "instagram: since 2026",
        {'"sender_name": "ines"': '"sender_name": "ines_d"', '"title": "Fog"': '"title": "Fog!"'},
        gone=["gull.jpg"],
        archive="instagram-nora-{}-AbCd.zip",
    ),
    Change(
        "google_chat: a Takeout of today",
        {"Harbour watch": "Harbour crew", '"Bo Reis"': '"Bo R."', '"a@x.example"': '"a@x", "b@x"'},
        archive="takeout-{}T101532Z-001.zip",
        days=("20260201", "20260301"),
    ),
    Change(
        "google_timeline: Takeout before 2024",
        {"Ginjal lighthouse canteen": "Ginjal canteen"},
        archive="takeout-{}T101532Z-001.zip",
        days=("20260201", "20260301"),
    ),
    Change(
        "linkedin: tables",
        {"Werft Nord,Sailmaker": "Werft Sued,Captain", "Helga Brandt": "Helga Brandt-Lund"},
        archive="Complete_LinkedInDataExport_{}.zip",
        days=("12-31-2025", "02-01-2026"),
    ),
    Change(
        "letterboxd: an archive",
        {"4.5": "5", '"sea, dad"': "sea"},
        archive="letterboxd-nora-{}-10-15-utc.zip",
    ),
    Change(
        "telegram: a whole account",
        {
            "Sailing club": "Sailing crew",
            '"from": "Nora Lind"': '"reactions": [{"type": "emoji", "emoji": "x", "count": 2}], '
            '"from": "Nora L."',
        },
        archive="DataExport_{}.zip",
    ),
    Change(
        "reddit: tables",
        {"How do you tell a wet keel bolt": "[deleted]", "nice_knot/,up": "nice_knot/,down"},
        archive="export_nora_{}.zip",
        days=("20260201", "20260301"),
    ),
    Change(
        "slack: days of messages",
        {'"name": "wave", "count": 2': '"name": "wave", "count": 3', "Boats & tides": "Tides"},
        archive="Harbour Slack export Jan 1 2026 - {}.zip",
        days=("Feb 1 2026", "Mar 10 2026"),
    ),
    Change(
        "signal: a plain export",
        {"Oyster crew": "Oyster club", "🦪": "🐚", '"1767261600000"': '"1769940000000"'},
    ),
    Change(
        "x_twitter: since 2022",
        {'"favorite_count": "3"': '"favorite_count": "5"'},
        archive="twitter-{}-0123abcd.zip",
    ),
)


@pytest.mark.parametrize("change", CHANGES, ids=[change.sample for change in CHANGES])
def test_an_older_export_that_comes_later_sets_nothing_back(change: Change, tmp_path: Path) -> None:
    paths = [
        zipped(tmp_path / change.archive.format(day), files)
        for day, files in zip(change.days, (change.earlier, change.later), strict=True)
    ]
    homes, like, alone = [], Home(tmp_path / "like"), Home(tmp_path / "alone")
    alone.seal_like(like)
    alone.bring(paths[0], *SAMPLES[change.sample].options)
    for number, order in enumerate((paths, paths[::-1], [*paths, *paths])):
        home = Home(tmp_path / f"home {number}")
        home.seal_like(like)
        reports = [home.bring(path, *SAMPLES[change.sample].options) for path in order]
        homes.append(home.records())
        older = number > 0
        assert (
            any("came in before" in note for report in reports for note in report["notes"]) == older
        )
    assert homes[0] == homes[1] == homes[2] != alone.records()


def test_a_backup_of_messages_that_is_older_keeps_the_names_of_today(tmp_path: Path) -> None:
    held = SAMPLES["sms_backup: messages and calls"].files["calls-20260101100000.xml"]
    (tmp_path / "calls-20260301100000.xml").write_bytes(held.replace(b"Duarte", b"Lima"))
    (tmp_path / "calls-20260201100000.xml").write_bytes(held)
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "calls-20260301100000.xml", "--account", "nora")
    known = home.records()
    home.bring(tmp_path / "calls-20260201100000.xml", "--account", "nora")
    assert home.records() == known


def test_a_mirror_of_an_older_export_is_as_that_is(tmp_path: Path) -> None:
    change = CHANGES[5]
    old, new = (
        zipped(tmp_path / change.archive.format(day), files)
        for day, files in zip(change.days, (change.earlier, change.later), strict=True)
    )
    home = Home(tmp_path / "home")
    home.bring(old)
    known = home.records()
    home.bring(new)
    assert home.records() != known
    home.bring(old, "--mirror")
    assert home.records() == known


def test_what_says_that_it_was_changed_later_comes_from_an_older_export_too(
    tmp_path: Path,
) -> None:
    files = SAMPLES["google_chat: a Takeout of today"].files
    edited = {
        name: held.replace(b"12:10:00", b"12:20:00").replace(b"rings twice", b"rings thrice")
        for name, held in files.items()
    }
    home = Home(tmp_path / "home")
    for day, held in (("20260301", files), ("20260201", edited)):
        home.bring(zipped(tmp_path / f"takeout-{day}T101532Z-001.zip", held))
    said = [str(data.get("text")) for data in home.records().values()]
    assert any("rings thrice" in text for text in said)
    assert not any("rings twice" in text for text in said)


def test_an_older_export_is_one_of_each_kind_of_records_by_itself() -> None:
    day = ExportDay("2026-02-01", {"posts": "2026-03-01", "likes": "2026-01-01", "people": ""})
    assert day.outdated == {"posts"}
    assert "2026-03-01" in day.notes[0]
    assert not ExportDay("", {"posts": "2026-03-01"}).outdated
    assert not ExportDay("2026-03-01", {"posts": "2026-03-01"}).notes


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("facebook-nora-2026-01-31-AbCd", "2026-01-31"),
        ("takeout-20260131T101532Z-001", "2026-01-31"),
        ("sms-20260131101532", "2026-01-31"),
        ("export_nora_20260131", "2026-01-31"),
        ("from 2025-01-01 to 2026-01-31", "2026-01-31"),
        ("2026-02-31", ""),
        ("invoice-202601319", ""),
        ("facebook-nora", ""),
    ],
)
def test_a_name_tells_the_last_day_in_it(name: str, day: str) -> None:
    assert day_in(name) == day


def test_days_are_read_as_some_services_write_them() -> None:
    assert day_in_words("Harbour Slack export Jan 1 2026 - Feb 28 2026") == "2026-02-28"
    assert day_in_words("Harbour Slack export Jam 1 2026") == ""
    assert american_day_in("Basic_LinkedInDataExport_12-31-2025") == "2025-12-31"
    assert american_day_in("Basic_LinkedInDataExport_31-12-2025") == ""
