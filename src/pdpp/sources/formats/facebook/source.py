"""Facebook archives: chats, posts, comments, reactions and friends."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pdpp.sources.formats.meta_archive import attached, listed, mapped, mended
from pdpp.sources.formats.meta_service import (
    FACEBOOK,
    MetaArchive,
    first_text,
    first_values,
)
from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import Tree


def _post(finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    posted = epoch_text(value.get("timestamp"))
    if posted is None:
        yield Unknown("a post without a time", where)
        return
    texts = [mended(piece.get("post")) for piece in listed(value, "data") if _is_object(piece)]
    pieces = [
        piece
        for group in listed(value, "attachments")
        for piece in listed(group, "data")
        if _is_object(piece)
    ]
    texts += [mended(piece.get("text")) for piece in pieces]
    media = [mapped(piece, "media") for piece in pieces if "media" in piece]
    places = [mended(mapped(piece, "place").get("name")) for piece in pieces]
    links = [mended(mapped(piece, "external_context").get("url")) for piece in pieces]
    text = "\n".join(dict.fromkeys(filter(None, texts)))
    title = mended(value.get("title"))
    addresses = [file.get("uri") for file in media if file.get("uri")]
    key = digest_key("post", str(value["timestamp"]), title, text, *map(str, addresses))
    data = {
        "id": key,
        "title": title or None,
        "text": text or None,
        "kind": "post",
        "place": next(filter(None, places), None),
        "link": next(filter(None, links), None),
        "tags": ", ".join(_names(value)) or None,
        "posted_at": posted,
    }
    yield Item("posts", key, present(data))
    for number, file in enumerate(media):
        caption = mended(file.get("description") or file.get("title"))
        place = f"{where} file {number + 1}"
        yield attached(finder, file.get("uri"), posted, place, caption=caption, post_id=key)


def _names(value: Mapping[str, Any]) -> list[str]:
    people = (tag.get("name") if _is_object(tag) else tag for tag in listed(value, "tags"))
    return [name for person in people if (name := mended(person))]


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _comment(_finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    written = epoch_text(value.get("timestamp"))
    inner = [mapped(piece, "comment") for piece in listed(value, "data")]
    text = "\n".join(filter(None, (mended(piece.get("comment")) for piece in inner)))
    if written is None or not inner:
        yield Unknown("a comment without a time or a text", where)
        return
    title = mended(value.get("title"))
    key = digest_key("comment", str(value["timestamp"]), title, text)
    data = {
        "id": key,
        "title": title or None,
        "text": text or "[a picture]",
        "owner": next(filter(None, (mended(piece.get("group")) for piece in inner)), None),
        "written_at": written,
    }
    yield Item("comments", key, present(data))


def _like(_finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    liked = epoch_text(value.get("timestamp"))
    if liked is None:
        yield Unknown("a reaction without a time", where)
        return
    inner = next((mapped(piece, "reaction") for piece in listed(value, "data")), {})
    title = mended(value.get("title")) or mended(value.get("name"))
    kind = mended(inner.get("reaction")) or "like"
    key = digest_key("like", str(value["timestamp"]), title, kind)
    data = {"id": key, "title": title or "(something)", "reaction": kind.lower(), "liked_at": liked}
    yield Item("likes", key, data)


def _friend(_finder: FileFinder, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    name = mended(value.get("name"))
    if not name:
        yield Unknown("a friend without a name", where)
        return
    key = digest_key("friend", name, str(value.get("timestamp")))
    since = epoch_text(value.get("timestamp"))
    yield Item(
        "people", key, present({"id": key, "name": name, "relation": "friend", "since": since})
    )


class Facebook(MetaArchive):
    """The zips or the folder that Facebook hands out, asked for as JSON."""

    connector_key = "facebook"
    label = "Facebook"
    service = FACEBOOK
    files = MappingProxyType(
        {
            "your_posts*.json": ("status_updates.item", "post", _post),
            "comments.json": ("comments_v2.item", "comment", _comment),
            "likes_and_reactions*.json": ("reactions_v2.item", "reaction", _like),
            "your_friends.json": ("friends_v2.item", "friend", _friend),
            "friends.json": ("friends_v2.item", "friend", _friend),
        }
    )

    def owner(self, tree: Tree) -> dict[str, str]:
        """Return the profile's address and its name."""
        top = "profile_v2"
        values = first_values(
            tree,
            "profile_information.json",
            *(f"{top}.{name}" for name in ("profile_uri", "username", "name.full_name")),
            f"{top}.emails.emails.item",
        )
        identity = first_text(
            values, f"{top}.profile_uri", f"{top}.username", f"{top}.emails.emails.item"
        )
        name = first_text(values, f"{top}.name.full_name", f"{top}.username")
        return {"id": identity, "name": name}
