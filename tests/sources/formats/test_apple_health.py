"""What is particular to the export of Apple Health."""

from pathlib import Path
from typing import Any

from tests.sources.kit import Home, counts, findings, look, read, told
from tests.sources.samples import apple_health as health

from pdpp.sources.formats.apple_health.source import AppleHealth
from pdpp.sources.item import Item
from pdpp.sources.source import Recognition

SOURCE = AppleHealth()


def put(folder: Path, *elements: str, **options: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "export.xml"
    path.write_bytes(health.document(*elements, **options))
    return path


def only(path: Path, stream: str) -> dict[str, Any]:
    [data] = [data for (name, _), data in read(SOURCE, path).items() if name == stream]
    return data


def test_a_measurement_is_a_number_with_its_unit_time_and_device(tmp_path: Path) -> None:
    data = only(put(tmp_path, health.steps(1, 512)), "measurements")
    assert data == {
        "id": data["id"],
        "kind": "Step count",
        "value": 512.0,
        "unit": "count",
        "started_at": "2026-01-01T07:00:00Z",
        "ended_at": "2026-01-01T07:30:00Z",
        "seconds": 1800.0,
        "source": "Nora’s Watch",
        "device": "Apple Watch",
    }


def test_a_choice_is_named_and_lasts(tmp_path: Path) -> None:
    data = only(put(tmp_path, health.SLEEP), "measurements")
    assert (data["kind"], data["choice"]) == ("Sleep analysis", "Asleep core")
    assert data["seconds"] == 2.5 * 3600
    assert data["details"] == "Time zone: Europe/Lisbon"
    assert "value" not in data


def test_an_export_from_another_zone_and_with_other_addresses_is_the_same(tmp_path: Path) -> None:
    home = read(SOURCE, put(tmp_path, health.steps(1, 512, "+0100", 8)))
    text = health.document(health.steps(1, 512, "-0700", 0)).replace(b"0x283e0c0", b"0x99")
    away = tmp_path / "away.xml"
    away.write_bytes(text)
    assert read(SOURCE, away) == home
    first, second = look(SOURCE, tmp_path / "export.xml"), look(SOURCE, away)
    assert isinstance(first, Recognition)
    assert isinstance(second, Recognition)
    assert first.identity == second.identity


def test_a_watch_that_got_another_name_brings_nothing_a_second_time(tmp_path: Path) -> None:
    home, elements = Home(tmp_path / "data"), (health.steps(1, 512), health.SLEEP)
    home.bring(put(tmp_path / "first", *elements))
    renamed = [element.replace("Nora’s Watch", "Old watch") for element in elements]
    report = home.bring(put(tmp_path / "later", *renamed))
    assert "new" not in counts(report)
    sources = {data.get("source") for data in home.records().values() if "started_at" in data}
    assert sources == {"Old watch"}


def test_what_an_app_measured_on_a_watch_is_apart_from_what_the_watch_did(tmp_path: Path) -> None:
    own = health.steps(1, 512)
    other = own.replace("Nora’s Watch", "Runner").replace(
        'sourceVersion="10.1"', 'sourceVersion="3.2"'
    )
    records = read(SOURCE, put(tmp_path, own, other))
    sources = [data["source"] for (stream, _), data in records.items() if stream == "measurements"]
    assert sorted(sources) == ["Nora’s Watch", "Runner"]


def test_the_parts_of_a_blood_pressure_come_once_and_together(tmp_path: Path) -> None:
    records = read(SOURCE, put(tmp_path, health.PRESSURE))
    measured = [data for (stream, _), data in records.items() if stream == "measurements"]
    assert len(measured) == 3
    [pair] = [data for data in measured if data["kind"] == "Blood pressure"]
    assert pair["details"].splitlines() == [
        "Blood pressure systolic: 121 mmHg",
        "Blood pressure diastolic: 79 mmHg",
    ]


def test_a_workout_has_its_distance_energy_and_way(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    for name, content in health.export(health.RUN).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    [run] = [
        item
        for item in findings(SOURCE, folder)
        if isinstance(item, Item) and item.stream == "workouts"
    ]
    assert (run.data["kind"], run.data["distance_metres"]) == ("Running", 5250.0)
    assert run.data["energy_kcal"] == 100.0
    assert (run.data["seconds"], run.data["events"]) == (1890.0, 1)
    [route] = run.attachments
    assert route.field == "route"
    with route.open() as file:
        assert file.read() == health.GPX


def test_every_way_of_a_workout_is_kept_and_a_missing_one_is_told(tmp_path: Path) -> None:
    legs = "".join(
        f'<WorkoutRoute startDate="2026-01-05 08:{10 * leg}:00 +0100"><FileReference'
        f' path="/workout-routes/leg-{leg}.gpx"/></WorkoutRoute>'
        for leg in (1, 2, 3)
    )
    run = health.RUN.replace("</Workout>", f"{legs}</Workout>")
    written = health.export(run)
    for leg in (1, 2):
        written[f"apple_health_export/workout-routes/leg-{leg}.gpx"] = health.GPX + b"\n" * leg
    for name, content in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    found = findings(SOURCE, tmp_path)
    ways = [item for item in found if isinstance(item, Item) and item.stream == "routes"]
    assert [(way.data["part"], way.data["started_at"]) for way in ways] == [
        ("2 of 4", "2026-01-05T07:10:00Z"),
        ("3 of 4", "2026-01-05T07:20:00Z"),
    ]
    [workout] = [item for item in found if isinstance(item, Item) and item.stream == "workouts"]
    assert {way.data["workout_id"] for way in ways} == {workout.key}
    assert [len(way.attachments[0].open().read()) - len(health.GPX) for way in ways] == [1, 2]
    assert [finding.reason for finding in told(SOURCE, tmp_path)][1:] == [
        "a file that the document names and the export lacks"
    ]


def test_an_older_workout_names_its_sums_itself(tmp_path: Path) -> None:
    ride = only(put(tmp_path, health.OLD_RIDE), "workouts")
    assert (ride["kind"], ride["distance_metres"], ride["energy_kcal"]) == (
        "Cycling",
        16_093.44,
        300.0,
    )


def test_the_time_of_a_workout_without_its_pauses_is_kept(tmp_path: Path) -> None:
    paused = health.OLD_RIDE.replace('duration="60"', 'duration="48.25"')
    data = only(put(tmp_path, paused), "workouts")
    assert (data["seconds"], data["context"]) == (3_600.0, {"duration": "48.25 min"})
    assert "context" not in only(put(tmp_path, health.OLD_RIDE), "workouts")


def test_a_hearing_test_and_a_prescription_say_what_each_ear_and_eye_needs(tmp_path: Path) -> None:
    when = "2026-01-08 09:00:00 +0100"
    heard = (
        '<Audiogram type="HKDataTypeIdentifierAudiogram" sourceName="Settings"'
        f' creationDate="{when}" startDate="{when}" endDate="2026-01-08 09:05:00 +0100">'
        '<SensitivityPoint frequencyValue="500" frequencyUnit="Hz" leftEarValue="10"'
        ' leftEarUnit="dBHL" rightEarValue="15" rightEarUnit="dBHL"/>'
        '<SensitivityPoint frequencyValue="1000" frequencyUnit="Hz" leftEarValue="20"'
        ' leftEarUnit="dBHL"/></Audiogram>'
    )
    seen = (
        f'<VisionPrescription type="Glasses" dateIssued="{when}" expirationDate="2028-01-08">'
        '<RightEye sphere="-1.25" sphereUnit="D" axis="90" axisUnit="deg"/>'
        '<LeftEye sphere="-1.5" sphereUnit="D"/></VisionPrescription>'
    )
    records = read(SOURCE, put(tmp_path, heard, seen))
    measured = {
        data["kind"]: data for (stream, _), data in records.items() if stream == "measurements"
    }
    assert measured["Audiogram"]["details"].splitlines() == [
        "500 Hz: left 10 dBHL, right 15 dBHL",
        "1000 Hz: left 20 dBHL",
    ]
    assert measured["Vision prescription"]["started_at"] == "2026-01-08T08:00:00Z"
    assert measured["Vision prescription"]["details"].splitlines() == [
        "type: Glasses",
        "expires: 2028-01-08",
        "Right eye: sphere -1.25 D, axis 90 deg",
        "Left eye: sphere -1.5 D",
    ]


def test_a_day_a_profile_and_a_recording(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    for name, content in health.export(health.DAY).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    day = only(folder, "days")
    assert (day["day"], day["exercise_minutes"], day["stand_hours"]) == ("2026-01-05", 41, 12)
    profile = only(folder, "profile")
    assert (profile["birth_date"], profile["sex"]) == ("1984-02-29", "Female")
    assert "blood_type" not in profile
    recording = only(folder, "electrocardiograms")
    assert recording["classification"] == "Sinus Rhythm"
    assert (recording["recorded_at"], recording["samples"]) == ("2026-01-07T07:00:00Z", 3)


def test_elements_that_are_not_known_and_files_that_are_missing_are_told(tmp_path: Path) -> None:
    path = put(tmp_path, "<StateOfMind/>", health.RUN, '<Record type="x" startDate="then"/>')
    reasons = [finding.reason for finding in told(SOURCE, path)]
    assert reasons == [
        "the date of the export, which is no measurement",
        "an element StateOfMind",
        "a file that the document names and the export lacks",
        "an element without a kind or a time",
    ]


def test_a_document_with_entities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "export.xml"
    path.write_bytes(health.document().replace(b"<!ELEMENT", b'<!ENTITY a "b"><!ELEMENT', 1))
    assert look(SOURCE, path) is None


def test_two_people_are_two_accounts_and_one_person_is_one(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    nora = put(tmp_path / "nora", *(health.steps(day, day) for day in range(1, 9)), me="")
    ivo = put(tmp_path / "ivo", *(health.steps(day, 50 + day) for day in range(1, 9)), me="")
    longer = put(tmp_path / "more", *(health.steps(day, day or 7) for day in range(1, 12)), me="")
    ids = [home.bring(path)["connection"]["connection_id"] for path in (nora, ivo, longer)]
    assert ids[0] != ids[1]
    assert ids[0] == ids[2]
    # Older data that came later stands first: the records say whose export it is.
    older = put(tmp_path / "older", *(health.steps(day, day) for day in (9, 1, 2, 3, 4, 5)), me="")
    assert home.bring(older)["connection"]["connection_id"] == ids[0]


def leg(kind: str, minute: int, kilometres: str) -> str:
    start, end = (f"2026-01-02 10:{at:02}:00 +0100" for at in (minute, minute + 10))
    return (
        f'<WorkoutActivity uuid="{kind}" workoutActivityType="HKWorkoutActivityType{kind}" '
        f'startDate="{start}" endDate="{end}"><WorkoutStatistics '
        f'type="HKQuantityTypeIdentifierDistance{kind}" startDate="{start}" endDate="{end}" '
        f'sum="{kilometres}" unit="km"/></WorkoutActivity>'
    )


def test_the_parts_of_a_workout_are_told_and_an_only_one_gives_its_sums(tmp_path: Path) -> None:
    workout = (
        '<Workout workoutActivityType="HKWorkoutActivityTypeSwimBikeRun" sourceName="Watch" '
        'creationDate="2026-01-02 10:30:00 +0100" startDate="2026-01-02 10:00:00 +0100" '
        'endDate="2026-01-02 10:30:00 +0100">{}'
        '<MetadataEntry key="HKTimeZone" value="Europe/Lisbon"/></Workout>'
    )
    legs = leg("Swimming", 0, "0.4") + leg("Cycling", 10, "7")
    several = only(put(tmp_path / "a", workout.format(legs)), "workouts")
    assert several["details"].splitlines() == [
        "part 1: Swimming, 600 s, Distance swimming 0.4 km",
        "part 2: Cycling, 600 s, Distance cycling 7.0 km",
        "Time zone: Europe/Lisbon",
    ]
    alone = only(put(tmp_path / "b", workout.format(leg("Swimming", 0, "0.4"))), "workouts")
    assert (alone["distance_metres"], alone["details"]) == (400.0, "Time zone: Europe/Lisbon")
