"""Calls generated from the document, against a server with the demo data."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import requests
import schemathesis
from bench.demo_records import AWKWARD
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, SerializationContext
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.serving import World, grant, living, owner, seeded_store
from tests.soak import SOAK

from pdpp import demo
from pdpp.resource.openapi import openapi_document
from pdpp.resource.routes import BASE, ROUTES, Route

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
STREAMS = sorted({stream["name"] for s in demo.sources() for stream in s.declaration["streams"]})
KEYS = [key for _, _, key in AWKWARD.values()]
REAL = {
    "stream": st.sampled_from(STREAMS),
    "record_id": st.sampled_from(KEYS),
    "job_id": st.just("job_0000000000000000"),
    "connection_id": st.just("cin_nowhere"),
    "blob_id": st.sampled_from([blob.blob_id for blob in demo.blobs()]),
}
GARBAGE = [
    None,
    "",
    "Bearer",
    "Bearer ",
    "Bearer nonsense",
    "Bearer null",
    "Bearer pdpp_owner_" + "A" * 43,
    "Basic b3duZXI6b3duZXI=",
    "bearer\tx",
    "Token {token}",
    "Bearer {token}x",
    "Bearer x{token}",
    "Bearer {token} {token}",
    "Bearer,{token}",
    "{token}",
]
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES, ids=[route.name for route in ROUTES])


def callers() -> Iterator[Any]:
    """Yield who calls each route, and whether as it is described.

    Wrong calls are refused whoever makes them, so that one of those who may call makes them, and
    both in a soak.
    """
    for route in ROUTES:
        who_errs = "owner" if route.owner_only else "client"
        for mode in GenerationMode:
            for who in ("owner", "client"):
                if SOAK or mode == GenerationMode.POSITIVE or who == who_errs:
                    yield pytest.param(route, who, mode, id=f"{route.name}-{who}-{mode.value}")


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator]
def lines(_: SerializationContext, value: Any) -> bytes:
    return str(value).encode("utf-8", "surrogatepass")


few = settings(
    max_examples=50 if SOAK else 3,
    derandomize=not SOAK,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Serve demo data that the generated calls may write to and delete from."""
    with living(seeded_store(tmp_path_factory.mktemp("generated"))) as served:
        yield served


@pytest.fixture(scope="module")
def tokens(world: World) -> dict[str, str]:
    return {"owner": owner(world.store), "client": grant(world.store)}


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as made:
        made.trust_env = False
        yield made


@cache
def document() -> Any:
    """Return the document as the generator reads it, which takes longer than a test's calls."""
    return schemathesis.openapi.from_dict(openapi_document("http://127.0.0.1"))


def cases_of(route: Route, mode: GenerationMode) -> st.SearchStrategy[Case[Any]]:
    """Return generated calls of a route, most of them to what exists."""
    operation = document()[BASE + route.path][route.method]
    names = [name for name in REAL if f"{{{name}}}" in route.path]
    return st.builds(
        _aimed,
        operation.as_strategy(generation_mode=mode),
        st.fixed_dictionaries({name: REAL[name] for name in names}),
        st.integers(0, 3),
    )


def _aimed(case: Case[Any], real: dict[str, str], chance: int) -> Case[Any]:
    if chance:
        case.headers.pop("PDPP-Grant", None)
        case.path_parameters = {**(case.path_parameters or {}), **real}
    return case


@pytest.mark.parametrize(("route", "who", "mode"), list(callers()))
def test_generated_calls_are_answered_as_documented_and_never_break_the_server(
    world: World,
    session: requests.Session,
    tokens: dict[str, str],
    route: Route,
    who: str,
    mode: GenerationMode,
) -> None:
    @few
    @given(case=cases_of(route, mode))
    def check(case: Case[Any]) -> None:
        answer = case.call(
            base_url=world.server.url,
            session=session,
            headers={"Authorization": f"Bearer {tokens[who]}"},
        )
        case.validate_response(answer, checks=CHECKS)
        if route.owner_only and who == "client":
            assert answer.status_code in (400, 401, 403, 404)

    check()


@EACH_ROUTE
def test_generated_calls_without_a_valid_token_are_refused(
    world: World, session: requests.Session, tokens: dict[str, str], route: Route
) -> None:
    forms = st.sampled_from([form and form.format(token=tokens["owner"]) for form in GARBAGE])

    @few
    @given(case=cases_of(route, GenerationMode.POSITIVE), form=forms)
    def check(case: Case[Any], form: str | None) -> None:
        headers = {} if form is None else {"Authorization": form}
        answer = case.call(base_url=world.server.url, session=session, headers=headers)
        assert answer.status_code in (401, 404)
        assert answer.status_code == 401 or "{" in route.path
        case.validate_response(answer, checks=CHECKS)

    check()


def odd_tokens() -> Iterator[Any]:
    """Yield each route with some forms of a bad token, all forms in turn; in a soak with all."""
    for at, route in enumerate(ROUTES):
        shown = GARBAGE if SOAK else [GARBAGE[(3 * at + n) % len(GARBAGE)] for n in range(3)]
        for form in shown:
            yield pytest.param(route, form, id=f"{route.name}-{form!r}")


@pytest.mark.parametrize(("route", "form"), list(odd_tokens()))
def test_no_form_of_a_bad_token_opens_any_route(
    world: World, session: requests.Session, tokens: dict[str, str], route: Route, form: str | None
) -> None:
    path = (BASE + route.path).format(
        stream="documents",
        record_id="logo-draft",
        blob_id="0" * 64,
        job_id="job_x",
        connection_id="cin_x",
    )
    headers = {} if form is None else {"Authorization": form.format(token=tokens["owner"])}
    answer = session.request(route.method, world.server.url + path, headers=headers, data=b"x")
    assert answer.status_code == 401
    assert "resource_metadata=" in answer.headers["WWW-Authenticate"]
    if route.method != "HEAD":
        assert answer.json()["error"]["code"] == "authentication_error"
        assert tokens["owner"] not in answer.text
