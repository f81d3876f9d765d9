"""WhatsApp chats as the phone exports them: one text file each, perhaps with its media in a zip."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from pdpp.evidence.amount import counted
from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.whatsapp.apple_database import TABLES, folders_of_files, read_database
from pdpp.sources.formats.whatsapp.attached import (
    file_names,
)
from pdpp.sources.formats.whatsapp.layout import LONGEST_LINE, ChatLayout, chat_layout, decoded
from pdpp.sources.formats.whatsapp.lines import ORDERS, chat_line
from pdpp.sources.formats.whatsapp.messages import Chat
from pdpp.sources.formats.whatsapp.records import read_chat
from pdpp.sources.formats.whatsapp.renamed_chats import NamedChat, RenamedChats
from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.sqlitefile import databases_with
from pdpp.sources.reading.structure import candidates
from pdpp.sources.reading.times import zone_named
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
_BY_PHONE = re.compile(
    r"0\d{7}-.+|(?:IMG|VID|AUD|PTT|STK|DOC)-\d{8}-WA\d{4}.*", re.IGNORECASE | re.DOTALL
)
"""How telephones call the files of a chat: an iPhone numbers them, Android writes the day."""
_TWICE = (
    "a chat that you also export as text is there twice: nothing in the text says which chat of "
    "the database it is"
)


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
        layouts = {entry.name: chat_layout(tree, entry, order, year) for entry, _ in chats}
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
        """Return one part for each chat, first those that tell no seconds.

        Two of them may be one chat, from two telephones: what is read last takes the other's place.
        """
        zone = zone_named(recognition.detail["time_zone"])
        known: RenamedChats = recognition.detail["known"]
        layouts: Mapping[str, ChatLayout] = recognition.detail["layouts"]
        for name, layout in sorted(layouts.items(), key=lambda item: not item[1].minutes):
            entry = tree.get(name)
            if entry is not None:
                key = known.key_of(layout.called)
                chat = Chat(tree, entry, layout.called, key, layout, zone)
                yield ExportPart(entry, partial(read_chat, chat))
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


def _version(layouts: Mapping[str, ChatLayout], databases: Sequence[str]) -> str:
    orders = ", ".join(sorted({layout.order for layout in layouts.values()}))
    chats = "a chat" if len(layouts) == 1 else f"{len(layouts)} chats"
    told = [f"{chats}, dates written {orders}"] if layouts else []
    told += [f"{counted(len(databases), 'database')} of an iPhone or a Mac"] if databases else []
    return " and ".join(told)


def _named_files(chat: FileEntry) -> Iterator[str]:
    """Yield the names of files that stand in a chat, as if they lay beside it."""
    folder = chat.name.rpartition("/")[0]
    with chat.open() as stream:
        for line in lines(stream, LONGEST_LINE):
            for name in file_names(decoded(line.text)):
                yield f"{folder}/{name}".lstrip("/")


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
