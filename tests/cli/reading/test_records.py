"""``pdpp read records``: cards, lines and the server's own JSON, page by page."""

import json
from pathlib import Path

import pytest
from tests.cli.reading.desk import Desk, at_desk, commands
from tests.cli.shell import DECLARATION
from tests.serving import all_rows, living, planted_store, write

PATH = "/v1/streams/messages/records"
HOME = ("records", "messages", "--connection", "cin_home")


def test_records_are_cards_with_their_title_and_each_field_on_a_line(desk: Desk) -> None:
    text = desk.read(*HOME, "--filter", "id=m-invoice-4471")
    lines = text.splitlines()
    assert lines[0] == (
        '1. cin_home/messages:m-invoice-4471 · "Invoice 4471 for the kitchen tiles"'
    )
    assert lines[1].startswith('   body: "Dear Nora,⏎⏎please find attached invoice 4471 ')
    assert lines[1].endswith('…" (335 chars)')
    assert "   size_bytes: 55593" in lines
    assert "   in_reply_to: null" in lines
    assert "1 record of messages. End of list." in lines
    [whole] = commands(text, "whole record")
    assert "└ end of record text" in desk.typed(whole).out


def test_the_options_are_the_servers_parameters(desk: Desk) -> None:
    ended = desk.run(
        "read",
        *HOME,
        *("--filter", "sent_at>=2026-03-01", "--filter", '{"sent_at": {"lt": "2026-04-01"}}'),
        *("--fields", "subject,sent_at", "--fields", "id", "--sort", "sent_at", "--order", "desc"),
        *("--count", "exact", "--limit", "2", "--json"),
    )
    told = desk.get(
        PATH,
        **{
            "connection_id": "cin_home",
            "filter[sent_at][gte]": "2026-03-01",
            "filter[sent_at][lt]": "2026-04-01",
            "fields": "subject,sent_at,id",
            "sort": "sent_at",
            "order": "desc",
            "count": "exact",
            "limit": 2,
        },
    ).json()
    found = ended.document
    assert (found["data"], found["meta"]) == (told["data"], told["meta"])


def test_a_view_and_related_records_can_be_asked_for(desk: Desk) -> None:
    text = desk.read(
        "records", "orders", "--limit", "1", "--expand", "items", "--expand-limit", "items=1"
    )
    assert "   items: 1 record" in text
    text = desk.read("records", "items", "--limit", "1", "--expand", "order")
    assert "   order: record " in text
    text = desk.read(*HOME, "--view", "envelope", "--limit", "1")
    assert "   subject: " in text
    assert "   body: " not in text


def test_pages_follow_each_other_through_the_shown_command(desk: Desk) -> None:
    first = desk.read(*HOME, "--limit", "2", "--fields", "id")
    [line] = commands(first, "next")
    second = desk.typed(line).out
    told = desk.get(PATH, connection_id="cin_home", limit=4).json()["data"]
    assert [row["id"] for row in told] == [
        json.loads(part.split("\n")[0]) for part in (first + second).split("id: ")[1:]
    ]


def test_all_records_come_as_lines_of_json(desk: Desk) -> None:
    ended = desk.run("read", *HOME, "--all", "--jsonl")
    told = all_rows(desk.world.server.client(desk.token), PATH, connection_id="cin_home", limit=100)
    assert [json.loads(line) for line in ended.out.splitlines()] == told
    assert ended.err == ""


def test_changes_end_in_the_command_for_later(desk: Desk) -> None:
    words = ("records", "albums", "--connection", "cin_photos", "--changes-since", "beginning")
    text = desk.read(*words, "--limit", "2")
    [following] = commands(text, "next")
    assert commands(text, "later") == []
    text = desk.read(*words, "--all")
    assert "5 records of albums. End of list." in text
    [later] = commands(text, "later")
    assert "0 records of albums" in desk.typed(later).out
    assert desk.typed(following).code == 0


def test_a_tombstone_says_when_it_went(tmp_path: Path) -> None:
    held = {("c", "moods"): [{"id": "a"}]}
    store = planted_store(tmp_path / "store", DECLARATION, {"c": "C"}, held)
    with living(store) as world:
        mine = at_desk(world, tmp_path)
        words = ("records", "moods", "--connection", "c", "--changes-since")
        [later] = commands(mine.read(*words, "beginning"), "later")
        write(store, "c", "moods", [{"key": "a", "op": "delete"}])
        assert "1. c/moods:a · deleted at 2" in mine.typed(later).out


def test_a_stream_may_be_named_by_its_uri(desk: Desk) -> None:
    assert desk.read("records", "pdpp://stream/albums", "--limit", "1").startswith("1. cin_photos")


def test_a_clamped_limit_is_noted(desk: Desk) -> None:
    assert "note: limit is at most 100" in desk.read("records", "notebooks", "--limit", "500")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--fields", "id", "--view", "envelope"), "Choose --fields or --view"),
        (("--expand-limit", "items"), "is not such as attachments=5"),
        (("--filter", "odd"), "is no filter"),
        (("--filter", "{"), "is no filter"),
        (("--filter", '{"a": {"like": 1}}'), "is no filter"),
        (("--filter", '{"a": [1]}'), "is no filter"),
        (("--filter", "{}"), "is no filter"),
        (("--filter", "a=1", "--filter", "a=2"), "contradict each other"),
        (("--filter", "a=1", "--filter", "a>2"), "contradict each other"),
        (("--filter", "a>1", "--filter", "a>2"), "contradict each other"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_asked(
    desk: Desk, words: tuple[str, ...], told: str
) -> None:
    assert told in desk.here("read", "records", "messages", *words).failed(code=64)


def test_binary_content_is_told_in_a_card(desk: Desk) -> None:
    assert "   image: [image/png, " in desk.read("records", "photos", "--limit", "1")
