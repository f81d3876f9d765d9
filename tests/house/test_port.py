"""The port of the store, as another engine meets it: it names nothing of the embedded one."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from pdpp.store.jobs import JobStore
from pdpp.store.port import Store
from pdpp.store.receipts import ReceiptLog
from pdpp.store.vault import Vault

STORE = Path(__file__).parents[2] / "src" / "pdpp" / "store"
MODULES = sorted(path for path in STORE.glob("*.py") if path.stem != "__init__")
ROOMS = ("pdpp.store.tables", "pdpp.store.sqlite", "pdpp.store.postgres")
ENGINES = ("apsw", "psycopg", "sqlite3", "pathlib", "os", "tempfile", "shutil", *ROOMS)
"""What only an engine imports: its database, and files by their paths."""
SYNTAX = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|MATCH|NEAR|FTS\d?|PRAGMA)\b")
LAYOUT = {"path", "file", "folder", "place", "places", "cells", "lexical", "rowid", "table", "row"}
"""Words for where an engine keeps something. The port speaks of fields, records and streams."""
NAMED = {"pdpp.encryption", "pdpp.store", "pdpp.model", "pdpp.evidence"}


def public_classes() -> Iterator[type]:
    for path in MODULES:
        module = import_module(f"pdpp.store.{path.stem}")
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__ and name[0] != "_":
                yield value


def methods_of(owner: type) -> Iterator[Any]:
    for name, value in vars(owner).items():
        function = value.fget if isinstance(value, property) else value
        if inspect.isfunction(function) and name[0] != "_":
            yield function


def types_in(hint: Any) -> Iterator[Any]:
    yield hint
    for inner in get_args(hint):
        if isinstance(inner, list):
            for one in inner:
                yield from types_in(one)
        else:
            yield from types_in(inner)


def hints_of(owner: Any) -> dict[str, Any]:
    return get_type_hints(owner, localns={kind.__name__: kind for kind in public_classes()})


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_of_the_port_imports_no_engine_and_holds_no_query(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    imported = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    ]
    assert not [name for name in imported if name.startswith(ENGINES)]
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    assert not [text for text in texts if isinstance(text, str) and SYNTAX.search(text)]


@pytest.mark.parametrize("owner", list(public_classes()), ids=lambda owner: owner.__qualname__)
def test_a_public_type_of_the_port_names_no_path_and_no_position_in_an_index(owner: type) -> None:
    hints = dict(hints_of(owner))
    for method in methods_of(owner):
        hints |= {f"{method.__name__}.{name}": kind for name, kind in hints_of(method).items()}
    named = {word for name in hints for part in name.split(".") for word in part.split("_")}
    assert not named & LAYOUT
    for name, hint in hints.items():
        modules = {getattr(kind, "__module__", "") for kind in types_in(hint)}
        assert not [m for m in modules if m.startswith(ENGINES)], name


def test_every_type_that_a_store_is_asked_with_and_answers_with_is_of_the_port() -> None:
    """From ``Store`` on, every type of ours that can be reached belongs to no engine."""
    waiting: list[Any] = [Store]
    seen: set[Any] = set()
    while waiting:
        owner = waiting.pop()
        seen.add(owner)
        owners = [owner, *methods_of(owner)]
        for kind in (
            k for one in owners for hint in hints_of(one).values() for k in types_in(hint)
        ):
            module = getattr(kind, "__module__", "")
            if isinstance(kind, type) and module.startswith("pdpp.") and kind not in seen:
                assert ".".join(module.split(".")[:2]) in NAMED, kind
                assert not module.startswith(ROOMS), kind
                waiting.append(kind)
    assert {Store, Vault, ReceiptLog, JobStore} <= seen
    assert len(seen) > 30
