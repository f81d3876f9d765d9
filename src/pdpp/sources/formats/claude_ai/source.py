"""Claude.ai exports: one zip until August 2026, since then a manifest and a zip per category."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from pdpp.evidence.amount import counted
from pdpp.sources.formats.claude_ai.conversations import ConversationReader
from pdpp.sources.formats.claude_ai.designs import read_design_chat
from pdpp.sources.formats.claude_ai.knowledge import (
    read_memory,
    read_page,
    read_project,
    read_reflections,
)
from pdpp.sources.formats.claude_ai.owners import USERS, account_of, first_object, owners_apart
from pdpp.sources.formats.manifest import missing_parts, read_manifest
from pdpp.sources.item import Finding
from pdpp.sources.reading.jsonstream import Reader, objects, read_each
from pdpp.sources.reading.structure import candidates, json_paths, opening
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)

_KINDS: Mapping[str, tuple[str, frozenset[str]]] = MappingProxyType(
    {
        "conversations": ("conversation", frozenset({"uuid", "chat_messages"})),
        "projects": ("project", frozenset({"uuid", "docs"})),
        "memories": ("memory", frozenset({"conversations_memory"})),
        "memory_files": ("memory", frozenset({"account_uuid", "memory_files"})),
        "reflections": ("reflection", frozenset({"account_uuid", "reflections"})),
        "pages": ("artifact", frozenset({"active_version", "versions", "kind"})),
        "design_chats": ("conversation", frozenset({"uuid", "messages", "title", "project"})),
    }
)
"""The files of an export: what each holds, and the members that it is known by."""

_WORDS = {
    "pages": "artifacts",
    "design_chats": "design chats",
    "memory_files": "memories without a text of their own",
}
_MEMBERS = frozenset().union(*(members for _, members in _KINDS.values()))
_LINKS = frozenset({"data_files", "total_files"})
_PATTERNS = ("conversations*.json", "*.json")
_MANIFEST = ExportRefusal(
    "this is only the list of links to a Claude export; open each link while you are logged in, "
    "and import the folder with the zips that it gives"
)


class ClaudeAi(Source):
    """What Anthropic sends: zips, or what was taken out of them."""

    connector_key = "claude_ai"
    owner_files = (USERS,)
    lies_among_others = True
    label = "Claude.ai export"
    passed_over = MappingProxyType(
        {
            "users.json": "whose export it is",
            "manifest-*.json": "links to the export's files, which are secret",
            "login_history.json": "when and where the account was used",
            "README.txt": "a note without content",
            "*/versions/*": "an earlier version of an artifact",
            "artifact_comments.json": "comments on an artifact",
            "comments.json": "comments on a page",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:  # noqa: ARG002
        """Look at the members of every JSON file."""
        files: dict[str, list[str]] = {}
        manifests: list[str] = []
        for entry in candidates(tree, *_PATTERNS):
            members = _members(entry)
            manifests += [entry.name] if members >= _LINKS else []
            kind = next((k for k, (_, known) in _KINDS.items() if known <= members), None)
            if kind is not None:
                files.setdefault(kind, []).append(entry.name)
        if not files:
            return _MANIFEST if manifests else None
        name, identity = _account(tree, files)
        return Recognition(
            Confidence.CERTAIN,
            ", ".join(_summary(files)),
            account=f"Claude ({name})" if name else "Claude",
            identity=identity,
            owner_known=bool(identity),
            detail={"files": files, "manifests": manifests},
        )

    def apart(self, tree: Tree) -> Sequence[Tree]:
        """Return the zips of each person where they lie in one folder."""
        return owners_apart(tree)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        remembered = partial(read_memory, recognition.identity)
        readers: dict[str, Reader] = {
            "conversations": ConversationReader().read,
            "projects": read_project,
            "memories": remembered,
            "memory_files": remembered,
            "reflections": partial(read_reflections, recognition.identity),
            "design_chats": read_design_chat,
        }
        for kind, (noun, _) in _KINDS.items():
            for entry in tree.these(recognition.detail["files"].get(kind, ())):
                reader = readers.get(kind) or partial(read_page, tree, entry)
                yield ExportPart(entry, partial(_read, entry, reader, noun))
        for entry in tree.these(recognition.detail["manifests"]):
            yield ExportPart(entry, partial(_check_parts, tree, entry))


def _check_parts(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    """Tell which zips of an export are not here, where the others can be told by their names."""
    files = read_manifest(entry).get("data_files")
    names = [str(file["filename"]) for file in files or () if "filename" in file]
    missing = list(missing_parts(tree, names))
    yield from missing if len(missing) < len(set(names)) else ()


def _members(entry: FileEntry) -> frozenset[str]:
    """Return which known members a file has, whether it is a list of things or one thing."""
    prefix = "item." if opening(entry) == b"[" else ""
    wanted = [prefix + name for name in (*_MEMBERS, *_LINKS)]
    return frozenset(path.removeprefix(prefix) for path in json_paths(entry, wanted))


def _summary(files: Mapping[str, list[str]]) -> Iterator[str]:
    if "conversations" in files:
        yield "conversations"
    for kind in _KINDS:
        if kind != "conversations" and kind in files:
            yield f"{counted(len(files[kind]), 'file')} of {_WORDS.get(kind, kind)}"


def _account(tree: Tree, files: Mapping[str, list[str]]) -> tuple[str, str]:
    """Return the name of the account for a person, and the id that finds it again.

    Each zip of an export stands for itself: the id is in conversations and memories too, and only
    one of the zips has the address.
    """
    users = [user for entry in tree.named(USERS) for user in objects(entry)]
    for user in users[:1]:
        name = str(user.get("email_address") or user.get("full_name") or user.get("uuid") or "")
        return name[:120], str(user.get("uuid") or name)[:120]
    kinds = ("conversations", "memories", "memory_files", "reflections")
    for entry in tree.these(name for kind in kinds for name in files.get(kind, ())):
        for value in first_object(entry):
            if uuid := account_of(entry, value):
                return "", uuid[:120]
    return "", ""


def _read(entry: FileEntry, reader: Reader, noun: str) -> Iterator[Finding]:
    """Read a file that is a list of things, or one thing."""
    path = "item" if opening(entry) == b"[" else ""
    return read_each(entry, reader, path, noun=noun)
