"""Facebook and Instagram archives: what only these have."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.sources.kit import Home, look, read, told, zipped
from tests.sources.samples.meta import (
    COMMENT,
    FACEBOOK,
    IG_OWNER,
    LIKE,
    OLD,
    PHOTO,
    PROFILE,
    SAMPLES,
    SEALED,
    TALK,
    ZERO,
    chat,
    instagram,
    message,
    spoilt,
)
from tests.sources.samples.photos import SAMPLES as SHOTS
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.facebook.source import Facebook
from pdpp.sources.formats.instagram.source import Instagram
from pdpp.sources.formats.markdown.source import Markdown
from pdpp.sources.formats.meta_values import mended
from pdpp.sources.formats.photos.source import Photos
from pdpp.sources.importing.discovery import discover
from pdpp.sources.source import ExportRefusal, OwnerChoices, Recognition

INBOX = "your_facebook_activity/messages/inbox/harbour_10158"


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_texts_are_mended_and_clean_ones_stay() -> None:
    assert mended("caf\u00c3\u00a9") == "café"
    assert mended("café") == "café"
    assert mended("日本") == "日本"
    assert mended(None) == ""


def test_an_account_is_known_by_its_profile(tmp_path: Path) -> None:
    seen = look(Facebook(), SAMPLES[0].folder(tmp_path))
    assert isinstance(seen, Recognition)
    assert seen.account == "Facebook (Nora Lindström)"
    assert (seen.identity, seen.owner_known) == ("https://www.facebook.com/nora.lind", True)
    seen = look(Instagram(), SAMPLES[3].folder(tmp_path / "ig"))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.identity) == ("Instagram (nora.lind)", "nora.lind")


def test_a_chat_of_two_files_is_one_chat_with_everything_in_it(tmp_path: Path) -> None:
    records = read(Facebook(), SAMPLES[0].folder(tmp_path))
    _, harbour = of(records, "chats")
    assert (harbour["name"], harbour["message_count"]) == ("Harbour café", len(TALK) + 1)
    assert harbour["participants"] == "Inês Duarte, Nora Lind"
    texts = [data["text"] for data in of(records, "messages")]
    assert texts[1:] == [
        "[1 file]",
        "Look\nTides\nhttps://tides.example/a",
        "[unsent]",
        "The same moment again",
        "[call]",
        "Yes",
        "[sticker]",
        mended(OLD["content"]),
    ]
    assert [data.get("reactions") for data in of(records, "messages")][6] == ["👍 Inês Duarte"]
    [post] = of(records, "posts")
    assert (post["place"], post["tags"]) == ("Cais do Sodré", "Inês Duarte, Bo")


def test_files_are_found_without_their_top_folder_and_missing_ones_told(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(SAMPLES[0].folder(tmp_path / "e"))
    media = of(home.records(), "media")
    assert sorted((data["name"], data["file"]["size_bytes"]) for data in media) == [
        ("boat.jpg", len(PHOTO)),
        ("gull.jpg", len(PHOTO) + 1),
    ]
    assert [skip.reason for skip in told(Facebook(), tmp_path / "e")] == [
        "a file that is not in the export"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "messages/inbox/x_1234/message_1.html",
        "your_facebook_activity/posts/your_posts_1.html",
        "your_instagram_activity/media/posts_1.html",
    ],
)
def test_web_pages_are_refused_with_what_to_choose(name: str, tmp_path: Path) -> None:
    page = tmp_path / name
    page.parent.mkdir(parents=True)
    page.write_text("<html>Messages</html>")
    seen = look(Facebook(), tmp_path)
    assert isinstance(seen, ExportRefusal)
    assert "JSON" in seen.message


def test_a_chat_that_moves_to_the_archive_keeps_its_records(tmp_path: Path) -> None:
    before = read(Facebook(), SAMPLES[0].folder(tmp_path / "a"))
    files = {name.replace("/inbox/", "/archived_threads/"): held for name, held in FACEBOOK.items()}
    after = read(Facebook(), SAMPLES[0].folder(tmp_path / "b", files))
    assert set(before) == set(after)


def test_both_services_in_one_folder_are_two_accounts(tmp_path: Path) -> None:
    SAMPLES[0].folder(tmp_path / "down" / "facebook-nora")
    zipped(tmp_path / "down" / "instagram-nora.zip", instagram(today=True))
    ended = Home(tmp_path / "home").run(tmp_path / "down", "--yes")
    assert ended.code == 0, ended
    assert "Facebook (Nora Lindström)" in ended.out
    assert "Instagram (nora.lind)" in ended.out


def test_a_damaged_file_of_a_chat_costs_none_of_the_others(tmp_path: Path) -> None:
    files = {**FACEBOOK, f"{INBOX}/message_1.json": json_bytes(chat(*TALK))[:900]}
    path = SAMPLES[0].folder(tmp_path, files)
    texts = [data["text"] for data in of(read(Facebook(), path), "messages")]
    assert mended(OLD["content"]) in texts
    assert any(
        skip.reason == "the rest of a file that is damaged" for skip in told(Facebook(), path)
    )


def test_a_message_without_a_time_is_told(tmp_path: Path) -> None:
    odd = {**message(1, "Bo", "x"), "timestamp_ms": "soon"}
    files = {**FACEBOOK, f"{INBOX}/message_1.json": json_bytes(chat(*TALK, odd, 5))}  # type: ignore[arg-type]
    reasons = [skip.reason for skip in told(Facebook(), SAMPLES[0].folder(tmp_path, files))]
    assert "a message without a time" in reasons
    assert "a shape that is not known" in reasons


def test_the_archives_of_one_account_are_read_together(tmp_path: Path) -> None:
    names = sorted(FACEBOOK)
    for part, some in enumerate((names[::2], names[1::2])):
        name = f"facebook-nora-2026-01-02-Ab{part}.zip"
        zipped(tmp_path / "down" / name, {each: FACEBOOK[each] for each in some})
    home = Home(tmp_path / "home")
    report = home.bring(tmp_path / "down")
    assert report["connection"]["display_name"] == "Facebook (Nora Lindström)"
    assert len(of(home.records(), "messages")) == len(TALK) + 2


ACTIVITY = "your_facebook_activity"


def labels(number: int, *cells: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a thing as Meta writes many of them since 2025."""
    made = {"timestamp": ZERO + number, "media": [], "label_values": list(cells), "fbid": number}
    return {**made, **more}


def with_files(tmp_path: Path, files: dict[str, Any]) -> Path:
    made = {
        name: held if isinstance(held, bytes) else json_bytes(held) for name, held in files.items()
    }
    return SAMPLES[0].folder(tmp_path, {**FACEBOOK, **made})


def test_posts_and_reactions_that_are_lists_of_labels_keep_their_words(tmp_path: Path) -> None:
    place = {"title": "Place", "dict": [{"label": "Name", "value": spoilt("Cais do Sodré")}]}
    link = {"label": "URL", "value": "https://fb.example/1", "href": "https://fb.example/1"}
    message = {"label": "Message", "value": "Fog at https://fog.example all day"}
    liked = {"label": "Reaction", "value": "Love"}
    said = {"label": "Nachricht", "value": "Auf fremder Wand"}
    path = with_files(
        tmp_path,
        {
            f"{ACTIVITY}/posts/your_posts__check_ins__photos_and_videos_2.json": [
                labels(3, message, link, place, media=[{"uri": f"{ACTIVITY}/posts/media/fog.jpg"}])
            ],
            f"{ACTIVITY}/posts/posts_on_other_pages_and_profiles.json": [labels(4, said)],
            f"{ACTIVITY}/comments_and_reactions/likes_and_reactions.json": [labels(5, liked, link)],
            f"{ACTIVITY}/posts/media/fog.jpg": PHOTO,
        },
    )
    records = read(Facebook(), path)
    _, fog, wall = sorted(of(records, "posts"), key=lambda data: data["posted_at"])
    assert (fog["text"], fog["title"]) == ("Fog at https://fog.example all day", "Cais do Sodré")
    assert fog["link"] == "https://fb.example/1"
    assert wall["text"] == "Auf fremder Wand"
    assert ("fog.jpg", fog["id"]) in [
        (data["name"], data.get("post_id")) for data in of(records, "media")
    ]
    [love] = [data for data in of(records, "likes") if data["reaction"] == "love"]
    assert (love["title"], love["link"]) == ("https://fb.example/1", "https://fb.example/1")


def test_posts_in_groups_stories_and_saved_things_come_in(tmp_path: Path) -> None:
    in_group = {"timestamp": ZERO + 7, "title": "In Nets", "data": [{"post": "Who mends nets?"}]}
    shown = {"data": [{"media": {"uri": f"{ACTIVITY}/stories/s.jpg"}}]}
    read_about = {"name": "Knots", "url": "https://knots.example"}
    said = {"comment": {"timestamp": ZERO + 8, "comment": "I do", "group": "Nets"}}
    groups = f"{ACTIVITY}/groups"
    path = with_files(
        tmp_path,
        {
            f"{groups}/your_posts_in_groups.json": {"group_posts_v2": [in_group]},
            f"{groups}/group_posts_and_comments.json": {"group_posts_v2": [in_group]},
            f"{groups}/your_comments_in_groups.json": {
                "group_comments_v2": [
                    {"timestamp": ZERO + 8, "data": [said], "attachments": [shown]}
                ]
            },
            f"{ACTIVITY}/stories/archived_stories.json": {
                "archived_stories_v2": [{"timestamp": ZERO + 9, "attachments": [shown]}]
            },
            f"{ACTIVITY}/stories/s.jpg": PHOTO,
            f"{ACTIVITY}/saved/your_saved_items.json": {
                "saves_v2": [
                    {
                        "timestamp": ZERO,
                        "title": "Nora saved a link",
                        "attachments": [{"data": [{"external_context": read_about}]}],
                    }
                ]
            },
        },
    )
    records = read(Facebook(), path)
    assert [data["text"] for data in of(records, "posts") if data.get("title") == "In Nets"] == [
        "Who mends nets?"
    ]
    assert [data["kind"] for data in of(records, "posts")].count("story") == 1
    assert [data["text"] for data in of(records, "comments") if data.get("owner") == "Nets"] == [
        "I do"
    ]
    assert [data["name"] for data in of(records, "media")].count("s.jpg") == 2
    [saved] = [data for data in of(records, "likes") if data["reaction"] == "saved"]
    assert (saved["title"], saved["link"]) == ("Nora saved a link: Knots", "https://knots.example")


def test_comments_below_pictures_and_albums_come_in_and_your_own_once(tmp_path: Path) -> None:
    def said(second: int, author: str, text: str) -> dict[str, Any]:
        return {"timestamp": ZERO + second, "comment": text, "author": author}

    pier = {
        "uri": "posts/media/pier.jpg",
        "creation_timestamp": ZERO,
        "description": "Pier",
        "comments": [said(1, "Ana", "So calm"), said(2, "Nora Lind", "It was"), {"author": "x"}],
    }
    album = {"name": "Harbour", "photos": [pier], "comments": [said(3, "Ben", "Fine album")]}
    film = {"uri": "f.mp4", "creation_timestamp": ZERO, "comments": [said(4, "Ana", "Ha")]}
    own = {"timestamp": ZERO + 2, "data": [{"comment": said(2, "Nora Lind", "It was")}]}
    path = with_files(
        tmp_path,
        {
            f"{ACTIVITY}/posts/album/0.json": album,
            f"{ACTIVITY}/posts/your_videos.json": {"videos_v2": [film]},
            f"{ACTIVITY}/comments_and_reactions/comments.json": {"comments_v2": [own]},
        },
    )
    records = read(Facebook(), path)
    [of_album] = [data for data in of(records, "posts") if data["kind"] == "album"]
    kept = of(records, "picture_comments")
    assert {(data["author"], data["text"], data["title"]) for data in kept} == {
        ("Ana", "So calm", "Pier"),
        ("Ben", "Fine album", "Harbour"),
        ("Ana", "Ha", "f.mp4"),
    }
    assert {data.get("post_id") for data in kept} == {of_album["id"], None}
    assert "It was" in [data["text"] for data in of(records, "comments")]
    reasons = [skip.reason for skip in told(Facebook(), path)]
    assert reasons.count("a comment that is kept among those you wrote") == 1
    assert reasons.count("a comment without a time") == 1


def test_a_picture_of_an_album_comes_in_once_and_with_its_post(tmp_path: Path) -> None:
    posted = {"uri": "posts/media/gull.jpg", "creation_timestamp": ZERO}
    alone = {"uri": "posts/media/pier.jpg", "creation_timestamp": ZERO + 1, "description": "Pier"}
    nowhere = {"uri": "posts/media/rain.jpg", "creation_timestamp": ZERO + 2}
    posts = f"{ACTIVITY}/posts"
    path = with_files(
        tmp_path,
        {
            f"{posts}/album/0.json": {"name": "Harbour", "photos": [posted, alone]},
            f"{posts}/your_uncategorized_photos.json": {"other_photos_v2": [nowhere, posted]},
            f"{posts}/media/pier.jpg": PHOTO + b"3",
            f"{posts}/media/rain.jpg": PHOTO + b"4",
        },
    )
    records = read(Facebook(), path)
    [album] = [data for data in of(records, "posts") if data["kind"] == "album"]
    assert album["title"] == "Harbour"
    kept = {data["name"]: data.get("post_id") for data in of(records, "media")}
    assert len(of(records, "media")) == len(kept)
    assert kept["pier.jpg"] == album["id"]
    assert kept["gull.jpg"] not in (album["id"], None)
    assert kept["rain.jpg"] is None
    reasons = [skip.reason for skip in told(Facebook(), path)]
    assert reasons.count("a picture that is kept with its post") == 2


def test_a_file_that_keeps_its_values_elsewhere_is_told(tmp_path: Path) -> None:
    name = f"{ACTIVITY}/posts/your_posts_of_next_year.json"
    path = with_files(tmp_path, {name: {"posts_v9": [{"timestamp": ZERO}]}})
    assert ("a file of another layout", name) in [
        tuple(skip[:2]) for skip in told(Facebook(), path)
    ]
    nothing = with_files(tmp_path / "n", {f"{ACTIVITY}/your_friends.json": {"friends_v2": []}})
    assert "a file of another layout" not in [skip.reason for skip in told(Facebook(), nothing)]


def test_members_without_a_version_are_read_as_before_2021(tmp_path: Path) -> None:
    files = {
        "profile_information/profile_information.json": {"profile": PROFILE["profile_v2"]},
        "friends/friends.json": {"friends": [{"name": "Bo", "timestamp": ZERO}]},
        "comments/comments.json": {"comments": [COMMENT]},
        "likes_and_reactions/posts_and_comments.json": {"reactions": [LIKE]},
    }
    held = {name: json_bytes(value) for name, value in files.items()}
    path = SAMPLES[0].folder(tmp_path, held)
    seen = look(Facebook(), path)
    assert isinstance(seen, Recognition)
    assert seen.identity == "https://www.facebook.com/nora.lind"
    streams = [stream for stream, _ in read(Facebook(), path)]
    assert sorted(streams) == ["comments", "likes", "people"]


def test_one_zip_with_both_services_is_two_accounts(tmp_path: Path) -> None:
    files = {f"facebook-nora-2026-01-02-Ab/{name}": held for name, held in FACEBOOK.items()}
    files |= {
        f"instagram-nora-2026-01-02-Cd/{name}": held for name, held in instagram(today=True).items()
    }
    ended = Home(tmp_path / "home").run(
        zipped(tmp_path / "meta-2026-Jan-02-10-00-00.zip", files), "--yes"
    )
    assert ended.code == 0, ended
    assert "Facebook (Nora Lindström)" in ended.out
    assert "Instagram (nora.lind)" in ended.out
    assert "not known" not in ended.out


def test_a_file_of_a_chat_that_lies_in_two_archives_is_read_once(tmp_path: Path) -> None:
    for part in (1, 2):
        zipped(tmp_path / "down" / f"facebook-nora-2026-01-02-Ab{part}.zip", FACEBOOK)
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "down")
    assert len(of(home.records(), "messages")) == len(TALK) + 2


def test_files_of_a_chat_that_are_as_long_as_each_other_are_both_read(tmp_path: Path) -> None:
    name = next(name for name in FACEBOOK if name.endswith("message_1.json"))
    chat = orjson.loads(FACEBOOK[name])
    last = chat["messages"][0]
    chat["messages"] = [{**last, "timestamp_ms": last["timestamp_ms"] + 1_000}]
    for part, text in (("1", "tide"), ("2", "moon")):
        chat["messages"][0]["content"] = text
        held = {**FACEBOOK, name: json_bytes(chat)}
        zipped(tmp_path / "down" / f"facebook-nora-2026-01-02-Ab{part}.zip", held)
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "down")
    texts = {data.get("text") for data in of(home.records(), "messages")}
    assert {"tide", "moon"} <= texts


def test_archived_posts_and_other_pictures_of_instagram_come_in(tmp_path: Path) -> None:
    def file(name: str) -> dict[str, Any]:
        return {"uri": f"media/{name}.jpg", "creation_timestamp": ZERO, "title": name}

    folder = "your_instagram_activity/media"
    files = {
        f"{folder}/archived_posts.json": {"ig_archived_post_media": [{"media": [file("old")]}]},
        f"{folder}/igtv_videos.json": {"ig_igtv_media": [{"media": [file("film")]}]},
        f"{folder}/profile_photos.json": {"ig_profile_picture": [file("face")]},
        f"{folder}/subscriptions/reels.json": {"subscriptions_reels": [{"title": "x"}]},
    }
    held = {**instagram(today=True), **{name: json_bytes(value) for name, value in files.items()}}
    for name in ("old", "film", "face"):
        held[f"media/{name}.jpg"] = PHOTO
    path = SAMPLES[3].folder(tmp_path, held)
    posts = {data["kind"]: data["text"] for data in of(read(Instagram(), path), "posts")}
    assert (
        posts.items()
        >= {"archived post": "old", "video": "film", "profile picture": "face"}.items()
    )
    assert "a file of another layout" in [skip.reason for skip in told(Instagram(), path)]


def test_a_follower_without_a_name_is_called_by_the_address(tmp_path: Path) -> None:
    row = {"href": "https://www.instagram.com/_u/ines", "timestamp": ZERO}
    name = "connections/followers_and_following/followers_1.json"
    held = {**instagram(today=True), name: json_bytes([{"title": "", "string_list_data": [row]}])}
    people = of(read(Instagram(), SAMPLES[3].folder(tmp_path, held)), "people")
    assert ("ines", "follower") in [(data["name"], data["relation"]) for data in people]


def test_the_owner_of_what_was_liked_may_stand_inside_another_value(tmp_path: Path) -> None:
    inner = [{"label": "Name", "value": "Inês D."}, {"label": "Username", "value": "ines"}]
    owner = {"title": "Owner", "dict": [{"dict": inner, "title": ""}]}
    link = {"label": "URL", "value": "https://ig.example/p/1", "href": "https://ig.example/p/1"}
    held = {**instagram(today=True), "likes/liked_posts.json": json_bytes([labels(1, link, owner)])}
    [like] = of(read(Instagram(), SAMPLES[3].folder(tmp_path, held)), "likes")
    assert (like["owner"], like["link"]) == ("ines", "https://ig.example/p/1")


def test_what_stands_below_a_liked_picture_is_not_whose_it_is_in_any_language(
    tmp_path: Path,
) -> None:
    inner = [
        {"label": "URL", "value": "https://www.instagram.com/ines", "href": "https://ig.example"},
        {"label": "Name", "value": spoilt("Inês")},
        {"label": "Nutzername", "value": "ines"},
    ]
    owner = {"title": spoilt("Eigentümer"), "dict": [{"dict": inner, "title": ""}]}
    link = {"label": "URL", "value": "https://ig.example/p/1", "href": "https://ig.example/p/1"}
    words = {"label": "Untertitel", "value": "Nebel"}
    liked = json_bytes([labels(1, link, words, owner)])
    held = {**instagram(today=True), "likes/liked_posts.json": liked}
    [like] = of(read(Instagram(), SAMPLES[3].folder(tmp_path, held)), "likes")
    assert (like["owner"], like["link"]) == ("ines", "https://ig.example/p/1")


def test_an_encrypted_chat_is_the_same_under_another_number(tmp_path: Path) -> None:
    def keys(folder: str, *numbers: int) -> set[tuple[str, str]]:
        files = {
            f"messages/Tomás Reis_{number}.json": json_bytes(
                {**SEALED, "threadName": f"Tomás Reis_{number}"}
            )
            for number in numbers
        }
        return set(read(Facebook(), SAMPLES[2].folder(tmp_path / folder, files)))

    assert keys("a", 3) == keys("b", 11)
    assert len(keys("c", 3, 4)) == 2 * len(keys("d", 3))
    assert keys("e", 3, 4) == keys("f", 8, 12)
    copied = {
        "january/messages/Tomás Reis_3.json": json_bytes(SEALED),
        "january/messages/Tomás Reis_3 (1).json": json_bytes(SEALED),
        "february/messages/Tomás Reis_5.json": json_bytes(SEALED),
    }
    assert set(read(Facebook(), SAMPLES[2].folder(tmp_path / "g", copied))) == keys("h", 3)


def test_a_picture_of_an_encrypted_chat_is_of_the_chat_alone(tmp_path: Path) -> None:
    photo = SHOTS[0].files["Berlenga/IMG_0001.JPG"]
    chat, picture = "messenger/messages/Tomás Reis_3.json", "messenger/media/rope.jpg"
    own, note = "diving/IMG_7.JPG", "about.md"
    files = {chat: json_bytes(SEALED), picture: photo, own: photo + b"7", note: b"# Downloads\n"}
    folder = SAMPLES[2].folder(tmp_path, files)
    found = discover(folder, OwnerChoices(), [Facebook(), Photos(), Markdown()]).exports
    names = {each.export.source.label: {e.name for e in each.tree.entries} for each in found}
    assert {chat, picture} <= names["Facebook"]
    assert names["Photos in a folder"] == {own}
    assert names["Markdown notes"] == {note}


def test_what_was_posted_on_threads_comes_in_with_its_people(tmp_path: Path) -> None:
    def posted(text: str, moment: int, **more: Any) -> dict[str, Any]:
        return {"uri": "", "title": text, "creation_timestamp": moment, **more}

    def person(name: str) -> dict[str, Any]:
        rows = [{"href": f"https://threads.example/{name}", "value": name, "timestamp": 1}]
        return {"title": "", "string_list_data": rows}

    app = "text_post_app_text_post_app_"
    like = {**person("👍"), "title": "bo"}
    threads = {
        "threads_and_replies.json": {
            "text_post_app_text_posts": [
                {"media": [posted("First of two", 1_767_000_000)]},
                {"media": [posted("Second of two", 1_767_000_000)]},
                {"media": [posted("Agreed", 1_767_000_009, text_app_post={"is_reply": True})]},
            ]
        },
        "followers_1.json": {f"{app}followers": [person("ana")]},
        "following.json": {f"{app}following": [person("bo")]},
        "liked_threads.json": {"text_post_app_media_likes": [like]},
    }
    folder = "your_instagram_activity/threads"
    files = {f"{folder}/{name}": json_bytes(value) for name, value in threads.items()}
    path = SAMPLES[3].folder(tmp_path, {**instagram(today=True), **files})
    records = read(Instagram(), path)
    posts = [data for data in of(records, "posts") if "hread" in data["kind"]]
    assert [(data["kind"], data["text"]) for data in posts] == [
        ("thread", "First of two"),
        ("thread", "Second of two"),
        ("answer on Threads", "Agreed"),
    ]
    people = [(data["relation"], data["name"]) for data in of(records, "people")]
    assert ("follower on Threads", "ana") in people
    assert ("followed on Threads", "bo") in people
    assert "liked thread" in [data["reaction"] for data in of(records, "likes")]
    assert "a file of another layout" not in [found.reason for found in told(Instagram(), path)]


def test_a_chat_by_itself_is_known_under_any_name_and_is_the_same_chat(tmp_path: Path) -> None:
    whole = SAMPLES[0].folder(tmp_path / "e")
    [first] = sorted(whole.rglob("harbour_10158/message_1.json"))
    renamed = tmp_path / "talk with Inês.json"
    renamed.write_bytes(first.read_bytes())
    assert {key for key in read(Facebook(), renamed) if key[0] == "messages"} <= set(
        read(Facebook(), whole)
    )
    assert look(Instagram(), renamed) is None
    sealed = tmp_path / "Bo.json"
    sealed.write_bytes(json_bytes(SEALED))
    assert isinstance(look(Facebook(), sealed), Recognition)
    other = tmp_path / "list.json"
    other.write_bytes(json_bytes({"messages": [{"sender": "x"}]}))
    assert look(Facebook(), other) is None


BARE = {"messages/inbox/bo_2222/message_1.json": chat(message(1, "Bo", "Hi"), title="Bo")}
SHARED = message(
    2,
    "Bo",
    None,
    share={"link": "https://www.instagram.com/p/X/", "original_content_owner": "ines"},
)
PICTURE = message(3, "Bo", None, photos=[{"uri": "your_instagram_activity/messages/inbox/b/1.jpg"}])
STICKER = message(4, "Bo", None, sticker={"uri": "messages/stickers_used/1.png", "ai_stickers": []})


def chats_only(folder: Path, *talk: dict[str, Any], beside: str = "") -> Path:
    files = {name: json_bytes({**held, "messages": talk}) for name, held in BARE.items()}
    return SAMPLES[0].folder(folder, {**files, **({beside: b"[]"} if beside else {})})


@pytest.mark.parametrize(
    ("said", "beside", "service"),
    [
        (SHARED, "", "instagram"),
        (PICTURE, "", "instagram"),
        (message(2, "Bo", "Liked a message"), "", "instagram"),
        (SHARED, "messages/inbox/instagramuser_77/message_1.json", "instagram"),
        (STICKER, "", "facebook"),
        (message(2, "Bo", "Hi"), "messages/stickers_used/1.png", "facebook"),
        (message(2, "Bo", "Hi"), "messages/secret_conversations.json", "facebook"),
    ],
)
def test_chats_alone_are_of_the_service_that_they_tell(
    said: dict[str, Any], beside: str, service: str, tmp_path: Path
) -> None:
    path = chats_only(
        tmp_path / "e", message(1, "Bo", "original_content_owner"), said, beside=beside
    )
    sources = {"facebook": Facebook(), "instagram": Instagram()}
    seen = {name: look(source, path) for name, source in sources.items()}
    assert [name for name, one in seen.items() if isinstance(one, Recognition)] == [service]
    assert [one for name, one in seen.items() if name != service] == [None]


def test_chats_alone_that_tell_nothing_are_of_where_they_lie_or_asked_for(tmp_path: Path) -> None:
    quoted = message(1, "Bo", 'He wrote "original_content_owner": and "ai_stickers": []')
    path = chats_only(tmp_path / "e", quoted)
    home = Home(tmp_path / "home")
    ended = home.run(path, "--yes")
    assert ended.code != 0
    assert "say --as facebook or --as instagram" in ended.out + ended.err
    assert home.bring(path, "--as", "instagram")["counts"]["new"] == 2
    place = path.rename(tmp_path / "instagram-nora-2026-11-01-Ab12Cd34")
    assert isinstance(look(Instagram(), place), Recognition)
    assert home.bring(place)["counts"]["new"] == 0


def test_a_chat_that_was_encrypted_later_is_one_chat_of_both_folders(tmp_path: Path) -> None:
    inbox, later = "messages/inbox/bo_2222", "messages/e2ee_cutover/bo_2222"
    before = [message(number, "Bo", f"Hi {number}") for number in (3, 2, 1)]
    after = [message(5, "Bo", "Now sealed"), message(3, "Bo", "Hi 3")]
    root = "your_facebook_activity"
    files = {
        f"{root}/{inbox}/message_1.json": chat(*before, path="inbox/bo_2222", title="Bo"),
        f"{root}/{later}/message_1.json": chat(*after, path="e2ee_cutover/bo_2222", title="Bo"),
    }
    held = {name: json_bytes(one) for name, one in files.items()}
    home = Home(tmp_path / "home")
    home.bring(SAMPLES[0].folder(tmp_path / "e", held))
    records = home.records()
    [one] = of(records, "chats")
    assert (one["message_count"], one["kind"]) == (4, "inbox")
    assert (one["started_at"], one["updated_at"]) == (
        "2026-01-01T10:00:01.007000Z",
        "2026-01-01T10:00:05.007000Z",
    )
    assert sorted(data["text"] for data in of(records, "messages")) == [
        "Hi 1",
        "Hi 2",
        "Hi 3",
        "Now sealed",
    ]


def test_messages_of_somebody_who_goes_by_another_name_are_the_same_ones(tmp_path: Path) -> None:
    inbox = "your_instagram_activity/messages/inbox"
    owner = "personal_information/personal_information/personal_information.json"
    profile = json_bytes(IG_OWNER)
    said = (message(7, "Inês 🌊", "Ebb at six"), message(7, "Nora Lind", "I come"))
    gone = (message(7, "Instagram User", "Ebb at six"), said[1])
    earlier = chat(*said, path="inbox/ines_17842", title="Inês 🌊")
    later = chat(*gone, path="inbox/instagramuser_17842", title="Instagram User")
    home = Home(tmp_path / "home")
    for name, folder, held in (("a", "ines_17842", earlier), ("b", "instagramuser_17842", later)):
        files = {f"{inbox}/{folder}/message_1.json": json_bytes(held), owner: profile}
        home.bring(zipped(tmp_path / f"{name}.zip", files))
    messages = of(home.records(), "messages")
    assert sorted((data["sender"], data["text"]) for data in messages) == [
        ("Instagram User", "Ebb at six"),
        ("Nora Lind", "I come"),
    ]
    assert len(of(home.records(), "chats")) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "your_activity_across_facebook/posts/media/Mobileuploads_LvJWqglAvA/1251667781858.jpg",
            "your_facebook_activity/posts/media/Mobileuploads_1251667/1251667781858.jpg",
        ),
        (
            "photos_and_videos/MobileUploads_k3j4h5/28819_1251667781_646231_n_1251667781858.jpg",
            "your_facebook_activity/posts/media/Mobileuploads_1251667/1251667781858.jpg",
        ),
    ],
)
def test_a_post_is_the_same_wherever_a_later_archive_keeps_its_picture(
    before: str, after: str, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    for name, address in (("a", before), ("b", after)):
        shown = {"media": {"uri": address, "creation_timestamp": ZERO}}
        post = {"timestamp": ZERO + 70, "attachments": [{"data": [shown]}], "title": "Nora posted"}
        other = address.replace("1858", "1859")
        album = {"name": "Sails", "photos": [{"uri": other, "creation_timestamp": ZERO + 71}]}
        files = {
            f"{ACTIVITY}/posts/your_posts__check_ins__photos_and_videos_1.json": [post],
            f"{ACTIVITY}/posts/album/0.json": album,
            f"{ACTIVITY}/posts/your_uncategorized_photos.json": {
                "other_photos_v2": [{"uri": f"{other[:-4]}0.jpg", "creation_timestamp": ZERO}]
            },
            address: PHOTO,
            other: PHOTO + b"3",
            f"{other[:-4]}0.jpg": PHOTO + b"4",
        }
        home.bring(with_files(tmp_path / name, files))
    posts = of(home.records(), "posts")
    assert [data["title"] for data in posts].count("Nora posted") == 1
    kept = [data for data in of(home.records(), "media") if "125166778" in data["name"]]
    assert len(kept) == 3


def test_a_like_is_the_same_in_the_layout_of_today(tmp_path: Path) -> None:
    post = "https://www.instagram.com/p/DDD444/"
    cells = [
        {"label": "URL", "value": post, "href": post},
        {"title": "Owner", "dict": [{"dict": [{"label": "Username", "value": "erin"}]}]},
    ]
    then = {"title": "erin", "string_list_data": [{"href": post, "value": "👍", "timestamp": ZERO}]}
    today = {"timestamp": ZERO, "media": [], "label_values": cells, "fbid": "17842"}
    owner = "personal_information/personal_information/personal_information.json"
    home = Home(tmp_path / "home")
    for name, held in (("a", {"likes_media_likes": [then]}), ("b", [today])):
        likes = {"your_instagram_activity/likes/liked_posts.json": json_bytes(held)}
        home.bring(zipped(tmp_path / f"{name}.zip", {**likes, owner: json_bytes(IG_OWNER)}))
    [like] = of(home.records(), "likes")
    assert (like["owner"], like["link"]) == ("erin", post)


def test_a_profile_that_was_shared_in_a_chat_is_named(tmp_path: Path) -> None:
    share = {"profile_share_username": "ines.mar", "profile_share_name": spoilt("Inês do Mar")}
    said = message(7, "Nora", None, share=share)
    path = tmp_path / "message_1.json"
    path.write_bytes(json_bytes(chat(said)))
    [shared] = of(read(Instagram(), put_beside(tmp_path, path)), "messages")
    assert shared["text"] == "Inês do Mar\nines.mar"


def put_beside(folder: Path, chat_file: Path) -> Path:
    """Return an archive of Instagram with one chat."""
    inbox = folder / "e" / "your_instagram_activity" / "messages" / "inbox" / "ines_17842"
    inbox.mkdir(parents=True)
    chat_file.rename(inbox / chat_file.name)
    return folder / "e"


def test_an_archive_in_another_language_holds_the_same_posts_and_comments(tmp_path: Path) -> None:
    def archive(name: str, *titles: str) -> Path:
        post = {"timestamp": 1_767_261_600, "data": [{"post": "Gulls"}], "title": titles[0]}
        bare = {"timestamp": 1_767_261_601, "data": [], "title": "Nora"}
        other = {**bare, "title": "Ben"}
        said = [{"comment": {"comment": "Well sailed"}}]
        comment = {"timestamp": 1_767_261_602, "data": said, "title": titles[1]}
        shown = [{"data": [{"media": {"uri": f"{number}.jpg"}}]} for number in (1, 2)]
        pictures = [
            {"timestamp": 1_767_261_603, "attachments": [each], "title": titles[1]}
            for each in shown
        ]
        folder = tmp_path / name / "facebook"
        folder.mkdir(parents=True)
        (folder / "your_posts_1.json").write_bytes(json_bytes([post, bare, other]))
        comments = {"comments_v2": [comment, *pictures]}
        (folder / "comments.json").write_bytes(json_bytes(comments))
        return folder

    english = archive("a", "Nora shared a memory.", "Nora commented on a post.")
    german = archive("b", "Nora L. hat geteilt.", "Nora L. hat kommentiert.")
    kept = {"posts": 3, "comments": 3}
    found = [
        {key for key in read(Facebook(), path) if key[0] in kept} for path in (english, german)
    ]
    assert Counter(stream for stream, _ in found[0]) == kept
    assert found[0] == found[1]
