"""Growth: tables that became much larger are counted in the transaction that made them so.

The database makes its plans from what was counted. Of a table that nobody has counted it assumes
that an owner and a stream are rare, and looks for one record by going through all of a stream, also
through those that a grant hides. Counted before the commit, rows and plans come at the same moment.
Where the owners of a table are few, the database knows each of them, and assumes of one whom it has
not counted that nothing is there: so the part of a table in which an owner's rows became many is
counted too, however large it was by the rows of others.
"""

from pdpp.store.postgres.connection import PostgresConnection

_ROWS = 1_000
"""After how many rows, of all tables, it is looked whether a table has grown."""


def count_grown(db: PostgresConnection) -> None:
    """Count the tables that are several times as large as when they were counted last.

    And those of an owner who has several times as many rows as then.
    """
    grown, newcomer = db.take_grown(_ROWS)
    if grown:
        db.run("SELECT count_grown($1, $2)", (grown, newcomer))
