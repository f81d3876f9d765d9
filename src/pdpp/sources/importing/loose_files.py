"""Loose files: documents and photos in a folder of many things that belong to none of its exports.

A picture of a chat or a paper in a note comes in with the chat or the note, and never a second time
by itself.
"""

import re
import shlex
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.importing.claims import Claim, ClaimedPiece, FoundExport, lies_in
from pdpp.sources.importing.files import passed_over_reason
from pdpp.sources.importing.recognition import RecognisedExport, ask_source
from pdpp.sources.importing.report import MOST_EXAMPLES
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.tree import FileEntry, Tree, common_folder, is_hidden
from pdpp.sources.source import FileSource, OwnerChoices, Recognition, Source

_BEFORE_TAKEOUT = re.compile(r"\A(?:[^/]+/)*?(?=Takeout/)")
_ARCHIVE = re.compile(r"\A(?:.*?\.(?:zip|tgz|tar|tar\.gz)/)", re.IGNORECASE | re.DOTALL)


class GatheredFiles(NamedTuple):
    """The exports that loose files make, and words for those that only the owner can tell.

    ``told`` names the files that the words are about.
    """

    exports: list[FoundExport]
    passed_by: list[str]
    told: frozenset[str]


def gather(
    tree: Tree,
    sites: Sequence[ClaimedPiece],
    choices: OwnerChoices,
    sources: Sequence[Source],
    *,
    loose: bool,
) -> GatheredFiles:
    """Make one export of all files of each source of files, of all pieces of a path.

    What lies there zipped and unzipped then comes once. A piece that holds nothing else stays an
    export of its own if no other file of the source is there. Without ``loose`` only such pieces
    are put together.
    """
    asked = [source for source in sources if isinstance(source, FileSource)]
    free = _free(tree, sites, asked)
    free = free if loose else tree.these_only(())
    gathered: list[FoundExport] = []
    for source in asked:
        picked = _picked(free, source)
        export = _joined(tree, sites, choices, source, picked)
        if export is not None:
            gathered.append(export)
            free = free.without({entry.name for entry in export.tree.entries})
    return _with_passed_by(gathered, free, sites, asked)


def _with_passed_by(
    gathered: list[FoundExport],
    free: Tree,
    sites: Sequence[ClaimedPiece],
    sources: Sequence[FileSource],
) -> GatheredFiles:
    """Say of files beside exports that only the owner can say what they are, and how.

    Where no export lies beside them, whoever tells of all that is left tells of them.
    """
    beside = {entry.name for site in sites if site.kept for entry in site.tree.entries}
    words: list[str] = []
    told: set[str] = set()
    for source in sources:
        left = [
            entry
            for entry in free.entries
            if entry.suffix in source.endings and entry.name in beside and not is_hidden(entry)
        ]
        if left and source.unpicked:
            told.update(entry.name for entry in left)
            names = ", ".join(entry.name for entry in left[:MOST_EXAMPLES])
            more = " and more" if len(left) > MOST_EXAMPLES else ""
            place = str(
                free.path
                / _outside(
                    left[0].name if len(left) == 1 else common_folder(entry.name for entry in left)
                )
            )
            command = shlex.join(["pdpp", "import", place, "--as", source.connector_key])
            files = counted(len(left), *source.unpicked)
            words.append(
                f"{free.path.name} also holds {files}: {names}{more}. Import with: {command}"
            )
    return GatheredFiles(gathered, words, frozenset(told))


def _outside(folder: str) -> str:
    """Return a folder, or the archive that it lies in: only that has a path of its own."""
    archive = _ARCHIVE.match(f"{folder}/")
    return archive.group().removesuffix("/") if archive else folder


def _free(tree: Tree, sites: Sequence[ClaimedPiece], sources: Sequence[FileSource]) -> Tree:
    """Return the files that belong to no export."""
    endings = frozenset().union(*(source.endings for source in sources))
    alone = all(len(site.kept) < 2 for site in sites)
    if alone and not any(entry.suffix in endings for entry in tree.entries):
        return tree.these_only(())
    owned: set[str] = set()
    for site in sites:
        if site.is_refused and site.tree.kind != "folder":
            # An export that is known and cannot be read has such files too.
            owned.update(entry.name for entry in site.tree.entries)
        # An archive in the folder of an export may be an attachment of it.
        around = tree if site.tree.kind == "folder" else site.tree
        for claim in site.kept:
            own = _own(claim, around, plain=around is tree, alone=len(site.kept) == 1)
            claim.belongings.update(entry.name for entry in own)
            owned |= claim.names
            owned.update(entry.name for entry in own)
    return tree.without(owned)


def archives_of(archives: Sequence[FileEntry], site: ClaimedPiece, claim: Claim) -> list[FileEntry]:
    """Return the archives that belong to an export as files, such as one sent in a chat.

    What they hold is looked at by itself, and so they are not among the files of the piece.
    """
    claimed = claim.claimed
    others = [entry for entry in archives if claimed.tree.get(entry.name) is None]
    if not others:
        return []
    # A folder of the service may hold nothing else, and be one of its own all the same.
    wider = replace(claimed.tree, entries=(*claimed.tree.entries, *others))
    names = _belongings(
        replace(claim, claimed=replace(claimed, tree=wider)), alone=len(site.kept) == 1
    )
    return [entry for entry in others if lies_in(entry.name, names)]


def _own(claim: Claim, around: Tree, *, plain: bool, alone: bool) -> list[FileEntry]:
    """Return the files that belong to an export, of those around it."""
    names = _belongings(claim, alone=alone)
    if not names:
        return []
    if plain:
        return [entry for entry in around.entries if lies_in(entry.name, names)]
    # A service may put a chat into one archive and its pictures into the next.
    inner = {_inside(name) for name in names}
    return [entry for entry in around.entries if lies_in(_inside(entry.name), inner)]


def _belongings(claim: Claim, *, alone: bool) -> Set[str]:
    """Return the files and folders that belong to an export; all of it if nobody can tell.

    An archive that holds several exports is a folder of many things that somebody packed.
    """
    tree, export = claim.claimed.tree, claim.claimed.export
    if not alone:
        tree = replace(tree, kind="folder")
    try:
        names = set(export.source.belongings(tree, export.recognition))
    except (DamagedFile, *SURPRISES):
        names = {""}
    return {tree.top} if "" in names else names


def _inside(name: str) -> str:
    """Return the name of a file in the archive that it came in, unpacked or not."""
    inner = _ARCHIVE.sub("", f"{name}/", count=1)
    return _BEFORE_TAKEOUT.sub("", inner).removesuffix("/")


def _picked(free: Tree, source: FileSource) -> list[FileEntry]:
    """Return the files of a source, and what it passes over beside them."""
    picked = source.pick(free)
    names = {entry.name for entry in picked}
    folders = {entry.name.rpartition("/")[0] for entry in picked}
    return picked + [
        entry
        for entry in free.entries
        if entry.name.rpartition("/")[0] in folders
        and entry.name not in names
        and passed_over_reason(entry, source.passed_over) is not None
    ]


def _joined(
    tree: Tree,
    sites: Sequence[ClaimedPiece],
    choices: OwnerChoices,
    source: FileSource,
    picked: Sequence[FileEntry],
) -> FoundExport | None:
    """Return one export of picked files and of the pieces that a source claims whole."""
    whole = [
        (site, claim)
        for site in sites
        for claim in site.kept
        if claim.claimed.export.source is source
    ]
    if not picked and len(whole) < 2:
        return None
    names = {entry.name for entry in picked}
    names |= {entry.name for _, claim in whole for entry in claim.claimed.tree.entries}
    joined = tree.these_only(names)
    recognition = ask_source(source, joined, replace(choices, chosen=True))
    if not isinstance(recognition, Recognition):
        return None
    for site, claim in whole:
        site.kept.remove(claim)
    return FoundExport(joined, RecognisedExport(source, recognition))
