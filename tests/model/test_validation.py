import copy
import hashlib
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.declaration import Cardinality, Declaration, Kind, Role, Semantics, View
from pdpp.model.errors import InvalidDeclaration
from pdpp.model.validation import parse_declaration

REMOVED = object()


def mail() -> dict[str, Any]:
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": "https://connectors.example/mail"},
        "connector_key": "mail",
        "declaration_version": "7",
        "publisher": {"id": "https://connectors.example"},
        "display": {"name": "Mail"},
        "streams": [
            {
                "name": "messages",
                "description": "Mail that came and went.",
                "display": {"label": "Messages", "detail": "Every message."},
                "semantics": "append_only",
                "schema": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "subject": {"type": "string", "x_pdpp_role": "primary-title"},
                        "body": {"type": "string", "x_pdpp_role": "body", "description": "Text."},
                        "sender": {"type": "string", "x_pdpp_role": "actor"},
                        "label": {"type": "string", "x_pdpp_role": "secondary"},
                        "folder": {"type": ["string", "null"], "x_pdpp_role": "secondary"},
                        "sent_at": {
                            "type": "string",
                            "format": "date-time",
                            "x_pdpp_role": "event-time",
                        },
                        "size": {"type": "integer"},
                        "read": {"type": "boolean"},
                        "headers": {"type": "object"},
                        "thread_id": {"type": "string"},
                    },
                },
                "primary_key": ["id"],
                "cursor_field": "sent_at",
                "consent_time_field": "sent_at",
                "selection": {"fields": True, "resources": False},
                "views": [{"id": "short", "label": "Short", "fields": ["id", "subject"]}],
                "relationships": [
                    {
                        "name": "attachments",
                        "stream": "attachments",
                        "foreign_key": "message_id",
                        "cardinality": "has_many",
                    },
                    {
                        "name": "thread",
                        "stream": "messages",
                        "foreign_key": "thread_id",
                        "cardinality": "belongs_to",
                    },
                ],
                "query": {
                    "range_filters": {"sent_at": ["lt", "gte"], "size": ["gte", "gt"]},
                    "search": {
                        "lexical_fields": ["subject", "body"],
                        "semantic_fields": ["body"],
                    },
                    "aggregations": {
                        "count": True,
                        "max": ["size"],
                        "sum": ["size"],
                        "group_by": ["sender"],
                        "group_by_time": ["sent_at"],
                    },
                    "expand": [{"name": "attachments", "default_limit": 5, "max_limit": 20}],
                },
            },
            {
                "name": "attachments",
                "semantics": "mutable_state",
                "schema": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "message_id": {"type": "string"},
                        "file": {"x_pdpp_type": "blob"},
                    },
                },
                "primary_key": ["id"],
            },
        ],
    }


def changed(pointer: str, value: Any) -> dict[str, Any]:
    """Return the mail declaration with one value put, or removed, at a JSON pointer."""
    document = mail()
    *parents, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    place: Any = document
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    key: Any = int(last) if isinstance(place, list) else last
    if value is REMOVED:
        del place[key]
    elif isinstance(place, list) and key == len(place):
        place.append(value)
    else:
        place[key] = value
    return document


def problem(document: object) -> InvalidDeclaration:
    with pytest.raises(InvalidDeclaration) as caught:
        parse_declaration(document)
    return caught.value


def test_a_declaration_becomes_typed_values() -> None:
    declaration = parse_declaration(mail())
    assert declaration.source_kind == "connector"
    assert declaration.source_id == "https://connectors.example/mail"
    assert declaration.connector_key == "mail"
    assert declaration.declaration_version == "7"
    assert declaration.publisher_id == "https://connectors.example"
    assert declaration.display_name == "Mail"
    assert list(declaration.streams) == ["messages", "attachments"]


def test_a_stream_becomes_typed_values() -> None:
    stream = parse_declaration(mail()).streams["messages"]
    assert stream.description == "Mail that came and went."
    assert (stream.label, stream.detail) == ("Messages", "Every message.")
    assert stream.semantics is Semantics.APPEND_ONLY
    assert stream.schema["type"] == "object"
    assert stream.primary_key == ("id",)
    assert stream.cursor_field == stream.consent_time_field == "sent_at"
    assert stream.views == {"short": View("short", "Short", ("id", "subject"))}
    assert stream.countable


def test_what_a_stream_leaves_out_has_a_default() -> None:
    stream = parse_declaration(mail()).streams["attachments"]
    assert (stream.label, stream.detail, stream.description) == ("attachments", "", "")
    assert stream.semantics is Semantics.MUTABLE_STATE
    assert stream.cursor_field is None
    assert stream.consent_time_field is None
    assert stream.views == {}
    assert stream.relationships == {}
    assert stream.countable


def test_fields_keep_the_order_of_the_declaration() -> None:
    document = mail()
    fields = parse_declaration(document).streams["messages"].fields
    assert list(fields) == list(document["streams"][0]["schema"]["properties"])


def test_a_field_carries_its_role_description_and_schema() -> None:
    body = parse_declaration(mail()).streams["messages"].fields["body"]
    assert body.role is Role.BODY
    assert body.description == "Text."
    assert body.schema == {"type": "string", "x_pdpp_role": "body", "description": "Text."}


def test_a_field_without_a_declared_role_has_none() -> None:
    stream = parse_declaration(changed("/streams/0/schema/properties/title", {"type": "string"}))
    assert stream.streams["messages"].fields["title"].role is None


def test_exact_filters_are_for_scalars_that_are_not_a_body() -> None:
    fields = parse_declaration(mail()).streams["messages"].fields
    assert {name for name, field in fields.items() if not field.exact} == {"body", "headers"}


def test_ranges_and_aggregations_come_in_one_fixed_order() -> None:
    fields = parse_declaration(mail()).streams["messages"].fields
    assert fields["sent_at"].ranges == ("gte", "lt")
    assert fields["size"].ranges == ("gte", "gt")
    assert fields["size"].aggregations == ("sum", "max")
    assert fields["sent_at"].aggregations == ("group_by_time",)
    assert fields["subject"].ranges == fields["subject"].aggregations == ()


def test_search_fields_are_flagged() -> None:
    fields = parse_declaration(mail()).streams["messages"].fields
    assert [name for name, field in fields.items() if field.lexical] == ["subject", "body"]
    assert [name for name, field in fields.items() if field.semantic] == ["body"]


def test_a_field_is_indexed_when_something_compares_it() -> None:
    streams = parse_declaration(mail()).streams
    indexed = {name for name, field in streams["messages"].fields.items() if field.indexed}
    assert indexed == {"sent_at", "size", "sender", "thread_id"}


def test_a_foreign_key_is_indexed_on_the_stream_that_holds_it() -> None:
    fields = parse_declaration(mail()).streams["attachments"].fields
    assert [name for name, field in fields.items() if field.indexed] == ["message_id"]


def test_a_cursor_field_alone_is_indexed() -> None:
    declaration = parse_declaration(changed("/streams/1/cursor_field", "id"))
    assert declaration.streams["attachments"].fields["id"].indexed


def test_a_relationship_takes_its_limits_from_its_expansion() -> None:
    found = parse_declaration(mail()).streams["messages"].relationships["attachments"]
    assert (found.stream, found.foreign_key) == ("attachments", "message_id")
    assert found.cardinality is Cardinality.HAS_MANY
    assert (found.default_limit, found.max_limit, found.expandable) == (5, 20, True)


def test_a_relationship_that_is_not_expanded_is_not_expandable() -> None:
    found = parse_declaration(mail()).streams["messages"].relationships["thread"]
    assert (found.default_limit, found.max_limit, found.expandable) == (10, 50, False)


@pytest.mark.parametrize(
    ("pointer", "value", "field"),
    [
        ("/streams/0/thread", "sender", "sender"),
        ("/streams/0/thread", "thread", "thread_id"),
        ("/streams/0/schema/properties/size/x_pdpp_role", "thread", "size"),
        ("/streams/0/relationships/1/name", "thread", "thread_id"),
        ("/streams/0/relationships/1/name", "talk", None),
        ("/streams/0/relationships/1/cardinality", "has_many", None),
    ],
)
def test_a_conversation_is_a_field_a_relationship_or_a_role(
    pointer: str, value: str, field: str | None
) -> None:
    assert parse_declaration(changed(pointer, value)).streams["messages"].thread_field == field


def test_a_revision_is_the_digest_of_the_canonical_document() -> None:
    document = mail()
    canonical = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    revision = parse_declaration(document).revision
    assert revision == hashlib.sha256(canonical).hexdigest()[:32]


def test_the_order_of_keys_does_not_change_the_revision() -> None:
    document = mail()
    turned = dict(reversed(document.items()))
    assert parse_declaration(turned).revision == parse_declaration(document).revision


def test_any_other_content_changes_the_revision() -> None:
    other = parse_declaration(changed("/declaration_version", "8"))
    assert other.revision != parse_declaration(mail()).revision


def test_the_kept_document_is_a_copy() -> None:
    document = mail()
    declaration = parse_declaration(document)
    original = copy.deepcopy(document)
    document["streams"][0]["schema"]["properties"].clear()
    assert declaration.document == original
    assert "id" in declaration.streams["messages"].schema["properties"]


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/protocol_version", "0.2.0"),
        ("/source", "https://connectors.example/mail"),
        ("/source/kind", "website"),
        ("/source/id", "mail"),
        ("/source/id", "https://connectors.example/my mail"),
        ("/source/id", "https:"),
        ("/source/id", "https://connectors.example/" + "a" * 2_048),
        ("/connector_key", "Mail"),
        ("/connector_key", "m" * 65),
        ("/connector_key", ".mail"),
        ("/connector_key", 7),
        ("/connector_key", "mail\n"),
        ("/declaration_version", ""),
        ("/declaration_version", 7),
        ("/publisher", []),
        ("/publisher/id", ""),
        ("/display", None),
        ("/display/name", ""),
        ("/display/name", "n" * 129),
        ("/streams", []),
        ("/streams", {}),
        ("/streams", [{}] * 201),
        ("/streams/1", "attachments"),
        ("/streams/0/name", "a/b"),
        ("/streams/0/name", "a:b"),
        ("/streams/0/name", "a,b"),
        ("/streams/0/name", "a\nb"),
        ("/streams/0/name", "a\u202eb"),
        ("/streams/0/name", " messages"),
        ("/streams/0/name", "messages "),
        ("/streams/0/name", "."),
        ("/streams/0/name", ".."),
        ("/streams/0/name", "*"),
        ("/streams/0/name", ""),
        ("/streams/0/name", "m" * 129),
        ("/streams/0/name", 1),
        ("/streams/1/name", "messages"),
        ("/streams/0/description", 1),
        ("/streams/0/display", "Messages"),
        ("/streams/0/display/label", 1),
        ("/streams/0/display/detail", []),
        ("/streams/0/semantics", "immutable"),
        ("/streams/0/semantics", None),
        ("/streams/0/schema", None),
        ("/streams/0/schema", True),
        ("/streams/0/schema/type", "array"),
        ("/streams/0/schema/properties", []),
        ("/streams/0/schema/properties/size/type", "int"),
        ("/streams/0/schema/properties/size/minimum", "1"),
        ("/streams/0/schema/properties/size/x_pdpp_role", "size"),
        ("/streams/0/schema/properties/size/x_pdpp_role", None),
        ("/streams/0/schema/properties/size/x_pdpp_type", ["blob"]),
        ("/streams/0/schema/properties/size/x_pdpp_type", "binary"),
        ("/streams/0/schema/properties/size/x_pdpp_role", "event-time"),
        ("/streams/0/schema/properties/size/x_pdpp_role", "link"),
        ("/streams/0/schema/properties/read/x_pdpp_role", "amount"),
        ("/streams/0/schema/properties/sent_at/x_pdpp_role", "body"),
        ("/streams/0/schema/properties/headers/x_pdpp_role", "primary-title"),
        ("/streams/0/primary_key", []),
        ("/streams/0/primary_key", "id"),
        ("/streams/0/primary_key/0", "uid"),
        ("/streams/0/primary_key/0", 0),
        ("/streams/0/primary_key/1", "id"),
        ("/streams/0/cursor_field", "sent"),
        ("/streams/0/cursor_field", "headers"),
        ("/streams/0/cursor_field", 3),
        ("/streams/0/consent_time_field", "size"),
        ("/streams/0/selection", True),
        ("/streams/0/selection/fields", "yes"),
        ("/streams/0/selection/resources", 1),
        ("/streams/0/views", {}),
        ("/streams/0/views/0", []),
        ("/streams/0/views/0/id", ""),
        ("/streams/0/views/0/label", 5),
        ("/streams/0/views/0/fields", []),
        ("/streams/0/views/0/fields/1", "title"),
        ("/streams/0/relationships", {}),
        ("/streams/0/relationships/0", "attachments"),
        ("/streams/0/relationships/0/name", "a[b]"),
        ("/streams/0/relationships/1/name", "attachments"),
        ("/streams/0/relationships/0/stream", "files"),
        ("/streams/0/relationships/0/stream", 1),
        ("/streams/0/relationships/0/foreign_key", "thread_id"),
        ("/streams/0/relationships/0/foreign_key", "file"),
        ("/streams/0/relationships/1/foreign_key", "message_id"),
        ("/streams/0/relationships/1/foreign_key", "sent_at"),
        ("/streams/0/relationships/1/foreign_key", 1),
        ("/streams/0/relationships/0/cardinality", "many"),
        ("/streams/0/thread", "attachments"),
        ("/streams/0/thread", "talk"),
        ("/streams/0/thread", 7),
        ("/streams/0/query", []),
        ("/streams/0/query/expand/0/name", "files"),
    ],
)
def test_a_wrong_value_is_refused_at_its_pointer(pointer: str, value: Any) -> None:
    assert problem(changed(pointer, value)).param == pointer


@pytest.mark.parametrize(
    "pointer",
    [
        "/protocol_version",
        "/source",
        "/source/kind",
        "/source/id",
        "/connector_key",
        "/declaration_version",
        "/publisher",
        "/publisher/id",
        "/display",
        "/display/name",
        "/streams",
        "/streams/0/name",
        "/streams/0/semantics",
        "/streams/0/schema",
        "/streams/0/schema/type",
        "/streams/0/schema/properties",
        "/streams/0/primary_key",
        "/streams/0/views/0/id",
        "/streams/0/views/0/fields",
        "/streams/0/relationships/0/foreign_key",
        "/streams/0/relationships/0/cardinality",
        "/streams/0/query/expand/0/name",
    ],
)
def test_a_missing_required_key_is_refused_at_its_pointer(pointer: str) -> None:
    assert problem(changed(pointer, REMOVED)).param == pointer


@pytest.mark.parametrize(
    "pointer",
    [
        "/streams/0/description",
        "/streams/0/display",
        "/streams/0/cursor_field",
        "/streams/0/consent_time_field",
        "/streams/0/selection",
        "/streams/0/views",
        "/streams/0/query",
        "/streams/0/query/search",
        "/streams/0/query/expand",
    ],
)
def test_null_for_an_optional_key_is_the_same_as_leaving_it_out(pointer: str) -> None:
    without = parse_declaration(changed(pointer, REMOVED)).streams["messages"]
    assert parse_declaration(changed(pointer, None)).streams["messages"] == without


@pytest.mark.parametrize(
    ("pointer", "nearest"),
    [
        ("/displya", "'display'"),
        ("/source/knd", "'kind'"),
        ("/streams/0/primary_keys", "'primary_key'"),
        ("/streams/0/query/range_filter", "'range_filters'"),
        ("/streams/0/query/search/lexical", "'lexical_fields'"),
        ("/streams/0/query/expand/0/limit", "'max_limit'"),
        ("/streams/0/views/0/field", "'fields'"),
    ],
)
def test_an_unknown_key_is_kept_with_a_warning_that_names_the_nearest_known_one(
    pointer: str, nearest: str
) -> None:
    document = changed(pointer, 1)
    declaration = parse_declaration(document)
    assert declaration.document == document
    (warning,) = declaration.warnings
    assert warning.pointer == pointer
    assert "means nothing here" in warning.message
    assert f"Write {nearest}." in warning.message


def test_an_unknown_key_near_no_known_one_is_warned_of_with_all_of_them() -> None:
    declaration = parse_declaration(changed("/streams/0/query/aggregations/avg", ["size"]))
    (warning,) = declaration.warnings
    assert warning.pointer == "/streams/0/query/aggregations/avg"
    assert "Write one of: count, sum, min, max" in warning.message


def test_what_other_implementations_declare_registers_with_warnings() -> None:
    document = changed("/streams/0/incremental", True)
    stream = document["streams"][0]
    stream["required"] = False
    properties = stream["schema"]["properties"]
    properties["subject"]["x_pdpp_type"] = "text"
    properties["paid"] = {"type": "number", "x_pdpp_type": "currency"}
    properties["boss"] = {"type": "string", "x_pdpp_type": "person"}
    properties["ended"] = {
        "type": "string",
        "x_pdpp_type": "timestamp",
        "x_pdpp_role": "event-time",
    }
    declaration = parse_declaration(document)
    fields = declaration.streams["messages"].fields
    assert fields["ended"].kind is Kind.DATE_TIME
    assert [field.name for field in fields.values() if field.role is Role.EVENT_TIME] == ["sent_at"]
    assert fields["sent_at"].schema["x_pdpp_role"] == "event-time"
    assert fields["ended"].schema == {"type": "string", "x_pdpp_type": "timestamp"}
    assert {warning.pointer.rpartition("/")[2] for warning in declaration.warnings} == {
        "incremental",
        "required",
        "x_pdpp_type",
        "x_pdpp_role",
    }
    assert len(declaration.warnings) == 6


def test_a_warning_never_hides_a_mistake_in_what_is_known() -> None:
    document = changed("/streams/0/incremental", True)
    document["streams"][0]["primary_key"] = ["nothing"]
    assert problem(document).param == "/streams/0/primary_key/0"


def test_a_stream_without_times_and_roles_works_with_what_it_has() -> None:
    document = changed("/streams/0/consent_time_field", REMOVED)
    stream = document["streams"][0]
    del stream["cursor_field"]
    for schema in stream["schema"]["properties"].values():
        schema.pop("x_pdpp_role", None)
    parsed = parse_declaration(document).streams["messages"]
    assert (parsed.cursor_field, parsed.consent_time_field) == (None, None)
    assert {field.role for field in parsed.fields.values()} == {None}


@pytest.mark.parametrize("pointer", ["/x_note", "/streams/0/x_note", "/streams/0/query/x_note"])
def test_keys_that_begin_with_x_are_free(pointer: str) -> None:
    assert parse_declaration(changed(pointer, {"any": "thing"})).connector_key == "mail"


def test_an_unknown_property_is_refused_with_the_nearest_declared_one() -> None:
    error = problem(changed("/streams/0/primary_key/0", "subjekt"))
    assert "Write 'subject'." in error.message


def test_pointers_escape_slashes_and_tildes() -> None:
    error = problem(changed("/streams/0/query/range_filters/a~1b~0c", ["gte"]))
    assert error.param == "/streams/0/query/range_filters/a~1b~0c"


def test_of_several_problems_the_first_in_the_document_is_reported() -> None:
    document = changed("/streams/0/relationships/0/foreign_key", "nothing")
    document["streams"][1]["semantics"] = "wrong"
    document["streams"][1]["primary_key"] = []
    assert problem(document).param == "/streams/0/relationships/0/foreign_key"
    document["streams"][0]["semantics"] = "wrong"
    assert problem(document).param == "/streams/0/semantics"
    turned = dict(reversed(document.items()))
    turned["publisher"] = {}
    assert problem(turned).param == "/streams/0/semantics"


def test_a_broken_schema_is_not_blamed_on_what_refers_to_it() -> None:
    document = mail()
    first, second = document["streams"]
    second["schema"]["properties"]["id"]["type"] = "wrong"
    second["primary_key"] = ["gone"]
    document["streams"] = [first, dict(reversed(second.items()))]
    assert problem(document).param == "/streams/1/schema/properties/id/type"


def test_a_single_role_is_allowed_once_a_stream() -> None:
    error = problem(changed("/streams/0/schema/properties/sender/x_pdpp_role", "primary-title"))
    assert error.param == "/streams/0/schema/properties/sender/x_pdpp_role"
    assert "'subject' already has the role primary-title" in error.message


@pytest.mark.parametrize("reference", ["$ref", "$dynamicRef"])
def test_a_remote_reference_is_refused(reference: str) -> None:
    pointer = f"/streams/0/schema/properties/headers/{reference}"
    assert problem(changed(pointer, "https://elsewhere.invalid/schema")).param == pointer


def test_a_local_reference_is_allowed() -> None:
    document = changed("/streams/0/schema/properties/headers/$ref", "#/$defs/headers")
    document["streams"][0]["schema"]["$defs"] = {"headers": {"type": "object"}}
    assert parse_declaration(document).streams["messages"].fields["headers"].kind is Kind.JSON


def test_a_reference_to_nothing_is_refused() -> None:
    error = problem(changed("/streams/0/schema/properties/headers/$ref", "#/$defs/headers"))
    assert error.param == "/streams/0/schema"
    assert "does not exist" in error.message


def test_a_pattern_that_cannot_be_compiled_is_refused() -> None:
    pointer = "/streams/0/schema/properties/subject/pattern"
    assert problem(changed(pointer, "(")).param == pointer


@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-07/schema#", "https://elsewhere.invalid/dialect"]
)
def test_another_dialect_is_refused(dialect: str) -> None:
    error = problem(changed("/streams/0/schema/$schema", dialect))
    assert error.param == "/streams/0/schema/$schema"


def test_the_dialect_may_be_named() -> None:
    dialect = "https://json-schema.org/draft/2020-12/schema"
    assert parse_declaration(changed("/streams/0/schema/$schema", dialect)).connector_key == "mail"


def test_a_wrong_type_is_refused_with_the_types_there_are() -> None:
    error = problem(changed("/streams/0/schema/properties/size/type", "int"))
    assert "array, boolean, integer, null, number, object, string" in error.message


@pytest.mark.parametrize(
    "name", ["", "a[b]", "a,b", "a/b", "a:b", "a\tb", ".", "..", " a", "-a", "n" * 129]
)
def test_a_property_name_that_would_break_a_selector_is_refused(name: str) -> None:
    document = mail()
    document["streams"][0]["schema"]["properties"][name] = {"type": "string"}
    escaped = name.replace("/", "~1")
    assert problem(document).param == f"/streams/0/schema/properties/{escaped}"


def test_more_than_five_hundred_properties_are_refused() -> None:
    document = changed("/streams/0/schema/properties", {f"f{number}": {} for number in range(501)})
    assert problem(document).param == "/streams/0/schema/properties"


def test_a_document_over_one_mebibyte_is_refused() -> None:
    error = problem(changed("/x_note", "n" * 1_048_576))
    assert error.param == ""
    assert "at most 1048576 bytes" in error.message


def test_a_document_nested_too_deep_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert problem(changed("/x_note", deep)).param == ""


def test_a_deep_schema_is_read() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"not": deep}
    declaration = parse_declaration(changed("/streams/0/schema/properties/headers", deep))
    assert declaration.streams["messages"].fields["headers"].kind is Kind.JSON


@pytest.mark.parametrize("document", [None, 1, "mail", [], {1: 2}, {"a": {1, 2}}, {"a": 2**70}])
def test_what_is_not_a_json_object_is_refused(document: object) -> None:
    assert problem(document).param == ""


def test_a_boolean_schema_of_a_property_is_json() -> None:
    document = changed("/streams/0/schema/properties/anything", True)
    document["streams"][0]["schema"]["properties"]["nothing"] = False
    fields = parse_declaration(document).streams["messages"].fields
    assert (fields["anything"].kind, fields["anything"].schema) == (Kind.JSON, {})
    assert (fields["nothing"].kind, fields["nothing"].schema) == (Kind.JSON, {"not": {}})


def test_a_view_without_a_label_is_called_by_its_id() -> None:
    declaration = parse_declaration(changed("/streams/0/views/0/label", REMOVED))
    assert declaration.streams["messages"].views["short"].label == "short"


def test_views_have_ids_of_their_own() -> None:
    pointer = "/streams/0/views/1"
    assert problem(changed(pointer, {"id": "short", "fields": ["id"]})).param == f"{pointer}/id"


WORDS = st.sampled_from(
    [
        "name", "schema", "type", "object", "string", "properties", "id", "$ref", "#", "$schema",
        "anyOf", "enum", "format", "date", "x_pdpp_role", "x_pdpp_type", "blob", "binary", "body",
        "messages", "count", "has_many", "belongs_to", "$id", "$anchor", "pattern", "blob_ref",
    ]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | WORDS, inner, max_size=5)
    ),
    max_leaves=25,
)


def pointers(value: object, above: str = "") -> list[str]:
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    below = [(f"{above}/{step}", member) for step, member in members]
    return [found for pointer, member in below for found in (pointer, *pointers(member, pointer))]


def outcome(document: object) -> Declaration | InvalidDeclaration:
    try:
        return parse_declaration(document)
    except InvalidDeclaration as error:
        return error


@given(JSON)
def test_any_json_is_a_declaration_or_refused(document: object) -> None:
    assert isinstance(outcome(document), InvalidDeclaration)


@given(st.sampled_from(pointers(mail())), JSON)
def test_any_json_at_any_place_is_a_declaration_or_refused(pointer: str, value: object) -> None:
    found = outcome(changed(pointer, value))
    if isinstance(found, InvalidDeclaration):
        assert found.param is not None
        assert found.message


@given(st.sampled_from(pointers(mail())))
def test_a_problem_is_reported_at_a_place_of_the_document(pointer: str) -> None:
    found = outcome(changed(pointer, {"unexpected": []}))
    if isinstance(found, InvalidDeclaration):
        assert found.param is not None
        assert found.param.rpartition("/")[0] in {"", *pointers(mail()), pointer}
