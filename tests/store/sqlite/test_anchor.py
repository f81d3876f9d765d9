"""The anchor: the database remembers the last receipt that the log must hold."""

from pathlib import Path

import pytest

from pdpp.model.errors import StoreError
from pdpp.store.sqlite.store import SqliteStore
from pdpp.store.tables.receipts.anchor import SettingAnchor
from pdpp.store.tables.receipts.chain import ChainHead
from pdpp.store.tables.receipts.verification import older

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def test_the_last_receipt_is_remembered_across_openings(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    anchor = SettingAnchor(store._db)
    assert anchor.recall() is None
    anchor.remember(0, bytes(32))
    assert anchor.recall() is None
    anchor.remember(7, b"a" * 32)
    anchor.remember(9, b"b" * 32)
    store.close()
    store = SqliteStore(tmp_path)
    assert SettingAnchor(store._db).recall() == (9, b"b" * 32)
    store.close()


def test_a_database_that_cannot_be_written_is_an_error_of_the_store(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store._database._writer.pragma("query_only", True)
    with pytest.raises(StoreError, match="cannot remember the last receipt"):
        SettingAnchor(store._db).remember(1, bytes(32))
    store.close()


def test_only_a_log_that_is_shorter_than_it_was_is_told_to_miss_receipts() -> None:
    problem = "the log is not the one that the store remembers"
    head = ChainHead(last=5)
    assert older(head, (5, b"another")) == problem
    assert older(head, (6, b"")).endswith("receipt 6 was written; receipt 6 is missing")
    assert older(head, (8, b"")).endswith("receipt 8 was written; receipts 6 to 8 missing")
