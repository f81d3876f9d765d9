"""Words of HTML pages, also of pages that were made to fill the memory."""

import pytest
from tests.yardstick import computing_at_most

from pdpp.sources.reading.flat_html import is_costly
from pdpp.sources.reading.html import html_text

_OPEN = "".join(f"<b a={number}>" for number in range(2_000))


def test_a_page_has_a_line_for_each_block_and_no_scripts() -> None:
    page = "<head><title>t</title></head><p>One <b>two</b></p><script>x</script><ul><li>three</ul>"

    assert html_text(page) == "One two\n\n- three"


def test_lists_in_lists_are_indented_and_numbered_ones_keep_their_numbers() -> None:
    page = (
        "<p>Before</p><ul><li>Hull\n <ol start='3'>\n <li><p>sand</p><li>paint<ul><li><p>red</p>"
        "</ul></ol> twice</li><li>Rig</li><ul><li>jib</ul></ul><p>After</p>\x02x<li>loose"
    )

    assert html_text(page).split("\n") == [
        *("Before", "", "- Hull", "  3. sand", "  4. paint", "    - red", "twice"),
        *("- Rig", "  - jib", "After", "  x", "- loose"),
    ]


def test_a_text_that_a_key_is_made_of_has_its_lists_as_ever() -> None:
    page = "<ol><li>Hull<ul><li>sand</ul><li>Rig</ol>"
    assert html_text(page, levels=False).split("\n") == ["- Hull", "", "- sand", "- Rig"]
    assert html_text(page).split("\n") == ["1. Hull", "  - sand", "2. Rig"]


@pytest.mark.parametrize(
    "page",
    [
        f"<p>{_OPEN}</p>" + "<p>word" * 20_000,
        f"<div>{_OPEN}</div>" + "<p>word" * 20_000,
        "".join(f"<b a={number}><table></b></table>" for number in range(2_000))
        + "<p>word" * 20_000,
        "".join(f"<p><a b={number}><div></a></p>" for number in range(2_000)) + "<p>word" * 20_000,
        "<div>" * 200_000 + "word",
        "<ul><li>" * 100_000 + "word",
        "<!--" * 100_000 + "--><p>word" + "<div>" * 5_000,
        "<div>" * 5_000 + "word" + "<b " * 200_000,
        "<b " + " ".join(f"a{number}" for number in range(100_000)) + ">word",
        "word" + "<br>" * 600_000,
        "<x><table>" + "<div>" * 250 + "</x>" * 300_000 + "word",
        "<select>" + "<option>word" * 100_000,
    ],
    ids=[
        *("bold", "closed around", "in tables", "links", "deep", "lists", "comments"),
        *("open marks", "attributes", "marks", "closed again", "options"),
    ],
)
def test_a_page_that_would_fill_the_memory_keeps_its_words(page: str) -> None:
    with computing_at_most(5):
        assert "word" in html_text(page)


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td><p><font color=red><b>Offer</b></font><br><a href=x>Buy</a></td></table>"
        * 9_000,
        "<ul>" + "<li>One <i>two</i><p>Three" * 9_000,
        "<div><span>x</span></div>" * 9_000,
    ],
    ids=["newsletter", "list", "blocks"],
)
def test_a_long_page_as_people_write_it_is_read_as_a_tree(page: str) -> None:
    assert not is_costly(page)


def test_a_page_without_a_tree_has_lines_and_no_scripts_too() -> None:
    page = (
        "<style>s</style>" + "<div>" * 300 + "One &amp; <b>two</b><p>three<script><p>four</script>"
    )

    assert html_text(page + "<br>" * 2_000) == "One & two\nthree"
