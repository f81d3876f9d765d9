"""Page exports: the chats, contacts and stories that Telegram's web pages hold.

A page tells the name of a chat and not its id. Chats of one name in one export are told apart by
their first message; a chat that lies beside as JSON is known by that.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from typing import Any, NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.telegram.duplicates import JsonChat
from pdpp.sources.formats.telegram.known_chats import KnownChat
from pdpp.sources.formats.telegram.pages import (
    ChatPageReader,
    first_mark,
    is_page,
    list_entries,
    local_time,
    page_title,
    personal_facts,
)
from pdpp.sources.formats.telegram.records import ChatReader, contact
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import ExportPart

ACCOUNT_PAGE = "export_results.html"
_NUMBER = re.compile(r"(\d*)\.html\Z")
_NAMELESS = frozenset({"", "Deleted Account"})
_SAVED = "Saved messages"
_KINDS = {"private": "personal_chat", "bot": "bot_chat"}
_LISTS = {"contacts.html": "contact", "stories.html": "story"}
_HELD = "a message that lies beside the page as JSON too"


class PageChat(NamedTuple):
    """A chat whose messages stand on web pages; ``kind`` is what the list of chats calls it."""

    name: str
    kind: str
    pages: tuple[str, ...]
    key: str


class PageExport(NamedTuple):
    """What the web pages of a tree hold."""

    chats: tuple[PageChat, ...]
    lists: tuple[str, ...]
    first_pages: tuple[str, ...]


def page_export(tree: Tree) -> PageExport | None:
    """Return what the web pages of a tree hold, or None where there are none of Telegram."""
    chats = tuple(_chats(tree))
    first_pages = tuple(entry.name for entry in tree.named(ACCOUNT_PAGE) if is_page(entry))
    if not chats and not first_pages:
        return None
    lists = [entry for name in _LISTS for entry in _listed_in(tree, name)]
    return PageExport(chats, tuple(entry.name for entry in lists), first_pages)


def account_facts(tree: Tree, export: PageExport) -> dict[str, str]:
    """Return what the first page that says anything tells of the owner, named as in the JSON."""
    facts = (personal_facts(entry) for entry in tree.these(export.first_pages))
    told = next((fact for fact in facts if fact), {})
    return {name.lower().replace(" ", "_"): value for name, value in told.items()}


def page_parts(
    tree: Tree,
    export: PageExport,
    duplicates: Mapping[str, JsonChat],
    known: Mapping[str, KnownChat],
    zone: tzinfo | None,
) -> Iterator[ExportPart]:
    """Return a part for each chat, and for each list."""
    for chat in export.chats:
        entries, first = list(tree.these(chat.pages)), chat.pages[0]
        if entries:
            twins = (duplicates.get(first), known.get(first))
            yield ExportPart(entries[0], partial(_read_chat, tree, entries, chat, *twins, zone))
    for entry in tree.these(export.lists):
        yield ExportPart(entry, partial(_read_list, tree, entry, zone))


def _chats(tree: Tree) -> Iterator[PageChat]:
    found = tree.entries if tree.kind == "file" else tree.named("messages*.html")
    pages: dict[tuple[str, str], list[FileEntry]] = {}
    for entry in sorted(found, key=_order):
        title = page_title(entry) if entry.suffix == ".html" else None
        if title is not None:
            pages.setdefault((entry.name.rpartition("/")[0], title), []).append(entry)
    listed = _listed_chats(tree)
    named = [
        (folder, listed.get(entries[0].name, (title, "")), entries)
        for (folder, title), entries in pages.items()
    ]
    shared = Counter((_export_of(folder), name) for folder, (name, _), _ in named)
    for folder, (name, kind), entries in named:
        apart = shared[_export_of(folder), name] > 1 or name in _NAMELESS
        mark = (first_mark(entries[0]),) if apart else ()
        key = digest_key("chat on pages", name, *mark)
        yield PageChat(name, kind, tuple(entry.name for entry in entries), key)


def _order(entry: FileEntry) -> tuple[str, int, str]:
    found = _NUMBER.search(entry.base)
    return entry.name.rpartition("/")[0], int(found[1] or 1) if found else 0, entry.name


def _export_of(folder: str) -> str:
    """Return the export that a folder of a chat lies in; a chat by itself is one."""
    above, _, _ = folder.rpartition("chats/")
    return above if above or folder.startswith("chats/") else f"{folder}/"


def _listed_in(tree: Tree, name: str) -> Iterator[FileEntry]:
    for entry in tree.named(name):
        if entry.name.split("/")[-2:-1] == ["lists"] and is_page(entry):
            yield entry


def _listed_chats(tree: Tree) -> dict[str, tuple[str, str]]:
    """Return the names and kinds of chats by their first pages."""
    chats: dict[str, tuple[str, str]] = {}
    for page in _listed_in(tree, "chats.html"):
        for listed in list_entries(page):
            entry = tree.beside(page, listed["link"].partition("#")[0])
            if entry is not None:
                chats[entry.name] = (listed["name"], listed["info"])
    return chats


def _read_chat(
    tree: Tree,
    entries: Sequence[FileEntry],
    chat: PageChat,
    beside: JsonChat | None,
    known: KnownChat | None,
    zone: tzinfo | None,
) -> Iterator[Finding]:
    """Read page after page; one that is damaged costs none of the others."""
    reader = ChatReader(tree, entries[0], zone, weak=known is not None and known.from_json)
    pages = ChatPageReader(by_id=known.by_id if known is not None else beside is not None)
    about = _about(chat, beside) | ({"id": known.key} if known is not None else {})
    for name, value in about.items():
        yield from reader.learn(name, value)
    for entry in entries:
        try:
            for value in pages.messages(entry):
                if isinstance(value, Skipped | Unknown):
                    yield value
                    continue
                where = f"{entry.name} {value.get('id')}"
                held = beside is not None and value["id"] in beside.messages
                taken = [Skipped(_HELD, where)] if held else reader.message(value)
                yield from account(taken, where, "message")
        except DamagedFile as problem:
            yield Skipped("a page that is damaged", f"{entry.name}: {problem.message}", cut=True)
    if beside is None:
        yield from reader.close()


def _about(chat: PageChat, beside: JsonChat | None) -> dict[str, object]:
    if beside is not None:
        return {"name": beside.name, "type": beside.type, "id": beside.id}
    saved = chat.name == _SAVED and chat.kind == "private"
    kind = "saved_messages" if saved else _KINDS.get(chat.kind, chat.kind)
    name = None if chat.name in _NAMELESS else chat.name
    return {"name": name, "type": kind, "id": chat.key}


def _read_list(tree: Tree, entry: FileEntry, zone: tzinfo | None) -> Iterator[Finding]:
    reader = ChatReader(tree, entry, zone)
    kind = _LISTS[entry.base]
    for number, listed in enumerate(list_entries(entry), 1):
        if kind == "contact":
            phone = next(iter(listed["details"]), "")
            taken = contact({"first_name": listed["name"], "phone_number": phone})
        else:
            taken = reader.story(_story(listed))
        yield from account(taken, f"{entry.name} {number}", kind)


def _story(listed: Mapping[str, Any]) -> dict[str, Any]:
    moment = local_time(listed["info"])
    return {
        "date": moment.isoformat() if moment else None,
        "pinned": "Saved to Profile" in listed["details"],
        "media": listed["link"].partition("#")[0],
        "text": listed["text"],
    }
