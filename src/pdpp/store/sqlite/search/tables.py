"""The tables of the word index."""

TABLES = """
-- One row per record and searchable field: the row id is the record's id and the place.
CREATE VIRTUAL TABLE lex USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = 'ascii'
);
-- A batch goes into the index as one part, and parts are merged later and in larger numbers, in
-- leaves that fill a page of the file: half the work of the usual values.
INSERT INTO lex (lex, rank) VALUES ('hashsize', 8388608);
INSERT INTO lex (lex, rank) VALUES ('automerge', 8);
INSERT INTO lex (lex, rank) VALUES ('pgsz', 8000);

-- How many words the texts of the index have: one field of 1,024 records in a row.
CREATE TABLE length_block (
  id INTEGER PRIMARY KEY,
  lengths BLOB NOT NULL
);
"""
