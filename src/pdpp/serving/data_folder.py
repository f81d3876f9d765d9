"""The data folder: where it is unless the caller says, and how its store is opened."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import apsw

from pdpp.model.errors import StoreError
from pdpp.store.sqlite.failures import advice
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore


def default_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return where a person's programs keep their data on this platform."""
    if platform == "win32":
        base = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    elif platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        chosen = Path(environment.get("XDG_DATA_HOME", ""))
        base = chosen if chosen.is_absolute() else home / ".local" / "share"
    return base / "pdpp"


def own_folder() -> Path:
    """Return the default data folder of whoever runs this process."""
    return default_folder(os.environ, sys.platform, Path.home())


@contextmanager
def open_store(folder: Path, *, create: bool = False) -> Iterator[SqliteStore]:
    """Open the store of a folder for one command; only where ``create`` says so is it made."""
    if not create and not (folder / FILE_NAME).is_file():
        raise StoreError(
            f"there is no store in {folder}; name another folder with --data, "
            "or begin one with pdpp import, pdpp source add or pdpp serve --demo"
        )
    try:
        store = SqliteStore(folder)
    except UnicodeEncodeError:
        raise StoreError(f"the name of the folder {str(folder)!a} is not UTF-8") from None
    try:
        yield store
    except apsw.Error as problem:
        next_step = advice(problem)
        more = "" if next_step is None else f"; {next_step}"
        raise StoreError(f"the database in {folder} failed: {problem}{more}") from problem
    finally:
        store.close()
