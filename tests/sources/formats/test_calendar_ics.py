"""Calendars as ICS files, as several programs write them."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_text,
    check_hostile_zip,
    check_overlap,
    check_twice,
    golden,
    look,
    read,
    told,
    zipped,
)

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.calendar_ics import zone_names
from pdpp.sources.formats.calendar_ics.parsing import parse
from pdpp.sources.formats.calendar_ics.source import CalendarIcs
from pdpp.sources.source import Confidence, Recognition

SOURCE = CalendarIcs()

ZONE = """BEGIN:VTIMEZONE
TZID:Harbour Time
BEGIN:STANDARD
DTSTART:19701025T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:19700329T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
END:VTIMEZONE
"""


def event(uid: str, *lines: str) -> str:
    """Return one event."""
    name = [f"UID:{uid}"] if uid else []
    return "\n".join(["BEGIN:VEVENT", *name, "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT", ""])


CHOIR = event(
    "choir@nora.example",
    "DTSTART;TZID=Harbour Time:20260706T190000",
    "DTEND;TZID=Harbour Time:20260706T210000",
    "SUMMARY:Choir\\, first rehearsal",
    "DESCRIPTION:Bring the green folder.\\nWe sing the tide song in four parts and",
    "  nobody leaves before the tea.",
    "LOCATION:Old fish market",
    "ORGANIZER;CN=Nora Lind:mailto:nora@lind.example",
    "ATTENDEE;CN=Ana;PARTSTAT=ACCEPTED:mailto:ana@lind.example",
    "ATTENDEE:MAILTO:ben@lind.example",
    "CATEGORIES:Music,Friends",
    "RRULE:FREQ=WEEKLY;COUNT=10",
    "EXDATE;TZID=Harbour Time:20260713T190000,20260720T190000",
    "STATUS:CONFIRMED",
    "URL:https://choir.example/summer",
    "LAST-MODIFIED:20260615T080000Z",
    "BEGIN:VALARM",
    "ACTION:DISPLAY",
    "DESCRIPTION:not this text",
    "TRIGGER:-PT15M",
    "END:VALARM",
)
MOVED = event(
    "choir@nora.example",
    "RECURRENCE-ID;TZID=Harbour Time:20260727T190000",
    "DTSTART;TZID=Harbour Time:20260728T190000",
    "SUMMARY:Choir on a Tuesday",
)
HOLIDAY = event(
    "h-1", "DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261226", "SUMMARY:Christmas"
)
FLOATING = event("f-1", "DTSTART:20260301T073000", "DURATION:PT45M", "SUMMARY:Morning walk")
LISBON = event("l-1", "DTSTART;TZID=Europe/Lisbon:20260115T100000", "SUMMARY:Dentist")
TASK = (
    "BEGIN:VTODO\nUID:t-1\nSUMMARY:Paint the boat\nDUE;VALUE=DATE:20260501\nSTATUS:COMPLETED\n"
    "COMPLETED:20260430T160000Z\nEND:VTODO\n"
)
DIARY = "BEGIN:VJOURNAL\nUID:j-1\nSUMMARY:Rain\nEND:VJOURNAL\n"


def calendar(*components: str, name: str | None = "Nora", zone: str = ZONE) -> bytes:
    """Return a whole calendar."""
    title = f"X-WR-CALNAME:{name}\n" if name else ""
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Tide//Cal 3.1//EN\n{title}{zone}"
    return (text + "".join(components) + "END:VCALENDAR\n").replace("\n", "\r\n").encode()


def put(folder: Path, content: bytes, name: str = "nora.ics") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_calendar_is_recognised_by_its_beginning_and_named_by_itself(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, calendar(CHOIR)))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.account) == (Confidence.CERTAIN, "Nora")
    assert seen.version == "made by -//Tide//Cal 3.1//EN"
    seen = look(SOURCE, put(tmp_path, calendar(CHOIR, name=None), "work.ics"))
    assert isinstance(seen, Recognition)
    assert seen.account == "work"


def test_other_files_are_not_taken(tmp_path: Path) -> None:
    assert look(SOURCE, put(tmp_path, b"BEGIN:VCARD\r\nEND:VCARD\r\n")) is None
    assert look(SOURCE, put(tmp_path, b"notes about BEGIN:VCALENDAR\n", "notes.ics")) is None


def test_events_and_tasks_give_these_records(tmp_path: Path) -> None:
    everything = calendar(CHOIR, MOVED, HOLIDAY, FLOATING, LISBON, TASK, DIARY)
    path = put(tmp_path, everything)
    golden("calendar_ics", read(SOURCE, path))
    assert [found.reason for found in told(SOURCE, path)] == [
        "a time zone, which the times of entries are read with",
    ]


def test_a_time_without_a_zone_floats_unless_the_owner_names_one(tmp_path: Path) -> None:
    path = put(tmp_path, calendar(FLOATING))
    (floating,) = read(SOURCE, path).values()
    assert (floating["starts_at"], floating["floating"]) == ("2026-03-01T07:30:00", True)
    assert floating["ends_at"] == "2026-03-01T08:15:00"
    (placed,) = read(SOURCE, path, time_zone="America/Lima").values()
    assert (placed["starts_at"], placed["floating"]) == ("2026-03-01T07:30:00-05:00", False)
    with pytest.raises(ImportRefused, match="not a time zone"):
        look(SOURCE, path, time_zone="Atlantis")


def test_calendars_of_a_folder_keep_apart_what_both_hold(tmp_path: Path) -> None:
    put(tmp_path, calendar(LISBON, name="Nora"), "a.ics")
    put(tmp_path, calendar(LISBON, name="Work"), "b.ics")
    records = read(SOURCE, tmp_path)
    assert {data["calendar"] for data in records.values()} == {"Nora", "Work"}
    assert len(records) == 2


def test_two_exports_of_one_calendar_in_a_folder_hold_the_same_events(tmp_path: Path) -> None:
    put(tmp_path, calendar(LISBON, CHOIR, name="Nora"), "a.ics")
    put(tmp_path, calendar(LISBON, name="Nora"), "b.ics")
    assert len(read(SOURCE, tmp_path)) == 2
    unnamed = calendar(LISBON).replace(b"X-WR-CALNAME", b"X-OTHER")
    (tmp_path / "unnamed").mkdir()
    put(tmp_path / "unnamed", unnamed, "work.ics")
    put(tmp_path / "unnamed", unnamed, "work (1).ics")
    assert len(read(SOURCE, tmp_path / "unnamed")) == 1


def test_an_event_without_a_time_is_kept_and_one_that_stands_twice_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, calendar(event("x", "SUMMARY:When?"), LISBON, LISBON))
    assert [found.reason for found in told(SOURCE, path)] == [
        "a time zone, which the times of entries are read with",
        "an entry that stands twice",
    ]


def test_an_event_without_a_name_gets_one_from_its_content(tmp_path: Path) -> None:
    nameless = event("", "DTSTART:20260301T073000Z", "SUMMARY:Nameless")
    once = read(SOURCE, put(tmp_path, calendar(nameless)))
    assert set(once) < set(read(SOURCE, put(tmp_path, calendar(LISBON, nameless))))


def test_a_wrong_value_costs_its_property_and_not_the_event(tmp_path: Path) -> None:
    wrong = event("w", "DTSTART:yesterday", "SUMMARY:Odd")
    path = put(tmp_path, calendar(wrong, LISBON))
    assert [data["title"] for data in read(SOURCE, path).values()] == ["Odd", "Dentist"]
    assert [found.reason for found in told(SOURCE, path)][1:] == ["a property that is malformed"]


def test_letters_of_windows_are_read(tmp_path: Path) -> None:
    text = calendar(LISBON).replace(b"Dentist", "Padaria São João".encode("cp1252"))
    assert [data["title"] for data in read(SOURCE, put(tmp_path, text)).values()] == [
        "Padaria São João"
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_calendar_in_wide_letters_is_read_with_its_zone(tmp_path: Path, encoding: str) -> None:
    text = calendar(CHOIR, MOVED, TASK, name="Förening")
    path = put(tmp_path, text)
    expected = read(SOURCE, path)
    put(tmp_path, text.decode().encode(encoding))
    assert read(SOURCE, path) == expected
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.account == "Förening"


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(put(tmp_path, calendar(CHOIR, MOVED, TASK)), tmp_path)


def test_a_part_and_then_the_whole_are_the_whole(tmp_path: Path) -> None:
    first = put(tmp_path, calendar(CHOIR), "one.ics")
    check_overlap(first, put(tmp_path, calendar(LISBON, CHOIR, MOVED), "two.ics"), tmp_path)


def test_a_cut_file_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    check_cuts(SOURCE, calendar(CHOIR, LISBON, TASK), lambda content: put(tmp_path, content))


def test_hostile_text_and_archives_are_survived(tmp_path: Path) -> None:
    check_hostile_text(SOURCE, calendar(CHOIR, TASK), lambda content: put(tmp_path, content))
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, {"Calendar/nora.ics": calendar(CHOIR)}, folder)
    path = zipped(tmp_path / "takeout.zip", {"Takeout/Calendar/nora.ics": calendar(CHOIR)})
    assert read(SOURCE, path)


def test_an_event_too_large_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    huge = event("big", "DTSTART:20260101T000000Z", *(["X-NOISE:" + "x" * 1_000_000] * 34))
    path = put(tmp_path, calendar(huge, LISBON))
    assert [data["title"] for data in read(SOURCE, path).values()] == ["Dentist"]
    assert [found.reason for found in told(SOURCE, path)] == [
        "a time zone, which the times of entries are read with",
        "an entry too large",
    ]


@given(st.permutations(["a", "b", "c"]), st.integers(min_value=1, max_value=3))
def test_keys_do_not_depend_on_what_else_is_in_a_file(order: list[str], count: int) -> None:
    from tempfile import TemporaryDirectory

    made = {name: event(name, "DTSTART:20260101T000000Z", f"SUMMARY:{name}") for name in "abc"}
    with TemporaryDirectory() as folder:
        whole = read(SOURCE, put(Path(folder), calendar(*made.values())))
        some = read(SOURCE, put(Path(folder), calendar(*(made[name] for name in order[:count]))))
    assert set(some) <= set(whole)


def test_an_agent_finds_what_was_noted_for_an_event(tmp_path: Path) -> None:
    path = put(tmp_path, calendar(CHOIR, LISBON))
    report = bring_and_ask(path, tmp_path, "tide song", "We sing the tide song in four parts")
    assert report["counts"]["new"] == 2


def test_journal_entries_are_kept(tmp_path: Path) -> None:
    [(stream, _)] = read(SOURCE, put(tmp_path, calendar(DIARY)))
    assert stream == "journal"


def test_a_calendar_with_old_line_ends_is_read(tmp_path: Path) -> None:
    content = calendar(LISBON).replace(b"\r\n", b"\n").replace(b"\n", b"\r")
    assert [data["title"] for data in read(SOURCE, put(tmp_path, content)).values()] == ["Dentist"]


def test_what_is_wrong_in_a_task_or_an_alarm_costs_that_property_alone(tmp_path: Path) -> None:
    alarm = ("BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:soon", "END:VALARM")
    rung = event("a", "DTSTART:20260301T073000Z", "SUMMARY:Choir", *alarm)
    task = "BEGIN:VTODO\nUID:t\nSUMMARY:Paint the buoy\nPERCENT-COMPLETE:half\nEND:VTODO\n"
    stray = event("s", "DTSTART:20260302T073000Z", "SUMMARY:Tide", "NO COLON IN HERE")
    path = put(tmp_path, calendar(rung, task, stray))
    titles = [data["title"] for data in read(SOURCE, path).values()]
    assert titles == ["Choir", "Paint the buoy", "Tide"]
    malformed = [
        found.example.rpartition(" ")[2]
        for found in told(SOURCE, path)
        if found.reason == "a property that is malformed"
    ]
    assert malformed == ["TRIGGER", "PERCENT-COMPLETE", "none"]


def test_an_event_has_the_same_key_in_a_calendar_alone_and_among_others(tmp_path: Path) -> None:
    (tmp_path / "both").mkdir()
    alone = read(SOURCE, put(tmp_path, calendar(LISBON, name="Nora")))
    put(tmp_path / "both", calendar(LISBON, name="Nora"), "nora.ics")
    put(tmp_path / "both", calendar(CHOIR, name="Work"), "work.ics")
    assert set(alone) < set(read(SOURCE, tmp_path / "both"))


def fixed_zone(offset: str) -> str:
    """Return a zone of a name that many calendars use, which is always as far from UTC."""
    return (
        "BEGIN:VTIMEZONE\nTZID:Customized Time Zone\nBEGIN:STANDARD\nDTSTART:16010101T000000\n"
        f"TZOFFSETFROM:{offset}\nTZOFFSETTO:{offset}\nEND:STANDARD\nEND:VTIMEZONE\n"
    )


def custom(uid: str) -> str:
    return event(uid, "DTSTART;TZID=Customized Time Zone:20260113T100000", "SUMMARY:Tide")


def starts(path: Path) -> set[str]:
    return {str(data["starts_at"]) for data in read(SOURCE, path).values()}


def test_zones_of_one_name_in_two_calendars_are_two(tmp_path: Path) -> None:
    put(tmp_path, calendar(custom("a"), zone=fixed_zone("+0100")), "a.ics")
    put(tmp_path, calendar(custom("b"), zone=fixed_zone("-0500")), "b.ics")
    assert starts(tmp_path) == {"2026-01-13T10:00:00+01:00", "2026-01-13T10:00:00-05:00"}


def test_a_zone_that_stands_behind_its_events_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, calendar(custom("a"), fixed_zone("+0300"), zone=""))
    assert starts(path) == {"2026-01-13T10:00:00+03:00"}


def test_a_zone_whose_name_begins_with_a_space_is_found(tmp_path: Path) -> None:
    zone = fixed_zone("+0300").replace("TZID:", "TZID: ")
    tide = custom("a").replace("TZID=", "TZID= ")
    assert starts(put(tmp_path, calendar(tide, zone=zone))) == {"2026-01-13T10:00:00+03:00"}


@pytest.mark.parametrize(
    ("shown", "start"),
    [
        ('"(UTC-05:00) Eastern Time (US & Canada)"', "10:00:00-04:00"),
        ("(UTC-05:00) Eastern Time (US & Canada)", "10:00:00-04:00"),
        ('"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna"', "10:00:00+02:00"),
        ('"Amsterdam, Belgrade, Berlin, Brussels, Budapest, Madrid"', "10:00:00+02:00"),
        ('"(GMT) Greenwich Mean Time : Dublin, Edinburgh, Lisbon, London"', "10:00:00+01:00"),
        ('"(GMT+10:00) Canberra, Melbourne, Sydney"', "10:00:00+10:00"),
        ('"(UTC+08:00) Beijing, Chongqing, Hong Kong, Urumqi"', "10:00:00+08:00"),
        ('"(UTC+05:00) Berlin"', "10:00:00"),
        ('"Harbour, Berlin"', "10:00:00"),
        ('"Lisbon, Berlin"', "10:00:00"),
    ],
)
def test_a_zone_as_it_is_shown_to_people_is_known_by_its_places(
    tmp_path: Path, shown: str, start: str
) -> None:
    line = f"DTSTART;TZID={shown}:20260713T100000"
    folded = f"{line[:70]}\n {line[70:]}"
    for content in (event("a", line), event("a", folded)):
        assert starts(put(tmp_path, calendar(content, zone=""))) == {f"2026-07-13T{start}"}


def test_a_zone_whose_quotes_do_not_end_is_looked_at_once() -> None:
    text = f'BEGIN:VEVENT\r\nDTSTART;TZID="{" " * 60_000}\r\nEND:VEVENT\r\n'
    began = time.process_time()
    parse(text)
    assert time.process_time() - began < 2


def test_the_same_shown_zone_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def is_zone(name: str) -> bool:
        looked.append(name)
        return name == "Europe/Amsterdam"

    monkeypatch.setattr(zone_names, "_is_zone", is_zone)
    shown = "(UTC+01:00) Amsterdam, Berlin, Hammerfest"
    assert {zone_names.zone_shown_as(shown) for _ in range(3)} == {"Europe/Amsterdam"}
    assert len(looked) == len(set(looked))


def test_a_zone_that_a_calendar_defines_is_no_other_of_its_name(tmp_path: Path) -> None:
    shown = "(UTC+01:00) Amsterdam, Berlin"
    zone = fixed_zone("+0300").replace("TZID:Customized Time Zone", f"TZID:{shown}")
    tide = event("a", f'DTSTART;TZID="{shown}":20260713T100000')
    assert starts(put(tmp_path, calendar(tide, zone=zone))) == {"2026-07-13T10:00:00+03:00"}


def test_a_calendar_without_events_becomes_one_account_alone(tmp_path: Path) -> None:
    empty = put(tmp_path, calendar(name="Tides", zone=""))
    home = Home(tmp_path / "home")
    assert [home.bring(empty)["counts"]["read"] for _ in range(3)] == [0, 0, 0]
    assert home.accounts() == ["Tides"]
    other = put(tmp_path, calendar(custom("a"), name=None, zone=fixed_zone("+0100")), "other.ics")
    assert home.bring(other)["counts"]["new"] == 1
    assert home.bring(empty)["status"] == "complete"
    assert sorted(home.accounts()) == ["Tides", "other"]


def test_a_calendar_with_events_is_not_that_of_an_empty_one(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(put(tmp_path, calendar(name="Tides", zone="")))
    full = calendar(custom("a"), name="Tides", zone=fixed_zone("+0100"))
    home.bring(put(tmp_path, full, "full.ics"))
    assert sorted(home.accounts()) == ["Tides", "Tides 2"]


@pytest.mark.parametrize("maker", ["freeassociation.sourceforge.net", "mozilla.org/20050126_1"])
def test_a_zone_with_its_maker_before_it_is_known(
    tmp_path: Path, maker: str, recwarn: pytest.WarningsRecorder
) -> None:
    line = f"DTSTART;TZID=/{maker}/Europe/Berlin:20260713T100000"
    assert starts(put(tmp_path, calendar(event("a", line)))) == {"2026-07-13T10:00:00+02:00"}
    assert not recwarn.list


def test_days_beside_a_rule_are_kept_with_it(tmp_path: Path) -> None:
    lines = ("DTSTART:20260713T100000Z", "RRULE:FREQ=WEEKLY", "RDATE:20260714T100000Z")
    (data,) = read(SOURCE, put(tmp_path, calendar(event("a", *lines)))).values()
    assert data["repeats"] == "FREQ=WEEKLY\nRDATE:20260714T100000Z"


def test_letters_of_version_1_are_read(tmp_path: Path) -> None:
    lines = (
        "DTSTART:20260713T100000Z",
        "SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Gezeiten, K=C3=BCste=",
        " und Meer",
        "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:one=0D=0Atwo; three",
    )
    (tmp_path / "phone").mkdir()
    put(tmp_path / "phone", calendar(event("a", *lines), zone=""), "calendar.vcs")
    (data,) = read(SOURCE, tmp_path / "phone").values()
    assert data["title"] == "Gezeiten, Küste und Meer"
    assert data["notes"] == "one\ntwo; three"


def test_a_calendar_without_a_name_is_the_same_when_a_browser_numbers_its_file(
    tmp_path: Path,
) -> None:
    event = "BEGIN:VEVENT\nUID:1\nDTSTART:20260101T080000Z\nSUMMARY:Tide\nEND:VEVENT\n"
    home, names = Home(tmp_path / "data"), ("Club.ics", "Club (1).ics")
    for name in names:
        path = tmp_path / name
        path.write_text(f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{event}END:VCALENDAR\n")
        report = home.bring(path)
    assert report["counts"]["unchanged"] == report["counts"]["read"] == 1


def test_an_event_whose_end_was_forgotten_costs_no_other_one(tmp_path: Path) -> None:
    first = event("a", "DTSTART:20260101T100000Z", "SUMMARY:one").removesuffix("END:VEVENT\n")
    second = event("b", "DTSTART:20260102T100000Z", "SUMMARY:two")
    found = read(SOURCE, put(tmp_path, calendar(first, second))).values()
    assert [data["title"] for data in found] == ["one", "two"]


def test_events_that_were_given_one_id_are_all_kept_unless_they_say_the_same(
    tmp_path: Path,
) -> None:
    first = event("a", "DTSTART:20260101T100000Z", "SUMMARY:Tea")
    later = event("a", "DTSTART:20260108T100000Z", "SUMMARY:Tea")
    again = event("a", "DTSTART:20260108T100000Z", "SUMMARY:Tea", "LAST-MODIFIED:20260109T100000Z")
    path = put(tmp_path, calendar(first, later, again))
    found = read(SOURCE, path).values()
    assert [data["starts_at"][:10] for data in found] == ["2026-01-01", "2026-01-08"]
    assert [each.reason for each in told(SOURCE, path)][1:] == ["an entry that stands twice"]
    check_twice(path, tmp_path)


@pytest.mark.parametrize("name", ["tzone://Microsoft/Utc", '"tzone://Microsoft/Utc"'])
def test_a_zone_that_outlook_calls_by_an_address_is_read(tmp_path: Path, name: str) -> None:
    zone = fixed_zone("+0000").replace("Customized Time Zone", "tzone://Microsoft/Utc")
    tea = event("a", f"DTSTART;TZID={name}:20260706T100000", "SUMMARY:Tea")
    path = put(tmp_path, calendar(tea, zone=zone))
    (data,) = read(SOURCE, path).values()
    assert (data["starts_at"], data["floating"]) == ("2026-07-06T10:00:00Z", False)


def test_notes_that_stand_in_several_places_and_the_link_of_a_meeting_are_kept(
    tmp_path: Path,
) -> None:
    several = event("a", "SUMMARY:Tea", "DESCRIPTION:one", "DESCRIPTION:two", "COMMENT:three")
    page = event("b", "X-ALT-DESC;FMTTYPE=text/html:<p>Bring <b>cake</b></p>")
    held = event("c", "X-GOOGLE-CONFERENCE:https://meet.example/tea")
    found = list(read(SOURCE, put(tmp_path, calendar(several, page, held))).values())
    assert [data.get("notes") for data in found] == ["one\ntwo\nthree", "Bring cake", None]
    assert found[2]["link"] == "https://meet.example/tea"


def test_entries_in_files_of_their_own_are_of_the_calendar_their_folder_is(tmp_path: Path) -> None:
    folder = tmp_path / "Choir"
    folder.mkdir()
    for uid in ("8F1C", "9A2D"):
        put(folder, calendar(event(uid, "SUMMARY:Tea"), name=None), f"{uid}.ics")
    for path in (tmp_path, folder):
        assert {data["calendar"] for data in read(SOURCE, path).values()} == {"Choir"}


TASKS = {
    "kind": "tasks#taskLists",
    "items": [
        {
            "kind": "tasks#tasks",
            "id": "list-1",
            "title": "Boat",
            "items": [
                {
                    "id": "t-1",
                    "title": "Buy rope",
                    "notes": "30 metres",
                    "status": "needsAction",
                    "due": "2026-02-01T00:00:00.000Z",
                    "updated": "2026-01-31T10:15:00.000Z",
                    "links": [{"type": "email", "link": "https://mail.example/1"}],
                },
                {"id": "t-2", "title": "Paint", "status": "completed", "parent": "t-1"}
                | {"completed": "2026-01-30T09:00:00.000Z"},
                {"id": "t-3", "title": "", "status": "needsAction"},
                {"id": "t-4", "title": "Old", "deleted": True},
            ],
        },
        {"kind": "tasks#tasks", "id": "list-2", "title": "Empty"},
    ],
}


def test_lists_of_google_tasks_are_tasks(tmp_path: Path) -> None:
    path = put(tmp_path, json.dumps(TASKS).encode(), "Tasks.json")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.identity) == ("Google Tasks", "list-1")
    rope, paint = read(SOURCE, path).values()
    assert rope["due_at"] == rope["starts_at"] == "2026-02-01T00:00:00"
    assert (rope["calendar"], rope["notes"], rope["status"]) == (
        "Boat",
        "30 metres",
        "NEEDS-ACTION",
    )
    assert rope["link"] == "https://mail.example/1"
    assert (paint["status"], paint["completed_at"]) == ("COMPLETED", "2026-01-30T09:00:00.000Z")
    reasons = [found.reason for found in told(SOURCE, path)]
    assert reasons == ["a task without words", "a task that was deleted"]


def test_lists_of_google_tasks_are_known_whatever_stands_first_in_them(tmp_path: Path) -> None:
    path = put(tmp_path, json.dumps(TASKS, sort_keys=True).encode(), "Tasks.json")
    assert [data["title"] for data in read(SOURCE, path).values()] == ["Buy rope", "Paint"]
    alone = put(tmp_path, json.dumps(TASKS["items"][0], sort_keys=True).encode(), "list.json")
    assert look(SOURCE, alone) is None


def test_google_tasks_in_a_takeout_are_an_account_beside_its_calendars(tmp_path: Path) -> None:
    tasks = json.dumps(TASKS).encode()
    files = {
        "Takeout/Tasks/Tasks.json": tasks,
        "Takeout/Calendar/nora.ics": calendar(TASK, name="Nora"),
        "Takeout/Calendar/club.ics": calendar(DIARY, name="Club"),
    }
    home = Home(tmp_path / "home")
    home.bring(zipped(tmp_path / "takeout-20260131T101500Z-001.zip", files))
    assert "Google Tasks" in home.accounts()
    before = home.records()
    assert len(before) == 4
    home.bring(put(tmp_path, tasks, "Tasks (1).json"))
    assert home.records() == before


def test_parts_of_a_calendar_that_nobody_knows_are_told(tmp_path: Path) -> None:
    path = tmp_path / "harbour.ics"
    path.write_text(
        "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VAVAILABILITY\nBEGIN:AVAILABLE\nEND:AVAILABLE\n"
        "END:VAVAILABILITY\nBEGIN:X-TIDE\nEND:X-TIDE\nBEGIN:VEVENT\nUID:one\nSUMMARY:High\n"
        "DTSTART:20260101T080000Z\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    assert [finding.example for finding in told(SOURCE, path)] == [
        "harbour.ics VAVAILABILITY",
        "harbour.ics X-TIDE",
    ]
    assert len(read(SOURCE, path)) == 1


def test_where_an_entry_lies_what_it_needs_and_how_urgent_it_is_come_in(tmp_path: Path) -> None:
    lines = ("GEO:38.5;-9.25", "RESOURCES:Easel, lamp", "RESOURCES:Room 2", "PRIORITY:1")
    task = event("t@example", "PERCENT-COMPLETE:40", *lines).replace("VEVENT", "VTODO")
    bare = event("b@example", "GEO:0;0", "PRIORITY:0")
    (tmp_path / "a.ics").write_text(
        "BEGIN:VCALENDAR\n" + event("e@example", *lines) + task + bare + "END:VCALENDAR\n"
    )
    by_key = {key: data for (_, key), data in read(SOURCE, tmp_path / "a.ics").items()}
    for key in ("e@example", "t@example"):
        place = (by_key[key]["latitude"], by_key[key]["longitude"])
        assert (place, by_key[key]["priority"]) == ((38.5, -9.25), 1)
        assert by_key[key]["resources"] == ["Easel", "lamp", "Room 2"]
    assert by_key["t@example"]["percent_done"] == 40
    assert not by_key["b@example"].keys() & {"latitude", "priority", "resources"}
