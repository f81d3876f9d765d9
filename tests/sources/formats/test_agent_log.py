"""Sessions: the frame that the logs of coding agents share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pdpp.sources.formats.agent_log import (
    AgentLog,
    LogCopies,
    LogSample,
    copies_among,
    logs_of,
    look_at,
    session_of,
)
from pdpp.sources.formats.agent_session import AgentSession
from pdpp.sources.item import START, Finding, Item, ResumePoint, Seen, Skipped, Unknown
from pdpp.sources.reading.jsonlines import JsonLine
from pdpp.sources.reading.tree import FileEntry, Tree, open_tree
from pdpp.sources.source import Confidence


def tree(folder: Path, **logs: str) -> Tree:
    folder.mkdir(exist_ok=True)
    for name, content in logs.items():
        (folder / f"{name}.jsonl").write_text(content)
    return open_tree(folder)


def layouts(entry: FileEntry) -> set[str]:
    return {"new"} if b"new" in entry.head() else set()


def test_only_logs_that_hold_something_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "note.txt").write_text("new")
    seen = tree(tmp_path / "e", a="new", b="")
    assert [entry.name for entry in logs_of(seen)] == ["a.jsonl"]
    assert look_at(logs_of(seen), layouts) == LogSample(Confidence.CERTAIN, "1 session", ["new"])


def test_a_log_of_another_kind_among_them_makes_it_likely_and_none_at_all_nothing(
    tmp_path: Path,
) -> None:
    mixed = tree(tmp_path / "mixed", a="new", b="old")
    assert look_at(logs_of(mixed), layouts) == LogSample(Confidence.LIKELY, "2 sessions", ["new"])
    assert look_at(logs_of(tree(tmp_path / "others", a="old")), layouts) is None


OWN = "rollout-2026-02-01T10-00-00-01980000-0000-7000-8000-00000000000a"


@pytest.mark.parametrize(
    ("name", "session"),
    [
        (OWN, OWN),
        (f"{OWN} (1)", OWN),
        (f"{OWN}(2)", OWN),
        (f"{OWN} copy 3", OWN),
        (f"{OWN} - Kopie", OWN),
        (f"{OWN}-b", f"{OWN}-b"),
        ("agent-a1b2c3d (1)", "agent-a1b2c3d"),
        ("about the tides (1)", "about the tides (1)"),
    ],
)
def test_a_copy_of_a_log_is_of_the_same_session(tmp_path: Path, name: str, session: str) -> None:
    [entry] = tree(tmp_path / "e", **{name: "x"}).entries
    assert session_of(entry) == session


def test_a_copy_that_another_log_begins_with_is_an_earlier_state_of_it(tmp_path: Path) -> None:
    whole = "one\ntwo\nthree\n"
    logs = {OWN: whole, f"{OWN} copy": whole, f"{OWN} (1)": "one\nt", f"{OWN} (2)": "one\nother\n"}
    logs["agent-b"] = "one\n"
    assert copies_among(logs_of(tree(tmp_path / "e", **logs))) == LogCopies(
        earlier=frozenset({f"{OWN} (1).jsonl", f"{OWN} copy.jsonl"}),
        apart=frozenset({f"{OWN} (2).jsonl"}),
    )


class Words(AgentLog):
    """Reads a log of words."""

    def event(self, event: JsonLine, talk: AgentSession) -> Iterator[Finding]:
        talk.hear("user", event.value["word"], event.value["at"])
        yield self._item("messages", str(talk.lines), event.value["at"], {"text": "x"})


def test_a_session_lasts_from_its_earliest_line_to_its_latest(tmp_path: Path) -> None:
    times = ("2026-01-01T08:05:00Z", "2026-01-01T08:30:00Z", "2026-01-01T08:00:00Z")
    lines = "".join(f'{{"word": "a", "at": "{at}"}}\n' for at in times)
    [entry] = tree(tmp_path / "e", s=lines).entries
    *_, session = Words(entry).read(START)
    assert isinstance(session, Item)
    assert (session.data["started_at"], session.data["ended_at"]) == (times[2], times[1])


def test_a_session_goes_on_from_a_place_as_if_it_had_been_read_whole(tmp_path: Path) -> None:
    lines = ['{"word": "a", "at": "1"}', "[", '{"at": "2"}', '{"word": "b", "at": "3"}']
    [entry] = tree(tmp_path / "e", s="".join(f"{line}\n" for line in lines)).entries
    whole = list(Words(entry).read(START))
    kinds = [
        *(Seen, Item, ResumePoint, Skipped, ResumePoint),
        *(Seen, Unknown, ResumePoint, Seen, Item, ResumePoint, Item),
    ]
    assert [type(found) for found in whole] == kinds
    assert isinstance(whole[-1], Item)
    assert whole[-1].key == "s"
    assert whole[-1].data["message_count"] == 2
    place = whole[4]
    assert isinstance(place, ResumePoint)
    later = list(Words(entry).read(place))
    assert later[3:] == whole[8:]
