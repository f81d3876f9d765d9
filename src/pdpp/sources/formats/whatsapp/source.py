"""WhatsApp chats as the phone exports them: one text file each, perhaps with its media in a zip."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from pdpp.evidence.amount import counted
from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.whatsapp.apple_database import TABLES, folders_of_files, read_database
from pdpp.sources.formats.whatsapp.attached import (
    attached_name,
    file_names,
    is_left_out,
    possible_name,
    without_file,
)
from pdpp.sources.formats.whatsapp.chat_names import chat_name
from pdpp.sources.formats.whatsapp.lines import MARKS, ORDERS, ChatLine, OrderGuess, chat_line
from pdpp.sources.formats.whatsapp.renamed_chats import ChatMarks, NamedChat, RenamedChats
from pdpp.sources.formats.whatsapp.repeats import Repeats
from pdpp.sources.formats.whatsapp.years import YearCount, YearGuess
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.sqlitefile import databases_with
from pdpp.sources.reading.structure import candidates
from pdpp.sources.reading.times import local_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    AccountKnowledge,
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
)

_LOOKED_AT = 60
_FEW = 3
_TIMES = ("sent_at", "started_at", "updated_at")
_LONGEST_LINE = 1 << 20
_LONGEST_MESSAGE = 4 << 20
_MOST_HELD = 16 << 20
_BY_PHONE = re.compile(
    r"0\d{7}-.+|(?:IMG|VID|AUD|PTT|STK|DOC)-\d{8}-WA\d{4}.*", re.IGNORECASE | re.DOTALL
)
"""How telephones call the files of a chat: an iPhone numbers them, Android writes the day."""
_TWICE = (
    "a chat that you also export as text is there twice: nothing in the text says which chat of "
    "the database it is"
)
_CUT = "a last line that does not end; the file may be cut off"

_EDITED = re.compile(
    r"\s*\u200e?<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje"
    r"|Ce message a été modifié|Questo messaggio è stato modificato|Mensagem editada"
    r"|Esta mensagem foi editada|Dit bericht is bewerkt)\.?>\s*\Z"
)
_DELETED = frozenset(
    {"This message was deleted", "You deleted this message", "Diese Nachricht wurde gelöscht"}
    | {"Du hast diese Nachricht gelöscht", "Se eliminó este mensaje", "Eliminaste este mensaje"}
    | {"Este mensaje fue eliminado", "Ce message a été supprimé", "Vous avez supprimé ce message"}
    | {"Questo messaggio è stato eliminato", "Hai eliminato questo messaggio", "Mensagem apagada"}
    | {"Esta mensagem foi apagada", "Esta mensagem foi eliminada", "Você apagou esta mensagem"}
    | {"Apagou esta mensagem", "Eliminou esta mensagem", "Dit bericht is verwijderd"}
    | {"Данное сообщение удалено", "Bu mesaj silindi", "הודעה זו נמחקה", "تم حذف هذه الرسالة"}
)
"""What telephones write in place of a message that was taken back, and behind an edited one."""


class WhatsApp(Source):
    """Chats of iPhones and of Android, in any language of the phone."""

    connector_key = "whatsapp"
    collects = True
    label = "WhatsApp chat"
    passed_over = MappingProxyType({"*-shm": "an index that the program builds anew"})
    settings = MappingProxyType(
        {
            "time_zone": "Zone of the phone, such as Europe/Lisbon; chats do not tell it.",
            "date_order": "DMY, MDY or YMD, where the dates of a chat could mean either.",
            "year": "Year of the last message, where a chat tells no years.",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for files whose lines begin as messages do."""
        chats = [
            (entry, confidence)
            for entry in candidates(tree, "*.txt")
            if (confidence := _looks(entry, chosen=choices.chosen))
        ]
        databases = [entry.name for entry in databases_with(tree, TABLES)]
        if not chats and not databases:
            return None
        order = _chosen_order(choices)
        zone_named(choices.given.get("time_zone"))
        year = _chosen_year(choices)
        layouts = {entry.name: _layout(tree, entry, order, year) for entry, _ in chats}
        found = [NamedChat(layout.called, layout.marks) for layout in layouts.values()]
        unsure = [name for name, layout in layouts.items() if not layout.certain]
        certain = databases or any(level is Confidence.CERTAIN for _, level in chats)
        return Recognition(
            Confidence.CERTAIN if certain else Confidence.LIKELY,
            _version(layouts, databases),
            account="WhatsApp",
            identity="whatsapp",
            notes=((_TWICE,) if databases else ())
            + tuple(
                f"the dates of {name} could be read in another order; say --set date_order=DMY, "
                "MDY or YMD if they are wrong"
                for name in unsure[:3]
            )
            + tuple(
                f"the dates of {name} have no year; the first message is taken to be of "
                f"{layout.first_year}; say --set year=… for that of the last if it is wrong"
                for name, layout in layouts.items()
                if not layout.year_told
            )[:3],
            detail={
                "layouts": layouts,
                "known": RenamedChats(found),
                "databases": databases,
                "time_zone": choices.given.get("time_zone"),
            },
        )

    def in_account(self, recognition: Recognition, known: AccountKnowledge) -> Recognition:
        """Return what was seen in an export with the chats that came into its account before."""
        before: RenamedChats = recognition.detail["known"]
        now = before.in_account(known)
        told = {*before.notes()}
        notes = (*(note for note in recognition.notes if note not in told), *now.notes())
        detail = {**recognition.detail, "known": now}
        return replace(recognition, notes=notes, of_account=now.kept(), detail=detail)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each chat."""
        zone = zone_named(recognition.detail["time_zone"])
        known: RenamedChats = recognition.detail["known"]
        for name, layout in recognition.detail["layouts"].items():
            entry = tree.get(name)
            if entry is not None:
                key = known.key_of(layout.called)
                chat = _Chat(tree, entry, layout.called, key, layout, zone)
                yield ExportPart(entry, partial(_read, chat))
        for entry in tree.these(recognition.detail["databases"]):
            yield ExportPart(entry, partial(read_database, tree, entry))

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the files that a chat names or a phone named."""
        return self.belongings(replace(tree, kind="folder"), recognition)

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the zip of a chat; in a folder the files that a chat names or a phone named.

        Those of a database lie in folders beside it.
        """
        chats = list(tree.these(recognition.detail["layouts"]))
        if tree.kind == "zip":
            return ("",)
        folders = {entry.name.rpartition("/")[0] for entry in chats}
        named = {name for entry in chats for name in _named_files(entry)}
        return folders_of_files(tree, recognition.detail["databases"]) + [
            entry.name
            for entry in tree.entries
            if entry.name in named
            or (_BY_PHONE.match(entry.base) and entry.name.rpartition("/")[0] in folders)
        ]


def _version(layouts: Mapping[str, "_Layout"], databases: Sequence[str]) -> str:
    orders = ", ".join(sorted({layout.order for layout in layouts.values()}))
    chats = "a chat" if len(layouts) == 1 else f"{len(layouts)} chats"
    told = [f"{chats}, dates written {orders}"] if layouts else []
    told += [f"{counted(len(databases), 'database')} of an iPhone or a Mac"] if databases else []
    return " and ".join(told)


def _named_files(chat: FileEntry) -> Iterator[str]:
    """Yield the names of files that stand in a chat, as if they lay beside it."""
    folder = chat.name.rpartition("/")[0]
    with chat.open() as stream:
        for line in lines(stream, _LONGEST_LINE):
            for name in file_names(_decoded(line.text)):
                yield f"{folder}/{name}".lstrip("/")


class _Chat(NamedTuple):
    """One chat and how its times are read."""

    tree: Tree
    entry: FileEntry
    name: str
    key: RecordKey
    layout: "_Layout"
    zone: tzinfo | None


class _Lines(NamedTuple):
    """The lines of a message: its first one, and those that follow it."""

    first: ChatLine
    number: int
    more: list[str]
    year_told: bool = True


class _Message(NamedTuple):
    """A whole message, with its moment as it stands and as it stands in keys.

    Both are None where there is no such day. ``digest`` tells it from others of its moment.
    """

    number: int
    sender: str | None
    text: str
    moment: datetime | None
    time: str
    digest: RecordKey


def _looks(entry: FileEntry, *, chosen: bool) -> Confidence | None:
    text = entry.head().decode("utf-8", "replace")
    lines_ = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()][:_LOOKED_AT]
    begun = [line for line in lines_ if chat_line(line)]
    named = entry.base == "_chat.txt" or "WhatsApp" in entry.base
    if not begun or (not chosen and not named and chat_line(lines_[0]) is None):
        return None
    if named or chosen or len(begun) >= _FEW:
        return Confidence.CERTAIN if named else Confidence.LIKELY
    return None


def _chosen_order(choices: OwnerChoices) -> str | None:
    chosen = choices.given.get("date_order", "").upper()
    if chosen and chosen not in ORDERS:
        raise ImportRefused(f"date_order must be one of {', '.join(ORDERS)}, not {chosen!r}")
    return chosen or None


def _chosen_year(choices: OwnerChoices) -> int | None:
    chosen = choices.given.get("year", "")
    if chosen and not re.fullmatch(r"(?:19|20)\d{2}", chosen):
        raise ImportRefused(f"year must be a year such as 2019, not {chosen!r}")
    return int(chosen) if chosen else None


class _Layout(NamedTuple):
    """What a chat is called, what was said in it, and how it is written.

    ``mixed`` says that only some of its line ends end a message. Where the month is a word
    (``named``), dates may tell no year, and then years are counted from that of the first message.
    Of times in ``minutes`` it tells no seconds, as an Android phone does.
    """

    called: str
    marks: list[int]
    order: str
    certain: bool
    mixed: bool
    named: bool = False
    first_year: int = 0
    year_told: bool = True
    minutes: tuple[str, ...] = ()


def _layout(tree: Tree, entry: FileEntry, chosen: str | None, year: int | None) -> _Layout:
    """Find out how a chat is written, from all of it.

    An iPhone ends messages with CRLF and lines inside them with LF: where both occur, that tells
    a message from a line of another chat that somebody pasted.
    """
    called = chat_name(tree, entry)
    guess, years, marks = OrderGuess(), YearGuess(), ChatMarks(called)
    ends: set[bool] = set()
    brackets = seconds = 0
    named: bool | None = None
    with entry.open() as stream:
        for line in lines(stream, _LONGEST_LINE):
            ends.add(line.text.endswith(b"\r"))
            begun = chat_line(_decoded(line.text))
            if begun is not None and named in (None, begun.stamp.named):
                named = begun.stamp.named
                brackets += b"[" in line.text[:8]
                seconds += begun.stamp.second
                guess.see(begun.stamp)
                marks.see(begun)
                if named:
                    years.see(begun.stamp, begun.text)
    order, certain = guess.order()
    mixed = len(ends) == 2 and brackets > 0
    about = called, marks.told()
    layout = _Layout(*about, chosen or order, certain or chosen is not None, mixed, bool(named))
    if years.missing:
        layout = _Layout(*about, order, certain, mixed, True, *years.first_year(year, tree.path))
    return layout if seconds else layout._replace(minutes=_TIMES)


def _decoded(text: bytes) -> str:
    return text.removesuffix(b"\r").decode("utf-8", "replace")


def _digests(messages: Iterable[_Message | Skipped]) -> Iterator[tuple[str, RecordKey]]:
    for message in messages:
        if isinstance(message, _Message) and message.moment is not None:
            yield message.time, message.digest


def _message(chat: _Chat, lines_: _Lines) -> _Message:
    first, number, more, year_told = lines_
    text = "\n".join([first.text, *more]) if more else first.text
    moment = first.stamp.moment(chat.layout.order)
    # Only an iPhone writes seconds, and a chat moves from one telephone to another. A year that the
    # chat does not tell stays out: told otherwise later, it is the same message.
    minute = "" if moment is None else moment.isoformat(timespec="minutes")
    time = minute.replace(":", "")[0 if year_told else 4 :]
    # Who wrote is told as the phone's contacts call them, and these are renamed.
    digest = digest_key(time, "" if first.sender is None else "said", without_file(text))
    return _Message(number, first.sender, text, moment, time, digest)


def _read(chat: _Chat) -> Iterator[Finding]:
    # To read a line takes longest: what a phone exports is held, and only more is read twice.
    held = list(_messages(chat)) if chat.entry.size <= _MOST_HELD else None
    repeats, count = Repeats(_digests(_messages(chat) if held is None else held)), 0
    span: list[str] = []
    for message in _messages(chat) if held is None else held:
        if isinstance(message, Skipped):
            yield message
            continue
        where = f"{chat.entry.name} line {message.number}"
        for item in account(_findings(chat, message, repeats, where), where, "message"):
            if isinstance(item, Item) and item.stream == "messages":
                count += 1
                sent = item.data["sent_at"]
                span = [min(span[0], sent), max(span[1], sent)] if span else [sent, sent]
            yield item
    if span:
        data = {
            "id": chat.key,
            "name": chat.name,
            "message_count": count,
            "started_at": span[0],
            "updated_at": span[1],
        }
        yield Item("chats", chat.key, data, minutes=chat.layout.minutes, floating=_TIMES)


def _messages(chat: _Chat) -> Iterator[_Message | Skipped]:
    """Yield messages with all of their lines; one that a cut file ends in is told."""
    message: _Lines | None = None
    size, whole, ended = 0, True, True
    years = YearCount(chat.layout.first_year)
    with chat.entry.open() as stream:
        for line in lines(stream, _LONGEST_LINE):
            whole = line.whole
            text = _decoded(line.text)
            begun = chat_line(text) if ended or not chat.layout.mixed else None
            if begun is not None and begun.stamp.is_of_another_phone(chat.layout.order):
                begun = None  # Somebody pasted it.
            ended = line.text.endswith(b"\r")
            if begun is not None and begun.stamp.named == chat.layout.named:
                if message is not None:
                    yield _message(chat, message)
                stamp = years.see(begun.stamp) if chat.layout.first_year else begun.stamp
                has_year = bool(begun.stamp.year) or not chat.layout.named
                if stamp is not begun.stamp:
                    begun = begun._replace(stamp=stamp)
                message, size = _Lines(begun, line.number, [], has_year), 0
            elif message is None:
                yield Skipped("a line before the first message", f"{chat.entry.name}")
            elif size + len(text) <= _LONGEST_MESSAGE:
                message.more.append(text)
                size += len(text)
            else:
                yield Skipped("the rest of a message that is too long", f"{chat.entry.name}")
    if message is not None:
        yield _message(chat, message)
    if not whole:
        yield Skipped(_CUT, chat.entry.name)


def _findings(chat: _Chat, message: _Message, repeats: Repeats, where: str) -> Iterator[Finding]:
    _, sender, written, moment, time, digest = message
    if moment is None:
        yield Unknown("a message with a date that does not exist", where)
        return
    sent, floating = local_text(moment, chat.zone)
    text = written.lstrip(MARKS)
    edited = "<" in text and _EDITED.search(text)
    # Keys in the order of time: what belongs together then lies together.
    key = safe_key(chat.key, time, repeats.key(time, digest))
    name = _file_name(chat, written)
    data: dict[str, object] = {
        "id": key,
        "chat_id": chat.key,
        "chat": chat.name,
        "sender": sender,
        "text": text[: edited.start()] if edited else text,
        "edited": True if edited else None,
        "deleted": True if sender and text.strip().removesuffix(".") in _DELETED else None,
        "service": sender is None,
        "media_omitted": name is None and is_left_out(written),
        "file_name": name,
        "floating": floating,
        "position": repeats.place(time),
        "sent_at": sent,
    }
    yield Item("messages", key, present(data), minutes=chat.layout.minutes, floating=_TIMES)
    if name is not None:
        yield from _media(chat, key, name, sent, floating)


def _file_name(chat: _Chat, text: str) -> str | None:
    """Return the file that came with a message."""
    if name := attached_name(text):
        return name
    name = possible_name(text)
    return name if name and chat.tree.beside(chat.entry, name) is not None else None


def _media(chat: _Chat, message: str, name: str, sent: str, floating: bool) -> Iterator[Finding]:
    entry = chat.tree.beside(chat.entry, name)
    if entry is None:
        yield Skipped("a file that is not in the export", f"{chat.entry.name} {message}")
        return
    media_type = entry.media_type
    data = {
        "id": message,
        "message_id": message,
        "chat_id": chat.key,
        "name": entry.base,
        "media_type": media_type,
        "floating": floating,
        "sent_at": sent,
    }
    files = (Attachment("file", entry.open_exact, media_type),)
    yield Item("media", message, data, files, minutes=chat.layout.minutes, floating=_TIMES)
