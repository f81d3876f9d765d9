from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.pages.house import PASSPHRASE, House, Reader, housed
from tests.pages.test_light import faults, shared_bytes
from tests.serving import keep, planted_store

INVOICE = "/r/cin_home/messages/m-invoice-4471"
TEXT = {"type": ["string", "null"]}
DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://sources.example/things"},
    "connector_key": "things",
    "declaration_version": "1",
    "publisher": {"id": "https://sources.example"},
    "display": {"name": "Things"},
    "streams": [
        {
            "name": "things",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "name": {**TEXT, "x_pdpp_role": "primary-title"},
                    "body": {**TEXT, "x_pdpp_role": "body"},
                    "where": {**TEXT, "x_pdpp_role": "link"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "facts": {"type": "object"},
                    "file": {"type": "object", "x_pdpp_type": "blob"},
                },
            },
            "primary_key": ["id"],
        }
    ],
}
LONG = "α" * 30_000 + "needle" + "ω" * 30_000


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """The owner of a few odd records."""
    folder = Path(tmp_path_factory.mktemp("things"))
    store = planted_store(folder, DECLARATION, {"c": "My things"})
    records: list[dict[str, Any]] = [
        {
            "id": "plain",
            "name": "A plain thing",
            "where": "https://example.org/thing",
            "tags": ["red", "green"],
            "facts": {"a": 1},
            "body": None,
        },
        {"id": "hostile", "name": "<script>alert(1)</script>", "where": "javascript:alert(1)"},
        {"id": "long", "body": LONG},
        {
            "id": "wide",
            "name": "&" * 30_000,
            "tags": ["<tag>"] * 4_000,
            "facts": {"a": "b" * 9_000},
        },
        {"id": "text file", "file": keep(store, b"first\nsecond line", "text/plain")},
        {"id": "picture", "file": keep(store, b"\x89PNG\r\n\x1a\n" + b"0" * 2_000, "image/png")},
    ]
    from tests.serving import put

    put(store, "c", "things", *records)
    with housed(folder, store=store) as made:
        yield made.owner()


def values(reader: Reader, path: str) -> dict[str, str]:
    tree = reader.get(path).tree
    rows = zip(tree.css(".values dt"), tree.css(".values dd"), strict=True)
    return {name.text(): value.text() for name, value in rows}


def marked(reader: Reader, path: str) -> str | None:
    node = reader.get(path).tree.css_first("mark#passage")
    return None if node is None else node.text()


def test_the_owner_sees_a_record_by_its_declared_roles(owner: Reader) -> None:
    sheet = owner.get(INVOICE)
    assert sheet.status == 200
    assert sheet.tree.css_first("h1").text() == "Invoice 4471 for the kitchen tiles"  # type: ignore[union-attr]
    assert "Home mail · Letters" in sheet.text
    assert "12 March 2026, 09:15 UTC" in sheet.text
    assert "Rui Almeida" in sheet.text
    text = sheet.tree.css_first("#body ~ .plain")
    assert text is not None
    assert "please find attached invoice 4471" in text.text()
    # What was read above the fields is not read a second time.
    assert "body" not in values(owner, INVOICE)
    assert sheet.tree.css_first("#fields").text() == "Every other field"  # type: ignore[union-attr]


def test_a_record_that_is_not_there_is_told_to_its_owner_alone(house: House, owner: Reader) -> None:
    paths = [
        INVOICE,
        "/r/cin_home/messages/nope",
        "/r/cin_home/nope/x",
        "/r/nope/messages/x",
        f"{INVOICE}?field=body&chars=1-2",
    ]
    assert [owner.get(path).status for path in paths] == [200, 404, 404, 404, 200]
    strangers = [house.stranger().get(path).answer for path in paths]
    assert {answer.status_code for answer in strangers} == {401}
    assert len({len(answer.content) for answer in strangers}) == 1


def test_the_quoted_passage_is_marked(owner: Reader) -> None:
    path = f"{INVOICE}?field=body&chars=5-113"
    found = marked(owner, path)
    assert found is not None
    assert found.startswith("Nora,")
    assert found.endswith("two days of work. The")
    assert len(found) == 108
    assert "body" not in values(owner, path)
    assert "Every other field" in owner.get(path).text


@pytest.mark.parametrize(
    "query",
    [
        "field=body&chars=0-99999",
        "field=body&chars=9-9",
        "field=body&chars=9-3",
        "field=body&chars=a-b",
        "field=body",
        "field=body&chars=-1-4",
        "field=nope&chars=0-1",
        "field=link&chars=0-1",
    ],
)
def test_a_passage_that_is_not_there_any_more_is_told(owner: Reader, query: str) -> None:
    sheet = owner.get(f"{INVOICE}?{query}")
    assert sheet.status == 200
    assert "no longer has the passage" in sheet.text
    assert sheet.tree.css_first("mark") is None


def test_a_passage_of_a_value_that_is_no_text_is_marked_in_its_json(things: Reader) -> None:
    assert marked(things, "/r/c/things/plain?field=facts&chars=0-4") == '{"a"'


def test_a_passage_of_a_text_file_is_marked(things: Reader) -> None:
    assert marked(things, "/r/c/things/text%20file?field=file&chars=6-12") == "second"


def test_a_picture_has_no_passages(things: Reader) -> None:
    sheet = things.get("/r/c/things/picture?field=file&chars=0-4")
    assert "no longer has the passage" in sheet.text
    assert values(things, "/r/c/things/picture")["file"] == "image/png, 2.0 kB"


def test_a_long_text_is_shown_around_its_passage(things: Reader) -> None:
    path = "/r/c/things/long?field=body&chars=30000-30006"
    assert marked(things, path) == "needle"
    text = things.get(path).text
    assert "27,752 characters before" in text
    assert "27,751 characters after" in text


def test_a_long_text_is_read_to_its_end_page_by_page(things: Reader) -> None:
    page = things.get("/r/c/things/long")
    (beginning, more) = page.tree.css("#body ~ p")
    assert beginning.text() == "α" * 4_000
    assert more.text() == "… 56,006 more characters"
    read, link = "", more.css_first("a")
    while link is not None:
        page = things.get(str(link.attributes["href"]))
        assert page.status == 200
        assert page.tree.css_first("mark") is None
        text = page.tree.css_first("section .text")
        assert text is not None
        read += text.text()
        link = page.tree.css_first("section .text + p a")
    assert read == LONG
    assert things.get("/r/c/things/long?field=body&from=60006").status == 200
    assert "no longer has" in things.get("/r/c/things/long?field=body&from=60006").text


def test_a_page_of_much_text_is_light(things: Reader) -> None:
    shared = shared_bytes(things)
    passage = "/r/c/things/long?field=body&chars=100-60000"
    pages = {path: things.get(path) for path in ("/r/c/things/long", "/r/c/things/wide", passage)}
    assert faults(shared, **pages) == {}
    (more, *_) = pages["/r/c/things/wide"].tree.css(".values dd small a")
    read_on = things.get(str(more.attributes["href"]))
    assert "&amp;" in read_on.answer.text


def test_times_among_the_fields_are_in_the_owners_zone(tmp_path: Path) -> None:
    with housed(tmp_path / "store") as house:
        reader = house.owner()
        before = values(reader, INVOICE)["sent_at"]
        assert before == "12 March 2026, 09:15:00 UTC"
        reader.get("/settings").send(
            form="section[aria-labelledby=dates] form",
            action="dates",
            confirm=PASSPHRASE,
            time_zone="Asia/Tokyo",
            language="de",
        )
        assert values(reader, INVOICE)["sent_at"] == "12. März 2026, 18:15:00 JST"


def test_what_a_record_says_is_only_text(things: Reader) -> None:
    sheet = things.get("/r/c/things/hostile")
    assert sheet.tree.css_first("main script") is None
    assert "<script>alert(1)</script>" in sheet.text
    assert sheet.tree.css_first("main a") is None


def test_a_declared_link_leads_to_where_the_record_came_from(things: Reader) -> None:
    link = things.get("/r/c/things/plain").tree.css_first("main a")
    assert link is not None
    assert link.attributes["href"] == "https://example.org/thing"
    assert "noreferrer" in str(link.attributes["rel"])


def test_values_are_shown_as_people_read_them(things: Reader) -> None:
    found = values(things, "/r/c/things/plain")
    assert list(found) == ["id", "name", "where", "tags", "facts"]
    assert found["tags"] == "red, green"
    assert found["facts"] == '{"a":1}'
