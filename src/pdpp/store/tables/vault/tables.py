"""The tables of the authorization server: clients, grants, tokens and approvals."""

TABLES = """
CREATE TABLE grant (
  owner INTEGER NOT NULL,
  grant_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  access_mode TEXT NOT NULL,
  allowances TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  package_id TEXT,
  PRIMARY KEY (owner, grant_id)
) WITHOUT ROWID;
CREATE INDEX grant_package ON grant (owner, package_id);
CREATE INDEX grant_client ON grant (owner, client_id);

CREATE TABLE package (
  owner INTEGER NOT NULL,
  package_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (owner, package_id)
) WITHOUT ROWID;
CREATE INDEX package_client ON package (owner, client_id);

-- A family is everything that came from one approval: it is revoked as one.
CREATE TABLE token (
  owner INTEGER NOT NULL,
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  grant_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  package_id TEXT,
  audience TEXT,
  family TEXT,
  PRIMARY KEY (owner, hash)
) WITHOUT ROWID;
CREATE INDEX token_grant ON token (owner, grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX token_package ON token (owner, package_id) WHERE package_id IS NOT NULL;
CREATE INDEX token_family ON token (owner, family) WHERE family IS NOT NULL;
CREATE INDEX token_end ON token (owner, expires_at) WHERE family IS NOT NULL;

CREATE TABLE client (
  owner INTEGER NOT NULL,
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  grant_types TEXT NOT NULL,
  about TEXT NOT NULL,
  fresh_until INTEGER,
  approved_at INTEGER,
  PRIMARY KEY (owner, client_id)
) WITHOUT ROWID;
CREATE INDEX client_idle ON client (owner, created_at) WHERE approved_at IS NULL;

-- Secrets that live for minutes or hours, by their hashes.
CREATE TABLE short_lived_secret (
  owner INTEGER NOT NULL,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  client_id TEXT,
  used_at INTEGER,
  address TEXT,
  size INTEGER NOT NULL,
  PRIMARY KEY (owner, kind, hash)
) WITHOUT ROWID;
CREATE INDEX short_lived_secret_client ON short_lived_secret (owner, client_id)
  WHERE client_id IS NOT NULL;
-- Requests that strangers made, and the bytes each takes: added up whenever another comes.
CREATE INDEX short_lived_secret_address ON short_lived_secret (owner, address, size)
  WHERE address IS NOT NULL;
CREATE INDEX short_lived_secret_end ON short_lived_secret (owner, expires_at);

CREATE TABLE refresh_token (
  owner INTEGER NOT NULL,
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
  PRIMARY KEY (owner, hash)
) WITHOUT ROWID;
CREATE INDEX refresh_token_family ON refresh_token (owner, family);
CREATE INDEX refresh_token_client ON refresh_token (owner, client_id);
CREATE INDEX refresh_token_end ON refresh_token (owner, expires_at);

-- What an owner approved and saw; never changed.
CREATE TABLE consent (
  owner INTEGER NOT NULL,
  consent_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  decided_at INTEGER NOT NULL,
  digest TEXT NOT NULL,
  text TEXT NOT NULL,
  revisions TEXT NOT NULL,
  grant_id TEXT,
  package_id TEXT,
  PRIMARY KEY (owner, consent_id)
) WITHOUT ROWID;
CREATE INDEX consent_client ON consent (owner, client_id, decided_at);
"""
