"""The data folder: where it is unless the caller says, and how its store is opened."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from shlex import quote

import apsw

from pdpp.configuration.database import DatabaseAddress
from pdpp.encryption.data_key import DataKey
from pdpp.encryption.key_file import KeyFile, read_key_file
from pdpp.encryption.unlocking import unlock
from pdpp.evidence.amount import counted
from pdpp.model.errors import StoreError
from pdpp.serving.database import database_has_store, database_of, open_database
from pdpp.serving.temporary_files import temporary_files_in
from pdpp.serving.unfinished import refuse_unfinished
from pdpp.store.port import Store
from pdpp.store.sqlite.conversion import remove_unfinished, settle
from pdpp.store.sqlite.failures import advice
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore


def default_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return where a person's programs keep their data on this platform."""
    windows = ("APPDATA", home / "AppData" / "Roaming")
    others = ("XDG_DATA_HOME", home / ".local" / "share")
    return _own_folder(environment, platform, home, windows, others) / "pdpp"


def state_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return the folder, outside every data folder, where this machine remembers revocations."""
    windows = ("LOCALAPPDATA", home / "AppData" / "Local")
    others = ("XDG_STATE_HOME", home / ".local" / "state")
    return _own_folder(environment, platform, home, windows, others) / "pdpp" / "revocations"


def _own_folder(
    environment: Mapping[str, str],
    platform: str,
    home: Path,
    windows: tuple[str, Path],
    others: tuple[str, Path],
) -> Path:
    """Return the folder that a platform's variable names, or its default."""
    if platform == "win32":
        variable, default = windows
        return Path(environment.get(variable) or default)
    if platform == "darwin":
        return home / "Library" / "Application Support"
    variable, default = others
    chosen = Path(environment.get(variable, ""))
    # The base directory specification has programs ignore a relative path.
    return chosen if chosen.is_absolute() else default


def _own_state() -> Path | None:
    """Return where this machine remembers, nothing for a user without a home."""
    try:
        return state_folder(os.environ, sys.platform, Path.home())
    except RuntimeError:
        return None


def own_folder() -> Path:
    """Return the default data folder of whoever runs this process."""
    return default_folder(os.environ, sys.platform, Path.home())


def keep_private(folder: Path) -> None:
    """Close a data folder to other users, and say so; refuse one that stays open to them.

    A folder without a store that holds other things is somebody's working folder: it is left alone.
    A folder that belongs to another user cannot be closed; it is good where nothing in it is open.
    Nobody comes past a folder that is closed, whatever the files in it allow.
    """
    _refuse_file(folder)
    if sys.platform == "win32" or not _is_data_folder(folder) or not _open_to_others(folder):
        return
    entries = [path for path in folder.iterdir() if not path.is_symlink()]
    mended = [path for path in (folder, *entries) if _open_to_others(path) and _close(path)]
    if mended:
        names = "the folder itself" if folder in mended else f"{counted(len(mended), 'file')} in it"
        sys.stderr.write(
            f"WARNING: other users of this machine could read {folder} ({names}); "
            "it is closed to them now.\n"
        )
    still_open = [path for path in entries if _open_to_others(path)]
    if _open_to_others(folder) and (still_open or folder.stat().st_mode & 0o002):
        raise StoreError(
            f"other users of this machine can read {folder} and it cannot be closed to them; "
            f"run chmod -R go-rwx {quote(str(folder))} as its owner, or choose another with --data"
        )


def _refuse_file(folder: Path) -> None:
    """Refuse a path at which, or above which, there is a file."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if there.exists() and not there.is_dir():
        raise StoreError(f"{there} is a file; name a folder for the data with --data")


def _is_data_folder(folder: Path) -> bool:
    return folder.is_dir() and ((folder / FILE_NAME).is_file() or not any(folder.iterdir()))


def _open_to_others(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o077)
    except FileNotFoundError:  # a file of the database that another process removed
        return False


def _close(path: Path) -> bool:
    try:
        path.chmod(0o700 if path.is_dir() else 0o600)
    except OSError:
        return False
    return True


def store_key(folder: Path, *, asks: bool = True) -> DataKey | None:
    """Return the key of an encrypted store, None for a plain one and for one in a database.

    A person at a terminal is asked for the passphrase where nothing else gives it.
    """
    if database_of(folder) is not None:
        return None
    settle(folder)
    key_file = read_key_file(folder)
    return None if key_file is None else unlock_here(key_file, folder, asks=asks)


def unlock_here(key_file: KeyFile, folder: Path, *, asks: bool = True) -> DataKey:
    """Return the key that a key file seals, as this process is given it."""
    return unlock(key_file, folder, os.environ, _ask if asks and sys.stdin.isatty() else None)


def _ask() -> str:
    from getpass import getpass

    return getpass("Passphrase of the store: ")


def has_store(folder: Path, database: DatabaseAddress | None = None) -> bool:
    """Tell whether a data folder, or the database that belongs to it, holds a store."""
    database = database or database_of(folder)
    if database is None:
        return (folder / FILE_NAME).is_file()
    return database_has_store(database)


@contextmanager
def open_store(
    folder: Path,
    *,
    create: bool = False,
    restoring: bool = False,
    key: DataKey | None = None,
    database: DatabaseAddress | None = None,
) -> Iterator[Store]:
    """Open the store of a folder for one command; only where ``create`` says so is it made.

    ``restoring`` opens one, too, into which a restore was interrupted. ``key`` is that of an
    encrypted store, and ``database`` is the one that holds the records, for a caller who has them
    already.
    """
    database = database or database_of(folder)
    if database is None:
        with _open_file(folder, create=create, restoring=restoring, key=key) as store:
            yield store
        return
    keep_private(folder)
    with open_database(database, folder, create=create, restoring=restoring) as store:
        yield store


def require_store(folder: Path) -> None:
    """Refuse a folder that holds no store, and say how to begin one."""
    if not (folder / FILE_NAME).is_file():
        raise StoreError(
            f"there is no store in {folder}; name another folder with --data, "
            "or begin one with pdpp import, pdpp source add or pdpp serve --demo"
        )


@contextmanager
def _open_file(
    folder: Path, *, create: bool, restoring: bool, key: DataKey | None
) -> Iterator[Store]:
    """Open the file of a folder as a store."""
    if key is None:
        key = store_key(folder)
    if not create:
        require_store(folder)
    keep_private(folder)
    try:
        store = SqliteStore(folder, machine=_own_state(), key=key)
    except UnicodeEncodeError:
        raise StoreError(f"the name of the folder {str(folder)!a} is not UTF-8") from None
    except apsw.Error as problem:
        raise _failure(folder, problem) from problem
    try:
        remove_unfinished(folder)
        refuse_unfinished(store, restoring=restoring)
        with temporary_files(folder, key):
            yield store
    except apsw.Error as problem:
        raise _failure(folder, problem) from problem
    finally:
        store.close()


def temporary_files(folder: Path, key: DataKey | None) -> AbstractContextManager[None]:
    """Return what keeps this process's temporary files in the folder of an encrypted store."""
    return nullcontext() if key is None else temporary_files_in(folder)


def _failure(folder: Path, problem: apsw.Error) -> StoreError:
    next_step = advice(problem)
    more = "" if next_step is None else f"; {next_step}"
    return StoreError(f"the database in {folder} failed: {problem}{more}")
