"""Sources: what a format must say of itself so that the shared machinery can import it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import partial
from importlib.resources import files
from types import MappingProxyType
from typing import Any, ClassVar

import orjson

from pdpp.sources.item import Finding, ResumePoint
from pdpp.sources.reading.tree import FileEntry, Tree, common_folder, composed, folders_around

EXPECTED = ""
Recall = Callable[[str, str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AccountKnowledge:
    """What imports kept of the records of one account, and of the other accounts of its source."""

    own: Mapping[str, Any] = field(default_factory=dict)
    others: Sequence[Mapping[str, Any]] = ()
    place: str = ""
    """Where an export lies below the folder that the account holds, with a slash behind it."""


NOTHING_KNOWN = AccountKnowledge()


def _nothing(connector_key: str, shape: str) -> Mapping[str, Any]:  # noqa: ARG001 - a Recall
    return {}


class Confidence(StrEnum):
    """How sure a source is that an export is its own."""

    CERTAIN = "certain"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class OwnerChoices:
    """What the owner said: now, as names with values, and earlier, about files of one shape."""

    given: Mapping[str, str] = field(default_factory=dict)
    recall: Recall = _nothing
    chosen: bool = False
    """Whether the owner named the source: it then takes what it can read at all."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a source sees in an export.

    ``account`` names a new connection and ``identity`` finds it again; unless given they are the
    same. Where the data does not say whose it is, ``owner_known`` is false, and the records
    themselves are compared with what is stored; ``identity`` is then what in the data speaks for
    one account, and nothing where nothing does. ``records`` is how many there are, where that is
    cheap to know. ``notes`` are remarks for the person. What the owner decided for files of this
    ``shape`` is kept as ``remember``, and what the source itself is to know later, by other shapes,
    as ``keep``; what it is to know of this account alone is kept as ``of_account``. ``detail`` is
    the source's own.
    """

    confidence: Confidence
    version: str
    account: str
    identity: str = ""
    owner_known: bool = True
    records: int | None = None
    notes: tuple[str, ...] = ()
    shape: str = ""
    remember: Mapping[str, Any] = field(default_factory=dict)
    keep: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    of_account: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Many are named like a file, and two that read alike would be two accounts.
        object.__setattr__(self, "account", composed(self.account))


@dataclass(frozen=True, slots=True)
class ExportRefusal:
    """An export that a source knows and cannot take, with what to try instead.

    ``damaged`` says that a file could not be read: the source may take the export without it. One
    that ``lies_among_others`` is only some of the files of an archive, and documents and photos
    beside them are not of it.
    """

    message: str
    damaged: bool = False
    lies_among_others: bool = False


@dataclass(frozen=True, slots=True)
class ExportPart:
    """A piece of an export that is read by itself: damage in it loses nothing of the others."""

    entry: FileEntry
    read: Callable[[], Iterator[Finding]]
    grows: ClassVar[bool] = False

    def findings(self, start: ResumePoint) -> Iterator[Finding]:  # noqa: ARG002 - see GrowingPart
        """Yield what the part holds, always from its start."""
        return self.read()


@dataclass(frozen=True, slots=True)
class GrowingPart:
    """A piece that is only ever added to at its end, such as a log.

    Its reader yields resume points. A watch, and an interrupted import, begin at the last one.
    """

    entry: FileEntry
    read: Callable[[ResumePoint], Iterator[Finding]]
    grows: ClassVar[bool] = True

    def findings(self, start: ResumePoint) -> Iterator[Finding]:
        """Yield what the part holds after a resume point."""
        return self.read(start)


AnyPart = ExportPart | GrowingPart


def part_of_each(
    entries: Iterable[FileEntry], read: Callable[[FileEntry], Iterator[Finding]]
) -> Iterator[ExportPart]:
    """Yield a part for each of some files that are all read in one way."""
    return (ExportPart(entry, partial(read, entry)) for entry in entries)


def folders_of(parts: Iterable[AnyPart]) -> set[str]:
    """Return the folders that some parts lie in."""
    return {part.entry.name.rpartition("/")[0] for part in parts}


def roots_of_exports(entries: Iterable[FileEntry]) -> Iterable[str]:
    """Return the folders of files that are the heart of an export each, if there are several.

    Nothing tells that they are of one person, so each is looked at by itself, as if it were zipped.
    """
    folders = sorted({entry.name.rpartition("/")[0] for entry in entries})
    outer = [
        folder
        for folder in folders
        if not any(other and folder.startswith(f"{other}/") for other in folders)
    ]
    return outer if len(outer) > 1 else ("",)


def roots_of_accounts(account_of: Mapping[str, str]) -> Iterable[str]:
    """Return files as exports of their own where they tell of several accounts.

    Each file is given with the account that it names. Together they would be an account that none
    of them is when it comes alone. Of very many files nobody wants to see each.
    """
    several = len(set(account_of.values())) > 1 and all(account_of.values())
    return list(account_of) if several and len(account_of) <= _MOST_ROOTS else ("",)


def roots_of_namesakes(names: Sequence[str]) -> Iterable[str]:
    """Return the folders beside each other that hold files of one name, and the rest as the top.

    Programs call every address book alike: the one in ``Anna`` and the one in ``Ben`` may be of
    two people, and so may ``contacts.vcf`` and ``contacts (1).vcf``. Each is looked at by itself,
    as if it came alone; one that holds what another does goes into the same account. Folders of
    two years or days are of one person.
    """
    start = len(top) + 1 if (top := common_folder(names)) else 0
    places: dict[str, list[str]] = {}
    for name in names:
        places.setdefault(name[:start] + name[start:].partition("/")[0], []).append(name)
    several = (inside for inside in places.values() if len(inside) > 1)
    roots = [root for inside in several for root in roots_of_namesakes(inside) if root]
    if _share_a_name(places):
        roots = list(places)
    return [*roots, ""] if 0 < len(roots) <= _MOST_ROOTS else ("",)


def _share_a_name(places: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether two places, each a folder or a file, hold files that are called alike."""
    holders: dict[str, set[str]] = {}
    for place, names in places.items():
        for name in names:
            stem, alone = name.rpartition("/")[2].rpartition(".")[0], name == place
            called = without_copy(stem) if alone else _WORDLESS.sub("", stem)
            called = called.casefold()
            holders.setdefault(called, set()).add(name if alone else plain_name(place))
    return any(len(held) > 1 for held in holders.values())


_COPY = re.compile(r" ?\(\d+\)\Z")
_WORDLESS = re.compile(r"[\W\d_]+")
_MOST_ROOTS = 200
_DATED = re.compile(
    r"(?:19|20)\d\d[-_. ]?(?:0[1-9]|1[0-2])(?:[-_. ]?[0-3]\d(?!\d))?"
    r"|[0-3]\d[-_.][01]\d[-_.](?:19|20)\d\d|(?<!\d)(?:19|20)\d\d(?!\d)|\(\d{1,3}\)\Z|\b(?:copy|kopie|copie|copia)\b",
    re.IGNORECASE,
)


def without_copy(stem: str) -> str:
    """Return a name without the number that a browser gives to a second copy."""
    return _COPY.sub("", stem)


def plain_name(stem: str) -> str:
    """Return the name of a file without days and counters, which change from one to the next."""
    plain = _DATED.sub(" ", composed(stem))
    return " ".join(re.split(r"[-_. ]+", plain)).strip().casefold()


class Source(ABC):
    """One format: how it is recognised and read. It keeps nothing between calls."""

    connector_key: str
    label: str
    settings: Mapping[str, str] = MappingProxyType({})
    """What the owner can say with ``--set NAME=VALUE``: names with one line of help each."""

    collects: bool = False
    """Whether exports that name no owner are pieces of one collection, such as tracks or chats: one
    account takes all of them, unless the owner names another."""

    lies_among_others: bool = False
    """Whether its files are whole by themselves, in a folder or an archive of many things: what
    lies beside a mailbox or a calendar is not of it."""

    files_stand_alone: bool = False
    """Whether each of its files is all of an export, such as a statement or an address book: notes,
    chats and tables of a bank may lie beside it, and are none of it."""

    parts_depend: bool = False
    """Whether what a part yields depends on the parts before it: a message that lies in two
    mailboxes comes in with the first alone. Whoever goes on reads all of them."""

    files_may_differ: bool = False
    """Whether files of it that lie in one folder may be of different people and none says whose it
    is, as address books do not: each goes into the account that holds what is in it."""

    named_by_place: bool = False
    """Whether its records are known by where they lie, as notes are by the names of their files:
    two people may have different ones of the same name."""

    nests: bool = False
    """Whether a folder inside one that came in is a part of it, and one around it holds more: its
    records are known by where they lie below the folder, which their field ``path`` tells."""

    namesakes: Mapping[str, str] = MappingProxyType({})
    """Streams in which different things may have one name, as notes without an id do, each with the
    field that tells where a thing lies: by that and by what it says the import tells them apart."""

    in_place: bool = False
    """Whether it is read where a program keeps it, so that the same path is the same account."""

    owner_files: tuple[str, ...] = ()
    """Names of the files that say whose an export is: folders that have one each may be exports of
    different people."""

    own_folders: tuple[str, ...] = ()
    """Names of the folders that the service writes beside the files it is read from."""

    passed_over: Mapping[str, str] = MappingProxyType({})
    """Files of the export that are left out on purpose: patterns of names, each with the reason.

    The first that fits counts. ``EXPECTED`` says that such a file is read; where it could not be,
    it is told as not known.
    """

    def declaration(self) -> Mapping[str, Any]:
        """Return the source declaration; built-in ones lie beside the code."""
        return load_declaration(self.connector_key)

    @abstractmethod
    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:
        """Say what this export is, by a bounded look at its content; None when it is not ours."""

    def roots(self, tree: Tree) -> Iterable[str]:  # noqa: ARG002 - for sources that need it
        """Return the folders and files of a tree that are exports of their own; else the top."""
        return ("",)

    def owner_entries(self, tree: Tree) -> Sequence[FileEntry]:
        """Return the files by which exports of different people in one folder are told apart."""
        return tree.named(*self.owner_files) if self.owner_files else []

    def apart(self, tree: Tree) -> Sequence[Tree]:  # noqa: ARG002 - for sources that need it
        """Return the exports of different people in a tree, where only the source can tell them.

        Nothing says that they are of one person, or that ``owner_entries`` tell them apart.
        """
        return ()

    def in_account(
        self,
        recognition: Recognition,
        known: AccountKnowledge,  # noqa: ARG002 - for sources that need it
    ) -> Recognition:
        """Return what was seen in an export, with what is known of the account that it goes into.

        It is asked again whenever that may have changed, with its own last answer.
        """
        return recognition

    def owned_files(self, recognition: Recognition) -> Sequence[str]:  # noqa: ARG002
        """Return the files that may each say by themselves whose they are, as mailboxes do."""
        return ()

    def made_on(self, tree: Tree) -> str:  # noqa: ARG002 - for sources that need it
        """Return the day on which an export of an account was made, nothing where none is told."""
        return ""

    @abstractmethod
    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[AnyPart]:
        """Return the pieces to read, in the order in which their records are to be written."""

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders and files that belong to the export with its parts; "" is all of it.

        What lies in none of them may be a document or a photo by itself. Unless a source knows
        better, an archive is one export, and in a folder each part has the files below it. At the
        very top, where somebody's other downloads may lie, only the service's folders are its own.
        """
        if self.lies_among_others:
            return ()
        if tree.kind == "zip":
            return ("",)
        folders = folders_of(self.parts(tree, recognition))
        return (folders - {""}) | self.at_top(tree) if "" in folders else folders

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:  # noqa: ARG002
        """Return the folders and files of what was sent in chats, or lies in a note.

        An address book or a calendar among them is somebody's, and no export by itself.
        """
        return ()

    def own_folders_below(self, tree: Tree, recognition: Recognition) -> set[str]:
        """Return the service's own folders that lie beside the parts."""
        around = folders_of(self.parts(tree, recognition))
        below = {name for entry in tree.entries for name in folders_around(entry)}
        return {
            folder
            for folder in below
            if folder.rpartition("/")[0] in around
            and any(fnmatchcase(folder.rpartition("/")[2], pattern) for pattern in self.own_folders)
        }

    def at_top(self, tree: Tree) -> set[str]:
        """Return the service's own folders at the top of a tree, and what it leaves out there."""
        tops = {entry.name.partition("/")[0]: entry for entry in tree.entries}
        return {
            top
            for top, entry in tops.items()
            if any(
                fnmatchcase(top, pattern)
                for pattern in (self.own_folders if "/" in entry.name else self.passed_over)
            )
        }


class FileSource(Source):
    """A source of files that are records by themselves, such as documents and photos.

    Other exports have such files too, as attachments. What belongs to no export is picked out of a
    folder of many things, and all that is found there is one export.
    """

    lies_among_others = True
    endings: frozenset[str]
    """The endings that names of such files may have."""

    unpicked: tuple[str, ...] = ()
    """What one and what several such files are that are not picked out, though they could be."""

    @abstractmethod
    def pick(self, tree: Tree) -> list[FileEntry]:
        """Return the files to take out of those that belong to no export."""


def load_declaration(connector_key: str) -> Mapping[str, Any]:
    """Return a declaration that comes with the package."""
    place = files("pdpp.sources.formats") / connector_key / "declaration.json"
    document: Mapping[str, Any] = orjson.loads(place.read_bytes())
    return document
