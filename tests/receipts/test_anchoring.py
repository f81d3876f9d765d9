"""The end of the log is remembered outside it, so that an older log put back is found out."""

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine import back_up, database_of, open_store
from tests.receipts.served import QUICK, good, kept, receipts_after
from tests.resource.library import library_store
from tests.serving import DEADLINE, World, living, seeded_store

from pdpp.receipts.summary import asked_about
from pdpp.receipts.witness import make_witness
from pdpp.store.port import Store
from pdpp.store.receipts import ReceiptQuery
from pdpp.store.sqlite.receipt_file import RECEIPTS_NAME
from pdpp.store.tables.receipts.anchor import SettingAnchor

BOOKS = "/v1/streams/books/records"
SEARCH = "/v1/search"
AT_ONCE = replace(QUICK, receipts=replace(QUICK.receipts, anchor_seconds=0.0))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def written(world: World) -> int:
    return sum(1 for _ in world.store.receipts.receipts(ReceiptQuery()))


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{RECEIPTS_NAME}*"))


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_an_older_log_put_back_after_a_kill_is_found_out_with_what_is_missing(
    tmp_path: Path,
) -> None:
    store = library_store(tmp_path / "data")
    folder, older = tmp_path / "data", tmp_path / "older"
    with living(store, AT_ONCE) as world:
        client = world.client(connections=("home",))
        good(client.get(BOOKS))
        wait_for(lambda: written(world) == 1)
        older.mkdir()
        back_up(store.receipts, older / RECEIPTS_NAME)
        for _ in range(3):
            good(client.get(BOOKS))
        wait_for(lambda: written(world) == 4)
        wait_for(lambda: anchored(store) == 4)
        # What a kill leaves: nothing was said at the end, only the minute's anchor is there.
        left = tmp_path / "left"
        shutil.copytree(folder, left)
    for path in files(left):
        path.unlink()
    shutil.copy(older / RECEIPTS_NAME, left / RECEIPTS_NAME)
    again = open_store(left)
    problems = again.receipts.verify().problems
    again.close()
    assert any(
        "it ends with receipt 1, and receipt 4 was written; receipts 2 to 4 missing" in problem
        for problem in problems
    ), problems


def anchored(store: Store) -> int:
    remembered = SettingAnchor(database_of(store)).recall()
    return 0 if remembered is None else remembered[0]


def test_a_witness_file_is_told_the_end_of_the_log(tmp_path: Path) -> None:
    noted = tmp_path / "elsewhere" / "noted.txt"
    noted.parent.mkdir()
    settings = replace(AT_ONCE, receipts=replace(AT_ONCE.receipts, witness=str(noted)))
    store = library_store(tmp_path / "data")
    with living(store, settings) as world:
        good(world.client(connections=("home",)).get(BOOKS))
        wait_for(noted.exists)
        last = store.receipts.hash_of(1)
    lines = noted.read_text().splitlines()
    time_text, number, hashed = lines[-1].split()
    assert time_text.endswith("Z")
    assert (int(number), hashed) == (1, (last or b"").hex())
    assert noted.stat().st_mode & 0o077 == 0


def test_no_witness_is_no_witness() -> None:
    assert make_witness(None) is None


# What a question asked about


@pytest.mark.parametrize(
    ("path", "params", "asked"),
    [
        (BOOKS, {"filter[pages][gte]": "1"}, ("pages",)),
        (BOOKS, {"sort": "-pages", "fields": "id"}, ("pages",)),
        ("/v1/streams/books/aggregate", {"metric": "max", "field": "pages"}, ("pages",)),
        ("/v1/streams/books/aggregate", {"group_by": "author_id"}, ("author_id",)),
        (BOOKS, {"limit": "1"}, ()),
        (SEARCH, {"q": "sea", "streams": "books"}, ()),
        (SEARCH, {"q": "sea", "streams": "books", "filter[pages][gte]": "1"}, ("pages",)),
        (SEARCH, {"q": "sea after:2020-01-01", "streams": "books"}, ("added_at",)),
        (SEARCH, {"q": "sea", "streams": "books", "sort": "time"}, ("added_at",)),
    ],
)
def test_a_receipt_names_the_fields_that_a_question_used(
    tmp_path: Path, path: str, params: dict[str, str], asked: tuple[str, ...]
) -> None:
    def read(world: World) -> None:
        good(world.client(connections=("home",)).get(path, params=params))

    assert [receipt.asked for receipt in receipts_after(tmp_path, read)] == [asked]


def test_a_search_by_name_asks_about_those_who_act(tmp_path: Path) -> None:
    with living(seeded_store(tmp_path)) as world:
        good(world.client(connections=("cin_work",)).get(SEARCH, params={"q": "from:ada"}))
    assert [receipt.asked for receipt in kept(tmp_path)] == [("from",)]


def test_the_owner_reads_what_was_asked_about() -> None:
    assert asked_about(("amount", "sent_at")) == "asked about amount, sent_at"
    assert asked_about(()) == ""
