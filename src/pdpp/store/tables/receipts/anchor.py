"""The anchor of the receipts: what the database remembers of a log that lies in another file."""

from pdpp.model.errors import Overloaded, StoreError
from pdpp.store.tables.database import TableDatabase
from pdpp.store.tables.records.predicate import OWNER

_NAME = "receipts"


class SettingAnchor:
    """Remembers one receipt, by number and hash, among the settings of the store."""

    def __init__(self, db: TableDatabase) -> None:
        self._db = db

    def recall(self) -> tuple[int, bytes] | None:
        """Return the receipt that the log must hold, if any was."""
        text = self._db.reader.execute(
            "SELECT value FROM setting WHERE owner = ? AND name = ?", (OWNER, _NAME)
        ).get
        if text is None:
            return None
        number, _, hashed = str(text).partition(":")
        return int(number), bytes.fromhex(hashed)

    def remember(self, number: int, hashed: bytes) -> None:
        """Remember the last receipt, if there is one."""
        if number == 0:
            return
        try:
            with self._db.writing() as db:
                db.execute(
                    "INSERT OR REPLACE INTO setting VALUES (?, ?, ?)",
                    (OWNER, _NAME, f"{number}:{hashed.hex()}"),
                )
        except (self._db.failure, Overloaded) as problem:
            raise StoreError(f"cannot remember the last receipt: {problem}") from problem
