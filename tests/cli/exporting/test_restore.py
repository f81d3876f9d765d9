"""What the owner exports comes back as an equal store."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp, pdpp_here
from tests.engine import copy_store, open_store
from tests.mcp.post import FIRST, post_store
from tests.serving import World, grant, keep, living, owner, put, seeded_store

from pdpp.store.query import PageQuery
from pdpp.store.scope import owner_reaches


def everything(folder: Path) -> dict[str, Any]:
    """Return all that a store holds which an export is to keep."""
    store = open_store(folder)
    with store.reading():
        catalogue = store.catalogue()
        held = {
            "sources": {key: d.revision for key, d in catalogue.sources.items()},
            "connections": dict(catalogue.connections),
            "records": {
                reach.feed.address: sorted(
                    (record.id, record.data, record.emitted_at, record.version)
                    for record in store.page(PageQuery((reach,), 1_000_000)).records
                )
                for reach in owner_reaches(catalogue)
            },
            "blobs": {b.blob_id: (b.media_type, b.size_bytes) for b in store.blobs()},
        }
        assert store.check() == []
    store.close()
    return held


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo and something of everything awkward."""
    folder = tmp_path_factory.mktemp("origin") / "data"
    store = seeded_store(folder)
    post = post_store(folder.with_name("post"))
    for declaration in post.catalogue().sources.values():
        store.register(declaration)
    store.connect(FIRST, "post", "First post ✉")
    keep(store, b"nobody refers to this", "text/plain")
    put(store, FIRST, "letters", {"id": "l: 1 ü", "headline": "…", "pages": 10**15})
    post.close()
    store.close()
    return folder


@pytest.fixture(scope="module")
def served(origin: Path) -> Iterator[World]:
    """A server over a copy of it."""
    copy = copy_store(origin, origin.with_name("served"))
    with living(open_store(copy)) as world:
        yield world


@pytest.fixture(scope="module")
def expected(origin: Path) -> dict[str, Any]:
    """All that it holds."""
    return everything(origin)


@pytest.fixture(scope="module")
def exported(origin: Path) -> Path:
    """An export of everything in it."""
    out = origin.with_name("exported")
    told = pdpp("export", "--all", "--data", origin, "-o", out)
    assert told.code == 0, told.err
    assert f"Bring it back with: pdpp restore {out} --data NEW" in told.out
    return out


@pytest.fixture(scope="module")
def restored(exported: Path) -> Path:
    """A data folder that was made of the export."""
    new = exported.with_name("restored")
    assert pdpp("restore", exported, data=new).code == 0
    return new


def test_a_folder_exported_and_restored_is_an_equal_store(
    restored: Path, expected: dict[str, Any]
) -> None:
    assert everything(restored) == expected


def test_an_owners_token_exports_what_accounts_and_records_refer_to_over_the_network(
    served: World, expected: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(owner(served.store))
    out, new = tmp_path / "out", tmp_path / "new"
    where = ("--provider", served.server.url, "--token-file", tmp_path / "token")
    ended = pdpp_here("export", "--all", *where, "-o", out)
    assert ended.code == 0, ended.err
    assert json.loads((out / "manifest.json").read_text())["scope"] == "owner"
    assert pdpp_here("restore", out, data=new).code == 0
    found = everything(new)
    assert found["records"] == expected["records"]
    assert found["connections"] == expected["connections"]
    assert expected["sources"].keys() - found["sources"].keys() == {"diary"}
    assert found["sources"].items() <= expected["sources"].items()
    unreferred = expected["blobs"].keys() - found["blobs"].keys()
    assert len(unreferred) == 1
    assert found["blobs"].items() <= expected["blobs"].items()


def test_a_token_comes_from_standard_input(served: World, tmp_path: Path) -> None:
    ended = pdpp(
        *("export", "albums", "--provider", served.server.url, "--token-file", "-"),
        *("-o", tmp_path / "albums.ndjson"),
        stdin=owner(served.store).encode(),
    )
    assert ended.code == 0, ended.err
    assert len((tmp_path / "albums.ndjson").read_text().splitlines()) == 5


def test_one_stream_is_exported_with_its_source_and_restored(
    origin: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    assert pdpp_here("export", "photos", "-o", f"{out}/", data=origin).code == 0
    assert pdpp_here("restore", out, data=new).code == 0
    found = everything(new)
    assert found["connections"].keys() == {"cin_photos"}
    place = ("cin_photos", "photos")
    assert found["records"][place] == expected["records"][place]
    assert found["records"]["cin_photos", "albums"] == []
    assert found["blobs"]


def test_one_stream_into_one_file_is_read_by_ingest(origin: Path, tmp_path: Path) -> None:
    file = tmp_path / "albums.ndjson"
    words = ("export", "albums", "--connection", "cin_photos", "-o", file)
    assert pdpp_here(*words, data=origin).code == 0
    copy = copy_store(origin, tmp_path / "copy")
    told = pdpp_here(
        "ingest", file, "--connection", "cin_photos", "--stream", "albums", "--json", data=copy
    ).document
    assert (told["records_unchanged"], told["records_changed"]) == (5, 0)


def test_the_same_export_twice_changes_nothing(exported: Path, restored: Path) -> None:
    told = pdpp_here("restore", exported, "--json", data=restored).document
    assert told["records_new"] == told["records_changed"] == 0
    assert told["records_unchanged"] == told["records_attempted"] > 4_000


def test_what_is_not_in_the_folder_is_told(origin: Path, tmp_path: Path) -> None:
    told = pdpp_here("export", "nothing", "-o", tmp_path / "x", data=origin).failed()
    assert "there is no 'nothing' in this store" in told


Spoil = Callable[[Path], None]


def edit(change: Callable[[dict[str, Any]], Any]) -> Spoil:
    def spoil(out: Path) -> None:
        path = out / "manifest.json"
        manifest = json.loads(path.read_text())
        change(manifest)
        path.write_text(json.dumps(manifest))

    return spoil


def endless(out: Path) -> None:
    (out / "manifest.json").unlink()
    (out / "manifest.json").symlink_to("/dev/zero")


def flip(out: Path) -> None:
    path = out / "records" / "cin_photos" / "albums.ndjson"
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda out: (out / "manifest.json").unlink(), "there is no manifest.json"),
        (endless, "there is no manifest.json"),
        (lambda out: (out / "manifest.json").write_text("{}"), "is not the manifest of an export"),
        (flip, "its checksum differs"),
        (
            lambda out: (out / "records" / "cin_photos" / "albums.ndjson").unlink(),
            "is missing from the export",
        ),
        (edit(lambda m: m.update(complete=False, begun=None)), "is not finished"),
        (edit(lambda m: m.update(scope="grant")), "holds no declarations"),
        (edit(lambda m: m.update(format="other/1")), "is not the manifest"),
        (edit(lambda m: m["files"][0].update(path="../../etc/passwd")), "is not the manifest"),
        (edit(lambda m: m["files"][0].update(path="/etc/passwd")), "is not the manifest"),
        (edit(lambda m: m["files"][0].update(kind="other")), "is not the manifest"),
        (edit(lambda m: m["files"][-1].pop("records")), "is not the manifest"),
        (edit(lambda m: m["files"][-1].update(records="many")), "is not the manifest"),
        (edit(lambda m: m["connections"][0].pop("display_name")), "is not the manifest"),
        (edit(lambda m: m["connections"][0].pop("connector_key")), "what source an account is of"),
    ],
)
def test_an_export_that_is_not_as_it_was_is_refused_before_anything_is_written(
    origin: Path, tmp_path: Path, spoil: Spoil, told: str
) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    pdpp_here("export", "albums", "-o", f"{out}/", data=origin)
    spoil(out)
    assert told in pdpp_here("restore", out, data=new).failed()
    assert not new.exists()


def test_a_file_under_the_name_of_another_is_refused(origin: Path, tmp_path: Path) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    pdpp_here("export", "--all", "-o", f"{out}/", data=origin)

    def exchange(manifest: dict[str, Any]) -> None:
        blob, other = [e for e in manifest["files"] if e["kind"] == "blob"][:2]
        blob["blob_id"], other["blob_id"] = other["blob_id"], blob["blob_id"]

    edit(exchange)(out)
    assert "is not the file that records refer to" in pdpp_here("restore", out, data=new).failed()
    assert not new.exists()


def test_the_type_of_a_file_is_one_that_a_header_takes(origin: Path, tmp_path: Path) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    pdpp_here("export", "photos", "-o", f"{out}/", data=origin)

    def change(manifest: dict[str, Any]) -> None:
        for entry in manifest["files"]:
            if entry["kind"] == "blob":
                entry["media_type"] = "text/html\r\nSet-Cookie: a=b"

    edit(change)(out)
    assert pdpp_here("restore", out, data=new).code == 0
    with closing(open_store(new)) as store:
        assert {blob.media_type for blob in store.blobs()} == {"application/octet-stream"}


def test_lines_that_no_longer_keep_to_the_schema_are_told(origin: Path, tmp_path: Path) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    pdpp_here("export", "albums", "-o", f"{out}/", data=origin)
    path = out / "records" / "cin_photos" / "albums.ndjson"
    path.write_bytes(b'{"key":"a","data":{"id":5},"emitted_at":"2026-01-01T00:00:00Z"}\n')

    def change(manifest: dict[str, Any]) -> None:
        [entry] = [e for e in manifest["files"] if e["kind"] == "records"]
        entry.update(
            bytes=path.stat().st_size, sha256=hashlib.sha256(path.read_bytes()).hexdigest()
        )

    edit(change)(out)
    ended = pdpp_here("restore", out, data=new)
    assert ended.code == 1
    assert "line 1: schema_violation" in ended.out


def test_only_the_owner_is_told_declarations(served: World) -> None:
    params = {"stream": "albums", "detail": "full"}
    owners = served.owner().get("/v1/schema", params=params).json()["connectors"][0]
    assert owners["declaration"]["connector_key"] == "demo_photos"
    clients = served.server.client(grant(served.store)).get("/v1/schema", params=params).json()
    assert "declaration" not in clients["connectors"][0]
    asked = {"stream": "albums", "view": "compact"}
    compact = served.owner().get("/v1/schema", params=asked).json()
    assert "declaration" not in compact["connectors"][0]
