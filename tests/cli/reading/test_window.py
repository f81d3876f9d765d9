"""``pdpp read window``: the same pieces as the server cuts."""

import json

import pytest
from tests.cli.reading.desk import Desk, commands

INVOICE = "cin_home/messages:m-invoice-4471"
DIARY = "cin_notes/documents:renovation-diary"
ROUTE = "/v1/streams/{}/records/{}/field-window"
ENCODED = "pdpp://record/cin_home%2Fmessages%3Am-invoice-4471"
URI = "pdpp://field-window/cin_home%2Fmessages%3Am-invoice-4471?field=body&offset_chars=5"


def diary(desk: Desk, **params: int | str) -> dict[str, object]:
    path = ROUTE.format("documents", "renovation-diary")
    found: dict[str, object] = desk.get(path, field="body", **params).json()
    return found


@pytest.mark.parametrize(
    "words",
    [
        (INVOICE, "body", "--offset", "5"),
        ("messages:m-invoice-4471", "body", "--connection", "cin_home", "--offset", "5"),
        (ENCODED, "body", "--offset", "5"),
        (URI,),
        (URI, "body", "--connection", "cin_home"),
        (
            "--connection",
            "cin_home",
            "--stream",
            "messages",
            "--record",
            "m-invoice-4471",
            "body",
            "--offset",
            "5",
        ),
    ],
)
def test_a_record_is_named_in_every_form_the_contract_knows(
    desk: Desk, words: tuple[str, ...]
) -> None:
    window = json.loads(desk.read("window", *words, "--json"))
    assert (window["connection_id"], window["record_id"]) == ("cin_home", "m-invoice-4471")
    assert window["window"]["start_chars"] == 5


def test_a_piece_says_where_it_is_and_leads_both_ways(desk: Desk) -> None:
    text = desk.read("window", DIARY, "body", "--offset", "5000", "--limit", "1000")
    head, *_ = text.splitlines()
    told = diary(desk, offset_chars=5000, limit_chars=1000)
    assert head == (
        f"{DIARY} · body · chars 5000–6000 of {told['window']['total_chars']}, more follows · "  # type: ignore[index]
        f"digest {told['digest']}"
    )
    [following], [before] = commands(text, "read on"), commands(text, "before")
    assert following == f"pdpp read window {DIARY} body --offset 6000"
    assert before == f"pdpp read window {DIARY} body --offset 904"
    assert desk.typed(following).code == 0
    assert "chars 904–5000 of" in desk.typed(before).out


def test_going_on_reads_the_whole_field_without_a_gap(desk: Desk) -> None:
    whole = desk.get("/v1/streams/documents/records/renovation-diary").json()["data"]["body"]
    line = f"pdpp read window {DIARY} body --limit 16384"
    read = ""
    while line:
        window = desk.typed(f"{line} --json").document["window"]
        read += window["text"]
        line = next(iter(commands(desk.typed(line).out, "read on")), "")
    assert read == whole


def test_words_are_found_and_the_other_matches_listed(desk: Desk) -> None:
    text = desk.read("window", DIARY, "body", "--query", "tiles", "--before", "5", "--after", "5")
    told = diary(desk, q="tiles", before_chars=5, after_chars=5)["window"]
    assert isinstance(told, dict)
    first, second, *_ = [f"{m['start_chars']}–{m['end_chars']}" for m in told["matches"]]
    assert f"match 1 of {told['match_count']} at {first}; others at {second}, " in text
    assert f" and {told['match_count'] - 20} more" in text


def test_all_reads_to_the_end(desk: Desk) -> None:
    whole = desk.get("/v1/streams/documents/records/renovation-diary").json()["data"]["body"]
    text = desk.read("window", DIARY, "body", "--all", "--offset", "200000")
    assert text.startswith(
        f"{DIARY} · body · chars 200000–{len(whole)} of {len(whole)}, end reached"
    )
    body = [line.removeprefix("│ ") for line in text.splitlines() if line.startswith("│ ")]
    assert body == whole[200_000:].split("\n")
    lines = desk.read("window", DIARY, "body", "--all", "--jsonl").splitlines()
    assert "".join(json.loads(line)["window"]["text"] for line in lines) == whole


def test_a_small_field_is_whole(desk: Desk) -> None:
    text = desk.read("window", INVOICE, "subject")
    assert "chars 0–34 of 34, whole field" in text
    assert text.splitlines()[1:] == [
        "┌ record text",
        "│ Invoice 4471 for the kitchen tiles",
        "└ end of record text",
    ]
    assert (
        json.loads(desk.read("window", INVOICE, "subject", "--jsonl"))["object"] == "field_window"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Which field?"),
        ((INVOICE,), "Which field?"),
        (("no-handle", "body"), "This handle has no ':'"),
        ((INVOICE, "body", "--connection", "cin_work"), "names connection 'cin_home'"),
        ((INVOICE, "body", "--stream", "messages", "--record", "x"), "not both"),
        (("body", "--record", "x"), "Which record?"),
        (("body", "--record", "x", "--stream", "a/b"), "A stream holds neither"),
        ((URI, "subject"), "the URI names 'body'"),
        ((INVOICE, "body", "--all", "--query", "x"), "not around --query"),
        ((INVOICE, "body", "--limit", "99999"), "99999 is not in the range"),
    ],
)
def test_a_name_that_names_nothing_is_refused_before_anything_is_asked(
    desk: Desk, words: tuple[str, ...], told: str
) -> None:
    ended = desk.here("read", "window", *words)
    assert told in ended.failed(code=64)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--all", "--json"), "--json is one answer of the server; with --all use --jsonl"),
        (("--json", "--jsonl"), "Choose --json or --jsonl"),
    ],
)
def test_forms_that_exclude_each_other_are_refused(
    desk: Desk, words: tuple[str, ...], told: str
) -> None:
    ended = desk.here("read", "window", INVOICE, "body", *words)
    assert (ended.code, ended.out) == (64, "")
    assert told in json.loads(ended.err)["error"]["message"]


def test_a_field_that_is_no_text_leads_to_its_bytes(desk: Desk) -> None:
    photo = desk.get("/v1/streams/photos/records", limit=1).json()["data"][0]
    blob_id = photo["data"]["image"]["blob_id"]
    told = desk.here("read", "window", f"cin_photos/photos:{photo['id']}", "image").failed()
    assert told.startswith("field_not_text: ")
    assert told.endswith(f"Try: pdpp read blob {blob_id} -o FILE")
