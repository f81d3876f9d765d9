"""Tokens: what the sessions of each agent took, each answer once."""

import json
from pathlib import Path
from typing import Any

from tests.sources.formats.test_claude_code import line as claude_line
from tests.sources.formats.test_codex import META, said
from tests.sources.formats.test_codex import line as codex_line
from tests.sources.kit import findings, read
from tests.sources.samples.agents import (
    COMPOSER,
    ITEMS,
    KV,
    OPEN_PARTS,
    SESSION,
    STORAGE,
    TWO_ROWS,
    gemini,
    open_folder,
    two_database,
)
from tests.sources.samples.sample import json_bytes, json_lines, sqlite_bytes

from pdpp.sources.formats.agent_session import AgentSession
from pdpp.sources.formats.agent_tokens import TokenCount, Tokens, resumed_count, summed
from pdpp.sources.formats.claude_code.source import ClaudeCode
from pdpp.sources.formats.codex.source import Codex
from pdpp.sources.formats.cursor.source import Cursor
from pdpp.sources.formats.gemini_cli.source import GeminiCli
from pdpp.sources.formats.opencode.source import OpenCode
from pdpp.sources.item import ResumePoint
from pdpp.sources.source import Source

MEMBERS = ("model", "input_tokens", "cached_tokens", "output_tokens")


def took(source: Source, path: Path) -> list[tuple[Any, ...]]:
    """Return the model and the tokens of each session."""
    records = read(source, path)
    return [
        tuple(data.get(name) for name in MEMBERS)
        for (stream, _), data in records.items()
        if stream == "sessions"
    ]


def test_what_is_told_anew_of_an_answer_takes_the_place_of_what_was_told() -> None:
    count = TokenCount(most=2)
    for answer, out in (("a", 1), ("b", 10), ("a", 5), ("c", 100)):
        count.take(answer, Tokens(2, 1, out))
    assert count.total == (6, 3, 115)
    assert list(count.answers) == ["a", "c"]


def test_an_answer_that_is_written_again_much_later_counts_once() -> None:
    count = TokenCount(most=2)
    for number in (1, 2, 3, 4, 1, 2, 3, 4, 5):
        state = json.loads(json.dumps(count.state()))
        count = resumed_count(state, 2)
        count.take(f"a{number}", Tokens(1), f"2026-01-01T10:00:0{number}.000Z")
    assert count.total == (5, 0, 0)


def test_counts_of_a_stranger_stay_small_enough_to_be_kept() -> None:
    count = TokenCount(most=2)
    for number in range(40_000):
        count.take(str(number), Tokens(10**15))
    assert count.total == (10**15, 0, 0)
    count.take("39999", Tokens(1))
    assert count.total.input >= 0


def test_an_answer_without_tokens_counts_nothing_and_is_not_kept() -> None:
    count = TokenCount()
    count.take("a", Tokens())
    assert (count.members(), count.answers) == ({}, {})


def test_a_total_that_begins_anew_is_added() -> None:
    count = TokenCount()
    for into in (10, 10, 30, 5, 7):
        count.take_total(Tokens(into))
    assert count.members() == {"input_tokens": 37}


def test_a_session_goes_on_counting_where_it_was_left() -> None:
    session = AgentSession()
    session.tokens.take("a", Tokens(2, 1, 1))
    later = AgentSession.resumed(json.loads(json.dumps(session.state())))
    later.tokens.take("a", Tokens(2, 1, 4))
    assert later.tokens.members() == {"input_tokens": 2, "cached_tokens": 1, "output_tokens": 4}


def test_the_state_of_a_place_stays_as_it_was() -> None:
    session = AgentSession()
    session.tokens.take("a", Tokens(2, 1, 1))
    state = session.state()
    session.tokens.take("b", Tokens(2, 1, 1))
    assert AgentSession.resumed(state).tokens.members()["input_tokens"] == 2
    assert list(AgentSession.resumed(state).tokens.answers) == ["a"]


def test_what_is_no_count_adds_nothing() -> None:
    told = {"a": 3, "b": True, "c": -1, "d": "7", "e": 10**20, "f": 2.5}
    assert summed(told, *told) == 3
    assert summed(None, "a") == summed([3], "a") == 0


def test_lines_of_one_answer_of_claude_code_count_once(tmp_path: Path) -> None:
    def answer(number: int, name: str, out: int, model: str = "claude-sonnet-4") -> dict[str, Any]:
        made = claude_line("assistant", f"u-{number}", [{"type": "text", "text": "Yes"}], number)
        usage = {"input_tokens": 3, "cache_creation_input_tokens": 40, "output_tokens": out}
        more = {"id": name, "model": model, "usage": {**usage, "cache_read_input_tokens": 500}}
        return {**made, "message": {**made["message"], **more}}

    lines = [
        claude_line("user", "u-0", "Is the tide in?", 0),
        answer(1, "msg_1", 1),
        answer(2, "msg_2", 20),
        answer(3, "msg_1", 9),
        answer(4, "msg_3", 5, "claude-opus-4"),
        answer(5, "msg_4", 900, "<synthetic>"),
    ]
    (tmp_path / "5f2c-11.jsonl").write_bytes(json_lines(lines))
    assert took(ClaudeCode(), tmp_path) == [("claude-opus-4", 3 * 543, 1500, 34)]


def test_what_is_kept_with_a_place_stays_small_however_long_an_answer_is_called(
    tmp_path: Path,
) -> None:
    made = claude_line("assistant", "u-1", [{"type": "text", "text": "Yes"}], 1)
    usage = {"input_tokens": 3, "output_tokens": 5}
    message = {**made["message"], "id": "m" * 100_000, "model": "claude", "usage": usage}
    (tmp_path / "5f2c-13.jsonl").write_bytes(json_lines([{**made, "message": message}]))
    found = findings(ClaudeCode(), tmp_path)
    [place] = [finding for finding in found if isinstance(finding, ResumePoint)]
    assert len(json.dumps(dict(place.state))) < 2_000


def test_tokens_of_the_session_that_a_branch_was_made_from_are_not_its_own(tmp_path: Path) -> None:
    usage = {"input_tokens": 3, "output_tokens": 5}
    for number, more in enumerate(({"forkedFrom": {"sessionId": "5f2c-11"}}, {})):
        made = claude_line("assistant", f"u-{number}", [{"type": "text", "text": "Yes"}], number)
        message = {**made["message"], "id": f"msg_{number}", "model": "claude", "usage": usage}
        with (tmp_path / "5f2c-12.jsonl").open("ab") as file:
            file.write(json_lines([{**made, **more, "message": message}]))
    assert took(ClaudeCode(), tmp_path) == [("claude", 3, None, 5)]


def test_a_total_of_codex_that_is_told_again_counts_once(tmp_path: Path) -> None:
    def told(into: int, out: int, second: int) -> dict[str, Any]:
        total = {"input_tokens": into, "cached_input_tokens": into // 2, "output_tokens": out}
        info = {"total_token_usage": total, "last_token_usage": total}
        return codex_line("event_msg", {"type": "token_count", "info": info}, second)

    lines = [
        codex_line("session_meta", META, 0),
        codex_line("turn_context", {"model": "gpt-5"}, 0),
        said("user", "Why does the ferry leave twice?", 1),
        codex_line("event_msg", {"type": "token_count", "info": None}, 2),
        told(100, 7, 3),
        told(100, 7, 4),
        codex_line("turn_context", {"model": "gpt-5-codex"}, 5),
        told(300, 9, 6),
    ]
    (tmp_path / "rollout-1.jsonl").write_bytes(json_lines(lines))
    assert took(Codex(), tmp_path) == [("gpt-5-codex", 300, 150, 9)]


def test_thoughts_of_gemini_are_tokens_that_came_out(tmp_path: Path) -> None:
    tokens = {"input": 90, "output": 8, "cached": 50, "thoughts": 2, "tool": 10, "total": 110}
    talk = [gemini(1, "user", "Why?"), gemini(2, "gemini", "So", tokens=tokens, model="gemini-3")]
    (tmp_path / "session-1.json").write_bytes(json_bytes({**SESSION, "messages": talk}))
    assert took(GeminiCli(), tmp_path) == [("gemini-3", 100, 50, 10)]


def test_an_answer_of_qwen_tells_its_tokens(tmp_path: Path) -> None:
    def line(number: int, kind: str, text: str, **more: Any) -> dict[str, Any]:
        return {
            "uuid": f"q{number}",
            "parentUuid": None,
            "sessionId": "5f2c-cc",
            "timestamp": f"2026-01-01T10:00:0{number}.500Z",
            "type": kind,
            "message": {"role": kind, "parts": [{"text": text}]},
            **more,
        }

    usage = {"promptTokenCount": 60, "candidatesTokenCount": 9, "cachedContentTokenCount": 20}
    usage |= {"thoughtsTokenCount": 4, "totalTokenCount": 69}
    lines = [
        line(1, "user", "Why?"),
        line(2, "assistant", "So", model="qwen3-coder", usageMetadata=usage),
        line(3, "assistant", "Of old", usageMetadata=usage, forkedFrom={"sessionId": "5f2c-cb"}),
    ]
    (tmp_path / "5f2c-cc.jsonl").write_bytes(json_lines(lines))
    assert took(GeminiCli(), tmp_path) == [("qwen3-coder", 60, 20, 9)]


def open_tokens(out: int) -> dict[str, Any]:
    """Return what a step of OpenCode tells."""
    return {"input": 5, "output": out, "reasoning": 1, "cache": {"read": 30, "write": 4}}


def test_every_step_of_an_answer_of_opencode_counts(tmp_path: Path) -> None:
    files = open_folder()
    about = json.loads(files[f"{STORAGE}/message/ses_1/msg_2.json"])
    last = {**about, "tokens": open_tokens(3)}
    files[f"{STORAGE}/message/ses_1/msg_2.json"] = json_bytes(last)
    for number, out in enumerate((2, 3), len(OPEN_PARTS["msg_2"])):
        part = {"id": f"prt_{number}", "type": "step-finish", "tokens": open_tokens(out)}
        files[f"{STORAGE}/part/msg_2/prt_{number}.json"] = json_bytes(part)
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert took(OpenCode(), tmp_path) == [("big-model", 78, 60, 7)]


def test_an_answer_of_opencode_two_tells_its_tokens(tmp_path: Path) -> None:
    rows = [
        (name, kind, {**data, "tokens": open_tokens(6)} if kind == "assistant" else data)
        for name, kind, data in TWO_ROWS
    ]
    (tmp_path / "opencode.db").write_bytes(two_database(*rows))
    assert took(OpenCode(), tmp_path) == [("sonnet-5", 39, 30, 7)]


def test_messages_of_cursor_tell_their_tokens(tmp_path: Path) -> None:
    def bubble(kind: int, into: int, out: int) -> bytes:
        counts = {"inputTokens": into, "outputTokens": out}
        return json_bytes({"type": kind, "text": "Aye", "tokenCount": counts})

    rows = [
        ("composerData:c1", json_bytes(COMPOSER)),
        ("bubbleId:c1:b1", bubble(2, 70, 9)),
        ("bubbleId:c1:b2", bubble(1, 0, 0)),
    ]
    database = sqlite_bytes(KV + ITEMS, {"cursorDiskKV": rows})
    (tmp_path / "state.vscdb").write_bytes(database)
    assert took(Cursor(), tmp_path) == [(None, 70, None, 9)]
