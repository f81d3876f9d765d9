import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import httpx
import pytest
from bench.demo_records import AWKWARD
from tests.resource.library import HOME_BOOKS, LIBRARY, book
from tests.serving import World, all_rows, living, planted_store, refused

from pdpp.demo import INVOICE_STORY
from pdpp.evidence.text import digest, json_text
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.resource import search

MARK = re.compile("</?mark>")

TEXTS = {
    "cjk": "昨日は京都の錦市場で漬物を買いました。",
    "korean": "오늘은 부산에 갔다. 바다가 좋았다.",
    "accents": "Olá, o pão está no balcão da Inês.",
    "apart": "Ola\u0301, nai\u0308ve reader.",
    "emoji": "Bring the 🎉 and the 👩‍👩‍👧 to the quay.",
    "quotes": 'She said "never again" and meant it; e-mail: rui@almeida.example (C++/C#).',
    "prefix": "Lanterns, lanternlight and a lamp.",
    "both": "The word harbour stands here",
    "order": "lights of the harbour, harbour lights",
    "cyrillic": "Я вчера купил книги в домах",
    "greek": "Χθες αγόρασα βιβλία στα σπίτια μας",
    "marks": "A text with <mark>its own</mark> marks about kelp.",
}


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a store with one book for each kind of text."""
    rows = [book(key, 1, title=f"Book {key}", text=text) for key, text in TEXTS.items()]
    rows.append(book("across", 2, title="Quay of reeds", text="A story about a heron."))
    folder = tmp_path_factory.mktemp("words")
    records = {("only", "books"): rows}
    with living(planted_store(folder, LIBRARY, {"only": "Only"}, records)) as world:
        yield world.client()


def keys(client: httpx.Client, q: str, **params: Any) -> set[str]:
    return {hit["record_key"] for hit in all_rows(client, "/v1/search", q=q, **params)}


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("錦市場", {"cjk"}),
        ("京都", {"cjk"}),
        ("都京", {"cjk"}),
        ('"都京"', set()),
        ("바다", {"korean"}),
        ("ola", {"accents", "apart"}),
        ("OLÁ", {"accents", "apart"}),
        ("pao", {"accents"}),
        ("naive", {"apart"}),
        ("🎉", {"emoji"}),
        ("👩‍👩‍👧", {"emoji"}),
        ('"never again"', {"quotes"}),
        ('"again never"', set()),
        ("again never", {"quotes"}),
        ("“never again”", {"quotes"}),
        ("e-mail", {"quotes"}),
        ("rui@almeida.example", {"quotes"}),
        ("C++", {"quotes"}),
        ("lantern", {"prefix"}),
        ("lanternz*", set()),
        ("lantern*", {"prefix"}),
        ('"a lam"*', {"prefix"}),
        ('"harbour lights"', {"order"}),
        ("heron reeds", {"across"}),
        ("heron harbour", {"across", "both", "order"}),
        ("+heron +harbour", set()),
        ("harbour -lights", {"both"}),
        ("harbours OR herons", {"across", "both", "order"}),
        ("kelp", {"marks"}),
        ("when did she type купил", {"cyrillic"}),
        ("the one with βιβλίο", {"greek"}),
        ('never "again', {"quotes"}),
        ("never AND again", {"quotes"}),
        ("x'); DROP TABLE record; --", set()),
        ("NEAR(never again)", {"quotes"}),
    ],
)
def test_a_query_means_what_a_person_expects(
    words: httpx.Client, q: str, expected: set[str]
) -> None:
    assert keys(words, q) == expected


@pytest.mark.parametrize("q", ['"', "*", "...", "-", '""', "()", "\u200b", "AND\x00"])
def test_a_query_without_a_word_is_refused_with_advice(words: httpx.Client, q: str) -> None:
    error = refused(words.get("/v1/search", params={"q": q}), 400, "invalid_request")
    assert error["param"] == "q"


@pytest.mark.parametrize(
    "query", ["", "q=", f"q={'a' * 2_001}", "q=x&match=most", "q=x&sort=size", "q=on:never"]
)
def test_a_query_has_bounds(words: httpx.Client, query: str) -> None:
    assert refused(words.get(f"/v1/search?{query}"), 400, "invalid_request")["param"]


def test_a_question_may_be_long(words: httpx.Client) -> None:
    asked = " ".join(["harbour", *(f"word{number}" for number in range(60))])
    assert {"both", "order"} <= keys(words, asked)
    assert keys(words, "harbour " + "a" * 1_900) >= {"both", "order"}


def test_every_word_must_be_there_where_all_are_asked_for(words: httpx.Client) -> None:
    assert keys(words, "heron reeds", match="all") == {"across"}
    assert keys(words, "heron harbour", match="all") == set()


def test_without_hits_it_is_told_what_to_try(words: httpx.Client) -> None:
    meta = words.get("/v1/search", params={"q": "+harbuor"}).json()["meta"]
    assert meta["try"] == {
        "words": ["harbour"],
        "streams_searched": ["authors", "books", "reviews", "shelves"],
        "stream_count": 4,
        "schema": "/v1/schema",
    }
    assert meta["count"] == {"kind": "exact", "value": 0}


def test_a_misspelt_word_is_read_as_the_nearest_and_that_is_told(words: httpx.Client) -> None:
    body = words.get("/v1/search", params={"q": "the harbuor heron"}).json()
    assert body["meta"]["repaired"] == {"harbuor": ["harbour"]}
    by_key = {hit["record_key"]: hit for hit in body["data"]}
    assert by_key["both"]["matched"] == ["harbuor"]
    assert by_key["both"]["missing"] == ["heron"]


@pytest.mark.parametrize("asked", ["books", "the first books", "my last book"])
def test_a_word_that_names_the_stream_of_a_hit_is_not_told_as_missing(
    words: httpx.Client, asked: str
) -> None:
    body = words.get("/v1/search", params={"q": f"{asked} about herons and zeppelins"}).json()
    (hit,) = [hit for hit in body["data"] if hit["record_key"] == "across"]
    assert (hit["matched"], hit["missing"]) == (["herons"], ["zeppelins"])


def test_a_time_in_which_nothing_happened_is_told(words: httpx.Client) -> None:
    body = words.get("/v1/search", params={"q": "kelp on 3 May 1951"}).json()
    assert [hit["record_key"] for hit in body["data"]] == ["marks"]
    (warning,) = body["meta"]["warnings"]
    assert (warning["code"], warning["param"]) == ("nothing_then", "q")
    assert '"3 May 1951"' in warning["message"]
    assert words.get("/v1/search", params={"q": "kelp"}).json()["meta"]["warnings"] == []


def test_a_hit_that_holds_all_parts_of_a_word_holds_the_word(words: httpx.Client) -> None:
    params = {"q": "harbourlight", "match": "all"}
    body = words.get("/v1/search", params=params).json()
    assert body["meta"]["repaired"] == {"harbourlight": ["harbour light"]}
    (hit,) = body["data"]
    assert (hit["record_key"], hit["matched"], hit["missing"]) == ("order", ["harbourlight"], [])
    assert hit["evidence_excerpts"][0]["preview_text"].startswith("<mark>lights</mark> of the")


def test_a_hit_says_what_and_where_it_is(library: World, reader: httpx.Client) -> None:
    params = {"q": "gift", "streams": "books"}
    (hit,) = reader.get("/v1/search", params=params).json()["data"]
    excerpts = hit.pop("evidence_excerpts")
    score = hit.pop("score")
    emitted_at = hit.pop("emitted_at")
    assert hit == {
        "object": "search_result",
        "id": "home/books:b1",
        "record_key": "b1",
        "stream": "books",
        "connection_id": "home",
        "connector_key": "library",
        "display_name": "Home shelf",
        "title": "Harbour lights",
        "event_time": "2026-01-01T10:00:00Z",
        "record_url": "/v1/streams/books/records/b1?connection_id=home",
        "matched_fields": ["remark"],
        "matched": ["gift"],
        "missing": [],
    }
    assert score.keys() == {"kind", "value", "order"}
    assert (score["kind"], score["order"]) == ("lexical", "desc")
    assert reader.get(hit["record_url"]).json()["emitted_at"] == emitted_at
    assert [excerpt["field_path"] for excerpt in excerpts] == ["remark"]


@pytest.mark.scenario("S015", 1, on="rest")
def test_evidence_is_a_descriptor_with_a_read_that_goes_on(reader: httpx.Client) -> None:
    params = {"q": "lantern", "connection_id": "home", "filter[pages]": "300"}
    (hit,) = reader.get("/v1/search", params=params).json()["data"]
    (excerpt,) = hit["evidence_excerpts"]
    text = str(HOME_BOOKS[0]["text"])
    assert excerpt.keys() == {
        "object",
        "field_path",
        "preview_text",
        "start_chars",
        "end_chars",
        "total_chars",
        "matches",
        "truncated",
        "digest",
        "provenance",
        "read",
    }
    assert excerpt["object"] == "evidence_excerpt"
    assert excerpt["field_path"] == "text"
    assert excerpt["total_chars"] == len(text)
    assert excerpt["truncated"] is True
    assert excerpt["provenance"] == "lexical_match"
    assert excerpt["digest"] == digest(text)
    read = excerpt["read"]
    names = ("connection_id", "field", "offset_chars", "limit_chars")
    window = reader.request(
        read["method"], read["route"], params={name: read[name] for name in names}
    ).json()
    assert window["digest"] == excerpt["digest"]
    assert window["window"]["text"].startswith(MARK.sub("", excerpt["preview_text"]))


@pytest.mark.scenario("S008")
def test_evidence_has_text_around_the_match(reader: httpx.Client) -> None:
    params = {"q": "lantern", "streams": "books", "connection_id": "home"}
    hits = reader.get("/v1/search", params=params).json()["data"]
    assert hits
    for hit in hits:
        assert hit["evidence_excerpts"]
        for excerpt in hit["evidence_excerpts"]:
            shown = MARK.sub("", excerpt["preview_text"])
            marked = sum(m["end_chars"] - m["start_chars"] for m in excerpt["matches"])
            assert len(shown) > marked > 0
            assert len(excerpt["preview_text"]) <= 240


def test_evidence_is_true_to_the_stored_field(demo: World, everything: httpx.Client) -> None:
    """Every excerpt without its marks is the slice it claims, and its matches are in it."""
    for q in ("invoice", "lantern", "coração", "京都", "harbour pilots", "mark", "kitchen tile*"):
        hits = everything.get("/v1/search", params={"q": q, "limit": 100}).json()["data"]
        assert hits
        for hit in hits:
            data = everything.get(hit["record_url"]).json()["data"]
            for excerpt in hit["evidence_excerpts"]:
                _check_excerpt(excerpt, data[excerpt["field_path"]])


def _check_excerpt(excerpt: dict[str, Any], text: str) -> None:
    start, end = excerpt["start_chars"], excerpt["end_chars"]
    assert MARK.sub("", excerpt["preview_text"]) == text[start:end]
    assert len(excerpt["preview_text"]) <= 240
    assert excerpt["total_chars"] == len(text)
    assert excerpt["digest"] == digest(text)
    assert excerpt["truncated"] is (end - start < len(text))
    opened = excerpt["preview_text"].count("<mark>")
    assert opened == excerpt["preview_text"].count("</mark>") == len(excerpt["matches"]) > 0
    for match in excerpt["matches"]:
        assert start <= match["start_chars"] < match["end_chars"] <= end


@pytest.mark.scenario("S009")
def test_a_match_in_a_title_alone_has_no_evidence_but_a_way_to_read(
    reader: httpx.Client,
) -> None:
    params = {"q": "ledger", "connection_id": "work"}
    (hit,) = reader.get("/v1/search", params=params).json()["data"]
    assert hit["matched_fields"] == ["title"]
    assert hit["evidence_excerpts"] == []
    assert reader.get(hit["record_url"]).json()["data"]["title"] == "Ledger"


@pytest.mark.scenario("S009")
@pytest.mark.scenario("S005")
def test_a_match_in_a_hidden_body_is_no_match(library: World) -> None:
    client = library.client(fields=("id", "title", "name", "room"))
    hits = client.get("/v1/search", params={"q": "lantern"}).json()["data"]
    assert {hit["id"] for hit in hits} == {"work/books:w2", "home/shelves:7"}


@pytest.mark.scenario("S005")
def test_a_field_is_a_title_by_its_role_and_not_by_its_name(reader: httpx.Client) -> None:
    params = {"q": "stormy opinion 2", "match": "all"}
    (hit,) = reader.get("/v1/search", params=params).json()["data"]
    record = reader.get(hit["record_url"]).json()
    assert record["data"]["title"] == "Stormy opinion 2"
    assert hit["title"] == f"Home shelf / reviews / {record['emitted_at']}"
    assert hit["event_time"] is None
    assert [item["field_path"] for item in hit["evidence_excerpts"]] == ["title"]


def test_a_missing_title_falls_back_on_label_stream_and_event_time(reader: httpx.Client) -> None:
    params = {"q": '"only a lantern"'}
    (hit,) = reader.get("/v1/search", params=params).json()["data"]
    assert hit["title"] == "Home shelf / books / 2026-01-04T10:00:00Z"


def test_a_title_without_any_event_time_falls_back_on_its_emission(reader: httpx.Client) -> None:
    (hit,) = reader.get("/v1/search", params={"q": "attic"}).json()["data"]
    assert hit["title"] == f"Home shelf / shelves / {hit['emitted_at']}"


def test_a_hidden_title_and_time_give_nothing_away(library: World) -> None:
    client = library.client(streams=("books",), fields=("id", "text"))
    (hit,) = client.get("/v1/search", params={"q": "quay"}).json()["data"]
    assert hit["title"] == f"Home shelf / books / {hit['emitted_at']}"
    assert hit["event_time"] is None


def test_a_search_over_all_sources_has_one_limit(everything: httpx.Client) -> None:
    body = everything.get("/v1/search", params={"q": "invoice 4471", "limit": 3}).json()
    assert len(body["data"]) == 3
    assert body["has_more"] is True
    found = {hit["id"] for hit in all_rows(everything, "/v1/search", q="invoice 4471", limit=3)}
    for connection_id, stream, key in INVOICE_STORY.values():
        assert f"{connection_id}/{stream}:{key}" in found


@pytest.mark.parametrize("limit", [9, 40, 100])
def test_every_hit_comes_once_however_it_is_paged(everything: httpx.Client, limit: int) -> None:
    hits = all_rows(everything, "/v1/search", q="harbour", limit=limit, connection_id="cin_work")
    whole = [hit["id"] for hit in hits]
    assert len(whole) == len(set(whole)) > 20
    scores = [hit["score"]["value"] for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_a_caller_with_little_room_gets_a_shorter_page_that_can_be_cut_anywhere(
    everything: httpx.Client,
) -> None:
    asked = {"q": "harbour", "limit": "20", "connection_id": "cin_work"}
    whole = everything.get("/v1/search", params=asked)
    assert "pdpp-cursors" not in whole.headers
    hits = whole.json()["data"]
    size = len(json_text(hits[0]).encode()) + len(json_text(hits[1]).encode())
    room = {"PDPP-Room": str(size + size // 2 - 1)}
    few = everything.get("/v1/search", params=asked, headers=room)
    assert few.json()["data"] == hits[:2]
    assert few.json()["has_more"] is True
    cursors = few.headers["pdpp-cursors"].split(",")
    assert cursors[-1] == few.json()["next_cursor"]
    for shown, cursor in enumerate(cursors, 1):
        rest = everything.get("/v1/search", params={**asked, "cursor": cursor}).json()
        assert rest["data"][: 20 - shown] == hits[shown:]


def test_only_the_cursors_after_which_a_page_may_have_to_end_are_told(
    everything: httpx.Client,
) -> None:
    asked = {"q": "harbour", "limit": "12", "connection_id": "cin_work"}
    hits = everything.get("/v1/search", params=asked).json()["data"]
    sizes = list(accumulate(len(json_text(hit).encode()) for hit in hits))
    room = sizes[-1] * 5 // 4
    found = everything.get("/v1/search", params=asked, headers={"PDPP-Room": str(room)})
    assert found.json()["data"] == hits
    cursors = found.headers["pdpp-cursors"].split(",")
    surely = sum(3 * size < 2 * room for size in sizes)
    assert len(cursors) == len(hits) - surely + 1 < len(hits) - 3
    for shown, cursor in enumerate(cursors, surely):
        rest = everything.get("/v1/search", params={**asked, "cursor": cursor}).json()
        assert rest["data"][: len(hits) - shown] == hits[shown:]


def test_a_page_cut_short_goes_on_though_all_was_asked_for(everything: httpx.Client) -> None:
    asked = {"q": "invoice 4471", "limit": "100"}
    whole = everything.get("/v1/search", params=asked).json()
    assert whole["has_more"] is False
    first = everything.get("/v1/search", params=asked, headers={"PDPP-Room": "0"}).json()
    assert (first["data"], first["has_more"]) == (whole["data"][:1], True)
    assert first["meta"] == whole["meta"]
    rest = everything.get("/v1/search", params={**asked, "cursor": first["next_cursor"]}).json()
    assert rest["data"] == whole["data"][1:]


def test_a_page_that_fits_its_room_is_whole(everything: httpx.Client) -> None:
    asked = {"q": "invoice 4471", "limit": "100"}
    whole = everything.get("/v1/search", params=asked).json()
    for room in ("1000000", "much", ""):
        found = everything.get("/v1/search", params=asked, headers={"PDPP-Room": room})
        assert found.json() == whole
        assert "pdpp-cursors" not in found.headers
    none = {"q": "zzyzxq"}
    empty = everything.get("/v1/search", params=none, headers={"PDPP-Room": "9"})
    assert empty.json()["data"] == []
    assert "pdpp-cursors" not in empty.headers


def test_cursors_too_long_for_a_header_are_left_out(
    everything: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_MOST_TOLD", 50)
    asked = {"q": "harbour", "limit": "3"}
    found = everything.get("/v1/search", params=asked, headers={"PDPP-Room": "100000"})
    assert len(found.json()["data"]) == 3
    assert "pdpp-cursors" not in found.headers


def test_all_matches_are_ranked_however_many_there_are(tmp_path: Path) -> None:
    rows = [book(f"n{number}", 1, text="common") for number in range(2_100)]
    rows.append(book("best", 1, text="common common"))
    records = {("only", "books"): rows[::-1]}
    with living(planted_store(tmp_path, LIBRARY, {"only": "Only"}, records)) as world:
        body = world.client().get("/v1/search", params={"q": "common", "limit": 1}).json()
    assert [hit["record_key"] for hit in body["data"]] == ["best"]
    assert body["meta"]["count"] == {"kind": "exact", "value": 2_101}
    assert "recall" not in body["meta"]


@pytest.mark.parametrize(
    "written",
    ["streams[]=books&streams[]=shelves", "streams=books,shelves", "streams=books&streams=shelves"],
)
def test_a_search_is_narrowed_to_streams(reader: httpx.Client, written: str) -> None:
    hits = reader.get(f"/v1/search?q=lantern&{written}").json()["data"]
    assert {hit["stream"] for hit in hits} == {"books", "shelves"}
    assert {
        hit["stream"] for hit in reader.get("/v1/search?q=lantern&streams[]=shelves").json()["data"]
    } == {"shelves"}


def test_a_search_is_narrowed_to_a_connection(reader: httpx.Client) -> None:
    hits = reader.get("/v1/search", params={"q": "lantern", "connection_id": "work"}).json()
    assert {hit["id"] for hit in hits["data"]} == {"work/books:w2", "work/books:w3"}


def test_a_search_in_what_the_token_does_not_open_is_refused(reader: httpx.Client) -> None:
    for query in ("streams[]=films", "connection_id=elsewhere"):
        refused(reader.get(f"/v1/search?q=lantern&{query}"), 403, "grant_stream_not_allowed")


def test_a_search_finds_nothing_outside_the_granted_time_and_keys(library: World) -> None:
    time = library.client(streams=("books",), time=_until("2026-01-03"))
    chosen = library.client(streams=("books",), keys=("w2",))
    assert keys(time, "lantern") == {"b1"}
    assert keys(chosen, "lantern") == {"w2"}


def _until(day: str) -> Interval:
    return Interval(None, instant.parse(day))


def test_a_hit_quotes_one_passage_of_the_body_rather_than_of_another_field(tmp_path: Path) -> None:
    row = book("b", 1, title="kelp", remark="kelp soup", text="all about kelp")
    records = {("only", "books"): [row]}
    with living(planted_store(tmp_path, LIBRARY, {"only": "Only"}, records)) as world:
        (hit,) = world.client().get("/v1/search", params={"q": "kelp"}).json()["data"]
    assert hit["matched_fields"] == ["title", "text", "remark"]
    assert [item["field_path"] for item in hit["evidence_excerpts"]] == ["text"]


@pytest.mark.parametrize("kind", ["semantic", "hybrid"])
def test_search_by_meaning_gives_lexical_hits_and_says_so(reader: httpx.Client, kind: str) -> None:
    meant = reader.get(f"/v1/search/{kind}?q=lantern").json()
    plain = reader.get("/v1/search?q=lantern").json()
    assert meant["data"] == plain["data"]
    assert [item["code"] for item in meant["meta"]["warnings"]] == ["semantic_unavailable"]
    refused(reader.get(f"/v1/search/{kind}?q=."), 400, "invalid_request")


def test_a_cursor_goes_on_with_the_kind_of_search_it_is_of(everything: httpx.Client) -> None:
    asked = {"q": "harbour", "limit": "2"}
    for own, other in (("/v1/search", "/v1/search/hybrid"), ("/v1/search/hybrid", "/v1/search")):
        on = {**asked, "cursor": everything.get(own, params=asked).json()["next_cursor"]}
        assert everything.get(own, params=on).json()["data"]
        refused(everything.get(other, params=on), 400, "invalid_cursor")


@pytest.mark.parametrize("place", AWKWARD.values(), ids=AWKWARD)
def test_any_awkward_text_can_be_searched_for(
    everything: httpx.Client, place: tuple[str, str, str]
) -> None:
    connection_id, stream, key = place
    path = f"/v1/streams/{stream}/records/{key}"
    data = everything.get(path, params={"connection_id": connection_id}).json()["data"]
    for text in (value[:80] for value in data.values() if isinstance(value, str) and value):
        params = {"q": text, "limit": "1", "connection_id": connection_id}
        answer = everything.get("/v1/search", params=params)
        if answer.status_code != 200:
            assert refused(answer, 400, "invalid_request")["param"] == "q"
