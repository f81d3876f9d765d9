"""Unfinished stores: a move into them, or a restore, has begun and not ended."""

from collections.abc import Iterator
from contextlib import contextmanager

from pdpp.model.errors import StoreError
from pdpp.store.port import Store
from pdpp.store.tables.moving import MOVE_SETTING

_RESTORE_SETTING = "restore"


def refuse_unfinished(store: Store, *, restoring: bool = False) -> None:
    """Refuse a store of which half is not there; a restore goes on with one of its own."""
    if store.vault.setting(MOVE_SETTING) is not None:
        raise StoreError("a move into this store was interrupted; run the same pdpp move again")
    if not restoring and store.vault.setting(_RESTORE_SETTING) is not None:
        raise StoreError(
            "a restore into this store was interrupted; run the same pdpp restore again"
        )


@contextmanager
def restoring_into(store: Store) -> Iterator[None]:
    """Let a store without accounts be unfinished until all of the block is done.

    One that has accounts is in use, and stays so: what is restored is added to it.
    """
    if not store.catalogue().connections:
        _mark(store, b"begun")
    yield
    if store.vault.setting(_RESTORE_SETTING) is not None:
        _mark(store, None)


def _mark(store: Store, value: bytes | None) -> None:
    with store.vault.transaction() as transaction:
        transaction.keep_setting(_RESTORE_SETTING, value)
