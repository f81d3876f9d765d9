"""The table of jobs."""

TABLES = """
CREATE TABLE job (
  owner INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  parameters TEXT NOT NULL,
  state TEXT,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  note TEXT NOT NULL DEFAULT '',
  started_at INTEGER,
  finished_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  cancel INTEGER NOT NULL DEFAULT 0,
  result TEXT,
  error TEXT,
  worker TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;
-- A worker looks for work every second: only what is open is in this index.
CREATE INDEX job_open ON job (owner, not_before) WHERE status IN ('queued', 'running');
CREATE INDEX job_recent ON job (owner, created_at);
"""
