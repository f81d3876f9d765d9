"""Notes of backups: when everything was copied last, and where to."""

from typing import NamedTuple

import orjson

from pdpp.store.vault import Vault, VaultReader

_SETTING = "last_backup"


class BackupNote(NamedTuple):
    """When a backup was complete, and its folder."""

    at: int
    folder: str


def last_backup(vault: VaultReader) -> BackupNote | None:
    """Return the last backup, if there was one."""
    kept = vault.setting(_SETTING)
    return None if kept is None else BackupNote(*orjson.loads(kept))


def note_backup(vault: Vault, note: BackupNote) -> None:
    """Keep that a backup was made."""
    with vault.transaction() as transaction:
        transaction.keep_setting(_SETTING, orjson.dumps(list(note)))
