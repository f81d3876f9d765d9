"""Pages read records through operations; of the store they take types and what has no records."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "src" / "pdpp" / "pages"
MODULES = sorted(PAGES.rglob("*.py"))

TYPES = {
    "pdpp.store.catalogue": {"Catalogue", "Feed"},
    "pdpp.store.jobs": {"JobOrder", "JobStatus", "Json"},
    "pdpp.store.numbers": {"read_data", "write_data"},
    "pdpp.store.port": {"Store"},
    "pdpp.store.query": {"Record"},
    "pdpp.store.receipts": {
        "ChainedReceipt",
        "ClientHour",
        "FirstRead",
        "Receipt",
        "ReceiptQuery",
    },
    "pdpp.store.scope": {"Reach", "roles_of"},
    "pdpp.store.vault": {"Token", "Vault", "VaultReader"},
}
"""Values, and functions of values; nothing that reads a store."""

WITHOUT_RECORDS = {
    "catalogue",
    "connection_sizes",
    "files",
    "jobs",
    "latest_version",
    "limits",
    "occupied",
    "receipts",
    "secret",
    "state",
    "vault",
}
"""Parts of the store that hold no records: what is declared, grants, receipts, jobs, sizes, and the
numbers that say whether anything changed."""

HANDED_TO = {
    *("by_account", "clients_of", "copies_itself", "explained", "failed_job", "find_destination"),
    "outcome_of",
}
"""Functions that take the store whole: who may read an account, whether a backup can be made here,
an error, the job that brought in nothing, the accounts that exports belong to, and what became of
an upload."""


def uses_of_the_store(tree: ast.Module) -> Iterator[str]:
    """Yield how a module uses a store: the part it takes, or what it hands the store to."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        named = isinstance(node, ast.Name) and node.id == "store" and isinstance(node.ctx, ast.Load)
        if not named and not (isinstance(node, ast.Attribute) and node.attr == "store"):
            continue
        parent = parents[node]
        if isinstance(parent, ast.Attribute):
            yield parent.attr
        elif isinstance(parent, ast.Call):
            yield ast.unparse(parent.func)
        elif isinstance(parent, ast.Tuple):
            parent = parents[parent]
        if isinstance(parent, ast.Assign):
            targets = [ast.unparse(name) for part in parent.targets for name in ast.walk(part)]
            assert "store" in targets, f"a store under another name: {ast.unparse(parent)}"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_page_reads_no_records_but_through_operations(module: Path) -> None:
    tree = ast.parse(module.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pdpp.store"):
            names = {alias.name for alias in node.names}
            assert names <= TYPES.get(node.module or "", set())
        if isinstance(node, ast.arg) and node.annotation and "Store" in ast.dump(node.annotation):
            assert node.arg == "store", "a store under another name"
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("pdpp.store") for alias in node.names)
    assert set(uses_of_the_store(tree)) <= WITHOUT_RECORDS | HANDED_TO


@pytest.mark.parametrize(
    "line",
    [
        "site.service.store.record(reach, key)",
        "store = site.service.store\nstore.page(query)",
        "read(site.service.store)",
    ],
)
def test_the_check_notices_a_read(line: str) -> None:
    assert not set(uses_of_the_store(ast.parse(line))) <= WITHOUT_RECORDS | HANDED_TO
