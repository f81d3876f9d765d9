"""Discovery: every export that a path holds, at any depth, and what none of the sources knows."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pdpp.evidence.amount import counted
from pdpp.model.errors import ImportRefused
from pdpp.sources import registry
from pdpp.sources.importing.claims import Claim, ClaimedPiece, FoundExport, look_at
from pdpp.sources.importing.files import EVERYWHERE, passed_over_reason
from pdpp.sources.importing.loose_files import archives_of, gather
from pdpp.sources.importing.lost_archives import divide
from pdpp.sources.importing.pieces import group_of, manifest_archive, unpacked_pieces
from pdpp.sources.importing.recognition import hint_words, refused_words, unknown_words
from pdpp.sources.importing.report import MOST_EXAMPLES
from pdpp.sources.importing.strangers import stranger_words
from pdpp.sources.item import Skipped
from pdpp.sources.reading.folder import UNFINISHED
from pdpp.sources.reading.nested import UNREADABLE_ARCHIVE, closed_archive, expand, is_archive
from pdpp.sources.reading.tarlist import DAMAGED_END, END
from pdpp.sources.reading.tree import (
    FileEntry,
    Tree,
    TreeLimits,
    folders_around,
    open_tree,
)
from pdpp.sources.source import OwnerChoices, Source

_MOST_KINDS = 20


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


def discover(
    path: Path,
    choices: OwnerChoices,
    sources: Sequence[Source],
    *,
    loose: bool = True,
    only: Collection[str] = (),
) -> Discovery:
    """Look for exports of some sources in a file, a folder or an archive.

    Documents and photos that belong to none of them are one export each, unless ``loose`` ones are
    not wanted. ``only`` names what of a folder is looked at, if not all of it.
    """
    limits = TreeLimits()
    tree = expand(open_tree(path, limits, only=only), limits)
    if not tree.entries:
        raise ImportRefused(f"{path.name} holds no file that can be read{refused_words(tree)}")
    discovery = Discovery()
    if tree.kind == "folder":
        tree = _without_damaged(tree, discovery)
    sites = [look_at(site, choices, sources) for site in _sites(tree)]
    gathered = gather(tree, sites, choices, sources, loose=loose)
    taken = {entry.name for export in gathered.exports for entry in export.tree.entries}
    taken |= _tell_closed(tree, sites, discovery)
    archives = [entry for entry in tree.entries if is_archive(entry)]
    sent = {
        id(claim): archives_of(archives, site, claim)
        for site in sites
        # An archive in a folder has kept those inside it.
        if site.tree.kind == tree.kind
        for claim in site.kept
    }
    parcels = {tree.path / entry.name for own in sent.values() for entry in own}
    for site in sites:
        if site.kept or site.tree.path not in parcels:
            _tell(site, taken, gathered.told, sent, choices, sources, discovery)
    discovery.exports += gathered.exports
    discovery.unknown += gathered.passed_by
    discovery.refused, discovery.exports = divide(discovery.refused, discovery.exports)
    return discovery


def _without_damaged(tree: Tree, discovery: Discovery) -> Tree:
    """Return a folder without the archives that cannot be read, which are told for themselves.

    Such an archive, or a download that is not finished, may have been an export of its own; it
    belongs to none of those beside it.
    """
    apart = (UNREADABLE_ARCHIVE, UNFINISHED)
    damaged = [refused for refused in tree.refused if refused.reason in apart]
    if not damaged:
        return tree
    discovery.refused += damaged
    # One deeper inside may be an attachment of the export around it, which looks for it there.
    names = {refused.example.partition(": ")[0] for refused in damaged}
    entries = tuple(entry for entry in tree.entries if "/" in entry.name or entry.name not in names)
    others = tuple(refused for refused in tree.refused if refused not in damaged)
    return Tree(tree.path, tree.kind, entries, others, tree.meter)


def _tell_closed(tree: Tree, sites: Sequence[ClaimedPiece], discovery: Discovery) -> frozenset[str]:
    """Tell of archives at the top that cannot be opened and no source reads; return their names.

    One deeper inside may be an attachment of the export around it.
    """
    claims = [claim for site in sites for claim in site.kept]
    closed = {
        entry.name: skip
        for entry in tree.entries
        if "/" not in entry.name and (skip := closed_archive(entry))
    }
    names = closed.keys() - {name for c in claims for name in (*c.names, *c.belongings)}
    discovery.refused += [closed[name] for name in sorted(names)]
    return frozenset(names)


def _sites(tree: Tree) -> Iterator[Tree]:
    """Yield the pieces of a folder that are looked at by themselves.

    Loose files are one piece; an archive is one too, except that archives which a service hands
    out together, parts of one export, stay together, unpacked or not.
    """
    if tree.kind != "folder":
        yield _without_archives(tree)
        return
    groups: dict[str, list[FileEntry]] = {}
    opened = sorted({name for entry in tree.entries if (name := _archive_of(tree, entry))})
    unpacked = unpacked_pieces(tree, opened)
    for entry in tree.entries:
        archive = _archive_of(tree, entry) or manifest_archive(entry, opened)
        if archive is not None:
            groups.setdefault(group_of(archive), []).append(entry)
        elif entry.name not in opened:
            group = next((unpacked[name] for name in folders_around(entry) if name in unpacked), "")
            groups.setdefault(group, []).append(entry)
    refused: dict[str, list[Skipped]] = {}
    for skip in tree.refused:
        inside = next((name for name in opened if skip.example.startswith(f"{name}/")), None)
        refused.setdefault(group_of(inside) if inside else "", []).append(skip)
    for group in groups | dict.fromkeys(refused):
        entries = tuple(groups.get(group, ()))
        archives = {_archive_of(tree, entry) for entry in entries}
        alone = group and len(archives) == 1
        path = tree.path / str(archives.pop()) if alone else tree.path / group
        kind = "zip" if group else "folder"
        yield Tree(path, kind, entries, tuple(refused.get(group, ())), tree.meter)


def _archive_of(tree: Tree, entry: FileEntry) -> str | None:
    """Return the outermost archive that an entry lies in."""
    for name in folders_around(entry):
        if name.lower().endswith((".zip", ".tgz", ".tar", ".tar.gz")) and tree.get(name):
            return name
    return None


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


def _tell(
    site: ClaimedPiece,
    taken: Set[str],
    told: Set[str],
    sent: Mapping[int, Sequence[FileEntry]],
    choices: OwnerChoices,
    sources: Sequence[Source],
    discovery: Discovery,
) -> None:
    """Add the exports of one piece without the files that were taken out of it, and the rest."""
    tree, kept = site.tree.without(taken), site.kept
    picked = len(tree.entries) < len(site.tree.entries)
    whole = len(kept) == 1 and kept[0].claimed.tree is site.tree
    if not whole and (kept or picked or not tree.entries):
        # In the report of each export it would be told several times, and in none of them at all.
        discovery.refused += tree.refused
    left = {
        entry.name: entry
        for entry in tree.entries
        if entry.name not in told and not _is_opened_inside(site.tree, entry)
    }
    for claim in kept:
        others = [other for other in kept if other is not claim]
        export = _with_archives(_own_files(claim, others, taken), sent.get(id(claim), ()))
        discovery.exports.append(export if whole else _unrefused(export, claim, site.tree))
        for entry in export.tree.entries:
            left.pop(entry.name, None)
    refusals = list(dict.fromkeys(site.refusals))
    if kept or picked:
        hints = hint_words(tree, choices, sources) if left and not kept else ""
        discovery.unknown += _left_over(tree, left.values(), kept, hints)
        discovery.unknown += [f"in {tree.path.name}: {words}" for words in refusals]
    elif tree.entries:
        words = "; ".join(refusals) or unknown_words(tree, choices, sources)
        discovery.unknown.append(words)


def _with_archives(export: FoundExport, archives: Sequence[FileEntry]) -> FoundExport:
    """Return an export with the archives that belong to it as files."""
    entries = sorted((*export.tree.entries, *archives), key=lambda entry: entry.name)
    return (
        replace(export, tree=replace(export.tree, entries=tuple(entries))) if archives else export
    )


def _unrefused(export: FoundExport, claim: Claim, site: Tree) -> FoundExport:
    """Return an export whose report tells only of its own files, and of what it may lack."""
    inside = tuple({f"{name.rpartition('/')[0]}/" for name in claim.names} - {"/"})
    near = tuple(
        lost
        for lost in export.tree.missing
        if lost not in site.refused or lost.example.startswith(inside) or _may_hold(lost, claim)
    )
    return replace(export, tree=replace(export.tree, refused=near))


def _may_hold(lost: Skipped, claim: Claim) -> bool:
    """Tell whether the end that an archive lost may be of an export in that archive."""
    archive = lost.example.rpartition(END)[0]
    return lost.reason == DAMAGED_END and any(name.startswith(archive) for name in claim.names)


def _own_files(claim: Claim, others: Sequence[Claim], picked: Set[str]) -> FoundExport:
    """Return an export with its files, without those that other exports read or that are loose."""
    taken = frozenset().union(*(other.names for other in others))
    own = claim.names
    if not claim.claimed.export.source.lies_among_others:
        own = own | claim.belongings
    taken |= frozenset().union(*(other.belongings for other in others)) - own
    tree, export = claim.claimed.tree.without(picked), claim.claimed.export
    if not taken:
        return FoundExport(tree, export)
    folders = {name.rpartition("/")[0] for name in claim.names}
    entries = tuple(
        entry
        for entry in tree.entries
        if entry.name not in taken
        and (entry.name in claim.belongings or _is_near(entry, claim, folders))
    )
    return FoundExport(Tree(tree.path, tree.kind, entries, tree.refused, tree.meter), export)


def _left_over(
    tree: Tree, entries: Iterable[FileEntry], claims: Iterable[Claim], hints: str
) -> Iterator[str]:
    """Tell of the files that stand in the report of no export, because none of them is near."""
    patterns = dict(EVERYWHERE)
    for claim in claims:
        patterns.update(claim.claimed.export.source.passed_over)
    left = [entry for entry in entries if passed_over_reason(entry, patterns) is None]
    names = [entry.name for entry in left]
    if names:
        examples = ", ".join(names[:MOST_EXAMPLES])
        more = f" and more ({_kinds(names)})" if len(names) > MOST_EXAMPLES else ""
        files = counted(len(names), "file")
        words = f"{examples}{more}{stranger_words(left)}{hints}"
        yield f"{tree.path.name} also holds {files} that no source reads: {words}"


def _kinds(names: Iterable[str]) -> str:
    """Return how many files have which ending, the most frequent first."""
    counts = Counter(PurePosixPath(name).suffix.lower() or "without an ending" for name in names)
    listed = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    kinds = [f"{count:,} {kind}" for kind, count in listed[:_MOST_KINDS]]
    return ", ".join([*kinds, *("…" for _ in listed[_MOST_KINDS:][:1])])


def _is_near(entry: FileEntry, claim: Claim, folders: set[str]) -> bool:
    """Tell whether a file lies with those that are read.

    At the very top of a folder or a zip with several exports lies whatever else somebody
    downloaded: of that only what the service writes is near, or each report would name all of it
    as not known.
    """
    if entry.name in claim.names:
        return True
    if any(folder and entry.name.startswith(f"{folder}/") for folder in folders):
        return True
    if "" not in folders:
        return False
    export = claim.claimed
    of_service = passed_over_reason(entry, export.export.source.passed_over) is not None
    return "/" not in entry.name and of_service


def usable_sources(chosen: str | None, own: Sequence[Source]) -> tuple[list[Source], list[str]]:
    """Return the sources to ask, and remarks on plugins that cannot be used."""
    if chosen is not None:
        mine = next((source for source in own if source.connector_key == chosen), None)
        return [mine or registry.load(chosen)], []
    loaded = [*registry.every(), *own]
    sources = [source for source in loaded if isinstance(source, Source)]
    return sources, [broken.words for broken in loaded if not isinstance(broken, Source)]
