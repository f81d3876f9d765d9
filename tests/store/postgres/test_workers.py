"""Several workers on one owner: each sees at once what another has written."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener
from tests.store.world import Clock, World

from pdpp.model.errors import NewerDatabase
from pdpp.store.jobs import JobLease, JobOrder
from pdpp.store.postgres import opening, schema
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.receipts import held
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import Receipt
from pdpp.store.vault import Token


def test_what_one_worker_writes_another_reads_at_once(opened: Opener, clock: Clock) -> None:
    one, other = opened("anna"), opened("anna")
    before = other.state()
    World(one, clock).settle().put({"a": {"subject": "apple"}})
    assert other.state() != before
    assert World(other, clock).keys() == ["a"]


def test_a_revocation_holds_for_the_next_look_of_every_worker(opened: Opener) -> None:
    one, other = opened("anna"), opened("anna")
    one.vault.keep_token(Token("hash", "owner", "label", 1))
    assert other.vault.token("hash") == Token("hash", "owner", "label", 1)
    with one.vault.transaction() as transaction:
        transaction.revoke_token("hash", 7)
    assert other.vault.token("hash") == Token("hash", "owner", "label", 1, revoked_at=7)


def test_a_job_is_taken_by_one_worker(opened: Opener) -> None:
    workers = [opened("anna") for _ in range(4)]
    workers[0].jobs.add(JobOrder("import"))
    start = threading.Barrier(len(workers))

    def claim(number: int) -> bool:
        start.wait()
        lease = JobLease(f"worker {number}", 1 << 60)
        return workers[number].jobs.claim({"import": 1}, lease) is not None

    with ThreadPoolExecutor(len(workers)) as pool:
        assert sum(pool.map(claim, range(len(workers)))) == 1


def test_receipts_of_many_workers_are_one_chain_without_gaps(opened: Opener) -> None:
    workers = [opened("anna") for _ in range(3)]
    for worker in workers:
        worker.receipts.begin()

    def write(number: int) -> None:
        for at in range(5):
            receipt = Receipt(at, "list", f"client {number}")
            workers[number].receipts.write([ReceiptBatch([receipt])])

    with ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(write, range(len(workers))))
    verdict = workers[0].receipts.verify()
    assert verdict.problems == ()
    assert verdict.length == 15
    for worker in workers:
        worker.receipts.finish()


def test_a_worker_that_was_cut_off_leaves_a_gap_in_the_receipts(opened: Opener) -> None:
    one, other = opened("anna"), opened("anna")
    one.receipts.begin()
    with held(one._database) as db:
        cut_off(db)
    other.receipts.begin()
    assert [event.receipt.operation for event in other.receipts.events()] == ["gap"]
    other.receipts.finish()


def cut_off(db: PostgresConnection) -> None:
    """End a connection from the other side, as a server that is killed does."""
    with psycopg.connect(server_url(), autocommit=True) as session:
        session.execute("SELECT pg_terminate_backend(%s, 5000)", (db.raw.info.backend_pid,))


def delete_half(store: PostgresStore) -> None:
    with store._database.writing() as db:
        db.execute("DELETE FROM record")
        cut_off(db)
        db.execute("DELETE FROM cell")


def test_a_batch_that_is_cut_leaves_nothing_behind_and_can_be_sent_again(
    opened: Opener, clock: Clock
) -> None:
    one, other = opened("anna"), opened("anna")
    world = World(one, clock).settle()
    world.put({"a": {"subject": "apple"}})
    with pytest.raises(psycopg.OperationalError):
        delete_half(one)
    assert World(other, clock).keys() == ["a"]
    assert other.check() == []
    world.put({"b": {"subject": "pear"}})
    assert World(other, clock).keys() == ["a", "b"]


def test_what_a_failed_transaction_wrote_is_never_taken_for_kept(opened: Opener) -> None:
    store = opened("anna")
    database = store._database
    state = store.state()
    for transaction in (database.writing, database.brief):
        with pytest.raises(psycopg.Error), transaction() as db, suppress(psycopg.Error):
            db.run("SELECT 1 / 0")
    assert store.state() == state
    with database.writing(), database.brief():
        pass
    assert store.state() != state


def test_a_read_after_a_cut_connection_works(opened: Opener, clock: Clock) -> None:
    store = opened("anna")
    world = World(store, clock).settle()
    world.put({"a": {"subject": "apple"}})
    assert world.keys() == ["a"]
    for db in store._database.connections.readers._idle:
        cut_off(db)
    assert world.keys() == ["a"]


def test_a_read_that_is_cut_in_its_snapshot_fails_and_the_next_works(
    opened: Opener, clock: Clock
) -> None:
    store = opened("anna")
    world = World(store, clock).settle()
    world.put({"a": {"subject": "apple"}})

    def read_cut() -> None:
        with store.reading():
            assert world.keys() == ["a"]
            with store._database.snapshot() as db:
                cut_off(db)
            world.keys()

    with pytest.raises(psycopg.OperationalError):
        read_cut()
    assert world.keys() == ["a"]


def test_owners_of_one_database_have_secrets_of_their_own(opened: Opener) -> None:
    assert opened("anna").secret() == opened("anna").secret() != opened("bert").secret()


def test_a_newer_schema_is_refused(opened: Opener) -> None:
    opened("anna")
    with psycopg.connect(server_url(), autocommit=True) as session:
        session.execute(f"UPDATE {schema.SCHEMA}.about SET version = version + 1")
        try:
            with pytest.raises(NewerDatabase, match="install a newer pdpp-server"):
                opening.prepare(server_url())
        finally:
            session.execute(f"UPDATE {schema.SCHEMA}.about SET version = version - 1")
