"""Shapes: the table of every shape in the OpenAPI document, by its name there."""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from pdpp.evidence.excerpt import ExcerptJson
from pdpp.evidence.window import WindowJson
from pdpp.jobs.document import JobJson
from pdpp.model import errors
from pdpp.resource.answers import (
    AccountChange,
    AggregationJson,
    BlobJson,
    FieldWindowJson,
    ListJson,
    RecordJson,
    RelatedList,
    Repaired,
    SearchResultJson,
    StreamJson,
    TombstoneJson,
    TryNextJson,
    WarningJson,
)
from pdpp.resource.json_schema import schemas_of
from pdpp.resource.schema_answers import CompactStream, FullStream, SchemaJson
from pdpp.store.intake import IngestLine, IngestResultJson


def error_codes() -> dict[int, list[str]]:
    """Return the codes of errors by their status, without those that ``/v1`` never sends."""
    codes: dict[int, list[str]] = {}
    for error in vars(errors).values():
        if not (isinstance(error, type) and issubclass(error, errors.PdppError)):
            continue
        if not issubclass(error, errors.ELSEWHERE):
            listed = codes.setdefault(error.status, [])
            if error.code not in listed:
                listed.append(error.code)
    return codes


_CODES = tuple(sorted({code for codes in error_codes().values() for code in codes}))


class ErrorOfRoute(errors.ErrorJson):
    """An error with the codes that ``/v1`` sends."""

    code: Annotated[str, _CODES]


class ErrorAnswer(TypedDict):
    """The answer of a request that failed."""

    error: ErrorOfRoute


SHAPES: Mapping[str, Any] = {
    "Error": ErrorAnswer,
    "Warning": WarningJson,
    "StreamList": ListJson[StreamJson],
    "JobList": ListJson[JobJson],
    "RecordList": ListJson[RecordJson | TombstoneJson],
    "SearchResultList": ListJson[SearchResultJson],
    "Stream": StreamJson,
    "Record": RecordJson,
    "RelatedList": RelatedList,
    "Tombstone": TombstoneJson,
    "SearchResult": SearchResultJson,
    "EvidenceExcerpt": ExcerptJson,
    "Repaired": Repaired,
    "TryNext": TryNextJson,
    "Schema": SchemaJson[CompactStream | FullStream],
    "CompactStream": CompactStream,
    "FullStream": FullStream,
    "FieldWindow": FieldWindowJson,
    "Window": WindowJson,
    "Aggregation": AggregationJson,
    "IngestLine": IngestLine,
    "IngestResult": IngestResultJson,
    "AccountChange": AccountChange,
    "Job": JobJson,
    "Blob": BlobJson,
}

SCHEMAS = schemas_of(SHAPES)
