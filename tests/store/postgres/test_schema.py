"""The tables of the engine: how PostgreSQL keeps what they hold."""

import psycopg
import pytest
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener

_STORAGE = """
    SELECT DISTINCT a.attstorage FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relname LIKE %s AND c.relkind = 'r' AND a.attname = %s
"""


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("word_block", "times"),
        ("word_block", "numbers"),
        ("word_block", "postings"),
        ("word_list", "terms"),
    ],
)
def test_the_database_compresses_no_words_that_are_packed_already(
    opened: Opener, table: str, column: str
) -> None:
    opened("anna")
    with psycopg.connect(server_url()) as session:
        assert session.execute(_STORAGE, (f"{table}_p%", column)).fetchall() == [("e",)]
