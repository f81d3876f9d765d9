"""Blocks: the typed pieces of a Claude message, and the artifacts that its tools write."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.shapes import odd_members

UNTITLED = "(no title)"
_SPOKEN = frozenset({"text", "voice_note"})
_MARKERS = frozenset({"token_budget", "flag"})
_FILES = frozenset({"document", "image"})


def counted_messages(
    messages: Iterable[Any], read: Callable[[Any, str], Iterator[Finding]], where: str
) -> tuple[int, list[Finding]]:
    """Return how many messages of a conversation are kept, and what all of them hold."""
    found: list[Finding] = []
    for number, message in enumerate(messages, 1):
        place = f"{where} message {number}"
        found += account(read(message, place), place, "message")
    said = [item for item in found if isinstance(item, Item) and item.stream == "messages"]
    return len(said), found


def parsed(value: Any) -> Any:
    """Return a value; some exports write it as JSON inside a string."""
    if not isinstance(value, str):
        return value
    try:
        return read_json(value.encode())
    except NotJson:
        return value


def joined(pieces: list[Any]) -> str:
    """Return the texts that say anything, as paragraphs."""
    return "\n\n".join(piece for piece in pieces if isinstance(piece, str) and piece.strip())


def result_text(content: Any) -> str:
    """Return what a tool answered, in words: texts, titles with links, and names of files."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    pieces = []
    for piece in content if isinstance(content, list) else ():
        if isinstance(piece, Mapping):
            names = ("title", "url", "text", "file_path", "name")
            lines = [text for name in names if isinstance(text := piece.get(name), str)]
            pieces.append(
                "\n".join(lines) or result_text(piece.get("content", piece.get("images")))
            )
    return joined(pieces)


@dataclass(slots=True)
class Artifact:
    """A document that the assistant wrote, as far as it has been built."""

    name: str
    title: str
    kind: str
    language: str | None
    message: RecordKey
    created_at: str
    updated_at: str
    text: str = ""
    versions: int = 0


@dataclass(slots=True)
class Artifacts:
    """The artifacts of one conversation: made, changed piece by piece, and written anew."""

    conversation: RecordKey
    by_name: dict[str, Artifact] = field(default_factory=dict)

    def take(self, tool: str, given: Any, message: RecordKey, at: str) -> str | None:
        """Apply what a tool was given; return the artifact's title, or None where it is no such."""
        if not isinstance(given, Mapping):
            return None
        if tool == "artifacts":
            name, text = given.get("id"), given.get("content")
        elif tool in ("create_file", "str_replace"):
            name, text = given.get("path"), given.get("file_text")
        else:
            return None
        if not isinstance(name, str) or not name:
            return None
        artifact = self.by_name.get(name)
        if artifact is None:
            artifact = self.by_name[name] = _new(name, given, message, at)
        artifact.updated_at = at
        artifact.versions += 1
        if isinstance(text, str):
            artifact.text = text
        elif isinstance(given.get("old_str"), str):
            replacement = str(given.get("new_str") or "")
            artifact.text = artifact.text.replace(given["old_str"], replacement, 1)
        return artifact.title

    def items(self) -> Iterator[Item]:
        """Yield every artifact in its last version."""
        for artifact in self.by_name.values():
            key = safe_key(self.conversation, "artifact", artifact.name)
            data = {
                "id": key,
                "conversation_id": self.conversation,
                "message_id": artifact.message,
                "title": artifact.title,
                "kind": artifact.kind,
                "language": artifact.language,
                "text": artifact.text,
                "versions": artifact.versions,
                "created_at": artifact.created_at,
                "updated_at": artifact.updated_at,
            }
            yield Item("artifacts", key, present(data))


def _new(name: str, given: Mapping[str, Any], message: RecordKey, at: str) -> Artifact:
    title = given.get("title") or given.get("description") or name.rpartition("/")[2]
    kind = str(given.get("type") or ("file" if "path" in given else "artifact"))
    language = given.get("language")
    return Artifact(
        name, str(title), kind, language if isinstance(language, str) else None, message, at, at
    )


@dataclass(slots=True)
class Blocks:
    """What the blocks of one message come to."""

    artifacts: Artifacts
    message: RecordKey
    at: str
    said: list[Any] = field(default_factory=list)
    thought: list[Any] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, content: Any, where: str) -> Iterator[Finding]:
        """Take in every block, and yield what is left out or not known."""
        blocks = parsed(content)
        for number, block in enumerate(blocks if isinstance(blocks, list) else (), 1):
            if isinstance(block, Mapping):
                yield from self._block(block, number, where)
            else:
                yield Unknown("content of a type that is not known", where)

    def _block(self, block: Mapping[str, Any], number: int, where: str) -> Iterator[Finding]:
        kind = block.get("type")
        yield from odd_members(block, where, text=str, thinking=str)
        if kind in _SPOKEN:
            self.said.append(block.get("text"))
        elif kind == "thinking":
            self.thought.append(block.get("thinking"))
        elif kind == "tool_use":
            self._use(block, str(block.get("id") or number))
        elif kind == "tool_result":
            self._answer(block, str(block.get("tool_use_id") or number))
        elif kind in _FILES:
            self.files.append(str(block.get("title") or block.get("file_uuid") or kind))
        elif kind == "injected_prompt_block":
            yield Skipped("a prompt that the service added by itself", where)
        elif kind in _MARKERS:
            yield Skipped("a marker that says nothing", where)
        else:
            yield Unknown("content of a type that is not known", f"{where}: {str(kind)[:40]}")

    def _use(self, block: Mapping[str, Any], name: str) -> None:
        tool, given = str(block.get("name") or "tool"), parsed(block.get("input"))
        title = self.artifacts.take(tool, given, self.message, self.at)
        self.said.append(f"[artifact: {title}]" if title else f"[used {tool}]")
        if title is None:
            self.calls[name] = {"tool": tool, "input": _spelled(given), "result": ""}

    def _answer(self, block: Mapping[str, Any], name: str) -> None:
        text = result_text(block.get("content"))
        call = self.calls.get(name)
        if call is None:
            if not text:
                return
            tool = str(block.get("name") or "tool")
            call = self.calls[name] = {"tool": tool, "input": "", "result": ""}
        call["result"] = joined([call["result"], text])
        call["is_error"] = bool(block.get("is_error"))

    def call_items(self, conversation: RecordKey) -> Iterator[Item]:
        """Yield the uses of tools with what they answered."""
        for name, call in self.calls.items():
            key = safe_key(self.message, "call", name)
            owner = {"id": key, "conversation_id": conversation, "message_id": self.message}
            yield Item("tool_calls", key, {**owner, "is_error": False, **call, "sent_at": self.at})


def _spelled(given: Any) -> str:
    if not isinstance(given, Mapping):
        return "" if given is None else str(given)
    return "\n".join(f"{name}: {value}" for name, value in given.items())
