"""X archives: posts, direct messages and likes in JavaScript files, with pictures beside them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC
from functools import partial
from html import unescape
from types import MappingProxyType
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.x_twitter.long_posts import LongPosts, created, whole_text
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.jsonstream import objects, read_each
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.jsprefix import assigned_name, without_prefix
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.shapes import odd, odd_members
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_PART = re.compile(r"YTD\.(\w+)\.part\d+\Z|Grailbird\.data\.(tweets)_\d{4}_\d\d\Z")
"""What files assign to; until 2018 there was one for the posts of each month."""
_KINDS = MappingProxyType(
    {
        "tweets": "post",
        "tweet": "post",
        "community_tweet": "post",
        "note_tweet": "long post",
        "direct_messages": "conversation",
        "direct_messages_group": "conversation",
        "direct_message": "conversation",
        "direct_message_group": "conversation",
        "like": "like",
        "likes": "like",
        "grok_chat_item": "turn of a talk",
    }
)
_OLD_OWNER = "user_details.js"
Files = Mapping[str, list[FileEntry]]


class XTwitter(Source):
    """The zip that X hands out."""

    connector_key = "x_twitter"
    own_folders = (
        "data",
        "assets",
        "*_media",
    )
    owner_files = ("account.js", _OLD_OWNER)
    label = "X (Twitter)"
    passed_over = MappingProxyType(
        {
            "manifest.js": "the list of contents",
            "account.js": "whose archive it is",
            _OLD_OWNER: "whose archive it is",
            "tweets.csv": "the posts once more, as a table",
            "ad-*.js": "advertisements",
            "*.html": "a page that shows the archive",
            "assets/*": "a program that shows the archive",
            "*/assets/*": "a program that shows the archive",
            "tweet-headers.js": "the same without texts",
            "direct-message-headers.js": "the same without texts",
            "direct-message-group-headers.js": "the same without texts",
            "deleted-*.js": "what you deleted",
            "ip-audit.js": "addresses of your devices",
            "device-token.js": "secrets, which are never read",
            "key-registry.js": "secrets, which are never read",
            "*.js": "a file that holds neither posts, messages nor likes",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for files that assign to the names that X uses."""
        kind_of = {entry.name: kind for entry in tree.entries if (kind := _kind(entry)) is not None}
        if not kind_of:
            return None
        owner = _owner(tree)
        name = str(owner.get("username") or "")
        return Recognition(
            Confidence.CERTAIN,
            ", ".join(sorted(set(kind_of.values()))),
            account=f"{self.label} ({name})" if name else self.label,
            identity=str(owner.get("accountId") or ""),
            owner_known=bool(owner.get("accountId")),
            detail={"files": kind_of, "owner": str(owner.get("accountId") or "")},
        )

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in(tree.called)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        media: dict[str, list[FileEntry]] = {}
        for entry in tree.entries:
            if "_media/" in entry.name:
                media.setdefault(entry.base.partition("-")[0], []).append(entry)
        files = recognition.detail["files"]
        kinds = {entry: files[entry.name] for entry in tree.these(files)}
        texts = LongPosts(
            [entry for entry, kind in kinds.items() if kind == "long post"],
            [entry for entry, kind in kinds.items() if kind == "post"],
        )
        readers: Mapping[str, Callable[[Any, str], Iterator[Finding]]] = {
            "post": partial(_post, media, texts),
            "long post": partial(_long_post, texts),
            "like": _like,
            "conversation": partial(_conversation, recognition.detail["owner"], media),
            "turn of a talk": _turn,
        }
        for entry, kind in kinds.items():
            read = partial(_read, entry, readers[kind], kind)
            yield ExportPart(entry, read)


def _read(
    entry: FileEntry, reader: Callable[[object, str], Iterator[Finding]], noun: str
) -> Iterator[Finding]:
    return read_each(without_prefix(entry), reader, noun=noun)


def _kind(entry: FileEntry) -> str | None:
    match = _PART.match(assigned_name(entry) or "")
    return _KINDS.get(match[1] or match[2]) if match else None


def _owner(tree: Tree) -> Mapping[str, object]:
    for entry in tree.named("account.js"):
        with suppress(DamagedFile):
            for value in objects(without_prefix(entry)):
                account = value.get("account")
                return account if isinstance(account, dict) else {}
    for entry in tree.named(_OLD_OWNER):
        with suppress(NotJson):
            about = read_json(without_prefix(entry).head())
            if isinstance(about, dict):
                return {"accountId": about.get("id"), "username": about.get("screen_name")}
    return {}


def _post(
    media: Files, texts: LongPosts, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    post = value.get("tweet", value)  # Before 2020 the post stood there by itself.
    number, posted = str(post.get("id_str") or post.get("id") or ""), _created(post["created_at"])
    if not number or posted is None:
        yield Unknown("a post without an id or a time", where)
        return
    text, link = _expanded(str(post.get("full_text") or post.get("text") or ""), post)
    text = texts.of_post(number) or text
    answered = post.get("in_reply_to_status_id_str")
    kind = "repost" if text.startswith("RT @") else "answer" if answered else "post"
    key = safe_key(number)
    data = {
        "id": key,
        "text": text or "[a picture]",
        "kind": kind,
        "link": link,
        "reply_to": safe_key(str(answered)) if answered else None,
        "reply_to_name": post.get("in_reply_to_screen_name"),
        "language": post.get("lang"),
        "likes": _count(post.get("favorite_count")),
        "reposts": _count(post.get("retweet_count")),
        "posted_at": posted,
    }
    yield Item("posts", key, present(data))
    yield from _shown(media, number, posted, post_id=key)


def _shown(media: Files, number: str, moment: str, **owner: RecordKey) -> Iterator[Finding]:
    """Yield the pictures and videos of a post or a message; ``owner`` says of which."""
    for file in media.get(number, []):
        about = {**owner, "name": file.base, "media_type": file.media_type}
        name = safe_key(number, file.base)
        files = (Attachment("file", file.open_exact, file.media_type),)
        yield Item("media", name, {"id": name, **about, "posted_at": moment}, files)


def _expanded(text: str, post: Mapping[str, object]) -> tuple[str, str | None]:
    """Return a text with true addresses for shortened ones, and the first of them."""
    first = None
    entities = post.get("entities")
    for url in entities.get("urls") or () if isinstance(entities, dict) else ():
        if url.get("expanded_url"):
            first = first or str(url["expanded_url"])
            text = text.replace(str(url.get("url")), str(url["expanded_url"]))
    return unescape(text).strip(), first


def _created(text: object) -> str | None:
    moment = created(text)
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


def _count(value: Any) -> int | None:
    return int(value) if str(value or "").isdecimal() else None


def _long_post(texts: LongPosts, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    note = value["noteTweet"]
    posted, number = moment_text(note.get("createdAt")), note.get("noteTweetId")
    if posted is None or not number:
        yield Unknown("a post without an id or a time", where)
        return
    if texts.has_post(str(number)):
        yield Skipped("a whole text that is told with its post", where)
        return
    key = safe_key("note", str(number))
    text = whole_text(note)
    yield Item("posts", key, {"id": key, "text": text, "kind": "long post", "posted_at": posted})


def _like(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    like = value["like"]
    if not like.get("tweetId"):
        yield Unknown("a like without an id", where)
        return
    key = safe_key(str(like["tweetId"]))
    text = unescape(str(like.get("fullText") or "[a post that is not told]"))
    yield Item("likes", key, present({"id": key, "text": text, "link": like.get("expandedUrl")}))


def _conversation(
    owner: str, media: Files, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    talk = value["dmConversation"]
    number = str(talk["conversationId"])
    for position, message in enumerate(talk.get("messages") or (), 1):
        place = f"{where} message {position}"
        if not isinstance(message, Mapping):
            yield from odd(message, place, dict)
        elif "messageCreate" in message:
            yield from _message(owner, media, number, message["messageCreate"], place)
        else:
            yield Skipped("a note of the service in a conversation", place)
    if not talk.get("messages"):
        yield Skipped("a conversation without messages", where)


def _turn(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield one turn of a talk with Grok, which has no id of its own."""
    turn = value["grokChatItem"]
    sent, talk = moment_text(turn.get("createdAt")), str(turn.get("chatId") or "")
    if sent is None or not talk:
        yield Unknown("a turn of a talk without a time", where)
        return
    sender = turn.get("sender")
    name = str(sender.get("name") if isinstance(sender, dict) else sender)
    text = str(turn.get("message") or "")
    key = digest_key("grok", talk, sent, name, text)
    data = {
        "id": key,
        "conversation_id": safe_key("grok", talk),
        "conversation": f"Grok {talk}",
        "sender": "me" if name.lower() == "user" else "Grok",
        "text": text or "[a picture]",
        "sent_at": sent,
    }
    yield Item("messages", key, data)


def _message(
    owner: str, media: Files, talk: str, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    sent = moment_text(value.get("createdAt"))
    if sent is None or not value.get("id"):
        yield Unknown("a message without an id or a time", where)
        return
    key = safe_key(str(value["id"]))
    urls = [url for url in value.get("urls") or () if url.get("expanded")]
    links = [*(str(url["expanded"]) for url in urls), *map(str, value.get("mediaUrls") or ())]
    text = str(value.get("text") or "")
    for url in urls:
        text = text.replace(str(url.get("url")), str(url["expanded"]))
    data = {
        "id": key,
        "conversation_id": safe_key("talk", talk),
        "conversation": talk,
        "sender": _person(owner, value),
        "text": unescape(text) or "[a picture]",
        "link": links[0] if links else None,
        "reactions": [
            f"{reaction.get('reactionKey')} {_person(owner, reaction)}"
            for reaction in value.get("reactions") or ()
        ],
        "sent_at": sent,
    }
    yield Item("messages", key, present(data, []))
    yield from odd_members(value, where, text=str)
    yield from _shown(media, str(value["id"]), sent, message_id=key)


def _person(owner: str, value: Mapping[str, Any]) -> str:
    """Return who did something, by number."""
    number = str(value.get("senderId") or "unknown")
    return "me" if owner and number == owner else number
