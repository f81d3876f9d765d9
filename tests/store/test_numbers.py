import json
from decimal import Decimal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.numbers import is_doubtful, parsing_problem

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON))
def test_what_is_exact_is_never_refused(value: dict[str, object]) -> None:
    for text in (orjson.dumps(value), json.dumps(value, indent=1).encode()):
        assert parsing_problem(text) is None


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_a_decimal_is_kept_to_the_digit_or_refused(value: Decimal) -> None:
    text = f'{{"x":{value:f}}}'.encode()
    parsed = orjson.loads(text)
    if not (is_doubtful(text, parsed) and parsing_problem(text)):
        assert Decimal(repr(parsed["x"])) == value


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        (b'{"x":9223372036854775807}', True),
        (b'{"x":-9223372036854775808}', True),
        (b'{"x":9223372036854775808}', False),
        (b'{"x":[{"y":123456789012345678901234567890}]}', False),
        (b'{"x":-793.64}', True),
        (b'{"x":0.1000000000000000055}', False),
        (b'{"x":123456789012.345678}', False),
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
