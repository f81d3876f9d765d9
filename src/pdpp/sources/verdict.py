"""The verdict: which source an export belongs to, or words that say why none takes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources import registry
from pdpp.sources.guard import SURPRISES
from pdpp.sources.registry import Broken
from pdpp.sources.source import Confidence, Recognition, Refusal, Source, Wishes
from pdpp.sources.tree import Tree

_INFER = "CSV, JSON and NDJSON of any other kind come in with --infer"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The source that takes an export, and what it saw."""

    source: Source
    found: Recognition


def judge(
    tree: Tree, wishes: Wishes, chosen: str | None = None, own: Sequence[Source] = ()
) -> Verdict:
    """Ask every source, the owner's own too, or only the chosen one; return the surest."""
    if not tree.entries:
        raise ImportRefused(f"{tree.path.name} holds no file that can be read{_refused(tree)}")
    if chosen is not None:
        mine = next((source for source in own if source.connector_key == chosen), None)
        return judge_one(tree, wishes, mine or registry.load(chosen))
    sources = [*registry.every(), *own]
    broken = [source.words for source in sources if isinstance(source, Broken)]
    verdicts, refusals = _ask(
        tree, wishes, [source for source in sources if isinstance(source, Source)]
    )
    sure = [verdict for verdict in verdicts if verdict.found.confidence is Confidence.CERTAIN]
    best = sure or verdicts
    if len(best) == 1:
        return best[0]
    if best:
        raise ImportRefused(_ambiguous(tree, best))
    raise ImportRefused("; ".join([*(refusals or [_unknown(tree)]), *broken]))


def judge_one(tree: Tree, wishes: Wishes, source: Source) -> Verdict:
    """Ask one source, which must take the export."""
    try:
        found = source.recognise(tree, wishes)
    except SURPRISES:
        found = None
    if isinstance(found, Recognition):
        return Verdict(source, found)
    if isinstance(found, Refusal):
        raise ImportRefused(found.message)
    raise ImportRefused(f"{tree.path.name} does not look like {source.label}: it is {tree.sight()}")


def _ask(tree: Tree, wishes: Wishes, sources: Iterable[Source]) -> tuple[list[Verdict], list[str]]:
    verdicts: list[Verdict] = []
    refusals: list[str] = []
    for source in sources:
        try:
            found = source.recognise(tree, wishes)
        except DamagedFile as problem:
            found = Refusal(problem.message)
        except SURPRISES:
            continue
        if isinstance(found, Recognition):
            verdicts.append(Verdict(source, found))
        elif isinstance(found, Refusal) and found.message not in refusals:
            refusals.append(found.message)
    return verdicts, refusals


def _ambiguous(tree: Tree, verdicts: list[Verdict]) -> str:
    seen = ", ".join(
        f"{verdict.source.label} (--as {verdict.source.connector_key})" for verdict in verdicts
    )
    return f"{tree.path.name} looks like more than one thing: {seen}; say which with --as"


def _unknown(tree: Tree) -> str:
    return (
        f"{tree.path.name} is not known: it is {tree.sight()}{_refused(tree)}. "
        f"Known are {', '.join(registry.names())}; {_INFER}"
    )


def _refused(tree: Tree) -> str:
    if not tree.refused:
        return ""
    first = tree.refused[0]
    return f", and {len(tree.refused):,} refused ({first.reason}: {first.example})"
