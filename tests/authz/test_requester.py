import pytest

from pdpp.authz.requester import one_line, requester_of
from pdpp.store.vault import RegisteredClient


def client(name: str, client_id: str = "cli_1") -> RegisteredClient:
    return RegisteredClient(client_id, name, (), 0)


def test_a_client_is_shown_by_the_name_it_gave() -> None:
    found = requester_of("cli_1", client("Research Buddy"))
    assert (found.name, found.client_id, found.host) == ("Research Buddy", "cli_1", None)


def test_a_client_that_never_registered_is_shown_by_its_id() -> None:
    assert requester_of("my-agent", None).name == "my-agent"


def test_the_address_of_a_document_proves_its_host() -> None:
    found = requester_of("https://app.example:8443/client.json", client("App"))
    assert found.host == "app.example"
    assert requester_of("http://app.example/client.json", None).host is None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Bank\u202eknaB", "Bank⟨U+202E⟩knaB"),
        ("a\n\n  b\tc", "a b c"),
        ("Helper” (verified) “by", "Helper' (verified) 'by"),
        ("x" * 100, "x" * 60 + "…"),
        ("\u200b", "⟨U+200B⟩"),
    ],
)
def test_a_name_cannot_pretend(name: str, shown: str) -> None:
    assert requester_of("cli_1", client(name)).name == shown


def test_a_short_line_is_kept_as_it_is() -> None:
    assert one_line("Zoë’s notes", 60) == "Zoë’s notes"


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Research Buddy", "RB"),
        ("claude", "C"),
        ("the big brown fox", "TB"),
        ("…", "?"),
        ("日本語 アプリ", "日ア"),
        ("_x_", "X"),
    ],
)
def test_a_monogram_is_the_first_letters(name: str, letters: str) -> None:
    assert requester_of("cli_1", client(name)).monogram == letters


def test_a_client_keeps_its_colour() -> None:
    tones = {requester_of(f"cli_{n}", None).tone for n in range(100)}
    assert tones == set(range(8))
    assert requester_of("cli_1", None).tone == requester_of("cli_1", client("Other")).tone
