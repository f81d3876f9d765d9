"""Meta services: whose archive a folder is, Facebook's or Instagram's, and what both leave out."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.meta_archive import ChatFiles, chats_of, has_chats, in_archive, read_chat
from pdpp.sources.formats.meta_chats import FACEBOOK, INSTAGRAM, service_of_chats
from pdpp.sources.formats.meta_values import mended
from pdpp.sources.item import Finding, Skipped
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.jsonstream import elements, read_each
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.structure import json_paths, opening
from pdpp.sources.reading.tree import FileEntry, Tree, common_folder
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)

_MARKS = MappingProxyType(
    {
        FACEBOOK: re.compile(
            r"(^|/)(your_facebook_activity|(your|this_profile.?s)_activity_across_facebook)/"
            r"|(^|/)(profile_information|your_friends|friends)\.json\Z"
            r"|(^|/)your_posts_[^/]*\.json\Z"
        ),
        INSTAGRAM: re.compile(
            r"(^|/)your_instagram_activity/"
            r"|(^|/)(followers_\d+|following|personal_information|post_comments_\d+)\.json\Z"
        ),
    }
)
_TOP = re.compile(
    r"(?:^|/)(?:messages|posts|media|content|connections|comments|comments_and_reactions|"
    r"personal_information|profile_information|friends|likes|saved|followers_and_following|"
    r"your_facebook_activity|(?:your|this_profile.?s)_activity_across_facebook|"
    r"your_instagram_activity)/"
)
_OF_ARCHIVE = re.compile(
    r"(^|/)message_\d+\.(json|html)\Z|" + "|".join(mark.pattern for mark in _MARKS.values())
)
_OF_EITHER = (
    "these are chats of Facebook or of Instagram, and nothing in them says of which: say "
    "--as facebook or --as instagram"
)
_CHATS = "messages"
_VERSION = re.compile(r"_v\d(?=\.)")
_PAGES = re.compile(
    r"(^|/)(messages/(inbox|archived_threads)/[^/]+/message_\d+"
    r"|(your_(facebook|instagram)_activity|(your|this_profile.?s)_activity_across_facebook)/.+)"
    r"\.html\Z"
)

ValueReader = Callable[[FileFinder, Any, str], Iterator[Finding]]
"""Yields what one value of a file holds."""

ListedFile = tuple[FileEntry, tuple[str, str, ValueReader]]
"""A file, where in it the values stand, what one of them is called, and what reads it."""


class MetaArchive(Source):
    """An archive of one of the two services, asked for as JSON."""

    service: str
    files: Mapping[str, tuple[str, str, ValueReader]]
    """Patterns of names, each with the path of its values, what one is, and what reads it."""

    own_folders = (
        *("your_facebook_activity", "*_activity_across_facebook", "your_instagram_activity"),
        *("personal_information", "profile_information", "connections", "friends*", "followers*"),
        *("preferences", "security_and_login_information", "logged_information"),
        *("ads_information", "apps_and_websites*", "messages", "posts", "photos_and_videos"),
        *("media", "content", "files", "stories", "story_*", "comments*", "likes*", "saved*"),
        *("groups", "events", "pages", "reels*", "threads", "your_*", "other_*"),
    )
    passed_over = MappingProxyType(
        {
            "*.html": "a page that shows what the JSON files hold",
            "*.css": "the looks of a page",
            "ads_information/*": "what advertisers know",
            "*/ads_information/*": "what advertisers know",
            "*/security_and_login_information/*": "logins",
            "security_and_login_information/*": "logins",
            "*/logged_information/*": "what the service logged",
            "logged_information/*": "what the service logged",
            "*/preferences/*": "settings",
            "preferences/*": "settings",
            "*/apps_and_websites_off_of_*/*": "what other websites told the service",
            "apps_and_websites_off_of_*/*": "what other websites told the service",
            "profile_information.json": "whose archive it is",
            "personal_information.json": "whose archive it is",
            "autofill_information.json": "what is filled into forms",
            "secret_conversations.json": "keys of encrypted chats",
            "your_cross-app_messaging_settings.json": "settings",
            "your_chat_settings_on_web.json": "settings",
        }
    )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return the folders that hold an archive of this service each."""
        tops = {entry.name[: match.start()] for entry, match in _tops(tree)}
        # One zip may hold the archives of several accounts; the parts of one have the same top.
        if tree.kind != "folder" and len({in_archive(f"{top}/") for top in tops}) < 2:
            return ("",)
        # Each service is asked of each: the rest, such as encrypted chats, is what lies in none.
        return sorted({*tops, ""})

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:
        """Look for chats, and for the files that only this service writes."""
        service, own = _service(tree), bool(self.listed_files(tree) or has_chats(tree))
        inner = any(tree.top == entry.name[: match.start()] != "" for entry, match in _tops(tree))
        # Of several archives in a folder the owner means those that are of this service.
        chosen = choices.chosen and own and not (inner and service)
        if not chosen and service != self.service:
            return self._refusal(tree, service)
        chats = chats_of(tree)
        if not chats and not self.listed_files(tree):
            return None
        owner = self.owner(tree)
        name = owner.get("name", "")
        return Recognition(
            Confidence.CERTAIN,
            counted(len(chats), "chat"),
            account=f"{self.label} ({name})" if name else self.label,
            identity=owner.get("id") or "",
            owner_known=bool(owner.get("id")),
        )

    def _refusal(self, tree: Tree, service: str | None) -> ExportRefusal | None:
        """Say once, and not for each service, what cannot be read or be told apart."""
        if self.service != FACEBOOK or service is not None:
            return None
        if has_chats(tree):
            return ExportRefusal(_OF_EITHER)
        if not any(_PAGES.search(entry.name) for entry in tree.entries):
            return None
        return ExportRefusal(
            "this is an archive of Facebook or Instagram as web pages, which cannot be read back "
            "without loss; ask for it again and choose the format JSON"
        )

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the folders of the chats."""
        chats = [entry for chat in chats_of(tree) for entry in chat.entries]
        return {entry.name.rpartition("/")[0] for entry in chats} - {""}

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return all of an archive: pictures lie in other folders than what refers to them."""
        if tree.kind == "folder" and any(not match.start() for _, match in _tops(tree)):
            return self.at_top(tree)
        if tree.kind == "zip" or any(_tops(tree)):
            return ("",)
        folder = common_folder(part.entry.name for part in self.parts(tree, recognition))
        # Files of encrypted chats lie beside the folder of the chats.
        above, _, base = folder.rpartition("/")
        return (folder, f"{above}/media".lstrip("/")) if base == _CHATS else (folder,)

    @abstractmethod
    def owner(self, tree: Tree) -> dict[str, str]:
        """Return the id and the name of the account, as far as the archive tells."""

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in(tree.called)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:  # noqa: ARG002
        """Return a part for each chat, then one for each other file."""
        finder = FileFinder(tree)
        for chat in chats_of(tree):
            yield ExportPart(chat.entries[0], partial(_read_chat, chat, finder))
        for entry, reading in self.listed_files(tree):
            yield ExportPart(entry, partial(read_values, entry, reading, finder))

    def listed_files(self, tree: Tree) -> list[ListedFile]:
        """Return the files to read, each with how it is read."""
        chosen: dict[str, ListedFile] = {}
        for pattern, reading in self.files.items():
            for entry in tree.named(pattern):
                chosen.setdefault(entry.name, (entry, fitting(entry, reading)))
        return [chosen[name] for name in sorted(chosen)]


def fitting(
    entry: FileEntry, reading: tuple[str, str, ValueReader]
) -> tuple[str, str, ValueReader]:
    """Return how a file is read: some are a list today and were an object with one before.

    Before 2021 the names of members did not end in the number of a version.
    """
    path, noun, reader = reading
    if opening(entry) == b"[":
        return ("item", noun, reader)
    older = _VERSION.sub("", path)
    is_older = older != path and json_paths(entry, {_list_of(path), _list_of(older)}) == {
        _list_of(older)
    }
    return (older if is_older else path, noun, reader)


def _list_of(path: str) -> str:
    return path.removesuffix(".item")


def read_values(
    entry: FileEntry, reading: tuple[str, str, ValueReader], finder: FileFinder
) -> Iterator[Finding]:
    """Yield what each value of a file holds; a file that keeps them elsewhere is told."""
    path, noun, reader = reading
    return read_each(entry, partial(reader, finder), path, noun=noun)


def _read_chat(chat: ChatFiles, finder: FileFinder) -> Iterator[Finding]:
    return read_chat(chat, finder)


def _tops(tree: Tree) -> Iterator[tuple[FileEntry, re.Match[str]]]:
    for entry in tree.entries:
        if _OF_ARCHIVE.search(entry.name) and (match := _TOP.search(entry.name)):
            yield entry, match


def _service(tree: Tree) -> str | None:
    """Return whose archive this is; chats alone may not tell."""
    for service, pattern in _MARKS.items():
        if any(pattern.search(entry.name) for entry in tree.entries):
            looks_right = has_chats(tree) or _has_own(tree, service)
            return service if looks_right else None
    if not has_chats(tree):
        return None
    return service_of_chats(tree, [entry for chat in chats_of(tree) for entry in chat.entries])


_OWN_PATHS = MappingProxyType(
    {
        FACEBOOK: (
            *("profile_v2", "friends_v2", "comments_v2", "item.attachments", "item.data"),
            *("profile.name", "item.label_values"),
        ),
        INSTAGRAM: (
            *("profile_user", "relationships_following", "ig_stories", "likes_media_likes"),
            *("item.string_list_data", "item.media", "item.string_map_data", "item.label_values"),
        ),
    }
)


def _has_own(tree: Tree, service: str) -> bool:
    named = [entry for entry in tree.entries if entry.suffix == ".json"]
    likely = [entry for entry in named if _MARKS[service].search(entry.name)]
    return any(json_paths(entry, _OWN_PATHS[service]) for entry in likely[:50])


def first_values(tree: Tree, name: str, *paths: str) -> dict[str, Any]:
    """Return the first value at each path of the first file of a name."""
    values: dict[str, Any] = {}
    for entry in tree.named(name)[:1]:
        with suppress(DamagedFile), entry.open() as stream:
            for element in elements(stream, *paths):
                if not isinstance(element, Skipped):
                    values.setdefault(element.path, element.value)
    return values


def first_text(values: Mapping[str, Any], *paths: str) -> str:
    """Return the first of some values that is a text."""
    return next((text for path in paths if (text := mended(values.get(path)))), "")
