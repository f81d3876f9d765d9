"""Databases of programs: what sources share that read one where its program keeps it."""

from collections.abc import Set

from pdpp.evidence.amount import counted
from pdpp.sources.reading.sqlitefile import databases_with
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import Confidence, Recognition


def recognise_databases(
    tree: Tree, tables: Set[str], account: str, noun: str
) -> Recognition | None:
    """Recognise the databases that have some tables; they do not say whose they are."""
    entries = databases_with(tree, tables)
    if not entries:
        return None
    return Recognition(
        Confidence.CERTAIN,
        counted(len(entries), noun),
        account=account,
        owner_known=False,
        detail={"entries": [entry.name for entry in entries]},
    )
