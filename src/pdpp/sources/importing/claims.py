"""Claims: which source reads which files of a piece of a path."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from pdpp.model.errors import DamagedFile, PdppError
from pdpp.sources.importing.files import passed_over_reason
from pdpp.sources.importing.owners import owned_parts
from pdpp.sources.importing.recognition import RecognisedExport, ask_source, source_failure
from pdpp.sources.importing.unreadable import unreadable_files
from pdpp.sources.item import Skipped
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.tree import Tree, common_folder
from pdpp.sources.source import Confidence, ExportRefusal, OwnerChoices, Recognition, Source


@dataclass(frozen=True, slots=True)
class FoundExport:
    """An export and the files that belong to it; ``files`` are read, if the path does not tell."""

    tree: Tree
    export: RecognisedExport
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """The files that a source would read."""

    claimed: FoundExport
    names: frozenset[str]
    belongings: set[str] = field(default_factory=set, compare=False)
    """The files that belong to the export with those it reads, once somebody has asked."""

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
    is_refused: bool = False
    """Whether all of it is an export that is known and cannot be read."""


def look_at(tree: Tree, choices: OwnerChoices, sources: Sequence[Source]) -> ClaimedPiece:
    """Ask every source about one piece, and settle who reads which file.

    A file that cannot be read at all costs none of the others: the sources that stumbled over it
    are asked again without it. What they then take is not complete.
    """
    claims: list[Claim] = []
    refusals: list[ExportRefusal] = []
    damaged: dict[str, Skipped] = {}
    for source in sources if tree.entries else ():
        answers = list(_claims(tree, choices, source))
        if any(isinstance(claim, ExportRefusal) and claim.damaged for claim in answers):
            damaged = damaged or unreadable_files(tree)
            if 0 < len(damaged) < len(tree.entries):
                rest = tree.without(damaged.keys())
                rest = replace(rest, refused=(*tree.refused, *damaged.values()))
                answers = list(_claims(rest, choices, source))
        claims += [claim for claim in answers if isinstance(claim, Claim)]
        refusals += [refusal for refusal in answers if isinstance(refusal, ExportRefusal)]
    claims = _without_sent(claims, choices)
    words = [skip.example for skip in damaged.values()]
    words += [refusal.message for refusal in refusals]
    kept = _settle(tree, _apart(claims, choices), words)
    of_some = {refusal.message for refusal in refusals if refusal.lies_among_others}
    return ClaimedPiece(tree, kept, words, is_refused=not kept and not of_some.issuperset(words))


def _claims(tree: Tree, choices: OwnerChoices, source: Source) -> Iterator[Claim | ExportRefusal]:
    try:
        for root in _subtrees(tree, source):
            for part, recognition in owned_parts(root, choices, source):
                if isinstance(recognition, ExportRefusal):
                    yield recognition
                elif isinstance(recognition, Recognition):
                    yield _claim(part, source, recognition)
    except DamagedFile as problem:
        yield ExportRefusal(problem.message, damaged=True)
    except PdppError:
        raise
    except Exception as problem:  # noqa: BLE001 - a stranger's source may fail in any way
        yield source_failure(source, problem)


def _claim(tree: Tree, source: Source, recognition: Recognition) -> Claim:
    names = frozenset(part.entry.name for part in source.parts(tree, recognition))
    return Claim(FoundExport(tree, RecognisedExport(source, recognition)), names)


def _subtrees(tree: Tree, source: Source) -> Iterator[Tree]:
    roots = list(source.roots(tree))
    for root in roots:
        if root:
            inside = tree.under(root)  # An archive is a file, and a folder of what it holds.
            yield inside if inside.entries else tree.alone(root)
        else:
            # Beside exports of their own the top is what lies in none of them.
            inner = tuple(f"{other}/" for other in roots if other)
            yield tree.without(
                {entry.name for entry in tree.entries if f"{entry.name}/".startswith(inner)}
            )


def _without_sent(claims: list[Claim], choices: OwnerChoices) -> list[Claim]:
    """Return the claims without the files that were sent in a chat, which keeps them.

    A card or a calendar that somebody sent is no address book and no calendar of one's own.
    """
    whole = [claim for claim in claims if claim.claimed.export.source.lies_among_others]
    loose = frozenset().union(*(claim.names for claim in whole))
    sent = frozenset().union(*(_sent(claim, loose - claim.names) for claim in claims))
    if not sent:
        return claims
    left = (
        _without(claim, claim.names & sent if claim in whole else frozenset(), choices)
        for claim in claims
    )
    return [claim for claim in left if claim is not None]


def _sent(claim: Claim, loose: Set[str]) -> Set[str]:
    """Return those of some files that were sent in the chats of an export."""
    tree, export = claim.claimed.tree, claim.claimed.export
    near = {name for name in loose if tree.get(name) is not None}
    if not near or not claim.is_certain:
        return frozenset()
    try:
        sent = set(export.source.sent(tree, export.recognition))
    except (DamagedFile, *SURPRISES):
        return frozenset()
    return {name for name in near if lies_in(name, sent)}


def lies_in(name: str, names: Set[str]) -> bool:
    """Tell whether a file is one of some files, or lies in one of some folders."""
    steps = name.split("/")
    return any("/".join(steps[:length]) in names for length in range(len(steps) + 1))


def _apart(claims: list[Claim], choices: OwnerChoices) -> list[Claim]:
    """Return the claims without the files that another claim has a better right to.

    The logs of two agents or the notes of two programs may lie in one folder of downloads, and a
    source that knows its files by their ending claims those of the other too.
    """
    holders: dict[str, list[Claim]] = {}
    for claim in claims:
        for name in claim.names:
            holders.setdefault(name, []).append(claim)
    lost: dict[int, set[str]] = {}
    for name, rivals in holders.items():
        if len(rivals) > 1:
            rights = [_right(claim, name, choices) for claim in rivals]
            if rights.count(max(rights)) == 1:
                for claim, right in zip(rivals, rights, strict=True):
                    if right < max(rights):
                        lost.setdefault(id(claim), set()).add(name)
    return [
        left for claim in claims if (left := _without(claim, lost.get(id(claim), set()), choices))
    ]


def _right(claim: Claim, name: str, choices: OwnerChoices) -> tuple[bool, int]:
    """Return how good the right to a file is: of all that is claimed, then of the file alone."""
    tree, source = claim.claimed.tree, claim.claimed.export.source
    seen = ask_source(source, tree.alone(name), choices)
    if not isinstance(seen, Recognition):
        return claim.is_certain, 0
    return claim.is_certain, 2 if seen.confidence is Confidence.CERTAIN else 1


def _without(claim: Claim, names: Set[str], choices: OwnerChoices) -> Claim | None:
    """Return a claim to what is left of its files, if its source still knows them."""
    if not names:
        return claim
    tree, source = claim.claimed.tree.without(names), claim.claimed.export.source
    seen = ask_source(source, tree, choices) if tree.entries else None
    return _claim(tree, source, seen) if isinstance(seen, Recognition) else None


def _settle(tree: Tree, claims: list[Claim], refusals: list[str]) -> list[Claim]:
    """Return the claims that stand: no two for one file, and certain ones before likely ones.

    Files that two sources claim alike are left for the owner to decide; the others come in.
    """
    certain = [claim for claim in claims if claim.is_certain]
    likely = [
        claim
        for claim in claims
        if not claim.is_certain
        and not any(claim.names & other.names or _covers(tree, other, claim) for other in certain)
    ]
    kept: list[Claim] = []
    for equals in (certain, likely):
        for claim in equals:
            rivals = [other for other in equals if other is not claim and other.names & claim.names]
            if not rivals:
                kept.append(claim)
            elif (words := _ambiguous(tree, [claim, *rivals])) not in refusals:
                refusals.append(words)
    return kept


def _covers(tree: Tree, certain: Claim, likely: Claim) -> bool:
    """Tell whether files lie inside an export that is certain, where they belong to it.

    The folder around all files of a claim may hold anything, if these are of several exports, such
    as two chats or the statements of two months. What belongs to one lies in the folders of these.
    """
    if certain.claimed.export.source.files_stand_alone:
        return _has_some(certain, likely.names)
    if not certain.root:
        return tree.kind != "folder" or not likely.names
    inside = tuple({f"{name.rpartition('/')[0]}/" for name in certain.names})
    return all(name.startswith(inside) for name in likely.names)


def _has_some(claim: Claim, names: Set[str]) -> bool:
    """Tell whether some of a few files are of an export, such as a table that came with a mail."""
    tree, export = claim.claimed.tree, claim.claimed.export
    own = set(export.source.belongings(tree, export.recognition))
    patterns = export.source.passed_over
    near = [entry for name in names if (entry := tree.get(name)) is not None]
    return any(lies_in(e.name, own) or passed_over_reason(e, patterns) is not None for e in near)


def _ambiguous(tree: Tree, claims: list[Claim]) -> str:
    sources = {claim.claimed.export.source.label: claim.claimed.export.source for claim in claims}
    labels = ", ".join(f"{name} (--as {sources[name].connector_key})" for name in sorted(sources))
    names = {tree.path / name for claim in claims for name in claim.names}
    what = names.pop() if len(names) == 1 else tree.path
    return f"{what.name} looks like more than one thing: {labels}; say which with --as"
