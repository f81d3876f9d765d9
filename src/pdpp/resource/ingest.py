"""Ingest over HTTP: ``/v1`` lets the owner write and delete records."""

from pdpp.resource.call import Call, no_record
from pdpp.store.batch import Line
from pdpp.store.intake import IngestResultJson, split_lines, write_lines


def ingest(call: Call) -> IngestResultJson:
    """Answer ``POST /v1/ingest/{stream}``."""
    reach = call.one_reach(f"{call.stream!r} is")
    return write_lines(
        call.store,
        reach.feed,
        split_lines(call.body),
        now=call.now,
        line_bytes=call.settings.line_bytes,
    )


def delete_record(call: Call) -> None:
    """Answer ``DELETE …/records/{record_id}``."""
    key = call.path["record_id"]
    reach = call.reach_holding(key)
    written = call.store.write(reach.feed, [Line(0, key, call.now, None)])
    if not written.deleted:
        raise no_record(call.stream, key)
