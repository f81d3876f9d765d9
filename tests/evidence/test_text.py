import hashlib

from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.text import digest, field_text, flat_json_text, json_text


def test_a_string_is_its_own_text() -> None:
    assert field_text("a\r\nb") == "a\r\nb"


def test_any_other_value_is_its_compact_json_in_the_given_order() -> None:
    assert field_text({"b": [1, 2.5, None], "a": "é"}) == '{"b":[1,2.5,null],"a":"é"}'
    assert field_text(True) == "true"


def test_a_digest_names_the_utf8_text() -> None:
    assert digest("é") == hashlib.sha256("é".encode()).hexdigest()[:16]
    assert digest("\ud800") != digest("\udc00")


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.lists(st.integers())),
        max_size=5,
    )
)
def test_a_flat_object_is_written_as_any_other(values: dict[str, object]) -> None:
    assert flat_json_text(values) == json_text(values)
