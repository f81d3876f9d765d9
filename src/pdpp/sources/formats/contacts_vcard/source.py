"""Contacts as vCard files, many cards in one, and as tables."""

import io
import re
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from itertools import islice
from typing import Any

from pdpp.sources.formats.contacts_vcard.dialects import (
    ANNIVERSARIES,
    HANDLES,
    MEMBERS,
    RELATED,
    RELATIVES,
    service_of,
    translated,
)
from pdpp.sources.formats.contacts_vcard.tables import PATTERNS, find_contact_table, row_lines
from pdpp.sources.formats.contacts_vcard.texts import texts_of
from pdpp.sources.formats.contacts_vcard.vcard import VcardLine, cards_in, vcard_lines
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, SeenKeys, digest_key, safe_key
from pdpp.sources.reading.components import LooseLine, TextComponent, components
from pdpp.sources.reading.csvtable import CsvTable, rows
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.heads import HEAD_BYTES
from pdpp.sources.reading.textfile import open_narrow, plain_head
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    plain_name,
    roots_of_namesakes,
    without_copy,
)

_START = re.compile(rb"\s*BEGIN:VCARD\s*$", re.MULTILINE | re.IGNORECASE)
_BEGINS = re.compile(rb"^BEGIN:VCARD\s*$", re.MULTILINE | re.IGNORECASE)
_VERSION = re.compile(rb"^VERSION:\s*([0-9.]{3})", re.MULTILINE | re.IGNORECASE)
_SENT = re.compile(r"-\d+-\d+\.vcf\Z")
_OWN_NUMBERS = re.compile(
    rb"\s*BEGIN:VCARD\nVERSION:3\.0\nFN:\nN:;*\n(?:(?!BEGIN:).*\n)*?\w+\.X-ABLabel:Google Voice\n"
)
_DAY = re.compile(r"(\d{4}|-)-?(\d{2})-?(\d{2})(?:[T ].*)?\Z")
_NO_YEAR = "1604"
"""What Apple writes for the year of a day that has none."""
_STAMP = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})T(\d{2}):?(\d{2}):?(\d{2})(?:\.\d+)?Z\Z")
_WORD = re.compile(r"\w+")
_SINGLE = {"NICKNAME": "nickname", "TITLE": "job_title", "ROLE": "role"}
_LISTS = {"EMAIL": "emails", "TEL": "phones", "URL": "links", "IMPP": "chats"}
_LABEL = re.compile(r"_\$!<(.*)>!\$_\Z")
_PHOTOS = ("PHOTO", "X-MS-CARDPICTURE")
_MOST_LOOKED_AT = 50
_BEGIN = "BEGIN:VCARD"
_LONGEST_NAME = 80


class ContactsVcard(Source):
    """Address books as phones and mail programs hand them out."""

    connector_key = "contacts_vcard"
    lies_among_others = True
    files_stand_alone = True
    parts_depend = True
    files_may_differ = True
    label = "Contacts (vCard or CSV)"

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return address books of one name by themselves: each may be of another person."""
        books = [entry.name for entry in _files(tree) if _is_book(entry)]
        return roots_of_namesakes(books)

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for cards by how they begin."""
        files = _files(tree)
        if not files:
            return None
        looked_at = files[:_MOST_LOOKED_AT]
        makers = {f"a table of {found[1]}" for entry in looked_at if (found := _table(entry))}
        versions = {version for entry in looked_at for version in _versions(entry)}
        cards = [f"vCard {', '.join(sorted(versions))}"] if versions else []
        name = _book_name(files[0], tree) if len(files) == 1 else tree.called
        return Recognition(
            Confidence.CERTAIN,
            " and ".join([*cards, *sorted(makers)]) or "vCard of no version",
            account=f"Contacts ({name})" if name else "Contacts",
            owner_known=False,
            detail={"entries": [entry.name for entry in files]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file of cards."""
        told, books = SeenKeys(), dict[str, str]()
        for entry in tree.these(recognition.detail["entries"]):
            yield ExportPart(entry, partial(_read, entry, told, books))


def _book_name(entry: FileEntry, tree: Tree) -> str:
    """Return the name of a file; or of the folder, if that alone tells it from its namesakes."""
    folder = entry.name.rpartition("/")[0].rpartition("/")[2]
    alone = folder and folder == tree.path.name
    return folder if alone else without_copy(entry.base.rpartition(".")[0])


def _files(tree: Tree) -> list[FileEntry]:
    patterns = ("*.vcf", "*.VCF", "*.vcard", *PATTERNS)
    entries = tree.entries if tree.kind == "file" else tree.named(*patterns)
    cards = [entry for entry in entries if _is_cards(entry) or _table(entry)]
    return (
        cards
        if tree.kind == "file"
        else [card for card in cards if not _is_sent_or_own(tree, card)]
    )


def _is_sent_or_own(tree: Tree, card: FileEntry) -> bool:
    """Tell whether Google Voice wrote a card: it was sent in a talk, or is one's own numbers.

    A card that was sent is called as the page of the talk, with two numbers behind it.
    """
    talk = _SENT.sub(".html", card.base)
    return (talk != card.base and tree.beside(card, talk) is not None) or bool(
        _OWN_NUMBERS.match(plain_head(card, HEAD_BYTES))
    )


def _is_cards(entry: FileEntry) -> bool:
    return _START.match(plain_head(entry)) is not None


def _versions(entry: FileEntry) -> Iterator[str]:
    for match in _VERSION.finditer(plain_head(entry, HEAD_BYTES)):
        yield match.group(1).decode()


def _table(entry: FileEntry) -> tuple[CsvTable, str] | None:
    return None if _is_cards(entry) else find_contact_table(entry)


def _is_book(entry: FileEntry) -> bool:
    """Tell whether a file holds several cards; one of a single card is a part of some book."""
    if not _is_cards(entry):
        return True
    return len(list(islice(_BEGINS.finditer(plain_head(entry, HEAD_BYTES)), 2))) > 1


class _Nameless:
    """The cards of one file that have no id, and those of the files before it.

    Two exports of one address book, such as of two months, hold the same people, of whom the later
    tells more; in two address books one name may be of two people. ``told`` is what cards said, and
    ``books`` are the address books that gave people their keys, by key.
    """

    def __init__(self, entry: FileEntry, told: SeenKeys, books: dict[str, str]) -> None:
        stem, _, ending = entry.base.rpartition(".")
        self._book = f"{plain_name(stem)}.{ending.casefold()}"
        self._told, self._books = told, books
        self._own = SeenKeys()

    def key(self, plain: RecordKey, whole: RecordKey) -> RecordKey | None:
        """Return the key of a card, which is ``whole`` where its name is of somebody else."""
        if not self._told.first(whole):
            return None
        first = self._own.first(plain)
        return plain if first and self._books.setdefault(plain, self._book) == self._book else whole


def _read(entry: FileEntry, told: SeenKeys, books: dict[str, str]) -> Iterator[Finding]:
    read = _read_cards if _is_cards(entry) else _read_table
    return read(entry, _Nameless(entry, told, books))


def _read_cards(entry: FileEntry, nameless: _Nameless) -> Iterator[Finding]:
    named, names = SeenKeys(), _Names(entry)
    with open_narrow(entry) as stream:
        for part in components(stream, ("VCARD",)):
            if isinstance(part, Skipped):
                yield part._replace(example=f"{entry.name} {part.example}")
            elif isinstance(part, TextComponent):
                where = f"{entry.name} card {part.number}"
                for card in cards_in(part.text):
                    lines = [names.member(translated(line)) for line in vcard_lines(card)]
                    yield from account(_contact_of(lines, named, nameless, where), where, "card")
            elif isinstance(part, LooseLine) and part.line.strip():
                yield _stray(part.line.strip(), entry.name)


class _Names:
    """The names of the cards of a file by their ids, which groups name their members by."""

    def __init__(self, entry: FileEntry) -> None:
        self._entry = entry

    @cached_property
    def _by_id(self) -> dict[str, str]:
        known: dict[str, str] = {}
        with open_narrow(self._entry) as stream:
            for part in components(stream, ("VCARD",)):
                if isinstance(part, TextComponent):
                    said = {line.name: line.text for line in vcard_lines(part.text)}
                    known[_bare_id(said.get("UID", ""))] = said.get("FN", "")
        return known

    def member(self, line: VcardLine) -> VcardLine:
        """Return the line of a member of a group with the name of who it is, if that is there."""
        if line.name not in MEMBERS:
            return line
        name = self._by_id.get(_bare_id(line.text)) or line.text
        return VcardLine("RELATED", {"TYPE": "member"}, name.replace("\\", "\\\\"))


def _bare_id(text: str) -> str:
    return text.casefold().removeprefix("urn:uuid:")


def _read_table(entry: FileEntry, nameless: _Nameless) -> Iterator[Finding]:
    """Yield the contacts of a table, each as a card would tell it."""
    found = find_contact_table(entry)
    if found is None:
        return
    table = found[0]
    for row in rows(entry, table):
        if isinstance(row, Skipped):
            yield row
        else:
            where = f"{entry.name} line {row.line:,}"
            lines = row_lines(table.header, row.cells)
            yield from account(_contact_of(lines, SeenKeys(), nameless, where), where, "row")


def _stray(line: str, name: str) -> Finding:
    if _BEGIN.startswith(line.upper()):
        return Skipped("the file ends in the middle", name, cut=True)
    return Unknown("a line outside of every card", name)


def _contact_of(
    lines: list[VcardLine], named: SeenKeys, nameless: _Nameless, where: str
) -> Iterator[Finding]:
    data = _contact(lines)
    if "name" not in data:
        yield Unknown("a card without a name", where)
        return
    uid = next((line.text for line in lines if line.name == "UID" and line.text), "")
    plain = safe_key(uid) if uid else _key(data)
    told = sorted(data.keys() - {"updated_at"})
    whole = digest_key(plain, *(f"{name}={data[name]}" for name in told))
    key = _named_key(named, plain, whole) if uid else nameless.key(plain, whole)
    if key is None:
        yield Skipped("a card that stands twice", where)
        return
    yield Item("contacts", key, {"id": key, **data, **texts_of(data)}, _photo(lines))


def _named_key(named: SeenKeys, plain: RecordKey, whole: RecordKey) -> RecordKey | None:
    """Return the key of a card with an id; the second of a file that says something else is whole.

    In another file it is the same card, and may be a later state of it.
    """
    if not named.first(whole):
        return None
    return plain if named.first(plain) else whole


def _contact(lines: list[VcardLine]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    labels = {line.group: _label(line.text) for line in lines if line.name == "X-ABLABEL"}
    for line in lines:
        kind = labels.get(line.group, "") or line.kind
        if line.name == "IMPP":
            kind = ", ".join(word for word in (service_of(line), kind) if word)
        if line.name in _LISTS and line.text:
            data.setdefault(_LISTS[line.name], []).append(_labelled(line, kind))
        elif line.name in HANDLES and line.text:
            handle = _with_kind(line.text, HANDLES[line.name] or kind)
            data.setdefault("chats", []).append(handle)
        elif line.name in RELATED | RELATIVES.keys() and line.text:
            relation = _with_kind(line.text, RELATIVES.get(line.name) or kind)
            data.setdefault("relations", []).append(relation)
        elif line.name in ANNIVERSARIES:
            data.setdefault("anniversary", _day(line.text))
        elif line.name == "X-ABDATE":
            data.setdefault("dates", []).append(_with_kind(_day(line.text) or "", kind))
        elif line.name in _SINGLE and line.text:
            data[_SINGLE[line.name]] = _also(data.get(_SINGLE[line.name]), line.text)
        elif line.name == "PHOTO" and line.text.startswith("http"):
            data.setdefault("links", []).append(_with_kind(line.text, "photo"))
        elif line.name in ("ADR", "LABEL"):
            _take_address(line, kind, data)
        else:
            _take(line, data)
    own = [data.pop("formatted", ""), whole := data.pop("whole_name", "")]
    reach = (data.get(several) or [""] for several in ("emails", "phones", "chats", "addresses"))
    others = [data.get("nickname"), data.get("organization"), *(first for first, *_ in reach)]
    name = next(filter(None, [*own, *others, data.get("notes", "")[:_LONGEST_NAME]]), "")
    if not _words(whole) <= _words(f"{name} {data.get('given_name')} {data.get('family_name')}"):
        data["full_name"] = whole
    filled = present(data, "", [])
    return {"name": name, **filled} if name else filled


def _words(name: str) -> set[str]:
    return {*_WORD.findall(name.casefold())}


def _take_address(line: VcardLine, kind: str, data: dict[str, Any]) -> None:
    """Take over an address, or one as it is written on a letter where that says more."""
    addresses = data.setdefault("addresses", [])
    parts = line.parts if line.name == "ADR" else line.text.splitlines()
    address = ", ".join(part.strip() for part in parts if part.strip())
    words = set(address.replace(",", " ").split())
    known_words = {word for other in addresses for word in other.replace(",", " ").split()}
    if address and (line.name == "ADR" or not words <= known_words):
        addresses.append(_with_kind(address, kind))


def _take(line: VcardLine, data: dict[str, Any]) -> None:
    """Take over a property that has a form of its own."""
    if line.name == "FN":
        data.setdefault("formatted", line.text)
    elif line.name == "N":
        family, given, middle, before, after, *_ = [*line.parts, "", "", "", "", ""]
        data.setdefault("family_name", family)
        data.setdefault("given_name", given)
        data.setdefault(
            "whole_name", " ".join(f"{before} {given} {middle} {family} {after}".split())
        )
    elif line.name == "ORG":
        organization = ", ".join(part for part in line.parts if part)
        data["organization"] = _also(data.get("organization"), organization)
    elif line.name == "CATEGORIES":
        data.setdefault("categories", []).extend(line.items)
    elif line.name == "NOTE" and line.text:
        data["notes"] = "\n".join(filter(None, [data.get("notes"), line.text]))
    elif line.name == "BDAY":
        data.setdefault("birthday", _day(line.text))
    elif line.name == "REV":
        data.setdefault("updated_at", _stamp(line.text))


def _also(known: str | None, text: str) -> str:
    """Return a text behind what is known, as of a person with two positions."""
    return ", ".join(dict.fromkeys(part for part in (known, text) if part))


def _label(text: str) -> str:
    """Return a label as a person reads it; Apple marks its own ones."""
    match = _LABEL.match(text)
    return (match.group(1) if match else text).strip().lower()


def _labelled(line: VcardLine, kind: str) -> str:
    return _with_kind(re.sub(r"^tel:", "", line.text), kind)


def _with_kind(text: str, kind: str) -> str:
    return f"{text} ({kind})" if kind else text


def _day(text: str) -> str | None:
    """Return a day as a date, or as ``--01-31`` where it has no year; else as it is written."""
    match = _DAY.match(text)
    if match is None:
        return text or None
    year, month, day = match.groups()
    return f"--{month}-{day}" if year in ("-", _NO_YEAR) else f"{year}-{month}-{day}"


def _stamp(text: str) -> str | None:
    match = _STAMP.match(text)
    if match is None:
        return moment_text(text)
    year, month, day, hour, minute, second = match.groups()
    return moment_text(f"{year}-{month}-{day}T{hour}:{minute}:{second}Z")


def _key(data: dict[str, Any]) -> RecordKey:
    """Return a name for a card that has no id, made of what rarely changes about a person."""
    reach = (data.get("emails") or data.get("phones") or [""])[0]
    return digest_key(str(data["name"]), str(reach))


def _photo(lines: list[VcardLine]) -> tuple[Attachment, ...]:
    for line in lines:
        content = line.content() if line.name in _PHOTOS else None
        if content:
            return (Attachment("photo", partial(io.BytesIO, content), _image_type(content)),)
    return ()


def _image_type(content: bytes) -> str:
    for mark, kind in ((b"\xff\xd8", "jpeg"), (b"\x89PNG", "png"), (b"GIF8", "gif")):
        if content.startswith(mark):
            return f"image/{kind}"
    return "application/octet-stream"
