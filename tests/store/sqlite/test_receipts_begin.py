"""Two workers that begin the log of reads at the same moment both find it."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.engine import open_store

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def test_a_log_that_another_worker_makes_meanwhile_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = open_store(tmp_path / "data"), open_store(tmp_path / "data")
    statements = 0

    def trace(_cursor: Any, _statement: str, _bindings: Any) -> bool:
        nonlocal statements
        statements += 1
        if statements == 2:  # Between the two looks at the file.
            monkeypatch.setattr(apsw, "connection_hooks", [])
            assert second.receipts is not None
        return True

    def hook(db: apsw.Connection) -> None:
        db.exec_trace = trace

    monkeypatch.setattr(apsw, "connection_hooks", [hook])
    assert first.receipts is not None
    assert statements > 2
    first.close()
    second.close()
