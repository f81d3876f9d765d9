"""ChatGPT exports, in the layouts of several years."""

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

from pdpp.sources.formats.chatgpt.citations import cited
from pdpp.sources.formats.chatgpt.source import ChatGpt
from pdpp.sources.source import Confidence, Recognition

SOURCE = ChatGpt()
PHOTO = b"\xff\xd8\xff\xe0 the harbour at noon"


def node(
    name: str,
    parent: str | None,
    role: str,
    content: dict[str, Any] | None,
    second: float | None = 0,
    **more: Any,
) -> dict[str, Any]:
    """Return one node of a conversation's tree."""
    message: dict[str, Any] | None = None
    if content is not None:
        message = {
            "id": name,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": 1_767_261_600 + second if second is not None else None,
            "content": content,
            "status": "finished_successfully",
            "metadata": more,
            "recipient": "all",
        }
    return {"id": name, "message": message, "parent": parent, "children": []}


def words(*parts: Any) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}


def conversation(
    name: str, nodes: list[dict[str, Any]], current: str, **more: Any
) -> dict[str, Any]:
    return {
        "title": "Tide table",
        "create_time": 1_767_261_600.123,
        "update_time": 1_767_265_200.5,
        "mapping": {each["id"]: each for each in nodes},
        "moderation_results": [],
        "current_node": current,
        "conversation_id": name,
        "default_model_slug": "gpt-5",
        "id": name,
        **more,
    }


TIDES = conversation(
    "c-1",
    [
        node("root", None, "", None),
        node("sys", "root", "system", words(""), is_visually_hidden_from_conversation=True),
        node("u1", "sys", "user", words("When is high water at the old mole?"), 1),
        node("a1", "u1", "assistant", words("At noon, I believe."), 2, model_slug="gpt-5"),
        node("a2", "u1", "assistant", words("At half past three, by the harbour table."), 3),
        node(
            "think",
            "a2",
            "assistant",
            {
                "content_type": "thoughts",
                "thoughts": [{"summary": "Looking it up", "content": "The table says 15:30."}],
            },
            4,
        ),
        node(
            "u2",
            "think",
            "user",
            {
                "content_type": "multimodal_text",
                "parts": [
                    {
                        "content_type": "image_asset_pointer",
                        "asset_pointer": "file-service://file-Ab12",
                        "size_bytes": 24,
                    },
                    {"asset_pointer": "sediment://file_missing"},
                    "And this photo?",
                ],
            },
            5,
        ),
        node("code", "u2", "assistant", {"content_type": "code", "text": "tide(3.5)"}, 6),
        node("late", "code", "assistant", words("Good night."), None),
    ],
    "late",
)
NEWER = conversation(
    "c-2",
    [node("x1", None, "user", words("Name my boat"), 9)],
    "x1",
    title=None,
    create_time=None,
    update_time=None,
)


def export(folder: Path, *conversations: Any, name: str = "conversations.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(list(conversations)))
    (folder / "user.json").write_text(json.dumps({"id": "user-1", "email": "nora@lind.example"}))
    (folder / "chat.html").write_text("<html></html>")
    (folder / "file-Ab12-harbour.jpg").write_bytes(PHOTO)
    return folder


def test_an_export_is_recognised_and_named_by_its_account(tmp_path: Path) -> None:
    seen = look(SOURCE, export(tmp_path / "e", TIDES))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.account) == (Confidence.CERTAIN, "ChatGPT (nora@lind.example)")
    assert seen.version == "conversations as trees, in one file"


def test_the_newer_layout_of_many_files_is_one_export(tmp_path: Path) -> None:
    export(tmp_path / "e", TIDES, name="conversations-000.json")
    folder = export(tmp_path / "e", NEWER, name="conversations-001.json")
    seen = look(SOURCE, folder)
    assert isinstance(seen, Recognition)
    assert seen.version == "conversations as trees, in 2 files"
    talks = [key for stream, key in read(SOURCE, folder) if stream == "conversations"]
    assert talks == ["c-1", "c-2"]


def test_a_broken_account_file_and_other_conversations_are_no_obstacle(tmp_path: Path) -> None:
    folder = export(tmp_path / "e", TIDES)
    (folder / "user.json").write_text("{broken")
    seen = look(SOURCE, folder)
    assert isinstance(seen, Recognition)
    assert seen.account == "ChatGPT"
    claude = {"uuid": "1", "name": "x", "chat_messages": []}
    (tmp_path / "conversations.json").write_text(json.dumps([claude]))
    assert look(SOURCE, tmp_path / "conversations.json") is None


def test_conversations_give_these_records(tmp_path: Path) -> None:
    path = export(tmp_path / "e", TIDES, NEWER)
    golden("chatgpt", read(SOURCE, path))
    assert [found.reason for found in told(SOURCE, path)] == [
        "a place in a chat that holds no message",
        "a message that the conversation hides",
        "a file that is not in the export",
    ]


def test_branches_that_were_left_are_kept_and_marked(tmp_path: Path) -> None:
    records = read(SOURCE, export(tmp_path / "e", TIDES))
    assert records[("messages", "c-1.a1")]["visible"] is False
    assert records[("messages", "c-1.a2")]["visible"] is True
    lost = {**TIDES, "current_node": None}
    records = read(SOURCE, export(tmp_path / "f", lost))
    assert all(data["visible"] for (stream, _), data in records.items() if stream == "messages")


def test_a_tree_that_runs_in_a_circle_ends(tmp_path: Path) -> None:
    nodes = [node("a", "b", "user", words("a"), 1), node("b", "a", "user", words("b"), 2)]
    assert len(read(SOURCE, export(tmp_path / "e", conversation("c-9", nodes, "a")))) == 3


def test_what_cannot_be_placed_is_told(tmp_path: Path) -> None:
    odd = {"content_type": "hologram", "parts": [{"ray": 1}]}
    nodes = [node("o", None, "user", odd, 1), node("e", "o", "user", words("  "), 1)]
    path = export(
        tmp_path / "e",
        conversation("c-3", nodes, "o"),
        conversation("", [node("y", None, "user", words("hi"), 1)], "y"),
        conversation("c-4", [], "", create_time=None),
        {"mapping": None, "current_node": 1},
    )
    assert [found.reason for found in told(SOURCE, path)] == [
        "a message of a kind that is not known",
        "an empty message",
        "a conversation without an id or a time",
        "a conversation without an id or a time",
        "a shape that is not known",
    ]


def test_pictures_become_blobs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(export(tmp_path / "e", TIDES))
    attached = [data for (stream, _), data in home.records().items() if stream == "attachments"]
    (file,) = [data for data in attached if "file" in data]
    assert file["file"]["size_bytes"] == len(PHOTO)
    assert file["media_type"] == "image/jpeg"
    assert ("messages", file["message_id"]) in home.records()


def test_a_picture_that_is_shown_has_the_name_under_which_it_was_sent(tmp_path: Path) -> None:
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_77"}
    shown = {"content_type": "multimodal_text", "parts": [pointer, "What bird is this?"]}
    sent = [{"id": "file_77", "name": "tern.webp", "mime_type": "image/webp"}]
    talk = conversation("c-3", [node("u", None, "user", shown, 1, attachments=sent)], "u")
    records = read(SOURCE, export(tmp_path / "e", talk))
    [file] = [data for (stream, _), data in records.items() if stream == "attachments"]
    assert (file["name"], file["media_type"]) == ("tern.webp", "image/webp")


def test_what_a_later_export_tells_of_a_picture_that_both_lack_is_kept(tmp_path: Path) -> None:
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_77"}
    shown = {"content_type": "multimodal_text", "parts": [pointer, "What bird is this?"]}
    home = Home(tmp_path / "home")
    for number, told_of in enumerate(
        ({}, {"attachments": [{"id": "file_77", "name": "tern.webp"}]})
    ):
        asked = node("u", None, "user", shown, 1, **told_of)
        home.bring(export(tmp_path / str(number), conversation("c-3", [asked], "u")))
    [file] = [data for (stream, _), data in home.records().items() if stream == "attachments"]
    assert file["name"] == "tern.webp"


def test_the_same_export_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(export(tmp_path / "e", TIDES, NEWER), tmp_path)


def test_an_export_and_then_a_later_one_are_the_later_one(tmp_path: Path) -> None:
    longer = json.loads(json.dumps(TIDES))
    longer["mapping"]["u9"] = node("u9", "late", "user", words("Good morning."), 99)
    longer["current_node"] = "u9"
    check_overlap(export(tmp_path / "a", TIDES), export(tmp_path / "b", NEWER, longer), tmp_path)


def test_an_export_and_then_an_earlier_one_are_the_later_one(tmp_path: Path) -> None:
    """Which of two answers is shown is told by the conversation, and not by the answers."""
    asked = node("u", None, "user", words("How deep is it?"), 1)
    first = node("a", "u", "assistant", words("Three fathoms."), 2)
    again = node("b", "u", "assistant", words("Four fathoms."), 90)
    gone = node("c", "u", "assistant", words("Five fathoms."), 3)
    later = conversation("c-9", [asked, first, again], "b", update_time=1_767_300_000)
    earlier = conversation("c-9", [asked, first, gone], "a", update_time=1_767_262_000)
    home = Home(tmp_path / "home")
    home.bring(export(tmp_path / "later", later))
    home.bring(export(tmp_path / "earlier", earlier))
    messages = [data for (stream, _), data in home.records().items() if stream == "messages"]
    assert {data["text"]: data["visible"] for data in messages} == {
        "How deep is it?": True,
        "Three fathoms.": False,
        "Four fathoms.": True,
        "Five fathoms.": False,
    }


@pytest.mark.parametrize("folders", ["ab", "ba"])
@pytest.mark.parametrize("first", [None, 2])
def test_states_of_a_conversation_in_one_folder_are_the_latest(
    folders: str, first: int | None, tmp_path: Path
) -> None:
    asked = node("u", None, "user", words("How deep is it?"), 1)
    answers = [
        node(name, "u", "assistant", words(f"{name} fathoms."), number)
        for number, name in enumerate(("Three", "Four", "Five"), 2)
    ]

    def state(number: int) -> dict[str, Any]:
        shown = answers[number - 1]["id"]
        changed = 1_767_262_000 + number
        return conversation("c-9", [asked, *answers[:number]], shown, update_time=changed)

    home = Home(tmp_path / "home")
    if first is not None:
        home.bring(export(tmp_path / "first", state(first)))
    for folder, number in zip(folders, (1, 3), strict=True):
        export(tmp_path / "both" / folder, state(number))
    home.bring(tmp_path / "both")
    held = home.records()
    messages = [data for (stream, _), data in held.items() if stream == "messages"]
    assert {data["text"]: data["visible"] for data in messages} == {
        "How deep is it?": True,
        "Three fathoms.": False,
        "Four fathoms.": False,
        "Five fathoms.": True,
    }
    again = home.bring(tmp_path / "both")
    assert (again["counts"]["changed"], home.records()) == (0, held)


def test_a_cut_file_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    def place(content: bytes) -> Path:
        path = tmp_path / "conversations.json"
        path.write_bytes(content)
        return path

    check_cuts(SOURCE, json.dumps([NEWER, TIDES, NEWER]).encode(), place)


def test_hostile_exports_are_survived(tmp_path: Path) -> None:
    def place(content: bytes) -> Path:
        path = tmp_path / "conversations.json"
        path.write_bytes(content)
        return path

    check_hostile_json(SOURCE, [TIDES], place)
    folder = tmp_path / "inner"
    folder.mkdir()
    content = json.dumps([TIDES]).encode()
    check_hostile_zip(SOURCE, {"conversations.json": content, "file-Ab12-x.jpg": PHOTO}, folder)


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_keys_are_the_same_whatever_stands_before_a_conversation(name: str, other: str) -> None:
    from tempfile import TemporaryDirectory

    talk = conversation(name, [node("n", None, "user", words("hi"), 1)], "n")
    before = conversation(other + "-before", [node("n", None, "user", words("yo"), 1)], "n")
    with TemporaryDirectory() as folder:
        alone = read(SOURCE, export(Path(folder) / "a", talk))
        after = read(SOURCE, export(Path(folder) / "b", before, talk))
    assert set(alone) <= set(after)


def test_an_agent_finds_an_answer_in_a_zip(tmp_path: Path) -> None:
    files = {
        "export/conversations.json": json.dumps([TIDES, NEWER]).encode(),
        "export/file-Ab12-harbour.jpg": PHOTO,
    }
    path = zipped(tmp_path / "export.zip", files)
    report = bring_and_ask(path, tmp_path, "harbour table", "At half past three, by the harbour")
    assert report["counts"]["new"] == 12


def tree_of(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a conversation that is a chain of messages."""
    mapping: dict[str, Any] = {"client-created-root": {"id": "client-created-root"}}
    parent = "client-created-root"
    for number, message in enumerate(messages):
        name = f"n{number}"
        mapping[name] = {"id": name, "parent": parent, "message": {"id": name, **message}}
        parent = name
    return {"title": "T", "create_time": 1.0, "mapping": mapping, "id": "c-9", **more}


def said(text: str, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": "assistant"}, "create_time": 5.0, "content": content, **more}


def test_an_upload_is_known_by_its_true_name_though_its_file_is_called_dat(tmp_path: Path) -> None:
    named = {"id": "file-abc", "name": "guess.pdf", "mime_type": "application/pdf"}
    talk = tree_of(said("Here", metadata={"attachments": [named, {"id": "file_gone"}]}))
    folder = tmp_path / "e"
    folder.mkdir()
    (folder / "conversations (1).json").write_text(json.dumps([talk]))
    (folder / "file-abc.dat").write_bytes(b"%PDF-1.7")
    names = {"file-abc.dat": "tides 2026.pdf"}
    (folder / "conversation_asset_file_names.json").write_text(json.dumps(names))
    home = Home(tmp_path / "home")
    report = home.bring(folder)
    files = [data for (stream, _), data in home.records().items() if stream == "attachments"]
    assert sorted(file["name"] for file in files) == ["file_gone", "tides 2026.pdf"]
    [kept] = [file["file"] for file in files if "file" in file]
    assert kept["mime_type"] == "application/pdf"
    assert report["files"]["unknown"] == []


def test_a_document_on_the_canvas_comes_in_its_last_version(tmp_path: Path) -> None:
    made = json.dumps({"name": "Tides", "type": "document", "content": "High at noon."})
    first = {"pattern": "noon", "multiple": False, "replacement": "six"}
    talk = tree_of(
        said(made, recipient="canmore.create_textdoc"),
        said(json.dumps({"updates": [first]}), recipient="canmore.update_textdoc"),
    )
    path = export(tmp_path / "e", talk)
    [document] = [d for (stream, _), d in read(SOURCE, path).items() if stream == "documents"]
    assert (document["title"], document["text"]) == ("Tides", "High at six.")
    assert document["versions"] == 2


def test_an_older_layout_that_names_its_members_late_is_recognised(tmp_path: Path) -> None:
    long = tree_of(*(said("x" * 10_000) for _ in range(20)), current_node="n19")
    old = {"title": "T", "mapping": long["mapping"], "moderation_results": [], "plugin_ids": None}
    old |= {"current_node": "n19", "create_time": 1.0, "id": "c-9"}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([old]))
    assert isinstance(look(SOURCE, path), Recognition)


def missing_shards(path: Path) -> list[str]:
    reason = "a part that the manifest names and that is not here"
    return [finding.example for finding in told(SOURCE, path) if finding.reason == reason]


def test_a_file_of_conversations_that_the_manifest_names_and_that_is_not_there_is_told(
    tmp_path: Path,
) -> None:
    shards = ["conversations-000.json", "conversations-001.json"]
    logical = {"conversations.json": {"files": shards, "sharded": True}}
    manifest = {"version": 1, "export_files": [], "logical_files": logical}
    (tmp_path / "export_manifest.json").write_text(json.dumps(manifest))
    (tmp_path / shards[0]).write_text(json.dumps([TIDES]))
    assert missing_shards(tmp_path) == shards[1:]
    (tmp_path / "conversations-001 (1).json").write_text(json.dumps([NEWER]))
    assert missing_shards(tmp_path) == []


def test_what_was_said_and_shown_in_a_call_keeps_its_sound_and_pictures(tmp_path: Path) -> None:
    call = {
        "content_type": "real_time_user_audio_video_asset_pointer",
        "frames_asset_pointers": ["sediment://file_0f"],
        "video_container_asset_pointer": None,
        "audio_asset_pointer": {
            "content_type": "audio_asset_pointer",
            "asset_pointer": "sediment://file_0a",
        },
    }
    heard = {"content_type": "audio_transcription", "text": "Is the mole lit?"}
    content = {"content_type": "multimodal_text", "parts": [heard, call]}
    nodes = [node("n-1", None, "user", content)]
    chat = conversation("c-9", nodes, "n-1")
    files = {
        "conversations.json": json.dumps([chat]).encode(),
        "file_0a.dat": b"RIFF....WAVEfmt ",
        "file_0f.dat": PHOTO,
    }
    path = zipped(tmp_path / "export.zip", files)
    kinds = [d["media_type"] for (s, _), d in read(SOURCE, path).items() if s == "attachments"]
    assert kinds == ["audio/wav", "image/jpeg"]


@pytest.mark.parametrize(
    "content",
    [
        {"content_type": "sonic_webpage", "url": "https://x", "title": "Tide tables", "text": ""},
        {"content_type": "sonic_webpage", "url": "", "text": "", "snippet": "Tide tables"},
        {"content_type": "tether_browsing_display", "result": "", "summary": "Tide tables"},
        {"content_type": "tether_quote", "url": "", "title": "Tide tables", "text": "low 06:12"},
    ],
)
def test_a_page_that_was_read_is_known_by_its_title_and_summary(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    chat = conversation("c-9", [node("n-1", None, "tool", content)], "n-1")
    path = export(tmp_path / "e", chat)
    [data] = [d for (s, _), d in read(SOURCE, path).items() if s == "messages"]
    assert "Tide tables" in data["text"]


def test_what_tools_of_other_services_answered_is_read(tmp_path: Path) -> None:
    seen = {"asset_pointer": "sediment://file_0a", "content_type": "image_asset_pointer"}
    page = {"type": "browser_state", "title": "Harbour office", "url": "https://harbour.example/"}
    contents: list[dict[str, Any]] = [
        {"content_type": "citable_code_output", "output_str": "Receipt of the berth"},
        {"content_type": "model_editable_context", "model_set_context": "Nora sails"},
        {"content_type": "computer_output", "screenshot": seen, "state": page},
        {"content_type": "thoughts", "thoughts": "First the tide"},
    ]
    nodes = [node(f"n-{number}", None, "tool", each) for number, each in enumerate(contents)]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([conversation("c-9", nodes, "n-0")]))
    records = read(SOURCE, path)
    texts = [data["text"] for (stream, _), data in records.items() if stream == "messages"]
    assert texts == [
        "Receipt of the berth",
        "Nora sails",
        "Harbour office\n\nhttps://harbour.example/",
        "First the tide",
    ]
    assert sum(stream == "attachments" for stream, _ in records) == 1


@pytest.mark.parametrize("wrap", [lambda one: {"conversations": [one]}, lambda one: one])
def test_conversations_in_an_object_and_one_alone_are_the_same_records(
    tmp_path: Path, wrap: Any
) -> None:
    listed, other = tmp_path / "conversations.json", tmp_path / "tides.json"
    listed.write_text(json.dumps([TIDES]))
    other.write_text(json.dumps(wrap(TIDES)))
    assert read(SOURCE, other) == read(SOURCE, listed)


def test_a_file_that_chatgpt_made_belongs_to_the_message_that_links_it(tmp_path: Path) -> None:
    folder = export(tmp_path / "e", tree_of(said("Here: sandbox:/mnt/data/tides.csv")))
    (folder / "file_0a.dat").write_bytes(b"day,high\n")
    made = {"file_id": "file_0a", "file_name": "tides.csv", "mime_type": "text/csv"}
    library = [{**made, "origination_message_id": "n0"}, {"file_id": "file_0b"}]
    (folder / "library_files.json").write_text(json.dumps(library))
    home = Home(tmp_path / "home")
    report = home.bring(folder)
    [file] = [data for (stream, _), data in home.records().items() if stream == "attachments"]
    assert (file["name"], file["media_type"], "file" in file) == ("tides.csv", "text/csv", True)
    assert all(".dat" not in unknown["reason"] for unknown in report["files"]["unknown"])


def test_marks_in_a_text_become_the_words_and_links_that_they_stand_for(tmp_path: Path) -> None:
    page, name, hidden, bare = (
        f"\ue200{mark}\ue201" for mark in ("cite\ue202t0", "entity\ue202[1]", "x", "cite\ue202t1")
    )
    references = [
        {"matched_text": page, "alt": "([Almanac](https://tides.example))"},
        {"matched_text": name, "alt": "the old mole"},
        {"matched_text": hidden, "alt": None},
        {"matched_text": bare, "items": [{"url": "https://buoys.example", "title": "Buoys"}]},
        {"matched_text": " ", "alt": "", "type": "sources_footnote"},
        None,
    ]
    text = f"High water at {name}{hidden} is at six {page} {bare}."
    talk = tree_of(said(text, metadata={"content_references": references}))
    path = export(tmp_path / "e", talk)
    [message] = [data for (stream, _), data in read(SOURCE, path).items() if stream == "messages"]
    assert message["text"] == (
        "High water at the old mole is at six "
        "([Almanac](https://tides.example)) ([Buoys](https://buoys.example))."
    )


def test_a_kind_of_content_that_nobody_knows_is_not_called_empty(tmp_path: Path) -> None:
    pairing = {"content_type": "app_pairing_content", "workspaces": [{"title": "Log"}]}
    path = export(tmp_path / "e", tree_of(said("Hello"), {**said(""), "content": pairing}))
    [_, unknown] = told(SOURCE, path)
    assert unknown.reason == "a message of a kind that is not known"
    assert unknown.example.endswith("app_pairing_content")


def test_a_message_without_metadata_or_author_comes_in(tmp_path: Path) -> None:
    path = export(tmp_path / "e", tree_of(said("Hello", metadata=None, author=None)))
    [message] = [data for (stream, _), data in read(SOURCE, path).items() if stream == "messages"]
    assert (message["role"], message["text"]) == ("unknown", "Hello")


def test_documents_in_files_of_their_own_come_in_unless_a_conversation_holds_them(
    tmp_path: Path,
) -> None:
    made = json.dumps({"name": "Tides", "type": "document", "content": "High at noon."})
    talk = tree_of(
        said(made, recipient="canmore.create_textdoc"),
        said("Made.", metadata={"canvas": {"textdoc_id": "d-1"}}),
    )
    folder = export(tmp_path / "e", talk)
    (folder / "textdocs").mkdir()
    for name, text in (("d-1", "High at noon."), ("d-2", "Low at six.")):
        value = {"id": name, "title": name, "content": text, "created_at": "2025-01-01T00:00:00Z"}
        (folder / "textdocs" / f"{name}.json").write_text(json.dumps(value))
    (folder / "textdocs" / "odd.json").write_text("{}")
    documents = [d for (stream, _), d in read(SOURCE, folder).items() if stream == "documents"]
    assert [document["text"] for document in documents] == ["High at noon.", "Low at six."]
    assert [found.reason for found in told(SOURCE, folder)][-2:] == [
        "a document that its conversation holds too",
        "a document without an id or a text",
    ]


def test_marks_whose_words_hold_marks_do_not_multiply() -> None:
    mark = "\ue200x\ue201"
    references = [{"matched_text": mark, "alt": mark * 2} for _ in range(60)]

    assert cited(mark, {"content_references": references}) == mark * 2
    long = [{"matched_text": mark, "alt": "y" * 100_000}]
    assert cited(mark * 100_000, {"content_references": long}) == mark * 100_000


def test_a_picture_that_a_program_drew_comes_in_though_its_answer_has_no_words(
    tmp_path: Path,
) -> None:
    drawn = {"message_type": "image", "image_url": "file-service://file-Ch4rt", "width": 640}
    result = {"status": "success", "messages": [drawn, {"message_type": "stream", "text": "ok"}]}
    content = {"content_type": "execution_output", "text": ""}
    answer = {
        "author": {"role": "tool", "name": "python"},
        "create_time": 5.0,
        "content": content,
        "metadata": {"aggregate_result": result},
    }
    odd = {**answer, "metadata": {"aggregate_result": {"messages": [7, {"image_url": None}]}}}
    files = {
        "conversations.json": json.dumps([tree_of(said("Draw the tide"), answer, odd)]).encode(),
        "file-Ch4rt-tides.png": b"\x89PNG curve",
    }
    held = check_twice(zipped(tmp_path / "export.zip", files), tmp_path)
    [picture] = [data for (stream, _), data in held.items() if stream == "attachments"]
    assert (picture["media_type"], picture["file"]["size_bytes"]) == ("image/png", 10)
    [tool] = [data for (stream, _), data in held.items() if data.get("role") == "tool"]
    assert (tool["id"], tool["text"]) == (picture["message_id"], "")
