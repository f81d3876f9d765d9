"""Claude.ai exports: conversations with their messages, projects, and what it remembers."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import Reader, objects, read_each
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_MARKS = (b'"chat_messages"', b'"uuid"')
_PROJECT_MARKS = (b'"uuid"', b'"docs"')
_UNTITLED = "(no title)"


class ClaudeAi(Source):
    """The zip that Anthropic sends, or what was taken out of it."""

    connector_key = "claude_ai"
    label = "Claude.ai export"
    passed_over = MappingProxyType(
        {
            "users.json": "whose export it is",
            "manifest-*.json": "links to the export's files, which are secret",
            "login_history.json": "when and where the account was used",
            "README.txt": "a note without content",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for conversations that hold their messages as a list."""
        talks = [entry for entry in tree.named("conversations.json") if _has(entry, _MARKS)]
        if not talks:
            return None
        projects = [entry for entry in _projects(tree) if _has(entry, _PROJECT_MARKS)]
        extras = [entry for entry in tree.named("memories.json") if entry.size > 2]
        account = _account(tree)
        also = [
            f"{len(found)} file{'s' * (len(found) != 1)} of {what}"
            for found, what in ((projects, "projects"), (extras, "memories"))
            if found
        ]
        return Recognition(
            Confidence.CERTAIN,
            ", ".join(["conversations", *also]),
            account=f"Claude ({account})" if account else "Claude",
            identity=account or "claude_ai",
            detail={
                "conversations": [entry.name for entry in talks],
                "projects": [entry.name for entry in projects],
                "memories": [entry.name for entry in extras],
            },
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        readers: dict[str, Reader] = {
            "conversations": _conversation,
            "projects": _project,
            "memories": _memory,
        }
        for what, reader in readers.items():
            for entry in tree.these(recognition.detail[what]):
                yield ExportPart(entry, partial(_read, entry, reader))


def _has(entry: FileEntry, marks: tuple[bytes, ...]) -> bool:
    head = entry.head()
    return all(mark in head for mark in marks)


def _projects(tree: Tree) -> list[FileEntry]:
    inside = [
        entry
        for entry in tree.entries
        if entry.suffix == ".json" and "projects" in entry.name.split("/")[:-1]
    ]
    return [*tree.named("projects.json"), *inside]


def _account(tree: Tree) -> str:
    """Return the address that the export belongs to."""
    for entry in tree.named("users.json"):
        for user in objects(entry):
            return str(user.get("email_address") or user.get("uuid") or "")[:120]
    return ""


def _read(entry: FileEntry, reader: Reader) -> Iterator[Finding]:
    """Read a file that is a list of things, or one thing."""
    path = "item" if entry.head(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") else ""
    return read_each(entry, reader, path)


def _conversation(value: Any, where: str) -> Iterator[Finding]:
    began = moment_text(value.get("created_at"))
    if not value.get("uuid") or began is None:
        yield Unknown("a conversation without an id or a time", where)
        return
    key, count = safe_key(str(value["uuid"])), 0
    for number, message in enumerate(value["chat_messages"], 1):
        place = f"{where} message {number}"
        for found in account(_message(key, message, began, place), place, "message"):
            count += isinstance(found, Item) and found.stream == "messages"
            yield found
    updated = moment_text(value.get("updated_at")) or began
    data = {
        "id": key,
        "title": str(value.get("name") or _UNTITLED),
        "summary": value.get("summary") or None,
        "message_count": count,
        "started_at": began,
        "updated_at": updated,
    }
    yield Item("conversations", key, present(data))


def _message(conversation: str, value: Any, began: str, where: str) -> Iterator[Finding]:
    uuid = value.get("uuid")
    if not uuid:
        yield Unknown("a message without an id", where)
        return
    key = safe_key(conversation, str(uuid))
    sent = moment_text(value.get("created_at")) or began
    text, thinking = _texts(value)
    attachments = [each for each in value.get("attachments") or () if isinstance(each, dict)]
    files = [each for each in value.get("files") or () if isinstance(each, dict)]
    if text or thinking:
        data = {
            "id": key,
            "conversation_id": conversation,
            "role": {"human": "user"}.get(value.get("sender"), str(value.get("sender"))),
            "text": text,
            "thinking": thinking or None,
            "file_names": [str(each.get("file_name")) for each in files] or None,
            "sent_at": sent,
        }
        yield Item("messages", key, present(data))
    elif not attachments:
        yield Skipped("an empty message", where)
    if files:
        yield Skipped("a file that the export only names", where)
    for number, each in enumerate(attachments, 1):
        yield from _attachment(key, conversation, number, each, sent)


def _texts(value: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a message says and what was thought before it.

    Newer exports have typed parts, which also hold the use of tools; older ones only a text.
    """
    said, thought = [], []
    for part in value.get("content") or ():
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            said.append(part.get("text"))
        elif kind == "thinking":
            thought.append(part.get("thinking"))
        elif kind == "tool_use":
            said.append(f"[used {part.get('name')}]")
    texts = [_joined(said), _joined(thought)]
    return texts[0] or str(value.get("text") or "").strip(), texts[1]


def _joined(pieces: list[Any]) -> str:
    return "\n\n".join(piece for piece in pieces if isinstance(piece, str) and piece.strip())


def _attachment(
    message: str, conversation: str, number: int, value: Mapping[str, Any], sent: str
) -> Iterator[Finding]:
    """Yield a document that was pasted or given; its text is in the export."""
    key = safe_key(message, str(number))
    data = {
        "id": key,
        "message_id": message,
        "conversation_id": conversation,
        "name": str(value.get("file_name") or "(pasted text)"),
        "media_type": str(value.get("file_type") or "text/plain"),
        "text": str(value.get("extracted_content") or ""),
        "sent_at": sent,
    }
    yield Item("attachments", key, data)


def _project(value: Any, where: str) -> Iterator[Finding]:
    made = moment_text(value.get("created_at"))
    if not value.get("uuid") or made is None:
        yield Unknown("a project without an id or a time", where)
        return
    key = safe_key(str(value["uuid"]))
    updated = moment_text(value.get("updated_at")) or made
    data = {
        "id": key,
        "name": str(value.get("name") or _UNTITLED),
        "description": value.get("description") or None,
        "instructions": value.get("prompt_template") or None,
        "created_at": made,
        "updated_at": updated,
    }
    yield Item("projects", key, present(data))
    for number, document in enumerate(value.get("docs") or (), 1):
        yield from account(_document(key, document, made), f"{where} document {number}", "document")


def _document(project: str, value: Mapping[str, Any], made: str) -> Iterator[Finding]:
    name, text = str(value.get("filename") or _UNTITLED), str(value.get("content") or "")
    key = safe_key(project, str(value.get("uuid") or digest_key(name, text)))
    created = moment_text(value.get("created_at")) or made
    data = {"id": key, "project_id": project, "name": name, "text": text, "created_at": created}
    yield Item("project_documents", key, data)


def _memory(value: Any, where: str) -> Iterator[Finding]:
    """Yield what Claude remembers, each text as one record."""
    for name, text in sorted(_memories(value)):
        key = safe_key("memory", digest_key(name))
        yield Item("memories", key, {"id": key, "name": name, "text": text})
    if not list(_memories(value)):
        yield Skipped("an empty memory", where)


def _memories(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value.get("conversations_memory"), str) and value["conversations_memory"]:
        yield "What Claude remembers of you", value["conversations_memory"]
    projects = value.get("project_memories")
    for name, text in (projects if isinstance(projects, dict) else {}).items():
        if isinstance(text, str) and text:
            yield f"What Claude remembers in project {name}", text
