"""Field windows: a bounded read of one field, by offset or around a match."""

from functools import partial
from typing import Any

from pdpp.evidence.binary import Binary, decoded_text, describe, is_text_media
from pdpp.evidence.handle import path_part
from pdpp.evidence.language.marks import MOST_MATCHES, Marker
from pdpp.evidence.text import digest, field_text
from pdpp.evidence.window import DEFAULT_AROUND, TextWindow, around_matches, chosen_window
from pdpp.model import instant
from pdpp.model.declaration import Field, Kind
from pdpp.model.errors import BlobNotFound, ErrorDetail, FieldNotText, InvalidWindow, NotFound
from pdpp.receipts.served import of_window
from pdpp.resource.answers import FieldWindowJson, WindowedField
from pdpp.resource.call import Call, no_record
from pdpp.resource.question import asked_question
from pdpp.service.runner import LARGE_BYTES, check_time, leave_loop
from pdpp.store.blobs import Blob
from pdpp.store.numbers import read_data
from pdpp.store.port import Store


def read_window(call: Call) -> FieldWindowJson:
    """Answer ``GET …/records/{record_id}/field-window``."""
    key = call.path["record_id"]
    _check_mode(call)
    reach = call.reach_holding(key)
    declared = reach.field(call.query.text("field") or "", "field")
    # The other long fields of the record are not read.
    record = call.store.record_with(reach, key, declared.name)
    if record is None:
        raise no_record(call.stream, key)
    # Parsing megabytes holds the event loop for everybody; from here on it is done in a thread.
    leave_loop(len(record.data), LARGE_BYTES)
    value = read_data(record.data).get(declared.name)
    if value is None:
        call.served.append(partial(of_window, reach, key, declared.name, ""))
        raise NotFound(f"The record has no value in {declared.name!r}.", param="field")
    text, media_type = readable_text(call.store, declared, value, call.settings.text_blob_bytes)
    facts: WindowedField = {"path": declared.name, "type": declared.kind.value}
    if media_type is not None:
        facts["media_type"] = media_type
    window = chosen_window(text, call.query.values, check_time) or _stem_window(call, text)
    served = "" if window is None else window.text
    call.served.append(partial(of_window, reach, key, declared.name, served))
    if window is None:
        raise NotFound(
            f"{declared.name!r} of this record does not hold the words of q; "
            "read it by offset_chars.",
            param="q",
        )
    return {
        "object": "field_window",
        "stream": reach.stream.name,
        "record_id": key,
        "connection_id": reach.connection_id,
        "field": facts,
        "version": record.version,
        "digest": digest(text),
        "window": window.as_json(),
    }


def _check_mode(call: Call) -> None:
    values = call.query.values
    if "q" in values and ("offset_chars" in values or "limit_chars" in values):
        raise InvalidWindow(
            "Read by offset_chars and limit_chars, or by q with before_chars and after_chars.",
            param="q",
        )
    if "q" not in values and ("before_chars" in values or "after_chars" in values):
        raise InvalidWindow("before_chars and after_chars need q.", param="q")


def _stem_window(call: Call, text: str) -> TextWindow | None:
    """Return the window around other forms of the words of q: "invoice" also finds "invoices"."""
    q = call.query.text("q")
    if q is None:
        return None
    leave_loop(len(text), LARGE_BYTES)
    question = asked_question(q, instant.to_datetime(call.now).date())
    if question.phrases:
        return None
    matches = Marker(question, check=call.store.check_deadline).find(text)
    before, after = (
        DEFAULT_AROUND if (chars := call.query.integer(name)) is None else chars
        for name in ("before_chars", "after_chars")
    )
    return around_matches(text, matches, before, after, complete=len(matches) < MOST_MATCHES)


def readable_text(
    store: Store, declared: Field, value: Any, most_bytes: int
) -> tuple[str, str | None]:
    """Return the text of a value, and its media type where it is a text blob."""
    binary = describe(value, declared.kind)
    if binary is None:
        return field_text(value), None
    # Only where the declaration says so: a text that looks like a reference must not open a file.
    named = binary.blob_id if declared.kind is Kind.BLOB else None
    blob = store.blob(named) if named is not None else None
    readable = is_text_media(binary.media_type) and blob is not None
    if blob is None or not readable or blob.size_bytes > most_bytes:
        raise not_text(declared.name, binary, blob)
    leave_loop(blob.size_bytes, LARGE_BYTES)
    try:
        with store.open_blob(blob.blob_id) as source:
            return decoded_text(source.read()), binary.media_type
    except BlobNotFound:
        raise not_text(declared.name, binary, blob) from None


def not_text(field: str, binary: Binary, blob: Blob | None) -> FieldNotText:
    """Return the refusal that describes binary content and says where its bytes are."""
    detail: ErrorDetail = {
        "media_type": binary.media_type,
        "size_bytes": binary.size_bytes,
        "sha256": binary.sha256,
    }
    where = "its bytes are in the record"
    if blob is not None:
        detail |= {
            "size_bytes": blob.size_bytes,
            "sha256": blob.blob_id,
            "blob_id": blob.blob_id,
            "blob_route": f"/v1/blobs/{path_part(blob.blob_id)}",
        }
        where = f"read its bytes with GET {detail['blob_route']}"
    return FieldNotText(
        f"{field!r} is {detail['media_type']}, {detail['size_bytes']} bytes, not text to read "
        f"in windows; {where}.",
        param="field",
        **detail,
    )
