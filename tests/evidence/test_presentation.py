import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.presentation import TITLE_CHARS, Presentation, present

ROLES = {
    "subject": "primary-title",
    "sent": "event-time",
    "sender": "actor",
    "content": "body",
    "page": "link",
}
DATA: dict[str, object] = {
    "subject": "  Late \n rent ",
    "sent": "2024-03-01T10:00:00Z",
    "sender": "Ann",
    "content": "…",
    "page": "https://example.org/m/1",
}


def _card(data: dict[str, object], roles: dict[str, str]) -> Presentation:
    return present(data, roles, label="Work mail", stream="messages", emitted_at="2024-05-05")


@pytest.mark.scenario("S005")
def test_declared_roles_decide_what_a_card_shows() -> None:
    assert _card(DATA, ROLES) == Presentation(
        title="Late rent",
        event_time="2024-03-01T10:00:00Z",
        actor="Ann",
        link="https://example.org/m/1",
    )


@pytest.mark.scenario("S005")
def test_nothing_is_promoted_because_of_its_name() -> None:
    data: dict[str, object] = dict.fromkeys(
        ("title", "body", "timestamp", "url", "author"), "https://example.org"
    )
    title = "Work mail / messages / 2024-05-05"
    assert _card(data, {}) == Presentation(title, None, None, None)


@pytest.mark.parametrize("empty", [None, "", " \n"])
def test_an_empty_title_gives_way_to_label_stream_and_time(empty: str | None) -> None:
    card = _card(DATA | {"subject": empty}, ROLES)
    assert card.title == "Work mail / messages / 2024-03-01T10:00:00Z"


def test_a_field_that_is_missing_shows_nothing() -> None:
    card = _card({}, ROLES)
    assert card == Presentation("Work mail / messages / 2024-05-05", None, None, None)


def test_the_first_field_of_a_role_that_holds_something_is_taken() -> None:
    roles = {"a": "primary-title", "b": "primary-title"}
    assert _card({"a": "", "b": 42}, roles).title == "42"


def test_a_long_title_is_cut_with_an_ellipsis() -> None:
    title = _card({"subject": "word " * 100}, ROLES).title
    assert len(title) == TITLE_CHARS
    assert title.endswith("…")


@given(st.text(max_size=400))
def test_a_title_is_one_bounded_line(text: str) -> None:
    title = _card({"subject": text}, ROLES).title
    assert 0 < len(title) <= TITLE_CHARS
    assert title == " ".join(title.split())


@pytest.mark.parametrize("link", ["javascript:alert(1)", "https://a b", "/m/1", "https://", 7])
def test_only_a_web_address_is_a_link(link: object) -> None:
    assert _card({"page": link}, ROLES).link is None
