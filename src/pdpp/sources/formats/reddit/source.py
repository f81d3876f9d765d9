"""Reddit archives: posts, comments, messages, votes and saved things as flat tables."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from pdpp.sources.formats.csv_archive import (
    Cells,
    KnownTables,
    TableKind,
    expected_files,
    plain,
    utc_text,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import OwnerChoices, Recognition

_SUBREDDIT = re.compile(r"/r/([^/]+)/")
_NAME = re.compile(rb"(?m)^account name,\s*\"?([\w-]{2,40})")


def _post(cells: Cells, where: str) -> Iterator[Finding]:
    posted = utc_text(cells["date"])
    if posted is None or not cells["id"]:
        yield Unknown("a post without an id or a time", where)
        return
    key = safe_key("post", cells["id"])
    data = {
        "id": key,
        "title": cells["title"] or "(no title)",
        "text": cells.get("body") or None,
        "subreddit": cells.get("subreddit") or None,
        "link": cells.get("url") or cells.get("permalink") or None,
        "posted_at": posted,
    }
    yield Item("posts", key, present(data))


def _comment(cells: Cells, where: str) -> Iterator[Finding]:
    written = utc_text(cells["date"])
    if written is None or not cells["id"]:
        yield Unknown("a comment without an id or a time", where)
        return
    post = re.search(r"/comments/(\w+)", cells.get("link") or cells["permalink"])
    key = safe_key("comment", cells["id"])
    parent = cells.get("parent")
    data = {
        "id": key,
        "subreddit": cells.get("subreddit") or None,
        "text": cells["body"] or "[removed]",
        "post_id": safe_key("post", post[1]) if post else None,
        "parent": safe_key("comment", parent) if parent else None,
        "link": cells["permalink"] or None,
        "written_at": written,
    }
    yield Item("comments", key, present(data))


def _message(cells: Cells, where: str) -> Iterator[Finding]:
    sent = utc_text(cells["date"])
    if sent is None or not cells["id"]:
        yield Unknown("a message without an id or a time", where)
        return
    if not cells["body"] and not cells.get("subject"):
        yield Skipped("an empty message", where)
        return
    key = safe_key("message", cells["id"])
    thread = cells.get("thread_id")
    data = {
        "id": key,
        "thread_id": safe_key("thread", thread) if thread else None,
        "subject": cells.get("subject") or None,
        "sender": cells.get("from") or None,
        "recipient": cells.get("to") or None,
        "text": cells["body"] or cells.get("subject", ""),
        "sent_at": sent,
    }
    yield Item("messages", key, present(data))


def _chat(cells: Cells, where: str) -> Iterator[Finding]:
    sent = utc_text(cells["created_at"])
    if sent is None or not cells["message_id"]:
        yield Unknown("a chat message without an id or a time", where)
        return
    if not cells["message"]:
        yield Skipped("an empty message", where)
        return
    key = safe_key("chat", cells["message_id"])
    channel = cells.get("channel_url")
    data = {
        "id": key,
        "thread_id": safe_key("thread", channel) if channel else None,
        "subject": cells.get("channel_name") or cells.get("subreddit") or None,
        "sender": cells.get("username") or None,
        "text": cells["message"],
        "sent_at": sent,
    }
    yield Item("messages", key, present(data))


def _vote(about: str, kind: str, cells: Cells, where: str) -> Iterator[Finding]:
    if not cells["id"]:
        yield Unknown("a vote without an id", where)
        return
    direction = {"up": "upvote", "down": "downvote"}.get(cells.get("direction", ""), kind)
    key = safe_key(kind, about, cells["id"])
    link = cells["permalink"]
    match = _SUBREDDIT.search(link)
    words = link.rstrip("/").rpartition("/")[2].replace("_", " ") if link else ""
    data = {
        "id": key,
        "title": words or cells["id"],
        "kind": direction,
        "about": about,
        "subreddit": match[1] if match else None,
        "link": link or None,
    }
    yield Item("votes", key, present(data))


_ID = frozenset({"id", "permalink"})
_DATED = _ID | {"date"}
_KINDS = (
    TableKind("posts*.csv", _DATED | {"subreddit", "title"}, "post", plain(_post)),
    TableKind("comments*.csv", _DATED | {"subreddit", "body"}, "comment", plain(_comment)),
    TableKind("messages*.csv", _DATED | {"from", "body"}, "message", plain(_message)),
    TableKind(
        "chat_history*.csv",
        frozenset({"message_id", "created_at", "message"}),
        "chat message",
        plain(_chat),
    ),
    TableKind(
        "post_votes*.csv", _ID | {"direction"}, "vote", plain(partial(_vote, "post", "vote"))
    ),
    TableKind(
        "comment_votes*.csv", _ID | {"direction"}, "vote", plain(partial(_vote, "comment", "vote"))
    ),
    TableKind("saved_posts*.csv", _ID, "vote", plain(partial(_vote, "post", "saved"))),
    TableKind("saved_comments*.csv", _ID, "vote", plain(partial(_vote, "comment", "saved"))),
    TableKind("hidden_posts*.csv", _ID, "vote", plain(partial(_vote, "post", "hidden"))),
)


class Reddit(KnownTables):
    """The zip that Reddit hands out."""

    connector_key = "reddit"
    owner_files = ("statistics.csv",)
    label = "Reddit"
    lies_among_others = False
    kinds = _KINDS
    passed_over = MappingProxyType(
        {
            "*_headers.csv": "the same without texts",
            **expected_files(_KINDS),
            "ip_logs*.csv": "addresses of your devices",
            "drafts*.csv": "what you wrote and did not post",
            "scheduled_posts*.csv": "what you wrote and did not post yet",
            "announcements*.csv": "what Reddit told everybody",
            "*.csv": "a table that holds neither texts nor votes",
        }
    )

    def is_telling(self, kind: TableKind) -> bool:
        """Tell whether a table has columns that only Reddit writes."""
        return bool(kind.columns & {"subreddit", "direction"})

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in(tree.called)

    def owner_name(self, tree: Tree) -> str:
        """Return the name of the account."""
        match = next((_NAME.search(entry.head()) for entry in self.owner_entries(tree)), None)
        return match[1].decode() if match else ""

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for tables by their columns; capitals make no other account."""
        seen = super().recognise(tree, choices)
        return seen and replace(seen, identity=seen.identity.lower())
