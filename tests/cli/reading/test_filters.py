"""What a person types as a filter, and what it means."""

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.cli.reading.filters import filters_of

NAMES = st.text(alphabet="abcdefgh_", min_size=1, max_size=8)
VALUES = st.text(max_size=20).filter(lambda text: text == text.strip() and not text.startswith("="))


@pytest.mark.parametrize(
    ("texts", "meaning"),
    [
        ([], {}),
        (["status=open"], {"status": "open"}),
        (["status = open"], {"status": "open"}),
        (["sent_at>=2026-01-01"], {"sent_at": {"gte": "2026-01-01"}}),
        (["n>1", "n<=5"], {"n": {"gt": "1", "lte": "5"}}),
        (["n<5"], {"n": {"lt": "5"}}),
        (["text=a=b>c"], {"text": "a=b>c"}),
        (["text="], {"text": ""}),
        (['{"a": true, "b": {"gte": 1.5}}'], {"a": True, "b": {"gte": 1.5}}),
        (['{"n": {"gte": 1}}', "n<5"], {"n": {"gte": 1, "lt": "5"}}),
    ],
)
def test_a_comparison_means_what_it_says(texts: list[str], meaning: dict[str, Any]) -> None:
    with click.Context(click.Command("x")):
        assert filters_of(texts) == meaning


@given(NAMES, st.sampled_from([("=", None), (">=", "gte"), (">", "gt"), ("<", "lt")]), VALUES)
def test_any_value_comes_through_as_it_was_typed(
    name: str, operator: tuple[str, str | None], value: str
) -> None:
    sign, word = operator
    with click.Context(click.Command("x")):
        [(field, wanted)] = filters_of([f"{name}{sign}{value}"]).items()
    assert field == name
    assert wanted == (value if word is None else {word: value})
