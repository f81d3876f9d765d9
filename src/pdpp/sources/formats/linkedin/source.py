"""LinkedIn archives: messages, connections, posts and comments as tables, articles as pages."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from html import unescape
from types import MappingProxyType

from pdpp.sources.formats.csv_archive import (
    Cells,
    KnownTables,
    TableKind,
    expected_files,
    find_columns,
    numbered,
    plain,
    utc_text,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals, RecordKey, digest_key
from pdpp.sources.reading.csvtable import rows
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.named_days import american_day_in
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import ExportPart, Recognition

_YES = frozenset({"true", "yes", "1"})
_LARGEST = 16 << 20
_WRITTEN = re.compile(r'<p class="(?:created|published)">[^<]*?(\d{4}-\d\d-\d\d \d\d:\d\d)')
_TIMES = re.compile(r'<p class="(?:created|published)">[^<]*</p>')
_ADDRESS = re.compile(r'<h1>\s*<a href="([^"]+)"')
"""How the page of an article says when it was written, and where it stands."""


def _message(ordinals: Ordinals, cells: Cells, where: str) -> Iterator[Finding]:
    sent = utc_text(cells["date"])
    if sent is None:
        yield Unknown("a message without a time", where)
        return
    text = cells["content"]
    if text.startswith("<") and text.endswith(">"):
        text = html_text(text, levels=False)
    files = cells.get("attachments", "")
    if not text and not cells.get("subject") and not files:
        yield Skipped("an empty message", where)
        return
    conversation = digest_key("conversation", cells["conversation id"])
    # Somebody who left is called "LinkedIn Member" from then on: people who say the same at once
    # are counted, and not named.
    key = digest_key("message", cells["conversation id"], cells["date"], text or files)
    if ordinals.number(sent, f"{key} {cells['from']}") > 1:
        yield Skipped("a message that stands in the table twice", where)
        return
    if (number := ordinals.number(sent, key)) > 1:
        key = RecordKey(f"{key}-{number}")
    names = {cells["from"], *cells.get("to", "").split(",")}
    data = {
        "id": key,
        "conversation_id": conversation,
        "conversation": cells.get("conversation title") or ", ".join(sorted(filter(None, names))),
        "sender": cells["from"] or None,
        "recipients": cells.get("to") or None,
        "subject": cells.get("subject") or None,
        "text": text or cells.get("subject") or "[files]",
        "files": files or None,
        "draft": True if cells.get("is message draft", "").lower() in _YES else None,
        "folder": cells.get("folder") or None,
        "link": cells.get("sender profile url") or None,
        "sent_at": sent,
    }
    yield Item("messages", key, present(data))


def _message_of_2018(cells: Cells, where: str) -> Iterator[Finding]:
    """Yield a message of an archive that names no conversations, and no tags that a text had."""
    sent, text = _clock_text(cells["date"]), unescape(cells["content"])
    subject = unescape(cells["subject"])
    if sent is None:
        yield Unknown("a message without a time", where)
        return
    if not text and not subject:
        yield Skipped("an empty message", where)
        return
    sender, recipient = cells["from"], cells["to"]
    key = digest_key("message", cells["date"], sender, recipient, text or subject)
    data = {
        "id": key,
        "conversation_id": digest_key("conversation", *sorted((sender, recipient))),
        "sender": sender,
        "recipients": recipient,
        "subject": subject,
        "text": text or subject,
        "folder": cells["folder"],
        "sent_at": sent,
    }
    # Of an account that is gone nothing may be said.
    conversation = ", ".join(sorted(filter(None, (sender, recipient))))
    yield Item("messages", key, {**present(data, ""), "conversation": conversation})


def _invitation(cells: Cells, where: str) -> Iterator[Finding]:
    text, sent = cells["message"], _clock_text(cells["sent at"])
    if not text:
        yield Skipped("an invitation without words", where)
        return
    if sent is None:
        yield Unknown("an invitation without a time", where)
        return
    sender, recipient = cells["from"], cells["to"]
    key = digest_key("invitation", cells["sent at"], sender, recipient, text)
    data = {
        "id": key,
        "conversation_id": digest_key("invitation", *sorted((sender, recipient))),
        "conversation": f"Invitation: {sender}, {recipient}",
        "sender": sender or None,
        "recipients": recipient or None,
        "text": text,
        "folder": "INVITATIONS",
        "link": cells.get("inviterprofileurl") or None,
        "sent_at": sent,
    }
    yield Item("messages", key, present(data))


def _recommendation(given: bool, cells: Cells, where: str) -> Iterator[Finding]:
    """Yield what somebody wrote to recommend somebody; it is told as a message between them."""
    text, sent = cells["text"], _clock_text(cells["creation date"])
    if sent is None or not text:
        yield Unknown("a recommendation without a time or a text", where)
        return
    name = " ".join(filter(None, (cells["first name"], cells["last name"])))
    key = digest_key("recommendation", str(given), cells["creation date"], name, text)
    data = {
        "id": key,
        "conversation_id": digest_key("recommendation", name),
        "conversation": f"Recommendation: {name}",
        "sender": None if given else name,
        "recipients": name if given else None,
        "text": text,
        "folder": "RECOMMENDATIONS",
        "sent_at": sent,
    }
    yield Item("messages", key, present(data, ""))


def _clock_text(text: str) -> str | None:
    """Return a time as older tables write it, month first."""
    for form in ("%m/%d/%y, %I:%M %p", "%m/%d/%Y, %I:%M %p", "%m/%d/%Y %H:%M"):
        with suppress(ValueError):
            return utc_text(datetime.strptime(text.replace("\u202f", " "), form).isoformat())  # noqa: DTZ007
    return utc_text(text)


def _person(ordinals: Ordinals, cells: Cells, where: str) -> Iterator[Finding]:
    name = " ".join(filter(None, (cells["first name"], cells["last name"])))
    if not name:
        yield Skipped("a connection whose account is gone", where)
        return
    since = _day(cells["connected on"])
    # Before 2020 there is no address of the profile. The day stays; what else is shown of somebody
    # changes from one archive to the next, and two people of one name may come on one day.
    other, link = since or cells.get("email address", ""), cells.get("url")
    key = digest_key("person", link) if link else ordinals.key("person", name, other)
    data = {
        "id": key,
        "name": name,
        "company": cells.get("company") or None,
        "position": cells.get("position") or None,
        "email": cells.get("email address") or None,
        "link": cells.get("url") or None,
        "since": since,
    }
    yield Item("people", key, present(data))
    if since is None and cells["connected on"]:
        yield Skipped("the day of a connection, which cannot be read", where)


def _day(text: str) -> str | None:
    """Return a day as the table of connections writes it, until 2018 with the time."""
    with suppress(ValueError):
        return datetime.strptime(text, "%d %b %Y").date().isoformat()  # noqa: DTZ007
    moment = _clock_text(text)
    return moment[: len("2018-01-31")] if moment else None


def _post(kind: str, text_column: str, link: str, cells: Cells, where: str) -> Iterator[Finding]:
    # Each line of a post stands in quotes of its own, inside those of the cell.
    text = cells[text_column].replace('"\n"', "\n").replace('""', '"').strip()
    posted = utc_text(cells["date"])
    if posted is None:
        yield Unknown("a post without a time", where)
        return
    if not text:
        yield Skipped("a post without words, such as something shared", where)
        return
    key = digest_key(kind, cells["date"], cells.get(link) or text)
    data = {"id": key, "kind": kind, "text": text, "link": cells.get(link) or None}
    yield Item("posts", key, present({**data, "posted_at": posted}))


def _read_article(entry: FileEntry) -> Iterator[Finding]:
    return account(_article(entry), entry.name, "article")


def _article(entry: FileEntry) -> Iterator[Finding]:
    """Yield an article, which is a page: its title, when it was written, and its text."""
    with entry.open() as stream:
        page = stream.read(_LARGEST).decode("utf-8", "replace")
    moment = _WRITTEN.search(page)
    written = utc_text(moment[1]) if moment else None
    if written is None:
        yield Unknown("an article without a time", entry.name)
        return
    link = _ADDRESS.search(page)
    text = html_text(_TIMES.sub("", page))
    key = digest_key("article", link[1] if link else f"{written} {entry.base}")
    data = {"id": key, "kind": "article", "text": text, "link": unescape(link[1]) if link else None}
    yield Item("posts", key, present({**data, "posted_at": written}))


_KINDS = (
    TableKind(
        # Besides messages.csv there are those with coaches and guides, in the same columns.
        "*[Mm]essages*.csv",
        frozenset({"conversation id", "from", "date", "content"}),
        "message",
        numbered(_message),
    ),
    TableKind(
        "*[Mm]essages*.csv",
        frozenset({"from", "to", "date", "subject", "content", "direction", "folder"}),
        "message",
        plain(_message_of_2018),
    ),
    TableKind(
        "Invitations*.csv",
        frozenset({"from", "to", "sent at", "message"}),
        "invitation",
        plain(_invitation),
    ),
    *(
        TableKind(
            f"Recommendations_{name}*.csv",
            frozenset({"first name", "last name", "text", "creation date"}),
            "recommendation",
            plain(partial(_recommendation, name == "Given")),
        )
        for name in ("Received", "Given")
    ),
    TableKind(
        "Connections*.csv",
        frozenset({"first name", "last name", "connected on"}),
        "person",
        numbered(_person),
    ),
    TableKind(
        "Shares*.csv",
        frozenset({"date", "sharelink", "sharecommentary"}),
        "post",
        plain(partial(_post, "post", "sharecommentary", "sharelink")),
    ),
    TableKind(
        "Comments*.csv",
        frozenset({"date", "link", "message"}),
        "comment",
        plain(partial(_post, "comment", "message", "link")),
    ),
)


class LinkedIn(KnownTables):
    """The zip that LinkedIn hands out, the quick one or the whole one."""

    connector_key = "linkedin"
    own_folders = (
        "Jobs",
        "Articles",
        "Verifications",
        "Rich*Media",
        "Media*",
    )
    owner_files = ("Profile.csv",)
    label = "LinkedIn"
    lies_among_others = False
    kinds = _KINDS
    passed_over = MappingProxyType(
        {
            **expected_files(_KINDS),
            "Profile*.csv": "what the profile says",
            "*.csv": "a table that holds neither messages, people nor posts",
            "*.html": "a page that is no article",
        }
    )

    def is_telling(self, kind: TableKind) -> bool:
        """Tell whether a table has the columns of LinkedIn; those of the others are common."""
        return kind.noun in ("message", "person")

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return american_day_in(tree.called)

    def owner_name(self, tree: Tree) -> str:
        """Return the name on the profile."""
        for entry in tree.named("Profile.csv"):
            table = find_columns(entry, {"first name", "last name"})
            for row in rows(entry, table) if table is not None else ():
                if table is not None and not isinstance(row, Skipped):
                    cells = dict(zip(table.header, row.cells, strict=True))
                    return f"{cells['first name']} {cells['last name']}".strip()
        return ""

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each table and each article."""
        yield from super().parts(tree, recognition)
        for entry in tree.named("*.html"):
            if "Articles" in entry.name.split("/")[:-1]:
                yield ExportPart(entry, partial(_read_article, entry))
