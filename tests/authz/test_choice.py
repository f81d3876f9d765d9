import pytest

from pdpp.authz.choice import ConsentChoice, LookBack, Term
from pdpp.model.grant import Interval
from pdpp.model.instant import DAY

NOON = 20_000 * DAY + DAY // 2


@pytest.mark.parametrize(
    ("term", "days"),
    [(Term.DAY, 1), (Term.WEEK, 7), (Term.MONTH, 30), (Term.QUARTER, 90), (Term.YEAR, 365)],
)
def test_a_term_is_counted_from_its_start(term: Term, days: int) -> None:
    assert term.end(NOON) == NOON + days * DAY


def test_only_one_term_never_ends() -> None:
    assert [term for term in Term if term.end(NOON) is None] == [Term.ALWAYS]


@pytest.mark.parametrize(
    ("span", "days"), [(LookBack.MONTH, 30), (LookBack.QUARTER, 90), (LookBack.YEAR, 365)]
)
def test_a_span_begins_with_a_day_and_stays_open(span: LookBack, days: int) -> None:
    assert span.interval(NOON) == Interval((20_000 - days) * DAY, None)


def test_the_other_spans_set_no_limit_of_their_own() -> None:
    assert [span for span in LookBack if span.interval(NOON) is None] == [
        LookBack.EVERYTHING,
        LookBack.DATES,
    ]


def test_a_choice_is_of_nothing_until_something_is_ticked() -> None:
    assert not ConsentChoice().connections
    assert not ConsentChoice().streams
    assert ConsentChoice().term is Term.MONTH
