"""Bank statements in the layouts that banks and programs exchange: CAMT, MT940 and QIF."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.formats.bank_statement import camt, mt940, qif
from pdpp.sources.item import Finding
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    plain_name,
    roots_of_accounts,
)

_ENDINGS = frozenset(
    {"", ".xml", ".camt", ".sta", ".mta", ".mt940", ".940", ".swi", ".txt", ".qif"}
)
_MOST_CANDIDATES = 2_000
_LAYOUTS: Mapping[str, Callable[[FileEntry], bool]] = MappingProxyType(
    {"CAMT": camt.is_camt, "MT940": mt940.is_mt940, "QIF": qif.is_qif}
)


class StatementFiles(Source):
    """Statement files, one or a folder of them."""

    connector_key = "bank_statement"
    lies_among_others = True
    files_stand_alone = True
    label = "Bank statement (CAMT, MT940 or QIF)"
    settings = MappingProxyType(
        {"date_order": "Order of day, month and year in QIF: DMY, MDY or YMD."}
    )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return every file by itself where they are of several accounts."""
        layouts = {entry.name: found for entry in _candidates(tree) if (found := _layout(entry))}
        files = tree.these(layouts)
        return roots_of_accounts(
            {file.name: _first_account(file, layouts) or _called(file.base) for file in files}
        )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for the marks of each layout at the beginning of the files."""
        order = choices.given.get("date_order", "").upper()
        if order and order not in qif.ORDERS:
            raise ImportRefused("date_order is DMY, MDY or YMD")
        layouts: dict[str, str] = {}
        for entry in _candidates(tree):
            if layout := _layout(entry):
                layouts[entry.name] = layout
        if not layouts:
            return None
        numbers = [_first_account(entry, layouts) for entry in tree.these(layouts)]
        number = numbers[0] if len(set(numbers)) == 1 else ""
        files = f", {len(layouts)} files" if len(layouts) > 1 else ""
        stem = _called(tree.path.name)
        return Recognition(
            Confidence.CERTAIN,
            " and ".join(sorted(set(layouts.values()))) + files,
            account=f"Bank …{number[-4:]}" if number else "Bank",
            identity=digest_key(number) if number else digest_key(*sorted(set(numbers)), stem),
            owner_known=bool(number),
            notes=() if order else tuple(_doubts(tree, layouts)),
            detail={"layouts": layouts, "date_order": order},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        layouts: Mapping[str, str] = recognition.detail["layouts"]
        order: str = recognition.detail["date_order"]
        ledgers = {_called(e.base) for e in tree.these(layouts) if layouts[e.name] == "QIF"}
        for entry in tree.these(layouts):
            yield ExportPart(entry, partial(_read, entry, layouts[entry.name], len(ledgers), order))


def _candidates(tree: Tree) -> list[FileEntry]:
    if tree.kind == "file":
        return list(tree.entries)
    fitting = [entry for entry in tree.entries if entry.suffix in _ENDINGS]
    return fitting[:_MOST_CANDIDATES]


def _layout(entry: FileEntry) -> str | None:
    try:
        return next((name for name, fits in _LAYOUTS.items() if fits(entry)), None)
    except DamagedFile:
        return None


def _first_account(entry: FileEntry, layouts: Mapping[str, str]) -> str:
    """Return the account that a file begins with; QIF names none that is the bank's own."""
    try:
        if layouts[entry.name] == "CAMT":
            return camt.first_account(entry).replace(" ", "")
        if layouts[entry.name] == "MT940":
            return mt940.first_account(entry)
    except DamagedFile:
        pass
    return ""


def _doubts(tree: Tree, layouts: Mapping[str, str]) -> Iterator[str]:
    """Tell of the first file whose dates could be read in another order."""
    ledgers = tree.these(name for name, layout in layouts.items() if layout == "QIF")
    for entry in ledgers:
        with suppress(DamagedFile):
            if not (found := qif.date_order(entry)).certain:
                yield (
                    f"the dates of {entry.base} could be read in another order than {found.order}; "
                    "say --set date_order=DMY, MDY or YMD if they are wrong"
                )
                return


def _read(entry: FileEntry, layout: str, ledgers: int, order: str) -> Iterator[Finding]:
    if layout == "CAMT":
        return camt.read_camt(entry)
    if layout == "MT940":
        return mt940.read_mt940(entry)
    # Of very many ledgers without a name of their own the names of their files tell which is which.
    return qif.read_qif(entry, _called(entry.base) if ledgers > 1 else "", order)


def _called(base: str) -> str:
    """Return what a file is called, however often and on whatever day it was downloaded."""
    stem = base.rpartition(".")[0] or base
    return plain_name(stem) or stem
