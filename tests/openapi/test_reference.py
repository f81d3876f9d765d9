"""The page about the REST interface, compared with the routes, the errors and the limits."""

import re
from pathlib import Path

import pytest

from pdpp.evidence.excerpt import PREVIEW_CHARS
from pdpp.evidence.window import DEFAULT_AROUND, DEFAULT_LIMIT, MAX_MATCHES
from pdpp.model import errors, instant
from pdpp.resource.answers import MOST_EXCERPTS
from pdpp.resource.parameter import Parameter, Shape
from pdpp.resource.routes import BASE, ROUTES, Route
from pdpp.resource.shapes import SCHEMAS, error_codes
from pdpp.service.service import VERSION
from pdpp.service.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "rest.md").read_text()
HEADING = re.compile(r"^### `([A-Z]+) ([^`]+)`$", re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
ERROR_ROW = re.compile(r"^\| (\d{3}) \| `(\w+)` \| [^|]+ \|$", re.MULTILINE)
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES, ids=[route.name for route in ROUTES])
TOLD_BY_THE_ANSWER_ITSELF = {"CompactStream", "FullStream"}


def heading_of(route: Route) -> str:
    return f"### `{route.method} {BASE}{route.path}`\n"


def section_of(route: Route) -> str:
    return PAGE.split(heading_of(route), 1)[1].split("\n## ")[0].split("\n### ")[0]


def bounds_of(parameter: Parameter) -> str:
    """Return how the page writes what a parameter takes."""
    if parameter.shape is Shape.INTEGER:
        most = "" if parameter.maximum is None else f" to {parameter.maximum:,}"
        taken = f"{parameter.minimum}{most}" if most else f"from {parameter.minimum}"
        return taken if parameter.default is None else f"{taken}, default {parameter.default}"
    if parameter.shape is Shape.CHOICE:
        taken = ", ".join(f"`{choice}`" for choice in parameter.choices)
        return taken if parameter.default is None else f"{taken}, default `{parameter.default}`"
    if parameter.shape is Shape.LIMITS:
        return "`expand_limit[relation]=number` from 1"
    return parameter.shape.value + (", required" if parameter.required else "")


def test_the_page_has_the_routes_and_no_others() -> None:
    assert sorted(HEADING.findall(PAGE)) == sorted((r.method, BASE + r.path) for r in ROUTES)


@EACH_ROUTE
def test_the_page_has_the_parameters_of_a_route_with_their_bounds_and_no_others(
    route: Route,
) -> None:
    rows = {name: taken for name, taken, _ in ROW.findall(section_of(route))}
    assert rows == {p.name: bounds_of(p) for p in route.parameters.values()}


@EACH_ROUTE
def test_the_page_says_who_may_call_a_route(route: Route) -> None:
    assert ("For the owner only." in section_of(route)) is route.owner_only
    assert route.takes_body != "application/x-ndjson" or route.takes_body in section_of(route)


def test_the_page_has_the_codes_of_the_error_tree_and_no_others() -> None:
    tree = {(status, code) for status, codes in error_codes().items() for code in codes}
    assert {(int(status), code) for status, code in ERROR_ROW.findall(PAGE)} == tree


def test_every_error_class_is_in_the_table_of_codes() -> None:
    assert errors.FieldNotText.code in error_codes()[422]
    assert errors.NewerDatabase.code not in error_codes()[500]


@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - TOLD_BY_THE_ANSWER_ITSELF))
def test_the_page_names_every_member_that_every_answer_of_a_kind_has(name: str) -> None:
    words = set(re.findall(r"\w+", PAGE))
    assert set(SCHEMAS[name].get("required", ())) <= words


def test_the_page_knows_the_limits_of_the_server() -> None:
    settings = Settings()
    told = [
        f"`{VERSION}`",
        f"at most {PREVIEW_CHARS} characters",
        f"{DEFAULT_LIMIT:,} unless given",
        f"{DEFAULT_AROUND} unless given",
        f"the first {MAX_MATCHES}",
        f"at most {MOST_EXCERPTS} passage",
        f"{settings.body_bytes >> 20} MiB",
        f"{settings.line_bytes >> 20} MiB",
        f"{settings.blob_bytes >> 30} GiB",
        f"{settings.bookmark_life // instant.DAY} days",
    ]
    assert [words for words in told if words not in PAGE] == []
