"""The tables of the log of receipts."""

from pdpp.store.tables.receipts import hours

TABLES = """
-- Receipts that were written together, as JSON; the last of them is receipt ``last``.
CREATE TABLE batch (
  last INTEGER PRIMARY KEY,
  latest INTEGER NOT NULL,
  events INTEGER NOT NULL,
  content BLOB NOT NULL,
  hash BLOB NOT NULL
);
CREATE INDEX batch_latest ON batch (latest);
CREATE INDEX batch_events ON batch (latest) WHERE events;

-- Which batches tell of a client, and when it read last there.
CREATE TABLE reader (
  client_id TEXT NOT NULL,
  latest INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (client_id, latest, last)
) WITHOUT ROWID;

-- The ends of the chain, sealed with the key of the store.
CREATE TABLE head (
  first INTEGER NOT NULL,
  before BLOB NOT NULL,
  last INTEGER NOT NULL,
  hash BLOB NOT NULL,
  seal BLOB NOT NULL
);

-- Who writes; what is left here by a process that is gone was not ended properly.
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  began_at INTEGER NOT NULL
) WITHOUT ROWID;
"""
TABLES += hours.TABLE
