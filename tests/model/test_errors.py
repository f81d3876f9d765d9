import inspect
import re

import pytest

from pdpp.model import errors
from pdpp.model.errors import AmbiguousConnection, InvalidDeclaration, NotFound, PdppError

ERRORS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, PdppError) and each is not PdppError
]
TREE = re.compile(r"[├└]── (\w+)(?:\s+(\d{3})(?: (\w+))?)?")


def drawn() -> list[tuple[str, str, str]]:
    return TREE.findall(inspect.getdoc(errors) or "")


def test_the_drawn_tree_names_every_error_once() -> None:
    names = [name for name, _, _ in drawn()]
    assert sorted(names) == sorted(each.__name__ for each in ERRORS)


@pytest.mark.parametrize(("name", "status", "code"), drawn())
def test_the_drawn_tree_tells_the_status_and_the_code(name: str, status: str, code: str) -> None:
    error = vars(errors)[name]
    assert not status or error.status == int(status)
    assert not code or error.code == code


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_answers_with_its_type_code_and_message(error: type[PdppError]) -> None:
    body = error("Do this.").body("req_1")["error"]
    assert body == {
        "type": error.type,
        "code": error.code,
        "message": "Do this.",
        "request_id": "req_1",
    }
    assert 400 <= error.status < 600


def test_codes_are_unique_but_for_the_unnamed_failure() -> None:
    codes = [each.code for each in ERRORS]
    assert len(codes) == len(set(codes))


def test_the_parameter_is_in_the_answer_even_when_it_is_the_whole_document() -> None:
    body = InvalidDeclaration("Write an object.", param="").body("req_1")
    assert body["error"]["param"] == ""


def test_details_are_in_the_answer() -> None:
    error = AmbiguousConnection("Choose one.", retry_with="connection_id", total=2)
    body = error.body("req_1")["error"]
    assert (body["retry_with"], body["total"]) == ("connection_id", 2)


def test_headers_travel_beside_the_answer() -> None:
    error = NotFound("There is none.", headers={"Retry-After": "1"})
    assert error.headers == {"Retry-After": "1"}
    assert "headers" not in error.body("req_1")["error"]


def test_the_text_of_an_error_is_its_message() -> None:
    assert str(NotFound("There is none.")) == "There is none."
