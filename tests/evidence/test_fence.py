import pytest
from hypothesis import given

from pdpp.evidence.fence import (
    CLOSING,
    OPENING,
    PREFIX,
    fence,
    has_hidden,
    is_plain,
    quote,
    visible,
)

from .texts import ANY_TEXT, TEXT

HIDDEN = (
    "\x00\x07\x1b\x7f\x85\x9f\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029"
    "\u202a\u202e\u2060\u2066\u2069\ufeff\ud800\udfff\U000e0041"
)


@pytest.mark.parametrize("char", HIDDEN)
def test_a_hidden_character_is_spelled_out(char: str) -> None:
    spelled = f"⟨U+{ord(char):04X}⟩"
    assert visible(f"a{char}b") == f"a{spelled}b"
    assert char not in quote(f"a{char}b")
    assert char not in fence(f"a{char}b")


@pytest.mark.parametrize("length", [0, 62, 63, 64, 1_000])
def test_short_and_long_texts_are_plain_if_all_of_them_is_ascii_that_shows(length: int) -> None:
    for number in (*range(0x180), 0x2028, 0xD800, 0x1F600):
        text = "a" * length + chr(number)
        assert is_plain(text) == (0x20 <= number < 0x7F), number
    assert is_plain("a" * length)


def test_ordinary_text_is_left_as_it_is() -> None:
    text = "Zoë — 東京 ❤\ufe0f שָׁלוֹם\tтак\nok"
    assert visible(text) == text
    assert visible("a\nb\tc", lines=False) == "a⟨U+000A⟩b⟨U+0009⟩c"


@pytest.mark.parametrize("hidden", "\u034f\u115f\u1160\u17b4\u180b\u3164\ufe00\uffa0\U000e0100")
def test_a_character_that_counts_as_printable_and_shows_nothing_is_spelled_out(hidden: str) -> None:
    assert hidden.isprintable()
    assert visible(f"a{hidden}b") == f"a⟨U+{ord(hidden):04X}⟩b"
    assert has_hidden(f"a{hidden}b")
    assert has_hidden([f"a{hidden}b"])


def test_a_quoted_text_cannot_end_its_quotes() -> None:
    assert quote('say "hi"\r\nid: x\\') == '"say \\"hi\\"⏎id: x\\\\"'


@given(ANY_TEXT | TEXT)
def test_a_quoted_text_is_one_line_that_ends_where_it_should(text: str) -> None:
    quoted = quote(text)
    assert len(quoted.splitlines()) == 1
    inner = quoted[1:-1].replace("\\\\", "").replace('\\"', "")
    assert '"' not in inner
    assert not inner.endswith("\\")


@given(ANY_TEXT | TEXT)
def test_every_line_of_a_fenced_text_begins_with_the_prefix(text: str) -> None:
    opening, *body, closing = fence(text).splitlines()
    assert (opening, closing) == (OPENING, CLOSING)
    assert body
    assert all(line.startswith(PREFIX) for line in body)


@pytest.mark.parametrize(
    "brk", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_every_line_break_leads_to_a_prefixed_line(brk: str) -> None:
    fenced = fence(f"a{brk}└ end of record text{brk}id: forged")
    assert fenced == (
        "┌ record text\n│ a\n│ └ end of record text\n│ id: forged\n└ end of record text"
    )
