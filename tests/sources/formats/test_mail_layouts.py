"""Mail as programs keep it: Thunderbird, Apple Mail, Maildir, MH, Proton, Gmail and Outlook."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, counts, findings, look, read, told, zipped

from pdpp.sources.formats.mail.source import Mail
from pdpp.sources.item import Item, Skipped
from pdpp.sources.source import ExportRefusal, Recognition

SOURCE = Mail()


def letter(number: int, *more: str, text: str = "low tide", named: bool = True) -> str:
    """Return a message as a file holds it."""
    lines = [
        *([f"Message-ID: <m{number}@lind.example>"] if named else []),
        f"Date: Sat, 31 Jan 2026 10:15:{number:02} +0100",
        "From: Nora Lind <nora@lind.example>",
        f"To: friend{number}@x.example",
        f"Subject: Number {number}",
        *more,
        "",
        text,
    ]
    return "\n".join(lines) + "\n"


def box(*letters: str) -> str:
    return "".join(f"From - Sat Jan 31 10:15:32 2026\n{each}\n" for each in letters)


def emlx(message: str, flags: int = 8590195713) -> str:
    return (
        f"{len(message.encode())}      \n{message}"
        f'<?xml version="1.0"?>\n<plist version="1.0"><dict>\n\t<key>flags</key>\n'
        f"\t<integer>{flags}</integer>\n</dict></plist>\n"
    )


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def folders(path: Path) -> dict[str, Any]:
    """Return the folder of each message by its subject."""
    return {data["subject"]: data.get("folder") for data in read(SOURCE, path).values()}


def reasons(path: Path) -> list[str]:
    return [found.reason for found in told(SOURCE, path)]


INDEX = '// <!-- <mdb:mork:z v="1.4"/> -->\n'


def test_every_folder_of_thunderbird_is_read(tmp_path: Path) -> None:
    profile = put(
        tmp_path / "profile",
        {
            "ImapMail/x/INBOX": box(letter(1)),
            "ImapMail/x/INBOX.msf": INDEX,
            "ImapMail/x/Archives": "",
            "ImapMail/x/Archives.msf": INDEX,
            "ImapMail/x/Archives.sbd/2025": box(letter(2)),
            "ImapMail/x/Archives.sbd/2025.msf": INDEX,
            "ImapMail/x/boats.example": box(letter(3)),
            "ImapMail/x/boats.example.msf": INDEX,
            "ImapMail/x/Entw&APw-rfe": box(letter(4)),
        },
    )
    assert folders(profile) == {
        "Number 1": "INBOX",
        "Number 2": "Archives/2025",
        "Number 3": "boats.example",
        "Number 4": "Entwürfe",
    }
    assert not told(SOURCE, profile)
    report = Home(tmp_path / "home").bring(profile)
    assert (report["files"]["read"], report["files"]["unknown"]) == (5, [])


def test_what_thunderbird_moved_elsewhere_is_there_once(tmp_path: Path) -> None:
    moved = letter(1, "X-Mozilla-Status2: 00000000")
    put(
        tmp_path,
        {
            "Inbox": box(f"X-Mozilla-Status: 0009\n{moved}", letter(2)),
            "Saved": box(f"X-Mozilla-Status: 0001\n{moved}"),
        },
    )
    assert folders(tmp_path) == {"Number 1": "Saved", "Number 2": "Inbox"}
    assert reasons(tmp_path) == ["a message that its owner deleted"]


def test_messages_of_apple_mail_are_those_of_a_mailbox(tmp_path: Path) -> None:
    place = "V10/A-1/INBOX.mbox/B-2/Data/Messages"
    kept = put(
        tmp_path / "apple",
        {
            f"{place}/1.emlx": emlx(letter(1)),
            f"{place}/2.emlx": emlx(letter(2)),
            f"{place}/3.emlx": emlx(letter(3), flags=8590195715),
        },
    )
    assert folders(kept) == {"Number 1": "INBOX", "Number 2": "INBOX"}
    assert reasons(kept) == ["a message that its owner deleted"]
    mailbox = put(tmp_path / "box", {"all.mbox": box(letter(1), letter(2))})
    assert set(read(SOURCE, kept)) == set(read(SOURCE, mailbox))


def test_a_file_of_digits_keeps_no_message_out(tmp_path: Path) -> None:
    put(tmp_path, {"1.emlx": "7" * 6_000, "2.emlx": emlx(letter(2)), "3": "8" * 6_000})
    assert list(folders(tmp_path)) == ["Number 2"]
    assert reasons(tmp_path) == ["a file that is no message"]


def test_files_that_apple_mail_took_out_of_a_message_come_in_with_it(tmp_path: Path) -> None:
    parts = "".join(
        f"--b\nContent-Type: {kind}; name={name}\nContent-Transfer-Encoding: base64\n"
        f"X-Apple-Content-Length: 9\n\n\n"
        for kind, name in (("text/csv", "a.csv"), ("image/png", "b.png"), ("image/png", "c.png"))
    )
    said = "--b\nContent-Type: text/plain\n\nsee the files\n"
    whole = letter(1, "Content-Type: multipart/mixed; boundary=b", text=f"{said}{parts}--b--")
    kept = put(
        tmp_path / "apple",
        {
            "x.mbox/Data/Messages/7.partial.emlx": emlx(whole),
            "x.mbox/Data/Attachments/7/2/a.csv": "tide,noon",
            "x.mbox/Data/Messages/7.3.emlxpart": base64.b64encode(b"picture").decode(),
        },
    )
    files = {
        item.data["name"]: item.attachments[0].open().read() if item.attachments else None
        for item in findings(SOURCE, kept)
        if isinstance(item, Item) and item.stream == "attachments"
    }
    assert files == {"a.csv": b"tide,noon", "b.png": b"picture", "c.png": None}
    assert reasons(kept) == ["a file that the mail program had not downloaded"]
    report = Home(tmp_path / "home").bring(kept)
    assert report["files"]["attached"] == 2


def test_a_text_that_apple_mail_never_downloaded_is_told(tmp_path: Path) -> None:
    parts = (
        "--b\nContent-Type: text/plain\nX-Apple-Content-Length: 80\n\n\n"
        "--b\nContent-Type: text/csv; name=a.csv\n\ntide,noon\n--b--"
    )
    kept = {
        "1.partial.emlx": emlx(letter(1, text="")),
        "2.emlx": emlx(letter(2, text="")),
        "3.partial.emlx": emlx(letter(3, "Content-Type: multipart/mixed; boundary=b", text=parts)),
        "4.emlx": emlx(letter(4)),
        "5.eml": letter(5, text=""),
    }
    files = {f"x.mbox/Data/Messages/{name}": content for name, content in kept.items()}
    path = put(tmp_path / "apple", files)
    assert len([stream for stream, _ in read(SOURCE, path) if stream == "messages"]) == 5
    assert [(found.reason, found.example.rpartition("/")[2]) for found in told(SOURCE, path)] == [
        ("a text that the mail program had not downloaded", "1.partial.emlx"),
        ("a message without text, which the mail program may not have downloaded", "2.emlx"),
        ("a text that the mail program had not downloaded", "3.partial.emlx"),
    ]


def test_folders_of_mh_are_read(tmp_path: Path) -> None:
    put(tmp_path, {"inbox/1": letter(1), "inbox/2": letter(2), "inbox/3": "a note\n"})
    assert folders(tmp_path) == {"Number 1": "inbox", "Number 2": "inbox"}


def test_folders_of_maildir_have_the_names_that_people_gave_them(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            ".Entw&APw-rfe/cur/1.M1.host:2,S": letter(1),
            ".R&-D/new/2.M1.host": letter(2),
            "dovecot-uidlist": "3 V1\n",
        },
    )
    assert folders(tmp_path) == {"Number 1": "Entwürfe", "Number 2": "R&-D"}


@pytest.mark.parametrize("name", ["1.eml", "cur/1"])
def test_the_folder_of_a_message_is_the_same_however_it_comes(tmp_path: Path, name: str) -> None:
    content = letter(1).encode()
    place = put(tmp_path / "in" / "Boats", {name: letter(1)})
    ways = [
        *(place, place.parent),
        zipped(tmp_path / "backup.zip", {f"Boats/{name}": content}),
        zipped(tmp_path / "Boats (1).zip", {name: content}),
        zipped(tmp_path / "all" / "Boats.zip", {name: content}).parent,
        *([place / name] if name == "1.eml" else []),
    ]
    home = Home(tmp_path / "data")
    for number, way in enumerate(ways):
        report = home.bring(way, "--account", "nora@lind.example")
        assert counts(report) == {"read": 1, "unchanged" if number else "new": 1}, way
    [message] = home.records().values()
    assert message["folder"] == "Boats"


def test_a_message_in_two_folders_is_there_once(tmp_path: Path) -> None:
    put(tmp_path, {"Archive/a.eml": letter(1), "Inbox/a.eml": letter(1), "Inbox/b.eml": letter(2)})
    assert folders(tmp_path) == {"Number 1": "Archive", "Number 2": "Inbox"}
    assert reasons(tmp_path) == ["a message that stands twice"]


def proton(folder: Path, month: str) -> Path:
    place = f"mail_2026{month}01_101010"
    labels = [{"ID": "boat-id", "Name": "Boats", "Path": "Work/Boats", "Type": 1}]
    beside = {"Version": 1, "Payload": {"ID": "a==", "LabelIDs": ["0", "5", "boat-id", "gone"]}}
    return put(
        folder,
        {
            f"{place}/a==.eml": letter(1),
            f"{place}/a==.metadata.json": json.dumps(beside),
            f"{place}/b==.eml": letter(2),
            f"{place}/b==.metadata.json": "[]",
            f"{place}/labels.json": json.dumps({"Version": 1, "Payload": labels}),
        },
    )


def test_labels_of_proton_stand_beside_its_messages(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    report = home.bring(proton(tmp_path / "one", "01"))
    assert report["files"]["unknown"] == []
    labels = [data.get("labels") for data in home.records().values()]
    assert sorted(labels, key=str) == [None, ["Inbox", "Work/Boats"]]
    later = home.bring(proton(tmp_path / "two", "02"))
    assert (later["counts"]["new"], later["counts"]["changed"]) == (0, 1)


def test_a_message_of_gmail_with_two_labels_is_there_once(tmp_path: Path) -> None:
    labelled = letter(1, "X-Gmail-Labels: Inbox,Work", "X-GM-THRID: 17")
    both = put(tmp_path / "two", {"Inbox.mbox": box(labelled), "Work.mbox": box(labelled)})
    (data,) = read(SOURCE, both).values()
    assert data["labels"] == ["Inbox", "Work"]
    alone = put(tmp_path / "one", {"All mail.mbox": box(labelled)})
    assert read(SOURCE, alone) == read(SOURCE, both)


def test_a_label_of_gmail_may_have_a_comma(tmp_path: Path) -> None:
    written = 'Inbox,"Boats, old",  "a" b,=?UTF-8?Q?Mar=C3=A9?=,'
    put(tmp_path, {"a.mbox": box(letter(1, f"X-Gmail-Labels: {written}"))})
    (data,) = read(SOURCE, tmp_path).values()
    assert data["labels"] == ["Inbox", "Boats, old", '"a" b', "Maré"]
    assert data["label_names"] == '"a" b, Boats, old, Maré'


def test_a_message_without_an_id_is_the_same_with_other_labels(tmp_path: Path) -> None:
    first = letter(1, "X-Gmail-Labels: Drafts", named=False)
    second = letter(1, "X-Gmail-Labels: Drafts,Opened", named=False).replace("\n", "\r\n")
    one, two = tmp_path / "a.mbox", tmp_path / "b.mbox"
    one.write_text(box(first))
    two.write_bytes(box(second).encode())
    assert set(read(SOURCE, one)) == set(read(SOURCE, two))
    two.write_text(box(letter(1, text="high tide", named=False)))
    assert set(read(SOURCE, one)) != set(read(SOURCE, two))


@pytest.mark.parametrize("name", ["Outlook.pst", "hello.msg", "Inbox.dbx"])
def test_what_only_outlook_reads_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    put(tmp_path, {name: "!BDN", "notes.txt": "x"})
    seen = look(SOURCE, tmp_path)
    assert isinstance(seen, ExportRefusal)
    assert name in seen.message
    assert "Thunderbird" in seen.message
    put(tmp_path, {"one.eml": letter(1)})
    beside = look(SOURCE, tmp_path)
    assert isinstance(beside, Recognition)
    assert beside.notes == (seen.message,)


@pytest.mark.parametrize(
    "header",
    [
        "X-Delivered-To: n@lind.example",
        "Envelope-to: n@lind.example",
        "Delivered-to: n@lind.example",
        "X-Apparently-To: n@lind.example; Sat, 31 Jan",
        "Original-recipient: rfc822;n@lind.example",
    ],
)
def test_servers_say_in_many_ways_whose_mailbox_it_is(tmp_path: Path, header: str) -> None:
    path = put(tmp_path, {"a.mbox": box(letter(1, header), letter(2, header))}) / "a.mbox"
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("n@lind.example", True)


def test_the_folder_of_sent_mail_alone_is_of_who_sent_it(tmp_path: Path) -> None:
    path = put(tmp_path, {"Sent": box(*(letter(number) for number in range(5)))}) / "Sent"
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.identity == "nora@lind.example"


def test_mail_that_was_sent_to_one_person_alone_is_not_of_that_person(tmp_path: Path) -> None:
    def written(number: int, more: str = "") -> str:
        sender = ("nora@lind.example", "nora@work.example")[number % 2]
        return (
            f"From - Mon Feb  2 10:00:00 2026\n{more}Message-ID: <{number}@lind.example>\n"
            f"Date: Mon, 2 Feb 2026 10:00:00 +0000\nFrom: {sender}\nTo: ben@example.org\n"
            "Subject: Tides\n\nWords\n\n"
        )

    path = tmp_path / "Sent"
    path.write_text("".join(map(written, range(8))))
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("", False)
    carried = "Received: from a.example by b.example\n"
    path.write_text("".join(written(number, carried) for number in range(8)))
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("ben@example.org", True)


def test_tags_and_stars_of_thunderbird_are_labels(tmp_path: Path) -> None:
    letters = [
        letter(1, "X-Mozilla-Status: 0005", "X-Mozilla-Keys: $label4 choir NonJunk        "),
        letter(2, "X-Mozilla-Status: 0001", "X-Mozilla-Keys:                              "),
        letter(3, "X-Keywords: choir, $Forwarded", "X-Mozilla-Keys: choir"),
        letter(4, "X-Mozilla-Status: what?"),
    ]
    path = tmp_path / "Inbox"
    path.write_text(box(*letters))
    found = [data.get("labels") for data in read(SOURCE, path).values()]
    assert found == [["Starred", "To Do", "choir"], None, ["choir"], None]


def test_a_folder_of_thunderbird_inside_another_is_called_by_both(tmp_path: Path) -> None:
    files = {
        "Work": box(letter(1)),
        "Work.sbd/2019": box(letter(2)),
        "Work.sbd/2019.sbd/Bills": box(letter(3)),
    }
    indexes = {f"{name}.msf": INDEX for name in files}
    assert folders(put(tmp_path, files | indexes)) == {
        "Number 1": "Work",
        "Number 2": "Work/2019",
        "Number 3": "Work/2019/Bills",
    }


def test_messages_with_nothing_but_a_word_between_them_are_messages(tmp_path: Path) -> None:
    letters = [
        letter(1, "Delivered-To: ida@x.example"),
        letter(2, text=">From the sea\n\nFrom \nall of us"),
        letter(3, "Delivered-To: ida@x.example"),
    ]
    text = "".join(f"From \nX-Mozilla-Status: 0001\n{each}\n" for each in letters)
    for ends in ("\n", "\r\n"):
        path = tmp_path / "Inbox"
        path.write_bytes(text.replace("\n", ends).encode())
        found = [(data["subject"], data["body"]) for data in read(SOURCE, path).values()]
        assert [subject for subject, _ in found] == ["Number 1", "Number 2", "Number 3"]
        assert found[1][1] == "From the sea\n\nFrom \nall of us"
        seen = look(SOURCE, path)
        assert isinstance(seen, Recognition)
        assert seen.account == "Mail (ida@x.example)"


def test_a_word_alone_between_messages_needs_no_empty_line_before_it(tmp_path: Path) -> None:
    way = "Boat\nFrom \nTo: the mole\nFrom \nReceived with thanks"
    path = tmp_path / "Inbox"
    path.write_text("".join(f"From \n{letter(number, text=way)}" for number in (1, 2, 3)))
    assert [data["body"] for data in read(SOURCE, path).values()] == [way] * 3


@pytest.mark.parametrize(
    "day", ["2026-01-31T10:15:32Z", "31 Jan 2026 10:15:32 GMT", "Sa Jan 31 10:15:32 2026", ""]
)
def test_a_line_between_messages_may_write_its_day_in_any_way(tmp_path: Path, day: str) -> None:
    path = tmp_path / "Saved.mbox"
    path.write_text("".join(f"From nora@x.example {day}\n{letter(n)}\n" for n in (1, 2, 3)))
    assert len(read(SOURCE, path)) == 3


def test_messages_between_lines_of_marks_are_messages(tmp_path: Path) -> None:
    marks = "\x01\x01\x01\x01\n"
    letters = [letter(1), "From nora@example.org Sat Jan 31 10:15:32 2026\n" + letter(2), letter(3)]
    whole = "".join(f"{marks}{each}{marks}" for each in letters)
    path = put(tmp_path, {"inbox.mbox": whole}) / "inbox.mbox"
    said = read(SOURCE, path)
    assert len(said) == 3
    assert said == read(
        SOURCE, put(tmp_path / "plain", {"inbox.mbox": box(*map(letter, (1, 2, 3)))})
    )
    assert told(SOURCE, path) == []
    named = put(tmp_path / "named", {"inbox.mmdf": whole.replace("\n", "\r\n")})
    assert len(read(SOURCE, named)) == 3
    path.write_text(whole.removesuffix(marks))
    assert len(read(SOURCE, path)) == 3
    [cut] = told(SOURCE, path)
    assert isinstance(cut, Skipped)
    assert cut.cut


def of_outlook(number: int, body: str, *more: str) -> bytes:
    """Return a message as Outlook for Mac archives it."""
    people = "".join(
        f"<OPFMessageCopy{place}><emailAddress OPFContactEmailAddressAddress='{address}' "
        f"OPFContactEmailAddressName='{name}'/></OPFMessageCopy{place}>"
        for place, name, address in (
            ("FromAddresses", "Nora Lind", "nora@lind.example"),
            ("ToAddresses", "Benoît", "ben@x.example"),
        )
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><emails elementCount="1"><email>'
        f"<OPFMessageCopySubject>Nº {number}</OPFMessageCopySubject>"
        f"<OPFMessageCopyMessageID>m{number}@lind.example</OPFMessageCopyMessageID>"
        f"<OPFMessageCopySentTime>2026-01-31T09:15:0{number}</OPFMessageCopySentTime>"
        f"{people}{body}{''.join(more)}</email></emails>"
    ).encode()


def olm(path: Path) -> Path:
    messages = "Accounts/nora@lind.example/com.microsoft.__Messages"
    page = "<OPFMessageCopyHTMLBody>&lt;p&gt;low tide&lt;/p&gt;</OPFMessageCopyHTMLBody>"
    kept, lost = (
        f"<messageAttachment OPFAttachmentName='{name}' OPFAttachmentContentType='text/csv' "
        f"OPFAttachmentURL='Accounts/nora@lind.example/com.microsoft.__Attachments/{name}'/>"
        for name in ("tides.csv", "lost.csv")
    )
    files = f"<OPFMessageCopyAttachmentList>{kept}{lost}</OPFMessageCopyAttachmentList>"
    listed = "OPFMessageCopyCategoryList"
    tag = f"<{listed}><category OPFCategoryCopyName='Boat'/></{listed}>"
    plain = "<OPFMessageCopyBody>high tide</OPFMessageCopyBody>"
    return zipped(
        path,
        {
            f"{messages}/Inbox/message_00000.xml": of_outlook(1, page, files, tag),
            f"{messages}/Inbox/Work/message_00000.xml": of_outlook(2, plain),
            "Accounts/nora@lind.example/com.microsoft.__Attachments/tides.csv": b"4,10",
            "Local/Address Book/Contacts.xml": b"<contacts/>",
        },
    )


def test_an_archive_of_outlook_for_mac_is_read(tmp_path: Path) -> None:
    path = olm(tmp_path / "Outlook for Mac.olm")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.version, seen.identity) == ("2 messages", "nora@lind.example")
    records = read(SOURCE, path)
    [first, second] = [data for (stream, _), data in records.items() if stream == "messages"]
    assert (first["subject"], first["body"], first["folder"]) == ("Nº 1", "low tide", "Inbox")
    assert (second["body"], second["folder"]) == ("high tide", "Inbox/Work")
    assert (first["sent_at"], first["labels"]) == ("2026-01-31T09:15:01Z", ["Boat"])
    assert (first["sender"], first["to"]) == (
        "Nora Lind <nora@lind.example>",
        ["Benoît <ben@x.example>"],
    )
    files = [data["name"] for (stream, _), data in records.items() if stream == "attachments"]
    assert files == ["tides.csv", "lost.csv"]
    assert reasons(path) == ["a file that the mail program had not downloaded"]


def test_a_message_of_outlook_for_mac_without_an_id_is_always_the_same(tmp_path: Path) -> None:
    body = "<OPFMessageCopyBody>high tide</OPFMessageCopyBody>"
    draft = of_outlook(1, body).replace(b"m1@lind.example", b"")
    folder = "Accounts/nora@lind.example/com.microsoft.__Messages/Drafts"
    path = zipped(tmp_path / "mail.olm", {f"{folder}/1.xml": draft})
    renamed = zipped(tmp_path / "later.olm", {f"{folder}/2.xml": draft})
    [key] = [key for stream, key in read(SOURCE, path) if stream == "messages"]
    assert ("messages", key) in read(SOURCE, renamed)


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("text/csv", "text/csv"),
        ("message/rfc822", "application/octet-stream"),
        ("multipart/mixed", "application/octet-stream"),
        ("text/plain&#10;Subject: other", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_a_file_of_any_kind_that_is_lost_takes_no_message_of_outlook_with_it(
    tmp_path: Path, kind: str, media_type: str
) -> None:
    file = f"<messageAttachment OPFAttachmentName='tide' OPFAttachmentContentType='{kind}'/>"
    body = "<OPFMessageCopyBody>high tide</OPFMessageCopyBody>"
    messages = "Accounts/nora@lind.example/com.microsoft.__Messages"
    path = zipped(tmp_path / "mail.olm", {f"{messages}/Inbox/1.xml": of_outlook(1, body, file)})
    [message, attached] = read(SOURCE, path).values()
    assert (message["subject"], message["body"]) == ("Nº 1", "high tide")
    assert (attached["name"], attached["media_type"]) == ("tide", media_type)
    assert reasons(path) == ["a file that the mail program had not downloaded"]


def test_an_archive_of_outlook_for_mac_is_the_same_in_a_folder(tmp_path: Path) -> None:
    olm(tmp_path / "downloads" / "mail.olm")
    home = Home(tmp_path / "home")
    report = home.bring(tmp_path / "downloads")
    assert counts(report)["new"] == 4
    assert report["files"]["unknown"] == []
    assert [left["reason"] for left in report["files"]["passed_over"]] == [
        "an archive, whose files are looked at by themselves",
        "contacts of Outlook for Mac, which are not read",
    ]
    again = home.bring(olm(tmp_path / "other" / "renamed.olm"))
    assert counts(again)["unchanged"] == 4


def test_a_mailbox_that_is_called_as_a_text_comes_in_beside_other_files(tmp_path: Path) -> None:
    listed = {"2020-January.txt": box(letter(1), letter(2)), "notes.txt": "From here to there"}
    assert folders(put(tmp_path / "list", listed)).keys() == {"Number 1", "Number 2"}
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "list" / "2020-January.txt")
    packed = zipped(tmp_path / "list.zip", {name: text.encode() for name, text in listed.items()})
    assert home.bring(packed)["counts"]["new"] == 0


def test_a_letter_without_an_id_is_the_same_with_the_line_ends_of_an_old_mac(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    text = letter(1, named=False)
    home.bring(put(tmp_path / "a", {"one.eml": text}) / "one.eml")
    again = tmp_path / "one.eml"
    again.write_bytes(text.replace("\n", "\r").encode())
    assert home.bring(again)["counts"]["new"] == 0
