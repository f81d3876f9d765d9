"""``pdpp read fetch``: one whole record."""

import json
from pathlib import Path

import pytest
from tests.cli.reading.desk import Desk, at_desk, commands
from tests.mcp.post import FIRST, post_store
from tests.serving import living, put

INVOICE = "cin_home/messages:m-invoice-4471"
DIARY = "cin_notes/documents:renovation-diary"


@pytest.mark.parametrize(
    "words",
    [
        (INVOICE,),
        ("messages:m-invoice-4471", "--connection", "cin_home"),
        ("--connection", "cin_home", "--stream", "messages", "--record", "m-invoice-4471"),
        ("pdpp://record/cin_home%2Fmessages%3Am-invoice-4471",),
    ],
)
def test_a_record_is_shown_whole(desk: Desk, words: tuple[str, ...]) -> None:
    record = desk.get("/v1/streams/messages/records/m-invoice-4471").json()
    assert json.loads(desk.read("fetch", *words, "--json")) == record
    lines = desk.read("fetch", *words).splitlines()
    assert lines[0] == '"Invoice 4471 for the kitchen tiles"'
    assert lines[1].startswith(f"{INVOICE} · demo_mail · Home mail · messages · emitted ")
    body = [line.removeprefix("│ ") for line in lines if line.startswith("│ ")]
    assert body == record["data"]["body"].split("\n")
    assert 'labels: ["to answer"]' in lines


def test_a_very_long_field_is_cut_and_says_how_to_go_on(desk: Desk) -> None:
    text = desk.read("fetch", DIARY)
    whole = desk.get("/v1/streams/documents/records/renovation-diary").json()["data"]["body"]
    [line] = commands(text, "read on")
    served = int(line.rpartition(" ")[2])
    assert f"body: {served:,} of {len(whole):,} chars" in text
    assert served <= 20_000
    window = desk.typed(f"{line} --json").document["window"]
    assert window["text"] == whole[served : served + 4_096]


def test_binary_content_is_told_and_not_shown(desk: Desk) -> None:
    photo = desk.get("/v1/streams/photos/records", limit=1).json()["data"][0]
    image = photo["data"]["image"]
    text = desk.read("fetch", f"cin_photos/photos:{photo['id']}")
    assert f"image: [{image['mime_type']}, {image['size_bytes']:,} bytes]" in text
    assert commands(text, "save") == [f"pdpp read blob {image['blob_id']} --output FILE"]


def test_fields_and_related_records_are_chosen(desk: Desk) -> None:
    text = desk.read("fetch", INVOICE, "--fields", "subject,thread_id", "--expand", "thread")
    assert "thread: 1 record" in text
    [line] = commands(text, "whole record")
    assert line == "pdpp read fetch cin_home/threads:t-invoice-4471"
    assert desk.typed(line).code == 0
    text = desk.read(
        "fetch", line.split()[-1], "--expand", "messages", "--expand-limit", "messages=1"
    )
    assert "messages: 1 record, more exist" in text


def test_a_relation_that_leads_nowhere_is_none(tmp_path: Path) -> None:
    store = post_store(tmp_path / "store")
    put(store, FIRST, "letters", {"id": "lonely", "headline": "Alone", "folder_id": "gone"})
    with living(store) as world:
        mine = at_desk(world, tmp_path)
        words = (f"{FIRST}/letters:lonely", "--expand", "folder")
        assert "folder: none" in mine.read("fetch", *words)
        listed = mine.read("records", "letters", "--expand", "folder", "--filter", "id=lonely")
        assert "folder: none" in listed
