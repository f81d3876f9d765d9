"""Telegram Desktop exports, in their machine-readable form and as web pages."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.telegram.duplicates import JsonChat, find_duplicates
from pdpp.sources.formats.telegram.known_chats import SHAPE, ChatNames, KnownChat, KnownChats
from pdpp.sources.formats.telegram.page_export import (
    ACCOUNT_PAGE,
    PageExport,
    account_facts,
    page_export,
    page_parts,
)
from pdpp.sources.formats.telegram.records import ChatReader, contact
from pdpp.sources.item import Finding, Skipped
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.shapes import ODD
from pdpp.sources.reading.structure import candidates, json_paths
from pdpp.sources.reading.times import zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    EXPECTED,
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
)

_MEMBERS = (
    *("chats.list", "personal_information", "contacts", "type"),
    *("messages.item.id", "messages.item.type", "messages.item.date"),
)
_PLACES = ("chats.list.item", "left_chats.list.item")
_ABOUT = ("name", "type", "id")
_LEFT_OUT = MappingProxyType(
    {
        "personal_information": "what the account says of its owner",
        "profile_pictures.item": "a picture of the owner",
        "frequent_contacts.list.item": "how often somebody was written to",
        "sessions.list.item": "a device that was logged in",
        "web_sessions.list.item": "a site that was logged in to",
        "other_data": "what Telegram keeps beside chats",
    }
)
"""What an account holds and no record is made of."""
_WHOLE = "DataExport_"
_LOOKS = "how web pages look"
_OWNER = re.compile(rb'"personal_information"|class="personal_info')
_NO_IDS = (
    "web pages do not hold the ids of chats: one that begins with other messages as JSON, or has "
    "fewer than three, would be there twice; JSON tells more"
)


class Telegram(Source):
    """An account or chats, as ``result.json`` or as web pages, with the files beside them."""

    connector_key = "telegram"
    own_folders = (
        "chats",
        "photos",
        "files",
        "video_files",
        "voice_messages",
        "round_video_messages",
        "stickers",
        "contacts",
        "profile_pictures",
        "stories",
        "lists",
        "images",
        "css",
        "js",
    )
    collects = True
    passed_over = MappingProxyType(
        {
            "messages*.html": EXPECTED,
            "*_thumb.*": "a small form of a picture",
            "*stickers/*": "a sign inside a text, or below it",
            "export_results.html": _LEFT_OUT["personal_information"],
            "*lists/frequent.html": _LEFT_OUT["frequent_contacts.list.item"],
            "*lists/sessions.html": _LEFT_OUT["sessions.list.item"],
            "*lists/web_sessions.html": _LEFT_OUT["web_sessions.list.item"],
            "*lists/other_data.json": _LEFT_OUT["other_data"],
            "*lists/*.html": "a list as a web page",
            "*profile_pictures/*": _LEFT_OUT["profile_pictures.item"],
            "*css/style.css": _LOOKS,
            "*js/script.js": _LOOKS,
            "*images/*.png": _LOOKS,
        }
    )
    label = "Telegram Desktop export"

    settings = MappingProxyType(
        {"time_zone": "Zone of the computer that exported; older exports do not tell it."}
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for documents with the members of an account or of a chat, and for web pages."""
        documents = {
            entry.name: whole
            for entry in candidates(tree, "result*.json", "*.json")
            if (whole := _is_whole(entry)) is not None
        }
        pages = page_export(tree)
        if not documents and pages is None:
            return None
        zone_named(choices.given.get("time_zone"))
        return _recognition(tree, documents, pages, choices)

    def owner_entries(self, tree: Tree) -> Sequence[FileEntry]:
        """Return the documents and first pages of whole accounts, which say whose they are."""
        named = tree.named("result*.json", ACCOUNT_PAGE)
        return [entry for entry in named if _OWNER.search(entry.head())]

    def made_on(self, tree: Tree) -> str:
        """Return the day that the folder of a whole account tells; single chats come one by one."""
        return day_in(tree.called) if tree.called.startswith(_WHOLE) else ""

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each document, and for each chat and list on web pages."""
        zone = zone_named(recognition.detail["time_zone"])
        documents, known = recognition.detail["documents"], recognition.detail["known"]
        for entry in tree.these(documents):
            whole, chats = documents[entry.name], known[entry.name]
            yield ExportPart(entry, partial(_read, tree, entry, whole, chats, zone))
        pages, on_pages = recognition.detail["pages"], recognition.detail["on_pages"]
        if pages is not None:
            yield from page_parts(tree, pages, recognition.detail["duplicates"], on_pages, zone)

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the service beside the parts."""
        return self.own_folders_below(tree, recognition)

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return what lies beside the parts, and all that lies beside the first page of an account.

        No part of such an account lies at its top.
        """
        own = set(super().belongings(tree, recognition))
        pages = recognition.detail["pages"]
        for name in pages.first_pages if pages is not None else ():
            folder = name.rpartition("/")[0]
            own |= {folder} if folder else self.at_top(tree)
        return own


def _is_whole(entry: FileEntry) -> bool | None:
    """Tell an account from a chat; None where a document is neither.

    The chats of an account can begin after megabytes of contacts, so keys are streamed.
    """
    members = json_paths(entry, _MEMBERS)
    if members >= {"chats.list"} or members >= {"personal_information", "contacts"}:
        return True
    if members >= {"messages.item.id", "messages.item.type", "messages.item.date", "type"}:
        return False
    return None


def _recognition(
    tree: Tree, documents: Mapping[str, bool], pages: PageExport | None, choices: OwnerChoices
) -> Recognition:
    facts = [_facts(entry, documents[entry.name]) for entry in tree.these(documents)]
    owners = [fact for fact, whole in zip(facts, documents.values(), strict=True) if whole]
    known = next((fact for fact in owners if fact.get("id")), {})
    # A chat alone names nobody but the other side: all such chats are one collection.
    names = {str(fact["name"]) for fact in owners if fact.get("name")}
    told = account_facts(tree, pages) if pages is not None else {}
    if told.get("first_name"):
        names.add(told["first_name"])
    account = names.pop() if len(names) == 1 else ""
    phones = (fact.get("phone_number") for fact in (*owners, told))
    phone = next((digits for number in phones if (digits := _digits(number))), "")
    shape = f"owner of {phone}" if phone else ""
    kept = choices.recall("telegram", shape) if shape else {}
    identity = _identity(str(known.get("id") or ""), phone, str(kept.get("identity") or ""))
    duplicates = _duplicates(tree, documents, pages)
    chats = KnownChats(choices.recall("telegram", SHAPE))
    known = {
        entry.name: chats.of_document(entry, _chat_places(documents[entry.name]))
        for entry in tree.these(documents)
    }
    on_pages = _known_pages(tree, pages, chats)
    told_before = {*duplicates, *(name for name, chat in on_pages.items() if chat.from_json)}
    alone = pages is not None and any(chat.pages[0] not in told_before for chat in pages.chats)
    return Recognition(
        Confidence.CERTAIN,
        _version(documents, pages),
        account=f"Telegram ({account})" if account else "Telegram",
        identity=identity,
        owner_known=bool(identity),
        notes=(_NO_IDS,) if alone else (),
        shape=shape,
        remember={**kept, "identity": identity} if shape else {},
        keep={SHAPE: chats.kept()},
        detail={
            "documents": dict(documents),
            "pages": pages,
            "duplicates": duplicates,
            "known": known,
            "on_pages": on_pages,
            "time_zone": choices.given.get("time_zone"),
        },
    )


def _chat_places(whole: bool) -> list[str]:
    return [f"{place}." for place in _PLACES] if whole else [""]


def _known_pages(
    tree: Tree, pages: PageExport | None, chats: KnownChats
) -> Mapping[str, KnownChat]:
    """Return the chats on pages that came in before, by the names of their first pages."""
    firsts = {chat.pages[0]: chat.key for chat in (pages.chats if pages is not None else ())}
    found = {entry.name: chats.of_page(entry, firsts[entry.name]) for entry in tree.these(firsts)}
    return {name: chat for name, chat in found.items() if chat is not None}


def _identity(number: str, phone: str, kept: str) -> str:
    """Return what an account is known by: its number, which pages do not tell, or its telephone.

    Whichever form came in first names the account for the other one.
    """
    told = f"phone {phone}" if phone else ""
    return kept if kept and (kept == told or not number) else number or told


def _digits(number: object) -> str:
    return "".join(filter(str.isdecimal, str(number or "")))


def _version(documents: Mapping[str, bool], pages: PageExport | None) -> str:
    if pages is not None:
        what = "a whole account" if pages.first_pages else counted(len(pages.chats), "chat")
        beside = f" and {counted(len(documents), 'document')}" if documents else ""
        return f"{what} as web pages{beside}"
    if len(documents) == 1:
        return "a whole account" if any(documents.values()) else "one chat"
    return f"{len(documents)} documents"


def _duplicates(
    tree: Tree, documents: Mapping[str, bool], pages: PageExport | None
) -> Mapping[str, JsonChat]:
    """Return the chats on web pages that are in a document too."""
    if pages is None or not documents:
        return {}
    firsts = {
        chat.pages[0]: (chat.name, entry)
        for chat in pages.chats
        for entry in tree.these(chat.pages[:1])
    }
    read = [(entry, _chat_places(documents[entry.name])) for entry in tree.these(documents)]
    return find_duplicates(firsts, read)


def _facts(entry: FileEntry, whole: bool) -> Mapping[str, object]:
    """Return whose export this is, from what stands before the messages."""
    owner = ("first_name", "user_id", "phone_number")
    wanted = [f"personal_information.{name}" for name in owner] if whole else ["name", "id"]
    facts: dict[str, object] = {}
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, *wanted, "chats", "messages"):
            if isinstance(element, Skipped) or element.path in ("chats", "messages"):
                break
            name = element.path.rpartition(".")[2]
            facts[{"user_id": "id", "first_name": "name"}.get(name, name)] = element.value
            if len(facts) == len(wanted):
                break
    return facts


def _read(
    tree: Tree,
    entry: FileEntry,
    whole: bool,
    known: Mapping[str, KnownChat],
    zone: tzinfo | None,
) -> Iterator[Finding]:
    """Read chat after chat; what a chat says of itself stands before its messages."""
    tops = _PLACES if whole else ("",)
    paths = [_path(top, name) for top in tops for name in (*_ABOUT, "messages.item")]
    if whole:
        paths += ["contacts.list.item", "stories.item", *_LEFT_OUT]
    reader, names = ChatReader(tree, entry, zone), ChatNames(known)
    with entry.open() as stream:
        for element in elements(stream, *paths, odd=ODD):
            if isinstance(element, Skipped):
                yield element
            else:
                where = f"{entry.name} {element.path} {element.number}"
                if element.path in _LEFT_OUT:
                    yield Skipped(_LEFT_OUT[element.path], where)
                    continue
                unit = _unit(element.path)
                name = unit or element.path.rpartition(".")[2]
                taken = _take(reader, element.path, names.named(name, element.value))
                yield from account(taken, where, unit) if unit else taken
    yield from reader.close()


def _take(reader: ChatReader, path: str, value: Any) -> Iterator[Finding]:
    """Yield what one value of a document tells."""
    unit = _unit(path)
    if unit == "contact":
        return contact(value)
    if unit == "story":
        return reader.story(value)
    return reader.message(value) if unit else reader.learn(path.rpartition(".")[2], value)


def _unit(path: str) -> str | None:
    """Return what a path leads to; None for what a chat says of itself."""
    if path.endswith("messages.item"):
        return "message"
    return {"contacts.list.item": "contact", "stories.item": "story"}.get(path)


def _path(top: str, name: str) -> str:
    return f"{top}.{name}" if top else name
