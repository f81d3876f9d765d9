"""ChatGPT exports: conversations that are trees, of which one branch is the visible one."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.sources.formats.chatgpt.canvas import Canvas, read_document
from pdpp.sources.formats.chatgpt.citations import cited
from pdpp.sources.formats.chatgpt.files import (
    ExportFiles,
    asset_pointers,
    bare,
    drawn_pictures,
    file_id,
    named_files,
)
from pdpp.sources.formats.manifest import missing_parts, read_manifest
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present, with_file
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import read_each
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.shapes import odd, odd_among, odd_items
from pdpp.sources.reading.structure import candidates, json_paths
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_FILES = ("conversations*.json", "*.json")
_TREE = "mapping"
_BESIDE_TREE = ("current_node", "conversation_id", "create_time")
_PLACES = ("item", "conversations.item", "")
"""Where conversations stand: in a list, in a list that is a member, or one alone."""
_PROSE = frozenset(
    {"text", "multimodal_text", "code", "user_editable_context", "tether_quote", "computer_output"}
)
_THOUGHT = frozenset({"thoughts", "reasoning_recap"})
_TEXTS = (
    *("text", "content", "result", "user_profile", "user_instructions"),
    *("model_set_context", "output_str"),
)
_TEXT_KINDS = dict.fromkeys(_TEXTS, str)
_PAGES = frozenset({"tether_quote", "tether_browsing_display", "sonic_webpage"})
_PAGE_TEXTS = ("title", "url", "snippet", "summary")
_LABELS = frozenset({"content_type", "language"})
"""Members of content that say nothing by themselves."""
_PART_MARKS = frozenset({"content_type", "text", "asset_pointer"})
"""What a piece of a message has of which something is read."""
_OTHERS = frozenset({"execution_output", "system_error", "citable_code_output"})
_KNOWN = _PROSE | _THOUGHT | _PAGES | _OTHERS | {"model_editable_context"}
_UNTITLED = "(no title)"
_DOCUMENTS = "textdocs"
"""The folder of documents on the canvas, which some exports have."""
_SENT = re.compile(r"file[-_](?=[a-zA-Z]*\d)[a-zA-Z\d]{20,}")
"""How the names begin of all files that were sent: with an id, and not with a word."""
_FOLDER = re.compile(r"dalle-generations|user-\w+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What folders of pictures and sounds are called."""


class ChatGpt(Source):
    """The zip that OpenAI sends, or what was taken out of it."""

    connector_key = "chatgpt"
    owner_files = ("user.json",)
    label = "ChatGPT export"
    passed_over = MappingProxyType(
        {
            "user.json": "whose export it is",
            "user_settings.json": "settings of the account",
            "chat.html": "the conversations once more, as a web page",
            "export_manifest.json": "the list of the export's files",
            "conversation_asset_file_names.json": "names of files, used to name attachments",
            "library_files.json": "facts about files, used to name attachments",
            "message_feedback.json": "ratings of answers",
            "model_comparisons.json": "answers compared for OpenAI",
            "shared_conversations.json": "links to conversations that were shared",
            "sectioned_conversations.json": "how the list of conversations is arranged",
            "shopping.json": "shopping results",
            "ads.json": "what advertisements were shown",
            "sora.json": "Sora's own data",
            "group_chats.json": "group chats, in a layout that is not known yet",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for conversations that are trees of messages."""
        entries = [
            entry for entry in candidates(tree, *_FILES) if _place_of_trees(entry) is not None
        ]
        if not entries:
            return None
        account = _account(tree, entries)
        files = "one file" if len(entries) == 1 else f"{len(entries)} files"
        return Recognition(
            Confidence.CERTAIN,
            f"conversations as trees, in {files}",
            account=f"ChatGPT ({account})" if account else "ChatGPT",
            identity=account,
            owner_known=bool(account),
            detail={"entries": [entry.name for entry in entries]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file of conversations."""
        files = ExportFiles(tree)
        for entry in tree.these(recognition.detail["entries"]):
            yield ExportPart(entry, partial(_read, entry, files))
        for entry in tree.entries:
            if entry.suffix == ".json" and entry.name.split("/")[-2:-1] == [_DOCUMENTS]:
                yield ExportPart(entry, partial(_read_document, entry, files))
        for entry in tree.named("export_manifest.json"):
            if "logical_files" in read_manifest(entry):
                yield ExportPart(entry, partial(_check_parts, tree, entry))

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the files that are called by an id."""
        return [entry.name for entry in tree.entries if _SENT.match(entry.base)]

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folder of the conversations, and files that are called by an id anywhere.

        At the top of a folder of many things only these are of it.
        """
        owned = set(super().belongings(tree, recognition))
        if tree.kind == "zip":
            return owned
        tops = {entry.name.partition("/")[0] for entry in tree.entries}
        owned |= {entry.name for entry in tree.entries if entry.base.startswith("file")}
        return (owned - {""}) | {top for top in tops if _FOLDER.fullmatch(top)}


def _check_parts(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    """Tell which files of conversations a download lacks."""
    logical = read_manifest(entry).get("logical_files")
    listed = (about.get("files") or () for about in logical.values()) if logical else ()
    names = [str(name).rpartition("/")[2] for names in listed for name in names]
    return missing_parts(tree, names)


def _place_of_trees(entry: FileEntry) -> str | None:
    """Return where a document has conversations that are trees, None where it has none."""
    members = (_TREE, *_BESIDE_TREE)
    wanted = {place: [f"{place}.{member}".lstrip(".") for member in members] for place in _PLACES}
    paths = json_paths(entry, [path for some in wanted.values() for path in some])
    for place, (tree, *others) in wanted.items():
        if tree in paths and paths.intersection(others):
            return place
    return None


def _account(tree: Tree, conversations: Iterable[FileEntry]) -> str:
    """Return the address that the export belongs to.

    Other services have a file of this name too; the one beside the conversations is theirs.
    """
    beside = {entry.name.rpartition("/")[0] for entry in conversations}
    users = tree.named("user.json")
    for entry in sorted(users, key=lambda user: user.name.rpartition("/")[0] not in beside):
        try:
            user = read_json(entry.head())
        except NotJson:
            continue
        if isinstance(user, dict):
            return str(user.get("email") or user.get("id") or "")[:120]
    return ""


def _read(entry: FileEntry, files: ExportFiles) -> Iterator[Finding]:
    place = _place_of_trees(entry) or ""
    return read_each(entry, partial(_conversation, files), place, noun="conversation")


def _read_document(entry: FileEntry, files: ExportFiles) -> Iterator[Finding]:
    def read(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        if str(value.get("id")) in files.shown_documents:
            yield Skipped("a document that its conversation holds too", where)
        else:
            yield from read_document(value, where)

    return read_each(entry, read, "", noun="document")


def _conversation(files: ExportFiles, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    name = value.get("id") or value.get("conversation_id")
    nodes = value["mapping"]
    times = [_time(node) for node in nodes.values()]
    known = sorted(time for time in times if time)
    began = epoch_text(value.get("create_time")) or (known[0] if known else None)
    if not name or began is None:
        yield Unknown("a conversation without an id or a time", where)
        return
    key = safe_key(str(name))
    visible = _visible(nodes, value.get("current_node"))
    canvas = Canvas(key)
    found: list[Finding] = []
    for node_id, node in nodes.items():
        reading = _message(key, node_id, node, visible, began, files, canvas)
        found += account(reading, where, "message")
    said = [item for item in found if isinstance(item, Item) and item.stream == "messages"]
    updated = epoch_text(value.get("update_time")) or (known[-1] if known else began)
    data = {
        "id": key,
        "title": str(value.get("title") or _UNTITLED),
        "model": value.get("default_model_slug"),
        "message_count": len(said),
        "started_at": began,
        "updated_at": updated,
    }
    # First, because it tells which state of it the messages are of.
    yield Item("conversations", key, present(data))
    yield from found
    yield from canvas.items()


def _time(node: object) -> str | None:
    message = node.get("message") if isinstance(node, dict) else None
    return epoch_text(message.get("create_time")) if isinstance(message, dict) else None


def _visible(nodes: Mapping[str, Any], current: Any) -> set[str]:
    """Return the nodes from the current one back to the root; all where none is current."""
    if current not in nodes:
        return set(nodes)
    branch: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in branch:
        branch.add(current)
        current = nodes[current].get("parent")
    return branch


def _message(
    conversation: RecordKey,
    node_id: str,
    node: Mapping[str, Any],
    visible: set[str],
    began: str,
    files: ExportFiles,
    canvas: Canvas,
) -> Iterator[Finding]:
    message = node.get("message")
    where = f"{conversation} {node_id}"[:120]
    if message is None:
        yield Skipped("a place in a chat that holds no message", where)
        return
    metadata = message.get("metadata") or {}
    if metadata.get("is_visually_hidden_from_conversation"):
        yield Skipped("a message that the conversation hides", where)
        return
    content = message["content"]
    kind = str(content.get("content_type"))
    text = cited(_text(content), metadata)
    shown = [*(content.get("parts") or ()), content.get("screenshot"), *drawn_pictures(metadata)]
    pointers = [part for part in shown if isinstance(part, dict)]
    uploads = named_files(message)
    if not text and kind not in _KNOWN and any(content[name] for name in content.keys() - _LABELS):
        yield Unknown("a message of a kind that is not known", f"{where}: {kind[:40]}")
        return
    if not text and not pointers and not uploads:
        yield Skipped("an empty message", where)
        return
    key = safe_key(conversation, node_id)
    sent = epoch_text(message.get("create_time")) or began
    data = {
        "id": key,
        "conversation_id": conversation,
        "parent_id": safe_key(conversation, node["parent"]) if node.get("parent") else None,
        "role": str((message.get("author") or {}).get("role") or "unknown"),
        "recipient": _recipient(message),
        "kind": kind,
        "text": text,
        "model": metadata.get("model_slug"),
        "visible": node_id in visible,
        "sent_at": sent,
    }
    yield Item("messages", key, present(data))
    yield from _odd_pieces(content, where)
    canvas.take(message, key, text, sent)
    files.show_document(metadata.get("canvas"))
    named = (*uploads, *files.made_in(str(message.get("id") or node_id)))
    yield from _attachments(_Owner(key, conversation, sent), pointers, named, files)


def _recipient(message: Mapping[str, object]) -> str | None:
    """Return the tool that a message goes to; None where it goes to everybody."""
    recipient = message.get("recipient")
    return recipient if isinstance(recipient, str) and recipient != "all" else None


def _text(content: Mapping[str, Any]) -> str:
    """Return what a message says, whatever kind of content it has."""
    parts = content.get("parts") or ()
    pieces = [*parts, *(content.get(name) for name in _TEXTS)]
    pieces += [part.get("text") for part in parts if isinstance(part, dict)]
    if content.get("content_type") in _PAGES:
        pieces += [content.get(name) for name in _PAGE_TEXTS]
    if isinstance(page := content.get("state"), dict):
        pieces += [page.get(name) for name in _PAGE_TEXTS]
    thoughts = content.get("thoughts") or ()
    for thought in [thoughts] if isinstance(thoughts, str) else thoughts:
        told = (thought,) if isinstance(thought, str) else map(thought.get, ("summary", "content"))
        pieces += told
    return "\n\n".join(piece for piece in pieces if isinstance(piece, str) and piece.strip())


def _odd_pieces(content: Mapping[str, Any], where: str) -> Iterator[Unknown]:
    """Tell of pieces of a message of which nothing is read."""
    parts = content.get("parts")
    yield from odd_items(parts, where, (str, dict), text=str)
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and not part.keys() & _PART_MARKS:
            yield from odd(part, where, str)
    yield from odd_among(content, where, _TEXT_KINDS)
    thoughts = content.get("thoughts")
    if not isinstance(thoughts, str):
        yield from odd_items(thoughts, where, (str, dict), summary=str, content=str)


class _Owner(NamedTuple):
    """The message that a file came with."""

    message: RecordKey
    conversation: RecordKey
    sent: str


def _attachments(
    owner: _Owner,
    shown: Sequence[Mapping[str, Any]],
    named: Sequence[Mapping[str, Any]],
    files: ExportFiles,
) -> Iterator[Finding]:
    """Yield the files that a message shows, then those that it names and does not show."""
    seen = set()
    told: dict[str, Mapping[str, Any]] = {}
    for file in named:
        told.setdefault(file_id(str(file["id"])), file)
    for pointer in (pointer for part in shown for pointer in asset_pointers(part)):
        name = file_id(bare(pointer))
        seen.add(name)
        yield from _attachment(owner, pointer, told.get(name, {}), files)
    for name, file in told.items():
        if name not in seen:
            yield from _attachment(owner, str(file["id"]), file, files)


def _attachment(
    owner: _Owner, pointer: str, metadata: Mapping[str, Any], files: ExportFiles
) -> Iterator[Finding]:
    """Yield a file of a message; of one that is not in the export at least its name."""
    key = safe_key(owner.message, digest_key(pointer)[:8])
    media_type = files.media_type(pointer, metadata.get("mime_type"))
    data = {
        "id": key,
        "message_id": owner.message,
        "conversation_id": owner.conversation,
        "name": files.name(pointer, metadata.get("name")),
        "media_type": media_type,
        "sent_at": owner.sent,
    }
    entry = files.find(pointer)
    opener = None if entry is None else entry.open_exact
    yield with_file(Item("attachments", key, data), opener, media_type)
    if entry is None:
        yield Skipped("a file that is not in the export", owner.message[:120])
