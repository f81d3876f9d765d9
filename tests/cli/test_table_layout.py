"""Grids: columns where there is room for them, cards where there is not."""

from collections.abc import Sequence

import pytest
from rich.cells import cell_len

from pdpp.cli.table_layout import lay_out, shared
from pdpp.cli.terminal import StyledText

HEADINGS = [
    StyledText("stream", "quiet"),
    StyledText("records", "quiet"),
    StyledText("account", "quiet"),
]
ROWS = [
    [
        StyledText("transactions", "title"),
        StyledText("539"),
        StyledText("Banco Azul of the old town"),
    ],
    [StyledText("notes", "title"), StyledText(""), StyledText("青鷺 notebook")],
]


def lines(width: int) -> list[str]:
    return ["".join(span.text for span in line) for line in lay_out([HEADINGS, *ROWS], width)]


def test_columns_stand_below_their_headings() -> None:
    assert lines(80) == [
        "stream        records  account",
        "transactions  539      Banco Azul of the old town",
        "notes                  青鷺 notebook",
    ]


def test_a_cell_that_is_too_wide_is_folded_in_its_column() -> None:
    assert lines(40) == [
        "stream        records  account",
        "transactions  539      Banco Azul of the",
        "                       old town",
        "notes                  青鷺 notebook",
    ]


def test_where_words_would_be_broken_each_row_is_a_card() -> None:
    assert lines(26) == [
        "transactions",
        "  records  539",
        "  account  Banco Azul of",
        "           the old town",
        "notes",
        "  account  青鷺 notebook",
    ]


@pytest.mark.parametrize("width", [20, 26, 33, 40, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert all(cell_len(line) <= width for line in lines(width))


def test_words_stay_whole_as_long_as_another_column_can_be_folded() -> None:
    rows = [
        [StyledText("WHEN"), StyledText("READ"), StyledText("FROM")],
        [
            StyledText("2026-11-15T10:45:08Z"),
            StyledText("looked at what there is"),
            StyledText("Home mail"),
        ],
    ]
    shown = ["".join(span.text for span in line) for line in lay_out(rows, 44)]
    assert shown == [
        "WHEN                  READ         FROM",
        "2026-11-15T10:45:08Z  looked at    Home mail",
        "                      what there",
        "                      is",
    ]


def test_only_a_very_long_word_is_broken() -> None:
    rows = [
        [StyledText("KEY"), StyledText("VALUE")],
        [StyledText("a"), StyledText("0123456789" * 4)],
    ]
    shown = ["".join(span.text for span in line) for line in lay_out(rows, 25)]
    assert shown == ["KEY  VALUE", "a    " + "0123456789" * 2, "     " + "0123456789" * 2]


@pytest.mark.parametrize(
    ("widths", "floors", "width", "rooms"),
    [
        ((3, 4), (1, 1), 20, [3, 4]),
        ((10, 4), (1, 1), 12, [6, 4]),
        ((10, 4), (8, 1), 12, [8, 2]),
        ((10, 9, 2), (1, 1, 1), 15, [4, 5, 2]),
        ((5, 5), (4, 5), 2, [4, 5]),
    ],
)
def test_the_widest_columns_give_up_what_is_missing(
    widths: Sequence[int], floors: Sequence[int], width: int, rooms: list[int]
) -> None:
    assert shared(widths, floors, width) == rooms
