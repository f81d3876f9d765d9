"""Claude.ai exports, in the layouts of several years."""

import json
from pathlib import Path
from typing import Any

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

from pdpp.sources.formats.claude_ai.source import ClaudeAi
from pdpp.sources.reading.nested import expand
from pdpp.sources.reading.tree import TreeLimits, open_tree
from pdpp.sources.source import Confidence, Recognition

SOURCE = ClaudeAi()


def message(name: str, sender: str, text: str, second: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "uuid": name,
        "text": text,
        "sender": sender,
        "created_at": f"2026-03-01T08:00:{second:02}.000000Z",
        "updated_at": f"2026-03-01T08:00:{second:02}.000000Z",
        "attachments": [],
        "files": [],
        **more,
    }


def conversation(uuid: str, *messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "name": "Lighthouse rhythm",
        "summary": "",
        "created_at": "2026-03-01T08:00:00.000000Z",
        "updated_at": "2026-03-01T09:00:00.000000Z",
        "account": {"uuid": "acc-1"},
        "chat_messages": list(messages),
        **more,
    }


RHYTHM = conversation(
    "t-1",
    message("m-1", "human", "What rhythm has the lighthouse at the mole?", 1),
    message(
        "m-2",
        "assistant",
        "",
        2,
        content=[
            {"type": "thinking", "thinking": "A list of lights would know."},
            {"type": "tool_use", "name": "web_search", "input": {"query": "mole light"}},
            {"type": "tool_result", "content": []},
            {"type": "text", "text": "Two short flashes and a long pause, every ten seconds."},
        ],
    ),
    message(
        "m-3",
        "human",
        "",
        3,
        attachments=[
            {
                "file_name": "lights.txt",
                "file_type": "text/plain",
                "extracted_content": "Mole: Fl(2) 10s",
            }
        ],
        files=[{"file_name": "photo.jpg"}],
    ),
)
OLD = conversation("t-2", message("m-9", "human", "Name my boat", 9), name="", summary="A name")
PROJECT = {
    "uuid": "p-1",
    "name": "Tide almanac",
    "description": "A year of tides",
    "prompt_template": "Answer in metres.",
    "created_at": "2026-02-01T08:00:00Z",
    "updated_at": "2026-02-02T08:00:00Z",
    "docs": [{"uuid": "d-1", "filename": "moon.md", "content": "Spring tides follow the moon."}],
}
MEMORY = {
    "conversations_memory": "Nora keeps the tide table.",
    "project_memories": {"p-1": "Metres, not feet.", "p-2": ""},
    "account_uuid": "acc-1",
}
USERS = [{"uuid": "acc-1", "full_name": "Nora Lind", "email_address": "nora@lind.example"}]


def files(*conversations: Any, **more: Any) -> dict[str, bytes]:
    found = {"conversations": list(conversations), "users": USERS, **more}
    return {f"{name.replace('__', '/')}.json": json.dumps(v).encode() for name, v in found.items()}


def export(folder: Path, *conversations: Any, **more: Any) -> Path:
    for name, content in files(*conversations, **more).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_an_export_is_recognised_and_named_by_its_account(tmp_path: Path) -> None:
    seen = look(SOURCE, export(tmp_path / "e", RHYTHM, projects=[PROJECT], memories=[MEMORY]))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.account) == (Confidence.CERTAIN, "Claude (nora@lind.example)")
    assert seen.version == "conversations, 1 file of projects, 1 file of memories"


def test_conversations_of_others_are_not_taken(tmp_path: Path) -> None:
    assert look(SOURCE, export(tmp_path / "e", {"mapping": {}, "current_node": "x"})) is None


def test_an_export_without_users_is_taken(tmp_path: Path) -> None:
    seen = look(SOURCE, export(tmp_path / "e", RHYTHM, users=["odd"]))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.version) == ("Claude", "conversations")


def test_an_export_gives_these_records(tmp_path: Path) -> None:
    path = export(tmp_path / "e", RHYTHM, OLD, projects=[PROJECT], memories=[MEMORY])
    golden("claude_ai", read(SOURCE, path))
    assert [found.reason for found in told(SOURCE, path)] == ["a file that the export only names"]


def test_projects_in_files_of_their_own_are_the_same(tmp_path: Path) -> None:
    together = read(SOURCE, export(tmp_path / "a", RHYTHM, projects=[PROJECT]))
    apart = read(SOURCE, export(tmp_path / "b", RHYTHM, projects__p1=PROJECT))
    assert together == apart


def test_what_cannot_be_placed_is_told(tmp_path: Path) -> None:
    path = export(
        tmp_path / "e",
        conversation("t-3", message("", "human", "hi"), message("m", "human", ""), 7),
        conversation("", message("m", "human", "hi")),
        {"uuid": "t-4", "created_at": "yesterday", "chat_messages": []},
        projects=[{"uuid": "p-2", "docs": []}],
        memories=[{"conversations_memory": "", "project_memories": []}],
    )
    assert [found.reason for found in told(SOURCE, path)] == [
        "a message without an id",
        "an empty message",
        "a shape that is not known",
        "a conversation without an id or a time",
        "a conversation without an id or a time",
        "a project without an id or a time",
        "an empty memory",
    ]


def test_the_same_export_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(export(tmp_path / "e", RHYTHM, OLD, projects=[PROJECT]), tmp_path)


def test_an_export_and_then_a_later_one_are_the_later_one(tmp_path: Path) -> None:
    longer = {**RHYTHM, "chat_messages": [*RHYTHM["chat_messages"], message("m-8", "human", "OK")]}
    check_overlap(export(tmp_path / "a", RHYTHM), export(tmp_path / "b", OLD, longer), tmp_path)


def put(folder: Path, content: bytes) -> Path:
    path = folder / "conversations.json"
    path.write_bytes(content)
    return path


def test_a_cut_file_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    content = json.dumps([OLD, RHYTHM, OLD]).encode()
    check_cuts(SOURCE, content, lambda cut: put(tmp_path, cut))


def test_hostile_exports_are_survived(tmp_path: Path) -> None:
    check_hostile_json(SOURCE, [RHYTHM], lambda content: put(tmp_path, content))
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, files(RHYTHM, projects=[PROJECT]), folder)


@given(st.text(min_size=1, max_size=40))
def test_keys_are_the_same_whatever_stands_before_a_conversation(name: str) -> None:
    from tempfile import TemporaryDirectory

    talk = conversation(name, message("n", "human", "hi"))
    with TemporaryDirectory() as folder:
        alone = read(SOURCE, export(Path(folder) / "a", talk))
        after = read(SOURCE, export(Path(folder) / "b", OLD, talk))
    assert set(alone) <= set(after)


def test_an_agent_finds_an_answer_in_a_zip(tmp_path: Path) -> None:
    path = zipped(tmp_path / "data.zip", files(RHYTHM, OLD))
    report = bring_and_ask(path, tmp_path, "long pause", "Two short flashes and a long pause")
    assert report["counts"]["new"] == 7


def of(path: Path, stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in read(SOURCE, path).items() if name == stream]


def remembered(member: str, **more: Any) -> bytes:
    return json.dumps({"account_uuid": member, **more}).encode()


def test_memories_of_other_members_do_not_replace_the_owner_s(tmp_path: Path) -> None:
    note = {"path": "/areas/boat.md", "content": "Sails are red", "updated_at": None}
    members = {
        "users.json": json.dumps([{"uuid": "acc-1", "email_address": "nora@x.example"}]).encode(),
        "memories/acc-1.json": remembered("acc-1", conversations_memory="Nora sails"),
        "memories/acc-2.json": remembered("acc-2", conversations_memory="Bo rows"),
        "memories/acc-3.json": remembered("acc-3", memory_files=[note]),
    }
    path = zipped(tmp_path / "memories-000.zip", members)
    texts = sorted(data["text"] for data in of(path, "memories"))
    assert texts == ["Bo rows", "Nora sails", "Sails are red"]
    alone = {name: members[name] for name in ("users.json", "memories/acc-1.json")}
    owner = zipped(tmp_path / "b" / "memories-000.zip", alone)
    assert read(SOURCE, owner).items() <= read(SOURCE, path).items()


def test_what_claude_writes_of_a_month_is_a_text(tmp_path: Path) -> None:
    month = {
        "period": "August 2026",
        "hero_title": "A month of tides",
        "stats": [{"label": "Talks", "n": "14", "sublabel": None}],
        "about_your_time": [{"title": "Mornings", "body": "Most talks began at dawn."}],
        "a_new_part": {"title": "Boats"},
    }
    written = {
        "account_uuid": "acc-1",
        "reflections": [{"period": "2026-08", "content": month}, {"period": "2026-09"}],
        "feedback": [{"rating": "up"}],
    }
    files = {"reflections/acc-1.json": json.dumps(written).encode()}
    path = zipped(tmp_path / "feedback-000.zip", files)
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.identity == "acc-1"
    [memory] = of(path, "memories")
    assert memory["name"] == "What Claude wrote of 2026-08"
    assert memory["text"] == (
        "August 2026\n\nA month of tides\n\nTalks\n14\n\n"
        "Mornings\nMost talks began at dawn.\n\nBoats"
    )
    assert [found.reason for found in told(SOURCE, path)] == [
        "a month without a text",
        "a rating of what Claude wrote",
    ]


def test_pictures_that_a_search_found_are_named_in_what_the_tool_answered(tmp_path: Path) -> None:
    gallery = {"type": "image_gallery", "images": [{"title": "Mole", "url": "https://x.example/1"}]}
    blocks = [
        {"type": "tool_use", "id": "t", "name": "image_search", "input": {"query": "mole"}},
        {"type": "tool_result", "tool_use_id": "t", "content": [gallery]},
    ]
    path = export(
        tmp_path / "e", conversation("t-9", message("m", "assistant", "", content=blocks))
    )
    [call] = of(path, "tool_calls")
    assert call["result"] == "Mole\nhttps://x.example/1"


def test_a_message_that_is_only_a_file_is_kept_with_its_name(tmp_path: Path) -> None:
    shown = message("m-9", "human", "", files=[{"file_uuid": "f", "file_name": "mole.png"}])
    [data] = of(export(tmp_path / "e", conversation("t-9", shown)), "messages")
    assert data["file_names"] == ["mole.png"]


def test_of_messages_of_one_moment_the_last_is_the_visible_end(tmp_path: Path) -> None:
    first = message("m-1", "human", "And the second light?", parent_message_uuid="root")
    then = message("m-2", "assistant", "Two flashes.", parent_message_uuid="m-1")
    path = export(tmp_path / "e", conversation("t-9", first, then))
    assert [data["visible"] for data in of(path, "messages")] == [True, True]


def design(*messages: dict[str, Any]) -> bytes:
    moment = "2026-09-01T10:00:00Z"
    said = [{"created_at": moment, **message} for message in messages]
    about = {"uuid": "d-1", "title": "Poster", "project": {"uuid": "p", "name": "Regatta"}}
    return json.dumps({**about, "created_at": moment, "messages": said}).encode()


def test_a_design_chat_keeps_the_files_it_wrote_and_what_was_given_to_it(tmp_path: Path) -> None:
    given = [{"type": "text", "content": "Use the club's blue"}, {"type": "file", "name": "a.pdf"}]
    written = {"path": "/poster.html", "file_text": "<h1>Regatta</h1>"}
    call = {"id": "c", "name": "create_file", "input": written, "output": "written"}
    chat = design(
        {"uuid": "1", "role": "user", "content": {"content": "A poster", "attachments": given}},
        {
            "uuid": "2",
            "role": "assistant",
            "content": {
                "contentBlocks": [
                    {"type": "tool_call", "toolCall": call},
                    {"type": "error", "message": "The preview failed"},
                ]
            },
        },
        {
            "uuid": "3",
            "role": "assistant",
            "content": {"contentBlocks": [{"type": "thinking", "thinking": "Blue it is"}]},
        },
    )
    path = zipped(tmp_path / "design_chats-000.zip", {"design_chats/d-1.json": chat})
    assert [(data["title"], data["text"]) for data in of(path, "artifacts")] == [
        ("poster.html", "<h1>Regatta</h1>")
    ]
    assert [data["text"] for data in of(path, "attachments")] == ["Use the club's blue"]
    said = of(path, "messages")
    assert said[0]["file_names"] == ["text", "a.pdf"]
    assert said[1]["text"] == "[artifact: poster.html]\n\nThe preview failed"
    assert said[2]["thinking"] == "Blue it is"
    assert [found.reason for found in told(SOURCE, path)] == ["a file that the export only names"]


def test_what_was_spoken_is_text(tmp_path: Path) -> None:
    spoken = [{"type": "voice_note", "title": "Voice", "text": "Which light is red?"}]
    path = export(tmp_path, conversation("t-5", message("m-1", "human", "", content=spoken)))
    assert [data["text"] for data in of(path, "messages")] == ["Which light is red?"]


def zips_of(folder: Path, person: str, copy: str = "") -> None:
    """Write the zips of a person's export, numbered as a browser does."""
    account = f"acc-{person}"
    said = message(f"m-{person}", "human", f"I am {person}")
    project = {"uuid": f"p-{person}", "docs": [], "creator": {"uuid": account}}
    project["created_at"] = "2026-03-01T08:00:00Z"
    shared = {**project, "uuid": f"q-{person}", "creator": {"uuid": "acc-colleague"}}
    memory = {"account_uuid": account, "conversations_memory": f"{person} likes tea"}
    talk = conversation(f"t-{person}", said, account={"uuid": account})
    files: dict[str, dict[str, Any]] = {
        "conversations-000": {"conversations.json": [talk]},
        "projects-000": {"projects/a.json": shared, "projects/b.json": project},
        "memories-000": {f"memories/{account}.json": memory},
        "light_metadata-000": {
            "users.json": [{"uuid": account, "email_address": f"{person}@example.org"}]
        },
    }
    for name, content in files.items():
        members = {path: json.dumps(value).encode() for path, value in content.items()}
        zipped(folder / f"{name}{copy}.zip", members)


def test_zips_of_two_people_in_one_folder_are_two_accounts(tmp_path: Path) -> None:
    zips_of(tmp_path / "d", "nora")
    zips_of(tmp_path / "d", "otto", " (1)")
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "d")
    for person in ("nora", "otto"):
        zips_of(tmp_path / person, person)
        alone = home.bring(tmp_path / person)
        assert alone["connection"]["display_name"] == f"Claude ({person}@example.org)"
        assert (alone["counts"]["new"], alone["counts"]["unchanged"]) == (0, 5)


def test_the_zips_of_an_organisation_are_one_account(tmp_path: Path) -> None:
    zips_of(tmp_path, "nora")
    zips_of(tmp_path, "otto", " (1)")
    assert len(SOURCE.apart(expand(open_tree(tmp_path), TreeLimits()))) == 2
    both = [{"uuid": "acc-nora"}, {"uuid": "acc-otto"}]
    zipped(tmp_path / "light_metadata-000.zip", {"users.json": json.dumps(both).encode()})
    assert SOURCE.apart(expand(open_tree(tmp_path), TreeLimits())) == []


def test_a_zip_that_does_not_say_whose_it_is_stays_apart(tmp_path: Path) -> None:
    zips_of(tmp_path, "nora")
    zips_of(tmp_path, "otto", " (1)")
    design = {"uuid": "d", "messages": [], "title": "Flag", "project": {}}
    zipped(tmp_path / "design_chats-000.zip", {"design_chats/d.json": json.dumps(design).encode()})
    *_, rest = SOURCE.apart(expand(open_tree(tmp_path), TreeLimits()))
    assert [entry.base for entry in rest.entries] == ["d.json"]
