"""Questions of the tests, asked on one day."""

from datetime import date

from pdpp.evidence.language.question import Question, parse_question

TODAY = date(2026, 3, 1)


def ask(q: str, *, everything: bool = False) -> Question:
    """Return a question as it is asked in the tests."""
    return parse_question(q, TODAY, everything=everything)
