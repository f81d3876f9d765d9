"""Meta chats: of which of the two services some chats are, where nothing else lies beside them.

Facebook and Instagram write chats in one form. What only one of them writes is the folders that it
keeps chats and files in, and what one can do in its chats: Instagram names whose post was shared,
and Facebook has stickers of its own.
"""

import re
from collections.abc import Iterable, Iterator
from types import MappingProxyType

from pdpp.sources.reading.tree import FileEntry, Tree

FACEBOOK, INSTAGRAM = "facebook", "instagram"
_FOLDERS = MappingProxyType(
    {
        FACEBOOK: re.compile(
            r"(^|/)(archived_threads|filtered_threads|e2ee_cutover|stickers_used)/"
            r"|(^|/)(secret_conversations|secret_groups|autofill_information"
            r"|community_chats_settings|your_chat_settings_on_web)\.json\Z"
            r"|(^|/)facebook-?user[^/]*/message_\d+\.json\Z"
        ),
        INSTAGRAM: re.compile(r"(^|/)instagram-?user[^/]*/message_\d+\.json\Z"),
    }
)
"""Names of what lies beside chats, and of chats with somebody whose account is gone."""
_FILE = rb'"uri"\s*:\s*"(?:[^"\\]|\\/)*?'
_SAID = MappingProxyType(
    {
        FACEBOOK: re.compile(
            _FILE + rb"(?:your_facebook_activity|activity_across_facebook|stickers_used)\\?/"
            rb'|"thread_path"\s*:\s*"(?:archived_threads|filtered_threads|e2ee_cutover)\\?/'
            rb'|"(?:ai_stickers|threadName)"\s*:'
        ),
        INSTAGRAM: re.compile(
            _FILE + rb'your_instagram_activity\\?/|"original_content_owner"\s*:'
            rb'|"content"\s*:\s*"Liked a message"'
        ),
    }
)
"""Marks in the files themselves. No text of a message holds them, as its quotes are escaped."""
_PLACES = MappingProxyType(
    {
        FACEBOOK: re.compile(r"facebook-.*|your_facebook_activity|.*_activity_across_facebook"),
        INSTAGRAM: re.compile(r"instagram-.*|your_instagram_activity"),
    }
)
"""How the services call archives, and the folders in them."""
_LOOKED_AT = 1 << 20
_MOST_LOOKED_AT = 50


def service_of_chats(tree: Tree, chats: Iterable[FileEntry]) -> str | None:
    """Return whose some chats are by what they say, then by where they lie; None if by neither."""
    names = [entry.name for entry in tree.entries]
    told = {service for service, mark in _FOLDERS.items() if any(map(mark.search, names))}
    told |= set(_told_inside(chats))
    told = told or set(_told_by_place(tree))
    return told.pop() if len(told) == 1 else None


def _told_inside(chats: Iterable[FileEntry]) -> Iterator[str]:
    for entry, _ in zip(chats, range(_MOST_LOOKED_AT), strict=False):
        head = entry.head(_LOOKED_AT)
        for service, mark in _SAID.items():
            if mark.search(head):
                yield service


def _told_by_place(tree: Tree) -> Iterator[str]:
    for service, called in _PLACES.items():
        if any(called.fullmatch(step.lower()) for step in tree.path.parts):
            yield service
