"""A store in PostgreSQL: every command works on it, or says in a sentence what does."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
import pytest
from tests.cli.shell import DECLARATION, Served, entry, pdpp_here, serving
from tests.cli.test_workers import arguments, children, until
from tests.launching.spawning import SPAWNED
from tests.postgres_server import server_url
from tests.serving import UNENCRYPTED

from pdpp.cli.overview import overview

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

PASSWORD = "correct-horse"
WHERE = "/v1/ingest/entries?connection_id=cin_diary"


def with_password(url: str) -> str:
    """Return the address with a password, which a server that trusts this machine ignores."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"postgres:{PASSWORD}@"))


@pytest.fixture
def database(tmp_path: Path) -> dict[str, str]:
    """The environment of commands whose records are in a database, as an owner of their own."""
    return {"PDPP_DATABASE": with_password(server_url()), "PDPP_OWNER": str(tmp_path)}


@pytest.fixture
def data(
    tmp_path: Path, database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A data folder whose records, an empty diary's, are in the database."""
    for name, value in database.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "data"
    path = tmp_path / "diary.json"
    path.write_text(json.dumps(DECLARATION))
    assert pdpp_here("source", "add", path, data=folder).code == 0
    named = ("connection", "add", "diary", "--name", "My days", "--id", "cin_diary")
    assert pdpp_here(*named, data=folder).code == 0
    yield folder
    assert not (folder / "pdpp.sqlite3").exists()


def put(data: Path, tmp_path: Path, *keys: str) -> None:
    lines = tmp_path / "lines.ndjson"
    lines.write_bytes(b"".join(entry(key, text="Rain in the morning") for key in keys))
    given = ("ingest", lines, "--connection", "cin_diary", "--stream", "entries")
    ended = pdpp_here(*given, data=data)
    assert ended.code == 0, ended.err


def made_grant(data: Path) -> dict[str, str]:
    ask = ("grant", "create", "--client", "a", "--purpose", "b", "--everything", "--json")
    document: dict[str, str] = pdpp_here(*ask, data=data).document
    return document


def test_commands_work_on_the_database(data: Path, tmp_path: Path) -> None:
    put(data, tmp_path, "e1", "e2")
    read = pdpp_here("read", "search", "rain", "--json", "--data", data)
    assert len(json.loads(read.out)["data"]) == 2, read
    made = made_grant(data)
    [listed] = pdpp_here("grant", "list", "--json", data=data).document["grants"]
    assert listed["grant_id"] == made["grant_id"]
    assert pdpp_here("receipts", "verify", data=data).code == 0
    assert pdpp_here("jobs", "list", data=data).code == 0
    checked = pdpp_here("check", data=data).out
    assert checked.startswith("All is well in postgresql://")
    assert str(data) not in checked
    assert (overview(data).records, overview(data).grants) == (2, 1)
    assert pdpp_here("connection", "remove", "cin_diary", "--yes", data=data).code == 0


def test_another_owner_of_the_database_has_nothing_of_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(data, tmp_path, "e1")
    monkeypatch.setenv("PDPP_OWNER", f"{tmp_path}/other")
    assert "there is no store in the database" in pdpp_here("grant", "list", data=data).failed()


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (("backup", "copy"), "pg_dump"),
        (("encryption", "on"), "encrypt the disk"),
        (("encryption", "status"), "encrypt the disk"),
        (("encryption", "rekey"), "encrypt the disk"),
        (("serve", "--encrypt", "--port", "0"), "encrypt the disk"),
    ],
)
def test_what_is_done_to_files_is_refused_with_what_does_it_there(
    data: Path, arguments: tuple[str, ...], instead: str
) -> None:
    told = pdpp_here(*arguments, data=data).failed()
    assert told.startswith("the records are in the database postgresql://postgres@")
    assert instead in told
    assert PASSWORD not in told


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{PASSWORD}@127.0.0.1:1/none",
        f"postgresql://me:{PASSWORD}/x@127.0.0.1:1/none",
        f"mysql://me:{PASSWORD}@127.0.0.1/none",
        f"postgresql://127.0.0.1:1/none?password={PASSWORD}",
    ],
)
def test_no_failure_tells_the_password(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDPP_DATABASE", url)
    ended = pdpp_here("grant", "list", data=tmp_path)
    assert ended.code == 1
    shown = pdpp_here("config", "show", "--data", tmp_path)
    refused = pdpp_here("serve", "--port", "0", "--database", url, data=tmp_path)
    for end in (ended, shown, refused):
        assert PASSWORD not in end.out + end.err


@pytest.mark.parametrize("below", ["", "data"])
def test_a_file_in_place_of_the_folder_is_told_in_a_sentence(below: str, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("no folder")
    given = ("serve", "--port", "0", "--database", server_url())
    told = pdpp_here(*given, data=tmp_path / "note" / below).failed()
    assert told == f"{tmp_path / 'note'} is a file; name a folder for the data with --data"


def test_a_missing_driver_is_told_in_a_sentence(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    told = pdpp_here("grant", "list", data=data).failed()
    assert told.endswith("needs its driver: pip install 'pdpp-server[postgres]'")


@pytest.mark.embedded("on PostgreSQL the environment of every command names a database")
def test_the_settings_file_names_the_database(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_grant(data)
    monkeypatch.delenv("PDPP_DATABASE")
    monkeypatch.delenv("PDPP_OWNER")
    text = f"database = {json.dumps(server_url())}\nowner = {json.dumps(str(tmp_path))}\n"
    (data / "pdpp.toml").write_text(text)
    assert len(pdpp_here("grant", "list", "--json", data=data).document["grants"]) == 1


@pytest.fixture
def served(data: Path, tmp_path: Path, database: dict[str, str]) -> Iterator[Served]:
    """A server of two workers on the database."""
    put(data, tmp_path, "e1")
    with serving(data, tmp_path / "notes", "--workers", "2", env=database) as served:
        yield served


@pytest.fixture
def spawned(data: Path, tmp_path: Path, database: dict[str, str]) -> Iterator[Served]:
    """A server whose two workers show the arguments that the program gave them."""
    put(data, tmp_path, "e1")
    options = ("--workers", "2")
    with serving(data, tmp_path / "notes", *options, env=database | SPAWNED) as served:
        yield served


def sent(served: Served, token: str, *keys: str) -> httpx.Response:
    return httpx.post(
        served.url + WHERE,
        content=b"".join(entry(key) for key in keys),
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
        timeout=30,
        verify=UNENCRYPTED,
    )


def test_two_workers_serve_the_database_and_neither_knows_a_password_in_sight(
    spawned: Served, data: Path
) -> None:
    workers = children(spawned.process.pid)
    assert [b"spawn_main" in arguments(worker) for worker in workers] == [True, True]
    made = made_grant(data)
    token = made["client_token"]
    assert {spawned.get("/v1/streams", token).status_code for _ in range(10)} == {200}
    for pid in (spawned.process.pid, *workers):
        assert PASSWORD.encode() not in arguments(pid)
    began = (data.parent / "lines.ndjson").stat().st_mtime
    # Five for each worker; sessions of commands that have ended go in a moment.
    until(lambda: sessions_since(began) <= 10)
    assert pdpp_here("grant", "revoke", made["grant_id"], data=data).code == 0
    assert {spawned.get("/v1/streams", token).status_code for _ in range(10)} == {403}
    assert spawned.stop() == 0
    assert PASSWORD not in spawned.err.read_text() + spawned.out.read_text()
    assert pdpp_here("receipts", "verify", data=data).code == 0


def sessions_since(moment: float) -> int:
    """Return how many sessions of the program began since a moment and are still there."""
    with psycopg.connect(server_url(), autocommit=True) as session:
        row = session.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE application_name = 'pdpp' AND backend_start >= to_timestamp(%s)",
            (moment,),
        ).fetchone()
        assert row is not None
        return int(row[0])


def test_what_was_acknowledged_outlives_a_killed_worker_and_killed_sessions(
    served: Served, data: Path
) -> None:
    token: str = pdpp_here("owner", "token", "--json", data=data).document["owner_token"]
    kept: list[str] = []

    def put_some(first: int) -> None:
        keys = [f"k{number}" for number in range(first, first + 50)]
        try:
            answer = sent(served, token, *keys)
        except httpx.TransportError:
            return  # the worker that was killed had it
        if answer.status_code == 200:
            kept.extend(keys)
        else:
            assert answer.status_code == 503, answer.text

    for turn in range(6):
        if turn == 2:
            os.kill(min(children(served.process.pid)), signal.SIGKILL)
        if turn == 4:
            end_sessions()
        put_some(turn * 50)
    until(lambda: len(children(served.process.pid)) == 2)
    put_some(1_000)
    assert len(kept) >= 150
    for key in kept:
        assert served.get(f"/v1/streams/entries/records/{key}", token).status_code == 200, key
    assert pdpp_here("check", data=data).code == 0


def end_sessions() -> None:
    """End every session of the program, as a database that fails over does."""
    with psycopg.connect(server_url(), autocommit=True) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'pdpp' AND pid <> pg_backend_pid()"
        )


def test_workers_share_their_limits(data: Path, tmp_path: Path, database: dict[str, str]) -> None:
    (data / "pdpp.toml").write_text('rate_limit = "0.001/s"\nrequest_burst = 4\nlogin_tries = 3\n')
    token = made_grant(data)["client_token"]
    with serving(data, tmp_path / "notes", "--workers", "2", env=database) as served:
        codes = [served.get("/v1/streams", token).status_code for _ in range(12)]
    assert codes == [200] * 4 + [429] * 8
