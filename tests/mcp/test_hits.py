"""A hit is drawn the same whether its texts were seen to be plain at once or each by itself."""

from hypothesis import example, given
from hypothesis import strategies as st
from tests.evidence.texts import ANY_TEXT

from pdpp.evidence.handle import Handle
from pdpp.evidence.mark import CLOSE, OPEN
from pdpp.mcp.drawing.escaping import label, labels
from pdpp.mcp.drawing.hit import draw, hit_view, shortened
from pdpp.mcp.drawing.structured import glimpse
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.search_answer import HitPassage, ServerHit
from pdpp.mcp.reading.transport import NetworkTransport
from pdpp.wire.verbatim import Verbatim

READER = GrantReader(ResourceClient(NetworkTransport("http://127.0.0.1:1"), "token"), {}, "key")
PART = st.sampled_from(["plain", "a b", 'say "x"', "two\nlines", "tag\U000e0041", "é", "<mark>"])
PIECES = st.lists(st.sampled_from([OPEN, CLOSE, "<", "</ma", "rk>", "a", "bcd", "é "]), max_size=9)


def hit(title: str, key: str, name: str, stream: str, preview: str) -> ServerHit:
    """Return a hit with a passage in the field ``body``."""
    passage = HitPassage("body", preview, (3, 9, 40)) if preview else None
    return ServerHit(
        Handle("cin_n", stream, "m-1"), key, name, title, None, None, ["body"], passage, None, 1.0,
        Verbatim({}), ["kiln"],
    )  # fmt: skip


@given(st.tuples(PART, PART, PART, PART, PART))
@example(("plain", "a b", "plain", "plain", "tag\U000e0041"))
@example(("plain", "a b", "plain", "tag\U000e0041", ""))
def test_a_look_at_all_texts_at_once_tells_what_a_look_at_each_does(
    texts: tuple[str, str, str, str, str],
) -> None:
    seen = hit_view(READER, hit(*texts))
    for view in (seen, shortened(seen, 3), shortened(seen, 0)):
        drawn, looked_at = draw(1, view), draw(1, view._replace(is_plain=False))
        assert drawn[1:] == looked_at[1:]


@given(st.lists(st.none() | PART | ANY_TEXT, max_size=3))
@example(["a ", "b"])
@example(["", "a:b/c:d"])
def test_names_that_are_looked_at_together_stand_as_each_would(parts: list[str | None]) -> None:
    assert labels(*parts) == " · ".join(label(part) for part in parts if part)


@given(PIECES)
def test_a_glimpse_ends_with_the_letters_after_its_mark(pieces: list[str]) -> None:
    preview = f"ab {OPEN}word{CLOSE}{''.join(pieces)}"
    after = "".join(pieces).replace(OPEN, "").replace(CLOSE, "")[:3]
    assert glimpse(preview) == f"ab {OPEN}word{CLOSE}{after}".strip()
