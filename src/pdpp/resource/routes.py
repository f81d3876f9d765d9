"""The routes of ``/v1``: one table that serves requests and writes the OpenAPI document."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pdpp.evidence.window import DEFAULT_LIMIT, MAX_AROUND, MAX_LIMIT
from pdpp.resource import accounts, aggregate, ingest, jobs, records, schema, search, window
from pdpp.resource.answers import COUNT_KINDS, METRICS
from pdpp.resource.blob import head_blob, read_blob, store_blob
from pdpp.resource.calendar import GRANULARITIES
from pdpp.resource.call import Call
from pdpp.resource.common_parameters import (
    CONNECTION,
    CURSOR,
    EXPAND,
    EXPAND_LIMIT,
    FIELDS,
    FILTER,
    INTO,
    LIMIT,
    SEARCH_PARAMETERS,
    VIEW,
    WINDOW_QUERY,
    size_in_chars,
)
from pdpp.resource.parameter import Parameter, Parameters, Shape

BASE = "/v1"


@dataclass(frozen=True, slots=True)
class Route:
    """One operation: where it is, what it takes, who may call it."""

    method: str
    path: str
    name: str
    summary: str
    operation: Callable[[Call], Any]
    parameters: Parameters
    answer: str
    owner_only: bool = False
    takes_body: str | None = None
    writes: bool = False
    heavy: bool = False
    """Whether the first call may have to load modules, which the event loop must not wait for."""


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/schema",
        "getSchema",
        "What the token opens and what may be asked of it.",
        schema.get_schema,
        Parameters(
            Parameter(
                "view",
                Shape.CHOICE,
                "The compact form; without a stream the default.",
                ("compact",),
            ),
            Parameter("stream", Shape.TEXT, "Only this stream, with its fields."),
            CONNECTION,
            Parameter("detail", Shape.CHOICE, "full: of one connection; needs stream.", ("full",)),
        ),
        "Schema",
    ),
    Route(
        "GET",
        "/streams",
        "listStreams",
        "One row for each connection and stream the token opens.",
        schema.list_streams,
        Parameters(CONNECTION),
        "StreamList",
    ),
    Route(
        "GET",
        "/streams/{stream}",
        "getStream",
        "One row for each connection that has this stream.",
        schema.list_streams,
        Parameters(CONNECTION),
        "StreamList",
    ),
    Route(
        "GET",
        "/streams/{stream}/records",
        "listRecords",
        "A page of records, or of changes.",
        records.list_records,
        Parameters(
            LIMIT,
            CURSOR,
            Parameter("order", Shape.CHOICE, "The direction of the sort.", ("asc", "desc")),
            Parameter("sort", Shape.TEXT, "A sortable field; -field for descending."),
            Parameter(
                "count",
                Shape.CHOICE,
                "Whether to count all that match.",
                COUNT_KINDS,
                default="none",
            ),
            FIELDS,
            VIEW,
            FILTER,
            EXPAND,
            EXPAND_LIMIT,
            Parameter(
                "changes_since",
                Shape.TEXT,
                "beginning, or next_changes_since of an earlier answer: only what changed.",
                longest=4096,
            ),
            CONNECTION,
        ),
        "RecordList",
    ),
    Route(
        "GET",
        "/streams/{stream}/records/{record_id}",
        "getRecord",
        "One record.",
        records.get_record,
        Parameters(FIELDS, VIEW, EXPAND, EXPAND_LIMIT, CONNECTION),
        "Record",
    ),
    Route(
        "GET",
        "/streams/{stream}/records/{record_id}/field-window",
        "readFieldWindow",
        "A bounded piece of one field, by offset or around a match.",
        window.read_window,
        Parameters(
            Parameter("field", Shape.TEXT, "The field to read.", required=True),
            CONNECTION,
            size_in_chars("offset_chars", "Where to begin, in code points.", least=0),
            size_in_chars(
                "limit_chars", f"How many characters; {DEFAULT_LIMIT} unless given.", 1, MAX_LIMIT
            ),
            WINDOW_QUERY,
            size_in_chars("before_chars", "With q: characters before the match.", 0, MAX_AROUND),
            size_in_chars("after_chars", "With q: characters after the match.", 0, MAX_AROUND),
        ),
        "FieldWindow",
    ),
    Route(
        "DELETE",
        "/streams/{stream}/records/{record_id}",
        "deleteRecord",
        "Delete a record; changes_since tells of it.",
        ingest.delete_record,
        Parameters(CONNECTION),
        "Nothing",
        owner_only=True,
        writes=True,
    ),
    Route(
        "GET",
        "/streams/{stream}/aggregate",
        "aggregate",
        "One number, or one per group.",
        aggregate.aggregate,
        Parameters(
            Parameter("metric", Shape.CHOICE, "What to compute.", METRICS, default="count"),
            Parameter("field", Shape.TEXT, "The field the metric is of."),
            Parameter("group_by", Shape.TEXT, "One group for each value of this field."),
            Parameter("group_by_time", Shape.TEXT, "One group for each calendar bucket."),
            Parameter("granularity", Shape.CHOICE, "The size of a bucket.", GRANULARITIES),
            Parameter("time_zone", Shape.TEXT, "The zone of the calendar; UTC unless given."),
            Parameter(
                "limit",
                Shape.INTEGER,
                "How many groups; other_count adds up the rest.",
                minimum=1,
                maximum=1000,
                default=100,
                clamp=True,
            ),
            FILTER,
            CONNECTION,
        ),
        "Aggregation",
    ),
    Route(
        "GET",
        "/search",
        "search",
        "Records that answer a question, best first, with the passages that prove it.",
        search.search_lexical,
        SEARCH_PARAMETERS,
        "SearchResultList",
        heavy=True,
    ),
    Route(
        "GET",
        "/search/semantic",
        "searchSemantic",
        "Search by meaning where offered; else by words, with a warning.",
        search.search_semantic,
        SEARCH_PARAMETERS,
        "SearchResultList",
        heavy=True,
    ),
    Route(
        "GET",
        "/search/hybrid",
        "searchHybrid",
        "Search by words and, where offered, by meaning.",
        search.search_hybrid,
        SEARCH_PARAMETERS,
        "SearchResultList",
        heavy=True,
    ),
    Route(
        "GET",
        "/blobs/{blob_id}",
        "readBlob",
        "The bytes of a blob that a visible record refers to.",
        read_blob,
        Parameters(),
        "Bytes",
    ),
    Route(
        "HEAD",
        "/blobs/{blob_id}",
        "headBlob",
        "The size and type of a blob that a visible record refers to.",
        head_blob,
        Parameters(),
        "Bytes",
    ),
    Route(
        "POST",
        "/ingest/{stream}",
        "ingest",
        "Write records, one JSON object a line.",
        ingest.ingest,
        Parameters(CONNECTION),
        "IngestResult",
        owner_only=True,
        takes_body="application/x-ndjson",
        writes=True,
    ),
    Route(
        "POST",
        "/blobs",
        "storeBlob",
        "Store a file; the same bytes are kept once.",
        store_blob,
        Parameters(
            Parameter("sha256", Shape.TEXT, "What the bytes must hash to, in hex.", longest=64)
        ),
        "Blob",
        owner_only=True,
        takes_body="application/octet-stream",
        writes=True,
    ),
    Route(
        "POST",
        "/connections/{connection_id}/rename",
        "renameConnection",
        "Give an account another name; its id stays.",
        accounts.rename,
        Parameters(
            Parameter(
                "display_name", Shape.TEXT, "What you call the account.", required=True, longest=200
            )
        ),
        "AccountChange",
        owner_only=True,
        writes=True,
    ),
    Route(
        "GET",
        "/connections/{connection_id}/removal",
        "previewRemoval",
        "What is lost when an account is removed, and which grants change.",
        accounts.show_removal,
        Parameters(),
        "AccountChange",
        owner_only=True,
    ),
    Route(
        "DELETE",
        "/connections/{connection_id}",
        "removeConnection",
        "Remove an account from every grant and delete what it holds.",
        accounts.remove,
        Parameters(),
        "AccountChange",
        owner_only=True,
        writes=True,
    ),
    Route(
        "GET",
        "/connections/{connection_id}/merge",
        "previewMerge",
        "What moves when an account is merged into another, and which grants change.",
        accounts.show_merge,
        Parameters(INTO),
        "AccountChange",
        owner_only=True,
    ),
    Route(
        "POST",
        "/connections/{connection_id}/merge",
        "mergeConnections",
        "Begin to merge an account into another one of its source; answers the job.",
        accounts.merge,
        Parameters(INTO),
        "Job",
        owner_only=True,
        writes=True,
    ),
    Route(
        "GET",
        "/jobs",
        "listJobs",
        "The newest jobs: what the server works on in the background.",
        jobs.list_jobs,
        Parameters(LIMIT, Parameter("kind", Shape.TEXT, "Only jobs of this kind, such as import.")),
        "JobList",
        owner_only=True,
    ),
    Route(
        "GET",
        "/jobs/{job_id}",
        "getJob",
        "One job with its progress, its result or its error.",
        jobs.get_job,
        Parameters(),
        "Job",
        owner_only=True,
    ),
    Route(
        "POST",
        "/jobs/{job_id}/cancel",
        "cancelJob",
        "Cancel a job: one that waits ends at once, one that runs as soon as it can.",
        jobs.cancel_job,
        Parameters(),
        "Job",
        owner_only=True,
        writes=True,
    ),
)
