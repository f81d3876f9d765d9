import pytest

from pdpp.evidence.handle import Handle, complete_handle
from pdpp.model.errors import InvalidRequest

RECORD = Handle("work", "messages", "m-1")


@pytest.mark.parametrize(
    ("id", "connection_id"),
    [
        ("work/messages:m-1", None),
        ("work/messages:m-1", "work"),
        ("messages:m-1", "work"),
        (Handle(None, "messages", "m-1"), "work"),
        (RECORD, None),
    ],
)
def test_a_connection_beside_an_id_is_taken_in(id: str | Handle, connection_id: str | None) -> None:
    assert complete_handle(id, connection_id) == RECORD


def test_an_id_of_an_unknown_connection_stays_so() -> None:
    assert complete_handle("messages:m-1") == Handle(None, "messages", "m-1")


@pytest.mark.parametrize(
    ("id", "connection_id", "told"),
    [
        ("work/messages:m-1", "home", "names connection 'work' and connection_id 'home'"),
        ("messages:m-1", "a/b", "The connection id holds '/'"),
        ("messages:m-1", "..", "is or hides '.' or '..'"),
    ],
)
def test_a_connection_that_differs_or_is_none_is_refused(
    id: str, connection_id: str, told: str
) -> None:
    with pytest.raises(InvalidRequest, match="connection") as caught:
        complete_handle(id, connection_id)
    assert told in caught.value.message
    assert caught.value.param == "connection_id"
