import pytest

from pdpp.model.errors import InvalidRequest
from pdpp.pages.form import PostedForm


def test_a_form_holds_its_fields_by_name() -> None:
    form = PostedForm.of_pairs([("a", "1"), ("b", "2"), ("a", "3")])
    assert form.all("a") == ("1", "3")
    assert form.one("b") == "2"
    assert form.one("c") == ""
    assert form.all("c") == ()
    assert "a" in form
    assert "c" not in form


def test_one_value_is_not_two() -> None:
    with pytest.raises(InvalidRequest, match="given twice") as refused:
        PostedForm.of_pairs([("a", "1"), ("a", "1")]).one("a")
    assert refused.value.param == "a"
