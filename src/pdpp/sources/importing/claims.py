"""Claims: which source reads which files of a piece of a path."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pdpp.model.errors import ImportRefused
from pdpp.sources.importing.recognition import RecognisedExport, ask_source
from pdpp.sources.reading.tree import Tree, common_folder
from pdpp.sources.source import Confidence, ExportRefusal, OwnerChoices, Recognition, Source


@dataclass(frozen=True, slots=True)
class FoundExport:
    """An export and the files that belong to it."""

    tree: Tree
    export: RecognisedExport


@dataclass(frozen=True, slots=True)
class Claim:
    """The files that a source would read."""

    claimed: FoundExport
    names: frozenset[str]
    attachments: set[str] = field(default_factory=set, compare=False)
    """Documents and pictures that belong to the export, once somebody has asked."""

    @property
    def is_certain(self) -> bool:
        return self.claimed.export.recognition.confidence is Confidence.CERTAIN

    @property
    def root(self) -> str:
        """Return the folder that holds every one of the files."""
        return common_folder(self.names)


@dataclass(frozen=True, slots=True)
class ClaimedPiece:
    """A piece of a path that is looked at by itself, and the claims to its files that stand."""

    tree: Tree
    kept: list[Claim]
    refusals: list[str]


def look_at(tree: Tree, choices: OwnerChoices, sources: Sequence[Source]) -> ClaimedPiece:
    """Ask every source about one piece, and settle who reads which file."""
    claims: list[Claim] = []
    refusals: list[str] = []
    for source in sources:
        claims += _claims(tree, choices, source, refusals)
    return ClaimedPiece(tree, _settle(tree, claims), refusals)


def _claims(
    tree: Tree, choices: OwnerChoices, source: Source, refusals: list[str]
) -> Iterator[Claim]:
    for part in _subtrees(tree, source):
        recognition = ask_source(source, part, choices)
        if isinstance(recognition, ExportRefusal):
            refusals.append(recognition.message)
        elif isinstance(recognition, Recognition):
            names = frozenset(piece.entry.name for piece in source.parts(part, recognition))
            export = RecognisedExport(source, recognition)
            yield Claim(FoundExport(part, export), names)


def _subtrees(tree: Tree, source: Source) -> Iterator[Tree]:
    for root in source.roots(tree):
        alone = tree.get(root) if root else None
        if alone is not None:
            yield Tree(tree.path / root, "file", (alone,), (), tree.meter)
        else:
            yield tree if not root else tree.under(root)


def _settle(tree: Tree, claims: list[Claim]) -> list[Claim]:
    """Return the claims that stand: no two for one file, and certain ones before likely ones."""
    certain = [claim for claim in claims if claim.is_certain]
    likely = [claim for claim in claims if not claim.is_certain]
    kept: list[Claim] = []
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


def _covers(tree: Tree, certain: Claim, likely: Claim) -> bool:
    """Tell whether files lie inside an export that is certain, where they belong to it."""
    root = certain.root
    if not root:
        return tree.kind != "folder" or not likely.names
    return all(name.startswith(f"{root}/") for name in likely.names)


def _ambiguous(tree: Tree, claims: list[Claim]) -> str:
    sources = dict.fromkeys(claim.claimed.export.source for claim in claims)
    labels = ", ".join(f"{source.label} (--as {source.connector_key})" for source in sources)
    return f"{tree.path.name} looks like more than one thing: {labels}; say which with --as"
