"""``pdpp export`` under a grant: records, documents and files, whole or gone on with."""

import hashlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.exporting.gate import Gate, gated
from tests.cli.reading.desk import Desk, at_desk
from tests.cli.shell import DEADLINE_SECONDS, DECLARATION, Ended, started, wait_for
from tests.mcp.post import FIRST, post_store
from tests.serving import World, all_rows, grant, living, planted_store, put, seeded_store

from pdpp.authz.selection import Selection, make_package, resolve
from pdpp.client.blob import part_of
from pdpp.credentials import Cache, Credential
from pdpp.model import instant

INVOICE = "cin_home/messages:m-invoice-4471"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The demo world, served, only to be read."""
    with living(seeded_store(tmp_path_factory.mktemp("demo") / "store")) as world:
        yield world


@pytest.fixture(scope="session")
def desk(demo: World, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A person who may read the whole demo world."""
    return at_desk(demo, tmp_path_factory.mktemp("my cache"))


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def checked(folder: Path) -> dict[str, Any]:
    """Return the manifest of a finished export after checking every file against it."""
    manifest = manifest_of(folder)
    assert manifest["complete"] is True
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {entry["path"] for entry in manifest["files"]} | {"manifest.json"}
    for entry in manifest["files"]:
        content = (folder / entry["path"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (
            entry["bytes"],
            entry["sha256"],
        )
        assert (folder / entry["path"]).stat().st_mode & 0o777 == 0o600
    return manifest


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_stream_becomes_lines_that_ingest_reads(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "my mail.ndjson"
    told = desk.run(
        "export", "messages", "--connection", "cin_home", "-o", target, "--json"
    ).document
    rows = all_rows(
        desk.world.server.client(desk.token),
        "/v1/streams/messages/records",
        connection_id="cin_home",
        limit=100,
    )
    assert lines_of(target) == [
        {"key": row["id"], "data": row["data"], "emitted_at": row["emitted_at"]} for row in rows
    ]
    assert told["records"] == 598
    manifest = json.loads(Path(told["manifest"]).read_text())
    [entry] = manifest["files"]
    assert entry["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert manifest["scope"] == "grant"
    assert manifest["asked"] == {
        "origin": desk.url,
        "stream": "messages",
        "connection_id": "cin_home",
    }
    assert sorted(os.listdir(tmp_path)) == ["my mail.ndjson", "my mail.ndjson.manifest.json"]


def test_everything_under_a_grant_goes_into_a_folder(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "all of it"
    ended = desk.here("export", "--all", "-o", target)
    assert (ended.code, ended.err) == (0, "")
    assert "pdpp restore" not in ended.out
    manifest = checked(target)
    assert len(manifest["connections"]) == 8
    records = [entry for entry in manifest["files"] if entry["kind"] == "records"]
    assert len(records) == 19
    counts = {
        row["connection_id"] + row["name"]: row["record_count"]
        for row in desk.get("/v1/streams").json()["data"]
    }
    assert {e["connection_id"] + e["stream"]: e["records"] for e in records} == counts
    blobs = {entry["blob_id"] for entry in manifest["files"] if entry["kind"] == "blob"}
    assert blobs
    assert all(
        hashlib.sha256((target / "blobs" / b[:2] / b).read_bytes()).hexdigest() == b for b in blobs
    )
    assert not any(entry["kind"] == "declaration" for entry in manifest["files"])
    assert target.stat().st_mode & 0o777 == 0o700


def test_a_stream_of_several_accounts_needs_one_or_a_folder(desk: Desk, tmp_path: Path) -> None:
    told = desk.here("export", "messages", "-o", tmp_path / "x.ndjson").failed(code=64)
    assert "choose one with --connection (cin_team, cin_home, cin_work)" in told
    assert list(tmp_path.iterdir()) == []
    assert desk.here("export", "messages", "-o", f"{tmp_path}/").code == 0
    assert len([e for e in checked(tmp_path)["files"] if e["kind"] == "records"]) == 3


def test_a_narrow_grant_exports_only_what_it_shows(demo: World, tmp_path: Path) -> None:
    mine = at_desk(demo, tmp_path / "cache", streams=("messages",), fields=("id", "subject"))
    assert mine.here("export", "--all", "-o", tmp_path / "out").code == 0
    for entry in checked(tmp_path / "out")["files"]:
        for line in lines_of(tmp_path / "out" / entry["path"]):
            assert line["data"].keys() <= {"id", "subject"}


def test_a_package_of_grants_is_exported_as_one(demo: World, tmp_path: Path) -> None:
    chosen = Selection(connections=("cin_home", "cin_photos"))
    allowances = resolve(chosen, demo.store.catalogue())
    package, grants, secret, token = make_package(
        allowances, client_id="c", purpose="p", now=instant.now()
    )
    demo.store.vault.keep_package(package, grants, [token])
    root = tmp_path / "cache"
    Cache(root / "clients").store(Credential(demo.server.url, secret, "mcp_package"))
    assert Desk(demo, root, secret).here("export", "--all", "-o", tmp_path / "out").code == 0
    found = checked(tmp_path / "out")
    assert {c["connection_id"] for c in found["connections"]} == {"cin_home", "cin_photos"}


# One record, one blob


def test_a_record_is_saved_as_json_or_as_text(desk: Desk, tmp_path: Path) -> None:
    record = desk.get("/v1/streams/messages/records/m-invoice-4471")
    told = desk.run("export", INVOICE, "-o", tmp_path / "letter.json", "--json").document
    content = (tmp_path / "letter.json").read_bytes()
    assert content == record.content + b"\n"
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
    assert desk.here("export", INVOICE, "-o", tmp_path / "letter.md").code == 0
    text = (tmp_path / "letter.md").read_text()
    assert text.startswith(
        "Invoice 4471 for the kitchen tiles\ndemo_mail · Home mail · messages · "
    )
    assert text.endswith(record.json()["data"]["body"] + "\n")
    assert sorted(os.listdir(tmp_path)) == ["letter.json", "letter.md"]


def test_a_record_goes_into_a_folder_with_its_files(desk: Desk, tmp_path: Path) -> None:
    photo = desk.get("/v1/streams/photos/records", limit=1).json()["data"][0]
    ended = desk.here("export", f"cin_photos/photos:{photo['id']}", "-o", f"{tmp_path}/")
    assert ended.code == 0, ended.err
    kinds = [entry["kind"] for entry in checked(tmp_path)["files"]]
    assert kinds == ["records", "blob"]
    [line] = lines_of(tmp_path / "records" / "cin_photos" / "photos.ndjson")
    assert line["data"] == photo["data"]


def test_a_blob_is_saved_by_its_uri(desk: Desk, tmp_path: Path) -> None:
    photo = desk.get("/v1/streams/photos/records", limit=1).json()["data"][0]
    blob_id = photo["data"]["image"]["blob_id"]
    told = desk.run("export", f"pdpp://blob/{blob_id}", "-o", tmp_path / "p.png", "--json").document
    assert told["sha256"] == blob_id
    assert hashlib.sha256((tmp_path / "p.png").read_bytes()).hexdigest() == blob_id


def test_a_record_that_cannot_be_written_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "letter.json").mkdir()
    (tmp_path / "letter.json" / "mine").write_text("mine")
    told = desk.here("export", INVOICE, "-o", tmp_path / "nowhere" / "letter.json").failed()
    assert "No such file or directory" in told
    assert os.listdir(tmp_path) == ["letter.json"]


# Going on


@contextmanager
def thousand(folder: Path) -> Iterator[World]:
    """Serve a thousand entries of a diary."""
    rows = [{"id": f"e{n:04}", "title": "T", "day": "2026-01-01T00:00:00Z"} for n in range(1_000)]
    store = planted_store(folder / "store", DECLARATION, {"c": "C"}, {("c", "entries"): rows})
    with living(store) as world:
        yield world


@dataclass(frozen=True, slots=True)
class Exporter:
    """An export of the thousand through a gate, which may break off."""

    desk: Desk
    gate: Gate
    target: Path

    def export(self) -> Ended:
        """Run the command."""
        return self.desk.here("export", "entries", "-o", self.target)

    def break_off(self, pages: int) -> None:
        """Run it until the server is gone, after so many pages of a hundred."""
        self.gate.left = 2 + pages
        assert "server_unreachable" in self.export().failed(code=69)
        self.gate.left = None
        self.gate.asked.clear()

    @property
    def pages(self) -> int:
        """Return how many pages were asked for."""
        return sum("/records" in one for one in self.gate.asked)

    @property
    def keys(self) -> list[str]:
        """Return the keys of what was exported."""
        return sorted(line["key"] for line in lines_of(self.target))

    @property
    def note(self) -> Path:
        """Return the manifest."""
        return self.target.with_name(f"{self.target.name}.manifest.json")


ALL_KEYS = [f"e{n:04}" for n in range(1_000)]


@pytest.fixture
def trip(tmp_path: Path) -> Iterator[Exporter]:
    """A person who exports through a gate."""
    with thousand(tmp_path) as world, gated(world.server.url) as gate:
        root = tmp_path / "cache"
        token = grant(world.store)
        Cache(root / "clients").store(Credential(gate.url, token, "client"))
        yield Exporter(Desk(world, root, token), gate, tmp_path / "out.ndjson")


def test_an_export_that_broke_off_goes_on_where_it_was(trip: Exporter) -> None:
    trip.break_off(4)
    assert not trip.target.exists()
    assert json.loads(trip.note.read_text())["begun"]["records"] == 400
    assert trip.export().code == 0
    assert trip.pages == 6
    assert trip.keys == ALL_KEYS
    [entry] = json.loads(trip.note.read_text())["files"]
    assert entry["sha256"] == hashlib.sha256(trip.target.read_bytes()).hexdigest()
    assert entry["records"] == 1_000
    assert not part_of(trip.target).exists()


def test_a_folder_goes_on_too_and_asks_for_nothing_twice(trip: Exporter, tmp_path: Path) -> None:
    target = tmp_path / "out"
    trip.gate.left = 6
    assert trip.desk.here("export", "--all", "-o", target).code == 69
    assert manifest_of(target)["complete"] is False
    trip.gate.left = None
    trip.gate.asked.clear()
    assert trip.desk.here("export", "--all", "-o", target).code == 0
    assert trip.pages == 7
    assert sum(entry["records"] for entry in checked(target)["files"]) == 1_000


def test_a_stream_that_is_whole_is_not_asked_for_again(trip: Exporter, tmp_path: Path) -> None:
    target = tmp_path / "out"
    trip.gate.left = 12
    assert trip.desk.here("export", "--all", "-o", target).code == 69
    assert [entry["records"] for entry in manifest_of(target)["files"]] == [1_000]
    trip.gate.left = None
    trip.gate.asked.clear()
    assert trip.desk.here("export", "--all", "-o", target).code == 0
    assert trip.pages == 1
    checked(target)


def test_a_file_that_is_whole_is_not_asked_for_again(demo: World, tmp_path: Path) -> None:
    with gated(demo.server.url) as gate:
        root, token = tmp_path / "cache", grant(demo.store, streams=("photos",))
        Cache(root / "clients").store(Credential(gate.url, token, "client"))
        desk, target = Desk(demo, root, token), tmp_path / "out"
        gate.left = 2 + 2 + 20
        assert desk.here("export", "--all", "-o", target).code == 69
        gate.left = None
        assert desk.here("export", "--all", "-o", target).code == 0
    asked = [one for one in gate.asked if "/blobs/" in one]
    blobs = [entry for entry in checked(target)["files"] if entry["kind"] == "blob"]
    assert len(asked) == len(set(asked)) == len(blobs) > 20


def test_what_was_written_after_the_last_note_is_not_trusted(trip: Exporter) -> None:
    trip.break_off(4)
    with part_of(trip.target).open("ab") as part:
        part.write(b'{"half a li' * 100_000)
    assert trip.export().code == 0
    assert trip.keys == ALL_KEYS


@pytest.mark.parametrize("loss", ["part", "cursor"])
def test_what_cannot_be_gone_on_with_begins_anew(trip: Exporter, loss: str) -> None:
    trip.break_off(4)
    if loss == "part":
        part_of(trip.target).write_bytes(b"")
    else:
        held = json.loads(trip.note.read_text())
        held["begun"]["cursor"] = "no-longer-good"
        trip.note.write_text(json.dumps(held))
    assert trip.export().code == 0
    assert trip.keys == ALL_KEYS
    assert json.loads(trip.note.read_text())["files"][0]["records"] == 1_000


def test_ctrl_c_leaves_an_export_that_can_be_gone_on_with(trip: Exporter, tmp_path: Path) -> None:
    target = tmp_path / "out"
    words = ("export", "--all", "-o", target, "--cache-root", trip.desk.root)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    trip.gate.pause = 0.05
    with started(*words, **pipes) as process:
        wait_for(lambda: trip.pages > 2, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE_SECONDS) == 130
        assert process.stderr is not None
        assert process.stderr.read().strip() == b""
    assert manifest_of(target)["complete"] is False
    trip.gate.pause = 0.0
    assert trip.desk.here("export", "--all", "-o", target).code == 0
    assert sum(entry["records"] for entry in checked(target)["files"]) == 1_000


def test_a_program_that_was_killed_leaves_an_export_that_can_be_gone_on_with(
    trip: Exporter, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    words = ("export", "--all", "-o", target, "--cache-root", trip.desk.root)
    trip.gate.pause = 0.05
    with started(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: trip.pages > 4, process)
        process.kill()
        process.wait(DEADLINE_SECONDS)
    trip.gate.pause = 0.0
    assert trip.desk.here("export", "--all", "-o", target).code == 0
    assert sum(entry["records"] for entry in checked(target)["files"]) == 1_000


def test_a_finished_export_is_replaced_whole(tmp_path: Path) -> None:
    with thousand(tmp_path) as world:
        desk, target = at_desk(world, tmp_path / "cache"), tmp_path / "out"
        assert desk.here("export", "--all", "-o", target).code == 0
        put(world.store, "c", "moods", {"id": "m"})
        only = at_desk(world, tmp_path / "other", streams=("moods",))
        assert only.here("export", "--all", "-o", target).code == 0
        [entry] = checked(target)["files"]
        assert (entry["stream"], entry["records"]) == ("moods", 1)


def test_another_unfinished_export_is_not_mixed_with_this_one(
    trip: Exporter, tmp_path: Path
) -> None:
    target = f"{tmp_path / 'out'}/"
    trip.gate.left = 4
    assert trip.desk.here("export", "entries", "-o", target).code == 69
    trip.gate.left = None
    told = trip.desk.here("export", "--all", "-o", target).failed()
    assert "holds another export that is not finished" in told
    direct = at_desk(trip.desk.world, tmp_path / "direct")
    assert "not finished" in direct.here("export", "entries", "-o", target).failed()


@pytest.mark.parametrize("there", ["file", "folder", "odd manifest"])
def test_what_is_no_export_is_left_alone(desk: Desk, tmp_path: Path, there: str) -> None:
    target = tmp_path / "mine"
    mine = b"mine, and no text: \xff"
    if there == "file":
        target.write_bytes(mine)
    else:
        target.mkdir()
        name = "manifest.json" if there == "odd manifest" else "letter.txt"
        (target / name).write_bytes(mine)
    told = desk.here("export", "--all", "-o", target).failed()
    assert "choose a new folder" in told or "is not the manifest of an export" in told
    held = target if there == "file" else next(target.iterdir())
    assert held.read_bytes() == mine


def test_files_that_are_gone_are_told_and_listed(tmp_path: Path) -> None:
    store = post_store(tmp_path / "store")
    gone = {"blob_id": "0" * 64, "mime_type": "text/plain", "size_bytes": 1}
    put(store, FIRST, "letters", {"id": "g", "leaflet": gone, "sent_at": "2026-03-09T00:00:00Z"})
    with living(store) as world:
        ended = at_desk(world, tmp_path / "cache").here("export", "--all", "-o", tmp_path / "out")
    assert ended.code == 0
    assert ended.err == "Could not be read: 1 file that records refer to.\n"
    assert checked(tmp_path / "out")["missing_blobs"] == ["0" * 64]


def test_names_that_no_folder_takes_or_that_look_alike_are_kept_apart(tmp_path: Path) -> None:
    names = {
        "Case": "A",
        "case": "B",
        "…/".replace("/", "") * 200: "C",
        "a:b".replace(":", " "): "D",
    }
    rows = {(name, "moods"): [{"id": "m", "mood": mood}] for name, mood in names.items()}
    store = planted_store(
        tmp_path / "store", DECLARATION, {name: f"Name {name[:9]}" for name in names}, rows
    )
    with living(store) as world:
        desk = at_desk(world, tmp_path / "cache")
        assert desk.here("export", "moods", "-o", f"{tmp_path / 'out'}/").code == 0
    found = {}
    for entry in checked(tmp_path / "out")["files"]:
        assert len(entry["path"]) < 200
        found[entry["connection_id"]] = lines_of(tmp_path / "out" / entry["path"])[0]["data"][
            "mood"
        ]
    assert found == names
    folded = [entry["path"].casefold() for entry in checked(tmp_path / "out")["files"]]
    assert len(set(folded)) == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Export what?"),
        (("messages", "--all"), "Export what?"),
        (("messages", "--data", "x", "--provider", "http://x"), "leave --provider"),
        (("--all", "--token-file", "{file}"), "name the server with --provider"),
        (("a:b", "--data", "{file}"), "export a STREAM or --all"),
    ],
)
def test_wrong_usage_is_told(desk: Desk, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    (tmp_path / "file").write_text("token")
    given = [word.format(file=tmp_path / "file") for word in words]
    assert told in desk.here("export", *given, "-o", tmp_path / "out").failed(code=64)


def test_a_token_comes_from_a_file_and_never_from_the_command_line(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(f"{desk.token}\n")
    words = ("export", "albums", "-o", tmp_path / "a.ndjson", "--provider", desk.url)
    assert desk.here(*words, "--token-file", tmp_path / "token").code == 0
    assert len(lines_of(tmp_path / "a.ndjson")) == 5
    (tmp_path / "token").write_text("two words")
    told = desk.here(*words, "--token-file", tmp_path / "token").failed()
    assert told == "the file holds no token"
    (tmp_path / "token").write_text("unknown-token")
    assert desk.here(*words, "--token-file", tmp_path / "token").failed(code=78)
