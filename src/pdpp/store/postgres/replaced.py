"""Statements that PostgreSQL is asked in words of its own, by those of the embedded engine."""

from pdpp.store.tables.records import changes, reader
from pdpp.store.tables.search import conversations

_OWN: dict[str, str] = {
    "INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)": """
        INSERT INTO cell (owner, feed, field, value, surrogate, record, whole)
        SELECT v.owner, v.feed, v.field, index_key(v.value), v.surrogate, v.record,
               beyond_index(v.value)
        FROM (SELECT ?::bigint AS owner, ?::bigint AS feed, ?::bigint AS field,
                     ?@mixed::bytea AS value, ?::bigint AS surrogate, ?::bigint AS record) AS v
    """,
    changes.EDITED_FIELDS: """
        WITH RECURSIVE edited (field) AS (
          (SELECT field FROM edit WHERE owner = :owner AND feed = :feed ORDER BY field LIMIT 1)
          UNION ALL
          SELECT (SELECT edit.field FROM edit WHERE owner = :owner AND feed = :feed
                  AND edit.field > edited.field ORDER BY edit.field LIMIT 1)
          FROM edited WHERE edited.field IS NOT NULL
        )
        SELECT field FROM edited WHERE field IS NOT NULL LIMIT :most
    """,
    reader.NEWEST_OF: """
        SELECT (f.v ->> 0)::bigint, (
          SELECT coalesce(w.whole, w.value) FROM cell w
          WHERE w.owner = ? AND w.feed = (f.v ->> 1)::bigint AND w.field = (f.v ->> 2)::bigint
          AND w.value < ? ORDER BY w.value DESC LIMIT 1
        ) AS value FROM json_array_elements(?::json) AS f(v)
    """,
    conversations.BY_ORDINAL: """
        SELECT
          (SELECT coalesce(
            json_agg(t.record ORDER BY t.time DESC, t.ordinal DESC, t.surrogate DESC), '[]')::text
           FROM (
            SELECT record, time, ordinal, surrogate FROM thread_place
            WHERE feed = :feed AND thread = (w.v ->> 0)::bigint
            AND (time, ordinal, surrogate)
                < ((w.v ->> 1)::bigint, (w.v ->> 2)::bigint, (w.v ->> 3)::bigint)
            AND time >= :since
            ORDER BY time DESC, ordinal DESC, surrogate DESC LIMIT 2) AS t),
          (SELECT coalesce(json_agg(t.record ORDER BY t.time, t.ordinal, t.surrogate), '[]')::text
           FROM (
            SELECT record, time, ordinal, surrogate FROM thread_place
            WHERE feed = :feed AND thread = (w.v ->> 0)::bigint
            AND (time, ordinal, surrogate)
                > ((w.v ->> 1)::bigint, (w.v ->> 2)::bigint, (w.v ->> 3)::bigint)
            AND time < :until
            ORDER BY time, ordinal, surrogate LIMIT 2) AS t)
        FROM json_array_elements(:wanted::json) WITH ORDINALITY AS w(v, n) ORDER BY w.n
    """,
    conversations.AT_RANDOM: """
        SELECT
          (SELECT coalesce(json_agg(t.record ORDER BY t.time DESC, t.surrogate DESC), '[]')::text
           FROM (
            SELECT record, time, surrogate FROM thread_place
            WHERE feed = :feed AND thread = (w.v ->> 0)::bigint
            AND time < (w.v ->> 1)::bigint AND time >= :since
            ORDER BY time DESC, surrogate DESC LIMIT 2) AS t),
          (SELECT coalesce(
            json_agg(json_build_array(t.surrogate, t.record) ORDER BY t.surrogate), '[]')::text
           FROM thread_place t
           WHERE t.feed = :feed AND t.thread = (w.v ->> 0)::bigint
           AND t.time = (w.v ->> 1)::bigint AND t.time >= :since),
          (SELECT coalesce(json_agg(t.record ORDER BY t.time, t.surrogate), '[]')::text
           FROM (
            SELECT record, time, surrogate FROM thread_place
            WHERE feed = :feed AND thread = (w.v ->> 0)::bigint
            AND time > (w.v ->> 1)::bigint AND time < :until
            ORDER BY time, surrogate LIMIT 2) AS t)
        FROM json_array_elements(:wanted::json) WITH ORDINALITY AS w(v, n) ORDER BY w.n
    """,
    "UPDATE OR IGNORE merged_record SET feed = ? WHERE owner = ? AND feed = ?": """
        UPDATE merged_record m SET feed = given.target FROM (SELECT ?::bigint AS target) given
        WHERE m.owner = ? AND m.feed = ?
        AND NOT EXISTS (SELECT 1 FROM merged_record o WHERE o.owner = m.owner
                        AND o.feed = given.target AND o.surrogate = m.surrogate)
    """,
    "SELECT id FROM feed WHERE record_count > 0 AND EXISTS"
    " (SELECT 1 FROM json_each(places, '$.lexical') WHERE value IS NOT NULL)": """
        SELECT id FROM feed WHERE record_count > 0 AND EXISTS
        (SELECT 1 FROM json_array_elements_text(as_json(places) -> 'lexical') AS l(name)
         WHERE l.name IS NOT NULL)
    """,
    "INSERT INTO hourly (client_id, connection_id, stream, hour, reads, records, characters)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET reads = reads + excluded.reads,"
    " records = records + excluded.records, characters = characters + excluded.characters": """
        INSERT INTO hourly (client_id, connection_id, stream, hour, reads, records, characters)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (owner, client_id, connection_id, stream, hour)
        DO UPDATE SET reads = hourly.reads + excluded.reads,
          records = hourly.records + excluded.records,
          characters = hourly.characters + excluded.characters
    """,
}

REPLACED = {" ".join(sql.split()): text for sql, text in _OWN.items()}
