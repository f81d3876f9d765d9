"""Mail in mailboxes, single files and Maildir folders, well-formed and not."""

import base64
from email.message import EmailMessage
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
    zipped,
)

from pdpp.sources.formats.mail.encoded import decoded
from pdpp.sources.formats.mail.source import Mail
from pdpp.sources.item import Item
from pdpp.sources.reading.html import html_text
from pdpp.sources.source import Confidence, Recognition

SOURCE = Mail()
ENVELOPE = "From 1234567890@xxx Sat Jan 31 10:15:32 +0000 2026\n"


def letter(number: int, subject: str, text: str, *more: str) -> str:
    """Return a plain message as it stands in a mailbox."""
    lines = [
        f"Message-ID: <m{number}@lind.example>",
        f"Date: Sat, 31 Jan 2026 10:15:{number:02} +0100",
        "From: Nora Lind <nora@lind.example>",
        "To: Ana <ana@lind.example>, ben@lind.example",
        f"Subject: {subject}",
        *more,
        "",
        text,
    ]
    return "\n".join(lines) + "\n"


GMAIL = letter(
    1,
    "=?utf-8?q?Mar=C3=A9_alta?=",
    "The table is wrong by an hour.\n\n>From noon on, nobody should cross the mole.\n>>From x\n",
    "Delivered-To: ana@lind.example",
    "X-GM-THRID: 177",
    "X-Gmail-Labels: =?UTF-8?Q?Caixa_de_entrada,Mar=C3=A9s?=,Starred",
    "Content-Type: text/plain; charset=utf-8",
)
REPLY = letter(
    2,
    "Re: tides",
    "Thanks",
    "In-Reply-To: <m1@lind.example>",
    "References: <m0@lind.example> <m1@lind.example>",
)


def rich() -> str:
    """Return a message that is HTML with a picture, made by the standard library."""
    made = EmailMessage()
    made["Message-ID"] = "<rich@lind.example>"
    made["Date"] = "Sun, 01 Feb 2026 09:00:00 -0000"
    made["From"] = "Ben Costa <ben@costa.example>"
    made["Subject"] = "A chart of the harbour"
    page = (
        "<html><head><title>no</title><style>p{}</style></head><body><p>Dear&nbsp;Nora,</p>"
        "<ul><li>bring the <b>green</b> folder</li><li>and&#8203; tea</li></ul>"
        "<script>alert(1)</script></body></html>"
    )
    made.set_content(page, subtype="html")
    made.add_attachment(
        b"\xff\xd8\xff chart", maintype="image", subtype="jpeg", filename="chart.jpg"
    )
    return made.as_string()


ODD = (
    "Message-ID: <odd@x.example>\nDate: yesterday\nReceived: by x; Mon, 2 Feb 2026 08:00:00 GMT\n"
    'From: "Unbalanced <x@x.example>\nSubject: =?x-unknown?q?caf=E9?=\n'
    "Content-Type: text/plain; charset=klingon\nContent-Transfer-Encoding: 8bit\n\nSão João\n"
)


def box(*mbox_messages: str) -> bytes:
    return "".join(f"{ENVELOPE}{each}\n" for each in mbox_messages).encode()


def put(folder: Path, content: bytes, name: str = "All mail.mbox") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_mailbox_is_recognised_and_named_by_whose_it_is(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, box(GMAIL, REPLY)))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.version) == (Confidence.CERTAIN, "1 mailbox")
    assert seen.account == "Mail (ana@lind.example)"


def test_single_messages_and_maildirs_are_recognised(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, REPLY.encode(), "re.eml"))
    assert isinstance(seen, Recognition)
    assert (seen.version, seen.account) == ("1 message", "Mail (re)")
    put(tmp_path / "maildir", GMAIL.encode(), "Archive/cur/1.M1P2.host:2,S")
    put(tmp_path / "maildir", REPLY.encode(), "Archive/new/2.M1P2.host")
    seen = look(SOURCE, tmp_path / "maildir")
    assert isinstance(seen, Recognition)
    assert (seen.version, seen.records) == ("2 messages", 2)
    folders = {data["folder"] for data in read(SOURCE, tmp_path / "maildir").values()}
    assert folders == {"Archive"}


def test_other_text_is_not_taken(tmp_path: Path) -> None:
    assert look(SOURCE, put(tmp_path, b"From here to there\n\nA story\n", "story.mbox")) is None
    assert look(SOURCE, put(tmp_path, b"Subject: only one\n\nx", "note.eml")) is None
    assert look(SOURCE, put(tmp_path / "f", b"plain", "notes/README")) is None


def test_mail_gives_these_records(tmp_path: Path) -> None:
    path = put(tmp_path, box(GMAIL, REPLY, rich(), ODD))
    golden("mail", read(SOURCE, path))
    assert told(SOURCE, path) == []


def test_html_mail_becomes_text_and_the_original_is_kept(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(put(tmp_path, box(rich())))
    records = home.records()
    (message,) = [data for (stream, _), data in records.items() if stream == "messages"]
    assert message["body"].startswith("Dear Nora,\n\n- bring the green folder\n- and")
    assert "alert" not in message["body"]
    assert message["html"]["mime_type"] == "text/html"
    (file,) = [data for (stream, _), data in records.items() if stream == "attachments"]
    assert (file["name"], file["file"]["size_bytes"]) == ("chart.jpg", len(b"\xff\xd8\xff chart"))


def test_a_message_in_several_mailboxes_comes_once_with_the_smallest_of_them(
    tmp_path: Path,
) -> None:
    put(tmp_path / "m", box(letter(3, "old", "x"), REPLY, letter(4, "new", "x")), "All mail.mbox")
    put(tmp_path / "m", box(REPLY, letter(4, "new", "x")), "Inbox.mbox")
    put(tmp_path / "m", box(REPLY), "Saved/mbox")
    records = read(SOURCE, tmp_path / "m").values()
    places = {data["subject"]: data["folder"] for data in records}
    assert places == {"old": "All mail", "new": "Inbox", "Re: tides": "Saved"}
    assert [found.example for found in told(SOURCE, tmp_path / "m")] == [
        "Inbox.mbox message 1",
        "All mail.mbox message 2",
        "All mail.mbox message 3",
    ]


def test_copies_of_a_mailbox_in_one_folder_bring_in_what_each_of_them_alone_does(
    tmp_path: Path,
) -> None:
    home, own = Home(tmp_path / "home"), "Delivered-To: nora@lind.example"
    letters = [letter(number, f"Number {number}", "x", own) for number in range(6)]
    put(tmp_path / "m", box(*letters[:4]), "All mail.mbox")
    put(tmp_path / "m", box(*letters[:5]), "later/All mail-001.mbox")
    put(tmp_path / "m", box(*letters), "mine/mail.mbox")
    for path in (tmp_path / "m/All mail.mbox", tmp_path / "m", tmp_path / "m/mine/mail.mbox"):
        home.bring(path)
    assert len(home.records()) == 6


def test_a_text_that_was_not_downloaded_comes_with_a_mailbox_that_names_no_folder(
    tmp_path: Path,
) -> None:
    home, owner = Home(tmp_path / "home"), ("--account", "nora@lind.example")
    head, _, _ = REPLY.partition("\n\n")
    put(tmp_path / "m", box(f"{head}\n\n"), "Inbox.mbox")
    put(tmp_path / "m", box(letter(3, "old", "x")), "Saved.mbox")
    home.bring(tmp_path / "m", *owner)
    home.bring(put(tmp_path, box(REPLY), "Inbox.mbox"), *owner)
    [reply] = [data for data in home.records().values() if data["subject"] == "Re: tides"]
    assert reply["folder"] == "Inbox"
    assert reply["body"] == "Thanks"


def test_the_folder_of_a_message_stays_where_its_mailbox_comes_alone_later(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    put(tmp_path / "m", box(REPLY), "Inbox.mbox")
    put(tmp_path / "m", box(letter(3, "old", "x")), "Saved.mbox")
    home.bring(tmp_path / "m", "--account", "nora@lind.example")
    alone = put(tmp_path, box(REPLY, letter(4, "new", "x")), "Inbox.mbox")
    report = home.bring(alone, "--account", "nora@lind.example")
    assert (report["counts"]["new"], report["counts"]["unchanged"]) == (1, 1)
    places = {data["subject"]: data.get("folder") for data in home.records().values()}
    assert places == {"Re: tides": "Inbox", "old": "Saved", "new": None}


def test_a_message_that_stands_twice_and_what_is_none_are_told(tmp_path: Path) -> None:
    path = put(tmp_path, box(GMAIL, GMAIL))
    assert [found.reason for found in told(SOURCE, path)] == ["a message that stands twice"]
    put(tmp_path / "e", REPLY.encode(), "a.eml")
    put(tmp_path / "e", b"nothing", "b.eml")
    assert [found.reason for found in told(SOURCE, tmp_path / "e")] == ["a file that is no message"]


def test_a_message_too_large_is_told_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.sources.formats.mail.mbox.LARGEST", 2_000)
    monkeypatch.setattr("pdpp.sources.formats.mail.source.LARGEST", 2_000)
    big = letter(5, "big", "x" * 1_500 + "\n" + "y" * 1_500)
    path = put(tmp_path, box(big, REPLY))
    assert [data["subject"] for data in read(SOURCE, path).values()] == ["Re: tides"]
    assert [found.reason for found in told(SOURCE, path)] == ["a message too large"]
    path = put(tmp_path, big.encode(), "big.eml")
    assert [found.reason for found in told(SOURCE, path)] == ["a message too large"]


def test_a_time_comes_from_who_carried_the_message_or_not_at_all(tmp_path: Path) -> None:
    bare = ODD.replace("Received: by x; Mon, 2 Feb 2026 08:00:00 GMT\n", "")
    (carried,) = read(SOURCE, put(tmp_path, box(ODD))).values()
    assert carried["sent_at"] == "2026-02-02T08:00:00Z"
    path = put(tmp_path, f"To: x@x.example\n{bare}".encode(), "odd.eml")
    (timeless,) = read(SOURCE, path).values()
    assert "sent_at" not in timeless


def test_a_message_inside_a_message_is_a_file(tmp_path: Path) -> None:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "a@x.example", "b@x.example", "Fwd"
    made.set_content("see below")
    inner = EmailMessage()
    inner["Subject"] = "inner"
    inner.set_content("the secret of the tide")
    made.add_attachment(inner)
    found = findings(SOURCE, put(tmp_path, made.as_bytes(), "fwd.eml"))
    files = [item for item in found if isinstance(item, Item) and item.stream == "attachments"]
    assert b"secret of the tide" in files[0].attachments[0].open().read()


def test_raw_bytes_in_headers_are_read_as_letters(tmp_path: Path) -> None:
    raw = REPLY.encode().replace(b"Re: tides", "Maré alta".encode("latin-1"))
    (data,) = read(SOURCE, put(tmp_path, raw, "raw.eml")).values()
    assert data["subject"] == "Maré alta"


def test_a_wrong_encoding_of_a_body_loses_nothing(tmp_path: Path) -> None:
    wrong = letter(7, "x", "not base64 at all!", "Content-Transfer-Encoding: base64")
    right = letter(
        8, "y", base64.b64encode(b"ol\xe1").decode(), "Content-Transfer-Encoding: base64"
    )
    bodies = [data["body"] for data in read(SOURCE, put(tmp_path, box(wrong, right))).values()]
    assert len(bodies) == 2
    assert "olá" in bodies


def test_pages_become_lines() -> None:
    assert html_text("<p>a<br>b</p><table><tr><td>c</td><td>d</td></tr></table>") == "a\nb\n\nc\nd"
    assert html_text("") == ""


def test_words_behind_a_block_do_not_run_into_it() -> None:
    assert html_text("<div>low tide</div>at noon<p>then</p><b>home</b>") == (
        "low tide\nat noon\nthen\nhome"
    )
    assert html_text("<span><div>low</div></span>tide<br>now") == "low\ntide\nnow"
    assert html_text("<p>a</p> <p>b</p>\n<p>c</p>") == "a\nb\nc"


def test_lines_that_a_page_sets_itself_stay_lines() -> None:
    assert html_text("<p>one\ntwo</p><pre>one\n<b>two\nthree</b></pre>") == (
        "one two\none\ntwo\nthree"
    )


def test_the_same_mailbox_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(put(tmp_path, box(GMAIL, REPLY, rich())), tmp_path)


def test_a_mailbox_and_then_a_longer_one_are_the_longer_one(tmp_path: Path) -> None:
    first = put(tmp_path, box(GMAIL), "a.mbox")
    check_overlap(first, put(tmp_path, box(REPLY, GMAIL), "b.mbox"), tmp_path)


def test_a_cut_mailbox_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    check_cuts(SOURCE, box(GMAIL, REPLY), lambda cut: put(tmp_path, cut))


def test_hostile_mail_is_survived(tmp_path: Path) -> None:
    check_hostile_text(SOURCE, box(GMAIL, rich()), lambda content: put(tmp_path, content))
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, {"Takeout/Mail/All mail.mbox": box(GMAIL)}, folder)


@given(st.permutations([1, 2, 3]), st.integers(min_value=1, max_value=3))
def test_keys_do_not_depend_on_what_else_is_in_a_mailbox(order: list[int], count: int) -> None:
    from tempfile import TemporaryDirectory

    made = {number: letter(number, f"s{number}", "text") for number in (1, 2, 3)}
    with TemporaryDirectory() as folder:
        whole = read(SOURCE, put(Path(folder), box(*made.values())))
        some = read(SOURCE, put(Path(folder), box(*(made[number] for number in order[:count]))))
    assert set(some) <= set(whole)


def test_an_agent_finds_a_sentence_in_a_takeout(tmp_path: Path) -> None:
    path = zipped(tmp_path / "takeout.zip", {"Takeout/Mail/All mail.mbox": box(GMAIL, REPLY)})
    report = bring_and_ask(path, tmp_path, "nobody should cross", "From noon on, nobody should")
    assert report["counts"]["new"] == 2


def mail_to(owner: str, number: int) -> bytes:
    made = EmailMessage()
    made["From"] = f"person{number}@x.example"
    made["To"] = f"Nora <{owner}>"
    made["Subject"] = f"Number {number}"
    made["Message-ID"] = f"<{number}@x.example>"
    made["Date"] = "Thu, 1 Jan 2026 00:00:00 +0000"
    made.set_content(f"Text of message {number}.\n")
    return b"From x Thu Jan  1 00:00:00 2026\n" + made.as_bytes() + b"\n"


def test_the_owner_is_the_address_that_most_messages_are_to_or_from(tmp_path: Path) -> None:
    path = tmp_path / "anything.mbox"
    path.write_bytes(b"".join(mail_to("nora@lind.example", n) for n in range(9)))
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("nora@lind.example", True)


def test_a_mailbox_under_three_names_is_one_account(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    accounts = set()
    for number, name in enumerate(("Inbox.mbox", "Inbox (1).mbox", "renamed")):
        folder = tmp_path / str(number)
        folder.mkdir()
        # Nothing says whose mailbox it is: its messages are compared with those stored.
        content = b"".join(mail_to(f"list{n}@x.example", n) for n in range(10 + number))
        (folder / name).write_bytes(content)
        report = home.bring(folder / name)
        accounts.add(report["connection"]["connection_id"])
        assert report["counts"]["new"] == (10 if not number else 1)
    assert len(accounts) == 1


def test_a_last_message_without_an_end_of_line_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_bytes((mail_to("nora@lind.example", 1)).rstrip(b"\n"))
    assert len(read(SOURCE, path)) == 1
    [note] = told(SOURCE, path)
    assert not note.cut  # type: ignore[union-attr]


def test_a_message_with_an_envelope_line_or_old_line_ends_is_read(tmp_path: Path) -> None:
    content = mail_to("nora@lind.example", 1)
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "one.eml").write_bytes(content)
    (folder / "two.eml").write_bytes(b"\xef\xbb\xbf" + content.partition(b"\n")[2])
    assert [data["subject"] for data in read(SOURCE, folder).values()] == ["Number 1"]
    assert [found.reason for found in told(SOURCE, folder)] == ["a message that stands twice"]


def test_a_sentence_that_begins_with_from_begins_no_message(tmp_path: Path) -> None:
    said = "We sailed.\n\nFrom May to June 2025\nnobody was here: twice.\n\nFrom noon\non we slept."
    path = put(tmp_path, box(letter(1, "log", said), letter(2, "next", "x")))
    assert [data["body"] for data in read(SOURCE, path).values()] == [said, "x"]


def test_messages_are_told_apart_by_lines_of_many_kinds(tmp_path: Path) -> None:
    envelopes = (
        "From - ",  # Netscape
        "From - Mon Jun  3 12:50:27 1996",
        "From n@x.example Mon Jun  3 12:50:27 1996 remote from boat",
        "From  Mon Jun  3 12:50:27 1996",
        "From ???@??? Mon Jun 03 12:50:27 1996",  # Eudora
        "From n@x.example Mon Jun  3 12:50 MET DST 1996",
    )
    for between in ("", "\n"):
        made = (f"{line}\n{letter(n, str(n), 'x')}{between}" for n, line in enumerate(envelopes))
        path = put(tmp_path, "".join(made).encode())
        subjects = [data["subject"] for data in read(SOURCE, path).values()]
        assert subjects == ["0", "1", "2", "3", "4", "5"]


def test_a_mailbox_of_an_old_macintosh_or_behind_empty_lines_is_read(tmp_path: Path) -> None:
    content = box(GMAIL, REPLY)
    for changed in (content.replace(b"\n", b"\r"), b"\r\n\r\n" + content):
        assert len(read(SOURCE, put(tmp_path, changed))) == 2


def test_space_around_encoded_words_stays_and_long_headers_are_quick() -> None:
    assert decoded("=?utf-8?q?Tide?=\r\n table =?utf-8?b?w6k=?= =?utf-8?q?t=C3=A9?=") == (
        "Tide table été"
    )
    assert decoded("=?utf-8?q?=C3?= =?utf-8?q?=A9?=") == "é"
    assert len(decoded("=?utf-8?q?x?= " * 200_000)) <= 256 << 10


def test_a_message_has_the_same_key_in_a_mailbox_alone_and_among_others(tmp_path: Path) -> None:
    alone = read(SOURCE, put(tmp_path, box(GMAIL)))
    put(tmp_path / "m", box(GMAIL), "Inbox.mbox")
    put(tmp_path / "m", box(GMAIL, REPLY), "Saved.mbox")
    assert set(alone) < set(read(SOURCE, tmp_path / "m"))


@pytest.mark.parametrize(
    "envelope",
    [
        "From nora@lind.example Sat Jan 31 10:15:32 2026 PST",
        "From nora@lind.example Sat Jan 31 10:15:32 PST 2026",
        "From nora@lind.example Sat Jan 31 10:15:32 2026 +0100",
        "From nora@lind.example  Sat Jan 31 10:15 2026",
        "From - Sat Jan 31 10:15:32 2026",
        "From nora",
    ],
)
@pytest.mark.parametrize("before", ["\n", ""])
def test_a_mailbox_is_divided_at_every_kind_of_envelope(
    tmp_path: Path, envelope: str, before: str
) -> None:
    if before == "" and envelope == "From nora":
        return  # Nothing says that this line is none of the text.
    content = (
        f"{envelope}\n{letter(1, 'one', 'First')}{before}{envelope}\n{letter(2, 'two', 'Second')}"
    )
    records = read(SOURCE, put(tmp_path, content.encode())).values()
    assert [data["body"] for data in records] == ["First", "Second"]


def test_a_line_of_a_text_that_begins_as_envelopes_do_divides_nothing(tmp_path: Path) -> None:
    text = "We left.\n\nFrom Lisbon\nwe sailed on.\n\nFrom January to March 2026\nwe slept."
    (data,) = read(SOURCE, put(tmp_path, box(letter(1, "one", text)))).values()
    assert data["body"] == text


def test_a_mailbox_whose_first_line_is_of_no_known_kind_loses_nothing(tmp_path: Path) -> None:
    content = f"\nFrom nora Sat Jan 31 2026 remote from quay\n{letter(1, 'one', 'First')}"
    (data,) = read(SOURCE, put(tmp_path, content.encode())).values()
    assert data["body"] == "First"


def test_a_message_that_thunderbird_marked_as_deleted_is_told_and_left_out(tmp_path: Path) -> None:
    gone = letter(1, "gone", "Gone", "X-Mozilla-Status: 0009")
    path = put(tmp_path, box(gone, letter(2, "here", "Here", "X-Mozilla-Status: 0001")))
    assert [data["body"] for data in read(SOURCE, path).values()] == ["Here"]
    assert [found.reason for found in told(SOURCE, path)] == ["a message that its owner deleted"]


def test_what_a_server_notes_at_the_top_of_a_mailbox_is_told_and_is_no_message(
    tmp_path: Path,
) -> None:
    notes = (
        "From: Mail System Internal Data <MAILER-DAEMON@quay.example>\n"
        "Subject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA\n"
        "X-IMAP: 1769863800 0000000002\n\nThis text is part of the format of your mailbox.\n"
    )
    path = put(tmp_path, box(notes, letter(2, "here", "Here")))
    assert [data["body"] for data in read(SOURCE, path).values()] == ["Here"]
    [found] = told(SOURCE, path)
    assert found.reason == "what a mail program notes of a mailbox, which is no message"


def test_messages_of_apple_mail_are_read_without_what_it_adds(tmp_path: Path) -> None:
    message = letter(1, "one", "First")
    content = f"{len(message)}   \n{message}<?xml version='1.0'?><plist></plist>\n"
    put(tmp_path / "V10" / "INBOX.mbox" / "1A2B" / "Messages", content.encode(), "17.emlx")
    (data,) = read(SOURCE, tmp_path / "V10").values()
    assert (data["subject"], data["body"], data["folder"]) == ("one", "First", "INBOX")


def parts(kind: str, *inner: str) -> str:
    """Return the lines of a message of several parts, from its content type on."""
    bound = f"b{len(''.join(inner))}"
    lines = "".join(f"--{bound}\n{part}\n" for part in inner)
    return f'Content-Type: multipart/{kind}; boundary="{bound}"\n\n{lines}--{bound}--\n'


def whole(content: str) -> bytes:
    return b"From: a@b.example\nTo: c@b.example\nSubject: x\nMIME-Version: 1.0\n" + content.encode()


PAGE = "Content-Type: text/html\n\n<p>The <b>tide</b> turns</p>"
WORDS = "Content-Type: text/plain\n\nThe tide turns"


def test_a_page_is_read_beside_the_footer_of_a_list(tmp_path: Path) -> None:
    footer = "Content-Type: text/plain\n\n____\nList of the harbour"
    (item,) = findings(SOURCE, put(tmp_path, whole(parts("mixed", PAGE, footer)), "x.eml"))[1:]
    assert isinstance(item, Item)
    assert item.data["body"] == "The tide turns\n\n____\nList of the harbour"
    assert [file.field for file in item.attachments] == ["html"]


def test_words_count_before_a_page_that_says_the_same(tmp_path: Path) -> None:
    picture = 'Content-Type: image/png; name="x.png"\n\nabc'
    path = put(tmp_path, whole(parts("alternative", WORDS, parts("mixed", PAGE, picture))), "x.eml")
    message, file = read(SOURCE, path).values()
    assert (message["body"], file["name"]) == ("The tide turns", "x.png")


@pytest.mark.parametrize(
    ("charset", "content", "text"),
    [
        ("gb2312", "镕".encode("gbk"), "镕"),
        ("iso-8859-1", "“tide” – €5".encode("cp1252"), "“tide” – €5"),
        ("us-ascii", "Küste".encode(), "Küste"),
        ("utf-8", "Über Größe und Küste \u20ac".encode()[:-1], "Über Größe und Küste \ufffd"),
        ("utf-8", "Küste".encode("cp1252"), "Küste"),
        ("x-nothing", "Küste".encode("cp1252"), "Küste"),
    ],
)
def test_a_charset_means_what_programs_write_with_it(
    tmp_path: Path, charset: str, content: bytes, text: str
) -> None:
    message = whole(f"Content-Type: text/plain; charset={charset}\n\n") + content
    (data,) = read(SOURCE, put(tmp_path, message, "x.eml")).values()
    assert data["body"] == text


def test_files_have_their_names_in_raw_letters_and_messages_their_subject(tmp_path: Path) -> None:
    file = (
        'Content-Type: application/pdf\nContent-Disposition: attachment; filename="Küste.pdf"\n\nx'
    )
    inner = "Content-Type: message/rfc822\n\nFrom: d@b.example\nSubject: The tide\n\nturns"
    path = put(tmp_path, whole(parts("mixed", WORDS, file, inner)), "x.eml")
    names = [data["name"] for data in read(SOURCE, path).values() if "media_type" in data]
    assert names == ["Küste.pdf", "The tide.eml"]
