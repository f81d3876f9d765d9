"""Cursor: the conversations in the editor's state database, in the layouts of several years.

Chats of the command line are read in ``command_line``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.sources.formats.agent_log import EMPTY
from pdpp.sources.formats.agent_talk import AgentTalk
from pdpp.sources.formats.agent_tokens import Tokens, summed
from pdpp.sources.formats.cursor.command_line import chat_stores, read_store
from pdpp.sources.formats.cursor.values import member, moment, parsed, parsed_object
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.sqlitefile import SqliteCopy, columns_of, databases, open_database
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)

_OLD_KEY = "workbench.panel.aichat.view.aichat.chatdata"
_OLD_COMPOSERS = "composer.composerData"
_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"
_NO_TALK = "a row of the editor's state that is no conversation"
_TIMES = ("createdAt", "lastUpdatedAt")
_USER = 1
_ANY_MODEL = "default"
"""What stands for a model that the program chooses itself."""

_MOST_COMPARED = 1_000
"""Pieces of code of one message that are looked for in its words."""
_TRANSCRIPTS = "agent-transcripts"
_ONLY_TRANSCRIPTS = (
    "these are transcripts of Cursor, which have no times and not all of a chat; import the folder "
    "User/globalStorage of Cursor's settings instead (on Linux in ~/.config/Cursor, on a Mac in "
    "~/Library/Application Support/Cursor), or ~/.cursor/chats for the command line"
)


class Cursor(Source):
    """``state.vscdb`` of ``User/globalStorage`` or workspaces, and ``~/.cursor/chats``."""

    connector_key = "cursor"
    lies_among_others = True
    label = "Cursor"
    in_place = True
    passed_over = MappingProxyType(
        {
            "*-shm": "an index that the program builds anew",
            "*.backup": "a copy that the editor keeps",
            "storage.json": "settings",
            "workspace.json": "the folder of a workspace",
            "*/agent-transcripts/*": "chats once more, without times",
            "prompt_history.json": "what was typed, which the chats hold too",
            "cli-config.json": "settings",
        }
    )

    def recognise(
        self,
        tree: Tree,
        choices: OwnerChoices,  # noqa: ARG002
    ) -> Recognition | ExportRefusal | None:
        """Look for databases with the editor's tables and a conversation in them."""
        # The editor has one for each folder that was ever opened, which may be hundreds.
        states = dict.fromkeys((*databases(tree), *tree.named("*.vscdb")))
        names = [entry.name for entry in states if _has_talks(tree, entry)]
        chats = [entry.name for entry in chat_stores(tree)]
        if not names and not chats:
            refusal = ExportRefusal(_ONLY_TRANSCRIPTS, lies_among_others=True)
            return refusal if _has_transcripts(tree) else None
        state = "the editor's state" if len(names) == 1 else f"{len(names)} states of the editor"
        told = [state] * bool(names)
        told += [f"{counted(len(chats), 'chat')} of the command line"] * bool(chats)
        version = " and ".join(told)
        detail = {"databases": names, "chats": chats}
        return Recognition(
            Confidence.CERTAIN, version, account=self.label, owner_known=False, detail=detail
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each database."""
        for entry in tree.these(recognition.detail["databases"]):
            yield ExportPart(entry, partial(_read, tree, entry))
        for entry in tree.these(recognition.detail["chats"]):
            yield ExportPart(entry, partial(read_store, tree, entry))


def _has_transcripts(tree: Tree) -> bool:
    """Tell whether some files are what Cursor writes beside its chats, or one of them."""
    around = tree.path.parts if tree.kind != "zip" else ()
    return any(
        entry.suffix in (".jsonl", ".txt") and _TRANSCRIPTS in (*around, *entry.name.split("/"))
        for entry in tree.entries
    )


def _has_talks(tree: Tree, entry: FileEntry) -> bool:
    columns = columns_of(tree, entry)
    if columns.get("cursorDiskKV", frozenset()) >= {"key", "value"}:
        return True
    if not columns.get("ItemTable", frozenset()) >= {"key", "value"}:
        return False
    with open_database(tree, entry) as database:
        sql = "SELECT 1 AS held FROM ItemTable WHERE key IN (?, ?)"
        return any(database.rows(sql, _OLD_KEY, _OLD_COMPOSERS))


def _read(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    with open_database(tree, entry) as database:
        if "cursorDiskKV" in database.columns:
            yield from _read_rows(database, entry)
        if "ItemTable" in database.columns:
            yield from _read_old(database, entry)
            yield from _read_old_composers(database, entry)
        yield from database.lacking()


def _read_rows(database: SqliteCopy, entry: FileEntry) -> Iterator[Finding]:
    """Read conversation after conversation, then count the rows that belong to none."""
    sql = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key"
    headings = _headings(database)
    known: set[str] = set()
    for row in database.rows(sql, _COMPOSER, f"{_COMPOSER}\uffff"):
        name = str(row["key"]).removeprefix(_COMPOSER)
        known.add(name)
        told = parsed_object(row["value"])
        heading = headings.get(name, {})
        value = {**told, **{key: told.get(key) or held for key, held in heading.items()}}
        yield from _whole(database, name, value, entry)
    for name in sorted(headings.keys() - known):
        if any(_stored(database, name)):
            known.add(name)
            yield from _whole(database, name, headings[name], entry)
            continue
        where = f"{entry.name} {name}"[:120]
        skipped = Skipped("a conversation of which only the heading is there", where)
        yield from account([skipped], where, "row")
    for row in database.rows("SELECT key FROM cursorDiskKV ORDER BY key"):
        key = str(row["key"])
        if key.startswith(_COMPOSER) or _owner(key) in known:
            continue
        where = f"{entry.name} {key}"[:80]
        lost = key.startswith(_BUBBLE)
        skipped = Skipped("a message of a conversation that is gone" if lost else _NO_TALK, where)
        yield from account([skipped], where, "row")


def _whole(
    database: SqliteCopy, name: str, value: Mapping[str, object], entry: FileEntry
) -> Iterator[Finding]:
    """Yield a conversation and its messages."""
    where = f"{entry.name} {name}"[:120]
    yield from account(_composer(database, name, value, where), where, "row")
    yield from _bubbles(database, name, value, entry)


def _stored(database: SqliteCopy, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the messages of a conversation that are rows of their own, with their ids."""
    prefix = f"{_BUBBLE}{name}:"
    sql = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ?"
    for row in database.rows(sql, prefix, f"{prefix}\uffff"):
        yield str(row["key"]).removeprefix(prefix), parsed_object(row["value"])


def _headings(database: SqliteCopy) -> dict[str, Mapping[str, object]]:
    """Return what versions since 2026 tell of a conversation in a table of its own.

    Its name, its folder and its times may stand there alone.
    """
    headings: dict[str, Mapping[str, object]] = {}
    table = "composerHeaders"
    if table in database.columns and database.has(table, "composerId", "value"):
        picked = database.pick(table, "h", "composerId", "value", *_TIMES, maybe=frozenset(_TIMES))
        for row in database.rows(f"SELECT {picked} FROM composerHeaders AS h"):
            times = {name: row[name] for name in _TIMES if row[name]}
            headings[str(row["composerId"])] = {**times, **parsed_object(row["value"])}
    return headings


def _owner(key: str) -> str | None:
    return key.split(":")[1] if key.startswith(_BUBBLE) and key.count(":") > 1 else None


def _composer(
    database: SqliteCopy, name: str, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    """Yield a conversation, and its messages where they stand in it themselves."""
    stored = list(_stored(database, name))
    created = _started(value, [bubble for _, bubble in stored])
    if created is None:
        yield Skipped("a conversation without messages", where)
        return
    talk = _talk(name, value)
    for number, bubble in enumerate(_inline(value)):
        yield from _bubble(bubble, str(bubble.get("bubbleId") or number), created, talk, where)
    for bubble_id, bubble in stored:
        at = moment(bubble.get("createdAt")) or created
        _count(bubble, bubble_id, talk)
        if thought := _thought(bubble):
            talk.message(f"{bubble_id}.thoughts", "reasoning", thought, at)
        if text := _text(bubble):
            talk.message(bubble_id, _role(bubble), text, at)
    yield talk.record(created, moment(value.get("lastUpdatedAt"))) or Skipped(
        "a conversation without messages", where
    )


def _inline(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages that stand in a conversation itself, as a list or by their ids."""
    listed, mapped = value.get("conversation"), value.get("conversationMap")
    bubbles = list(listed) if isinstance(listed, list) else []
    if isinstance(mapped, dict):
        bubbles += [
            {"bubbleId": bubble_id, **bubble}
            for bubble_id, bubble in mapped.items()
            if isinstance(bubble, dict)
        ]
    return bubbles


def _started(value: Mapping[str, Any], stored: Sequence[Mapping[str, Any]]) -> str | None:
    """Return when a conversation began: as it says, or else as its messages say."""
    for holder, name in (
        (value, "createdAt"),
        *((bubble, "createdAt") for bubble in (*stored, *_inline(value))),
        (value, "lastUpdatedAt"),
    ):
        if (began := moment(holder.get(name))) is not None:
            return began
    return None


def _bubbles(
    database: SqliteCopy, name: str, value: Mapping[str, Any], entry: FileEntry
) -> Iterator[Finding]:
    """Yield the messages that are rows of their own, in the order of the conversation."""
    headers = value.get("fullConversationHeadersOnly")
    listed = [
        str(header.get("bubbleId"))
        for header in (headers if isinstance(headers, list) else ())
        if isinstance(header, dict)
    ]
    places = {bubble: number for number, bubble in enumerate(listed)}
    talk = _talk(name, value)
    bubbles = dict(_stored(database, name))
    created = _started(value, list(bubbles.values())) or ""
    for bubble in sorted(bubbles, key=lambda name: (places.get(name, len(places)), name)):
        where = f"{entry.name} {name} {bubble}"[:120]
        reading = _bubble(bubbles[bubble], bubble, created, talk, where)
        yield from account(reading, where, "row")


def _talk(name: str, value: Mapping[str, object]) -> AgentTalk:
    place = member(value, "workspaceIdentifier", "uri", "fsPath")
    model = member(value, "modelConfig", "modelName")
    talk = AgentTalk(name, project=place, model=None if model == _ANY_MODEL else model)
    talk.title = str(value.get("name") or "")
    return talk


def _bubble(
    value: Mapping[str, object], name: str, created: str, talk: AgentTalk, where: str
) -> Iterator[Finding]:
    at, text = moment(value.get("createdAt")) or created, _text(value)
    if not at:
        yield Unknown("a message without a time", where)
        return
    _count(value, name, talk)
    tool = value.get("toolFormerData")
    used_tool = tool.get("name") or tool.get("tool") if isinstance(tool, dict) else None
    thought = _thought(value)
    if thought:
        yield talk.message(f"{name}.thoughts", "reasoning", thought, at)
    if text:
        model = value.get("modelInfo")
        used = model.get("modelName") if isinstance(model, dict) else None
        yield talk.message(name, _role(value), text, at, used)
    if isinstance(tool, dict) and used_tool:
        given = tool.get("rawArgs") or tool.get("params")
        result = tool.get("result") or tool.get("error")
        yield from talk.tool(name, used_tool, parsed(given) or given, result, at)
    elif not text and not thought and not value.get("images"):
        encrypted = member(value, "thinking", "signature")
        yield Skipped("reasoning that is encrypted" if encrypted else EMPTY, where)
    if value.get("images"):
        yield Skipped("a picture or file in a message", where)


def _count(value: Mapping[str, object], name: str, talk: AgentTalk) -> None:
    """Count what an answer took; what came from a cache is not told."""
    told = value.get("tokenCount")
    talk.tokens.take(name, Tokens(summed(told, "inputTokens"), 0, summed(told, "outputTokens")))


def _role(value: Mapping[str, object]) -> str:
    return "user" if value.get("type") in (_USER, "user") else "assistant"


def _text(value: Mapping[str, Any]) -> str:
    """Return what a message says; what was typed may stand only as the editor's own document."""
    text = str(value.get("text") or value.get("rawText") or "").strip()
    rich = value.get("richText")
    if not text and isinstance(rich, str) and rich.startswith("{"):
        text = _rich_text(parsed(rich)).strip()
    return "\n\n".join(filter(None, [text, *_code_apart(value, text)]))


def _code_apart(value: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the code of an answer that some versions keep apart from its words."""
    listed = value.get("codeBlocks")
    contents = (
        block.get("content")
        for block in (listed if isinstance(listed, list) else ())
        if isinstance(block, dict)
    )
    codes = dict.fromkeys(code.strip() for code in contents if isinstance(code, str))
    for number, code in enumerate(codes):
        # Whether words hold code takes as long as they are: of a million blocks nobody asks.
        if number >= _MOST_COMPARED or code not in text:
            yield code


def _rich_text(node: Any) -> str:
    """Return the words of a document of the editor, paragraph by paragraph."""
    if not isinstance(node, dict):
        return ""
    if isinstance(node.get("text"), str):
        return str(node["text"])
    if "root" in node:
        return _rich_text(node["root"])
    children = node.get("children")
    texts = [_rich_text(child) for child in (children if isinstance(children, list) else ())]
    return ("\n" if node.get("type") == "root" else "").join(texts)


def _thought(value: Mapping[str, Any]) -> str:
    """Return what the model thought before it spoke, which newer versions keep apart."""
    every = value.get("allThinkingBlocks")
    blocks = [value.get("thinking"), *(every if isinstance(every, list) else ())]
    texts = [str(block.get("text") or "").strip() for block in blocks if isinstance(block, dict)]
    return "\n\n".join(dict.fromkeys(filter(None, texts)))


def _read_old(database: SqliteCopy, entry: FileEntry) -> Iterator[Finding]:
    """Read the chats of 2023 and 2024, one document in a row."""
    for row in database.rows("SELECT value FROM ItemTable WHERE key = ?", _OLD_KEY):
        tabs = parsed_object(row["value"]).get("tabs")
        for number, tab in enumerate(tabs if isinstance(tabs, list) else (), 1):
            where = f"{entry.name} chat {number}"
            yield from account(_tab(tab, where), where, "chat")


def _read_old_composers(database: SqliteCopy, entry: FileEntry) -> Iterator[Finding]:
    """Read the conversations that a workspace kept whole before they moved to one database."""
    for row in database.rows("SELECT value FROM ItemTable WHERE key = ?", _OLD_COMPOSERS):
        composers = parsed_object(row["value"]).get("allComposers")
        for number, value in enumerate(composers if isinstance(composers, list) else (), 1):
            where = f"{entry.name} conversation {number}"
            yield from account(_old_composer(value, where), where, "conversation")


def _old_composer(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    bubbles, created = _inline(value), _started(value, ())
    if not bubbles or created is None:
        yield Skipped("a conversation that is kept in another place", where)
        return
    talk = _talk(str(value["composerId"]), value)
    for number, bubble in enumerate(bubbles):
        yield from _bubble(bubble, str(bubble.get("bubbleId") or number), created, talk, where)
    yield talk.record(created, moment(value.get("lastUpdatedAt"))) or Skipped(
        "a conversation without messages", where
    )


def _tab(tab: Mapping[str, Any], where: str) -> Iterator[Finding]:
    at = moment(tab.get("lastSendTime"))
    if at is None:
        yield Unknown("a chat without a time", where)
        return
    talk = AgentTalk(str(tab["tabId"]))
    talk.title = str(tab.get("chatTitle") or "")
    for number, bubble in enumerate(tab.get("bubbles") or ()):
        yield from _bubble(bubble, str(bubble.get("id") or number), at, talk, where)
    yield talk.record() or Skipped("a conversation without messages", where)
