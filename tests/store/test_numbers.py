import json
from decimal import Decimal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.batch import canonical
from pdpp.store.numbers import Inexact, is_doubtful, read_data, read_exactly

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def parsing_problem(text: bytes) -> str | None:
    try:
        read_exactly(text)
    except Inexact as problem:
        return str(problem)
    return None


@given(st.dictionaries(st.text(), JSON))
def test_what_is_exact_is_never_refused(value: dict[str, object]) -> None:
    for text in (orjson.dumps(value), json.dumps(value, indent=1).encode()):
        assert parsing_problem(text) is None


@st.composite
def decimals(draw: st.DrawFn) -> str:
    """Draw a number of 1 to 18 digits as JSON may write it, with trailing zeros and exponents."""
    digits = draw(st.text("0123456789", min_size=1, max_size=18))
    point = draw(st.integers(0, len(digits)))
    whole = digits[:point].lstrip("0") or "0"
    rest = digits[point:] + "0" * draw(st.integers(0, 4))
    exponent = draw(st.none() | st.integers(-280, 280) | st.integers(-5, 5))
    sign = draw(st.sampled_from(["", "-"]))
    fraction = f".{rest}" if rest else ".0" if exponent is None else ""
    return f"{sign}{whole}{fraction}" + ("" if exponent is None else f"e{exponent}")


def meaning(value: object) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(str(value))


@given(decimals())
def test_a_decimal_of_18_digits_is_kept_to_the_digit(number: str) -> None:
    text = f'{{"x":{number},"y":[{{"z":{number}}}]}}'.encode()
    parsed = orjson.loads(text)
    data = read_exactly(text) if is_doubtful(text, parsed) else parsed
    kept = canonical(data)
    again = read_data(kept)
    assert meaning(again["x"]) == meaning(again["y"][0]["z"]) == Decimal(number)
    # What is written is read by others to the same digits, and written again as the same bytes.
    assert json.loads(kept, parse_float=Decimal, parse_int=Decimal)["x"] == Decimal(number)
    assert canonical(again) == canonical(read_exactly(kept)) == kept


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        (b'{"x":9223372036854775807}', True),
        (b'{"x":-9223372036854775808}', True),
        (b'{"x":9223372036854775808}', False),
        (b'{"x":[{"y":123456789012345678901234567890}]}', False),
        (b'{"x":-793.64}', True),
        (b'{"x":0.1000000000000000055}', False),
        (b'{"x":0.100000000000000006}', True),
        (b'{"x":123456789012.345678}', True),
        (b'{"x":1234567890123.456789}', False),
        (b'{"x":1e400}', False),
        (b'{"x":1e-400}', False),
        (b'{"x":1.5e3}', True),
        (b'{"x":1,"x":1}', False),
        (b'{"x":18446744073709551615}', False),
        (b'{"x":{"y":[0,18446744073709551615]}}', False),
        (b'{"x":1.50}', True),
        (b'{"x"\t:1,"x":2}', False),
        (b'{"x"\r\n:1,"x":2}', False),
        (b'{"x" :1,"y":{"z": 1, "z":2}}', False),
        (b'{"x":"\\":\\":","y":[1]}', True),
    ],
)
def test_what_would_be_lost_is_told(text: bytes, exact: bool) -> None:
    try:
        doubtful = is_doubtful(text, orjson.loads(text))
    except orjson.JSONDecodeError:
        doubtful = True  # refused already
    assert (parsing_problem(text) is None) is exact
    assert exact or doubtful
