"""Sessions of Codex that are in several logs: copies, logs written anew, and logs that go on."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.formats.test_codex import META, SOURCE, line, said, write
from tests.sources.kit import Home, check_overlap, check_twice, counts, read, told

from pdpp.sources.formats.agent_log import ABOUT_SESSION

THREAD = "01980000-0000-7000-8000-00000000000a"
OTHER = "01990000-0000-7000-8000-00000000000b"
FIRST = f"rollout-2026-02-01T10-00-00-{THREAD}.jsonl"
NEXT = f"rollout-2026-02-01T11-00-00-{THREAD}_{OTHER}.jsonl"
HEAD = line("session_meta", {**META, "id": THREAD}, 0)
SHARED = [HEAD, said("user", "Where is the buoy?", 1), said("assistant", "North.", 2)]
HERE = [said("user", "Tow it home.", 3), said("assistant", "It is home.", 4)]
THERE = [said("user", "Leave it.", 5), said("assistant", "It stays.", 6), said("user", "Good.", 7)]


def texts(home: Home) -> list[str]:
    """Return what the messages of a home say, in the order of time."""
    messages = [data for (stream, _), data in home.records().items() if stream == "messages"]
    return [data["text"] for data in sorted(messages, key=lambda data: data["sent_at"])]


def sessions(home: Home) -> list[dict[str, Any]]:
    return [data for (stream, _), data in home.records().items() if stream == "sessions"]


def spoken(*lines: dict[str, Any]) -> list[str]:
    return [each["payload"]["content"][0]["text"] for each in lines]


EVERY = spoken(*SHARED[1:], *HERE, *THERE)


def test_a_log_that_went_on_differently_on_two_machines_loses_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(write(tmp_path / "here" / "sessions" / FIRST, SHARED + HERE).parent)
    report = home.bring(write(tmp_path / "there" / "sessions" / FIRST, SHARED + THERE).parent)
    assert (counts(report)["new"], counts(report)["changed"]) == (len(THERE), 1)
    assert texts(home) == EVERY
    assert len(sessions(home)) == 1


@pytest.mark.parametrize(
    "copy", [f"there/sessions/{FIRST}", f"here/sessions/{FIRST[:-6]} (1).jsonl"]
)
def test_two_such_logs_in_one_folder_are_one_session(copy: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    write(folder / "here" / "sessions" / FIRST, SHARED + HERE)
    check_overlap(write(folder / copy, SHARED + THERE), folder, tmp_path)
    home = Home(tmp_path / "home")
    home.bring(folder)
    assert texts(home) == EVERY
    assert len(sessions(home)) == 1


def test_a_log_that_is_written_anew_brings_nothing_twice(tmp_path: Path) -> None:
    """Codex brings its older logs into the layout of today: with more lines, and without some."""
    log = write(tmp_path / "sessions" / FIRST, SHARED + HERE)
    home = Home(tmp_path / "home")
    home.bring(log)
    before = home.records()
    head = line("session_meta", {**META, "id": THREAD, "history_mode": "paginated"}, 0)
    turn = line("event_msg", {"type": "turn_started", "turn_id": "t"}, 1)
    anew = [head, turn, *SHARED[1:], turn, *HERE]
    write(log, [{**each, "ordinal": number} for number, each in enumerate(anew)])
    report = home.bring(log)
    assert not {"new", "changed"} & counts(report).keys()
    assert home.records() == before


def test_what_is_said_again_at_once_is_said_twice(tmp_path: Path) -> None:
    """The lines of a branch are all written at one moment."""
    log = write(tmp_path / FIRST, [HEAD, said("user", "Go on", 1), said("user", "Go on", 1)])
    assert [name for name, _ in read(SOURCE, log)].count("messages") == 2
    check_twice(log, tmp_path)


def test_a_renamed_log_is_of_the_same_session(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    log = write(tmp_path / "sessions" / FIRST, SHARED + HERE)
    home.bring(log)
    renamed = log.rename(tmp_path / "the buoy.jsonl")
    assert not {"new", "changed"} & counts(home.bring(renamed)).keys()


def continued(folder: Path) -> Path:
    """Write a session that was taken up again, in a log of its own."""
    write(folder / "2026" / "02" / "01" / FIRST, SHARED)
    base = {"thread_id": THREAD, "end_ordinal_exclusive": 3, "end_byte_offset": 700}
    head = line("session_meta", {**META, "id": THREAD, "history_base": base}, 3)
    write(folder / "2026" / "02" / "02" / NEXT, [head, *HERE])
    return folder


def test_a_session_that_goes_on_in_another_log_is_one(tmp_path: Path) -> None:
    folder = continued(tmp_path / "sessions")
    records = read(SOURCE, folder)
    [session] = [data for (stream, _), data in records.items() if stream == "sessions"]
    assert (session["title"], session["message_count"]) == ("Where is the buoy?", 4)
    assert (session["started_at"], session["ended_at"]) == (
        META["timestamp"],
        HERE[-1]["timestamp"],
    )
    assert {
        data.get("session_id") for (name, _), data in records.items() if name == "messages"
    } == {session["id"]}
    assert {each.reason for each in told(SOURCE, folder)} == {ABOUT_SESSION}
    check_twice(folder, tmp_path)


def test_a_log_with_which_a_session_goes_on_may_come_later(tmp_path: Path) -> None:
    folder = continued(tmp_path / "sessions")
    check_overlap(folder / "2026" / "02" / "01", folder, tmp_path)


def test_what_was_said_aloud_is_a_message(tmp_path: Path) -> None:
    spoken_aloud = {"type": "transcript_segment", "id": "v1", "role": "user", "text": "Ahoy"}
    log = write(
        tmp_path / FIRST,
        [
            HEAD,
            line("realtime_item", {"type": "realtime_session_started", "id": "v0"}, 1),
            line("realtime_item", spoken_aloud, 2),
        ],
    )
    [message] = [data for (name, _), data in read(SOURCE, log).items() if name == "messages"]
    assert (message["role"], message["text"]) == ("user", "Ahoy")
    assert [each.reason for each in told(SOURCE, log)] == [
        ABOUT_SESSION,
        "a mark of the program, which is no message",
    ]
