"""Soundness: what must hold of a data folder after anything happened to it."""

from pathlib import Path

import apsw
from tests.engine import open_store
from tests.promises.caller import calling
from tests.serving import UNLIMITED, owner

from pdpp.app import make_app
from pdpp.store.sqlite.store import FILE_NAME


def check_sound(folder: Path) -> None:
    """Check that the files are whole and that a server starts over them, is ready and reads."""
    store = open_store(folder)
    try:
        assert store.check() == []
        with calling(make_app(store, UNLIMITED), owner(store)) as caller:
            assert caller.get("/readyz") == {"status": "ready"}
            assert caller.get("/v1/streams")["object"] == "list"
    finally:
        store.close()
    assert integrity(folder / FILE_NAME) == "ok"


def integrity(path: Path) -> str:
    """Return what the engine itself says of a file."""
    db = apsw.Connection(str(path))
    try:
        return str(db.execute("PRAGMA integrity_check").get)
    finally:
        db.close()
