from datetime import date
from pathlib import Path

import pytest
from tests.engine import open_store

from pdpp.evidence.language import translations
from pdpp.evidence.language.question import parse_question

TABLES = (translations._from_english, translations._german, translations._to_english)


@pytest.mark.parametrize("asked", ["the rent increase", "Wann kommt der Klempner zum Haus?"])
def test_no_search_of_a_prepared_store_waits_for_tables(tmp_path: Path, asked: str) -> None:
    for table in TABLES:
        table.cache_clear()
    store = open_store(tmp_path)
    store.prepare_search()
    store.close()
    made = [table.cache_info().misses for table in TABLES]
    parse_question(asked, date(2026, 11, 18))
    assert [table.cache_info().misses for table in TABLES] == made
