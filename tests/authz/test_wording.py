from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.authz.asking import asked_world, detail, review
from tests.store.world import World

from pdpp.authz.choice import FeedKey
from pdpp.authz.grant_draft import GrantDraft, from_details
from pdpp.authz.requester import Requester
from pdpp.authz.wording import (
    StreamWords,
    Wording,
    accounts_of,
    asker,
    date,
    day,
    destination,
    identity,
    interval,
    is_training,
    records,
    word,
)
from pdpp.model import instant
from pdpp.model.grant import Allowance, Interval

HELPER = Requester("Helper", "cli_1")
HOME, WORK = ("home", "messages"), ("work", "messages")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with asked_world(Path(tmp_path_factory.mktemp("data"))) as made:
        yield made


def draft(world: World, *details: dict[str, Any]) -> GrantDraft:
    return from_details(review(*details), world.store.catalogue())


def said(world: World, made: GrantDraft, counts: Mapping[FeedKey, int] | None = None) -> Wording:
    return word(made, HELPER, "https://a.example/cb", world.store.catalogue(), counts)


def at(text: str) -> int:
    moment = instant.parse(text)
    assert moment is not None
    return moment


# Small words


@pytest.mark.parametrize(
    ("count", "text"), [(0, "no records"), (1, "1 record"), (12_345, "12,345 records")]
)
def test_records_are_counted_as_people_do(count: int, text: str) -> None:
    assert records(count) == text


def test_a_moment_is_a_date_in_words() -> None:
    assert day(at("2026-11-05")) == "5 November 2026"
    assert day(at("2026-01-31T08:05:30Z")) == "31 January 2026, 08:05 UTC"
    assert date(at("2026-01-31T08:05:30Z")) == "31 January 2026"


@pytest.mark.parametrize(
    ("since", "until", "text"),
    [
        ("2026-01-01", None, "from 1 January 2026 on"),
        (None, "2026-02-01", "up to and including 31 January 2026"),
        ("2025-01-01", "2026-01-01", "from 1 January 2025 up to and including 31 December 2025"),
        (None, "2026-02-01T12:00:00Z", "until 1 February 2026, 12:00 UTC"),
    ],
)
def test_a_stretch_of_time_names_its_last_day(
    since: str | None, until: str | None, text: str
) -> None:
    bounds = (None if bound is None else at(bound) for bound in (since, until))
    assert interval(Interval(*bounds)) == text


@pytest.mark.parametrize(
    ("code", "training"),
    [
        ("https://pdpp.dev/purpose/ai_training", True),
        ("ai-training", True),
        ("AITraining", True),
        ("AI_TRAINING", True),
        ("model.fine-tuning", True),
        ("https://pdpp.dev/purpose/assistant", False),
        ("restraining", False),
        ("constrained", False),
        ("", False),
        (None, False),
    ],
)
def test_training_is_recognised_however_it_is_spelled(code: str | None, training: bool) -> None:
    assert is_training(code) is training


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        (None, "the device that showed you the code"),
        ("https://claude.ai/cb", "goes to claude.ai."),
        ("http://127.0.0.1:33418/cb", "the computer you are using (127.0.0.1:33418)"),
        ("http://[::1]:7/cb", "the computer you are using ([::1]:7)"),
        ("http://localhost:9/cb", "the computer you are using (localhost:9)"),
        ("com.example.app:/cb", "the app that opens com.example.app: links"),
    ],
)
def test_where_the_answer_goes_is_told(uri: str | None, told: str) -> None:
    assert told in destination(uri)


def test_nobody_is_verified_but_a_host_can_be_proven() -> None:
    assert "Nobody has checked" in identity(HELPER, None)
    hosted = replace(HELPER, host="app.example")
    assert "app.example confirms it" in identity(hosted, "https://app.example/cb")
    for uri in ("http://127.0.0.1:7/cb", "http://localhost:7/cb", "https://other.example/cb", None):
        assert "confirms" not in identity(hosted, uri)
        assert "any program can do" in identity(hosted, uri)


@pytest.mark.parametrize(
    ("uri", "headline"),
    [
        (None, "A device with a code"),
        ("http://127.0.0.1:33418/cb", "A program on this computer"),
        ("http://[::1]:7/cb", "A program on this computer"),
        ("https://claude.ai/cb", "claude.ai"),
        ("com.example.app:/cb", "An app on this device"),
    ],
)
def test_the_headline_is_where_the_answer_goes_and_never_the_clients_word(
    uri: str | None, headline: str
) -> None:
    assert asker(uri) == headline


@pytest.mark.parametrize(
    ("count", "in_all", "limited", "amount"),
    [
        (30, 200_832, True, "30 of 200,832 records now"),
        (401, 401, True, "401 records now"),
        (0, 200_832, True, "nothing in this period"),
        (0, 0, False, "no records now"),
        (1, None, False, "1 record now"),
        (None, 5, False, ""),
    ],
)
def test_how_much_a_choice_opens_is_told_beside_how_much_there_is(
    count: int | None, in_all: int | None, limited: bool, amount: str
) -> None:
    words = StreamWords(("c", "s"), "", "", "", "", "", "", count, in_all, limited)
    assert words.amount == amount


# The whole


def test_who_asks_and_what_for_is_attributed(world: World) -> None:
    told = said(world, draft(world, detail(purpose_code="help", purpose_description='Find "it"')))
    assert told.title == "a.example wants to read your data"
    assert told.purpose == "“Helper” says what for: “Find 'it'” (help)"
    assert said(world, draft(world, detail())).purpose == "“Helper” did not say what for."


def test_what_is_enforced_is_told_by_the_names_the_owner_knows(world: World) -> None:
    wish = {"name": "messages", "view": "brief", "time_range": {"since": "2026-01-01"}}
    told = said(world, draft(world, detail(wish)), {HOME: 3, WORK: 1_200})
    assert told.total == "2 accounts, 1 kind of record, 1,203 records now"
    home, work = told.accounts
    assert (home.name, home.source) == ("Home", "Mail")
    (letters,) = work.streams
    assert (letters.label, letters.detail) == ("Letters", "What was written")
    assert letters.lines == ["2 of 11 fields", "from 1 January 2026 on", "1,200 records now"]
    assert letters.names == "id, subject"


def test_a_stream_without_dates_or_a_label_is_told_plainly(world: World) -> None:
    told = said(world, draft(world, detail({"name": "labels", "connection_ids": ["home"]})))
    (labels,) = told.accounts[0].streams
    assert labels.label == "labels"
    assert labels.lines == ["all 2 fields", "without dates, so from any time"]
    assert told.total == "1 account, 1 kind of record"


def test_records_by_name_are_counted(world: World) -> None:
    told = said(world, draft(world, detail({"name": "messages", "resources": ["a", "b"]})))
    assert told.accounts[0].streams[0].lines[1:] == ["from any time", "only 2 records by name"]


def test_promises_are_attributed_and_put_in_words(world: World) -> None:
    claims = {
        "retention": {"max_duration": "P30D", "at_least": "P1Y", "on_expiry": "delete"},
        "client_claims": {"sells_data": False, "safe": True, "copies": 2},
    }
    told = said(world, draft(world, detail(**claims)))
    assert told.promiser == "“Helper” says, and this server cannot check it:"
    assert told.promises == (
        "retention, max duration: “30 days”",
        "retention, at least: “1 year”",
        "retention, on expiry: “delete”",
        "client claims, sells data: “no”",
        "client claims, safe: “yes”",
        "client claims, copies: “2”",
    )
    (plain,) = said(world, draft(world, detail(retention="a\u202eb"))).promises
    assert plain == "retention: “a⟨U+202E⟩b”"


def test_how_long_is_told(world: World) -> None:
    made = draft(world, detail())
    assert said(world, made).lasting == "Until 31 March 2026, unless you revoke it before."
    assert "does not end" in said(world, replace(made, expires_at=None)).lasting
    single = draft(world, detail(access_mode="single_use"))
    assert said(world, single).lasting.startswith("Once:")


def test_training_is_told_apart(world: World) -> None:
    made = draft(world, detail(purpose_code="ai_training"))
    assert "train AI models" in (said(world, made).training or "")
    assert said(world, draft(world, detail())).training is None


# When the sum is broad


NARROW = {"name": "messages", "view": "brief", "time_range": {"since": "2026-01-01"}}


def test_a_narrow_request_is_not_warned_about(world: World) -> None:
    assert said(world, draft(world, detail(NARROW)), {HOME: 10, WORK: 20}).warnings == ()


def test_one_broad_side_alone_is_no_reason_to_warn(world: World) -> None:
    assert said(world, draft(world, detail(NARROW)), {HOME: 10_000, WORK: 0}).warnings == ()


def test_what_is_broad_in_more_than_one_way_is_warned_about(world: World) -> None:
    both = draft(world, detail(), detail({"name": "notes"}, source="notes"))
    told = said(world, replace(both, expires_at=None), {HOME: 9_999, WORK: 1})
    assert told.warnings == (
        "It covers 3 of your accounts.",
        "It opens 10,000 records.",
        "It shows every field.",
        "It reaches back without any limit in time.",
        "It never ends by itself.",
    )


@pytest.mark.parametrize(
    ("wish", "timeless"),
    [
        ({"name": "messages"}, True),
        ({"name": "messages", "time_range": {"until": "2026-01-01"}}, True),
        ({"name": "messages", "time_range": {"since": "2026-01-01"}}, False),
        ({"name": "messages", "resources": ["a"]}, False),
        ({"name": "labels"}, False),
    ],
)
def test_only_dated_streams_reach_back_without_limit(
    world: World, wish: dict[str, Any], timeless: bool
) -> None:
    made = replace(draft(world, detail(wish)), expires_at=None)
    warned = "It reaches back without any limit in time." in said(world, made).warnings
    assert warned is timeless


# What is kept


def test_the_kept_text_holds_every_sentence(world: World) -> None:
    made = replace(
        draft(
            world,
            detail(purpose_code="ai_training", purpose_description="Learn", retention="a day"),
        ),
        expires_at=None,
    )
    told = said(world, made, {HOME: 1, WORK: 2})
    lines = told.text.splitlines()
    assert told.training is not None
    for sentence in (
        told.title,
        told.identity,
        told.destination,
        told.purpose,
        told.training,
        told.promiser,
        *told.promises,
        *told.warnings,
    ):
        assert sentence in [line.strip() for line in lines]
    assert f"What it may read, which this server enforces: {told.total}" in lines
    assert "Home (Mail)" in lines
    assert "  Letters: all 11 fields, from any time, 1 record now" in lines
    assert any(line.startswith("    id, subject, body") for line in lines)
    assert f"How long: {told.lasting}" in lines


def test_a_text_without_promises_and_warnings_says_nothing_of_them(world: World) -> None:
    text = said(world, draft(world, detail(NARROW))).text
    assert "This is broad" not in text
    assert "says, and this server" not in text


def test_an_account_that_is_gone_is_told_by_its_id(world: World) -> None:
    revision = world.store.catalogue().sources["mail"].revision
    gone = Allowance("old", "messages", revision, ("id",), whole=False)
    (account,) = accounts_of([gone], world.store.catalogue(), {})
    assert (account.name, account.source) == ("old", "")


def test_an_account_is_told_once_however_its_streams_are_listed(world: World) -> None:
    revision = world.store.catalogue().sources["mail"].revision
    scattered = [
        Allowance(account, stream, revision, ("id",), whole=False)
        for account, stream in (("work", "messages"), ("home", "messages"), ("work", "labels"))
    ]
    told = list(accounts_of(scattered, world.store.catalogue(), {}))
    assert [account.name for account in told] == ["Home", "Work"]
    assert [len(account.streams) for account in told] == [1, 2]
