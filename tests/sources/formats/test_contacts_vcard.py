"""Contacts as vCard 2.1, 3.0 and 4.0, as phones and mail programs write them."""

import base64
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_text,
    check_hostile_zip,
    check_overlap,
    check_twice,
    findings,
    golden,
    look,
    read,
    told,
)

from pdpp.sources.formats.contacts_vcard.source import ContactsVcard
from pdpp.sources.formats.contacts_vcard.vcard import vcard_lines
from pdpp.sources.item import Item
from pdpp.sources.source import Confidence, Recognition

SOURCE = ContactsVcard()
PIXEL = base64.b64encode(b"\xff\xd8\xff\xe0 a very small picture of a lighthouse").decode()

OLD = f"""BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Ara=C3=BAjo;Jo=C3=A3o
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Jo=C3=A3o =
Ara=C3=BAjo
TEL;CELL;PREF:+351 912 000 111
EMAIL;INTERNET;HOME:joao@cais.example
PHOTO;JPEG;ENCODING=BASE64:
 {PIXEL}
END:VCARD
"""

APPLE = f"""BEGIN:VCARD
VERSION:3.0
PRODID:-//Apple Inc.//iOS 19//EN
N:Lind;Nora;;Dr.;
FN:Dr. Nora Lind
ORG:Harbour Office;Tides\\, Currents
TITLE:Keeper of the tide table
item1.EMAIL;type=INTERNET;type=pref:nora@lind.example
item1.X-ABLabel:_$!<Home>!$_
TEL;type=CELL;type=VOICE;type=pref:+351 912 345 678
item2.ADR;type=HOME;type=pref:;;Rua do Farol 7;Porto;;4000-001;Portugal
item3.URL:https://lind.example
BDAY:1984-05-17
NOTE:Met at the choir.\\nLikes the green folder best and knows every lighthouse by
  its rhythm.
CATEGORIES:Friends,Choir\\, altos
PHOTO;ENCODING=b;TYPE=JPEG:{PIXEL[:40]}
 {PIXEL[40:]}
UID:7A1F-NORA
REV:2026-02-03T10:00:00Z
END:VCARD
"""

MODERN = """BEGIN:VCARD
VERSION:4.0
UID:urn:uuid:4fbe8971-0bc3-424c-9c26-36c3e1eff6b1
FN:Ben "Skipper" Costa
N:Costa;Ben;;;
TEL;VALUE=uri;TYPE="voice,home":tel:+44-20-5555-0100
EMAIL;PREF=1:ben@costa.example
BDAY:--0203
REV:20260101T080910Z
END:VCARD
"""


def book(*cards: str) -> bytes:
    return "".join(cards).replace("\n", "\r\n").encode()


def plain(name: str, *lines: str) -> str:
    return "\n".join(["BEGIN:VCARD", "VERSION:3.0", f"FN:{name}", *lines, "END:VCARD", ""])


def put(folder: Path, content: bytes, name: str = "contacts.vcf") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_cards_are_recognised_with_their_versions(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, book(OLD, APPLE, MODERN)))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.version) == (Confidence.CERTAIN, "vCard 2.1, 3.0, 4.0")
    assert look(SOURCE, put(tmp_path, b"BEGIN:VCALENDAR\r\n")) is None


def test_cards_of_all_versions_give_these_records(tmp_path: Path) -> None:
    path = put(tmp_path, book(OLD, APPLE, MODERN, plain("", "ORG:Bakery;")))
    golden("contacts_vcard", read(SOURCE, path))
    assert told(SOURCE, path) == []


def test_pictures_become_blobs(tmp_path: Path) -> None:
    path = put(tmp_path, book(OLD, APPLE, MODERN))
    photos = [item.attachments for item in findings(SOURCE, path) if isinstance(item, Item)]
    assert [len(found) for found in photos] == [1, 1, 0]
    content = photos[1][0].open().read()
    assert content.endswith(b"lighthouse")
    assert photos[0][0].media_type == "image/jpeg"
    home = Home(tmp_path / "home")
    home.bring(path)
    kept = [data.get("photo") for data in home.records().values()]
    assert sum(photo is not None for photo in kept) == 2


def test_a_picture_at_an_address_stays_there(tmp_path: Path) -> None:
    card = plain("Ana", "PHOTO;VALUE=uri:https://x.example/a.jpg", "PHOTO;ENCODING=b:not base64!")
    _, item = findings(SOURCE, put(tmp_path, book(card)))
    assert isinstance(item, Item)
    assert item.attachments == ()


def test_a_picture_in_the_form_of_version_4_is_read(tmp_path: Path) -> None:
    png = base64.b64encode(b"\x89PNG small").decode()
    cards = [
        plain("Ana", f"PHOTO:data:image/png;base64,{png}"),
        plain("Bo", "PHOTO:data:image/x;base64,AAAA"),
    ]
    found = findings(SOURCE, put(tmp_path, book(*cards)))
    kinds = [item.attachments[0].media_type for item in found if isinstance(item, Item)]
    assert kinds == ["image/png", "application/octet-stream"]


def test_a_card_without_a_name_one_that_stands_twice_and_stray_lines_are_told(
    tmp_path: Path,
) -> None:
    nobody = "BEGIN:VCARD\nVERSION:3.0\nX-CLASS:private\nEND:VCARD\n"
    path = put(tmp_path, book(APPLE, nobody, APPLE, "stray\n"))
    assert [found.reason for found in told(SOURCE, path)] == [
        "a card without a name",
        "a card that stands twice",
        "a line outside of every card",
    ]


def test_an_unknown_charset_loses_no_card(tmp_path: Path) -> None:
    card = plain("Ana", "NOTE;CHARSET=x-odd;ENCODING=QUOTED-PRINTABLE:ol=C3=A1", "REV:whenever")
    (data,) = read(SOURCE, put(tmp_path, book(card))).values()
    assert data["notes"] == "olá"
    assert "updated_at" not in data


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_cards_that_phones_and_outlook_write_in_wide_letters_are_read(
    tmp_path: Path, encoding: str
) -> None:
    cards = book(OLD, APPLE, MODERN)
    path = put(tmp_path, cards)
    expected = read(SOURCE, path)
    put(tmp_path, cards.decode().encode(encoding))
    assert read(SOURCE, path) == expected
    assert told(SOURCE, path) == []


def test_a_folder_of_single_cards_is_one_address_book(tmp_path: Path) -> None:
    put(tmp_path, book(APPLE), "nora.vcf")
    put(tmp_path, book(MODERN), "ben.vcf")
    assert len(read(SOURCE, tmp_path)) == 2


@pytest.mark.parametrize(
    ("later", "notes"),
    [("contacts-2026-02.vcf", ["moved"]), ("clients.vcf", ["Porto", "moved"])],
    ids=["two months", "two books"],
)
def test_a_person_without_an_id_is_there_once_where_two_months_lie_in_a_folder(
    later: str, notes: list[str], tmp_path: Path
) -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Rui\nTEL:1\nNOTE:{}\nEND:VCARD\n"
    (tmp_path / "m").mkdir()
    put(tmp_path / "m", book(card.format("Porto"), APPLE), "contacts-2026-01.vcf")
    put(tmp_path / "m", book(card.format("moved"), APPLE), later)
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "m")
    people = [data.get("notes") for data in home.records().values() if data["name"] == "Rui"]
    assert sorted(people, key=str) == notes


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(put(tmp_path, book(OLD, APPLE, MODERN)), tmp_path)


def test_a_part_and_then_the_whole_are_the_whole(tmp_path: Path) -> None:
    first = put(tmp_path, book(APPLE), "one.vcf")
    check_overlap(first, put(tmp_path, book(OLD, APPLE), "two.vcf"), tmp_path)


def test_a_cut_file_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    content = book(OLD, APPLE).replace(b"\r\n", b"\n").rstrip()
    check_cuts(SOURCE, content, lambda cut: put(tmp_path, cut))


def test_hostile_text_and_archives_are_survived(tmp_path: Path) -> None:
    check_hostile_text(SOURCE, book(OLD, APPLE), lambda content: put(tmp_path, content))
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, {"a/contacts.vcf": book(APPLE)}, folder)


@given(st.permutations(["Ana", "Bo", "Cy"]), st.integers(min_value=1, max_value=3))
def test_keys_do_not_depend_on_what_else_is_in_a_file(order: list[str], count: int) -> None:
    from tempfile import TemporaryDirectory

    made = {name: plain(name, f"EMAIL:{name}@x.example") for name in ("Ana", "Bo", "Cy")}
    with TemporaryDirectory() as folder:
        whole = read(SOURCE, put(Path(folder), book(*made.values())))
        some = read(SOURCE, put(Path(folder), book(*(made[name] for name in order[:count]))))
    assert set(some) <= set(whole)


def test_an_agent_finds_what_was_noted_about_a_person(tmp_path: Path) -> None:
    path = put(tmp_path, book(APPLE, MODERN))
    report = bring_and_ask(path, tmp_path, "green folder", "Likes the green folder best")
    assert report["counts"]["new"] == 2


def test_days_relatives_handles_and_labels_are_kept(tmp_path: Path) -> None:
    card = plain(
        "Ana",
        "ANNIVERSARY:20100501",
        "item1.X-ABDATE:2012-03-04",
        "item1.X-ABLabel:_$!<Other>!$_",
        "item2.X-ABRELATEDNAMES:Bo",
        "item2.X-ABLabel:_$!<Brother>!$_",
        "RELATED;TYPE=spouse:Cai",
        "X-SKYPE:ana.s",
        "item3.TEL:+351 1",
        "item3.X-ABLabel:boat",
    )
    [data] = read(SOURCE, put(tmp_path, book(card))).values()
    assert data["anniversary"] == "2010-05-01"
    assert data["dates"] == ["2012-03-04 (other)"]
    assert data["relations"] == ["Bo (brother)", "Cai (spouse)"]
    assert data["chats"] == ["ana.s (Skype)"]
    assert data["phones"] == ["+351 1 (boat)"]


def test_handles_of_every_age_and_addresses_with_labels_are_kept(tmp_path: Path) -> None:
    card = plain(
        "Ana",
        "IMPP;X-SERVICE-TYPE=Jabber;type=HOME:xmpp:ana@chat.example",
        "X-JABBER:ana@old.example",
        "X-ICQ;type=WORK:12345",
        "item1.ADR:;;Rua do Cais 3;Porto;;4000;Portugal",
        "item1.X-ABLabel:boathouse",
        "LABEL;TYPE=HOME:Rua do Cais 3\\nPorto",
        "LABEL;TYPE=WORK:Harbour Office\\nPier 7",
    )
    [data] = read(SOURCE, put(tmp_path, book(card))).values()
    assert data["chats"] == [
        "xmpp:ana@chat.example (home)",
        "ana@old.example (Jabber)",
        "12345 (ICQ)",
    ]
    assert data["addresses"] == [
        "Rua do Cais 3, Porto, 4000, Portugal (boathouse)",
        "Harbour Office, Pier 7 (work)",
    ]


def test_parts_of_a_name_that_the_formatted_one_leaves_out_are_kept(tmp_path: Path) -> None:
    short = plain("Anna Müller", "N:Müller;Anna;Maria;Dr.;Jr.")
    turned = plain("Dr. Reis, Eva", "N:Reis;Eva;;Dr.;")
    first, second = read(SOURCE, put(tmp_path, book(short, turned))).values()
    assert first["full_name"] == "Dr. Anna Maria Müller Jr."
    assert "full_name" not in second


def test_days_and_relatives_as_android_writes_them_are_kept(tmp_path: Path) -> None:
    row = "X-ANDROID-CUSTOM:vnd.android.cursor.item"
    card = plain(
        "Ana",
        f"{row}/contact_event;2014-05-05;1;;;;;;;;;;;;;",
        f"{row}/contact_event;2015-06-06;0;First sail;;;;;;;;;;;;",
        f"{row}/relation;Maria;14;;;;;;;;;;;;;",
        f"{row}/relation;Bo;0;Godfather;;;;;;;;;;;;",
        f"{row}/nickname;Anita;1;;;;;;;;;;;;;",
    )
    [data] = read(SOURCE, put(tmp_path, book(card))).values()
    assert data["anniversary"] == "2014-05-05"
    assert data["dates"] == ["2015-06-06 (first sail)"]
    assert data["relations"] == ["Maria (spouse)", "Bo (godfather)"]
    assert data["nickname"] == "Anita"


@pytest.mark.parametrize(
    ("anniversary", "spouse", "handle"),
    [
        ("X-EVOLUTION-ANNIVERSARY", "X-EVOLUTION-SPOUSE", "X-GADUGADU"),
        ("X-MS-ANNIVERSARY", "X-MS-SPOUSE", "X-MS-IMADDRESS"),
        (
            "X-KADDRESSBOOK-X-Anniversary",
            "X-KADDRESSBOOK-X-SpousesName",
            "X-KADDRESSBOOK-X-IMAddress",
        ),
    ],
)
def test_names_that_programs_gave_to_days_relatives_and_handles_are_known(
    tmp_path: Path, anniversary: str, spouse: str, handle: str
) -> None:
    card = plain("Ana", f"{anniversary}:2014-05-05", f"{spouse}:Cai", f"{handle}:ana@chat")
    [data] = read(SOURCE, put(tmp_path, book(card))).values()
    assert (data["anniversary"], data["relations"]) == ("2014-05-05", ["Cai (spouse)"])
    assert [chat.partition(" ")[0] for chat in data["chats"]] == ["ana@chat"]


def test_the_service_of_a_handle_second_notes_and_a_card_of_a_number_alone_are_kept(
    tmp_path: Path,
) -> None:
    impp = "IMPP;X-SERVICE-TYPE=Facebook;type=HOME:xmpp:ana.l"
    card = plain("Ana", impp, "NOTE:Sails", "NOTE:Rows")
    number = "BEGIN:VCARD\nVERSION:3.0\nTEL:+351 1\nEND:VCARD\n"
    first, second = read(SOURCE, put(tmp_path, book(card, number))).values()
    assert (first["chats"], first["notes"]) == (["xmpp:ana.l (Facebook, home)"], "Sails\nRows")
    assert (second["name"], second["phones"]) == ("+351 1", ["+351 1"])


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-03-04", "--03-04"),
        ("BDAY:--0304", "--03-04"),
        ("BDAY:--03-04", "--03-04"),
        ("BDAY:19800304", "1980-03-04"),
        ("BDAY:1980-03-04 00:00:00", "1980-03-04"),
        ("BDAY:in spring", "in spring"),
    ],
)
def test_a_birthday_without_a_year_has_none(tmp_path: Path, written: str, day: str) -> None:
    card = f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\n{written}\r\nEND:VCARD\r\n"
    (data,) = read(SOURCE, put(tmp_path, card.encode())).values()
    assert data["birthday"] == day


def test_a_picture_of_outlook_and_lines_of_a_note_are_kept(tmp_path: Path) -> None:
    card = (
        "BEGIN:VCARD\r\nVERSION:2.1\r\nFN:Ada\r\nNOTE;ENCODING=QUOTED-PRINTABLE:one=0D=0A=\r\ntwo\r\n"
        "X-MS-CARDPICTURE;TYPE=JPEG;ENCODING=BASE64:\r\n /9j/4AAQSkZJRg==\r\n\r\nEND:VCARD\r\n"
    )
    (item,) = [f for f in findings(SOURCE, put(tmp_path, card.encode())) if isinstance(f, Item)]
    assert item.data["notes"] == "one\ntwo"
    assert [file.media_type for file in item.attachments] == ["image/jpeg"]


def test_two_cards_of_one_name_are_both_kept_unless_they_say_the_same(tmp_path: Path) -> None:
    def ada(*lines: str) -> str:
        start = ("BEGIN:VCARD", "VERSION:3.0", "FN:Ada", "EMAIL:ada@x.example")
        return "\r\n".join([*start, *lines, "END:VCARD", ""])

    path = put(tmp_path, (ada() + ada("BDAY:1980-03-04") + ada()).encode())
    assert [data.get("birthday") for data in read(SOURCE, path).values()] == [None, "1980-03-04"]
    assert [found.reason for found in told(SOURCE, path)] == ["a card that stands twice"]
    check_twice(path, tmp_path)


def test_the_address_of_a_picture_is_kept(tmp_path: Path) -> None:
    card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nPHOTO:https://x.example/a\r\nEND:VCARD\r\n"
    (data,) = read(SOURCE, put(tmp_path, card.encode())).values()
    assert data["links"] == ["https://x.example/a (photo)"]


def test_two_cards_of_one_name_and_number_in_two_files_are_both_kept(tmp_path: Path) -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Peter\nTEL:123\nNOTE:{}\nEND:VCARD\n".format
    for name, note in (("a", "at work"), ("b", "at home"), ("c", "at home")):
        (tmp_path / f"{name}.vcf").write_text(card(note))
    records = check_twice(tmp_path, tmp_path.with_name("stores"))
    assert sorted(data["notes"] for data in records.values()) == ["at home", "at work"]


def test_a_card_with_an_id_in_two_files_is_one_contact(tmp_path: Path) -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nUID:7\nFN:Peter\nNOTE:{}\nEND:VCARD\n".format
    for name, note in (("a", "at work"), ("b", "at home")):
        (tmp_path / f"{name}.vcf").write_text(card(note))
    assert len(read(ContactsVcard(), tmp_path)) == 1


def old(*lines: str) -> str:
    return "\n".join(["BEGIN:VCARD", "VERSION:2.1", *lines, "END:VCARD", ""])


def test_a_card_whose_end_was_forgotten_costs_no_other_one(tmp_path: Path) -> None:
    open_ended = plain("Ana", "TEL:1").removesuffix("END:VCARD\n")
    found = read(SOURCE, put(tmp_path, book(open_ended, plain("Bo", "TEL:2")))).values()
    assert [(data["name"], data["phones"]) for data in found] == [("Ana", ["1"]), ("Bo", ["2"])]


def test_a_card_inside_a_card_is_that_of_another_person(tmp_path: Path) -> None:
    boss = old("N:Reis;Eva", "AGENT:", *old("N:Cruz;Rui", "TEL:2").split(), "TEL:1")
    path = put(tmp_path, book(boss, plain("Bo")))
    found = {data["name"]: data.get("phones") for data in read(SOURCE, path).values()}
    assert found == {"Eva Reis": ["1"], "Rui Cruz": ["2"], "Bo": None}
    assert told(SOURCE, path) == []


def test_fields_that_a_phone_leaves_empty_are_none(tmp_path: Path) -> None:
    card = plain("Ana", "EMAIL:", "TEL;TYPE=CELL:", "URL:", "EMAIL:ana@x.example")
    (data,) = read(SOURCE, put(tmp_path, book(card))).values()
    assert data["emails"] == ["ana@x.example"]
    assert data.keys() == {"id", "name", "emails", "email"}


@pytest.mark.parametrize(
    ("line", "charset"),
    [
        ("FN;CHARSET=SHIFT_JIS:山田", "cp932"),
        ("FN;CHARSET=windows-1251:Иван", "cp1251"),
        ("FN:Jörg", "cp1252"),
    ],
)
def test_letters_of_phones_are_read_in_the_charset_they_name(
    tmp_path: Path, line: str, charset: str
) -> None:
    (data,) = read(SOURCE, put(tmp_path, old(line).encode(charset))).values()
    assert data["name"] == line.partition(":")[2]


def test_letters_written_as_codes_without_a_charset_may_be_those_of_windows(tmp_path: Path) -> None:
    card = old("FN:Ana", "NOTE;ENCODING=QUOTED-PRINTABLE:Stra=DFe", "N;QUOTED-PRINTABLE:L=C3=AD")
    (data,) = read(SOURCE, put(tmp_path, book(card))).values()
    assert (data["notes"], data["family_name"]) == ("Straße", "Lí")


def test_labels_that_somebody_chose_on_android_are_read(tmp_path: Path) -> None:
    coded = "X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=42=C3=BC=72=6F)"
    card = old("FN:Ana", f"TEL;{coded}:1", "TEL;X-CUSTOM(Boat):2")
    (data,) = read(SOURCE, put(tmp_path, book(card))).values()
    assert data["phones"] == ["1 (büro)", "2 (boat)"]


def test_every_position_of_a_person_and_every_part_of_a_name_is_kept(tmp_path: Path) -> None:
    lines = ("ORG:Mill;Oven", "TITLE:Baker", "ORG:Choir", "TITLE:Alto", "X-GTALK:ana@x.example")
    (data,) = read(SOURCE, put(tmp_path, book(old("N:Reis;Ana;Maria;Dr.;MA", *lines)))).values()
    assert data["name"] == "Dr. Ana Maria Reis MA"
    assert (data["organization"], data["job_title"]) == ("Mill, Oven, Choir", "Baker, Alto")
    assert data["chats"] == ["ana@x.example (Google Talk)"]


def test_a_card_without_a_name_is_called_by_what_it_says(tmp_path: Path) -> None:
    cards = [old("NICKNAME:Nono"), old("ADR:;;Rua 5;;;;"), old("NOTE:the plumber")]
    found = read(SOURCE, put(tmp_path, book(*cards))).values()
    assert [data["name"] for data in found] == ["Nono", "Rua 5", "the plumber"]


def test_a_picture_whose_address_has_backslashes_is_read(tmp_path: Path) -> None:
    png = base64.b64encode(b"\x89PNG small").decode()
    card = plain("Ana", f"PHOTO;VALUE=URL:data:image/png\\;base64\\,{png}")
    (item,) = [f for f in findings(SOURCE, put(tmp_path, book(card))) if isinstance(f, Item)]
    assert [file.media_type for file in item.attachments] == ["image/png"]


def test_the_members_of_a_group_are_named(tmp_path: Path) -> None:
    member = "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:"
    choir = plain("Choir", "X-ADDRESSBOOKSERVER-KIND:group", f"{member}7A1F-NORA", f"{member}lost")
    modern = MODERN.replace("FN:", "KIND:group\nMEMBER:mailto:eva@x.example\nFN:")
    found = read(SOURCE, put(tmp_path, book(choir, APPLE, modern))).values()
    relations = [data.get("relations") for data in found]
    assert relations == [
        ["Dr. Nora Lind (member)", "urn:uuid:lost (member)"],
        None,
        ["mailto:eva@x.example (member)"],
    ]


def test_lines_of_a_note_and_a_picture_that_are_not_moved_in_are_no_less_of_it(
    tmp_path: Path,
) -> None:
    letters = base64.b64encode(b"\xff\xd8" + b"tide" * 40).decode()
    card = (
        "BEGIN:VCARD\nVERSION:2.1\nFN:Nora Lind\nNOTE:Ropes in the shed\nand a key\n\n"
        f"PHOTO;ENCODING=BASE64;JPEG:{letters[:72]}\n{letters[72:144]}\n{letters[144:]}\n\n"
        "TEL:+351 1\nEND:VCARD\n"
    )
    path = put(tmp_path, card.replace("\n", "\r\n").encode())
    [item] = [found for found in findings(SOURCE, path) if isinstance(found, Item)]
    assert item.data["notes"] == "Ropes in the shed\nand a key"
    assert item.data["phones"] == ["+351 1"]
    [photo] = item.attachments
    assert photo.open().read() == b"\xff\xd8" + b"tide" * 40


def test_a_long_property_without_a_name_is_read_once() -> None:
    lines = "\r\n ".join(["NOTE", *(["a" * 68 + "="] * 12_000)])
    began = time.process_time()
    list(vcard_lines(f"BEGIN:VCARD\r\n{lines}\r\nEND:VCARD\r\n"))
    assert time.process_time() - began < 2


def test_quoted_text_goes_on_whether_or_not_its_lines_are_moved_in(tmp_path: Path) -> None:
    head = "NOTE;CHARSET=UTF-8;\n ENCODING=QUOTED-PRINTABLE:"
    for moved in ("", " "):
        card = f"{head}M=C3=B6we=0D=0A=\n{moved}am Kai: =\n{moved}zwei=\n{moved}mal"
        path = put(tmp_path, book(plain("Nora", card, "TEL:+351 1")))
        [data] = read(SOURCE, path).values()
        assert data["notes"] == "Möwe\nam Kai: zweimal"
        assert data["phones"] == ["+351 1"]
