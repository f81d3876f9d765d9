"""Rotations beside the database: which refresh token is the last of its family.

A backup knows a refresh token as unused that was used after it was made. Whoever puts its database
back would let it be used again, by a thief as well as by its client. So the last token of each
family is also kept in a small file of the data folder that no backup holds, and in one that the
machine keeps for the store. They are written after the database keeps the rotation: a crash in
between must not cost a client the token that it still has. A family that an older database brings
back is revoked: its client has a token that this database does not know, and connects again.
"""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pdpp.private import make_folder, write_file
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.vault import grants as grant_rows
from pdpp.store.vault import RefreshToken

FOLDER_NAME = "rotations"
_LINE = re.compile(r"(\S{1,200}) (\S{1,200}) (\d{1,19})\n\Z")

log = logging.getLogger("pdpp.store")


class Rotation(NamedTuple):
    """The last refresh token of a family, by its hash, and when it ends."""

    family: str
    last: str
    expires_at: int


class RotationFiles:
    """The last refresh token of each family that was rotated, one file for each."""

    def __init__(self, folder: Path, machine: Path | None) -> None:
        own = folder / FOLDER_NAME
        self._folders = [own] if machine is None else [own, machine]

    def keep(self, tokens: Iterable[RefreshToken]) -> None:
        """Remember tokens as the last of their families."""
        for token in tokens:
            line = f"{token.family} {token.hash} {token.expires_at}\n"
            name = hashlib.sha256(token.family.encode()).hexdigest()[:32]
            for folder in self._folders:
                try:
                    make_folder(folder)
                    write_file(folder / name, line.encode(), durable=True)
                except OSError as problem:  # the rotation is kept already, and its client waits
                    log.warning("a renewed token is not remembered in %s: %s", folder, problem)

    def outdated(self, db: TableReader) -> list[str]:
        """Return the families of which an older database takes a used token for unused.

        A database that has the last token of a family is no older than what is remembered. It must
        have both: a folder that was copied by hand brings back its own memory with its database,
        and the machine's is newer. A family that two copies of a store went on with is one of which
        a token was used twice.
        """
        last_of: dict[str, set[str]] = {}
        for rotation in self._rotations():
            last_of.setdefault(rotation.family, set()).add(rotation.last)
        return [
            family
            for family, last in last_of.items()
            if not all(_is_known(db, token) for token in last)
            and grant_rows.is_family_good(db, family)
        ]

    def forget_ended(self, now: int) -> None:
        """Remove what is remembered of tokens that have ended by themselves."""
        for folder in self._folders:
            for path, rotation in _read(folder):
                if rotation.expires_at <= now:
                    with suppress(OSError):
                        path.unlink()

    def _rotations(self) -> Iterator[Rotation]:
        return (rotation for folder in self._folders for _, rotation in _read(folder))


def _read(folder: Path) -> Iterator[tuple[Path, Rotation]]:
    try:
        paths = sorted(folder.iterdir())
    except OSError:  # not there, or a machine that keeps nothing
        return
    for path in paths:
        try:
            match = _LINE.match(path.read_text("utf-8", "replace"))
        except OSError:
            continue
        if match is not None:
            yield path, Rotation(match[1], match[2], int(match[3]))


def _is_known(db: TableReader, token: str) -> bool:
    statement = "SELECT 1 FROM refresh_token WHERE owner = ? AND hash = ?"
    return db.execute(statement, (OWNER, token)).get is not None
