import pytest

from pdpp.evidence.binary import Binary
from pdpp.pages.display import in_words, size


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1 kB"),
        (1_234, "1.23 kB"),
        (45_600_000, "45.6 MB"),
        (9_000_000_000_000, "9 TB"),
    ],
)
def test_a_size_is_written_as_people_write_it(count: int, text: str) -> None:
    assert size(count) == text


def test_what_is_not_shown_is_told() -> None:
    assert in_words(Binary("image/png", 2_000, None)) == "image/png, 2 kB"
    assert in_words(Binary("a\u202eb", None, None)) == "a⟨U+202E⟩b"
