"""Instagram archives: chats, posts, stories, comments, likes and people."""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.sources.formats.meta_chats import INSTAGRAM
from pdpp.sources.formats.meta_files import attached, number_in
from pdpp.sources.formats.meta_service import (
    ListedFile,
    MetaArchive,
    first_values,
)
from pdpp.sources.formats.meta_values import (
    address_in,
    cells_of,
    listed,
    mapped,
    mended,
    owner_in,
    words_of,
    written_in,
)
from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree


def _post(kind: str, finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    media: list[Mapping[str, Any]] = [
        file for file in listed(value, "media") if isinstance(file, dict)
    ]
    files = media or [value]
    moment = value.get("creation_timestamp") or files[0].get("creation_timestamp")
    moment = moment or value.get("timestamp")
    posted = epoch_text(moment)
    if posted is None:
        yield Unknown("a post without a time", where)
        return
    text = mended(value.get("title")) or mended(files[0].get("title"))
    text = text or written_in(cells_of(value))[0]
    addresses = [str(file["uri"]) for file in files if file.get("uri")]
    bases = [number_in(address) or address.rpartition("/")[2] for address in addresses]
    # A text alone has no file to tell it by, and several may be posted at once.
    key = digest_key(kind, str(moment), *(bases or [text] * bool(text)))
    data = {"id": key, "text": text or None, "kind": kind, "posted_at": posted}
    yield Item("posts", key, present(data))
    for number, file in enumerate(files):
        if text and not file.get("uri"):
            continue
        caption = mended(file.get("title"))
        place = f"{where} file {number + 1}"
        yield attached(finder, file.get("uri"), posted, place, caption=caption, post_id=key)


def _thread(finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Read what was posted on Threads, which may answer somebody."""
    files = [file for file in listed(value, "media") if isinstance(file, dict)]
    answers = any(mapped(file, "text_app_post").get("is_reply") for file in files)
    return _post("answer on Threads" if answers else "thread", finder, value, where)


def _moment(value: Mapping[str, Any], cells: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return the time of an entry, whatever its label is called."""
    given = [value.get("timestamp"), *(cell.get("timestamp") for cell in cells.values())]
    given += [cell.get("timestamp_value") for cell in cells.values()]
    return next((moment for moment in given if moment), None)


def _comment(_finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    cells = cells_of(value)
    moment = _moment(value, cells)
    texts = [mended(cell.get("value")) for cell in cells.values() if not cell.get("timestamp")]
    texts = [text for text in texts if text]
    text = mended(cells.get("Comment", {}).get("value")) or (texts[0] if texts else "")
    owner = mended(cells.get("Media Owner", {}).get("value"))
    owner = owner or next((other for other in texts if other != text), "")
    written = epoch_text(moment)
    if written is None or not text:
        yield Unknown("a comment without a time or a text", where)
        return
    key = digest_key("comment", str(moment), text)
    data = {"id": key, "text": text, "owner": owner or None, "written_at": written}
    yield Item("comments", key, present(data))


def _like(
    kind: str, _finder: FileFinder, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    """Read a like; since 2026 it is a list of labels, before it was a list of addresses."""
    cells = cells_of(value)
    rows: list[Mapping[str, Any]] = [
        row for row in listed(value, "string_list_data") if isinstance(row, dict)
    ]
    rows += cells.values()
    moment = _moment(value, {str(number): row for number, row in enumerate(rows)})
    liked = epoch_text(moment)
    if liked is None:
        yield Unknown("a like without a time", where)
        return
    link = address_in(rows)
    words = words_of({**{str(number): row for number, row in enumerate(rows)}, **cells})
    owners = [mended(value.get("title")), words.get("Username"), words.get("Owner")]
    owners.append(owner_in(value))
    owner = next(filter(None, [*owners, *words.values()]), "")
    # A number is only told since 2026: what has an address is known by that alone.
    number = "" if link else str(value.get("fbid") or "")
    key = digest_key(kind, str(moment), link or owner, number)
    data = {
        "id": key,
        "title": owner or link or "(something)",
        "reaction": kind,
        "owner": owner or None,
        "link": link or None,
        "liked_at": liked,
    }
    yield Item("likes", key, present(data))


def _person(
    relation: str,
    _finder: FileFinder,
    value: Mapping[str, Any],
    where: str,
) -> Iterator[Finding]:
    rows = [row for row in listed(value, "string_list_data") if isinstance(row, dict)]
    row = rows[0] if rows else {}
    name = mended(row.get("value")) or mended(value.get("title"))
    name = name or mended(row.get("href")).rstrip("/").rpartition("/")[2]
    if not name:
        yield Unknown("a person without a name", where)
        return
    key = digest_key(relation, name)
    data = {
        "id": key,
        "name": name,
        "relation": relation,
        "link": mended(row.get("href")) or None,
        "since": epoch_text(row.get("timestamp")),
    }
    yield Item("people", key, present(data))


_THREADS = "text_post_app_text_post_app_"
_OF_THREADS = MappingProxyType(
    {
        "relationships_followers.item": (
            *(f"{_THREADS}followers.item", "person"),
            partial(_person, "follower on Threads"),
        ),
        "relationships_following.item": (
            *(f"{_THREADS}following.item", "person"),
            partial(_person, "followed on Threads"),
        ),
    }
)
"""How files in the folder of Threads are read, by the list that Instagram's own have."""


def _is_of_threads(entry: FileEntry) -> bool:
    return entry.name.split("/")[-2:-1] == ["threads"]


class Instagram(MetaArchive):
    """The zips or the folder that Instagram hands out, asked for as JSON."""

    connector_key = "instagram"
    label = "Instagram"
    service = INSTAGRAM
    files = MappingProxyType(
        {
            "posts_*.json": ("item", "post", partial(_post, "post")),
            "stories.json": ("ig_stories.item", "story", partial(_post, "story")),
            "reels.json": ("ig_reels_media.item", "reel", partial(_post, "reel")),
            "archived_posts.json": (
                *("ig_archived_post_media.item", "post"),
                partial(_post, "archived post"),
            ),
            "igtv_videos.json": ("ig_igtv_media.item", "video", partial(_post, "video")),
            "other_content.json": ("ig_other_media.item", "post", partial(_post, "other")),
            "threads_and_replies.json": ("text_post_app_text_posts.item", "thread", _thread),
            "liked_threads.json": (
                *("text_post_app_media_likes.item", "like"),
                partial(_like, "liked thread"),
            ),
            "saved_threads.json": (
                *("text_post_app_text_post_app_saved_posts.item", "saved"),
                partial(_like, "saved thread"),
            ),
            "profile_photos.json": (
                *("ig_profile_picture.item", "picture"),
                partial(_post, "profile picture"),
            ),
            "post_comments*.json": ("comments_media_comments.item", "comment", _comment),
            "reels_comments.json": ("comments_reels_comments.item", "comment", _comment),
            "hype.json": ("comments_story_comments.item", "comment", _comment),
            "liked_posts.json": ("likes_media_likes.item", "like", partial(_like, "like")),
            "liked_comments.json": (
                *("likes_comment_likes.item", "like"),
                partial(_like, "liked comment"),
            ),
            "story_likes.json": (
                *("story_activities_story_likes.item", "like"),
                partial(_like, "liked story"),
            ),
            "saved_posts.json": ("saved_saved_media.item", "saved", partial(_like, "saved")),
            "followers*.json": (
                "relationships_followers.item",
                "person",
                partial(_person, "follower"),
            ),
            "close_friends.json": (
                "relationships_close_friends.item",
                "person",
                partial(_person, "close friend"),
            ),
            "following.json": (
                "relationships_following.item",
                "person",
                partial(_person, "followed"),
            ),
        }
    )

    def listed_files(self, tree: Tree) -> list[ListedFile]:
        """Return the files to read; some of Threads have the names of Instagram's own."""
        return [
            (entry, _OF_THREADS.get(reading[0], reading) if _is_of_threads(entry) else reading)
            for entry, reading in super().listed_files(tree)
        ]

    def owner(self, tree: Tree) -> dict[str, str]:
        """Return the name of the account."""
        top = "profile_user.item.string_map_data"
        cells = first_values(tree, "personal_information.json", top).get(top)
        name = mended(mapped(cells, "Username").get("value")) or _user_name(cells)
        return {"id": name.lower(), "name": name}


def _user_name(cells: Any) -> str:
    """Return the first value that looks like a name, where the label is in another language."""
    values = cells.values() if isinstance(cells, dict) else ()
    names = [mended(cell.get("value")) for cell in values if isinstance(cell, dict)]
    return next((name for name in names if name and " " not in name and "@" not in name), "")
