"""Slack exports, as a workspace's owner gets them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_json,
    check_hostile_zip,
    check_overlap,
    check_twice,
    golden,
    look,
    read,
    told,
    zipped,
)

from pdpp.sources.formats.slack.source import Slack, readable
from pdpp.sources.source import Confidence, Recognition

SOURCE = Slack()
PEOPLE: list[dict[str, Any]] = [
    {
        "id": "U1",
        "team_id": "T9",
        "name": "nora",
        "profile": {"real_name": "Nora Lind", "display_name": "Nora", "email": "nora@lind.example"},
    },
    {"id": "U2", "team_id": "T9", "name": "ben", "real_name": "Ben Costa", "deleted": True},
    {"id": "U3", "name": "tidebot", "is_bot": True, "profile": {}},
]
CHANNELS: list[dict[str, Any]] = [
    {
        "id": "C1",
        "name": "harbour",
        "created": 1_700_000_000,
        "members": ["U1", "U2"],
        "topic": {"value": "Boats & tides"},
        "purpose": {"value": ""},
    }
]
DIRECT = [{"id": "D1", "created": 1_700_000_000, "members": ["U1", "U2"]}]
MANY = [{"id": "G1", "name": "mpdm-nora--ben-1", "members": ["U1", "U9"]}]


def message(stamp: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "text": text, "ts": stamp, **more}


DAY: list[dict[str, Any]] = [
    message(
        "1767261600.000100",
        "<@U2> the <https://tides.example|tide table> says 15:30 &amp; rising, tell <#C1|harbour>",
        thread_ts="1767261600.000100",
        reply_count=1,
        reactions=[{"name": "wave", "count": 2, "users": ["U2"]}],
    ),
    message(
        "1767261700.000200",
        "The old mole will be under water by then",
        user="U2",
        thread_ts="1767261600.000100",
        edited={"user": "U2", "ts": "1767261800.000000"},
    ),
    message(
        "1767261900.000300",
        "",
        files=[{"id": "F1", "name": "chart.pdf", "url_private": "https://files.example/F1"}],
    ),
    {
        "type": "message",
        "subtype": "bot_message",
        "bot_id": "B1",
        "username": "Tide bot",
        "text": "",
        "attachments": [{"title": "Low water", "fallback": "at 21:40"}],
        "ts": "1767262000.000400",
    },
    {**message("1767262100.000500", "Hello"), "user": "U7", "user_profile": {"real_name": "Ida"}},
]


def files(days: dict[str, Any], **more: Any) -> dict[str, bytes]:
    found = {"users": PEOPLE, "channels": CHANNELS, "dms": DIRECT, "mpims": MANY, **days, **more}
    return {f"{name}.json": json.dumps(value).encode() for name, value in found.items()}


DAYS = {"harbour/2026-01-01": DAY, "D1/2026-01-02": [message("1767348000.000100", "See you")]}


def export(folder: Path, days: dict[str, Any], **more: Any) -> Path:
    for name, content in files(days, **more).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_an_export_is_recognised_by_its_people_and_days(tmp_path: Path) -> None:
    seen = look(SOURCE, export(tmp_path / "Tide Club export", DAYS))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.version) == (Confidence.CERTAIN, "2 days of messages")
    assert (seen.account, seen.identity) == ("Slack (Tide Club export)", "T9")
    empty = look(SOURCE, export(tmp_path / "empty", {}))
    assert isinstance(empty, Recognition)
    assert empty.confidence is Confidence.LIKELY


def test_other_folders_are_not_taken(tmp_path: Path) -> None:
    assert look(SOURCE, export(tmp_path / "e", {}, users=[{"id": 1}])) is None
    (tmp_path / "f").mkdir()
    assert look(SOURCE, tmp_path / "f") is None


def test_an_export_gives_these_records(tmp_path: Path) -> None:
    path = export(tmp_path / "e", DAYS)
    golden("slack", read(SOURCE, path))
    assert told(SOURCE, path) == []


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("<@U1> hi", "@Nora hi"),
        ("<@U8|ida>", "@ida"),
        ("<#C9>", "#C9"),
        ("<!here> <!subteam^S1|@crew> <!date^1^x>", "@here @crew date"),
        ("<mailto:a@x.example|a@x.example>", "a@x.example"),
        ("<https://x.example>", "https://x.example"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
    ],
)
def test_markup_becomes_what_a_person_sees(written: str, seen: str) -> None:
    assert readable(written, {"U1": "Nora"}) == seen


def test_what_cannot_be_placed_is_told(tmp_path: Path) -> None:
    days = {
        "harbour/2026-01-01": [
            {"type": "event", "ts": "1767261600.0"},
            message("soon", "x"),
            message("1767261600.000100", " "),
            7,
        ]
    }
    path = export(tmp_path / "e", days, users=[*PEOPLE, {"name": "x"}], dms=[{"created": 1}])
    assert sorted(found.reason for found in told(SOURCE, path)) == [
        "a conversation without an id",
        "a message without text or files",
        "a person without an id",
        "a shape that is not known",
        "an entry that is no message with a time",
        "an entry that is no message with a time",
    ]


def test_a_folder_that_no_list_names_is_read_under_its_own_name(tmp_path: Path) -> None:
    path = export(tmp_path / "e", {"lost/2026-01-01": [message("1767261600.000100", "Hm")]})
    (data,) = [data for (stream, _), data in read(SOURCE, path).items() if stream == "messages"]
    assert (data["conversation"], data["conversation_id"]) == ("lost", "lost")


def test_the_same_export_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(export(tmp_path / "e", DAYS), tmp_path)


def test_an_export_and_then_a_later_one_are_the_later_one(tmp_path: Path) -> None:
    later = {**DAYS, "harbour/2026-01-03": [message("1767434400.000100", "More")]}
    check_overlap(export(tmp_path / "a", DAYS), export(tmp_path / "b", later), tmp_path)


def place(folder: Path, content: bytes) -> Path:
    export(folder, {})
    (folder / "harbour").mkdir(exist_ok=True)
    (folder / "harbour" / "2026-01-01.json").write_bytes(content)
    return folder


def test_a_cut_day_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    content = json.dumps(DAY).encode()
    check_cuts(SOURCE, content, lambda cut: place(tmp_path / "e", cut))


def test_hostile_exports_are_survived(tmp_path: Path) -> None:
    check_hostile_json(SOURCE, DAY, lambda content: place(tmp_path / "e", content))
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, files(DAYS), folder)


@given(st.lists(st.integers(min_value=1, max_value=9_999), min_size=1, max_size=5, unique=True))
def test_keys_keep_the_stamp_as_it_is_written(numbers: list[int]) -> None:
    from tempfile import TemporaryDirectory

    made = [message(f"1767261600.00{number:04}", f"text {number}") for number in numbers]
    with TemporaryDirectory() as folder:
        records = read(SOURCE, export(Path(folder), {"harbour/2026-01-01": made}))
    found = {key for stream, key in records if stream == "messages"}
    assert found == {f"C1.{each['ts']}" for each in made}


def test_an_agent_finds_a_message_in_a_zip(tmp_path: Path) -> None:
    path = zipped(tmp_path / "Tide Club.zip", files(DAYS))
    report = bring_and_ask(path, tmp_path, "under water", "The old mole will be under water")
    assert report["counts"]["new"] == 12


def test_a_message_whose_words_are_only_in_blocks_is_read(tmp_path: Path) -> None:
    section = {
        "type": "rich_text_section",
        "elements": [{"type": "text", "text": "Low water "}, {"type": "link", "url": "https://x"}],
    }
    blocks = [{"type": "rich_text", "elements": [section]}]
    path = export(
        tmp_path / "e", {"harbour/2026-01-01": [message("1767261600.000100", "", blocks=blocks)]}
    )
    texts = [d["text"] for (stream, _), d in read(SOURCE, path).items() if stream == "messages"]
    assert texts == ["Low water https://x"]


CANVASES = [
    {
        "id": "F1CANVAS",
        "created": 1_767_225_600,
        "updated": 1_767_312_000,
        "name": "Links",
        "title": "Harbour links",
        "mimetype": "application/vnd.slack-docs",
        "filetype": "quip",
        "pretty_type": "Canvas",
        "user": "U1",
        "channels": ["C1"],
        "url_private": "https://files.slack.example/F1CANVAS/links",
        "permalink": "https://tides.slack.example/docs/T9/F1CANVAS",
    },
    {"title": "nobody knows which"},
]
LISTS = [
    {
        "id": "F2LIST",
        "created": 1_767_225_600,
        "title": "Buoys to paint",
        "mimetype": "application/vnd.slack-list",
        "filetype": "list",
        "user": "U9",
        "list_metadata": {"schema": [{"key": "name", "name": "Buoy"}, {"key": "due_date"}, 3]},
        "url_private": "https://files.slack.example/F2LIST/buoys",
    }
]
COMMENTS = "FC:F1CANVAS:Harbour links"
ABOUT_FILES = [{"id": "C7", "name": COMMENTS, "created": 1_767_225_600, "members": ["U1"]}]


def test_canvases_lists_and_the_comments_on_them_are_read(tmp_path: Path) -> None:
    days = {**DAYS, f"{COMMENTS}/2026-01-03": [message("1767434400.000100", "Add the pilots")]}
    path = export(
        tmp_path / "e", days, canvases=CANVASES, lists=LISTS, file_conversations=ABOUT_FILES
    )
    records = read(SOURCE, path)
    assert records["documents", "F1CANVAS"] == {
        "id": "F1CANVAS",
        "kind": "canvas",
        "title": "Harbour links",
        "author": "Nora",
        "author_id": "U1",
        "conversations": ["#harbour"],
        "link": "https://tides.slack.example/docs/T9/F1CANVAS",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
    }
    assert records["documents", "F2LIST"] == {
        "id": "F2LIST",
        "kind": "list",
        "title": "Buoys to paint",
        "columns": ["Buoy", "due_date"],
        "author": "U9",
        "author_id": "U9",
        "link": "https://files.slack.example/F2LIST/buoys",
        "created_at": "2026-01-01T00:00:00Z",
    }
    room = records["conversations", "C7"]
    assert (room["name"], room["kind"]) == ("comments on Harbour links", "comments on a document")
    comment = records["messages", "C7.1767434400.000100"]
    assert (comment["conversation"], comment["text"]) == (room["name"], "Add the pilots")
    assert [finding.reason for finding in told(SOURCE, path)] == ["a canvas without an id"]


def test_every_file_of_an_export_with_canvases_is_accounted_for(tmp_path: Path) -> None:
    more = {"canvases": CANVASES[:1], "lists": LISTS, "file_conversations": [], "content_flags": []}
    report = Home(tmp_path / "home").bring(export(tmp_path / "e", DAYS, **more))
    assert (report["status"], report["files"]["unknown"]) == ("complete", [])


def test_transcripts_of_huddles_are_documents_and_their_file_is_accounted_for(
    tmp_path: Path,
) -> None:
    transcripts = [
        {
            "id": "F3HUDDLE",
            "filetype": "huddle_transcript",
            "title": "Huddle in #harbour",
            "user": "U1",
            "channels": ["C1"],
            "created": 1_767_225_600,
            "permalink": "https://tides.slack.example/files/F3HUDDLE",
        },
        {"title": "nobody knows which"},
    ]
    path = export(tmp_path / "e", DAYS, huddle_transcripts=transcripts)
    records = read(SOURCE, path)
    assert records["documents", "F3HUDDLE"]["kind"] == "huddle transcript"
    assert records["documents", "F3HUDDLE"]["title"] == "Huddle in #harbour"
    reasons = [finding.reason for finding in told(SOURCE, path)]
    assert reasons == ["a huddle transcript without an id"]
    report = Home(tmp_path / "home").bring(path)
    assert report["files"]["unknown"] == []
    assert report["counts"]["unknown"] == 1


def texts_of(folder: Path, *messages: dict[str, Any]) -> list[str]:
    path = export(folder, {"harbour/2026-01-01": list(messages)})
    return [d["text"] for (stream, _), d in read(SOURCE, path).items() if stream == "messages"]


def test_texts_that_stand_beside_each_other_in_blocks_are_not_glued(tmp_path: Path) -> None:
    fields = [{"type": "mrkdwn", "text": "Boat Ada"}, {"type": "mrkdwn", "text": "Berth 7"}]
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Arrival"}},
        {"type": "section", "fields": fields},
        {"type": "image", "alt_text": "the mole at dusk"},
        {"type": "rich_text", "elements": [{"type": "broadcast", "range": "here"}]},
    ]
    [text] = texts_of(tmp_path, message("1767261600.000100", "", blocks=blocks))
    lines = [line.strip() for line in text.splitlines()]
    assert lines == ["Arrival", "Boat Ada Berth 7", "the mole at dusk @here"]


def test_what_programs_and_other_messages_attach_is_read(tmp_path: Path) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "Low water 06:12"}}
    words = {"type": "rich_text_section", "elements": [{"type": "text", "text": "Bring oars"}]}
    quoted = {"message": {"blocks": [{"type": "rich_text", "elements": [words]}]}}
    status = {"author_name": "Ferry", "title": "Line 2", "footer": "pier 3"}
    texts = texts_of(
        tmp_path,
        message(
            "1767261600.000100",
            "",
            attachments=[{**status, "fields": [{"title": "Status", "value": "late"}]}],
        ),
        message("1767261600.000200", "", attachments=[{"blocks": [section], "fallback": "[none]"}]),
        message("1767261600.000300", "", attachments=[{"message_blocks": [quoted]}]),
        message("1767261600.000400", "", files=[{"id": "F3", "preview": "ropes: 4"}]),
    )
    assert texts == [
        "Ferry\nLine 2\nStatus: late\npier 3",
        "Low water 06:12",
        "Bring oars",
        "ropes: 4",
    ]


def test_files_and_comments_on_them_of_before_2018_are_kept(tmp_path: Path) -> None:
    old = {"id": "F1", "name": "chart.pdf", "url_private": "https://files.example/F1"}
    said = {"user": "U2", "comment": "The old depths"}
    day = [
        message("1467261600.000100", "uploaded a file", subtype="file_share", file=old),
        {
            "type": "message",
            "subtype": "file_comment",
            "text": "commented on a file",
            "comment": said,
            "file": old,
            "ts": "1467261601.000100",
        },
    ]
    records = read(SOURCE, export(tmp_path / "s", {"harbour/2016-06-30": day}))
    share, comment = (records["messages", f"C1.146726160{number}.000100"] for number in (0, 1))
    assert (share["file_names"], share["file_links"]) == (
        ["chart.pdf"],
        ["https://files.example/F1"],
    )
    assert (share["text"], share["shared_files"]) == ("uploaded a file", "chart.pdf")
    assert (comment["sender"], comment["sender_id"]) == ("Ben Costa", "U2")
    assert comment["text"] == "commented on a file\nThe old depths"


def test_an_account_is_called_as_the_workspace_and_not_by_the_days(tmp_path: Path) -> None:
    name = "Harbour Slack export Jan 1 2026 - Feb 1 2026.zip"
    files = {"users.json": PEOPLE, "channels.json": CHANNELS, "harbour/2026-01-01.json": DAY}
    made = {each: json.dumps(held).encode() for each, held in files.items()}
    seen = look(SOURCE, zipped(tmp_path / name, made))
    assert isinstance(seen, Recognition)
    assert seen.account == "Slack (Harbour)"


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def test_what_a_program_laid_out_is_read_beside_its_short_text(tmp_path: Path) -> None:
    typed = {"type": "rich_text_section", "elements": [{"type": "text", "text": "Ebb  at six"}]}
    texts = texts_of(
        tmp_path,
        message(
            "1767261600.000100",
            "This content can't be displayed.",
            blocks=[section("Low water at *noon*")],
        ),
        message("1767261600.000200", "Gale", blocks=[section("Gale warning"), {"type": "divider"}]),
        message("1767261600.000300", "Storm", blocks=[section("Berth 7 is <https://x|shut>")]),
        message("1767261600.000400", "Berth 7 is shut", blocks=[section("Berth 7")]),
        message(
            "1767261600.000500", "Ebb at 6", blocks=[{"type": "rich_text", "elements": [typed]}]
        ),
        message("1767261600.000600", "This content can't be displayed.", blocks=[]),
    )
    assert texts == [
        "Low water at *noon*",
        "Gale warning",
        "Storm\nBerth 7 is shut (https://x)",
        "Berth 7 is shut",
        "Ebb at 6",
        "This content can't be displayed.",
    ]


def test_a_table_is_read_row_by_row(tmp_path: Path) -> None:
    def cell(*words: str) -> dict[str, Any]:
        pieces = [{"type": "text", "text": word} for word in words]
        return {
            "type": "rich_text",
            "elements": [{"type": "rich_text_section", "elements": pieces}],
        }

    rows = [
        [cell("Buoy"), cell("Colour")],
        [cell("Mole ", "north"), {"type": "raw_text", "text": "red"}],
    ]
    typed = {"type": "rich_text", "elements": [{"type": "text", "text": "The buoys:"}]}
    blocks = [typed, {"type": "table", "rows": rows}]
    said = message("1767261600.000100", "The buoys:", blocks=blocks)
    path = export(tmp_path / "e", {"harbour/2026-01-01": [said]})
    texts = [d["text"] for (stream, _), d in read(SOURCE, path).items() if stream == "messages"]
    assert texts == ["The buoys:\nBuoy | Colour\nMole north | red"]


def test_a_program_is_called_by_its_own_name(tmp_path: Path) -> None:
    posted = {**message("1767261600.000100", "Ebb"), "user": "U8", "bot_id": "B1"}
    path = export(
        tmp_path / "e", {"harbour/2026-01-01": [{**posted, "bot_profile": {"name": "Buoy"}}]}
    )
    assert read(SOURCE, path)["messages", "C1.1767261600.000100"]["sender"] == "Buoy"


def test_links_keep_no_token_so_that_a_later_export_changes_nothing(tmp_path: Path) -> None:
    def day(token: str, name: str) -> Path:
        link = f"https://files.slack.com/files-pri/T9-F1/chart.pdf?{name}={token}"
        files = [{"id": "F1", "name": "chart.pdf", "url_private": link}]
        passed_on = [{"text": "Look", "files": [{"id": "F2", "name": "mole.png"}]}]
        said = message("1767261600.000100", "Here", files=files, attachments=passed_on)
        return export(tmp_path / token, {"harbour/2026-01-01": [said]})

    home = Home(tmp_path / "home")
    home.bring(day("xoxe-1-a", "t"))
    before = home.records()
    report = home.bring(day("xoxe-2-b", "token"))
    assert (report["counts"]["changed"], home.records()) == (0, before)
    [kept] = [data for (stream, _), data in before.items() if stream == "messages"]
    assert kept["file_links"] == ["https://files.slack.com/files-pri/T9-F1/chart.pdf"]
    assert kept["file_names"] == ["chart.pdf", "mole.png"]


def test_the_canvas_of_a_room_is_a_document_shared_there(tmp_path: Path) -> None:
    canvas: dict[str, Any] = {"id": "F5ROOM", "title": "Moorings", "user": "U1"}
    canvas["shares"] = [{"team": "T9", "channel": "C1"}]
    days = {**DAYS, "harbour/canvas_in_the_conversation": [canvas]}
    path = zipped(
        tmp_path / "Tides.zip",
        {**files(days, canvases=[canvas]), ".slack-manifest.json": b'{"version": 2}'},
    )
    assert read(SOURCE, path)["documents", "F5ROOM"]["conversations"] == ["#harbour"]
    report = Home(tmp_path / "home").bring(path)
    assert (report["status"], report["files"]["unknown"]) == ("complete", [])


def test_files_that_a_program_put_into_the_export_come_in_with_their_messages(
    tmp_path: Path,
) -> None:
    shared = [{"id": "F1", "name": "chart.pdf", "mimetype": "application/pdf"}, {"id": "F3"}]
    direct = [{"id": "F2", "name": "oars.png"}]
    days = {
        "harbour/2026-01-01": [message("1767261600.000100", "Here", files=shared)],
        "D1/2026-01-02": [message("1767348000.000100", "See", files=direct)],
    }
    path = zipped(
        tmp_path / "dump.zip",
        {
            **files(days),
            "__uploads/F1/chart.pdf": b"%PDF-1.4 depths",
            "D1/attachments/F2-oars.png": b"\x89PNG oars",
            "__uploads/F9/lost.txt": b"of no message",
        },
    )
    held = check_twice(path, tmp_path)
    kept = [data for (stream, _), data in held.items() if stream == "files"]
    assert sorted((data["name"], data["file"]["mime_type"]) for data in kept) == [
        ("chart.pdf", "application/pdf"),
        ("oars.png", "image/png"),
    ]
    assert {("messages", data["message_id"]) for data in kept} <= set(held)
    report = Home(tmp_path / "home").bring(path)
    [unknown] = report["files"]["unknown"]
    assert unknown["examples"] == ["__uploads/F9/lost.txt"]


def test_a_workspace_without_a_name_in_its_data_is_one_account_wherever_it_lies(
    tmp_path: Path,
) -> None:
    nameless = [{**person, "profile": {}} for person in PEOPLE]
    for person in nameless:
        person.pop("team_id", None)
    home = Home(tmp_path / "home")
    home.bring(export(tmp_path / "Tide Club", DAYS, users=nameless))
    report = home.bring(export(tmp_path / "elsewhere", DAYS, users=nameless))
    assert (report["counts"]["new"], len(home.accounts())) == (0, 1)


def test_an_export_and_then_the_same_with_its_files_are_the_one_with_files(tmp_path: Path) -> None:
    shared = [{"id": "F1", "name": "chart.pdf", "mimetype": "application/pdf"}]
    days = {"harbour/2026-01-01": [message("1767261600.000100", "Here", files=shared)]}
    plain = zipped(tmp_path / "a" / "Tides.zip", files(days))
    filled = {**files(days), "__uploads/F1/chart.pdf": b"%PDF-1.4 depths"}
    check_overlap(plain, zipped(tmp_path / "b" / "Tides.zip", filled), tmp_path)
