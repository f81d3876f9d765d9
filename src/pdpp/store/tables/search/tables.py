"""The tables of the word index.

A *block* holds the words of some records of one feed, in the order of their event times. A small
block keeps its postings in its own row; a large one has them in ``posting``, by term.
"""

TABLES = """
-- `id` is never used twice, so that what a process remembers of a block stays true. `times` and
-- `numbers` are the event time and the number of each record, in the order of their slots. A block
-- that is being built or removed is out of sight: its `feed` is the negative number of the feed.
CREATE TABLE word_block (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  analyser INTEGER NOT NULL,
  spread INTEGER NOT NULL,
  size INTEGER NOT NULL,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  times BLOB NOT NULL,
  numbers BLOB NOT NULL,
  postings BLOB NOT NULL
);
CREATE INDEX word_block_feed ON word_block (owner, feed);

-- The slots of a block whose records are gone or were written anew elsewhere.
CREATE TABLE word_gone (
  block INTEGER PRIMARY KEY,
  slots BLOB NOT NULL
);

-- The postings of a spread block: `list` is the feed and the place of the field; `data` is a piece
-- as `packing.py` writes it, or the number of a long one in its block.
CREATE TABLE posting (
  term TEXT NOT NULL,
  list INTEGER NOT NULL,
  block INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (term, list, block)
) WITHOUT ROWID;

-- The long ones of these pieces; see `long_postings.py`.
CREATE TABLE long_posting (
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL
);

-- The terms of a spread block, by place and compressed: what its postings are found by. `bases` has
-- one byte for each slot: the least impact of the record in this field. Not a table without rowid:
-- there the search for a row reads the bytes beside it.
CREATE TABLE word_list (
  block INTEGER NOT NULL,
  place INTEGER NOT NULL,
  bases BLOB NOT NULL,
  terms BLOB NOT NULL,
  PRIMARY KEY (block, place)
);

-- Records of one conversation in the order of time; `thread` is a hash of its name. `ordinal`
-- is what those of one time are in order by: a declared field, or the number that a key ends in.
CREATE TABLE thread_place (
  feed INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  time INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  surrogate INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (feed, thread, time, ordinal, surrogate)
) WITHOUT ROWID;

-- The vector of each searched text of a record; `place` -1 says that the record was looked at.
CREATE TABLE meaning (
  feed INTEGER NOT NULL,
  record INTEGER NOT NULL,
  place INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (feed, record, place)
) WITHOUT ROWID;

-- Streams that the owner keeps out of the search by meaning.
CREATE TABLE meaning_off (
  owner INTEGER NOT NULL,
  connection_id TEXT NOT NULL,
  stream TEXT NOT NULL,
  PRIMARY KEY (owner, connection_id, stream)
) WITHOUT ROWID;
"""
