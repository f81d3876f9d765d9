"""Facebook archives: chats, posts, comments, reactions and friends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.sources.formats.facebook.pictures import picture_parts
from pdpp.sources.formats.meta_chats import FACEBOOK
from pdpp.sources.formats.meta_files import attached, caption_of, number_in, shown_in
from pdpp.sources.formats.meta_service import (
    MetaArchive,
    first_text,
    first_values,
)
from pdpp.sources.formats.meta_values import (
    address_in,
    cells_of,
    listed,
    mapped,
    mended,
    pieces_of,
    words_of,
    written_in,
)
from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.shapes import odd_items, odd_members
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import ExportPart, Recognition


def _post(kind: str, finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Read a post; some are lists of labels since 2025."""
    posted = epoch_text(value.get("timestamp"))
    if posted is None:
        yield Unknown("a post without a time", where)
        return
    pieces, media, cells = pieces_of(value), shown_in(value), cells_of(value)
    written, about = written_in(cells)
    texts = [mended(piece.get("post")) for piece in listed(value, "data") if _is_object(piece)]
    texts += [written, *(mended(piece.get("text")) for piece in pieces)]
    text = "\n".join(dict.fromkeys(filter(None, texts)))
    title = mended(value.get("title"))
    files = [number_in(str(file["uri"])) or str(file["uri"]) for file in media if file.get("uri")]
    told = [text, *files, *_number(value)]
    key = digest_key("post", str(value["timestamp"]), *_known_by(told, title))
    links = [mapped(piece, "external_context") for piece in pieces]
    named = [mended(mapped(piece, "life_event").get("title")) for piece in pieces]
    named += [mended(link.get("name")) for link in links]
    places = [mended(mapped(piece, "place").get("name")) for piece in pieces]
    data = {
        "id": key,
        "title": title or about or None,
        "text": "\n".join(dict.fromkeys(filter(None, [text, *named]))) or None,
        "kind": kind,
        "place": next(filter(None, places), None),
        "link": _link(*links) or address_in(cells.values()) or None,
        "tags": ", ".join(_names(value)) or None,
        "posted_at": posted,
    }
    yield Item("posts", key, present(data))
    yield from odd_items(value.get("data"), where, post=str)
    for file in media:
        yield from odd_members(file, where, title=str, description=str)
    for number, file in enumerate(media):
        place = f"{where} file {number + 1}"
        yield attached(
            finder, file.get("uri"), posted, place, caption=caption_of(file), post_id=key
        )


def _known_by(told: Sequence[str], title: str) -> Sequence[str]:
    """Return what tells a thing from others of its moment, by its title only if nothing else does.

    The title is a sentence in the language of the account, with the name that its owner has now.
    """
    return told if any(told) else [title]


def _number(value: Mapping[str, Any]) -> list[str]:
    """Return Facebook's own number of a thing, which only newer files tell."""
    return [str(value["fbid"])] if value.get("fbid") else []


def _link(*holders: Mapping[str, Any]) -> str:
    return next((link for holder in holders if (link := mended(holder.get("url")))), "")


def _names(value: Mapping[str, Any]) -> list[str]:
    people = (tag.get("name") if _is_object(tag) else tag for tag in listed(value, "tags"))
    return [name for person in people if (name := mended(person))]


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _comment(finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    written = epoch_text(value.get("timestamp"))
    inner = [mapped(piece, "comment") for piece in listed(value, "data")]
    text = "\n".join(filter(None, (mended(piece.get("comment")) for piece in inner)))
    media = shown_in(value)
    if written is None or not (inner or media):
        yield Unknown("a comment without a time or a text", where)
        return
    title = mended(value.get("title"))
    files = [str(file["uri"]) for file in media if file.get("uri")]
    told = [text, *(number_in(uri) or uri for uri in files), *_number(value)]
    key = digest_key("comment", str(value["timestamp"]), *_known_by(told, title))
    data = {
        "id": key,
        "title": title or None,
        "text": text or "[a picture]",
        "owner": next(filter(None, (mended(piece.get("group")) for piece in inner)), None),
        "written_at": written,
    }
    yield Item("comments", key, present(data))
    yield from odd_members(value, where, title=str)
    yield from odd_items(value.get("data"), where, comment=dict)
    for piece in inner:
        yield from odd_members(piece, where, comment=str)
    for number, file in enumerate(media):
        place = f"{where} file {number + 1}"
        yield attached(finder, file.get("uri"), written, place, caption=caption_of(file))


def _like(
    kind: str, _finder: FileFinder, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    """Read a reaction, a page that was liked, or something that was saved."""
    liked = epoch_text(value.get("timestamp"))
    if liked is None:
        yield Unknown("a reaction without a time", where)
        return
    inner = next((mapped(piece, "reaction") for piece in listed(value, "data")), {})
    cells, links = cells_of(value), [mapped(each, "external_context") for each in pieces_of(value)]
    words = words_of(cells)
    reaction = mended(inner.get("reaction")) or words.pop("Reaction", "") or kind
    title = mended(value.get("title")) or mended(value.get("name")) or ", ".join(words.values())
    key = digest_key("like", str(value["timestamp"]), title, reaction, *_number(value))
    link = _link(value, *links) or address_in(cells.values())
    named = [title, *(mended(each.get("name")) for each in links)]
    data = {
        "id": key,
        "title": ": ".join(filter(None, named)) or link or "(something)",
        "reaction": reaction.lower(),
        "link": link or None,
        "liked_at": liked,
    }
    yield Item("likes", key, present(data))
    yield from odd_members(value, where, title=str, name=str)


def _person(
    relation: str, _finder: FileFinder, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    name = mended(value.get("name"))
    if not name:
        yield Unknown("a person without a name", where)
        return
    key = digest_key(relation, name, str(value.get("timestamp")))
    since = epoch_text(value.get("timestamp"))
    data = {"id": key, "name": name, "relation": relation, "since": since}
    yield Item("people", key, present(data))


_POSTS = ("your_posts*.json", "profile_posts*.json", "posts_on_other_pages_and_profiles.json")
"""The files of posts; an archive of a page calls them after its profile."""
_IN_GROUPS = ("group_posts_v2.item", "post", partial(_post, "post"))
_REACTIONS = ("reactions_v2.item", "reaction", partial(_like, "like"))
_FRIENDS = ("friends_v2.item", "friend", partial(_person, "friend"))


class Facebook(MetaArchive):
    """The zips or the folder that Facebook hands out, asked for as JSON."""

    connector_key = "facebook"
    label = "Facebook"
    service = FACEBOOK
    files = MappingProxyType(
        {
            "your_posts_in_groups.json": _IN_GROUPS,
            "group_posts_and_comments.json": _IN_GROUPS,
            **dict.fromkeys(_POSTS, ("status_updates.item", "post", partial(_post, "post"))),
            "archived_stories.json": ("archived_stories_v2.item", "story", partial(_post, "story")),
            "comments.json": ("comments_v2.item", "comment", _comment),
            "your_comments_in_groups.json": ("group_comments_v2.item", "comment", _comment),
            "likes_and_reactions*.json": _REACTIONS,
            "posts_and_comments.json": _REACTIONS,
            "pages_you?ve_liked.json": ("page_likes_v2.item", "page", partial(_like, "liked page")),
            "your_saved_items.json": ("saves_v2.item", "saved", partial(_like, "saved")),
            "your_friends.json": _FRIENDS,
            "friends.json": _FRIENDS,
            "who_you?ve_followed.json": (
                "following_v3.item",
                "person",
                partial(_person, "followed"),
            ),
        }
    )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return chats and lists, then the pictures, which mostly stand in posts too."""
        yield from super().parts(tree, recognition)
        yield from picture_parts(tree, tree.named(*_POSTS), tree.named("comments.json"))

    def owner(self, tree: Tree) -> dict[str, str]:
        """Return the profile's address and its name."""
        names = ("profile_uri", "username", "emails.emails.item", "name.full_name")
        # Before 2021 the members had no number of a version.
        paths = [f"{top}.{name}" for name in names for top in ("profile_v2", "profile")]
        values = first_values(tree, "profile_information.json", *paths)
        return {
            "id": first_text(values, *paths[:6]),
            "name": first_text(values, *paths[6:], *paths[2:4]),
        }
