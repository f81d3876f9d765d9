"""The routes of ``/v1``: one table that serves requests and writes the OpenAPI document."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdpp.evidence.analyse import MAX_QUERY_CHARS
from pdpp.evidence.language.question import MAX_QUESTION_CHARS
from pdpp.evidence.window import DEFAULT_LIMIT, MAX_AROUND, MAX_LIMIT
from pdpp.model.errors import InvalidWindow
from pdpp.resource import accounts, aggregate, ingest, jobs, records, schema, search, window
from pdpp.resource.answers import COUNT_KINDS, METRICS
from pdpp.resource.blob import head_blob, read_blob, store_blob
from pdpp.resource.calendar import GRANULARITIES
from pdpp.resource.call import Call
from pdpp.resource.parameter import Parameter, Shape

BASE = "/v1"


@dataclass(frozen=True, slots=True)
class Route:
    """One operation: where it is, what it takes, who may call it."""

    method: str
    path: str
    name: str
    summary: str
    operation: Callable[[Call], Any]
    parameters: Mapping[str, Parameter]
    answer: str
    owner_only: bool = False
    takes_body: str | None = None
    writes: bool = False
    heavy: bool = False
    """Whether the first call may have to load modules, which the event loop must not wait for."""


def _take(*parameters: Parameter) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters}


def _size(name: str, description: str, least: int, most: int | None = None) -> Parameter:
    return Parameter(
        name, Shape.INTEGER, description, minimum=least, maximum=most, refusal=InvalidWindow
    )


_CONNECTION = Parameter(
    "connection_id", Shape.TEXT, "Only this connection, as named by GET /v1/streams."
)
_LIMIT = Parameter(
    "limit",
    Shape.INTEGER,
    "How many to return; more than the most is clamped with a warning.",
    minimum=1,
    maximum=100,
    default=25,
    clamp=True,
)
_CURSOR = Parameter("cursor", Shape.TEXT, "next_cursor of the page before.", longest=4096)
_FIELDS = Parameter("fields", Shape.LIST, "Only these fields of each record.")
_VIEW = Parameter("view", Shape.TEXT, "Only the fields of this declared view.")
_FILTER = Parameter(
    "filter",
    Shape.FILTER,
    "filter[field]=value for an exact match, filter[field][gte|gt|lte|lt]=value for a range.",
)
_EXPAND = Parameter("expand", Shape.LIST, "Declared relations to include with each record.")
_EXPAND_LIMIT = Parameter(
    "expand_limit", Shape.LIMITS, "expand_limit[relation]=number: how many of a relation at most."
)
_QUERY = Parameter(
    "q",
    Shape.TEXT,
    "What to look for: plain words, any of them, ranked; "
    '"a phrase", +must, -not, prefix*, OR, from:, in:, before:, after:, on:.',
    required=True,
    longest=MAX_QUESTION_CHARS,
)
_SEARCH = _take(
    _QUERY,
    Parameter(
        "match",
        Shape.CHOICE,
        "best: any of the words, ranked; all: every word must be there.",
        ("best", "all"),
        default="best",
    ),
    Parameter(
        "sort",
        Shape.CHOICE,
        "score: the best first; time: the newest first.",
        ("score", "time"),
        default="score",
    ),
    Parameter(
        "time_zone",
        Shape.TEXT,
        "The zone of the days a question names; also the header PDPP-Time-Zone.",
    ),
    Parameter("streams", Shape.LIST, "Only these streams; also written streams[]."),
    _CONNECTION,
    _FILTER,
    _LIMIT,
    _CURSOR,
)
_INTO = Parameter("into", Shape.TEXT, "The account that the records move into.", required=True)
_WINDOW_QUERY = Parameter(
    "q", Shape.TEXT, "Read around the first match of these words instead.", longest=MAX_QUERY_CHARS
)

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/schema",
        "getSchema",
        "What the token opens and what may be asked of it.",
        schema.get_schema,
        _take(
            Parameter("view", Shape.CHOICE, "The compact form, also the default.", ("compact",)),
            Parameter("stream", Shape.TEXT, "Only this stream, with its fields."),
            _CONNECTION,
            Parameter(
                "detail", Shape.CHOICE, "full: the JSON Schema too; needs stream.", ("full",)
            ),
        ),
        "Schema",
    ),
    Route(
        "GET",
        "/streams",
        "listStreams",
        "One row for each connection and stream the token opens.",
        schema.list_streams,
        _take(_CONNECTION),
        "StreamList",
    ),
    Route(
        "GET",
        "/streams/{stream}",
        "getStream",
        "One row for each connection that has this stream.",
        schema.list_streams,
        _take(_CONNECTION),
        "StreamList",
    ),
    Route(
        "GET",
        "/streams/{stream}/records",
        "listRecords",
        "A page of records, or of changes.",
        records.list_records,
        _take(
            _LIMIT,
            _CURSOR,
            Parameter("order", Shape.CHOICE, "The direction of the sort.", ("asc", "desc")),
            Parameter("sort", Shape.TEXT, "A sortable field; -field for descending."),
            Parameter(
                "count",
                Shape.CHOICE,
                "Whether to count all that match.",
                COUNT_KINDS,
                default="none",
            ),
            _FIELDS,
            _VIEW,
            _FILTER,
            _EXPAND,
            _EXPAND_LIMIT,
            Parameter(
                "changes_since",
                Shape.TEXT,
                "beginning, or next_changes_since of an earlier answer: only what changed.",
                longest=4096,
            ),
            _CONNECTION,
        ),
        "RecordList",
    ),
    Route(
        "GET",
        "/streams/{stream}/records/{record_id}",
        "getRecord",
        "One record.",
        records.get_record,
        _take(_FIELDS, _VIEW, _EXPAND, _EXPAND_LIMIT, _CONNECTION),
        "Record",
    ),
    Route(
        "GET",
        "/streams/{stream}/records/{record_id}/field-window",
        "readFieldWindow",
        "A bounded piece of one field, by offset or around a match.",
        window.read_window,
        _take(
            Parameter("field", Shape.TEXT, "The field to read.", required=True),
            _CONNECTION,
            _size("offset_chars", "Where to begin, in code points.", least=0),
            _size(
                "limit_chars", f"How many characters; {DEFAULT_LIMIT} unless given.", 1, MAX_LIMIT
            ),
            _WINDOW_QUERY,
            _size("before_chars", "With q: characters before the match.", 0, MAX_AROUND),
            _size("after_chars", "With q: characters after the match.", 0, MAX_AROUND),
        ),
        "FieldWindow",
    ),
    Route(
        "DELETE",
        "/streams/{stream}/records/{record_id}",
        "deleteRecord",
        "Delete a record; changes_since tells of it.",
        ingest.delete_record,
        _take(_CONNECTION),
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
        _take(
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
            _FILTER,
            _CONNECTION,
        ),
        "Aggregation",
    ),
    Route(
        "GET",
        "/search",
        "search",
        "Records that answer a question, best first, with the passages that prove it.",
        search.search_lexical,
        _SEARCH,
        "SearchResultList",
        heavy=True,
    ),
    Route(
        "GET",
        "/search/semantic",
        "searchSemantic",
        "Search by meaning where offered; else by words, with a warning.",
        search.search_semantic,
        _SEARCH,
        "SearchResultList",
        heavy=True,
    ),
    Route(
        "GET",
        "/search/hybrid",
        "searchHybrid",
        "Search by words and, where offered, by meaning.",
        search.search_hybrid,
        _SEARCH,
        "SearchResultList",
        heavy=True,
    ),
    Route(
        "GET",
        "/blobs/{blob_id}",
        "readBlob",
        "The bytes of a blob that a visible record refers to.",
        read_blob,
        {},
        "Bytes",
    ),
    Route(
        "HEAD",
        "/blobs/{blob_id}",
        "headBlob",
        "The size and type of a blob that a visible record refers to.",
        head_blob,
        {},
        "Bytes",
    ),
    Route(
        "POST",
        "/ingest/{stream}",
        "ingest",
        "Write records, one JSON object a line.",
        ingest.ingest,
        _take(_CONNECTION),
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
        _take(Parameter("sha256", Shape.TEXT, "What the bytes must hash to, in hex.", longest=64)),
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
        _take(
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
        {},
        "AccountChange",
        owner_only=True,
    ),
    Route(
        "DELETE",
        "/connections/{connection_id}",
        "removeConnection",
        "Remove an account from every grant and delete what it holds.",
        accounts.remove,
        {},
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
        _take(_INTO),
        "AccountChange",
        owner_only=True,
    ),
    Route(
        "POST",
        "/connections/{connection_id}/merge",
        "mergeConnections",
        "Begin to merge an account into another one of its source; answers the job.",
        accounts.merge,
        _take(_INTO),
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
        _take(_LIMIT, Parameter("kind", Shape.TEXT, "Only jobs of this kind, such as import.")),
        "JobList",
        owner_only=True,
    ),
    Route(
        "GET",
        "/jobs/{job_id}",
        "getJob",
        "One job with its progress, its result or its error.",
        jobs.get_job,
        {},
        "Job",
        owner_only=True,
    ),
    Route(
        "POST",
        "/jobs/{job_id}/cancel",
        "cancelJob",
        "Cancel a job: one that waits ends at once, one that runs as soon as it can.",
        jobs.cancel_job,
        {},
        "Job",
        owner_only=True,
        writes=True,
    ),
)
