"""Prompts: ``history.jsonl``, where the agent keeps what was typed long after it deletes a log."""

import re
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from typing import Any

from pdpp.sources.formats.agent_log import EMPTY, home_of
from pdpp.sources.item import Finding, Item, ResumePoint, Skipped, Unknown, present
from pdpp.sources.keys import digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonlines import JsonLine, events, first_objects
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import GrowingPart

_NAMES = "history*.jsonl"
"""A browser numbers a second copy."""
_MEMBERS = frozenset({"display", "timestamp", "project"})
_IN_LOG = "a prompt that stands in the log of its session"
_MOST_PASTED = 4 << 20

_Paste = Callable[[str], FileEntry | None]
"""Returns the file that a long pasted text was put into, by its hash."""


def histories_of(tree: Tree) -> list[FileEntry]:
    """Return the files of prompts."""
    found = tree.entries if tree.kind == "file" else tree.named(_NAMES)
    return [entry for entry in found if entry.suffix == ".jsonl" and _is_history(entry)]


def home_in(histories: list[FileEntry]) -> str:
    """Return the home folder on the machine that some prompts were typed at."""
    lines = (value for entry in histories for value in first_objects(entry))
    return home_of(value.get("project") for value in lines)


def prompt_parts(tree: Tree, sessions: Set[str]) -> Iterator[GrowingPart]:
    """Return a part for each file; ``sessions`` are those whose logs are there."""
    for entry in histories_of(tree):
        yield GrowingPart(entry, partial(_read, tree, entry, sessions))


def _is_history(entry: FileEntry) -> bool:
    return any(value.keys() >= _MEMBERS for value in first_objects(entry, 3))


def _read(
    tree: Tree, entry: FileEntry, sessions: Set[str], start: ResumePoint
) -> Iterator[Finding]:
    def paste(name: str) -> FileEntry | None:
        return tree.beside(entry, f"paste-cache/{name}.txt")

    for found in events(entry, start.offset):
        if isinstance(found, JsonLine):
            yield from account(_prompt(found, sessions, paste), found.where, "line")
        else:
            yield found.skipped
        if found.closed:
            yield ResumePoint(found.end)


def _prompt(line: JsonLine, sessions: Set[str], paste: _Paste) -> Iterator[Finding]:
    value, where = line.value, line.where
    stamp, session = value.get("timestamp"), value.get("sessionId")
    sent = epoch_text(stamp / 1_000) if isinstance(stamp, int | float) else None
    typed = value.get("display")
    if sent is None or not isinstance(typed, str):
        yield Unknown("a prompt without a text or a time", where)
    elif session in sessions:
        yield Skipped(_IN_LOG, where)
    elif not typed.strip():
        yield Skipped(EMPTY, where)
    else:
        text, told = _with_pasted(typed, value.get("pastedContents") or {}, paste)
        key = digest_key("prompt", str(stamp), typed)
        data = {
            "id": key,
            "session_id": safe_key(str(session)) if session else None,
            "project": value.get("project") or None,
            "text": text,
            "sent_at": sent,
        }
        yield Item("prompts", key, present(data))
        yield from (Skipped(reason, where) for reason in told)


def _with_pasted(typed: str, pasted: Mapping[str, Any], paste: _Paste) -> tuple[str, list[str]]:
    """Return a prompt with what was pasted into it, and what of that is not there."""
    told: list[str] = []
    for number, piece in pasted.items():
        content = _content(piece, paste)
        mark = re.compile(rf"\[(?:Pasted text|\.\.\.Truncated text) #{re.escape(number)}[^\]]*\]")
        if content is None:
            is_image = piece.get("type") == "image"
            told.append(f"{'a picture' if is_image else 'a text'} that was pasted into a prompt")
        elif found := mark.search(typed):
            typed = f"{typed[: found.start()]}{content}{typed[found.end() :]}"
        else:
            typed = f"{typed}\n{content}"
    return typed, told


def _content(piece: Mapping[str, Any], paste: _Paste) -> str | None:
    if piece.get("type") != "text":
        return None
    if isinstance(content := piece.get("content"), str):
        return content
    entry = paste(str(piece.get("contentHash")))
    return None if entry is None else entry.head(_MOST_PASTED).decode("utf-8", "replace")
