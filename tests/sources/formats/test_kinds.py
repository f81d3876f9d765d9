"""Kinds: what exports call by a code, in the words that a person would say."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sources.kit import read
from tests.sources.samples import apple_health as health
from tests.sources.samples import every_sample

from pdpp.sources.formats.apple_health.kinds import choice_words, kind_words, workout_words
from pdpp.sources.formats.apple_health.source import AppleHealth
from pdpp.sources.formats.bank_ofx.kinds import account_words, transaction_words
from pdpp.sources.formats.bank_statement.kinds import iso_words, swift_words
from pdpp.sources.formats.discord.kinds import channel_words
from pdpp.sources.formats.google_timeline.movement import kind_of_place, way_of_moving
from pdpp.sources.formats.spotify.reasons import reason_words
from pdpp.sources.registry import load


@pytest.mark.parametrize(
    ("words_of", "codes", "words"),
    [
        (kind_words, ["HKQuantityTypeIdentifierStepCount"], "Step count"),
        (kind_words, ["HKQuantityTypeIdentifierBodyMass"], "Body mass (weight)"),
        (kind_words, ["HKCorrelationTypeIdentifierFood"], "Food"),
        (choice_words, ["HKCategoryTypeIdentifierX", "HKCategoryValueNotSet"], "Not set"),
        (choice_words, ["HKCategoryTypeIdentifierX", "HKCategoryValueX"], "HKCategoryValueX"),
        (workout_words, ["HKWorkoutActivityTypeCoreTraining"], "Core training"),
        (transaction_words, ["SRVCHG"], "bank fee (service charge)"),
        (transaction_words, ["Lastschrift"], "Lastschrift"),
        (account_words, ["MONEYMRKT"], "money market account"),
        (iso_words, ["PMNT", "RCDT", "SALA"], "salary"),
        (iso_words, ["PMNT", "RCDT", "ESCT"], "transfer received"),
        (iso_words, ["SECU", "", ""], "securities"),
        (iso_words, ["XTND", "NTAV", "NTAV"], ""),
        (swift_words, ["NSTO"], "standing order"),
        (channel_words, [1], "direct message"),
        (channel_words, [11], "thread"),
        (channel_words, ["GuildVoiceChat"], "voice channel"),
        (channel_words, ["GUILD_ANNOUNCEMENT"], "announcement channel"),
        (channel_words, ["GuildPublicThread"], "public thread"),
        (channel_words, [None], ""),
        (way_of_moving, ["IN_TRAM"], "On a tram"),
        (way_of_moving, ["in passenger vehicle"], "Driving in a car"),
        (way_of_moving, ["CATCHING_POKEMON"], "Catching pokemon"),
        (way_of_moving, ["UNKNOWN_ACTIVITY_TYPE"], "Moving"),
        (way_of_moving, [None], "Moving"),
        (kind_of_place, ["TYPE_INFERRED_HOME"], "home"),
        (kind_of_place, ["Inferred Work"], "work"),
        (kind_of_place, ["TYPE_SEARCHED_ADDRESS"], "searched address"),
        (kind_of_place, ["Unknown"], ""),
        (reason_words, ["fwdbtn"], "skipped forward"),
        (reason_words, ["a new one"], "a new one"),
    ],
)
def test_a_code_is_told_in_the_words_of_people(
    words_of: Callable[..., str], codes: list[str], words: str
) -> None:
    assert words_of(*codes) == words


def test_a_play_begins_after_another_and_ends_with_its_own_end(tmp_path: Path) -> None:
    folder = every_sample()["spotify: the extended history"].folder(tmp_path)
    reasons = {
        (data.get("reason_start"), data.get("reason_end"))
        for (stream, _), data in read(load("spotify"), folder).items()
        if stream == "plays"
    }
    assert ("the one before ended", "played to the end") in reasons


def test_a_sport_that_strava_writes_as_a_number_has_its_name(tmp_path: Path) -> None:
    point = '<trkpt lat="38.7" lon="-9.1"><time>2026-01-05T07:00:00Z</time></trkpt>'
    (tmp_path / "run.gpx").write_text(
        '<?xml version="1.0"?><gpx version="1.1" creator="StravaGPX"><trk><type>9</type>'
        f"<trkseg>{point}{point}</trkseg></trk></gpx>"
    )
    [track] = read(load("gpx"), tmp_path / "run.gpx").values()
    assert track["activity"] == "running"


def test_what_is_noted_with_a_measurement_keeps_the_names_of_other_programs(
    tmp_path: Path,
) -> None:
    note = '<MetadataEntry key="com.runner.mood" value="Bright"/>'
    path = tmp_path / "export.xml"
    path.write_bytes(health.document(health.SLEEP.replace("</Record>", f"{note}</Record>")))
    [sleep] = [data for data in read(AppleHealth(), path).values() if "choice" in data]
    assert sleep["details"].splitlines() == ["Time zone: Europe/Lisbon", "com.runner.mood: Bright"]
