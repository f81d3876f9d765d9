import hashlib
import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from unicodedata import category, normalize

import jsonschema_rs
import orjson
import pytest
from bench.demo_records import AWKWARD, AWKWARD_FILE, LEDGER, LETTER

from pdpp import demo
from pdpp.demo.files import FOLDER
from pdpp.model import instant
from pdpp.model.declaration import Cardinality, Declaration, Kind, Role, Stream
from pdpp.model.validation import parse_declaration
from pdpp.sources import registry

Place = tuple[str, str, str]
Records = dict[Place, dict[str, Any]]

PINNED = "766a0d129616f75a72c8625cc0da75ae386b9b056e174a61bbd839604207e4b7"


@pytest.fixture(scope="module")
def batches() -> list[demo.DemoBatch]:
    return list(demo.batches())


@pytest.fixture(scope="module")
def records(batches: list[demo.DemoBatch]) -> Records:
    return {
        (batch.connection_id, batch.stream, line["key"]): line["data"]
        for batch in batches
        for line in batch.lines
    }


@pytest.fixture(scope="module")
def declarations() -> dict[str, Declaration]:
    return {
        connection_id: parse_declaration(source.declaration)
        for source in demo.sources()
        for connection_id, _ in source.connections
    }


@pytest.fixture(scope="module")
def blobs() -> dict[str, demo.DemoBlob]:
    return {blob.blob_id: blob for blob in demo.blobs()}


def _digest() -> str:
    total = hashlib.sha256()
    for source in demo.sources():
        total.update(orjson.dumps([source.declaration, source.connections]))
    for batch in demo.batches():
        total.update(orjson.dumps([batch.connection_id, batch.stream, batch.lines]))
    for blob in demo.blobs():
        total.update(orjson.dumps([blob.blob_id, blob.media_type]) + blob.content)
    return total.hexdigest()


def _streams(declarations: dict[str, Declaration]) -> Iterator[tuple[str, Stream]]:
    for connection_id, declaration in declarations.items():
        for stream in declaration.streams.values():
            yield connection_id, stream


def _refs(records: Records, declarations: dict[str, Declaration]) -> Iterator[dict[str, Any]]:
    for (connection_id, stream, _), data in records.items():
        for field in declarations[connection_id].streams[stream].fields.values():
            if field.kind is Kind.BLOB:
                yield data[field.name]


def _long_text(records: Records, name: str) -> str:
    body = records[AWKWARD[name]]["body"]
    assert isinstance(body, str)
    return body


def test_two_runs_make_the_same_world() -> None:
    assert _digest() == _digest()


def test_every_byte_of_the_world_is_the_expected_one() -> None:
    assert _digest() == PINNED


def test_the_world_has_the_promised_connections() -> None:
    connections = {id_: name for source in demo.sources() for id_, name in source.connections}

    assert set(connections) == {
        "cin_work",
        "cin_home",
        "cin_team",
        "cin_notes",
        "cin_bank",
        "cin_calendar",
        "cin_photos",
        "cin_shop",
    }
    assert (connections["cin_work"], connections["cin_home"]) == ("Work mail", "Home mail")


def test_no_demo_source_has_the_name_of_a_source_that_the_program_imports() -> None:
    keys = {source.declaration["connector_key"] for source in demo.sources()}
    assert all(key.startswith("demo_") for key in keys)
    assert not keys & set(registry.names())


def test_the_world_has_about_five_thousand_records(records: Records) -> None:
    assert 4_500 <= len(records) <= 5_500


def test_a_stream_name_is_shared_by_two_sources(declarations: dict[str, Declaration]) -> None:
    keys = {
        declarations[connection_id].connector_key
        for connection_id, stream in _streams(declarations)
        if stream.name == "messages"
    }
    assert keys == {"demo_mail", "demo_chat"}


def test_every_declared_stream_of_every_connection_has_records(
    declarations: dict[str, Declaration], records: Records
) -> None:
    declared = {(connection_id, stream.name) for connection_id, stream in _streams(declarations)}
    assert declared == {place[:2] for place in records}


def test_every_record_fits_its_schema(
    declarations: dict[str, Declaration], batches: list[demo.DemoBatch]
) -> None:
    for batch in batches:
        schema = dict(declarations[batch.connection_id].streams[batch.stream].schema)
        validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        for line in batch.lines:
            assert validator.is_valid(line["data"]), line


def test_every_line_holds_exactly_what_ingestion_takes(batches: list[demo.DemoBatch]) -> None:
    for batch in batches:
        assert batch.lines
        for line in batch.lines:
            assert set(line) == {"key", "data", "emitted_at"}
            assert line["key"] == line["data"]["id"]
            assert instant.parse(line["emitted_at"]) is not None


def test_no_key_holds_a_slash_or_a_control_character(records: Records) -> None:
    for _, _, key in records:
        assert key not in {"", ".", ".."}
        assert not re.search(r"[/\x00-\x1f\x7f-\x9f]", key)


def test_nothing_happens_after_the_last_day(batches: list[demo.DemoBatch]) -> None:
    end = instant.parse("2026-10-31T23:59:59Z")
    assert end is not None
    for batch in batches:
        for line in batch.lines:
            emitted = instant.parse(line["emitted_at"])
            assert emitted is not None
            assert emitted <= end


def test_a_key_comes_twice_only_as_a_later_version_of_a_changing_record(
    declarations: dict[str, Declaration], batches: list[demo.DemoBatch]
) -> None:
    versions: dict[Place, list[dict[str, Any]]] = defaultdict(list)
    for batch in batches:
        for line in batch.lines:
            versions[batch.connection_id, batch.stream, line["key"]].append(line)
    again = {place: lines for place, lines in versions.items() if len(lines) > 1}

    assert {place[:2] for place in again} == {("cin_team", "messages"), ("cin_notes", "documents")}
    for (connection_id, stream, _), (first, second) in again.items():
        assert declarations[connection_id].streams[stream].semantics.value == "mutable_state"
        assert first["emitted_at"] < second["emitted_at"]
        assert first["data"] != second["data"]


def test_every_relationship_leads_to_a_record_that_exists(
    declarations: dict[str, Declaration], records: Records
) -> None:
    for connection_id, stream in _streams(declarations):
        for relation in stream.relationships.values():
            outward = relation.cardinality is Cardinality.BELONGS_TO
            here, there = stream.name, relation.stream
            child, parent = (here, there) if outward else (there, here)
            values = {
                data[relation.foreign_key]
                for place, data in records.items()
                if place[:2] == (connection_id, child)
            }
            assert values
            assert all((connection_id, parent, value) in records for value in values)


def test_a_chat_answer_names_an_earlier_message_of_its_channel(records: Records) -> None:
    answers = [
        data
        for place, data in records.items()
        if place[:2] == ("cin_team", "messages") and data.get("thread_ts")
    ]
    assert answers
    for answer in answers:
        answered = f"{answer['channel_id']}:{answer['thread_ts']}"
        assert records["cin_team", "messages", answered]["sent_at"] <= answer["sent_at"]


def test_a_conversation_counts_its_letters(records: Records) -> None:
    for connection_id in ("cin_work", "cin_home"):
        found: dict[str, list[str]] = defaultdict(list)
        for place, data in records.items():
            if place[:2] == (connection_id, "messages"):
                found[data["thread_id"]].append(data["sent_at"])
        for thread, times in found.items():
            record = records[connection_id, "threads", thread]
            assert record["message_count"] == len(times)
            assert record["last_message_at"] == max(times)


def test_changing_a_returned_declaration_changes_no_other() -> None:
    demo.sources()[0].declaration["streams"][0]["name"] = "changed"
    assert demo.sources()[0].declaration["streams"][0]["name"] == "messages"


def test_every_stream_says_in_words_what_it_holds(declarations: dict[str, Declaration]) -> None:
    for _, stream in _streams(declarations):
        assert stream.label
        assert stream.detail.endswith(".")
        assert stream.countable
        assert all(field.description for field in stream.fields.values())


def test_chat_messages_and_payments_have_no_title(declarations: dict[str, Declaration]) -> None:
    untitled = {
        (connection_id, stream.name)
        for connection_id, stream in _streams(declarations)
        if Role.TITLE not in {field.role for field in stream.fields.values()}
    }
    assert untitled == {("cin_team", "messages"), ("cin_bank", "transactions")}


def test_a_blob_is_named_by_its_content() -> None:
    items = list(demo.blobs())
    assert len({item.blob_id for item in items}) == len(items)
    for item in items:
        assert hashlib.sha256(item.content).hexdigest() == item.blob_id


def test_records_and_blobs_point_to_each_other_exactly(
    declarations: dict[str, Declaration], records: Records, blobs: dict[str, demo.DemoBlob]
) -> None:
    refs = list(_refs(records, declarations))
    for ref in refs:
        blob = blobs[ref["blob_id"]]
        assert ref["sha256"] == blob.blob_id
        assert (ref["mime_type"], ref["size_bytes"]) == (blob.media_type, len(blob.content))
    assert {ref["blob_id"] for ref in refs} == set(blobs)


def test_text_blobs_decode_and_json_blobs_parse(blobs: dict[str, demo.DemoBlob]) -> None:
    kinds = {blob.media_type for blob in blobs.values()}
    assert kinds == {
        "text/plain",
        "text/csv",
        "application/json",
        "application/pdf",
        "application/octet-stream",
        "image/png",
    }
    for blob in blobs.values():
        if blob.media_type.startswith("text/"):
            assert blob.content.decode()
        if blob.media_type == "application/json":
            assert orjson.loads(blob.content)["items"]


def test_every_picture_is_a_valid_png(blobs: dict[str, demo.DemoBlob]) -> None:
    pictures = [blob.content for blob in blobs.values() if blob.media_type == "image/png"]
    assert len(pictures) > 100
    for picture in pictures:
        width, height, pixels = _unpack(picture)
        assert len(pixels) == height * (1 + 3 * width)


def _unpack(picture: bytes) -> tuple[int, int, bytes]:
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = {}, 8
    while place < len(picture):
        (size,) = struct.unpack_from(">I", picture, place)
        kind, content = picture[place + 4 : place + 8], picture[place + 8 : place + 8 + size]
        (check,) = struct.unpack_from(">I", picture, place + 8 + size)
        assert check == zlib.crc32(kind + content)
        chunks[kind] = content
        place += 12 + size
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    return width, height, zlib.decompress(chunks[b"IDAT"])


def test_every_pdf_says_where_its_objects_are(blobs: dict[str, demo.DemoBlob]) -> None:
    papers = [blob.content for blob in blobs.values() if blob.media_type == "application/pdf"]
    assert papers
    for paper in papers:
        table = int(paper.rsplit(b"startxref\n", 1)[1].split(b"\n", 1)[0])
        assert paper[table:].startswith(b"xref\n")
        offsets = re.findall(rb"(\d{10}) 00000 n ", paper[table:])
        for number, offset in enumerate(offsets, 1):
            assert paper[int(offset) :].startswith(b"%d 0 obj" % number)


def test_the_invoice_is_told_by_exactly_its_own_records(records: Records) -> None:
    mentions = {
        place
        for place, data in records.items()
        if place[1] != "threads"
        and any(
            isinstance(value, str) and "invoice 4471" in value.lower() for value in data.values()
        )
    }
    assert mentions == set(demo.INVOICE_STORY.values())
    assert records[demo.INVOICE_STORY["payment"]]["amount"] == -2386.40


def test_the_invoice_adds_up_to_what_was_paid() -> None:
    sums = [float(row.rsplit(",", 1)[1]) for row in LEDGER.splitlines()[1:]]
    assert sum(sums) == pytest.approx(2386.40)


def test_the_letter_and_its_files_say_what_the_story_says(
    records: Records, blobs: dict[str, demo.DemoBlob]
) -> None:
    letter = demo.INVOICE_STORY["letter"]
    files = {
        data["filename"]: blobs[data["content"]["blob_id"]].content
        for place, data in records.items()
        if place[1] == "attachments" and data["message_id"] == letter[2]
    }
    assert records[letter]["body"] == LETTER
    assert files == {"invoice-4471.csv": LEDGER.encode(), "invoice-4471.txt": LETTER.encode()}


def test_every_awkward_place_exists_and_is_explained(records: Records) -> None:
    entries = orjson.loads(AWKWARD_FILE.read_bytes())
    assert all(entry["hard"] for entry in entries.values())
    assert set(entries) == set(AWKWARD)
    assert all(place in records for place in AWKWARD.values())


def test_the_data_files_show_every_character_that_a_reader_cannot_see() -> None:
    """Otherwise an editor could drop or reorder them, and nobody would notice."""
    hidden = {"Cc", "Cf", "Zl", "Zp", "Mn"}
    for path in (*FOLDER.rglob("*.json*"), AWKWARD_FILE):
        text = path.read_bytes().decode()
        assert not {c for c in text if c != "\n" and category(c) in hidden}, path


def test_every_data_file_is_read() -> None:
    listed = {
        FOLDER / source.parent.name / f"{path}.jsonl"
        for source in FOLDER.glob("*/source.json")
        for path in orjson.loads(source.read_bytes())["records"]
    }
    assert listed == set(FOLDER.glob("*/*/*"))


def test_two_documents_are_longer_than_two_hundred_thousand_characters(records: Records) -> None:
    diary, transcript = (_long_text(records, n) for n in ("long_document", "one_line_document"))
    assert len(diary) > 200_000
    assert diary.count("\n") > 100
    assert len(transcript) > 200_000
    assert len(transcript.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("emoji", "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"),
        ("emoji", "\U0001f1f5\U0001f1f9"),
        ("hebrew", "[\u05d0-\u05ea]{4}"),
        ("arabic", "[\u0627-\u064a]{4}"),
        ("bidi_override", "\u202e"),
        ("zero_width", "\u200b"),
        ("control_characters", "\x1b\\["),
        ("crlf", "\r\n\r\n"),
        ("html_body", "<script>"),
        ("base64_inside_text", "[A-Za-z0-9+/]{3000}"),
        ("base64_whole_field", "^[A-Za-z0-9+/]{7000,}=*$"),
        ("instructs_agent", "Ignore previous instructions"),
        ("fake_tool_call", r'fetch \{"id"'),
        ("fake_handle", "cin_bank/transactions:tx-00001"),
        ("closing_fence", "(?m)^└ end of record text$"),
        ("mark_tags", "<mark>.*</mark>"),
        ("empty_body", "^$"),
        ("japanese", "伏見稲荷"),
        ("chinese", "\U00020bb7"),
        ("korean", "리스본"),
        ("quotes_and_backslashes", r'(\\"\\\\){400}'),
        ("very_long_word", r"\w{5000}"),
    ],
)
def test_awkward_text_is_as_awkward_as_it_claims(records: Records, name: str, pattern: str) -> None:
    record = records[AWKWARD[name]]
    assert re.search(pattern, str(record.get("body", record.get("text"))))


def test_combining_marks_are_kept_apart(records: Records) -> None:
    for name in ("combining_marks", "korean"):
        body = _long_text(records, name)
        assert normalize("NFC", body) != body


def test_escaping_doubles_the_quoted_text(records: Records) -> None:
    text = records[AWKWARD["quotes_and_backslashes"]]["text"]
    assert len(orjson.dumps(text)) > 1.8 * len(text)


def test_null_and_missing_fields_are_told_apart(records: Records) -> None:
    null, missing = (records[AWKWARD[name]] for name in ("null_fields", "missing_fields"))
    assert null["link"] is None
    assert null["labels"] is None
    assert not {"link", "labels", "size_bytes"} & set(missing)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("key_with_colon", ":.*:"), ("key_with_spaces", " .* "), ("key_with_unicode", "🎶")],
)
def test_awkward_keys_are_as_awkward_as_they_claim(name: str, pattern: str) -> None:
    assert re.search(pattern, AWKWARD[name][2])


def test_appointments_carry_the_offsets_of_two_places(records: Records) -> None:
    offsets = {data["starts_at"][-6:] for place, data in records.items() if place[1] == "events"}
    assert offsets == {"+00:00", "+01:00", "+09:00"}
