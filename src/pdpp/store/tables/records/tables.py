"""The tables of declarations, connections, records and blobs.

Every table begins with the owner, so that one file can hold the records of several people.
"""

TABLES = """
CREATE TABLE owner (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
INSERT INTO owner VALUES (1, 'owner');

CREATE TABLE setting (
  owner INTEGER NOT NULL,
  name TEXT NOT NULL,
  value NOT NULL,
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;

CREATE TABLE declaration (
  owner INTEGER NOT NULL,
  revision TEXT NOT NULL,
  connector_key TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (owner, revision)
) WITHOUT ROWID;

CREATE TABLE source (
  owner INTEGER NOT NULL,
  connector_key TEXT NOT NULL,
  revision TEXT NOT NULL,
  PRIMARY KEY (owner, connector_key)
) WITHOUT ROWID;

CREATE TABLE connection (
  owner INTEGER NOT NULL,
  connection_id TEXT NOT NULL,
  connector_key TEXT NOT NULL,
  display_name TEXT NOT NULL,
  PRIMARY KEY (owner, connection_id)
) WITHOUT ROWID;

-- A connection that became part of another one; what was cited of it is found there.
CREATE TABLE merged_connection (
  owner INTEGER NOT NULL,
  connection_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  PRIMARY KEY (owner, connection_id)
) WITHOUT ROWID;

-- Where two merged connections held the same key: the surrogate that went and the one that stayed.
CREATE TABLE merged_record (
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  surrogate INTEGER NOT NULL,
  target INTEGER NOT NULL,
  PRIMARY KEY (owner, feed, surrogate)
) WITHOUT ROWID;

-- One stream of one connection. `places` says which field each place of a record's cells and each
-- place of the word index belongs to. `record_bytes` is the length of the JSON of all its records.
-- A feed that is being removed is in no catalogue.
CREATE TABLE feed (
  id INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  connection_id TEXT NOT NULL,
  stream TEXT NOT NULL,
  places TEXT NOT NULL,
  record_count INTEGER NOT NULL DEFAULT 0,
  record_bytes INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 0,
  next_sequence INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (owner, connection_id, stream)
);

-- The sets of fields that records have, so that most records can be shown without parsing them.
CREATE TABLE field_set (
  id INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  fields TEXT NOT NULL,
  UNIQUE (owner, fields)
);

-- `id` is the feed and a sequence; `surrogate` is a random number that stands for the record
-- wherever its key or its place in the sequence must not be told. `created` and `emitted` belong to
-- the first write, `version` to the last; `stamps` holds, for each field that changed later, the
-- version and emission that changed it, and the times the record was moved away from.
CREATE TABLE record (
  id INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  key TEXT NOT NULL,
  surrogate INTEGER NOT NULL,
  created INTEGER NOT NULL,
  emitted INTEGER NOT NULL,
  version INTEGER NOT NULL,
  stamps TEXT,
  time INTEGER,
  field_set INTEGER NOT NULL,
  digest TEXT NOT NULL,
  cells TEXT NOT NULL,
  data BLOB NOT NULL
);
CREATE UNIQUE INDEX record_key ON record (owner, feed, key);
CREATE UNIQUE INDEX record_surrogate ON record (owner, feed, surrogate);
-- Two indexes, so that a page of changes that looks for records of one kind never meets the other.
CREATE INDEX record_once ON record (owner, feed, version, surrogate) WHERE stamps IS NULL;
CREATE INDEX record_edited ON record (owner, feed, version, surrogate) WHERE stamps IS NOT NULL;

-- The JSON of each member of a record that is too long to be read with its row, which holds a short
-- form of it. Not a table without rowid: there the search for a row reads the values beside it.
CREATE TABLE long_value (
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  surrogate INTEGER NOT NULL,
  name TEXT NOT NULL,
  json BLOB NOT NULL,
  PRIMARY KEY (owner, feed, surrogate, name)
);

-- For each record that was written more than once: when each of its fields changed last, under the
-- name of the field; when it was first written, under x'00'; and when it was moved in time, under
-- x'01'. A page of changes reads the rows of visible fields only.
CREATE TABLE edit (
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  field NOT NULL,
  version INTEGER NOT NULL,
  surrogate INTEGER NOT NULL,
  PRIMARY KEY (owner, feed, field, version, surrogate)
) WITHOUT ROWID;

-- One typed value per record and indexed field; an absent value is the empty blob. Fields that no
-- record of the feed has filled have no cells: see `filled.py`.
CREATE TABLE cell (
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  field INTEGER NOT NULL,
  value NOT NULL,
  surrogate INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (owner, feed, field, value, surrogate)
) WITHOUT ROWID;

-- Where a value is and when, for each record that has an event time and each of its cells that is
-- found by equality: see `dated.py`. `mark` is a short hash of a field and a value, `time` is in
-- seconds, `sequence` is that of the record's number. Nothing here is shown: a record is looked at.
CREATE TABLE dated_cell (
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  mark INTEGER NOT NULL,
  time INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (owner, feed, mark, time, sequence)
) WITHOUT ROWID;

-- The key of each decimal that no number of the engine is; its cell holds the number next to it.
CREATE TABLE exact_number (
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  field INTEGER NOT NULL,
  surrogate INTEGER NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (owner, feed, field, surrogate)
) WITHOUT ROWID;

-- A record that left the time it was consented by, or was deleted: `time` is where it had been.
CREATE TABLE ghost (
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  version INTEGER NOT NULL,
  surrogate INTEGER NOT NULL,
  key TEXT NOT NULL,
  time INTEGER,
  emitted INTEGER NOT NULL,
  PRIMARY KEY (owner, feed, version, surrogate)
) WITHOUT ROWID;
CREATE INDEX ghost_time ON ghost (owner, feed, time);
CREATE INDEX ghost_surrogate ON ghost (owner, feed, surrogate, version);
-- A record that comes back under its key is the same one as long as its ghost is remembered.
CREATE INDEX ghost_key ON ghost (owner, feed, key, surrogate);

CREATE TABLE blob (
  owner INTEGER NOT NULL,
  blob_id TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (owner, blob_id)
) WITHOUT ROWID;

CREATE TABLE blob_use (
  owner INTEGER NOT NULL,
  blob_id TEXT NOT NULL,
  feed INTEGER NOT NULL,
  field TEXT NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (owner, blob_id, feed, field, record)
) WITHOUT ROWID;
"""
