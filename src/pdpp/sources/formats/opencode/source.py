"""OpenCode: sessions in a database, and before version 1.2 in a folder of small documents.

What the rows of version 2 hold is told in ``version_two``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.agent_log import EMPTY, home_of
from pdpp.sources.formats.agent_talk import AgentTalk
from pdpp.sources.formats.agent_tokens import Tokens, summed
from pdpp.sources.formats.opencode import version_two
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.sqlitefile import (
    Columns,
    SqliteCopy,
    columns_of,
    databases,
    open_database,
)
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_TABLES = {
    "session": frozenset({"id", "title", "time_created"}),
    "message": frozenset({"id", "session_id", "data"}),
    "part": frozenset({"id", "message_id", "data"}),
}
_LOOKED_AT = 20
_LARGEST = 32 << 20
_QUIET = frozenset(
    {"step-start", "step-finish", "snapshot", "patch", "compaction", "agent", "retry"}
)
_SESSION_PATHS = frozenset({"info.id", "info.time.created"})
_MESSAGE_PATHS = (
    frozenset({"messages.item.parts"}),
    frozenset({"messages.item.type", "messages.item.time.created"}),
)
"""What messages have that version 1 wrote, and those of version 2."""


class OpenCode(Source):
    """The folder ``~/.local/share/opencode``, its database, or sessions that it exported."""

    connector_key = "opencode"
    lies_among_others = True
    label = "OpenCode"
    in_place = True
    passed_over = MappingProxyType(
        {
            "*-shm": "an index that the program builds anew",
            "auth.json": "secrets, which are never read",
            "*.log": "what the program logged",
            "storage/project/*": "the list of projects",
            "*/storage/project/*": "the list of projects",
            "storage/session_diff/*": "changes of files",
            "*/storage/session_diff/*": "changes of files",
            "storage/migration": "a mark of the program",
            "*/storage/migration": "a mark of the program",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for the database, and for documents of sessions with their messages."""
        names = [entry.name for entry in databases(tree) if _is_ours(tree, entry)]
        documents = [entry.name for entry in tree.named("ses_*.json") if _is_session(entry)]
        exports = [entry.name for entry in tree.entries if _is_written_export(entry)]
        if not names and not documents and not exports:
            return None
        kinds = (("a database", names), ("documents", documents), ("exported sessions", exports))
        version = " and ".join(words for words, some in kinds if some)
        detail = {"databases": names, "documents": documents, "exports": exports}
        return Recognition(
            Confidence.CERTAIN,
            version,
            account=self.label,
            identity=home_of(_directories(tree, names, documents)),
            owner_known=False,
            detail=detail,
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return a part for each session of the folder, then one for each database."""
        files_by_folder: dict[str, list[FileEntry]] = {}
        for entry in tree.entries:
            if entry.suffix == ".json":
                files_by_folder.setdefault(entry.name.rpartition("/")[0], []).append(entry)
        for entry in tree.these(recognition.detail["documents"]):
            yield ExportPart(entry, partial(_read_folder, entry, files_by_folder))
        for entry in tree.these(recognition.detail["exports"]):
            yield ExportPart(entry, partial(_read_export, entry))
        for entry in tree.these(recognition.detail["databases"]):
            yield ExportPart(entry, partial(_read_database, tree, entry))

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the folders of messages and what they are made of, beside those of sessions."""
        sessions = recognition.detail["documents"]
        tops = {f"/{name}".rpartition("/session/")[0] for name in sessions}
        kinds = ("session", "message", "part")
        return [f"{top}/{kind}".lstrip("/") for top in tops for kind in kinds]


def _directories(tree: Tree, databases: list[str], documents: list[str]) -> Iterator[object]:
    """Yield the folders that some sessions worked in."""
    for entry in tree.these(documents[:_LOOKED_AT]):
        with suppress(DamagedFile):
            yield _document(entry).get("directory")
    for entry in tree.these(databases):
        with suppress(DamagedFile), open_database(tree, entry, whole=False) as database:
            for table in _session_tables(database.columns):
                picked = database.pick(table, "s", "directory")
                for row in database.rows(f"SELECT {picked} FROM {table} AS s LIMIT {_LOOKED_AT}"):
                    yield row["directory"]


def _is_ours(tree: Tree, entry: FileEntry) -> bool:
    return bool(_session_tables(columns_of(tree, entry)))


def _session_tables(columns: Columns) -> list[str]:
    """Return the tables of sessions that a database has, that of the newest version first."""
    versions = {"session_v2": version_two.TABLES, "session": _TABLES}
    return [table for table, tables in versions.items() if _has_tables(columns, tables)]


def _has_tables(columns: Columns, tables: Mapping[str, frozenset[str]]) -> bool:
    return all(columns.get(name, frozenset()) >= wanted for name, wanted in tables.items())


def _is_session(entry: FileEntry) -> bool:
    return "/session/" in f"/{entry.name}" and b'"time"' in entry.head()


def _is_written_export(entry: FileEntry) -> bool:
    """Tell whether a file is what ``opencode export`` writes: a session in one document."""
    head = entry.head(1 << 12)
    if entry.suffix != ".json" or b'"info"' not in head:
        return False
    # A document that lacks a path is read to its end, so what is likelier is looked for first.
    versions = _MESSAGE_PATHS[::-1] if b'"location"' in head else _MESSAGE_PATHS
    return json_paths(entry, _SESSION_PATHS) >= _SESSION_PATHS and any(
        json_paths(entry, paths) >= paths for paths in versions
    )


def _read_export(entry: FileEntry) -> Iterator[Finding]:
    about: Mapping[str, Any] = {}
    talk = AgentTalk(entry.base.removesuffix(".json"))
    with entry.open() as stream:
        for element in elements(stream, "info", "messages.item"):
            if isinstance(element, Skipped):
                yield element
            elif element.path == "info" and isinstance(element.value, dict):
                about, talk = element.value, _talk_of(element.value, entry)
            else:
                where = f"{entry.name} message {element.number}"
                yield from account(_exported(element.value, talk, where), where, "message")
    yield _talk_record(talk, about, entry.name)


def _exported(value: Mapping[str, Any], talk: AgentTalk, where: str) -> Iterator[Finding]:
    if "parts" not in value:
        kind, name = str(value["type"]), str(value["id"])
        yield from _whole_message(kind, name, partial(_same, value), None, talk, where)
        return
    about = value["info"]
    parts = [
        (str(part.get("id") or number), partial(_same, part))
        for number, part in enumerate(value["parts"])
    ]
    yield from _message(str(about["id"]), partial(_same, about), parts, talk, where)


def _same(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return value


def _talk_of(about: Mapping[str, Any], entry: FileEntry) -> AgentTalk:
    session = str(about.get("id") or entry.base.removesuffix(".json"))
    location = about.get("location")
    place = location if isinstance(location, dict) else about
    talk = AgentTalk(session, project=place.get("directory"), version=about.get("version"))
    talk.title = str(about.get("title") or "")
    return talk


def _talk_record(talk: AgentTalk, about: Mapping[str, Any], where: str) -> Finding:
    time = about.get("time")
    moments = time if isinstance(time, dict) else {}
    return _record(talk, moments.get("created"), moments.get("updated"), where)


def _read_folder(
    entry: FileEntry, files_by_folder: Mapping[str, list[FileEntry]]
) -> Iterator[Finding]:
    """Read a session's document, its messages and their parts, each a file of its own."""
    about = _document(entry)
    session = str(about.get("id") or entry.base.removesuffix(".json"))
    talk = _talk_of(about, entry)
    top = f"/{entry.name}".rpartition("/session/")[0][1:]
    prefix = f"{top}/" if top else ""
    parts_of = "{prefix}part/{name}"
    if entry.name.startswith(f"{prefix}session/info/"):
        # Before 2025-08 each project had a folder, with everything below ``session``.
        prefix, parts_of = f"{prefix}session/", "{prefix}part/{session}/{name}"
    for file in files_by_folder.get(f"{prefix}message/{session}", []):
        name = file.base.removesuffix(".json")
        place = parts_of.format(prefix=prefix, session=session, name=name)
        parts = [
            (part.base.removesuffix(".json"), partial(_document, part))
            for part in files_by_folder.get(place, [])
        ]
        reading = _message(name, partial(_document, file), parts, talk, file.name)
        yield from account(reading, file.name, "message")
    yield _talk_record(talk, about, entry.name)


def _record(talk: AgentTalk, created: object, updated: object, where: str) -> Finding:
    return talk.record(_moment(created), _moment(updated)) or Skipped(
        "a session without messages", where
    )


def _document(entry: FileEntry) -> Mapping[str, object]:
    with entry.open() as stream:
        return _parsed(stream.read(_LARGEST))


def _parsed(content: bytes | str) -> Mapping[str, object]:
    try:
        value = read_json(content if isinstance(content, bytes) else content.encode())
    except NotJson as problem:
        raise DamagedFile(f"it is {problem}") from None
    if not isinstance(value, dict):
        raise DamagedFile("it is not an object")
    return value


def _read_database(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    known: set[str] = set()
    with open_database(tree, entry) as database:
        _look_for_columns(database)
        for table in _session_tables(database.columns):
            picked = database.pick(table, "s", "directory", "version", "time_updated")
            sql = f"SELECT s.id, s.title, s.time_created, {picked} FROM {table} AS s ORDER BY s.id"
            for row in [row for row in database.rows(sql) if str(row["id"]) not in known]:
                known.add(str(row["id"]))
                talk = AgentTalk(str(row["id"]), project=row["directory"], version=row["version"])
                talk.title = str(row["title"] or "")
                yield from _messages(database, table, row["id"], talk, entry)
                where = f"{entry.name} session"
                yield _record(talk, row["time_created"], row["time_updated"], where)
        yield from database.lacking()


def _look_for_columns(database: SqliteCopy) -> None:
    """Note what the tables of a version lack, unless its rows were moved to the next one."""
    columns = database.columns
    moved = columns.keys() >= version_two.TABLES.keys()
    for first, tables in (("session", _TABLES), ("session_v2", version_two.TABLES)):
        for table, names in tables.items() if first in columns else ():
            if table in columns or not moved:
                database.has(table, *sorted(names))


def _messages(
    database: SqliteCopy, table: str, session: Any, talk: AgentTalk, entry: FileEntry
) -> Iterator[Finding]:
    """Yield the messages of a session, which a program that was brought up to date has twice.

    Those of the version that wrote the session count; where it has none, those of the other.
    """
    ways = [
        (name, rows, read)
        for name, tables, rows, read in (
            ("session_message", version_two.TABLES, _rows_of_two, _message_of_two),
            ("message", _TABLES, _rows_of_one, _message_of_one),
        )
        if database.columns.get(name, frozenset()) >= tables[name]
    ]
    if table == "session":
        ways.reverse()
    chosen = next((name for name, rows, _ in ways if _any_spoken(rows(database, session))), None)
    for name, rows, read in ways:
        for row in rows(database, session):
            where = f"{entry.name} message {row['id']}"[:120]
            reading = (
                read(database, row, talk, where)
                if name == chosen or chosen is None
                else iter([Skipped("a message that another version keeps too", where)])
            )
            yield from account(reading, where, "message")


def _any_spoken(rows: Iterable[Any]) -> bool:
    return any(row["type"] in version_two.SPOKEN for row in rows)


def _rows_of_one(database: SqliteCopy, session: Any) -> Iterable[Any]:
    sql = "SELECT id, 'user' AS type, data FROM message WHERE session_id = ? ORDER BY id"
    return database.rows(sql, session)


def _message_of_one(
    database: SqliteCopy, row: Any, talk: AgentTalk, where: str
) -> Iterator[Finding]:
    parts = [
        (str(part["id"]), partial(_parsed, part["data"]))
        for part in database.rows(
            "SELECT id, data FROM part WHERE message_id = ? ORDER BY id", row["id"]
        )
    ]
    return _message(str(row["id"]), partial(_parsed, row["data"]), parts, talk, where)


def _rows_of_two(database: SqliteCopy, session: Any) -> Iterable[Any]:
    picked = database.pick("session_message", "m", "seq", "time_created")
    sql = f"SELECT m.id, m.type, m.data, {picked} FROM session_message AS m WHERE m.session_id = ?"
    return database.rows(f"{sql} ORDER BY seq, m.id", session)


def _message_of_two(
    database: SqliteCopy,  # noqa: ARG001 - like a message of version 1
    row: Any,
    talk: AgentTalk,
    where: str,
) -> Iterator[Finding]:
    kind, name, read = str(row["type"]), str(row["id"]), partial(_parsed, row["data"])
    return _whole_message(kind, name, read, row["time_created"], talk, where)


def _whole_message(
    kind: str,
    name: str,
    read: Callable[[], Mapping[str, Any]],
    created: object,
    talk: AgentTalk,
    where: str,
) -> Iterator[Finding]:
    """Yield a message of version 2, which holds everything that it is made of."""
    if reason := version_two.LEFT_OUT.get(kind):
        yield Skipped(reason, where)
        return
    try:
        value = read()
    except DamagedFile as problem:
        yield Skipped("a message that is damaged", f"{where}: {problem.message}", cut=True)
        return
    pieces = version_two.as_parts(kind, name, value)
    if pieces is None:
        yield Unknown("a message of a kind that is not known", f"{where}: {kind[:40]}")
        return
    about = version_two.as_message(kind, value, created)
    parts = [(f"{name}.{number}", partial(_same, part)) for number, part in enumerate(pieces)]
    yield from _message(name, partial(_same, about), parts, talk, where)


def _message(
    name: str, read: Any, parts: list[tuple[str, Any]], talk: AgentTalk, where: str
) -> Iterator[Finding]:
    """Yield one message: its text, its thoughts and the tools that it used."""
    try:
        about, values = read(), [(part, load()) for part, load in parts]
    except DamagedFile as problem:
        yield Skipped("a message that is damaged", f"{where}: {problem.message}", cut=True)
        return
    time = about.get("time")
    at = _moment(time.get("created") if isinstance(time, dict) else None)
    if at is None:
        yield Unknown("a message without a time", where)
        return
    _count(name, about, [value for _, value in values], talk)
    said = False
    texts: dict[str, list[str]] = {"reasoning": [], "text": []}
    for part, value in values:
        kind = value.get("type")
        if kind in texts:
            texts[kind].append(str(value.get("text") or ""))
        elif kind == "subtask":
            texts["text"].append(f"{value.get('description') or ''}\n{value.get('prompt') or ''}")
        elif kind == "file":
            texts["text"].append(f"[file {value.get('filename') or value.get('mime') or ''}]")
        elif kind == "tool":
            said = True
            yield from _tool(part, value, talk, at)
        elif kind not in _QUIET:
            said = True
            yield Skipped("a part that is no text", f"{where}: {str(kind)[:40]}")
    role, model = str(about.get("role") or "assistant"), about.get("modelID")
    for kind, speaker in (("reasoning", "reasoning"), ("text", role)):
        if text := "\n\n".join(filter(None, texts[kind])).strip():
            said = True
            suffix = ".thoughts" if kind == "reasoning" else ""
            yield talk.message(name + suffix, speaker, text, at, model if not suffix else None)
    if not said:
        yield Skipped(EMPTY, where)


def _count(
    name: str, about: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], talk: AgentTalk
) -> None:
    """Count what an answer took: each of its steps tells it, and it tells its last step's."""
    steps = [part.get("tokens") for part in parts if part.get("type") == "step-finish"]
    for number, told in enumerate(steps if any(steps) else [about.get("tokens")]):
        cache = told.get("cache") if isinstance(told, Mapping) else None
        into, out = summed(told, "input"), summed(told, "output", "reasoning")
        cached = summed(cache, "read")
        taken = Tokens(into + cached + summed(cache, "write"), cached, out)
        talk.tokens.take(f"{name} {number}", taken)


def _tool(part: str, value: Mapping[str, object], talk: AgentTalk, at: str) -> Iterator[Finding]:
    state = value.get("state")
    state = state if isinstance(state, dict) else {}
    name = str(value.get("callID") or part)
    result = state.get("output") or state.get("error")
    yield from talk.tool(name, value.get("tool"), state.get("input"), result, at)


def _moment(milliseconds: Any) -> str | None:
    given = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return epoch_text(milliseconds / 1000) if given else None
