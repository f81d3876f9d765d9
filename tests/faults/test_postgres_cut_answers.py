"""The way to PostgreSQL is cut in the middle of a message: an answer is right, or none is given."""

import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.postgres_server import server_url
from tests.serving import UNLIMITED, all_rows, grant, owner, plant, put, running

from pdpp.app import make_app
from pdpp.authz.principal import Principal
from pdpp.authz.token import TokenKind, mint
from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.receipts.recorder import AnsweredRead, ReceiptPolicy, Recorder
from pdpp.store.postgres.opening import worker_connections
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import LogEvent, Receipt, ReceiptQuery
from pdpp.store.scope import owner_reaches

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a server from a wheel")

INGEST = "/v1/ingest/entries?connection_id=cin_diary"
READS = (
    "/v1/streams/entries/records?limit=10",
    "/v1/streams/entries/records?limit=10&count=exact",
    "/v1/search?q=rain",
    "/v1/streams/entries/aggregate?metric=count",
)
CUTS = (0, 1, 4, 5, 20, 60, 150, 400, 900, 1_500, 3_000)
"""After how many bytes of what the database says the way is cut."""


class Way:
    """Leads to the database, and can be cut once after some more bytes of its answers."""

    def __init__(self, listener: socket.socket) -> None:
        (folder,) = parse_qs(urlsplit(server_url()).query)["host"]
        self._place = f"{folder}/.s.PGSQL.5432"
        self._listener = listener
        self._lock = threading.Lock()
        self._left: int | None = None
        self._words: tuple[int, bytes] | None = None
        self._ends: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres:@127.0.0.1:{self._listener.getsockname()[1]}/postgres"

    def cut_after(self, size: int | None) -> None:
        """Cut whichever connection comes to say the byte after so many."""
        with self._lock:
            self._left = size

    def cut_answer_to(self, words: bytes, raw: "psycopg.Connection[Any]") -> None:
        """Cut a connection when some words were said on it, instead of the answer to them."""
        with (
            socket.fromfd(raw.fileno(), socket.AF_INET, socket.SOCK_STREAM) as caller,
            self._lock,
        ):
            self._words = caller.getsockname()[1], words

    @property
    def was_cut(self) -> bool:
        with self._lock:
            return self._left is None

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                outer, _ = self._listener.accept()
                inner = socket.socket(socket.AF_UNIX)
                inner.connect(self._place)
                for pour, ends in ((self._there, (outer, inner)), (self._back, (inner, outer))):
                    threading.Thread(target=pour, args=ends, daemon=True).start()

    def _there(self, outer: socket.socket, inner: socket.socket) -> None:
        with suppress(OSError):
            while piece := outer.recv(1 << 16):
                with self._lock:
                    port, words = self._words or (0, b"")
                    if port == outer.getpeername()[1] and words in piece:
                        self._words = None
                        self._ends.add(inner)
                inner.sendall(piece)
        _close(inner)

    def _back(self, inner: socket.socket, outer: socket.socket) -> None:
        with suppress(OSError):
            while piece := inner.recv(1 << 16):
                with self._lock:
                    size = len(piece) if self._left is None else min(len(piece), self._left)
                    size = 0 if inner in self._ends else size
                    is_cut = size < len(piece)
                    if self._left is not None:
                        self._left = None if is_cut else self._left - size
                outer.sendall(piece[:size])
                if is_cut:
                    break
        _close(inner)
        _close(outer)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def served(folder: Path) -> Iterator[tuple[Way, PostgresStore, Any]]:
    """Serve an empty diary whose database is at the end of such a way."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        way = Way(listener)
        PostgresStore(server_url(), folder, owner=str(folder)).close()
        with closing(worker_connections(way.url)) as connections:
            store = PostgresStore(way.url, folder, owner=str(folder), connections=connections)
            plant(store, DECLARATION, {"cin_diary": "Days"})
            with running(make_app(store, UNLIMITED)) as server:
                yield way, store, server
            assert store.check() == []
            store.close()


def body(key: str, size: int = 1) -> bytes:
    return b"".join(entry(f"{key}{number}", text="Rain " * 20) for number in range(size))


def test_no_read_is_answered_by_half_of_what_the_database_said(tmp_path: Path) -> None:
    with served(tmp_path) as (way, store, server):
        mine = server.client(owner(store))
        assert mine.post(INGEST, content=body("k", 30)).status_code == 200
        client = server.client(grant(store, fields=("id", "text")))
        for path in READS:
            right = client.get(path)
            assert right.status_code == 200, right.text
            cut = set()
            for size in CUTS:
                way.cut_after(size)
                answer = client.get(path)
                cut |= {way.was_cut}
                way.cut_after(None)
                if answer.status_code == 503:
                    assert answer.headers["Retry-After"]
                    answer = client.get(path)
                assert (answer.status_code, answer.content) == (200, right.content), (path, size)
            assert True in cut, "nothing was cut"


def test_a_batch_whose_answer_is_cut_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    with served(tmp_path) as (way, store, server):
        mine = server.client(owner(store))
        kept, told, refused = set(), set(), set()
        for number, size in enumerate(range(0, 2_400, 60)):
            mine.get(READS[0])
            way.cut_after(size)
            answer = mine.post(INGEST, content=body(f"b{number}-", 3))
            way.cut_after(None)
            told.add(answer.status_code)
            if answer.status_code == 200:
                kept.add(f"b{number}")
            elif "nothing of this request was kept" in answer.json()["error"]["message"]:
                refused.add(f"b{number}")
            # A batch that was not acknowledged may be there, and may still come.
            batches = Counter(row["id"].partition("-")[0] for row in all_rows(mine, READS[0]))
            assert set(batches.values()) <= {3}, (size, batches)
            assert kept <= batches.keys()
            assert not refused & batches.keys(), "it was said that nothing was kept"
        assert told == {200, 503}


def test_nobody_is_told_that_nothing_was_kept_where_it_may_be(tmp_path: Path) -> None:
    with served(tmp_path) as (way, store, server):
        mine = server.client(owner(store))
        assert mine.post(INGEST, content=body("a")).status_code == 200
        told = []
        for number in range(4):
            writer = store._database.connections.writer
            with writer.session() as db:
                way.cut_answer_to(b"COMMIT", db.raw)
            answer = mine.post(INGEST, content=body(f"b{number}-"))
            if answer.status_code == 503:
                told.append(answer.json()["error"]["message"])
        assert told
        assert not [text for text in told if "nothing of this request was kept" in text]
        assert mine.post(INGEST, content=body("b0-")).json()["records_accepted"] == 1
        listed = [row["id"] for row in all_rows(mine, READS[0])]
        assert sorted(listed) == ["a0", *(f"b{number}-0" for number in range(4))]


def test_a_receipt_whose_commit_was_not_answered_is_written_once(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener, ExitStack() as stack:
        way = Way(listener)
        shared = stack.enter_context(closing(worker_connections(way.url)))
        PostgresStore(server_url(), tmp_path, owner=str(tmp_path)).close()
        store = PostgresStore(way.url, tmp_path, owner=str(tmp_path), connections=shared)
        recorder = Recorder(
            store.receipts, instant.now, ReceiptPolicy(seconds=3_600, waiting_bytes=10)
        )
        recorder.start()
        _, token = mint(TokenKind.OWNER, "owner", 0)
        for _ in range(2):
            recorder.take(AnsweredRead(1, Principal(token, ()), "listRecords", "notes", []))
        with shared.receipts.session() as db:
            way.cut_answer_to(b"COMMIT", db.raw)
        recorder.close()  # which tries twice
        assert store.receipts.verify().problems == ()
        kept = [one.receipt.operation for one in store.receipts.receipts(ReceiptQuery())]
        assert kept == [LogEvent.GAP, "listRecords"]
        store.close()


@pytest.mark.parametrize("words", [b"COMMIT", b"INSERT INTO batch"])
def test_receipts_that_failed_are_written_once_whatever_others_wrote_since(
    tmp_path: Path, words: bytes
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener, ExitStack() as stack:
        way = Way(listener)
        shared = stack.enter_context(closing(worker_connections(way.url)))
        another = PostgresStore(server_url(), tmp_path, owner=str(tmp_path))
        store = PostgresStore(way.url, tmp_path, owner=str(tmp_path), connections=shared)
        store.receipts.begin()
        first, second, third = ([ReceiptBatch([Receipt(at, "read")])] for at in range(3))
        with shared.receipts.session() as db:
            way.cut_answer_to(words, db.raw)
        with pytest.raises(StoreError, match="cannot write receipts"):
            store.receipts.write(first)
        another.receipts.write(second)
        store.receipts.write(first)
        store.receipts.write(third)
        assert store.receipts.verify().problems == ()
        kept = [one.receipt.at for one in store.receipts.receipts(ReceiptQuery())]
        assert kept == ([2, 1, 0] if words == b"COMMIT" else [2, 0, 1])
        store.close()
        another.close()


def test_a_session_that_is_cut_shows_nobody_the_rows_of_another_owner(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener, ExitStack() as stack:
        way = Way(listener)
        shared = stack.enter_context(closing(worker_connections(way.url)))
        owners = {}
        for name in ("anna", "bert"):
            PostgresStore(server_url(), tmp_path, owner=f"{tmp_path}/{name}").close()
            owners[name] = PostgresStore(
                way.url, tmp_path, owner=f"{tmp_path}/{name}", connections=shared
            )
            plant(owners[name], DECLARATION, {f"cin_{name}": "Days"})
            put(owners[name], f"cin_{name}", "entries", {"id": name, "title": name})
        ended = set()
        for size in range(0, 700, 9):
            for name, store in owners.items():
                way.cut_after(size)
                try:
                    with store.reading():
                        seen = [store.record(r, name) for r in owner_reaches(store.catalogue())]
                        hidden = store._database.reader.run("SELECT key FROM record").fetchall()
                    assert [r.id for r in seen if r is not None] == [name]
                    assert hidden == [(name,)]
                    ended.add("read")
                except psycopg.OperationalError:
                    ended.add("failed")
        assert ended == {"read", "failed"}
