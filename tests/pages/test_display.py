from pdpp.evidence.binary import Binary
from pdpp.pages.display import in_words


def test_what_is_not_shown_is_told() -> None:
    assert in_words(Binary("image/png", 2_000, None)) == "image/png, 2.0 kB"
    assert in_words(Binary("a\u202eb", None, None)) == "a⟨U+202E⟩b"
