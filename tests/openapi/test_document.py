"""The OpenAPI document, compared with the table of routes and with the OpenAPI specification."""

import json
import re
from typing import Any

import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from pdpp.model import errors
from pdpp.resource.openapi import ERRORS, openapi_document
from pdpp.resource.parameter import Parameter, Shape
from pdpp.resource.routes import BASE, ROUTES, Route
from pdpp.service.service import VERSION

Json = dict[str, Any]

ROUTE_IDS = [route.name for route in ROUTES]
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES, ids=ROUTE_IDS)
EACH_PARAMETER = pytest.mark.parametrize(
    ("route", "parameter"),
    [(route, parameter) for route in ROUTES for parameter in route.parameters.values()],
    ids=[f"{route.name}-{name}" for route in ROUTES for name in route.parameters],
)
NOT_OF_AN_OPERATION = {405}
"""Statuses that are answered only where no operation is found."""


def operation_of(document: Json, route: Route) -> Json:
    operation: Json = document["paths"][BASE + route.path][route.method.lower()]
    return operation


def resolved(document: Json, node: Json) -> Json:
    """Return a node, or what it refers to."""
    while "$ref" in node:
        target: Json = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def parameters_of(document: Json, route: Route, place: str) -> dict[str, Json]:
    listed = [resolved(document, node) for node in operation_of(document, route)["parameters"]]
    return {parameter["name"]: parameter for parameter in listed if parameter["in"] == place}


def references(node: object) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(child) for child in node.values()))
    if isinstance(node, list):
        return set().union(*(references(child) for child in node))
    return set()


def test_the_served_document_is_the_one_written_from_the_routes(document: Json) -> None:
    origin = document["servers"][0]["url"]
    assert document == json.loads(json.dumps(openapi_document(origin)))


def test_the_document_keeps_to_the_openapi_3_1_schema(document: Json) -> None:
    assert document["openapi"] == "3.1.0"
    validator = jsonschema_rs.validator_for(OPENAPI_31)
    assert [error.message for error in validator.iter_errors(document)] == []


def test_every_schema_of_the_document_is_a_json_schema(document: Json) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema)


def test_every_reference_leads_somewhere(document: Json) -> None:
    for reference in references(document):
        assert resolved(document, {"$ref": reference})


def test_everything_that_is_named_in_the_document_is_used(document: Json) -> None:
    told_in_words = {"#/components/schemas/IngestLine"}
    named = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses", "headers", "parameters")
        for name in document["components"][kind]
    }
    assert named - references(document) == told_in_words


def test_the_document_has_the_operations_of_the_routes_and_no_others(document: Json) -> None:
    documented = {
        (method.upper(), path, operation["operationId"])
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }
    assert documented == {(route.method, BASE + route.path, route.name) for route in ROUTES}
    assert len(documented) == len(ROUTES) == len(set(ROUTE_IDS))


@EACH_ROUTE
def test_an_operation_has_the_parameters_of_its_route_and_no_others(
    document: Json, route: Route
) -> None:
    in_path = parameters_of(document, route, "path")
    assert list(in_path) == re.findall(r"\{(\w+)\}", route.path)
    assert all(parameter["required"] for parameter in in_path.values())
    assert list(parameters_of(document, route, "query")) == list(route.parameters)
    headers = {"PDPP-Version", "PDPP-Grant"} | ({"Range"} if route.answer == "Bytes" else set())
    headers |= set() if route.writes else {"PDPP-Max-Lag"}
    assert set(parameters_of(document, route, "header")) == headers


@EACH_PARAMETER
def test_a_parameter_is_documented_with_its_type_and_its_limits(
    document: Json, route: Route, parameter: Parameter
) -> None:
    documented = parameters_of(document, route, "query")[parameter.name]
    schema = documented["schema"]
    assert documented["required"] is parameter.required
    assert documented["description"] == parameter.description
    assert schema.get("default") == parameter.default
    assert schema.get("enum", []) == list(parameter.choices)
    assert schema.get("minimum") == parameter.minimum
    assert schema.get("maximum") == (None if parameter.clamp else parameter.maximum)
    assert schema.get("maxLength") == (parameter.longest if parameter.shape is Shape.TEXT else None)
    kinds = {Shape.INTEGER: "integer", Shape.LIST: "array"}
    kinds |= dict.fromkeys((Shape.FILTER, Shape.LIMITS), "object")
    assert schema["type"] == kinds.get(parameter.shape, "string")
    styles = {Shape.LIST: "form", Shape.FILTER: "deepObject", Shape.LIMITS: "deepObject"}
    assert documented.get("style") == styles.get(parameter.shape)


@EACH_ROUTE
def test_an_operation_says_what_it_takes_and_what_it_answers(document: Json, route: Route) -> None:
    operation = operation_of(document, route)
    assert operation["summary"] == route.summary
    assert list(operation.get("requestBody", {}).get("content", {})) == (
        [] if route.takes_body is None else [route.takes_body]
    )
    assert ("owner" in operation.get("description", "")) is route.owner_only
    succeeds = {status for status in operation["responses"] if status < "300"}
    other = {"Nothing": {"204"}, "Bytes": {"200", "206"}, "Blob": {"201"}}
    assert succeeds == other.get(route.answer, {"200"})


def test_every_status_of_the_error_tree_is_answered_by_some_operation(document: Json) -> None:
    tree = {
        found.status
        for found in vars(errors).values()
        if isinstance(found, type)
        and issubclass(found, errors.PdppError)
        and not issubclass(found, errors.ELSEWHERE)
    }
    answered = {
        int(status)
        for route in ROUTES
        for status in operation_of(document, route)["responses"]
        if status >= "400"
    }
    assert answered == set(ERRORS) == tree - NOT_OF_AN_OPERATION


@EACH_ROUTE
def test_every_operation_may_refuse_the_token_and_says_where_to_get_one(
    document: Json, route: Route
) -> None:
    responses = operation_of(document, route)["responses"]
    assert {"400", "401", "403", "429", "500", "503"} <= set(responses)
    assert document["security"] == [{"bearer": []}]
    assert "security" not in operation_of(document, route)
    assert "WWW-Authenticate" in resolved(document, responses["401"])["headers"]


@EACH_ROUTE
def test_every_response_carries_the_request_and_the_version(document: Json, route: Route) -> None:
    for response in operation_of(document, route)["responses"].values():
        assert {"Request-Id", "PDPP-Version"} <= set(resolved(document, response)["headers"])
    version = parameters_of(document, route, "header")["PDPP-Version"]
    assert version["schema"]["enum"] == [VERSION]


def test_every_code_of_the_error_tree_is_in_the_document(document: Json) -> None:
    codes = {
        found.code
        for found in vars(errors).values()
        if isinstance(found, type)
        and issubclass(found, errors.PdppError)
        and not issubclass(found, errors.ELSEWHERE)
    }
    error = document["components"]["schemas"]["Error"]["properties"]["error"]
    assert set(error["properties"]["code"]["enum"]) == codes
