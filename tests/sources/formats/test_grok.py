"""Grok exports."""

from pathlib import Path

from tests.sources.kit import Home, look, read, told
from tests.sources.samples import every_sample
from tests.sources.samples.grok import TALK, backend, response

from pdpp.sources.formats.grok.source import Grok
from pdpp.sources.source import Recognition

SOURCE = Grok()
SAMPLE = every_sample()["grok: a document and files"]


def test_an_export_is_known_by_the_id_of_its_account(tmp_path: Path) -> None:
    seen = look(SOURCE, SAMPLE.folder(tmp_path))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.identity, seen.owner_known) == ("Grok", "u-1", True)


def test_a_conversation_has_its_thoughts_times_and_files(tmp_path: Path) -> None:
    path = SAMPLE.folder(tmp_path)
    records = read(SOURCE, path)
    messages = [data for (stream, _), data in records.items() if stream == "messages"]
    assert [(data["role"], data["kind"], data["text"]) for data in messages] == [
        ("user", "text", "How deep is the dry dock?"),
        ("assistant", "thoughts", "Look at the plan."),
        ("assistant", "text", "The dry dock is eleven metres deep at spring tide."),
    ]
    assert messages[0]["sent_at"] == "2026-01-01T10:00:01Z"
    [talk] = [data for (stream, _), data in records.items() if stream == "conversations"]
    assert (talk["title"], talk["message_count"]) == ("Dry dock", 3)
    assert (talk["started_at"], talk["updated_at"]) == (
        "2026-01-01T10:00:00.5Z",
        "2026-01-01T10:05:03Z",
    )
    assert [item.reason for item in told(SOURCE, path)] == [
        "a file that is not in the export",
        "an empty message",
        "a task that Grok was given for later",
        "a picture or film that was made, of which only the address is there",
    ]


def test_a_file_comes_in_with_its_bytes(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    report = home.bring(SAMPLE.folder(tmp_path / "export"))
    files = [data for (stream, _), data in home.records().items() if stream == "attachments"]
    assert {file["name"]: "file" in file for file in files} == {"f-1": True, "f-2": False}
    assert report["files"]["unknown"] == []


def test_what_has_no_id_or_time_is_told(tmp_path: Path) -> None:
    path = tmp_path / "grok.json"
    flat = {"_id": "f", "message": "Hello", "sender": "human"}
    path.write_bytes(backend(*TALK[1:2], response("", "human", "Hm", 4), "odd", {"_id": "e"}, flat))
    assert [item.reason for item in told(SOURCE, path)] == [
        "a message without an id",
        "a message without an id",
        "an empty message",
    ]
    assert len(read(SOURCE, path)) == 4
