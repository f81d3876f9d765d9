"""Outlook's German columns: what they are called in an English Outlook."""

import re
from types import MappingProxyType

_COLUMNS = MappingProxyType(
    {
        "anrede": "title",
        "vorname": "first name",
        "weitere vornamen": "middle name",
        "nachname": "last name",
        "firma": "company",
        "abteilung": "department",
        "position": "job title",
        "e-mail-adresse": "e-mail address",
        "notizen": "notes",
        "geburtstag": "birthday",
        "jahrestag": "anniversary",
        "kategorien": "categories",
        "webseite": "web page",
        "partner": "spouse",
        "partner/in": "spouse",
        "kinder": "children",
        "name des/r vorgesetzten": "manager's name",
        "mobiltelefon": "mobile phone",
        "mobiltelefon 2": "mobile phone 2",
        "autotelefon": "car phone",
        "haupttelefon": "primary phone",
        "telefon firma": "company main phone",
        "weiteres telefon": "other phone",
        "weiteres fax": "other fax",
        "telefon assistent": "assistant's phone",
        "priorität": "priority",
        "privat": "private",
        "vertraulichkeit": "sensitivity",
        "geschlecht": "gender",
        "weitere straße": "other street",
        "weiterer ort": "other city",
        "weitere postleitzahl": "other postal code",
        "weiteres land": "other country",
        "weiteres/e land/region": "other country",
    }
)
_PLACE = re.compile(
    r"(telefon|fax|straße|ort|plz|postleitzahl|land|land/region|postfach|region|bundesland/kanton)"
    r" \(?(geschäftlich|privat)(?: (\d))?\)?(?: (\d))?"
)
_WORDS = MappingProxyType(
    {
        "telefon": "phone",
        "fax": "fax",
        "straße": "street",
        "ort": "city",
        "region": "state",
        "plz": "postal code",
        "postleitzahl": "postal code",
        "land": "country",
        "land/region": "country",
        "postfach": "po box",
        "bundesland/kanton": "state",
        "geschäftlich": "business",
        "privat": "home",
    }
)


def english(name: str) -> str:
    """Return the English name of a column; one that is not German is as it was."""
    # Case folding writes this letter as two.
    written = name.replace("strasse", "straße")
    place = _PLACE.fullmatch(written)
    if place is None:
        return _COLUMNS.get(written, written)
    what, whose, *numbers = place.groups()
    number = next(filter(None, numbers), "")
    return f"{_WORDS[whose]} {_WORDS[what]} {number}".strip()
