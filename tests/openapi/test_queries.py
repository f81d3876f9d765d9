"""Odd query strings on every route: answered or refused, in one form, and never a failure."""

import http.client
import json
from collections.abc import Iterator, Sequence
from urllib.parse import quote_from_bytes

import pytest
from bench.demo_records import AWKWARD
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serving import DEADLINE, World, grant, living, owner, seeded_store

from pdpp import demo
from pdpp.model import instant
from pdpp.resource.calendar import GRANULARITIES, bucketer, zone
from pdpp.resource.parameter import Parameter, Shape
from pdpp.resource.routes import BASE, ROUTES, Route

READS = [route for route in ROUTES if route.method in ("GET", "HEAD")]
STREAMS = {
    stream["name"]: list(stream["schema"]["properties"])
    for source in demo.sources()
    for stream in source.declaration["streams"]
}
FIELDS = sorted({name for names in STREAMS.values() for name in names})
RELATIONS = ["thread", "attachments", "messages", "message", "channel", "notebook", "items"]
KEYS = [key for _, _, key in AWKWARD.values()]
BLOBS = [blob.blob_id for blob in demo.blobs()]

awkward = st.one_of(
    st.sampled_from(
        [
            *("", "0", "-1", "1e400", "-0", "NaN", "inf", "null", "true", "1_0", "٣", "9" * 9),
            *("9" * 18, "9" * 19, "9" * 400, "0001-01-01", "9999-12-31T23:59:59.999999999Z"),
            *("0001-01-01T00:00:00+14:00", "2026-02-30", "2026-06-30T23:59:60Z", "beginning"),
            *(
                "'",
                '"',
                '"a',
                "a*",
                "*",
                "a AND",
                "NEAR(a b)",
                "-a",
                "a:b",
                "%",
                "_",
                "\\",
                "(",
                "^",
            ),
            *("../../etc/passwd", "America", "UTC\n", "\x00", "﷽", "\u202e", "\ufeff", "🏳️‍🌈"),
            *("a" * 1025, "x" * 5000, "é" * 300, "İ", "ß", "ﬁ", "\u0301", "a,b,,c", ",", "[", "]"),
        ]
    ),
    st.text(max_size=12),
    st.from_regex(r"-?\d{1,20}(\.\d{1,9})?", fullmatch=True),
    st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
)
names = st.sampled_from([*FIELDS, "", "nothing", "a]b", "[x", "__proto__", "é"])
operators = st.sampled_from(
    ["", "[gte]", "[gt]", "[lte]", "[lt]", "[eq]", "[]", "[x][y]", "[", "]"]
)
bad_encodings = st.sampled_from(
    ["%", "%zz", "%C3%28", "%ED%A0%80", "%00", "%F0%9F", "+", "&&", "=", "&=&", "?", "a=b=c", ";"]
)


def texts_of(parameter: Parameter) -> st.SearchStrategy[str]:
    """Return values for a parameter that are often, but not always, ones it takes."""
    fitting = {
        "connection_id": ["cin_work", "cin_notes", "cin_bank", "nothing"],
        "stream": [*STREAMS, "nothing"],
        "streams": [*STREAMS, "messages,documents"],
        "expand": RELATIONS,
        "view": ["envelope", "titles", "sums", "compact"],
        "sort": [*FIELDS, *(f"-{name}" for name in FIELDS), "-", "--id"],
        "q": ["invoice", '"the kitchen"', "inv*", "a", "é", "北京"],
        "time_zone": ["UTC", "Europe/Lisbon", "Pacific/Apia", "Asia/Kathmandu", "Etc/GMT+12"],
    }
    choices = fitting.get(parameter.name, list(parameter.choices) or FIELDS)
    if parameter.shape is Shape.INTEGER:
        choices = ["0", "1", "3", "100", "101", "16384", "16385", "999999999"]
    return st.one_of(st.sampled_from(choices), st.sampled_from(choices), awkward)


def pairs_of(parameter: Parameter) -> st.SearchStrategy[tuple[str, str]]:
    """Return one way or another to write a parameter."""
    if parameter.shape is Shape.FILTER:
        key = st.builds(lambda name, op: f"filter[{name}]{op}", names, operators)
        return st.tuples(st.one_of(key, st.just("filter")), awkward)
    if parameter.shape is Shape.LIMITS:
        relation = st.sampled_from([*RELATIONS, "", "nothing"])
        return st.tuples(relation.map(lambda name: f"expand_limit[{name}]"), awkward)
    spelt = [parameter.name] * 6 + [f"{parameter.name}[]", f"{parameter.name}[x]"]
    return st.tuples(st.sampled_from(spelt), texts_of(parameter))


def encoded(pairs: Sequence[tuple[str, str]], raw: str) -> str:
    written = "&".join(f"{escaped(key, '[]')}={escaped(value, ',')}" for key, value in pairs)
    return written + raw


def escaped(text: str, safe: str = "") -> str:
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe=safe)


def queries_of(route: Route) -> st.SearchStrategy[str]:
    known = [pairs_of(parameter) for parameter in route.parameters.values()]
    unknown = st.tuples(st.text(max_size=8), awkward)
    required = st.tuples(*(pairs_of(p) for p in route.parameters.values() if p.required)).map(list)
    chosen = st.lists(st.one_of(*known, *known, unknown), max_size=4)
    tail = st.one_of(st.just(""), st.just(""), st.just(""), bad_encodings)
    return st.builds(lambda first, more, raw: encoded([*first, *more], raw), required, chosen, tail)


def paths_of(route: Route) -> st.SearchStrategy[str]:
    parts = {
        "stream": st.one_of(st.sampled_from(list(STREAMS)), awkward),
        "record_id": st.one_of(st.sampled_from(KEYS), awkward),
        "job_id": awkward,
        "connection_id": st.one_of(st.sampled_from(["cin_work", "cin_bank"]), awkward),
        "blob_id": st.one_of(st.sampled_from(BLOBS), awkward),
    }
    return st.fixed_dictionaries(parts).map(
        lambda found: (BASE + route.path).format(**{k: escaped(v) for k, v in found.items()})
    )


@pytest.fixture(scope="module")
def tokens(demo_world: World) -> list[str]:
    store = demo_world.store
    narrow = grant(store, streams=("messages", "documents"), fields=("id", "subject", "title"))
    return [owner(store), grant(store), narrow]


@pytest.fixture(scope="module")
def connection(demo_world: World) -> Iterator[http.client.HTTPConnection]:
    host = demo_world.server.url.removeprefix("http://")
    made = http.client.HTTPConnection(host, timeout=DEADLINE)
    yield made
    made.close()


@pytest.mark.parametrize("route", READS, ids=[route.name for route in READS])
def test_an_odd_query_is_answered_or_refused_and_never_fails(
    connection: http.client.HTTPConnection, tokens: list[str], route: Route
) -> None:
    @settings(max_examples=settings().max_examples * 2 // 5)
    @given(path=paths_of(route), query=queries_of(route), token=st.sampled_from(tokens))
    def check(path: str, query: str, token: str) -> None:
        target = f"{path}?{query}"
        connection.request(route.method, target, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.headers["Request-Id"].startswith("req_")
        assert answer.status < 500, (target, body)
        if route.method == "GET" and answer.status >= 400:
            error = json.loads(body)["error"]
            assert error["request_id"] == answer.headers["Request-Id"]
            assert error["message"]
            assert {"type", "code"} <= error.keys()

    check()


@pytest.mark.parametrize(
    "query",
    [
        "limit=1&limit=2",
        "q=a&q=b",
        "filter[id]=a&filter[id]=b",
        "filter[id][gte][x]=1",
        "filter=x",
        "filter[]=x",
        "limit",
        "limit=",
        "limit=%ff",
        "&",
        "limit=1;count=exact",
        "fields=id%00",
        "LIMIT=1",
        "limit%5B%5D=1",
        "&".join(f"filter[f{i}]=1" for i in range(33)),
        "&".join("fields=id" for _ in range(201)),
        "fields=" + "a" * 16_384,
    ],
    ids=lambda query: query[:30],
)
def test_a_query_that_cannot_be_meant_is_refused(
    connection: http.client.HTTPConnection, tokens: list[str], query: str
) -> None:
    target = f"/v1/streams/messages/records?{query}"
    connection.request("GET", target, headers={"Authorization": f"Bearer {tokens[0]}"})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    assert (answer.status, body["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("name", ["fields", "fields[]", "fields%5B%5D"])
def test_a_list_is_written_with_commas_or_repeated(
    connection: http.client.HTTPConnection, tokens: list[str], name: str
) -> None:
    answers = []
    for query in (f"{name}=id,subject", f"{name}=id&{name}=subject"):
        target = f"/v1/streams/messages/records?connection_id=cin_work&{query}"
        connection.request("GET", target, headers={"Authorization": f"Bearer {tokens[0]}"})
        answers.append(json.loads(connection.getresponse().read())["data"])
    assert answers[0] == answers[1]
    assert all(set(record["data"]) <= {"id", "subject"} for record in answers[0])


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_times_at_the_edges_of_the_calendar_are_grouped(
    edge_world: World, granularity: str, zone: str
) -> None:
    answer = edge_world.owner().get(
        "/v1/streams/notebooks/aggregate",
        params={"group_by_time": "created_at", "granularity": granularity, "time_zone": zone},
    )
    assert answer.status_code == 200, answer.text
    years = {group["key"][:4] for group in answer.json()["groups"]}
    assert {"0001", "9999"} <= years


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_every_day_of_a_year_falls_into_a_bucket(granularity: str) -> None:
    bucket = bucketer(granularity, zone("Europe/Lisbon"))
    first = instant.parse("2028-01-01T12:00:00Z")
    assert first is not None
    for moment in range(first, first + 366 * instant.DAY, instant.DAY):
        name, end = bucket(moment)
        assert name.startswith(("2028", "2027-12"))
        assert end > moment


@pytest.fixture(scope="module")
def edge_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Serve records from the first and the last moment that can be written."""
    with living(seeded_store(tmp_path_factory.mktemp("edge"))) as world:
        for moment in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
            record = {"id": moment[:4], "name": "Edge", "created_at": moment}
            world.put("cin_notes", "notebooks", record)
        yield world
