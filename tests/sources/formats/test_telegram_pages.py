"""Telegram's web pages: the records they give agree with those of the JSON export."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.formats.telegram_pages import (
    PHOTO,
    answer_to,
    card,
    entry,
    note,
    page,
    put,
    said,
    shown,
)
from tests.sources.kit import (
    Home,
    Records,
    bring_and_ask,
    check_cuts,
    check_hostile_zip,
    check_overlap,
    check_twice,
    look,
    read,
    told,
)
from tests.yardstick import computing_at_most

from pdpp.sources.formats.telegram import duplicates
from pdpp.sources.formats.telegram.duplicates import account_beginnings, mark_of
from pdpp.sources.formats.telegram.source import Telegram
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import Recognition

SOURCE = Telegram()
DAY = note(-1, "1 January 2026")
GONE = "Not included, change data exporting settings to download."
NORA = "Nora Lind"
START = 1_767_250_800
"""10:00:00 of the first day, in the zone of the pages."""


def chat_page(*messages: str, name: str = "Sailing club ") -> str:
    return page(DAY + "".join(messages), name)


def message(number: int, seconds: int, text: Any = "", **more: Any) -> dict[str, Any]:
    told = {"id": number, "type": "message", "date_unixtime": str(START + seconds)}
    return {**told, "date": "2026-01-01T10:00:00", "from": NORA, "text": text, **more}


def result(messages: list[dict[str, Any]], **about: Any) -> str:
    chat = {"name": "Sailing club", "type": "private_supergroup", "id": 900, **about}
    return json.dumps({**chat, "messages": messages}, ensure_ascii=False)


def of_stream(records: Records, stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


_KEYS = ("id", "chat_id", "message_id", "reply_to", "kind")


def alike(folder: Path, pages: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare the records of a page with those of JSON, without ids, which a page does not have."""
    files: dict[str, str | bytes] = {"photos/boat.jpg": PHOTO, "files/log.pdf": b"%PDF"}
    left = read(SOURCE, put(folder / "pages", {**files, "messages.html": pages}))
    right = read(SOURCE, put(folder / "json", {**files, "result.json": result(messages)}))
    bare = [
        [
            {name: value for name, value in data.items() if name not in _KEYS}
            for data in records.values()
        ]
        for records in (left, right)
    ]
    assert bare[0] == bare[1]
    return of_stream(left, "messages")


def test_texts_senders_and_answers_are_those_of_the_json(tmp_path: Path) -> None:
    text = (
        'See <a href="https://tides.example">https://tides.example</a>, '
        '<a href="https://chart.example/x?a=1&amp;b=2">the chart</a> &amp; '
        '<a href="https://t.me/bo">@bo</a> <a href="" onclick="return ShowHashtag(1)">#sea</a>'
        "<br><br><strong>Sunday</strong> &lt;early&gt; "
    )
    pieces = [
        "See ",
        {"type": "link", "text": "https://tides.example"},
        ", ",
        {"type": "text_link", "text": "the chart", "href": "https://chart.example/x?a=1&b=2"},
        " & ",
        {"type": "mention", "text": "@bo"},
        " ",
        {"type": "hashtag", "text": "#sea"},
        "\n\n",
        {"type": "bold", "text": "Sunday"},
        " <early> ",
    ]
    forwarded = (
        '<div class="pull_left forwarded userpic_wrap">\n\n</div>\n\n<div class="forwarded body">\n'
        '<div class="from_name">\nHarbour master via @bot<span class="date details" '
        'title="31.12.2025 09:00:00 UTC+03:00"> 31.12.2025 09:00:00</span>\n</div>\n'
        '<div class="text">\nStorm at noon\n</div>\n</div>\n'
    )
    again = '<div class="forwarded body">\n<div class="text">\nAnd at night\n</div>\n</div>\n'
    pages = chat_page(
        said(2, "10:00:00", text, sender=f"{NORA}"),
        said(3, "10:00:07", "Bring a lantern", before=answer_to(2)),
        said(4, "10:00:09", sender="Bo  via @robot", after=forwarded),
        said(5, "10:00:10", after=again),
        said(6, "10:00:11", "Hm", sender="Deleted Account"),
    )
    messages = [
        message(2, 0, pieces),
        message(3, 7, "Bring a lantern"),
        message(4, 9, "Storm at noon", **{"from": "Bo", "forwarded_from": "Harbour master"}),
        message(5, 10, "And at night", **{"from": "Bo", "forwarded_from": "Harbour master"}),
        message(6, 11, "Hm", **{"from": None}),
    ]
    records = alike(tmp_path, pages, messages)
    assert records[1]["reply_to"] == records[0]["id"]


def test_what_comes_with_a_message_is_that_of_the_json(tmp_path: Path) -> None:
    poll = (
        '<div class="media_wrap clearfix">\n<div class="media_poll">\n'
        '<div class="question bold">\nWhen?\n</div>\n'
        '<div class="details">\nAnonymous poll\n</div>\n<div class="answer">\n'
        '- At dawn <span class="details">2 votes, chosen vote</span>\n</div>\n'
        '<div class="answer">\n- At noon\n</div>\n<div class="total details">\n2 votes\n</div>\n'
        "</div>\n</div>\n"
    )
    todo = poll.replace("Anonymous poll", "To-do List").replace(
        ' <span class="details">2 votes, chosen vote</span>', ""
    )
    place = "https://maps.google.com/maps?q=55.750000,-37.620000&ll=55.750000,-37.620000&z=16"
    reactions = (
        '<span class="reactions">\n<span class="reaction active">\n'
        '<span class="emoji">\n👍\n</span>\n<span class="userpics">\n'
        '<div class="userpic userpic1">\n<div class="initials" title="Bo">\nB\n</div>\n</div>\n'
        '</span>\n</span>\n<span class="reaction paid">\n<span class="emoji">\n⭐\n</span>\n'
        '<span class="count">\n12\n</span>\n</span>\n</span>\n'
    )
    pages = chat_page(
        said(1, "10:00:00", "Look", sender=NORA, before=shown("photo", "photos/boat.jpg")),
        said(2, "10:00:01", before=card("media_file", "log.pdf", "4 B", "files/log.pdf")),
        said(3, "10:00:02", before=card("media_file", "big.zip", "9 GB", description=GONE)),
        said(4, "10:00:03", before=card("media_voice_message", "Voice message", "00:05", "", GONE)),
        said(5, "10:00:04", before=card("media_audio_file", "Bo – Shanty", "02:00", "", GONE)),
        said(6, "10:00:05", before=card("media_photo", "Sticker", "⛵, 20.1 KB", "", GONE)),
        said(7, "10:00:06", before=card("media_video", "Video message", "00:09", "", GONE)),
        said(8, "10:00:07", before=poll),
        said(9, "10:00:08", before=todo),
        said(10, "10:00:09", before=card("media_location", "Location", "55.75, -37.62", place)),
        said(11, "10:00:10", before=card("media_venue", "The mole", "", place, "Pier 2")),
        said(12, "10:00:11", before=card("media_contact", "Ana Sá", "+351 91")),
        said(13, "10:00:12", "Good", after=reactions),
        said(14, "10:00:13", before=card("media_call success", "Bo", "Outgoing (12 seconds)")),
        said(15, "10:00:14", before=card("media_game", "Chess", "", "https://t.me/x?game=c")),
    )
    left_out = "(File not included. Change data exporting settings to download.)"
    poll_value = {
        "question": "When?",
        "answers": [{"text": "At dawn", "voters": 2}, {"text": "At noon", "voters": 0}],
    }
    answers = [{"text": "At dawn", "id": 1}, {"text": "At noon", "id": 2}]
    position = {"location_information": {"latitude": 55.75, "longitude": -37.62}}
    likes = [
        {"type": "emoji", "emoji": "👍", "count": 1},
        {"type": "paid", "count": 12},
    ]
    call = {"type": "service", "action": "phone_call", "duration_seconds": 12, "actor": NORA}
    messages = [
        message(1, 0, "Look", photo="photos/boat.jpg"),
        message(2, 1, file="files/log.pdf", file_name="log.pdf"),
        message(3, 2, file=left_out, file_name="big.zip"),
        message(4, 3, file=left_out, media_type="voice_message"),
        message(5, 4, file=left_out, media_type="audio_file", performer="Bo", title="Shanty"),
        message(6, 5, file=left_out, media_type="sticker", sticker_emoji="⛵"),
        message(7, 6, file=left_out, media_type="video_message"),
        message(8, 7, poll=poll_value),
        message(9, 8, todo_list={"title": "When?", "answers": answers}),
        message(10, 9, **position),
        message(11, 10, place_name="The mole", address="Pier 2", **position),
        message(12, 11, contact_information={"first_name": "Ana Sá", "phone_number": "+351 91"}),
        message(13, 12, "Good", reactions=likes),
        message(14, 13, **call),
        message(15, 14, game_title="Chess"),
    ]
    alike(tmp_path, pages, messages)


def test_notes_have_the_day_and_the_order_of_the_page(tmp_path: Path) -> None:
    link = '<a class="userpic_link" href="photos/boat.jpg">'
    picture = f'<div class="userpic_wrap">\n{link}\n</a>\n</div>'
    pages = page(
        DAY
        + note(1, "Nora Lind created group &laquo;Sailing club&raquo;")
        + said(2, "23:50:00", "Ahoy", sender=NORA)
        + note(3, "Nora Lind changed group photo", picture)
        + note(-2, "2 January 2026")
        + note(4, "Bo joined group by link")
        + note(5, "This message is not supported by this version of Telegram Desktop.")
        + note(-999_627_917, "Nora Lind pinned this message"),
        "Sailing club ",
    )
    path = put(tmp_path / "e", {"messages.html": pages, "photos/boat.jpg": PHOTO})
    records = read(SOURCE, path)
    found = of_stream(records, "messages")
    assert [(data["text"], data["service"], data["sent_at"]) for data in found] == [
        ("Nora Lind created group «Sailing club»", True, "2026-01-01T00:00:00+03:00"),
        ("Ahoy", False, "2026-01-01T20:50:00Z"),
        ("Nora Lind changed group photo", True, "2026-01-01T20:50:00Z"),
        ("Bo joined group by link", True, "2026-01-02T00:00:00+03:00"),
        ("Nora Lind pinned this message", True, "2026-01-02T00:00:00+03:00"),
    ]
    assert [data["name"] for data in of_stream(records, "media")] == ["boat.jpg"]
    assert [found.reason for found in told(SOURCE, path)] == [
        "a message that Telegram itself could not export"
    ]


def test_words_of_a_layout_that_is_not_known_are_kept(tmp_path: Path) -> None:
    rich = '<div class="rich_message">\n<h1>Tides</h1>\n<p>High at noon</p>\n</div>\n'
    new = '<div class="media_wrap clearfix">\n<div class="gift">A lighthouse</div>\n</div>\n'
    signed = '<div class="signature details">\nEditor\n</div>\n'
    boat = shown("photo", "photos/boat.jpg")
    pages = chat_page(
        said(1, "10:00:00", sender=NORA, before=rich),
        said(2, "10:00:01", before=boat + rich),
        said(3, "10:00:02", before=new),
        said(4, "10:00:03", before=boat, after=signed),
    )
    path = put(tmp_path, {"messages.html": pages, "photos/boat.jpg": PHOTO})
    records = read(SOURCE, path)
    assert [" ".join(data["text"].split()) for data in of_stream(records, "messages")] == [
        "Tides High at noon",
        "Tides High at noon",
        "A lighthouse",
        "",
    ]
    assert len(of_stream(records, "media")) == 2


CHAT = (
    said(2, "10:00:00", "The mole light is out, bring a lantern for the way back.", sender=NORA),
    said(3, "10:00:07", before=shown("photo", "photos/boat.jpg")),
    said(4, "10:00:09", "Ahoy", sender="Bo "),
)
JSON_CHAT = [
    message(2, 0, "The mole light is out, bring a lantern for the way back.", from_id="user1"),
    message(3, 7, photo="photos/boat.jpg", from_id="user1"),
    message(4, 9, "Ahoy", **{"from": "Bo", "from_id": "user2"}),
]


def chat(folder: Path, *more: str, name: str = "Sailing club ") -> Path:
    files: dict[str, str | bytes] = {"photos/boat.jpg": PHOTO, "css/style.css": ".page {}"}
    return put(folder, {**files, "messages.html": chat_page(*CHAT, *more, name=name)})


def account_pages(folder: Path) -> Path:
    rows = {"First name": "Nora", "Phone number": "+351 91 234"}
    facts = "".join(
        f'<div class="row">\n<div class="label details">\n{name}\n</div>\n'
        f'<div class="value bold">\n{value}\n</div>\n</div>\n'
        for name, value in rows.items()
    )
    first = page(f'<div class="personal_info clearfix">\n{facts}</div>', "Exported Data", "")
    listed = [("chat_01", "Sailing club ", "group"), ("chat_02", "Saved messages", "private")]
    listed += [("chat_03", "Sailing club ", "channel")]
    chats = "".join(
        entry(name, kind, ["3 messages"], f"../chats/{place}/messages.html#allow_back")
        for place, name, kind in listed
    )
    people = entry("Ana Sá", "01.01.2020 10:00:00", ["+351 91"]) + entry("Bo ", "", [""])
    story = entry(
        "stories/s.jpg", "01.01.2026 10:00:00", ["Saved to Profile"], "../stories/s.jpg", "At sea"
    )
    boat = shown("photo", "../../chats/chat_01/photos/boat.jpg")
    return put(
        folder,
        {
            "export_results.html": first,
            "lists/chats.html": page(chats, "Chats", "list_page", "../"),
            "lists/contacts.html": page(people, "Contacts", "list_page", "../"),
            "lists/stories.html": page(story, "Stories archive", "list_page", "../"),
            "lists/sessions.html": page(entry("Phone", "", ["192.0.2.1"]), "Sessions", "list_page"),
            "stories/s.jpg": PHOTO,
            "css/style.css": ".page {}",
            "chats/chat_01/messages.html": chat_page(
                said(1, "10:00:00", "Look", sender=NORA, before=boat), said(2, "10:00:01", "Two")
            ),
            "chats/chat_01/messages2.html": chat_page(
                said(3, "10:00:02", "Three", sender="Bo ", before=answer_to(2, "messages.html"))
            ),
            "chats/chat_01/photos/boat.jpg": PHOTO,
            "chats/chat_01/photos/boat.jpg_thumb.jpg": PHOTO,
            "chats/chat_02/messages.html": chat_page(
                said(9, "10:00:00", "Buy rope", sender=NORA), name="Nora Lind"
            ),
            "chats/chat_03/messages.html": chat_page(said(1, "11:11:00", "News", sender="Club ")),
        },
    )


def test_a_whole_account_is_read_with_every_chat_and_list(tmp_path: Path) -> None:
    path = account_pages(tmp_path / "e")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.version) == ("Telegram (Nora)", "a whole account as web pages")
    assert (seen.identity, seen.owner_known) == ("phone 35191234", True)
    records = read(SOURCE, path)
    chats = [(c["name"], c["kind"], c["message_count"]) for c in of_stream(records, "chats")]
    assert chats == [
        ("Sailing club", "group", 3),
        ("Saved messages", "saved messages", 1),
        ("Sailing club", "channel", 1),
    ]
    messages = of_stream(records, "messages")
    assert [data["text"] for data in messages] == ["Look", "Two", "Three", "Buy rope", "News"]
    assert messages[2]["reply_to"] == messages[1]["id"]
    assert [data["name"] for data in of_stream(records, "contacts")] == ["Ana Sá", "Bo"]
    [story] = of_stream(records, "stories")
    assert (story["caption"], story["pinned"], story["name"]) == ("At sea", True, "s.jpg")


@pytest.mark.parametrize("pages_first", [True, False])
def test_an_account_as_pages_and_as_json_is_one_account(tmp_path: Path, pages_first: bool) -> None:
    owner = {"user_id": 1, "first_name": "Nora", "phone_number": "+351 91 234"}
    chats = {"list": [json.loads(result(JSON_CHAT))]}
    document = {"personal_information": owner, "contacts": {"list": []}, "chats": chats}
    forms = [
        account_pages(tmp_path / "pages"),
        put(tmp_path / "json", {"result.json": json.dumps(document)}),
    ]
    home = Home(tmp_path / "home")
    first, second = (home.bring(path) for path in (forms if pages_first else forms[::-1]))
    assert first["connection"]["connection_id"] == second["connection"]["connection_id"]


def test_every_file_of_an_account_is_read_or_has_a_reason(tmp_path: Path) -> None:
    report = Home(tmp_path / "home").bring(account_pages(tmp_path / "e"))
    assert report["status"] == "complete"
    assert not report["files"]["unknown"]
    assert report["units"] == {"message": 5, "contact": 2, "story": 1}


def test_an_older_page_floats_unless_a_zone_is_named_and_is_the_same_chat(tmp_path: Path) -> None:
    old = page(DAY + said(2, "10:00:00", "Old", sender=NORA, zone=""), "Sailing club ")
    path = put(tmp_path / "old", {"messages.html": old})
    [data] = of_stream(read(SOURCE, path), "messages")
    assert (data["sent_at"], data["floating"]) == ("2026-01-01T10:00:00", True)
    [zoned] = of_stream(read(SOURCE, path, time_zone="Europe/Lisbon"), "messages")
    assert (zoned["sent_at"], zoned.get("floating")) == ("2026-01-01T10:00:00Z", None)
    newer_page = old.replace(':00">', ':00 UTC+05:30">')
    newer = put(tmp_path / "new", {"messages.html": newer_page})
    [again] = of_stream(read(SOURCE, newer), "messages")
    assert again["id"] == data["id"] == zoned["id"]


def test_two_chats_of_one_name_lose_no_message_to_each_other(tmp_path: Path) -> None:
    chat(tmp_path / "e" / "ChatExport_1")
    other = chat_page(said(2, "12:01:01", "Another club", sender="Eva "))
    put(tmp_path / "e" / "ChatExport_2", {"messages.html": other})
    texts = [data["text"] for data in of_stream(read(SOURCE, tmp_path / "e"), "messages")]
    assert len(texts) == 4
    assert "Another club" in texts


def test_a_chat_that_lies_beside_as_json_is_there_once(tmp_path: Path) -> None:
    chat(tmp_path / "e" / "ChatExport_2026-01-01", said(5, "10:00:30", "Only here"))
    files: dict[str, str | bytes] = {"photos/boat.jpg": PHOTO, "result.json": result(JSON_CHAT)}
    put(tmp_path / "e" / "ChatExport_2026-01-01 (1)", files)
    records = read(SOURCE, tmp_path / "e")
    messages = of_stream(records, "messages")
    assert [data["text"] for data in messages][2:] == ["Ahoy", "Only here"]
    assert len({data["chat_id"] for data in messages}) == len(of_stream(records, "chats")) == 1
    assert [data.get("sender_id") for data in messages] == ["user1", "user1", "user2", None]
    reasons = [found.reason for found in told(SOURCE, tmp_path / "e")]
    assert reasons == ["a message that lies beside the page as JSON too"] * 3
    check_twice(tmp_path / "e", tmp_path)


def test_both_forms_of_an_account_in_one_folder_are_one(tmp_path: Path) -> None:
    path = chat(tmp_path / "e")
    document = {
        "personal_information": {"user_id": 1, "first_name": "Nora"},
        "contacts": {"list": []},
        "chats": {"list": [json.loads(result([message(2, 1, "No")], id=7, name="Choir"))]},
        "left_chats": {"list": [json.loads(result(JSON_CHAT))]},
    }
    alone = read(SOURCE, put(tmp_path / "json", {"result.json": json.dumps(document)}))
    both = read(SOURCE, put(path, {"result.json": json.dumps(document)}))
    assert both.keys() - alone.keys() == {("media", next(k for s, k in both if s == "media"))}


def test_pages_that_are_not_of_telegram_are_not_taken(tmp_path: Path) -> None:
    put(tmp_path, {"messages.html": "<html><div class='history'>my messages</div></html>"})
    assert look(SOURCE, tmp_path) is None


def test_the_same_pages_twice_change_nothing(tmp_path: Path) -> None:
    check_twice(account_pages(tmp_path / "e"), tmp_path)


def test_later_pages_of_a_chat_bring_in_what_is_new(tmp_path: Path) -> None:
    later = said(5, "10:00:20", "One more")
    check_overlap(chat(tmp_path / "a"), chat(tmp_path / "b", later), tmp_path)


def test_a_page_that_is_cut_off_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    content = (chat(tmp_path / "e") / "messages.html").read_bytes()

    def place(cut: bytes) -> Path:
        (tmp_path / "e" / "messages.html").write_bytes(cut)
        return tmp_path / "e" / "messages.html"

    check_cuts(SOURCE, content, place)


@pytest.mark.parametrize(
    "words",
    ["<b>" * 2_000 + "x" + "</b>" * 2_000, "<i a=1>" * 3_000 + "x"],
    ids=["deep", "never closed"],
)
def test_a_message_that_nests_without_end_costs_no_other(tmp_path: Path, words: str) -> None:
    path = tmp_path / "messages.html"
    messages = (
        said(1, "10:00:00", "before", sender="Nora"),
        said(2, "10:00:01", words),
        said(3, "10:00:02", "huge").replace("message3", "message" + "3" * 5_000),
        said(4, "10:00:03", "after", sender="Nora"),
    )
    path.write_text(chat_page(*messages))
    texts = [data["text"] for data in of_stream(read(SOURCE, path), "messages")]
    assert {"before", "after"} <= set(texts)
    assert len(told(SOURCE, path)) >= 2


def test_hostile_archives_of_pages_are_survived(tmp_path: Path) -> None:
    page_bytes = (chat(tmp_path / "e") / "messages.html").read_bytes()
    check_hostile_zip(SOURCE, {"messages.html": page_bytes, "photos/boat.jpg": PHOTO}, tmp_path)


def test_an_agent_finds_a_message_of_a_page(tmp_path: Path) -> None:
    bring_and_ask(chat(tmp_path / "e"), tmp_path, "lantern", "bring a lantern for the way back")


def test_every_picture_of_a_rich_message_comes_in_under_its_id(tmp_path: Path) -> None:
    figure = '<figure class="rich_media_item" data-photo-id="{}">\n{}{}</figure>\n'
    caption = '<figcaption class="rich_media_caption">The boat</figcaption>\n'
    rich = (
        '<div class="rich_message">\n<p class="rich_paragraph">Look</p>\n'
        + figure.format(71, shown("photo", "photos/boat.jpg"), caption)
        + figure.format(72, shown("photo", "photos/mole.jpg"), "")
        + "</div>\n"
    )
    pages = chat_page(said(2, "10:00:00", sender=NORA, before=rich))
    pictures = {"photos/boat.jpg": PHOTO, "photos/mole.jpg": PHOTO + b" two"}
    records = read(SOURCE, put(tmp_path, {"messages.html": pages, **pictures}))
    [data] = of_stream(records, "messages")
    assert data["text"].split() == ["Look", "The", "boat"]
    assert [media["name"] for media in of_stream(records, "media")] == ["boat.jpg", "mole.jpg"]


def document(folder: Path, *more: dict[str, object]) -> Path:
    answer = {"reply_to_message_id": 2, "reactions": [{"type": "emoji", "emoji": "👍", "count": 1}]}
    last = message(5, 20, "Back at six", **{"from": "Bo", "from_id": "user2"}, **answer)
    messages = [*JSON_CHAT, last, *more]
    content = {"name": "Sailing club", "type": "private_group", "id": 900, "messages": messages}
    return put(folder, {"result.json": json.dumps(content), "photos/boat.jpg": PHOTO})


def kept(home: Home, stream: str) -> dict[str, dict[str, object]]:
    return {key: data for (of, key), data in home.records().items() if of == stream}


def test_a_chat_that_came_as_json_is_completed_by_its_pages(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(document(tmp_path / "json"))
    before = home.records()
    later = said(7, "10:05:00", "See you", sender=NORA, before=answer_to(2))
    report = home.bring(chat(tmp_path / "pages", later, name="Sailing club, renamed"))
    assert (report["counts"]["new"], report["counts"]["changed"]) == (1, 0)
    assert before.items() <= home.records().items()
    new = next(data for data in kept(home, "messages").values() if data["text"] == "See you")
    old = next(data for data in kept(home, "messages").values() if data["text"] == "Back at six")
    assert new["reply_to"] == old["reply_to"]
    assert len(kept(home, "chats")) == 1


def test_a_chat_that_came_as_pages_is_completed_by_its_json(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    pages = chat(tmp_path / "pages", note(6, "Nora Lind pinned this message"))
    home.bring(pages)
    pinned = {"id": 6, "type": "service", "action": "pin_message", "date_unixtime": "1767250900"}
    report = home.bring(document(tmp_path / "json", pinned))
    assert report["counts"]["new"] == 1
    messages = kept(home, "messages")
    assert sorted(str(data["text"]) for data in messages.values())[:3] == [
        "",
        "Ahoy",
        "Back at six",
    ]
    assert len(messages) == 5
    assert {data.get("sender_id") for data in messages.values()} == {"user1", "user2", None}
    [back] = [data for data in messages.values() if data["text"] == "Back at six"]
    assert back["reply_to"] in messages
    after = home.records()
    for again in (pages, document(tmp_path / "json", pinned)):
        counts = home.bring(again)["counts"]
        assert (counts["new"], counts["changed"]) == (0, 0)
    assert home.records() == after


def test_an_account_as_json_completes_the_chats_of_its_pages(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    pages = account_pages(tmp_path / "pages")
    chat(pages / "chats" / "chat_01")
    home.bring(pages)
    before = home.records()
    owner = {"user_id": 1, "first_name": "Nora", "phone_number": "+351 91 234"}
    choir = json.loads(result(JSON_CHAT[:1], id=7, name="Choir"))
    chats = {"list": [choir, json.loads(result(JSON_CHAT))]}
    account = {"personal_information": owner, "contacts": {"list": []}, "chats": chats}
    report = home.bring(put(tmp_path / "json", {"result.json": json.dumps(account)}))
    assert report["streams"]["messages"] == {"new": 1, "changed": 3, "unchanged": 0, "deleted": 0}
    assert before.keys() <= home.records().keys()


@pytest.mark.parametrize("written", ["as Telegram writes", "in one line"])
def test_pages_of_a_chat_that_came_with_an_account_as_json_add_only_what_is_new(
    tmp_path: Path, written: str
) -> None:
    home = Home(tmp_path / "home")
    quoted = message(90, 90, 'He wrote "id": 7, "messages": [{"id": 1}] and more')
    other = {"name": "Choir", "type": "personal_chat", "id": 900, "messages": [quoted] * 3}
    club = {"name": "Sailing club", "type": "private_group", "id": 900}
    chats = {"list": [other, {**club, "messages": [*JSON_CHAT, message(5, 20, "Back at six")]}]}
    owner = {"user_id": 1, "first_name": "Nora", "phone_number": "+351 91 234"}
    account = {"personal_information": owner, "contacts": {"list": []}, "chats": chats}
    indent = 1 if written == "as Telegram writes" else None
    files: dict[str, str | bytes] = {
        "result.json": json.dumps(account, indent=indent),
        "photos/boat.jpg": PHOTO,
    }
    home.bring(put(tmp_path / "json", files))
    before = home.records()
    later = said(7, "10:05:00", "See you", sender=NORA, before=answer_to(2))
    report = home.bring(chat(tmp_path / "pages", later))
    assert (report["counts"]["new"], report["counts"]["changed"]) == (1, 0)
    assert before.items() <= home.records().items()
    assert len(kept(home, "chats")) == 2


def test_the_beginnings_of_chats_are_found_wherever_the_pieces_of_a_file_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = [
        {"name": f"Chat {at}", "type": "personal_chat", "id": at, "messages": JSON_CHAT * 4}
        for at in range(9)
    ]
    path = put(tmp_path, {"result.json": json.dumps({"chats": {"list": chats}}, indent=1)})
    [file] = open_tree(path / "result.json").entries
    whole = [(begun.peer, begun.first) for begun in account_beginnings(file, 3)]
    assert [peer for peer, _ in whole] == [f"user{at}" for at in range(9)]
    assert all(len(first) == 3 for _, first in whole)
    monkeypatch.setattr(duplicates, "_FIRST_BYTES", 2_000)
    for size in (700, 1_024, 4_097):
        monkeypatch.setattr(duplicates, "_CHUNK", size)
        assert [(begun.peer, begun.first) for begun in account_beginnings(file, 3)] == whole


def test_the_beginning_of_a_chat_with_odd_messages_is_told() -> None:
    odd: list[dict[str, Any]] = [
        {"date_unixtime": [[]]},
        {"type": "service", "action": []},
        {"type": {}, "date": {}},
    ]
    assert [mark_of(message) for message in odd] == ["?", "", "?"]


def test_chats_inside_each_other_are_not_read_again_and_again(tmp_path: Path) -> None:
    inside = '{"id": 1, "messages": [{"a": 1}, ' * 6_000
    path = put(tmp_path, {"result.json": f'{{"chats": {{"list": [{inside}'})
    [file] = open_tree(path / "result.json").entries
    with computing_at_most(10):
        assert len(list(account_beginnings(file, 3))) > 1
