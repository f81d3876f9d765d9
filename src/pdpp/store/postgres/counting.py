"""Counting: what makes the function in the database that counts tables which have grown.

``growth.py`` says when it is called, and why.
"""

from collections.abc import Iterable, Iterator

GROWTH = 4
"""How many times as large a table has to become before it is counted anew."""

_EXACTNESS = 20
"""How exactly it is counted, in the measure of ``default_statistics_target``: by 6,000 rows. By
30,000, which is usual, it takes five times as long, for as long as the writer holds its turn. The
database counts as usual when it comes to it by itself."""


_DISTINCT = {"owner": 8, "feed": 4, "key": -1, "surrogate": -1}
"""How many values a column is believed to have in a part of a table; -1 is another in each row."""


def estimates(table: str, columns: Iterable[str]) -> Iterator[str]:
    """Yield what lets the planner believe that a stream has many rows and a key or a number few.

    It takes a column to tell nothing of another. Among many owners it would believe that a stream
    has less than one row, and that to go through it costs no more than to look a key up: then a
    read goes through all that a grant hides. The same where many owners have the same few keys.
    What an owner has is reached by an index in any case, so that to believe too much of a small one
    costs nothing.
    """
    for column in columns:
        if column in _DISTINCT:
            told = f"ALTER COLUMN {column} SET (n_distinct = {_DISTINCT[column]})"
            yield f'ALTER TABLE "{table}" {told}, ALTER COLUMN {column} SET STATISTICS 1'


def counting(schema: str, role: str) -> tuple[str, ...]:
    """Return the statements that make the function."""
    return (
        # As whoever owns the tables, because a worker may not count them. Nobody waits for a table
        # that is being counted or cleaned up: that ends with what is wanted here.
        f"""
        CREATE OR REPLACE FUNCTION count_grown(written text[], newcomer bigint) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp SET default_statistics_target = {_EXACTNESS} AS $$
        DECLARE grown name;
        BEGIN
          FOR grown IN
            SELECT c.relname FROM unnest(written) AS w(name)
              CROSS JOIN LATERAL (SELECT to_regclass(format('{schema}.%I', w.name))) AS t(oid)
              LEFT JOIN pg_inherits i ON i.inhparent = t.oid
              JOIN pg_class c ON c.oid = coalesce(i.inhrelid, t.oid)
            WHERE c.relkind = 'r'
              AND (pg_relation_size(c.oid) >= {GROWTH} * greatest(c.relpages, 1)
                                              * current_setting('block_size')::bigint
                OR newcomer IS NOT NULL AND i.inhparent IS NOT NULL AND satisfies_hash_partition(
                     t.oid,
                     (SELECT count(*) FROM pg_inherits own WHERE own.inhparent = t.oid)::int,
                     substring(c.relname FROM '_p([0-9]+)$')::int,
                     newcomer))
          LOOP
            EXECUTE format('ANALYZE (SKIP_LOCKED) {schema}.%I', grown);
          END LOOP;
        END $$
        """,
        "REVOKE ALL ON FUNCTION count_grown(text[], bigint) FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION count_grown(text[], bigint) TO {role}",
    )
