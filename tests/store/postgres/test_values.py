"""Values on their way to PostgreSQL and back."""

import psycopg
from psycopg import pq
from tests.postgres_server import server_url

from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.values import TEXT, escaped, with_texts

ODD = ["a\0b", "\0", "\U0010ffff", "\U0010ffff0\0", "plain"]


def test_texts_come_back_as_they_were() -> None:
    rows = [(number, escaped(text), None) for number, text in enumerate(ODD)]
    assert with_texts(rows, [1, 2]) == [(number, text, None) for number, text in enumerate(ODD)]


def test_rows_without_an_odd_text_are_not_made_anew() -> None:
    rows = [(1, "plain", None), (2, "東京", "x")]
    assert with_texts(rows, [1, 2]) is rows


def test_texts_are_read_by_the_compiled_part_of_the_driver() -> None:
    with psycopg.connect(server_url()) as raw:
        theirs = raw.adapters.get_loader(TEXT, pq.Format.BINARY)
        db = PostgresConnection(raw)
        assert raw.adapters.get_loader(TEXT, pq.Format.BINARY) is theirs
        assert db.run("SELECT $1::text, $2::varchar", (ODD[0], ODD[3])).get == (ODD[0], ODD[3])
