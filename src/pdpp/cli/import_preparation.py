"""Import preparation: find out what paths hold and where it goes, before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from pdpp.cli.output import note
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.service.settings import Settings
from pdpp.sources.importing.by_account import by_account
from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.importing.destination import (
    as_remembered,
    connections_of,
    find_destination,
    identity_of,
    in_turn,
    of_account,
)
from pdpp.sources.importing.discovery import Discovery, discover, usable_sources
from pdpp.sources.importing.known_folders import without_known
from pdpp.sources.importing.pieces import places
from pdpp.sources.importing.recognition import RecognisedExport, recognise_export
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import ImportEnvironment, ImportTask
from pdpp.sources.importing.unreadable import without_unreadable
from pdpp.sources.item import Skipped
from pdpp.sources.reading.nested import UNREADABLE_ARCHIVE
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.source import OwnerChoices, Source
from pdpp.sources.table.own import OwnTable, own_export, own_sources
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.port import Store

_MAIL = "mail"
_NO_NAMES = frozenset({"y", "yes", "n", "no"})


@dataclass(frozen=True, slots=True)
class Choice:
    """What the owner said of the export."""

    source: str | None = None
    connection_id: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    infer: bool = False
    declaration: Mapping[str, Any] | None = None
    stream: str | None = None
    account: str | None = None
    asks: bool = False
    """Whether a person can be asked whose export it is."""
    mirror: bool = False

    @property
    def takes_loose(self) -> bool:
        """Tell whether documents and photos that belong to no export are wanted.

        They go into accounts of their own, so not where the owner named a source or an account, or
        wants an account to hold nothing but what is there.
        """
        return not (self.source or self.connection_id or self.account or self.mirror)


class PreparedImport(NamedTuple):
    """An export that is ready to be brought in; ``own`` where a plan of the owner's reads it.

    ``within`` is the path in which it was found, ``files`` those that are meant, if the path alone
    does not tell. ``whole`` says that folders in it are meant too which other accounts hold.
    """

    task: ImportTask
    choices: OwnerChoices
    own: OwnTable | None
    within: Path | None = None
    files: Sequence[str] = ()
    whole: bool = False


class PreparedImports(NamedTuple):
    """The exports that some paths hold, words for what no source knows, and what is damaged.

    ``empty`` are the paths that hold no export, though the owner named them.
    """

    imports: list[PreparedImport]
    unknown: list[str]
    refused: list[Skipped]
    empty: list[Path]


def prepare_all(
    store: Store, state: ImportState, paths: Sequence[Path], choice: Choice
) -> PreparedImports:
    """Find out what paths hold and where it goes; nothing is written yet."""
    choices = OwnerChoices(choice.settings, state.recall, chosen=choice.source is not None)
    sources, broken = usable_sources(choice.source, own_sources(state.plans()))
    imports: list[PreparedImport] = []
    unknown: list[str] = []
    refused: list[Skipped] = []
    empty: list[Path] = []
    looked_at = places(paths)
    for path, only in looked_at:
        try:
            discovery = discover(path, choices, sources, loose=choice.takes_loose, only=only)
        except ImportRefused as problem:
            if len(looked_at) == 1:
                raise
            words = Skipped(UNREADABLE_ARCHIVE, f"{path.name}: {problem.message}")
            discovery = Discovery(refused=[words])
        if not discovery.exports:
            empty.append(path)
        unknown += _unknown_words(path, discovery, choice, sources, state)
        refused += discovery.refused
        _check_settings(choice, [export.export.source for export in discovery.exports])
        found = discovery.exports
        whole = bool(choice.connection_id or choice.account)
        if not whole:
            found = by_account(store, state, choices, found)
        for export in found:
            task = _task(store, state, export.tree, export.export, choice, path)
            imports.append(PreparedImport(task, choices, None, path, export.files, whole))
    if not imports:
        raise ImportRefused("; ".join([*unknown, *map(refused_text, refused), *broken]))
    ordered = in_turn(imports, lambda planned: planned.task.export)
    return PreparedImports(ordered, unknown, refused, empty)


def refused_text(refused: Skipped) -> str:
    return f"{refused.example} ({refused.reason})"


def _unknown_words(
    path: Path,
    discovery: Discovery,
    choice: Choice,
    sources: Sequence[Source],
    state: ImportState,
) -> list[str]:
    """Say what is not known; of an export that is not what the owner called it, what it is."""
    if choice.source is None or discovery.exports or not discovery.unknown:
        return discovery.unknown
    named = f"{path.name} does not look like {sources[0].label}"
    every, _ = usable_sources(None, own_sources(state.plans()))
    found = discover(path, OwnerChoices(choice.settings, state.recall), every).exports
    if not found:
        return [f"{named}: {words}" for words in discovery.unknown]
    labels = dict.fromkeys(export.export.source.label for export in found)
    return [f"{named}; without --as it is {', '.join(labels)}"]


def prepare(store: Store, state: ImportState, path: Path, choice: Choice) -> PreparedImport:
    """Find out what one path holds as a whole, as a watch and a plan of the owner's need it."""
    tree = open_tree(path)
    choices = OwnerChoices(choice.settings, state.recall, chosen=choice.source is not None)
    own = _own(store, state, tree, choice)
    if own is not None:
        export = own_export(tree, choices, own)
    else:
        tree, export = _recognised(tree, choices, choice, own_sources(state.plans()))
    _check_settings(choice, [export.source])
    if not (choice.connection_id or choice.account):
        _refuse_known_folders(store, state, choices, FoundExport(tree, export))
    return PreparedImport(_task(store, state, tree, export, choice), choices, own)


def _refuse_known_folders(
    store: Store, state: ImportState, choices: OwnerChoices, found: FoundExport
) -> None:
    """Refuse to watch as one what holds folders of notes that are accounts of their own."""
    pieces = without_known(store.catalogue(), state, choices, [found])
    known = [piece.tree.path.name for piece in pieces if piece.tree.path != found.tree.path]
    if known:
        words = "holds folders that came in by themselves; import it without --watch, or watch"
        raise ImportRefused(f"{found.tree.path.name} {words} each of them: {', '.join(known)}")


def _recognised(
    tree: Tree, choices: OwnerChoices, choice: Choice, own: Sequence[Source]
) -> tuple[Tree, RecognisedExport]:
    """Return an export with its files, without those that cannot be read if they are in the way."""
    try:
        return tree, recognise_export(tree, choices, choice.source, own)
    except (ImportRefused, DamagedFile):
        rest = without_unreadable(tree)
        if rest is tree or not rest.entries:
            raise
        return rest, recognise_export(rest, choices, choice.source, own)


def _check_settings(choice: Choice, sources: Sequence[Source]) -> None:
    """Refuse a setting that none of the sources has."""
    known = {name: help_ for source in sources for name, help_ in source.settings.items()}
    unknown = sorted(choice.settings.keys() - known.keys())
    if unknown and sources:
        labels = " and ".join(dict.fromkeys(source.label for source in sources))
        has = ", ".join(f"{name} ({help_})" for name, help_ in known.items()) or "none"
        raise ImportRefused(f"{labels} has no setting {unknown[0]!r}; it has {has}")


def _task(
    store: Store,
    state: ImportState,
    tree: Tree,
    export: RecognisedExport,
    choice: Choice,
    within: Path | None = None,
) -> ImportTask:
    if choice.account:
        export = of_account(export, tree, choice.account)
    else:
        export = as_remembered(state, tree, export)
    destination = find_destination(store, state, tree, export, choice.connection_id)
    if choice.asks and destination.is_new and not export.recognition.owner_known:
        name = _ask_account(store, tree, export)
        if name:
            export = of_account(export, tree, name)
            destination = find_destination(store, state, tree, export, choice.connection_id)
    limits = Settings()
    environment = ImportEnvironment(
        store, state, partial(_intake, store, limits.line_bytes), limits.blob_bytes
    )
    return ImportTask(tree, export, destination, environment, within)


def _ask_account(store: Store, tree: Tree, export: RecognisedExport) -> str:
    """Ask once whose an export is that does not tell; nothing is an answer too.

    Mail has an address that is worth knowing. Of anything else the first account needs no name.
    """
    others = connections_of(store.catalogue(), export.source.connector_key)
    if export.source.connector_key == _MAIL:
        words, wanted = "whose mail it holds", "Its owner's address"
    elif others and not identity_of(export):
        names = ", ".join(repr(other.display_name) for other in others)
        words = f"whose it is, and no account holds the same; there is {names}"
        wanted = "The account that it belongs to"
    else:
        return ""
    note(visible(f"{tree.path.name} does not say {words}.", lines=False))
    known = visible(export.recognition.account, lines=False)
    prompt = f"{wanted}, or Enter for an account {known!r}"
    answer = _prompted(prompt)
    while answer.casefold() in _NO_NAMES:  # Most questions want a yes or a no.
        note(f"{answer!r} names no account: write a name, or press Enter.")
        answer = _prompted(prompt)
    return answer


def _prompted(prompt: str) -> str:
    answer: str = click.prompt(prompt, default="", show_default=False, err=True)
    return answer.strip()


def _own(store: Store, state: ImportState, tree: Tree, choice: Choice) -> OwnTable | None:
    """Return the plan that is drafted, or that the owner's declaration makes."""
    if not choice.infer and choice.declaration is None:
        return None
    planned = {source.connector_key for source in own_sources(state.plans())}
    others = store.catalogue().sources.keys() - planned
    if choice.declaration is not None:
        return OwnTable.declared(tree, choice.declaration, choice.stream, others)
    return OwnTable.drafted(tree, choice.source, choice.settings, others)


def _intake(store: Store, line_bytes: int, feed: Feed) -> Intake:
    return Intake(store, feed, now=instant.now(), line_bytes=line_bytes, keep_newer=True)
