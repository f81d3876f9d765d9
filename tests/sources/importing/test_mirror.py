"""Deletions, only where they are wanted."""

from pathlib import Path

import orjson
from tests.sources.kit import Home
from tests.sources.word_lists import WordLists

from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import ImportCallbacks


def test_a_mirror_finds_what_is_no_longer_there_and_deletes_it(word_lists: WordLists) -> None:
    word_lists.put("a", "one", "two", "three")
    word_lists.bring()
    word_lists.put("a", "two", "four")
    word_lists.bring()
    assert word_lists.keys() == ["four", "one", "three", "two"]
    task = word_lists.bring(mirror=True)
    absent = task.absent()
    assert absent.counts == {"words": 2}
    assert sorted(absent.examples) == ["words:one", "words:three"]
    assert word_lists.keys() == ["four", "one", "three", "two"]
    task.delete_absent()
    assert word_lists.keys() == ["four", "two"]
    [(_, kept), *_] = word_lists.state.reports()
    assert kept["counts"]["deleted"] == 2
    assert task.absent().counts.total() == 0


def test_a_mirror_leaves_other_connections_alone(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    word_lists.bring("cin_other")
    word_lists.put("a", "two")
    task = word_lists.bring("cin_mine", mirror=True)
    task.delete_absent()
    assert word_lists.keys() == ["one", "two"]


def test_a_mirror_reads_everything_anew_after_an_interruption(word_lists: WordLists) -> None:
    word_lists.put("a", "one", "two")
    steps = iter([False, True])
    word_lists.bring(callbacks=ImportCallbacks(stop=lambda: next(steps)))
    task = word_lists.bring(mirror=True)
    assert task.absent().counts.total() == 0


def test_a_mirror_looks_through_more_records_than_a_page_holds(word_lists: WordLists) -> None:
    words = [f"w{number:05}" for number in range(2_500)]
    word_lists.put("a", *words)
    word_lists.bring()
    word_lists.put("a", *words[::2])
    task = word_lists.bring(mirror=True)
    assert task.absent().counts == {"words": 1_250}
    task.delete_absent()
    assert word_lists.keys() == words[::2]


def test_a_chat_says_after_a_mirror_what_is_left_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for count in (5, 2):
        home.bring(telegram_chat(tmp_path / "chat", count), *(["--mirror"] if count == 2 else []))
    records = home.records()
    [chat] = [data for (stream, _), data in records.items() if stream == "chats"]
    assert (chat["message_count"], chat["updated_at"]) == (2, "2024-01-01T10:01:00Z")
    assert len(records) == 3
    [(_, kept), *_] = ImportState(home.data).reports()
    assert (kept["status"], kept["counts"]["read"], kept["counts"]["deleted"]) == ("complete", 3, 3)


def telegram_chat(folder: Path, count: int) -> Path:
    """Write an export of one chat with so many messages, a minute apart."""
    messages = [
        {
            "id": number,
            "type": "message",
            "date": f"2024-01-01T10:{number:02}:00",
            "date_unixtime": str(1_704_103_200 + 60 * number),
            "from": "Ann",
            "from_id": "user1",
            "text": f"hi {number}",
        }
        for number in range(count)
    ]
    folder.mkdir(exist_ok=True)
    chat = {"name": "Family", "type": "private_group", "id": 7, "messages": messages}
    (folder / "result.json").write_bytes(orjson.dumps(chat))
    return folder
