"""What was imported, exported and restored is known again when it is imported again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp_here
from tests.engine import open_store
from tests.faults.importer import log, mailbox
from tests.serving import living, owner
from tests.sources.kit import Home

SECRET = "import-secret.txt"


def export(home: Home, out: Path, *options: str) -> dict[str, Any]:
    ended = pdpp_here("export", *(options or ("--all",)), "-o", f"{out}/", data=home.data)
    assert ended.code == 0, ended.err
    manifest: dict[str, Any] = json.loads((out / "manifest.json").read_text())
    return manifest


def import_secret(home: Home) -> bytes:
    store = open_store(home.data)
    secret = store.import_secret()
    store.close()
    return secret


@pytest.mark.parametrize("make", [log, mailbox])
def test_an_account_imported_again_into_a_restored_store_has_nothing_new(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = make(tmp_path)
    first, second = Home(tmp_path / "first"), Home(tmp_path / "second")
    connection = first.bring(path)["connection"]["connection_id"]
    export(first, tmp_path / "out")
    restored = pdpp_here("restore", tmp_path / "out", data=second.data)
    assert (restored.code, restored.err) == (0, "")
    before = second.records()
    assert before == first.records()
    again = second.bring(path)
    assert again["connection"]["connection_id"] == connection
    assert (again["counts"]["new"], again["counts"]["changed"]) == (0, 0)
    assert second.records() == before


def test_restored_twice_the_secret_stays(tmp_path: Path) -> None:
    first, second = Home(tmp_path / "first"), Home(tmp_path / "second")
    first.bring(log(tmp_path))
    export(first, tmp_path / "out")
    for _ in range(2):
        assert pdpp_here("restore", tmp_path / "out", data=second.data).code == 0
        assert import_secret(second) == import_secret(first)


def test_a_store_with_imports_of_its_own_keeps_its_secret_and_says_so(tmp_path: Path) -> None:
    first, second = Home(tmp_path / "first"), Home(tmp_path / "second")
    first.bring(mailbox(tmp_path))
    second.bring(log(tmp_path))
    own = import_secret(second)
    export(first, tmp_path / "out")
    restored = pdpp_here("restore", tmp_path / "out", data=second.data)
    assert restored.code == 0
    assert "keys that this store cannot make" in restored.err
    assert import_secret(second) == own


def test_only_the_owners_whole_export_of_a_folder_holds_the_secret(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    connection = home.bring(log(tmp_path))["connection"]["connection_id"]
    secret = import_secret(home).hex().encode()
    whole = export(home, tmp_path / "whole")
    assert [file["path"] for file in whole["files"] if file["kind"] == "import_secret"] == [SECRET]
    assert (tmp_path / "whole" / SECRET).stat().st_mode & 0o077 == 0
    export(home, tmp_path / "stream", "messages")
    export(home, tmp_path / "account", "--all", "--connection", connection)
    store = open_store(home.data)
    with living(store) as world:
        (tmp_path / "token").write_text(owner(store))
        where = ("--provider", world.server.url, "--token-file", tmp_path / "token")
        ended = pdpp_here("export", "--all", *where, "-o", tmp_path / "remote")
        assert ended.code == 0, ended.err
    for name in ("stream", "account", "remote"):
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        assert files
        assert not any(secret in path.read_bytes() for path in files)
