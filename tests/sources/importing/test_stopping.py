"""An import that a disk or a database stops says what is kept and what to do."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from tests.engine import open_store

from pdpp.model.errors import ImportRefused, StoreError
from pdpp.sources.importing.stopping import told_what_stops
from pdpp.store.port import Store

pytestmark = pytest.mark.embedded("about failures of the file")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def test_what_can_be_helped_is_one_line_and_is_logged_where_somebody_logs(store: Store) -> None:
    logged: list[str] = []
    with pytest.raises(StoreError) as told, told_what_stops(store, logged.append):
        raise apsw.BusyError("database is locked")
    assert told.value.message == (
        f"the import stopped: {logged[0]}; what came in before is kept, and the same import goes "
        "on from there"
    )
    assert logged[0].endswith("wait until that is done, or end it")


@pytest.mark.parametrize(
    "problem",
    [ImportRefused("not an export"), ValueError("a bug"), apsw.CorruptError("malformed")],
)
def test_everything_else_is_left_to_who_sees_it(store: Store, problem: Exception) -> None:
    """Of a damaged file nobody can say that anything in it is kept."""
    logged: list[str] = []
    with pytest.raises(type(problem)) as told, told_what_stops(store, logged.append):
        raise problem
    assert told.value is problem
    assert not logged
