"""Contacts as tables, as Google, Outlook and Thunderbird write them."""

import csv
import io
from pathlib import Path

import pytest
from tests.sources.kit import Home, check_overlap, check_twice, look, read, told

from pdpp.sources.formats.contacts_vcard.source import ContactsVcard
from pdpp.sources.formats.contacts_vcard.texts import texts_of
from pdpp.sources.source import Recognition

SOURCE = ContactsVcard()


def table(folder: Path, *people: dict[str, str], encoding: str = "utf-8") -> Path:
    """Write people as a table of all the columns that one of them has."""
    columns = list(dict.fromkeys(name for person in people for name in person))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(people)
    path = folder / "contacts.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    return path


GOOGLE_BEFORE = {
    "Name": "Nora Lind",
    "Given Name": "Nora",
    "Family Name": "Lind",
    "Birthday": "1984-05-17",
    "Notes": "likes tea\nand cake",
    "Group Membership": "* myContacts ::: Choir",
    "E-mail 1 - Type": "* Home",
    "E-mail 1 - Value": "nora@lind.example ::: lind@x.example",
    "Phone 1 - Type": "Mobile",
    "Phone 1 - Value": "+351 912",
    "Address 1 - Type": "Home",
    "Address 1 - Formatted": "Rua do Farol 7\nPorto",
    "Address 1 - Street": "Rua do Farol 7",
    "Address 1 - City": "Porto",
    "Organization 1 - Name": "Harbour Office",
    "Organization 1 - Title": "Keeper",
    "IM 1 - Service": "Skype",
    "IM 1 - Value": "nora.lind",
    "Website 1 - Value": "https://lind.example",
}
GOOGLE_NOW = {
    "First Name": "Nora",
    "Middle Name": "Maria",
    "Last Name": "Lind",
    "Organization Name": "Harbour Office",
    "Organization Title": "Keeper",
    "Photo": "https://x.example/n.jpg",
    "Labels": "* myContacts",
    "E-mail 1 - Label": "* Home",
    "E-mail 1 - Value": "nora@lind.example",
    "Address 1 - Formatted": "Somewhere, Porto",
    "Event 1 - Label": "Anniversary",
    "Event 1 - Value": "2001-05-06",
    "Relation 1 - Label": "Spouse",
    "Relation 1 - Value": "Rui",
    "Custom Field 1 - Label": "Shoes",
    "Custom Field 1 - Value": "38",
}
OUTLOOK = {
    "Title": "Dr.",
    "First Name": "Nora",
    "Last Name": "Lind",
    "Company": "Harbour Office",
    "Department": "Tides",
    "Home Street": "Rua do Farol 7",
    "Home Street 2": "back house",
    "Home City": "Porto",
    "Home Country/Region": "Portugal",
    "Business Phone": "1",
    "Home Phone 2": "2",
    "Business Fax": "3",
    "Birthday": "0/0/00",
    "E-mail Address": "nora@lind.example",
    "E-mail Type": "SMTP",
    "E-mail 2 Address": "lind@x.example",
    "Spouse": "Rui",
    "Hobby": "lighthouses",
    "Priority": "Normal",
}
GERMAN = {
    "Anrede": "Dr.",
    "Vorname": "Nora",
    "Nachname": "Lind",
    "Firma": "Harbour Office",
    "Abteilung": "Tides",
    "Straße privat": "Rua do Farol 7",
    "Straße privat 2": "back house",
    "Ort privat": "Porto",
    "Land/Region privat": "Portugal",
    "Telefon geschäftlich": "1",
    "Telefon (privat 2)": "2",
    "Fax geschäftlich": "3",
    "Geburtstag": "0.0.00",
    "E-Mail-Adresse": "nora@lind.example",
    "E-Mail-Typ": "SMTP",
    "E-Mail 2: Adresse": "lind@x.example",
    "Partner/in": "Rui",
    "Hobby": "lighthouses",
    "Priorität": "Normal",
}
THUNDERBIRD = {
    "Display Name": "Nora Lind",
    "Primary Email": "nora@lind.example",
    "Mobile Number": "1",
    "Fax Number": "2",
    "Work Address": "Pier 3",
    "Work City": "Porto",
    "Birth Year": "",
    "Birth Month": "5",
    "Birth Day": "17",
    "Custom 1": "plays the tuba",
}


def only(path: Path) -> dict[str, object]:
    """Return the one contact without the texts that repeat its lists."""
    (data,) = read(SOURCE, path).values()
    repeated = {"id", *texts_of(data)}
    return {name: value for name, value in data.items() if name not in repeated}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_former_table_of_google_is_read(tmp_path: Path, encoding: str) -> None:
    assert only(table(tmp_path, GOOGLE_BEFORE, encoding=encoding)) == {
        "name": "Nora Lind",
        "given_name": "Nora",
        "family_name": "Lind",
        "birthday": "1984-05-17",
        "notes": "likes tea\nand cake",
        "categories": ["myContacts", "Choir"],
        "emails": ["nora@lind.example (home)", "lind@x.example (home)"],
        "phones": ["+351 912 (mobile)"],
        "addresses": ["Rua do Farol 7, Porto (home)"],
        "organization": "Harbour Office",
        "job_title": "Keeper",
        "chats": ["nora.lind (skype)"],
        "links": ["https://lind.example"],
    }


def test_the_table_of_google_since_2024_is_read(tmp_path: Path) -> None:
    assert only(table(tmp_path, GOOGLE_NOW)) == {
        "name": "Nora Maria Lind",
        "given_name": "Nora",
        "family_name": "Lind",
        "organization": "Harbour Office",
        "job_title": "Keeper",
        "links": ["https://x.example/n.jpg (photo)"],
        "categories": ["myContacts"],
        "emails": ["nora@lind.example (home)"],
        "addresses": ["Somewhere, Porto"],
        "dates": ["2001-05-06 (anniversary)"],
        "relations": ["Rui (spouse)"],
        "notes": "Shoes: 38",
    }


@pytest.mark.parametrize(
    ("person", "encoding"), [(OUTLOOK, "utf-8"), (GERMAN, "utf-8"), (GERMAN, "cp1252")]
)
def test_the_tables_of_outlook_are_read(
    tmp_path: Path, person: dict[str, str], encoding: str
) -> None:
    assert only(table(tmp_path, person, encoding=encoding)) == {
        "name": "Dr. Nora Lind",
        "given_name": "Nora",
        "family_name": "Lind",
        "organization": "Harbour Office, Tides",
        "addresses": ["Rua do Farol 7\nback house, Porto, Portugal (home)"],
        "phones": ["1 (business)", "2 (home)", "3 (business fax)"],
        "emails": ["nora@lind.example", "lind@x.example"],
        "relations": ["Rui (spouse)"],
        "notes": "hobby: lighthouses",
    }


def test_the_table_of_thunderbird_is_read(tmp_path: Path) -> None:
    assert only(table(tmp_path, THUNDERBIRD)) == {
        "name": "Nora Lind",
        "emails": ["nora@lind.example"],
        "phones": ["1 (mobile)", "2 (fax)"],
        "addresses": ["Pier 3, Porto (work)"],
        "birthday": "--05-17",
        "notes": "custom 1: plays the tuba",
    }


def test_a_table_says_whose_program_wrote_it_and_other_tables_are_not_taken(tmp_path: Path) -> None:
    seen = look(SOURCE, table(tmp_path, GOOGLE_NOW))
    assert isinstance(seen, Recognition)
    assert seen.version == "a table of Google"
    linkedin = {"First Name": "Nora", "Last Name": "Lind", "Email Address": "", "Company": "x"}
    assert look(SOURCE, table(tmp_path, linkedin)) is None


def test_a_table_that_comes_twice_or_in_part_doubles_nothing(tmp_path: Path) -> None:
    people = [
        {"First Name": f"Nora {n}", "Phone 1 - Value": str(n), "Labels": "x"} for n in range(9)
    ]
    nobody = {**people[0], "First Name": "", "Phone 1 - Value": ""}
    whole = table(tmp_path, *people, people[0], nobody)
    assert len(check_twice(whole, tmp_path)) == 9
    reasons = ["a card that stands twice", "a card without a name"]
    assert [found.reason for found in told(SOURCE, whole)] == reasons
    part = tmp_path / "part"
    part.mkdir()
    check_overlap(table(part, *people[:4]), whole, tmp_path)


def test_books_of_one_name_in_two_folders_are_called_by_their_folders(tmp_path: Path) -> None:
    for person in ("Anna", "Ben"):
        folder = tmp_path / "books" / person
        folder.mkdir(parents=True)
        friends = [{"First Name": f"{person} {n}", "Phone 1 - Value": str(n)} for n in range(3)]
        table(folder, *friends)
    home = Home(tmp_path / "home")
    home.run(tmp_path / "books", "--yes")
    assert sorted(home.accounts()) == ["Contacts (Anna)", "Contacts (Ben)"]


def test_the_number_of_a_second_download_is_no_part_of_the_name(tmp_path: Path) -> None:
    path = table(tmp_path, GOOGLE_NOW).rename(tmp_path / "contacts (2).csv")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.account == "Contacts (contacts)"
