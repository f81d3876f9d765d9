"""The tables of a store. Each room declares its own; a store is created with all of them at once.

They are declared as SQLite reads them, and another engine makes its own from that.
"""

from pdpp.store.tables.jobs_tables import TABLES as JOB_TABLES
from pdpp.store.tables.records.tables import TABLES as RECORD_TABLES
from pdpp.store.tables.search.tables import TABLES as SEARCH_TABLES
from pdpp.store.tables.vault.tables import TABLES as VAULT_TABLES

TABLES = RECORD_TABLES + SEARCH_TABLES + VAULT_TABLES + JOB_TABLES
