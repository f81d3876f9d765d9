"""Texts of contacts: what a card lists can be searched, and birthdays sort by the year's course."""

from pdpp.sources.formats.contacts_vcard.texts import texts_of


def test_lists_are_texts_without_kinds_and_a_number_is_there_without_spaces() -> None:
    card = {
        "emails": ["nora@lind.example (home)", "n@x.example"],
        "phones": ["(21) 555-01 00 (cell, voice)", "912345678", "1-800-ROPES", "12"],
        "addresses": ["Rua do Farol 7, Porto (home)", "Cais 1"],
        "categories": ["Friends", "Choir"],
        "birthday": "1984-05-17",
    }
    assert texts_of(card) == {
        "email": "nora@lind.example, n@x.example",
        "phone": "215550100, (21) 555-01 00, 912345678, 1-800-ROPES, 12",
        "address": "Rua do Farol 7, Porto; Cais 1",
        "groups": "Friends, Choir",
        "birthday_month_day": "05-17",
    }


def test_a_birthday_that_is_no_day_sorts_nowhere() -> None:
    assert texts_of({"birthday": "--02-03"}) == {"birthday_month_day": "02-03"}
    assert texts_of({"birthday": "in spring"}) == texts_of({"birthday": None}) == {}
