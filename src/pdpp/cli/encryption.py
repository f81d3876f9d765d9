"""``pdpp encryption``: encrypt a store, decrypt it, and change the key or the passphrase."""

import os
import sys
from pathlib import Path
from typing import TextIO

import click

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.options import common, passphrase_in
from pdpp.cli.output import note, show
from pdpp.cli.progress import Progress
from pdpp.encryption import remembered_keys
from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import data_files
from pdpp.encryption.key_file import KeyFile, read_key_file
from pdpp.encryption.unlocking import PASSPHRASE_VARIABLE, given_passphrase
from pdpp.model.errors import StoreError
from pdpp.private import make_folder
from pdpp.serving.data_folder import (
    keep_private,
    open_store,
    require_store,
    store_key,
    unlock_here,
)
from pdpp.serving.database import database_of, refuse_database
from pdpp.sources.importing.state import ImportState
from pdpp.store.sqlite.conversion import convert, settle
from pdpp.store.sqlite.store import FILE_NAME

_NEW_PASSPHRASE = click.option(
    "--new-passphrase-file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read the new passphrase from the first line of a file, or of standard input with -.",
)
_KEYRING = click.option(
    "--keyring", "in_keyring", is_flag=True, help="Let this machine's keyring open it from now on."
)


ENCRYPTED_BY_DATABASE = "encrypt the disk or the tablespace of the database"


@click.group(cls=CommandGroup)
def encryption() -> None:
    """Encrypt the store on the disk, decrypt it, and change its key."""


@encryption.command(epilog=examples("pdpp encryption on", "pdpp encryption on --keyring"))
@_NEW_PASSPHRASE
@_KEYRING
@common
def on(new_passphrase_file: TextIO | None, in_keyring: bool, data: Path, as_json: bool) -> None:
    """Encrypt the store in the data folder with a passphrase. Stop the server first.

    The passphrase is asked for twice and not shown. Without it nobody can read the store or its
    backups, not even you.
    """
    refuse_database(database_of(data), ENCRYPTED_BY_DATABASE)
    settle(data)
    if read_key_file(data) is not None:
        raise StoreError(f"the store in {data} is encrypted already")
    begin_encryption(data, _new_passphrase(new_passphrase_file), in_keyring=in_keyring)
    _show("on", f"The store in {data} is encrypted.", as_json=as_json)
    note("Backups that you made before are not: remove them, or keep them in a safe place.")


@encryption.command(epilog=examples("pdpp encryption off"))
@common
def off(data: Path, as_json: bool) -> None:
    """Write everything in the data folder without encryption again. Stop the server first."""
    key, key_file = _opened(data)
    _convert(data, key, None)
    remembered_keys.forget(key_file.id)
    _show("off", f"The store in {data} is not encrypted any more.", as_json=as_json)


@encryption.command(
    epilog=examples("pdpp encryption rekey", "pdpp encryption rekey --passphrase-only")
)
@_NEW_PASSPHRASE
@_KEYRING
@click.option(
    "--passphrase-only",
    is_flag=True,
    help="Keep the key and change only its passphrase: at once; a server may be running.",
)
@common
def rekey(
    new_passphrase_file: TextIO | None,
    in_keyring: bool,
    passphrase_only: bool,
    data: Path,
    as_json: bool,
) -> None:
    """Write everything anew under a new key with a new passphrase. Stop the server first.

    An old backup and its passphrase do not open what is stored here now.
    """
    key, former = _opened(data)
    new = key if passphrase_only else DataKey.new()
    key_file = KeyFile.seal(new, _new_passphrase(new_passphrase_file, replaces=True))
    if passphrase_only:
        key_file.write(data)
    else:
        _convert(data, key, (new, key_file))
    if remembered_keys.forget(former.id) or in_keyring:
        remembered_keys.remember(key_file.id, new)
    text = "has a new passphrase" if passphrase_only else "has a new key and a new passphrase"
    _show("on", f"The store in {data} {text}.", as_json=as_json)


@encryption.command(
    "keyring", epilog=examples("pdpp encryption keyring", "pdpp encryption keyring --forget")
)
@click.option("--forget", is_flag=True, help="Take the key out of the keyring.")
@common
def open_by_machine(forget: bool, data: Path, as_json: bool) -> None:
    """Let the keyring of this machine open the store, so that no command asks for a passphrase."""
    if forget:
        had = remembered_keys.forget(_key_file(data).id)
        text = "The keyring has forgotten the key." if had else "The keyring had no key of it."
    else:
        key, key_file = _opened(data)
        remembered_keys.remember(key_file.id, key)
        text = "The keyring of this machine opens the store from now on."
    _show("on", text, as_json=as_json)


@encryption.command(epilog=examples("pdpp encryption status", "pdpp encryption status --json"))
@common
def status(data: Path, as_json: bool) -> None:
    """Say whether the store is encrypted, and what opens it."""
    refuse_database(database_of(data), ENCRYPTED_BY_DATABASE)
    key_file = read_key_file(data)
    if key_file is None:
        require_store(data)
        _show("off", f"The store in {data} is not encrypted.", as_json=as_json)
        return
    known = remembered_keys.recall(key_file.id) is not None
    how = "the keyring of this machine opens it" if known else "its passphrase opens it"
    _show("on", f"The store in {data} is encrypted; {how}.", as_json=as_json)


def begin_encryption(data: Path, passphrase: str, *, in_keyring: bool = False) -> DataKey:
    """Encrypt a store, or begin one that is encrypted; return its key."""
    key = DataKey.new()
    key_file = KeyFile.seal(key, passphrase)
    if in_keyring:
        remembered_keys.remember(key_file.id, key)
    if (data / FILE_NAME).is_file():
        _convert(data, None, (key, key_file))
    else:
        make_folder(data)
        key_file.write(data)
        with open_store(data, create=True, key=key):
            pass
    return key


def encrypted_key(data: Path) -> DataKey:
    """Return the key of a store, which is encrypted first where it is not."""
    key = store_key(data)
    return begin_encryption(data, _new_passphrase(None)) if key is None else key


def _convert(data: Path, old: DataKey | None, new: tuple[DataKey, KeyFile] | None) -> None:
    keep_private(data)
    key = None if new is None else new[0]

    def imports(folder: Path) -> None:
        ImportState(data, data_files(old)).convert(ImportState(folder, data_files(key)))

    with Progress("Files:") as progress:
        convert(data, old, new, imports, progress.tell)


def _key_file(data: Path) -> KeyFile:
    refuse_database(database_of(data), ENCRYPTED_BY_DATABASE)
    settle(data)
    key_file = read_key_file(data)
    if key_file is None:
        raise StoreError(f"the store in {data} is not encrypted")
    return key_file


def _opened(data: Path) -> tuple[DataKey, KeyFile]:
    key_file = _key_file(data)
    return unlock_here(key_file, data), key_file


def _new_passphrase(source: TextIO | None, *, replaces: bool = False) -> str:
    if source is not None:
        return passphrase_in(source)
    # Where there is a key already, the environment has the passphrase of today.
    given = None if replaces else given_passphrase(os.environ)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"Give the new passphrase with --new-passphrase-file or in {PASSPHRASE_VARIABLE}, or "
            "run this in a terminal.",
            click.get_current_context(),
        )
    typed: str = click.prompt(
        "New passphrase of the store",
        hide_input=True,
        confirmation_prompt="The same again",
        err=True,
    )
    return typed


def _show(state: str, text: str, *, as_json: bool) -> None:
    show({"encryption": state}, [text], as_json=as_json)
