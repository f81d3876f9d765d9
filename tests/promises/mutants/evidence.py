"""Breaks of what is shown: text that is not the stored text, halves that lack, lines that act."""

# ruff: noqa: ARG005 - a stand-in takes whatever the real thing takes

from typing import Any

from tests.promises.mutants.mutant import Mutant

TRUE = "Shown text is stored text."
HANDLES = "Every shown handle is callable"
HALVES = "Both halves of an MCP result are complete by themselves."
BOUNDED = "Bounded always."
INERT = "Record text never acts."
TERMINAL = "Record text commands no terminal"
SAME = "REST, MCP and the program show the same evidence"

_WINDOW = "tests/promises/test_window_truth.py"
_CLOSURE = "tests/mcp/test_closure.py"
_JOURNEYS = "tests/mcp/test_journeys.py"
_BOUNDS = "tests/mcp/test_bounds.py"
_INJECTION = "tests/attacks/test_injection.py"
_HIT = "test_what_is_shown_leads_on_for_two_steps[search-arguments7-grant]"


def _shifted(real: Any) -> Any:
    def slice_window(text: str, *more: int) -> Any:
        window = real(text, *more)
        return window._replace(text=text[window.start_chars + 1 : window.end_chars + 1])

    return slice_window


def _by_code_units(real: Any) -> Any:
    def slice_window(text: str, *more: int) -> Any:
        window = real(text, *more)
        units = text.encode("utf-16-le", "surrogatepass")
        return window._replace(total_chars=len(units) // 2)

    return slice_window


def _unaccented(real: Any) -> Any:
    import unicodedata

    return lambda text: real(unicodedata.normalize("NFC", text))


def _other_field(real: Any) -> Any:
    def read(id: str, evidence: Any) -> Any:
        call = real(id, evidence)
        return call._replace(arguments={**call.arguments, "field_path": "nothing"})

    return read


def _one_further(real: Any) -> Any:
    def read(id: str, evidence: Any) -> Any:
        call = real(id, evidence)
        further = call.arguments.get("offset_chars", 0) + 1
        return call._replace(arguments={**call.arguments, "offset_chars": further})

    return read


_BARE_QUOTE = ("pdpp.mcp.drawing.text:quote", lambda real: lambda text, **_: f'"{text}"')
_BARE_TEXT = ("pdpp.cli.reading.printer:visible", lambda real: lambda text, **_: text)

MUTANTS = (
    Mutant(
        TRUE,
        "begins a window one character late",
        (("pdpp.evidence.window:slice_window", _shifted),),
        (f"{_WINDOW}::test_a_window_is_exactly_the_slice_of_the_stored_field",),
    ),
    Mutant(
        TRUE,
        "counts code units where it says characters",
        (("pdpp.evidence.window:slice_window", _by_code_units),),
        (f"{_WINDOW}::test_a_window_is_exactly_the_slice_of_the_stored_field",),
    ),
    Mutant(
        TRUE,
        "gives texts that only look alike one digest",
        (("pdpp.resource.window:digest", _unaccented),),
        (f"{_WINDOW}::test_the_digest_tells_one_text_from_another_that_looks_the_same",),
    ),
    Mutant(
        HANDLES,
        "offers a read of a field that is not there",
        (("pdpp.mcp.drawing.hit:_read", _other_field),),
        (f"{_CLOSURE}::{_HIT}",),
    ),
    Mutant(
        HANDLES,
        "takes what one grant was shown under another",
        (
            (
                "pdpp.service.cursor:Signer._bound",
                lambda real: lambda signer, kind, binding: real(signer, kind, ()),
            ),
        ),
        (f"{_CLOSURE}::test_a_cursor_of_one_grant_is_refused_under_another_of_the_same_reach",),
    ),
    Mutant(
        HALVES,
        "leaves the way on out of the text half",
        (("pdpp.mcp.drawing.escaping:call_line", lambda real: lambda call, **_: call.what),),
        (
            f"{_JOURNEYS}::test_search_results_are_paged_to_the_end_each_hit_once"
            "[content-http-modern]",
        ),
    ),
    Mutant(
        HALVES,
        "leaves the way on out of the structured half",
        (("pdpp.mcp.drawing.structured:_calls", lambda real: lambda calls: {}),),
        (
            f"{_JOURNEYS}::test_search_results_are_paged_to_the_end_each_hit_once"
            "[structured-http-legacy]",
        ),
    ),
    Mutant(
        BOUNDED,
        "lets a page of hits grow",
        (
            ("pdpp.mcp.tools.search:MOST_SEARCH_TEXT", lambda real: real * 10),
            ("pdpp.mcp.tools.search:MOST_SEARCH_STRUCTURED", lambda real: real * 10),
        ),
        (f"{_BOUNDS}::test_every_hit_is_shown_once_however_small_the_pages_must_be",),
    ),
    Mutant(
        BOUNDED,
        "never asks anyone to wait",
        (("pdpp.service.rate_limit:RateLimiter.take", lambda real: lambda buckets, token: None),),
        ("tests/resource/test_limits.py::test_a_token_that_asks_too_often_is_told_when_to_retry",),
    ),
    Mutant(
        INERT,
        "quotes a text without closing its own quotes",
        (_BARE_QUOTE,),
        (f"{_INJECTION}::test_search_shows_hostile_text_as_text",),
    ),
    Mutant(
        INERT,
        "shows a field without its fence",
        (("pdpp.mcp.drawing.text:fence", lambda real: lambda text: text),),
        (f"{_INJECTION}::test_one_field_is_exact_in_one_half_and_fenced_in_the_other",),
    ),
    Mutant(
        TERMINAL,
        "prints the characters that steer a terminal",
        (_BARE_TEXT,),
        ("tests/cli/reading/test_terminal.py::test_nor_does_it_in_a_pipe_that_ends_in_one",),
    ),
    Mutant(
        SAME,
        "sends an agent one character further than a person",
        (("pdpp.mcp.drawing.hit:_read", _one_further),),
        ("tests/cli/reading/test_parity.py::test_a_hit_is_read_on_from_the_same_place",),
    ),
)
