"""What lets a write be done again that the database failed."""

import psycopg
import pytest
from tests.store.postgres.conftest import Opener


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (psycopg.errors.DiskFull("no space left"), "make room there"),
        (psycopg.OperationalError("connection refused"), "whether it runs (connection refused)"),
    ],
)
def test_what_passes_says_what_to_do(opened: Opener, problem: Exception, told: str) -> None:
    assert told in str(opened("nora").remedy(problem))


def test_any_other_failure_has_no_remedy(opened: Opener) -> None:
    assert opened("nora").remedy(psycopg.errors.UniqueViolation("a bug")) is None
