"""The tables, their version, and how an older database becomes a current one."""

from collections.abc import Callable

import apsw

from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.sqlite.search import lengths

APPLICATION_ID = 0x50445050

MIGRATIONS: tuple[str | Callable[[apsw.Connection], None], ...] = (
    """
    CREATE TABLE subject (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE
    );
    INSERT INTO subject VALUES (1, 'owner');

    CREATE TABLE setting (
      subject INTEGER NOT NULL,
      name TEXT NOT NULL,
      value NOT NULL,
      PRIMARY KEY (subject, name)
    ) WITHOUT ROWID;

    CREATE TABLE declaration (
      subject INTEGER NOT NULL,
      revision TEXT NOT NULL,
      connector_key TEXT NOT NULL,
      registered_at INTEGER NOT NULL,
      document TEXT NOT NULL,
      PRIMARY KEY (subject, revision)
    ) WITHOUT ROWID;

    CREATE TABLE source (
      subject INTEGER NOT NULL,
      connector_key TEXT NOT NULL,
      revision TEXT NOT NULL,
      PRIMARY KEY (subject, connector_key)
    ) WITHOUT ROWID;

    CREATE TABLE connection (
      subject INTEGER NOT NULL,
      connection_id TEXT NOT NULL,
      connector_key TEXT NOT NULL,
      display_name TEXT NOT NULL,
      PRIMARY KEY (subject, connection_id)
    ) WITHOUT ROWID;

    -- One stream of one connection. `places` names what each place of a record's cells and each
    -- place of the full-text index means.
    CREATE TABLE feed (
      id INTEGER PRIMARY KEY,
      subject INTEGER NOT NULL,
      connection_id TEXT NOT NULL,
      stream TEXT NOT NULL,
      places TEXT NOT NULL,
      record_count INTEGER NOT NULL DEFAULT 0,
      version INTEGER NOT NULL DEFAULT 0,
      next_sequence INTEGER NOT NULL DEFAULT 0,
      UNIQUE (subject, connection_id, stream)
    );

    -- The sets of fields that records have, so that most need no parsing to be shown.
    CREATE TABLE shape (
      id INTEGER PRIMARY KEY,
      subject INTEGER NOT NULL,
      fields TEXT NOT NULL,
      UNIQUE (subject, fields)
    );

    -- `id` is the feed and a sequence. `created` and `emitted` belong to the first write; `stamps`
    -- holds, for each field that changed later, the version and emission that changed it, and the
    -- times the record was moved away from.
    CREATE TABLE record (
      id INTEGER PRIMARY KEY,
      subject INTEGER NOT NULL,
      feed INTEGER NOT NULL,
      key TEXT NOT NULL,
      created INTEGER NOT NULL,
      emitted INTEGER NOT NULL,
      version INTEGER NOT NULL,
      stamps TEXT,
      time INTEGER,
      shape INTEGER NOT NULL,
      digest TEXT NOT NULL,
      cells TEXT NOT NULL,
      data BLOB NOT NULL
    );
    CREATE UNIQUE INDEX record_key ON record (subject, feed, key);
    CREATE INDEX record_version ON record (subject, feed, version, key);

    -- One typed value per record and indexed field; an absent value is the empty blob.
    CREATE TABLE cell (
      subject INTEGER NOT NULL,
      feed INTEGER NOT NULL,
      field INTEGER NOT NULL,
      value NOT NULL,
      key TEXT NOT NULL,
      record INTEGER NOT NULL,
      PRIMARY KEY (subject, feed, field, value, key)
    ) WITHOUT ROWID;

    -- One row per record and searchable field: the row id is the record's id and the place.
    CREATE VIRTUAL TABLE lex USING fts5 (
      words, content = '', contentless_delete = 1, tokenize = 'ascii'
    );

    -- A record left the time it was consented by, or was deleted: `time` is where it had been.
    CREATE TABLE ghost (
      subject INTEGER NOT NULL,
      feed INTEGER NOT NULL,
      version INTEGER NOT NULL,
      key TEXT NOT NULL,
      time INTEGER,
      emitted INTEGER NOT NULL,
      PRIMARY KEY (subject, feed, version, key)
    ) WITHOUT ROWID;

    CREATE TABLE blob (
      subject INTEGER NOT NULL,
      blob_id TEXT NOT NULL,
      media_type TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      PRIMARY KEY (subject, blob_id)
    ) WITHOUT ROWID;

    CREATE TABLE blob_use (
      subject INTEGER NOT NULL,
      blob_id TEXT NOT NULL,
      feed INTEGER NOT NULL,
      field TEXT NOT NULL,
      key TEXT NOT NULL,
      PRIMARY KEY (subject, blob_id, feed, field, key)
    ) WITHOUT ROWID;

    CREATE TABLE approval (
      subject INTEGER NOT NULL,
      grant_id TEXT NOT NULL,
      client_id TEXT NOT NULL,
      purpose TEXT NOT NULL,
      access_mode TEXT NOT NULL,
      allowances TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER,
      package_id TEXT,
      PRIMARY KEY (subject, grant_id)
    ) WITHOUT ROWID;
    CREATE INDEX approval_package ON approval (subject, package_id);

    CREATE TABLE package (
      subject INTEGER NOT NULL,
      package_id TEXT NOT NULL,
      client_id TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER,
      PRIMARY KEY (subject, package_id)
    ) WITHOUT ROWID;

    CREATE TABLE token (
      subject INTEGER NOT NULL,
      hash TEXT NOT NULL,
      kind TEXT NOT NULL,
      label TEXT NOT NULL,
      grant_id TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER,
      package_id TEXT,
      audience TEXT,
      PRIMARY KEY (subject, hash)
    ) WITHOUT ROWID;
    """,
    """
    -- A family is everything that came from one approval: it is revoked as one.
    ALTER TABLE token ADD COLUMN family TEXT;
    CREATE INDEX token_grant ON token (subject, grant_id) WHERE grant_id IS NOT NULL;
    CREATE INDEX token_package ON token (subject, package_id) WHERE package_id IS NOT NULL;
    CREATE INDEX token_family ON token (subject, family) WHERE family IS NOT NULL;
    CREATE INDEX token_end ON token (subject, expires_at) WHERE family IS NOT NULL;
    CREATE INDEX approval_client ON approval (subject, client_id);
    CREATE INDEX package_client ON package (subject, client_id);

    CREATE TABLE client (
      subject INTEGER NOT NULL,
      client_id TEXT NOT NULL,
      name TEXT NOT NULL,
      redirect_uris TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      grant_types TEXT NOT NULL,
      about TEXT NOT NULL,
      fresh_until INTEGER,
      approved_at INTEGER,
      PRIMARY KEY (subject, client_id)
    ) WITHOUT ROWID;
    CREATE INDEX client_idle ON client (subject, created_at) WHERE approved_at IS NULL;

    -- Secrets that live for minutes or hours, by their hashes.
    CREATE TABLE slip (
      subject INTEGER NOT NULL,
      kind TEXT NOT NULL,
      hash TEXT NOT NULL,
      body TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      client_id TEXT,
      used_at INTEGER,
      PRIMARY KEY (subject, kind, hash)
    ) WITHOUT ROWID;
    CREATE INDEX slip_client ON slip (subject, client_id) WHERE client_id IS NOT NULL;
    CREATE INDEX slip_end ON slip (subject, expires_at);

    CREATE TABLE refresh (
      subject INTEGER NOT NULL,
      hash TEXT NOT NULL,
      family TEXT NOT NULL,
      client_id TEXT NOT NULL,
      scope TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      grant_id TEXT,
      package_id TEXT,
      audience TEXT,
      used_at INTEGER,
      successor TEXT,
      revoked_at INTEGER,
      PRIMARY KEY (subject, hash)
    ) WITHOUT ROWID;
    CREATE INDEX refresh_family ON refresh (subject, family);
    CREATE INDEX refresh_client ON refresh (subject, client_id);
    CREATE INDEX refresh_end ON refresh (subject, expires_at);

    -- What an owner approved and saw; never changed.
    CREATE TABLE consent (
      subject INTEGER NOT NULL,
      consent_id TEXT NOT NULL,
      client_id TEXT NOT NULL,
      decided_at INTEGER NOT NULL,
      digest TEXT NOT NULL,
      shown TEXT NOT NULL,
      revisions TEXT NOT NULL,
      grant_id TEXT,
      package_id TEXT,
      PRIMARY KEY (subject, consent_id)
    ) WITHOUT ROWID;
    CREATE INDEX consent_client ON consent (subject, client_id, decided_at);
    """,
    """
    -- A batch goes into the full-text index as one part, and parts are put together later and in
    -- larger numbers, in leaves that fill a page of the file: half the work of the usual values.
    INSERT INTO lex (lex, rank) VALUES ('hashsize', 8388608);
    INSERT INTO lex (lex, rank) VALUES ('automerge', 8);
    INSERT INTO lex (lex, rank) VALUES ('pgsz', 8000);
    """,
    """
    -- How many words the texts of the full-text index have: one field of 1,024 records in a row.
    CREATE TABLE length_block (
      id INTEGER PRIMARY KEY,
      lengths BLOB NOT NULL
    );
    """,
    lengths.fill,
)

VERSION = len(MIGRATIONS)


def recognise(db: apsw.Connection) -> None:
    """Refuse a database that is not ours or that a newer program wrote, and leave it as it is."""
    found = _version(db)
    if found == 0:
        if db.execute("SELECT count(*) FROM sqlite_schema").get:
            raise StoreError("the database file holds something else; choose another data folder")
    elif db.pragma("application_id") != APPLICATION_ID:
        raise StoreError("the database file is not one of ours; choose another data folder")
    elif found > VERSION:
        raise NewerDatabase(
            f"the database is of version {found} and this program knows up to {VERSION}: "
            "install a newer pdpp-server"
        )


def migrate(db: apsw.Connection) -> None:
    """Bring a database of ours to the current version."""
    if _version(db) == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[_version(db) :]:
            if isinstance(step, str):
                db.execute(step)
            else:
                step(db)
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", VERSION)
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _version(db: apsw.Connection) -> int:
    found = db.pragma("user_version")
    assert isinstance(found, int)  # noqa: S101 - narrows what apsw types loosely
    return found
