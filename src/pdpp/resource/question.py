"""Questions of requests, each parsed where nobody waits for it."""

from datetime import date

from pdpp.evidence.language.question import Question, parse_question
from pdpp.service.runner import leave_loop

_LONG = 200
"""Characters of a question from which on it is parsed in a thread. Of 2,000 letters of Chinese or
Korean each is a word and half of another one: to parse them takes 150 ms."""


def asked_question(text: str, today: date, *, everything: bool = False) -> Question:
    """Return the question that a text asks on a day of the caller's calendar."""
    leave_loop(len(text), _LONG)
    return parse_question(text, today, everything=everything)
