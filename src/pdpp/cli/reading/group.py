"""The group ``pdpp read``: a table of its commands, each imported when it is used."""

from pathlib import Path
from types import MappingProxyType

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.lazy import LazyGroup
from pdpp.cli.options import OWNER_DATA, OWNER_FOLDER

READS = MappingProxyType(
    {
        "schema": ("pdpp.cli.reading.discovery:schema", "What the grant opens, and its fields."),
        "streams": ("pdpp.cli.reading.discovery:streams", "Each stream with its record count."),
        "search": ("pdpp.cli.reading.search:search", "Find words, with the passage around them."),
        "records": ("pdpp.cli.reading.records:records", "Records, filtered and sorted."),
        "aggregate": ("pdpp.cli.reading.aggregate:aggregate", "Counts and sums, by group."),
        "window": ("pdpp.cli.reading.window:window", "A bounded piece of one field."),
        "fetch": ("pdpp.cli.reading.fetch:fetch", "One whole record."),
        "blob": ("pdpp.cli.reading.blob:blob", "The bytes of a file."),
    }
)


@click.group(
    cls=LazyGroup,
    table=READS,
    epilog=examples(
        "pdpp read schema",
        "pdpp read search invoice 4471",
        "pdpp read --data ~/my-data search invoice 4471",
        "pdpp read records messages --filter 'sent_at>=2026-01-01' --limit 5",
        codes=REMOTE_CODES,
    ),
)
@OWNER_FOLDER
@click.pass_context
def read(context: click.Context, data: Path | None) -> None:
    """Read what a grant opens, from little to much.

    Reads with the credential that pdpp connect keeps, never with the owner's. The owner reads a
    data folder with --data DIR, without a grant.
    """
    context.meta[OWNER_DATA] = data
