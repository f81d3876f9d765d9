"""Every error the product answers with, in one tree.

PdppError
├── InvalidRequest            400 invalid_request
│   ├── InvalidCursor         400 invalid_cursor
│   ├── InvalidFilter         400 invalid_filter
│   ├── InvalidExpand         400 invalid_expand
│   ├── UnknownField          400 unknown_field
│   ├── InvalidWindow         400 invalid_window
│   ├── UnsupportedVersion    400 unsupported_version
│   └── InvalidDeclaration    400 invalid_declaration
├── AuthenticationError       401 authentication_error
├── Forbidden                 403
│   ├── StreamNotAllowed      403 grant_stream_not_allowed
│   ├── FieldNotGranted       403 field_not_granted
│   ├── InsufficientScope     403 insufficient_scope
│   ├── TimeRangeExceeded     403 grant_time_range_exceeded
│   ├── GrantExpired          403 grant_expired
│   ├── GrantRevoked          403 grant_revoked
│   ├── GrantInvalid          403 grant_invalid
│   └── OwnerTokenRefused     403 owner_token_refused
├── NotFound                  404 not_found
│   └── BlobNotFound          404 blob_not_found
├── MethodNotAllowed          405 method_not_allowed
├── Conflict                  409 conflict
│   └── AmbiguousConnection   409 ambiguous_connection
│       └── AmbiguousSchemaDetail 409 ambiguous_schema_detail
├── CursorExpired             410 cursor_expired
├── PayloadTooLarge           413 payload_too_large
├── UnsupportedMediaType      415 unsupported_media_type
├── RangeNotSatisfiable       416 range_not_satisfiable
├── Unprocessable             422 unprocessable
│   ├── FieldNotText          422 field_not_text
│   └── ImportRefused         422 import_refused
│       └── DamagedFile       422 damaged_file
├── RateLimitExceeded         429 rate_limit_exceeded
├── OAuthError                400 oauth_error (the code is one of the protocol's own)
├── ApiError                  500 api_error
├── Overloaded                503 overloaded
└── StoreError                (a start that cannot go on: one line, a non-zero exit)
    ├── NewerDatabase
    ├── DamagedRecord
    └── Misconfigured
"""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from pdpp.model.json_types import Sha256, Size

_LONGEST_DESCRIPTION = 400


class CandidateJson(TypedDict):
    """A connection to choose from."""

    connection_id: str
    connector_key: str
    display_name: str
    grant_id: str | None


class ErrorDetail(TypedDict, total=False):
    """What some errors of ``/v1`` say more."""

    resource_metadata: Annotated[str, "401: where the server says how to get in."]
    supported: Annotated[list[str], "unsupported_version: what is spoken here."]
    retry_with: Annotated[str, "409: the parameter to add."]
    available_connections: Annotated[list[CandidateJson], "409: its values."]
    total: Annotated[Size, "409: how many there are."]
    truncated: Annotated[bool, "409: whether more exist than are listed."]
    media_type: Annotated[str | None, "field_not_text: what it is."]
    size_bytes: Annotated[Size | None, "field_not_text: how large it is."]
    sha256: Annotated[str | None, "field_not_text: its hash."]
    blob_id: Annotated[Sha256, "field_not_text: the blob that holds it."]
    blob_route: Annotated[str, "field_not_text: where its bytes are."]


class ErrorJson(ErrorDetail):
    """What every error says."""

    type: str
    code: str
    message: str
    param: NotRequired[Annotated[str, "The parameter or header that is wrong."]]
    request_id: str


class PdppError(Exception):
    """An answer that is an error: a code, a status, and words that tell the caller what to do."""

    type = "api_error"
    code = "api_error"
    status = 500

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        **detail: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.headers = dict(headers or {})
        self.detail = detail

    def body(self, request_id: str) -> dict[str, Any]:
        """Return the error envelope of the wire contract."""
        said: ErrorJson = {
            "type": self.type,
            "code": self.code,
            "message": self.message,
            "request_id": request_id,
        }
        if self.param is not None:
            said["param"] = self.param
        return {"error": {**said, **self.detail}}


class InvalidRequest(PdppError):
    type = "invalid_request_error"
    code = "invalid_request"
    status = 400


class InvalidCursor(InvalidRequest):
    code = "invalid_cursor"


class InvalidFilter(InvalidRequest):
    code = "invalid_filter"


class InvalidExpand(InvalidRequest):
    code = "invalid_expand"


class UnknownField(InvalidRequest):
    code = "unknown_field"


class InvalidWindow(InvalidRequest):
    code = "invalid_window"


class UnsupportedVersion(InvalidRequest):
    code = "unsupported_version"


class InvalidDeclaration(InvalidRequest):
    """A declaration that cannot be registered; ``param`` is the JSON pointer of what is wrong."""

    code = "invalid_declaration"


class AuthenticationError(PdppError):
    type = "authentication_error"
    code = "authentication_error"
    status = 401


class Forbidden(PdppError):
    type = "permission_error"
    code = "forbidden"
    status = 403


class StreamNotAllowed(Forbidden):
    code = "grant_stream_not_allowed"


class FieldNotGranted(Forbidden):
    code = "field_not_granted"


class InsufficientScope(Forbidden):
    code = "insufficient_scope"


class TimeRangeExceeded(Forbidden):
    code = "grant_time_range_exceeded"


class GrantExpired(Forbidden):
    code = "grant_expired"


class GrantRevoked(Forbidden):
    code = "grant_revoked"


class GrantInvalid(Forbidden):
    code = "grant_invalid"


class OwnerTokenRefused(Forbidden):
    code = "owner_token_refused"


class NotFound(PdppError):
    type = "not_found_error"
    code = "not_found"
    status = 404


class BlobNotFound(NotFound):
    code = "blob_not_found"


class MethodNotAllowed(PdppError):
    type = "invalid_request_error"
    code = "method_not_allowed"
    status = 405


class Conflict(PdppError):
    type = "conflict_error"
    code = "conflict"
    status = 409


class AmbiguousConnection(Conflict):
    code = "ambiguous_connection"


class AmbiguousSchemaDetail(AmbiguousConnection):
    code = "ambiguous_schema_detail"


class CursorExpired(PdppError):
    type = "invalid_request_error"
    code = "cursor_expired"
    status = 410


class PayloadTooLarge(PdppError):
    type = "invalid_request_error"
    code = "payload_too_large"
    status = 413


class UnsupportedMediaType(PdppError):
    """A body of a kind that this address does not take; only pages and OAuth are strict here."""

    type = "invalid_request_error"
    code = "unsupported_media_type"
    status = 415


class RangeNotSatisfiable(PdppError):
    type = "invalid_request_error"
    code = "range_not_satisfiable"
    status = 416


class Unprocessable(PdppError):
    type = "invalid_request_error"
    code = "unprocessable"
    status = 422


class FieldNotText(Unprocessable):
    code = "field_not_text"


class ImportRefused(Unprocessable):
    """An export that cannot be brought in; the message tells what was seen and what to try."""

    code = "import_refused"


class DamagedFile(ImportRefused):
    """A file of an export that cannot be read, or not to its end."""

    code = "damaged_file"


class RateLimitExceeded(PdppError):
    type = "rate_limit_error"
    code = "rate_limit_exceeded"
    status = 429


class OAuthError(PdppError):
    """A refusal of the authorization server: its code is one that the protocol's RFCs name."""

    type = "oauth_error"
    code = "oauth_error"
    status = 400

    def __init__(
        self,
        message: str,
        *,
        error: str = "oauth_error",
        status: int = 400,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, headers=headers)
        self.code = error
        self.status = status

    def members(self) -> dict[str, str]:
        """Return the members of the answer, in the characters the protocol allows."""
        safe = "".join(c if " " <= c <= "~" and c not in '"\\' else "'" for c in self.message)
        return {"error": self.code, "error_description": safe[:_LONGEST_DESCRIPTION]}


class ApiError(PdppError):
    """Something of ours failed; the detail is in the log, never in the answer."""


class Overloaded(PdppError):
    code = "overloaded"
    status = 503


class StoreError(PdppError):
    """The store cannot be opened or used; the message is one line for a person."""

    code = "store_error"


class NewerDatabase(StoreError):
    code = "newer_database"


class DamagedRecord(StoreError):
    """A record is lost in part or cannot be read; only a backup still has it."""

    code = "damaged_record"


class Misconfigured(StoreError):
    """A file, a variable or a flag says what no server can do; the message says which and where."""

    code = "misconfigured"


ELSEWHERE: tuple[type[PdppError], ...] = (
    StoreError,
    ImportRefused,
    OAuthError,
    UnsupportedMediaType,
)
"""What the program or the authorization server tells: no answer of ``/v1`` has these codes."""
