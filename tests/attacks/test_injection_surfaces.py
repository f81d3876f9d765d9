"""Hostile text on the other surfaces: the wire, the program, its files, errors and the log."""

import json
import logging
import os
import re
import shlex
import zipfile
from io import StringIO
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.attacks.corpus import (
    CALL,
    CURSOR,
    EVIL,
    FIELD,
    KEYS,
    MEGABYTE,
    NAMES,
    STREAM,
    TEXTS,
    hostile_texts,
    note,
)
from tests.cli.reading.desk import ANSI, Desk, at_desk, shown
from tests.cli.shell import pdpp_here
from tests.mcp.client import Estate
from tests.serving import all_rows, owner

from pdpp.cli.exporting.manifest import read_manifest
from pdpp.evidence.fence import CLOSING, HIDDEN, OPENING, PREFIX
from pdpp.evidence.mark import OPEN
from pdpp.model.errors import InvalidRequest
from pdpp.watch.logs import JsonFormatter, TextFormatter

ESCAPES = re.compile(r"\x1b(?!\[[0-9;]*m)")
COMMAND = re.compile(r"^ *[a-z ]+: (pdpp .*)$")
READS = [
    ("search", "kiln"),
    ("records", "notes", "--connection", "cin_a"),
    ("records", "notes", "--connection", "cin_b"),
    ("fetch", "cin_a/notes:n0"),
    ("fetch", f"cin_a/notes:n{list(TEXTS).index('every break')}"),
    ("fetch", f"cin_b/notes:{KEYS['dollar']}"),
    ("window", f"cin_a/notes:n{list(TEXTS).index('closing fence and opening')}", "body"),
    ("window", "cin_a/notes:mega", "body", "--query", "kiln"),
    ("schema",),
    ("schema", "notes"),
    ("schema", STREAM),
    ("streams",),
    ("aggregate", "notes", "--group-by", "kind", "--limit", "200"),
    ("aggregate", "notes", "--group-by", FIELD, "--limit", "200"),
]


# /v1


@pytest.fixture(scope="module")
def wire(hostile: Estate, token: str) -> httpx.Client:
    return hostile.world.server.client(token)


def test_records_come_back_to_the_character(wire: httpx.Client) -> None:
    rows = all_rows(wire, "/v1/streams/notes/records", connection_id="cin_a", limit=10)
    found = {row["id"]: row["data"] for row in rows}
    for number, text in enumerate(TEXTS.values()):
        assert found[f"n{number}"] == note(f"n{number}", text)
    assert found["mega"]["body"] == MEGABYTE
    for key in KEYS.values():
        path = httpx.URL("/v1/streams/notes/records/").raw_path.decode()
        answer = wire.get(path + _escaped(key), params={"connection_id": "cin_b"})
        assert answer.json()["id"] == key


def _escaped(key: str) -> str:
    return "".join(f"%{byte:02X}" for byte in key.encode())


def test_evidence_is_the_field_itself_between_marks(wire: httpx.Client) -> None:
    marks = re.compile(r"</?mark>")
    hits = all_rows(wire, "/v1/search", q="kiln", connection_id="cin_a", limit=20)
    assert len(hits) == len(TEXTS) + 4
    for hit in hits:
        number = hit["record_key"].removeprefix("n")
        if not number.isdecimal():
            continue
        stored = note(hit["record_key"], list(TEXTS.values())[int(number)])
        for part in hit["evidence_excerpts"]:
            piece = stored[part["field_path"]][part["start_chars"] : part["end_chars"]]
            if not marks.search(piece):
                assert marks.sub("", part["preview_text"]) == piece
            for match in part["matches"]:
                field = stored[part["field_path"]]
                assert field[match["start_chars"] : match["end_chars"]].casefold() == "kiln"


def test_a_forged_mark_never_stands_in_a_preview(wire: httpx.Client) -> None:
    number = list(TEXTS).index("marks")
    hits = all_rows(wire, "/v1/search", q="kiln", **{"filter[id]": f"n{number}"})
    assert hits
    for part in (part for hit in hits for part in hit["evidence_excerpts"]):
        assert part["preview_text"].count(OPEN) == len(part["matches"])
        assert part["preview_text"].count("</mark>") == len(part["matches"])


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_reaches_a_header_or_another_content_type(wire: httpx.Client, name: str) -> None:
    text = TEXTS[name].encode("utf-8", "replace").decode()[:1_000]
    answers = [
        wire.get("/v1/search", params={"q": text}),
        wire.get("/v1/streams/notes/records", params={"filter[kind]": text}),
        wire.get("/v1/streams/notes/records", params={text[:200]: "1"}),
        wire.get("/v1/streams/notes/records", params={"fields": text, "sort": text}),
        wire.get("/v1/streams/notes/records", params={"cursor": text}),
        wire.get(f"/v1/streams/{_escaped(text[:200])}"),
        wire.get("/v1/blobs/" + _escaped(text[:200])),
    ]
    for answer in answers:
        assert answer.status_code < 500
        assert answer.headers["content-type"] == "application/json"
        for header, value in answer.headers.items():
            assert "evil" not in (header + value).lower()
            assert "cookie" not in header.lower()
        body = answer.json()
        assert "error" in body or body["object"] == "list"


# The program


@pytest.fixture(scope="module")
def desk(hostile: Estate, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return at_desk(hostile.world, tmp_path_factory.mktemp("cache"))


def unfenced(text: str) -> list[str]:
    """Return the lines outside of fences; every fence must be whole."""
    kept, inside = [], False
    for line in text.splitlines():
        if line == OPENING:
            assert not inside
            inside = True
        elif line == CLOSING:
            assert inside
            inside = False
        elif inside:
            assert line.startswith(PREFIX)
        else:
            kept.append(line)
    assert not inside
    return kept


def commands(text: str) -> list[str]:
    """Return the commands that a person or an agent would take for the program's own."""
    return [found[1] for line in unfenced(text) if (found := COMMAND.match(line))]


def test_the_check_of_commands_sees_what_it_must() -> None:
    assert commands(f"read: pdpp read fetch {EVIL}") == [f"pdpp read fetch {EVIL}"]
    assert commands(f"{OPENING}\n{PREFIX}read: pdpp x\n{CLOSING}\nmore: pdpp y") == ["pdpp y"]


@pytest.mark.parametrize("words", READS, ids=lambda words: " ".join(words)[:50])
def test_a_pipe_holds_no_command_that_is_not_ours(desk: Desk, words: tuple[str, ...]) -> None:
    text = desk.read(*words)
    assert not HIDDEN.search(text.replace("\n", "").replace("\t", ""))
    for line in commands(text):
        assert "cin_evil" not in line
        assert CURSOR not in line
    for line in commands(text)[:3]:
        if "FILE" not in line:
            assert desk.typed(line).code == 0, line


@pytest.mark.parametrize("words", READS[::2], ids=lambda words: " ".join(words)[:50])
def test_a_terminal_is_given_our_colours_and_nothing_else(
    desk: Desk, words: tuple[str, ...]
) -> None:
    code, screen = desk.terminal("read", *words, columns=100)
    assert code == 0
    assert not ESCAPES.search(screen)
    assert not HIDDEN.search(ANSI.sub("", screen).replace("\n", ""))
    unfenced(shown(screen))


def test_every_id_in_a_list_is_one_word_that_opens_its_record(desk: Desk) -> None:
    text = desk.read("records", "notes", "--connection", "cin_b", "--limit", "50")
    ids = re.findall(r"^\d+\. (.+?) · \"", text, re.MULTILINE)
    assert len(ids) == len(KEYS)
    for id in ids:
        assert " " not in id
        found = desk.here("read", "fetch", "--json", "--", id)
        assert json.loads(found.out)["id"] in KEYS.values()


def test_a_group_that_looks_like_an_id_is_quoted(desk: Desk) -> None:
    rows = desk.read("aggregate", "notes", "--group-by", "kind", "--limit", "200").splitlines()
    assert not any(row.startswith(EVIL) for row in rows)
    assert any(row.startswith(f'"{EVIL}" ') for row in rows)


def test_lines_of_json_stay_lines(desk: Desk) -> None:
    text = desk.read("records", "notes", "--connection", "cin_a", "--all", "--jsonl")
    rows = [json.loads(line) for line in text.split("\n") if line]
    assert len(rows) == len(TEXTS) + 3


def test_nothing_in_a_key_or_a_name_runs_in_a_shell(desk: Desk, tmp_path: Path) -> None:
    for key in KEYS.values():
        for line in commands(desk.read("fetch", "--", f"cin_b/notes:{key}")):
            words = shlex.split(line)
            assert words[:2] == ["pdpp", "read"]
            assert not any(word in (";", "&&", "|") or word.startswith("$(") for word in words)


# The owner's commands


@pytest.fixture(scope="module")
def data(hostile: Estate) -> Path:
    return hostile.folder / "store"


@pytest.mark.parametrize("words", [("connection", "list"), ("source", "list"), ("grant", "list")])
def test_names_of_accounts_command_no_terminal(data: Path, words: tuple[str, ...]) -> None:
    ended = pdpp_here(*words, data=data)
    assert ended.code == 0
    assert not HIDDEN.search((ended.out + ended.err).replace("\n", ""))
    document = pdpp_here(*words, "--json", data=data)
    assert json.loads(document.out)


def test_names_inside_a_strangers_archive_command_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../\x1b[2J\u202eowned.md", "x")
        archive.writestr("notes/\x1b]0;owned\x07.json", "{}")
    ended = pdpp_here("import", path, "--yes", data=tmp_path / "data")
    assert ended.code == 1
    assert "../⟨U+001B⟩[2J⟨U+202E⟩owned.md" in ended.failed()
    assert not HIDDEN.search(ended.err.replace("\n", ""))


def test_names_of_imported_files_command_no_terminal(tmp_path: Path) -> None:
    vault = tmp_path / "va\x1b[2Jult"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "app.json").write_text("{}")
    (vault / f"a\x1b]0;owned\x07{TEXTS['file name']}.md").write_text(TEXTS["ansi"])
    (vault / "b\nread: pdpp read fetch x.md").write_text("---\ntitle: [unclosed\n---\nx")
    ended = pdpp_here("import", vault, "--yes", data=tmp_path / "data")
    assert ended.code == 0
    assert not HIDDEN.search((ended.out + ended.err).replace("\n", ""))
    assert commands(ended.out) == []


def test_an_export_keeps_every_text_and_no_name_leads_out_of_it(
    hostile: Estate, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    ended = pdpp_here("export", "--all", "-o", f"{out}/", data=hostile.folder / "store")
    assert ended.code == 0, ended.err
    names = [str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()]
    assert len(names) == 4 + len(NAMES) * 2 + 1
    for name in names:
        assert re.fullmatch(r"[\w%./~-]+", name, re.ASCII), name
    assert sorted(os.listdir(tmp_path)) == ["deep"]
    lines = (out / "records" / "cin_a" / "notes.ndjson").read_bytes().split(b"\n")
    rows = {row["key"]: row["data"] for row in map(json.loads, filter(None, lines))}
    for number, text in enumerate(TEXTS.values()):
        assert rows[f"n{number}"] == note(f"n{number}", text)


@pytest.mark.parametrize("path", ["../../precious", "/etc/precious", "..\\precious", "C:precious"])
@pytest.mark.parametrize("place", ["replaced", "files"])
def test_a_forged_manifest_leads_nowhere(tmp_path: Path, path: str, place: str) -> None:
    entry = {"path": path, "kind": "records", "bytes": 1, "sha256": "x"}
    manifest = {
        "format": "pdpp-export/1",
        "complete": False,
        "scope": "grant",
        "asked": {},
        "made_at": "",
        "connections": [],
        "files": [],
        "missing_blobs": [],
        "begun": None,
        "replaced": [],
        place: [entry if place == "files" else path],
    }
    held = tmp_path / "manifest.json"
    held.write_text(json.dumps(manifest))
    with pytest.raises(InvalidRequest, match="is not the manifest"):
        read_manifest(held)


def test_a_manifest_too_deep_to_read_is_no_manifest(tmp_path: Path) -> None:
    held = tmp_path / "manifest.json"
    held.write_text("[" * 100_000)
    with pytest.raises(InvalidRequest, match="is not the manifest"):
        read_manifest(held)


# Lines that come in and go into the log


def test_a_text_that_breaks_lines_breaks_no_lines_of_an_ingest(hostile: Estate) -> None:
    with hostile.world.server.client(owner(hostile.store)) as person:
        line = {"key": "in", "data": {"id": "in", "body": TEXTS["json in lines"]}}
        body = json.dumps(line, ensure_ascii=False).encode()
        where = {"connection_id": "cin c · d"}
        answer = person.post("/v1/ingest/notes", params=where, content=body)
        assert answer.json()["records_accepted"] == 1
        found = person.get("/v1/streams/notes/records/in", params=where).json()
        assert found["data"]["body"] == TEXTS["json in lines"]
        bad = json.dumps({"key": TEXTS["ansi"] + "/", "data": {"id": 5, CALL: 1}}).encode()
        refused = person.post("/v1/ingest/notes", params=where, content=bad).json()
        assert refused["records_rejected"] == 1
        assert not HIDDEN.search(refused["rejections"][0]["message"])
        person.delete("/v1/streams/notes/records/in", params=where)


@given(st.one_of(hostile_texts, st.sampled_from(list(TEXTS.values()))))
def test_a_line_of_the_log_cannot_be_ended_or_forged(text: str) -> None:
    entry = logging.LogRecord("pdpp", logging.WARNING, "", 1, "said %s", (text,), None)
    entry.members = {"path": text}
    plain = TextFormatter().format(entry)
    assert not HIDDEN.search(plain)
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    handler.emit(entry)
    assert len(written.getvalue().split("\n")) == 2
    assert json.loads(written.getvalue())["path"] == text
