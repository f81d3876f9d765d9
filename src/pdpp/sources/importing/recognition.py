"""Recognition: find the source an export belongs to, or say why none takes it."""

import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePath
from traceback import extract_tb

from pdpp.model.errors import DamagedFile, ImportRefused, PdppError
from pdpp.sources import registry
from pdpp.sources.importing.strangers import holds_secrets, stranger_words
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.sqlitefile import cut_words, databases
from pdpp.sources.reading.tree import Tree
from pdpp.sources.registry import BrokenPlugin
from pdpp.sources.source import Confidence, ExportRefusal, OwnerChoices, Recognition, Source

_INFER = "CSV, JSON and NDJSON of any other kind come in with --infer"
_COLUMNS = "--set date=NAME --set amount=NAME --set memo=NAME"
_BANK = f"; as a bank statement with its columns named: {_COLUMNS}"
_TABLES = frozenset({".csv", ".tsv", ".json", ".ndjson", ".jsonl"})


@dataclass(frozen=True, slots=True)
class RecognisedExport:
    """The source that takes an export, and what it saw."""

    source: Source
    recognition: Recognition


def recognise_export(
    tree: Tree, choices: OwnerChoices, chosen: str | None = None, own: Sequence[Source] = ()
) -> RecognisedExport:
    """Ask every source, the owner's own too, or only the chosen one; return the surest."""
    if not tree.entries:
        raise ImportRefused(f"{tree.path.name} holds no file that can be read{refused_words(tree)}")
    if chosen is not None:
        mine = next((source for source in own if source.connector_key == chosen), None)
        return recognise_as(tree, choices, mine or registry.load(chosen))
    sources = [*registry.every(), *own]
    broken = [source.words for source in sources if isinstance(source, BrokenPlugin)]
    usable = [source for source in sources if isinstance(source, Source)]
    exports, refusals = _ask(tree, choices, usable)
    certain = [export for export in exports if export.recognition.confidence is Confidence.CERTAIN]
    best = certain or exports
    if len(best) == 1:
        return best[0]
    if best:
        raise ImportRefused(_ambiguous(tree, best))
    words = refusals or [unknown_words(tree, choices, usable)]
    raise ImportRefused("; ".join([*words, *broken]))


def recognise_as(tree: Tree, choices: OwnerChoices, source: Source) -> RecognisedExport:
    """Ask one source, which must take the export."""
    try:
        recognition = source.recognise(tree, choices)
    except SURPRISES:
        recognition = None
    if isinstance(recognition, Recognition):
        return RecognisedExport(source, recognition)
    if isinstance(recognition, ExportRefusal):
        raise ImportRefused(recognition.message)
    raise ImportRefused(f"{tree.path.name} does not look like {source.label}: it is {tree.sight()}")


def ask_source(
    source: Source, tree: Tree, choices: OwnerChoices
) -> Recognition | ExportRefusal | None:
    """Return what a source says of an export: damage is refused, what it stumbles over is not its.

    One source that fails keeps no other from being asked. Where the owner named the source, and
    where it fails as no reader of files does, it is told where it failed.
    """
    try:
        return source.recognise(tree, choices)
    except DamagedFile as problem:
        return ExportRefusal(problem.message, damaged=True)
    except PdppError:
        raise
    except Exception as problem:  # noqa: BLE001 - a stranger's source may fail in any way
        if isinstance(problem, SURPRISES) and not choices.chosen:
            return None
        return source_failure(source, problem)


def source_failure(source: Source, problem: Exception) -> ExportRefusal:
    """Return what is told of a source that failed: the error and its line, never the content."""
    last = extract_tb(problem.__traceback__)[-1]
    place = f"{PurePath(last.filename).name} line {last.lineno}"
    return ExportRefusal(f"{source.label} failed with {type(problem).__name__} in {place}")


def _ask(
    tree: Tree, choices: OwnerChoices, sources: Iterable[Source]
) -> tuple[list[RecognisedExport], list[str]]:
    exports: list[RecognisedExport] = []
    refusals: list[str] = []
    for source in sources:
        recognition = ask_source(source, tree, choices)
        if isinstance(recognition, Recognition):
            exports.append(RecognisedExport(source, recognition))
        elif isinstance(recognition, ExportRefusal) and recognition.message not in refusals:
            refusals.append(recognition.message)
    return exports, refusals


def _ambiguous(tree: Tree, exports: list[RecognisedExport]) -> str:
    seen = ", ".join(
        f"{export.source.label} (--as {export.source.connector_key})" for export in exports
    )
    return f"{tree.path.name} looks like more than one thing: {seen}; say which with --as"


def unknown_words(tree: Tree, choices: OwnerChoices, sources: Iterable[Source]) -> str:
    """Say what a tree is that no source knows, and which would read a part of it if told to."""
    if tree.kind == "file" and not any(entry.size for entry in tree.entries):
        return f"{tree.path.name} is empty; download it again"
    return (
        f"{tree.path.name} is not known: it is {tree.sight()}{refused_words(tree)}"
        f"{_cut_databases(tree)}{stranger_words(tree.entries)}"
        f"{hint_words(tree, choices, sources)}{_infer_words(tree)}. "
        f"Known are {', '.join(registry.names())}; {_INFER}"
    )


def _infer_words(tree: Tree) -> str:
    """Name the command that reads a table which no service writes."""
    if tree.kind != "file" or tree.path.suffix.lower() not in _TABLES:
        return ""
    if holds_secrets(tree.entries):
        return ""
    command = shlex.join(["pdpp", "import", str(tree.path), "--infer"])
    bank = _BANK if tree.path.suffix.lower() == ".csv" else ""
    return f". As a table of your own it comes in with: {command}{bank}"


def _cut_databases(tree: Tree) -> str:
    """Tell of a database that is cut off: its engine does not open it, so no source knows it."""
    with suppress(DamagedFile):
        for words in filter(None, map(cut_words, databases(tree))):
            return f". The database {words}; copy it again"
    return ""


def hint_words(tree: Tree, choices: OwnerChoices, sources: Iterable[Source]) -> str:
    """Say which sources would read a part of a tree if they were told to."""
    as_chosen = replace(choices, chosen=True)
    able, _ = _ask(tree, as_chosen, sources)
    return "".join(
        f". A part of it comes in with --as {export.source.connector_key}"
        f" ({export.recognition.version})"
        for export in able
    )


def refused_words(tree: Tree) -> str:
    """Say what of a tree may not be read."""
    if not tree.refused:
        return ""
    first = tree.refused[0]
    return f", and {len(tree.refused):,} refused ({first.reason}: {first.example})"
