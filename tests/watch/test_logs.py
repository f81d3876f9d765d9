import io
import json
import logging
from collections.abc import Iterator

import pytest

from pdpp.authz.short_lived import SecretKind, new_secret
from pdpp.watch.logs import LogOptions, configure_logging

log = logging.getLogger("pdpp.test")
SECRET = "pdpp_owner_" + "a1B2" * 10


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _usual_logging() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    for name in ("pdpp.access", "uvicorn", "asyncio"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def journal(choice: LogOptions, stream: io.StringIO | None = None) -> io.StringIO:
    target = stream or io.StringIO()
    configure_logging(choice, target)
    return target


def test_an_entry_is_one_json_object_on_one_line() -> None:
    written = journal(LogOptions(form="json"))
    log.warning("a line\nthat %s", "breaks", extra={"members": {"status": 200}})
    [line] = written.getvalue().splitlines()
    entry = json.loads(line)
    assert entry.pop("time").endswith("Z")
    assert entry == {
        "level": "warning",
        "logger": "pdpp.test",
        "message": "a line\nthat breaks",
        "status": 200,
    }


def test_an_entry_in_json_steers_no_terminal_and_keeps_what_it_tells() -> None:
    written, name = (
        journal(LogOptions(form="json")),
        "\x9b2J \u202e \u2028 \x7f \ud800 \U000e0041 é",
    )
    log.warning("client %s", name)
    [line] = written.getvalue().splitlines()
    assert line.encode().decode().isprintable()
    assert "é" in line
    assert json.loads(line)["message"] == f"client {name}"


def test_an_entry_of_text_cannot_be_forged_by_what_it_tells() -> None:
    written = journal(LogOptions(form="text"))
    log.warning(
        "client %s", "x\n2026-01-01 ERROR forged\x1b[2J", extra={"members": {"status": 200}}
    )
    [line] = written.getvalue().splitlines()
    assert "WARNING pdpp.test: client x⟨U+000A⟩2026-01-01" in line
    assert "\x1b" not in line
    assert line.endswith(" status=200")


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_failure_is_told_with_its_trace_and_without_a_token(form: str) -> None:
    written = journal(LogOptions(form=form))
    try:
        raise ValueError(f"bad header Bearer {SECRET}")
    except ValueError:
        log.exception("request failed for %s", SECRET)
    told = written.getvalue()
    assert "ValueError: bad header" in told
    assert "test_a_failure_is_told" in told
    assert "pdpp_owner_…" in told
    assert SECRET not in told
    assert form == "text" or len(told.splitlines()) == 1


TYPED = {SecretKind.USER_CODE, SecretKind.LOGIN_CODE}
"""What a person types in: too short to be told from any other word."""

PUBLIC = {SecretKind.CHALLENGE}
"""What every visitor of a page is given: it opens nothing without the passkey that signs it."""


@pytest.mark.parametrize("kind", sorted(set(SecretKind) - TYPED - PUBLIC))
def test_what_lives_for_minutes_is_not_told_either(kind: SecretKind) -> None:
    written = journal(LogOptions())
    secret, _ = new_secret(kind, {}, 0, 1)
    log.warning("no %s here, but a code_challenge_method and %s", secret, "dev_" + "a" * 44)
    assert secret not in written.getvalue()
    assert "a code_challenge_method and dev_aaa" in written.getvalue()


@pytest.mark.parametrize(("terminal", "form"), [(True, "text"), (False, "json")])
def test_unless_chosen_a_terminal_gets_text_and_anything_else_json(
    terminal: bool, form: str
) -> None:
    written = journal(LogOptions(), Terminal() if terminal else io.StringIO())
    log.warning("hello")
    assert written.getvalue().startswith("{") is (form == "json")


def test_only_what_matters_enough_is_logged() -> None:
    written = journal(LogOptions("warning", "text"))
    log.info("quiet")
    logging.getLogger("pdpp.access").info("request")
    assert written.getvalue() == ""
    written = journal(LogOptions("info", "text"))
    log.info("loud")
    logging.getLogger("uvicorn.error").info("Started server process")
    assert written.getvalue().endswith("INFO pdpp.test: loud\n")


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_requests_are_logged_where_that_is_chosen_whatever_the_level(level: str) -> None:
    written = journal(LogOptions(level, "text", access=True))
    logging.getLogger("pdpp.access").info("request", extra={"members": {"route": "/v1/search"}})
    assert written.getvalue().endswith("INFO pdpp.access: request route=/v1/search\n")
