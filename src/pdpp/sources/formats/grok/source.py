"""Grok exports: all conversations in one document, and files under the ids that messages name."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.chatgpt.files import sniffed
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present, with_file
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import JsonElement, elements, read_each
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.times import epoch_text, moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_PLACE = "conversations.item"
_PATHS = frozenset({f"{_PLACE}.conversation.id", f"{_PLACE}.responses"})
_OWNER = f"{_PLACE}.conversation.user_id"
_OTHERS = MappingProxyType(
    {
        "projects.item": "a project, of which the conversations do not tell",
        "tasks.item": "a task that Grok was given for later",
        "media_posts.item": "a picture or film that was made, of which only the address is there",
    }
)
"""What else stands in the document, and why it is left out."""
_ROLES = {"human": "user"}
_Files = Mapping[str, FileEntry]
"""The files of an export by the ids that their folders are called by."""


class Grok(Source):
    """The zip that xAI sends, or what was taken out of it."""

    connector_key = "grok"
    owner_files = ("prod-grok-backend.json",)
    label = "Grok export"
    passed_over = MappingProxyType(
        {
            "prod-mc-auth-mgmt-api.json": "the account and its sessions, which are secret",
            "prod-mc-billing.json": "what was paid for",
        }
    )
    own_folders = ("prod-mc-asset-server",)

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for a document of conversations with responses."""
        entries = [entry for entry in tree.named("*.json") if _is_export(entry)]
        if not entries:
            return None
        owner = next(filter(None, map(_owner, entries)), "")
        return Recognition(
            Confidence.CERTAIN,
            "conversations" if len(entries) == 1 else f"conversations in {len(entries)} files",
            account=self.label.removesuffix(" export"),
            identity=owner,
            owner_known=bool(owner),
            detail={"entries": [entry.name for entry in entries]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return a part for each document."""
        content = (entry for entry in tree.entries if entry.base.startswith("content"))
        files = {entry.name.rpartition("/")[0].rpartition("/")[2]: entry for entry in content}
        for entry in tree.these(recognition.detail["entries"]):
            yield ExportPart(entry, partial(_read, files, entry))


def _is_export(entry: FileEntry) -> bool:
    return b'"conversation' in entry.head() and json_paths(entry, _PATHS) >= _PATHS


def _owner(entry: FileEntry) -> str:
    """Return the id of the account, which every conversation names."""
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, _OWNER):
            if isinstance(element, JsonElement) and element.value:
                return str(element.value)
    return ""


def _read(files: _Files, entry: FileEntry) -> Iterator[Finding]:
    yield from read_each(entry, partial(_conversation, files), _PLACE, noun="conversation")
    with entry.open() as stream:
        for element in elements(stream, *_OTHERS):
            if isinstance(element, Skipped):
                continue
            where = f"{entry.name} {element.path.partition('.')[0]} {element.number}"
            yield from account([Skipped(_OTHERS[element.path], where)], where, "other thing")


def _conversation(files: _Files, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    about = value["conversation"]
    responses = [_response(entry) for entry in value.get("responses") or ()]
    times = sorted(filter(None, (_moment(response.get("create_time")) for response in responses)))
    began = _moment(about.get("create_time")) or (times[0] if times else None)
    if not about.get("id") or began is None:
        yield Unknown("a conversation without an id or a time", where)
        return
    key, count = safe_key(str(about["id"])), 0
    for number, response in enumerate(responses, 1):
        place = f"{where} message {number}"
        for finding in account(_message(files, key, response, began, place), place, "message"):
            count += isinstance(finding, Item) and finding.stream == "messages"
            yield finding
    data = {
        "id": key,
        "title": str(about.get("title") or "(no title)"),
        "message_count": count,
        "started_at": began,
        "updated_at": _moment(about.get("modify_time")) or (times[-1] if times else began),
    }
    yield Item("conversations", key, data)


def _response(value: Any) -> Mapping[str, Any]:
    """Return a message, which stands in an object of its own."""
    inner = value.get("response", value) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _message(
    files: _Files, conversation: RecordKey, value: Mapping[str, Any], began: str, where: str
) -> Iterator[Finding]:
    name = str(value.get("_id") or value.get("response_id") or "")
    if not name:
        yield Unknown("a message without an id", where)
        return
    key, sent = safe_key(conversation, name), _moment(value.get("create_time")) or began
    sender, parent = str(value.get("sender")).casefold(), value.get("parent_response_id")
    data = {
        "conversation_id": conversation,
        "parent_id": safe_key(conversation, str(parent)) if parent else None,
        "role": _ROLES.get(sender, sender),
        "model": value.get("model") or None,
        "visible": True,
        "sent_at": sent,
    }
    text, thought = (
        str(value.get(member) or "").strip() for member in ("message", "thinking_trace")
    )
    given = [str(file) for file in value.get("file_attachments") or ()]
    if thought:
        named = safe_key(key, "thoughts")
        yield Item(
            "messages", named, present({"id": named, **data, "kind": "thoughts", "text": thought})
        )
    if text or given:
        yield Item("messages", key, present({"id": key, **data, "kind": "text", "text": text}))
    elif not thought:
        yield Skipped("an empty message", where)
    for file in given:
        yield from _attachment(files.get(file), key, conversation, file, sent)


def _attachment(
    entry: FileEntry | None, message: RecordKey, conversation: RecordKey, file: str, sent: str
) -> Iterator[Finding]:
    """Yield a file of a message, which the export calls by its id and ``content``."""
    media_type = sniffed(entry.head(16)) if entry is not None else "application/octet-stream"
    key = safe_key(message, file)
    data = {
        "id": key,
        "message_id": message,
        "conversation_id": conversation,
        "name": file,
        "media_type": media_type,
        "sent_at": sent,
    }
    opener = None if entry is None else entry.open_exact
    yield with_file(Item("attachments", key, data), opener, media_type)
    if entry is None:
        yield Skipped("a file that is not in the export", message[:120])


def _moment(value: object) -> str | None:
    """Return a time that is text, or a number of milliseconds inside an object."""
    inner = value.get("$date") if isinstance(value, Mapping) else value
    if isinstance(inner, Mapping):
        number = str(inner.get("$numberLong"))
        return epoch_text(int(number) / 1000) if number.lstrip("-").isdecimal() else None
    return moment_text(inner)
