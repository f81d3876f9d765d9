"""Opening a PostgreSQL database: its schema, its sessions, and the connections of a worker."""

from typing import Any

import psycopg

from pdpp.model.errors import StoreError
from pdpp.store.postgres import schema
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.migration import migrate
from pdpp.store.postgres.pool import WorkerConnections
from pdpp.store.postgres.replica import ReplicaReaders
from pdpp.store.postgres.snapshots import STATEMENT_MILLISECONDS

_CONNECT_SECONDS = 10
_PROBE_SECONDS = 5
_IDLE_MILLISECONDS = 120_000


def worker_connections(
    url: str, replica_url: str | None = None, most_lag: float = 0.0
) -> WorkerConnections:
    """Return the connections of a worker, none of which is opened before it is needed.

    A replica answers reads as long as it is behind by ``most_lag`` seconds at most.
    """
    replica = None
    if replica_url is not None:
        replica = ReplicaReaders(lambda: PostgresConnection(open_session(replica_url)), most_lag)
    return WorkerConnections(lambda: PostgresConnection(open_session(url)), replica)


def open_session(url: str) -> "psycopg.Connection[Any]":
    """Open a session, which sees the rows of nobody before it is given an owner."""
    raw = psycopg.connect(
        url,
        autocommit=True,
        # An operator may name the workers with PGAPPNAME or in the address.
        fallback_application_name="pdpp",
        # A machine that is gone without a word is noticed, and not waited for: also one that had
        # taken the question, of which nothing but a probe would tell.
        connect_timeout=_CONNECT_SECONDS,
        tcp_user_timeout=_CONNECT_SECONDS * 1_000,
        keepalives_idle=_CONNECT_SECONDS,
        keepalives_interval=_PROBE_SECONDS,
        options=f"-c search_path={schema.SCHEMA} -c statement_timeout={STATEMENT_MILLISECONDS}"
        f" -c idle_in_transaction_session_timeout={_IDLE_MILLISECONDS}"
        # Every statement has one good plan. Planned anew for its values over all partitions, a
        # record took 3.3 ms instead of 0.5, and a page of 25 took 12 ms instead of 1.2 to 3.5.
        " -c plan_cache_mode=force_generic_plan -c jit=off"
        # A table is never gone through from end to end: an owner has a part of it. Of what an index
        # leads to most is in memory, so that to collect rows before they are fetched (a bitmap)
        # only costs: a page took 2.6 times bare SQL with it, and takes 2.0.
        " -c enable_seqscan=off -c enable_bitmapscan=off -c random_page_cost=1.1",
    )
    try:
        # Row security does not bind whoever may pass it by: such a user takes on a role that may
        # not.
        row = raw.execute(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        if row is None or row[0]:
            raw.execute(f"SET ROLE {schema.ROLE}")
    except BaseException:
        raw.close()
        raise
    return raw


def prepare(url: str) -> None:
    """Make the schema where there is none, or bring it up to date; refuse one that is newer."""
    with psycopg.connect(url) as raw:
        raw.execute("SELECT pg_advisory_xact_lock(%s)", (schema.LOCK,))
        there = raw.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema.SCHEMA,)
        ).fetchone()
        if there is None:
            _make_role(raw)
            for text in schema.statements():
                raw.execute(text)
            return
    migrate(url)


def _make_role(raw: "psycopg.Connection[Any]") -> None:
    """Make the role of the sessions, and be a member of it; an administrator may have done both."""
    is_member = raw.execute(
        "SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = %s", (schema.ROLE,)
    ).fetchone()
    if is_member == (True,):
        return
    try:
        if is_member is None:
            raw.execute(f"CREATE ROLE {schema.ROLE} NOLOGIN")
        raw.execute(f"GRANT {schema.ROLE} TO CURRENT_USER")
    except psycopg.errors.InsufficientPrivilege:
        make = f"CREATE ROLE {schema.ROLE} NOLOGIN; " if is_member is None else ""
        raise StoreError(
            f"the database's user {raw.info.user} may not make roles; have an administrator run: "
            f"{make}GRANT {schema.ROLE} TO {raw.info.user};"
        ) from None
