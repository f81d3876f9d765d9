"""Discovery: every export that a path holds, at any depth, and what none of the sources knows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os.path import commonpath
from pathlib import Path

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources import registry
from pdpp.sources.importing.files import EVERYWHERE, passed_over_reason
from pdpp.sources.importing.recognition import (
    RecognisedExport,
    refused_words,
    unknown_words,
)
from pdpp.sources.importing.report import MOST_EXAMPLES
from pdpp.sources.item import Skipped
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.nested import UNREADABLE_ARCHIVE, expand, is_archive
from pdpp.sources.reading.tree import FileEntry, Tree, TreeLimits, open_tree
from pdpp.sources.source import Confidence, ExportRefusal, OwnerChoices, Recognition, Source

_TAKEOUT = re.compile(r"(takeout-\d{8}T\d{6}Z)", re.IGNORECASE)
_CLAUDE = re.compile(
    r"(?:conversations|projects|memories|light_metadata|frames|design_chats)-\d{3}", re.IGNORECASE
)
_META = re.compile(r"((?:facebook|instagram)-.+-\d{4}-\d{2}-\d{2})-\w+\.zip", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundExport:
    """An export and the files that belong to it."""

    tree: Tree
    export: RecognisedExport


@dataclass(slots=True)
class Discovery:
    """What was found at a path; ``unknown`` says of what is left what it is."""

    exports: list[FoundExport] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    refused: list[Skipped] = field(default_factory=list)
    """What cannot be read and belongs to none of the exports, or to several."""

    @property
    def left_out(self) -> list[str]:
        """Return words for everything that is in none of the exports."""
        return [*self.unknown, *(f"{skip.example} ({skip.reason})" for skip in self.refused)]


@dataclass(frozen=True, slots=True)
class _Claim:
    """The files that a source would read."""

    claimed: FoundExport
    names: frozenset[str]

    @property
    def is_certain(self) -> bool:
        return self.claimed.export.recognition.confidence is Confidence.CERTAIN

    @property
    def root(self) -> str:
        """Return the folder that holds every one of the files."""
        folders = {name.rpartition("/")[0] for name in self.names}
        return commonpath(folders) if folders and "" not in folders else ""


def discover(path: Path, choices: OwnerChoices, sources: Sequence[Source]) -> Discovery:
    """Look for exports of some sources in a file, a folder or an archive."""
    limits = TreeLimits()
    tree = expand(open_tree(path, limits), limits)
    if not tree.entries:
        raise ImportRefused(f"{path.name} holds no file that can be read{refused_words(tree)}")
    discovery = Discovery()
    if tree.kind == "folder":
        tree = _without_damaged(tree, discovery)
    for site in _sites(tree):
        _look(site, choices, sources, discovery)
    return discovery


def _without_damaged(tree: Tree, discovery: Discovery) -> Tree:
    """Return a folder without the archives that cannot be read, which are told for themselves.

    Such an archive may have been an export of its own; it belongs to none of those beside it.
    """
    damaged = [refused for refused in tree.refused if refused.reason == UNREADABLE_ARCHIVE]
    if not damaged:
        return tree
    discovery.refused += damaged
    # One deeper inside may be an attachment of the export around it, which looks for it there.
    names = {refused.example.partition(": ")[0] for refused in damaged}
    entries = tuple(entry for entry in tree.entries if "/" in entry.name or entry.name not in names)
    others = tuple(refused for refused in tree.refused if refused not in damaged)
    return Tree(tree.path, tree.kind, entries, others, tree.meter)


def _sites(tree: Tree) -> Iterator[Tree]:
    """Yield the pieces of a folder that are looked at by themselves.

    Loose files are one piece; an archive is one too, except that archives which a service hands
    out together, parts of one export, stay together.
    """
    if tree.kind != "folder":
        yield _without_archives(tree)
        return
    groups: dict[str, list[FileEntry]] = {}
    opened = sorted({name for entry in tree.entries if (name := _archive_of(tree, entry))})
    for entry in tree.entries:
        archive = _archive_of(tree, entry) or _manifest_group(entry, opened)
        if archive is None and entry.name not in opened:
            groups.setdefault("", []).append(entry)
        elif archive is not None:
            groups.setdefault(_group(archive), []).append(entry)
    for group, entries in groups.items():
        archives = {_archive_of(tree, entry) for entry in entries}
        alone = group and len(archives) == 1
        path = tree.path / str(archives.pop()) if alone else tree.path / group
        refused = tree.refused if not group else ()
        yield Tree(path, "zip" if group else "folder", tuple(entries), refused, tree.meter)


def _archive_of(tree: Tree, entry: FileEntry) -> str | None:
    """Return the outermost archive that an entry lies in."""
    steps = entry.name.split("/")
    for number in range(1, len(steps)):
        name = "/".join(steps[:number])
        if name.lower().endswith((".zip", ".tgz", ".tar", ".tar.gz")) and tree.get(name):
            return name
    return None


def _manifest_group(entry: FileEntry, archives: Iterable[str]) -> str | None:
    """Return an archive that a loose manifest of Claude's belongs to."""
    folder = entry.name.rpartition("/")[0]
    if not entry.base.startswith("manifest-") or entry.suffix != ".json":
        return None
    beside = (name for name in archives if name.rpartition("/")[0] == folder)
    return next((name for name in beside if _CLAUDE.match(name.rpartition("/")[2])), None)


def _group(archive: str) -> str:
    """Return what the archives of one export have in common, or the archive's own name."""
    folder, _, base = archive.rpartition("/")
    if parts := _TAKEOUT.match(base) or _META.match(base):
        return f"{folder}/{parts.group(1)}".strip("/")
    return f"{folder}/claude-export".strip("/") if _CLAUDE.match(base) else archive


def _without_archives(tree: Tree) -> Tree:
    """Return a tree without the archives whose entries stand in it themselves."""
    opened = {_archive_of(tree, entry) for entry in tree.entries}
    entries = tuple(
        entry
        for entry in tree.entries
        if entry.name not in opened and not _is_opened_inside(tree, entry)
    )
    return Tree(tree.path, tree.kind, entries, tree.refused, tree.meter)


def _is_opened_inside(tree: Tree, entry: FileEntry) -> bool:
    prefix = f"{entry.name}/"
    return is_archive(entry) and any(other.name.startswith(prefix) for other in tree.entries)


def _look(
    tree: Tree, choices: OwnerChoices, sources: Sequence[Source], discovery: Discovery
) -> None:
    """Ask every source about one piece, and settle who reads which file."""
    claims: list[_Claim] = []
    refusals: list[str] = []
    for source in sources:
        claims += _claims(tree, choices, source, refusals)
    kept = _settle(tree, claims)
    if len(kept) > 1:
        # In the report of each export it would be told several times.
        discovery.refused += tree.refused
    left = {entry.name: entry for entry in tree.entries}
    for claim in kept:
        others = [other for other in kept if other is not claim]
        export = _own_files(claim, others)
        if len(kept) > 1:
            own = export.tree
            export = FoundExport(
                Tree(own.path, own.kind, own.entries, (), own.meter), export.export
            )
        discovery.exports.append(export)
        for entry in export.tree.entries:
            left.pop(entry.name, None)
    if len(kept) > 1:
        discovery.unknown += _left_over(tree, left.values(), kept)
    if not kept:
        words = "; ".join(dict.fromkeys(refusals)) or unknown_words(tree, choices, sources)
        discovery.unknown.append(words)


def _claims(
    tree: Tree, choices: OwnerChoices, source: Source, refusals: list[str]
) -> Iterator[_Claim]:
    for part in _subtrees(tree, source):
        try:
            recognition = source.recognise(part, choices)
        except DamagedFile as problem:
            recognition = ExportRefusal(problem.message)
        except SURPRISES:
            continue
        if isinstance(recognition, ExportRefusal):
            refusals.append(recognition.message)
        elif isinstance(recognition, Recognition):
            names = frozenset(piece.entry.name for piece in source.parts(part, recognition))
            export = RecognisedExport(source, recognition)
            yield _Claim(FoundExport(part, export), names)


def _subtrees(tree: Tree, source: Source) -> Iterator[Tree]:
    for root in source.roots(tree):
        alone = tree.get(root) if root else None
        if alone is not None:
            yield Tree(tree.path / root, "file", (alone,), (), tree.meter)
        else:
            yield tree if not root else tree.under(root)


def _settle(tree: Tree, claims: list[_Claim]) -> list[_Claim]:
    """Return the claims that stand: no two for one file, and certain ones before likely ones."""
    certain = [claim for claim in claims if claim.is_certain]
    likely = [claim for claim in claims if not claim.is_certain]
    kept: list[_Claim] = []
    for claim in certain:
        rivals = [other for other in certain if other is not claim and other.names & claim.names]
        if rivals:
            raise ImportRefused(_ambiguous(tree, [claim, *rivals]))
        kept.append(claim)
    for claim in likely:
        if any(claim.names & other.names or _covers(tree, other, claim) for other in certain):
            continue
        rivals = [other for other in likely if other is not claim and other.names & claim.names]
        if rivals:
            raise ImportRefused(_ambiguous(tree, [claim, *rivals]))
        kept.append(claim)
    return kept


def _covers(tree: Tree, certain: _Claim, likely: _Claim) -> bool:
    """Tell whether files lie inside an export that is certain, where they belong to it."""
    root = certain.root
    if not root:
        return tree.kind != "folder" or not likely.names
    return all(name.startswith(f"{root}/") for name in likely.names)


def _own_files(claim: _Claim, others: Iterable[_Claim]) -> FoundExport:
    """Return an export with its files, without those that other exports of the same piece read."""
    taken = frozenset().union(*(other.names for other in others))
    tree, export = claim.claimed.tree, claim.claimed.export
    if not taken:
        return claim.claimed
    folders = {name.rpartition("/")[0] for name in claim.names}
    entries = tuple(
        entry
        for entry in tree.entries
        if entry.name not in taken and _is_near(entry, claim.names, folders)
    )
    return FoundExport(Tree(tree.path, tree.kind, entries, tree.refused, tree.meter), export)


def _left_over(tree: Tree, entries: Iterable[FileEntry], claims: Iterable[_Claim]) -> Iterator[str]:
    """Tell of the files that stand in the report of no export, because none of them is near."""
    patterns = dict(EVERYWHERE)
    for claim in claims:
        patterns.update(claim.claimed.export.source.passed_over)
    names = [entry.name for entry in entries if passed_over_reason(entry, patterns) is None]
    if names:
        examples = ", ".join(names[:MOST_EXAMPLES])
        more = " and more" if len(names) > MOST_EXAMPLES else ""
        files = counted(len(names), "file")
        yield f"{tree.path.name} also holds {files} that no source reads: {examples}{more}"


def _is_near(entry: FileEntry, names: frozenset[str], folders: set[str]) -> bool:
    if entry.name in names:
        return True
    return any(not folder or entry.name.startswith(f"{folder}/") for folder in folders)


def _ambiguous(tree: Tree, claims: list[_Claim]) -> str:
    sources = dict.fromkeys(claim.claimed.export.source for claim in claims)
    labels = ", ".join(f"{source.label} (--as {source.connector_key})" for source in sources)
    return f"{tree.path.name} looks like more than one thing: {labels}; say which with --as"


def usable_sources(chosen: str | None, own: Sequence[Source]) -> tuple[list[Source], list[str]]:
    """Return the sources to ask, and remarks on plugins that cannot be used."""
    if chosen is not None:
        mine = next((source for source in own if source.connector_key == chosen), None)
        return [mine or registry.load(chosen)], []
    loaded = [*registry.every(), *own]
    sources = [source for source in loaded if isinstance(source, Source)]
    return sources, [broken.words for broken in loaded if not isinstance(broken, Source)]
