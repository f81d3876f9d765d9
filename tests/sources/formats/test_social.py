"""X, Discord, LinkedIn and Reddit: what only these have."""

from pathlib import Path
from typing import Any

from tests.sources.kit import Home, look, read, told
from tests.sources.samples import every_sample, social

from pdpp.sources.formats.discord.source import Discord
from pdpp.sources.formats.linkedin.source import LinkedIn
from pdpp.sources.formats.reddit.source import Reddit
from pdpp.sources.formats.x_twitter.source import XTwitter
from pdpp.sources.source import Recognition

SAMPLES = every_sample()


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_posts_of_x_have_true_addresses_kinds_and_pictures(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    path = SAMPLES["x_twitter: since 2022"].folder(tmp_path / "e")
    report = home.bring(path)
    assert report["connection"]["display_name"] == "X (Twitter) (nora)"
    posts = sorted(of(home.records(), "posts"), key=lambda data: str(data["posted_at"]))
    assert [data["kind"] for data in posts] == ["long post", "post", "answer", "repost"]
    assert (posts[1]["link"], posts[1]["likes"]) == ("https://oakum.example/", 3)
    [picture] = of(home.records(), "media")
    assert picture["post_id"] == posts[1]["id"]
    assert picture["file"]["mime_type"] == "image/jpeg"
    [message] = of(home.records(), "messages")
    assert (message["sender"], message["conversation"]) == ("77", "42-77")
    assert [skip.reason for skip in told(XTwitter(), path)] == [
        "a note of the service in a conversation"
    ]


def test_large_numbers_of_discord_stay_exact_and_both_layouts_agree(tmp_path: Path) -> None:
    lists = read(Discord(), SAMPLES["discord: lists"].folder(tmp_path / "a"))
    tables = read(Discord(), SAMPLES["discord: tables"].folder(tmp_path / "b"))
    assert ("messages", "555.1299999999999999999") in lists
    assert ("messages", "555.1299999999999999998") in tables
    first, second = of(lists, "messages")
    assert (first["channel"], first["server"]) == ("rigging", "Boat club")
    assert (second["text"], second["files"]) == ("[2 files]", 2)
    [channel] = of(lists, "channels")
    assert (channel["kind"], channel["message_count"]) == ("text channel", 2)
    seen = look(Discord(), tmp_path / "a")
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.account) == ("4242", "Discord (Nora L)")


def test_connections_of_linkedin_stand_below_notes(tmp_path: Path) -> None:
    path = SAMPLES["linkedin: tables"].folder(tmp_path)
    records = read(LinkedIn(), path)
    [person] = of(records, "people")
    assert (person["name"], person["company"], person["since"]) == (
        "Helga Brandt",
        "Werft Nord",
        "2026-01-05",
    )
    assert [data["text"] for data in of(records, "messages")][1] == "Thank you"
    assert len({data["conversation_id"] for data in of(records, "messages")}) == 1
    assert [data["kind"] for data in of(records, "posts")] == ["post"]
    seen = look(LinkedIn(), path)
    assert isinstance(seen, Recognition)
    assert seen.account == "LinkedIn (Nora Lind)"


def test_comments_of_reddit_belong_to_their_posts(tmp_path: Path) -> None:
    records = read(Reddit(), SAMPLES["reddit: tables"].folder(tmp_path))
    [post], [comment] = of(records, "posts"), of(records, "comments")
    assert comment["post_id"] == post["id"]
    assert comment["text"] == "Tap it, and\nlisten"
    assert [(data["kind"], data["subreddit"]) for data in of(records, "votes")] == [
        ("upvote", "knots"),
        ("saved", "knots"),
    ]
    seen = look(Reddit(), tmp_path)
    assert isinstance(seen, Recognition)
    assert seen.identity == "nora_l"


def test_a_long_post_is_there_once_and_whole(tmp_path: Path) -> None:
    """As X writes it: shortened with a link to itself among the posts, whole in another file."""
    whole = (
        "The keeper climbs the stairs & winds the clock before every tide. " * 6 + "https://t.co/b"
    )
    cut = whole[:274].replace("&", "&amp;") + "… https://t.co/self"
    note = {
        "noteTweetId": "1799999999999999999",
        "createdAt": "2026-01-01T10:00:10.000Z",
        "core": {
            "text": whole,
            "urls": [{"shortUrl": "https://t.co/b", "expandedUrl": "https://tide.example/book"}],
        },
    }
    alone = {**note, "noteTweetId": "8", "core": {"text": "Its post was deleted"}}
    files = {
        "data/account.js": social.script("account", social.ACCOUNT),
        "data/tweets.js": social.script("tweets", [social.tweet(10, cut), social.tweet(11, "Hm")]),
        "data/note-tweet.js": social.script(
            "note_tweet", [{"noteTweet": note}, {"noteTweet": alone}]
        ),
    }
    path = SAMPLES["x_twitter: since 2022"].folder(tmp_path, files)
    records = read(XTwitter(), path)
    texts = {data["text"]: data["kind"] for data in of(records, "posts")}
    assert texts == {
        whole.replace("https://t.co/b", "https://tide.example/book"): "post",
        "Hm": "post",
        "Its post was deleted": "long post",
    }
    assert ("posts", "1800000000000000010") in records
    assert [skip.reason for skip in told(XTwitter(), path)] == [
        "a whole text that is told with its post"
    ]


def test_messages_of_x_keep_pictures_reactions_and_true_addresses(tmp_path: Path) -> None:
    message = {
        "id": "9002",
        "senderId": "42",
        "text": "Look https://t.co/y",
        "createdAt": "2026-01-02T10:00:00.000Z",
        "urls": [{"url": "https://t.co/y", "expanded": "https://fog.example", "display": "fog"}],
        "mediaUrls": [],
        "reactions": [{"senderId": "77", "reactionKey": "like"}],
    }
    talk = {"dmConversation": {"conversationId": "42-77", "messages": [{"messageCreate": message}]}}
    for name, content in {
        **social.X_FILES,
        "data/direct-messages.js": social.script("direct_messages", [talk]),
        "data/direct_messages_media/9002-fog.jpg": b"\xff\xd8 fog",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    records = read(XTwitter(), tmp_path)
    [kept] = [data for data in of(records, "messages") if data["sender"] == "me"]
    assert (kept["text"], kept["reactions"]) == ("Look https://fog.example", ["like 77"])
    files = {data["name"]: data.get("message_id") for data in of(records, "media")}
    assert files["9002-fog.jpg"] == kept["id"]


def test_an_archive_of_before_2018_goes_into_the_account_of_a_newer_one(tmp_path: Path) -> None:
    old = SAMPLES["x_twitter: before 2018"].folder(tmp_path / "old")
    new = SAMPLES["x_twitter: since 2022"].folder(tmp_path / "new")
    [post] = of(read(XTwitter(), old), "posts")
    assert post["posted_at"] == "2013-05-14T20:01:00Z"
    assert post["text"] == "Cork & floats for the nets: https://cork.example/"
    before, now = look(XTwitter(), old), look(XTwitter(), new)
    assert isinstance(before, Recognition)
    assert isinstance(now, Recognition)
    assert (before.identity, before.owner_known) == (now.identity, True)


def test_talks_of_several_people_come_in_under_their_name_of_2019(tmp_path: Path) -> None:
    message = {
        "id": "9003",
        "senderId": "77",
        "text": "All",
        "createdAt": "2019-03-06T10:00:00.000Z",
    }
    talk = {"dmConversation": {"conversationId": "500", "messages": [{"messageCreate": message}]}}
    for name, content in {
        "account.js": social.X_FILES["data/account.js"],
        "direct-message-group.js": social.script("direct_message_group", [talk]),
    }.items():
        (tmp_path / name).write_bytes(content)
    [kept] = of(read(XTwitter(), tmp_path), "messages")
    assert (kept["text"], kept["sender"]) == ("All", "77")


def test_articles_and_recommendations_of_linkedin_come_in(tmp_path: Path) -> None:
    SAMPLES["linkedin: tables"].folder(tmp_path)
    pages = tmp_path / "Articles" / "Articles"
    pages.mkdir(parents=True)
    (pages / "2026-01-02-knots.html").write_text(
        "<html><head><title>x</title></head><body>"
        '<h1><a href="https://www.linkedin.com/pulse/knots?a=1&amp;b=2">Knots</a></h1>'
        '<p class="created">Created on 2026-01-02 10:00</p>'
        '<p class="published">Published on 2026-01-03 11:00</p><div><p>Bowline first.</p></div>'
    )
    (tmp_path / "Recommendations_Given.csv").write_text(
        "First Name,Last Name,Company,Job Title,Text,Creation Date,Status\n"
        'Ines,Duarte,Quay,Pilot,"Steers well",2026-01-04,VISIBLE\n'
    )
    records = read(LinkedIn(), tmp_path)
    [article] = [data for data in of(records, "posts") if data["kind"] == "article"]
    assert (article["text"], article["posted_at"]) == (
        "Knots\n\nBowline first.",
        "2026-01-02T10:00:00Z",
    )
    assert article["link"] == "https://www.linkedin.com/pulse/knots?a=1&b=2"
    [said] = [data for data in of(records, "messages") if data.get("folder") == "RECOMMENDATIONS"]
    assert (said["recipients"], said["text"]) == ("Ines Duarte", "Steers well")


def test_a_channel_of_discordchatexporter_has_what_everybody_wrote(tmp_path: Path) -> None:
    records = read(Discord(), SAMPLES["discord: DiscordChatExporter"].folder(tmp_path))
    first, second = of(records, "messages")
    assert first["text"] == (
        "The mizzen halyard jams when it freezes\nHalyards\nhttps://ropes.example"
    )
    assert (first["sender"], first["reactions"]) == ("Nora L", ["👍 ×2"])
    assert (first["server"], first["channel"]) == ("Boat club", "rigging")
    assert first["edited_at"] == "2026-01-01T10:09:00+00:00"
    assert (second["text"], second["files"]) == ("[knot.png, a.png]", 2)
    assert (second["sender"], second["link"]) == ("bo", "https://cdn.example/a.png")
    assert second["reply_to"] == first["id"]
    [media] = of(records, "media")
    assert (media["name"], media["message_id"]) == ("knot.png", second["id"])


def test_a_message_in_discords_package_and_in_a_saved_channel_is_the_same(tmp_path: Path) -> None:
    package = read(Discord(), SAMPLES["discord: lists"].folder(tmp_path / "a"))
    saved = read(Discord(), SAMPLES["discord: DiscordChatExporter"].folder(tmp_path / "b"))
    names = {key for key in package if key[0] == "messages"}
    assert names == {key for key in saved if key[0] == "messages"}


def test_parts_of_one_channel_of_discordchatexporter_are_one_channel(tmp_path: Path) -> None:
    (tmp_path / "rigging [555].json").write_bytes(social.exported(social.EXPORTED_MESSAGES[:1]))
    (tmp_path / "rigging [555] [part 2].json").write_bytes(
        social.exported(social.EXPORTED_MESSAGES)
    )
    records = read(Discord(), tmp_path)
    [channel] = of(records, "channels")
    assert (channel["message_count"], channel["kind"]) == (2, "text channel")


def test_what_a_saved_message_forwards_and_what_happened_is_kept(tmp_path: Path) -> None:
    forwarded = {"content": "Storm at noon", "attachments": [], "embeds": [], "stickers": []}
    messages = [
        {**social.EXPORTED_MESSAGES[0], "content": "", "embeds": [], "forwardedMessage": forwarded},
        {**social.EXPORTED_MESSAGES[0], "id": "2", "type": "GuildMemberJoin", "content": "Joined."},
        {**social.EXPORTED_MESSAGES[0], "id": "3", "timestamp": "soon"},
    ]
    (tmp_path / "x.json").write_bytes(social.exported(messages))
    records = read(Discord(), tmp_path)
    found = of(records, "messages")
    assert [(data["text"].split("\n")[:2], data.get("service")) for data in found] == [
        (["Forwarded:", "Storm at noon"], None),
        (["Joined.", "Halyards"], True),
    ]
    assert [skipped.reason for skipped in told(Discord(), tmp_path)] == [
        "a message without an id or a time"
    ]


def test_who_wrote_what_is_shown_of_a_page_is_read_too(tmp_path: Path) -> None:
    shown: dict[str, Any] = {
        "author": {"name": "Harbour office", "url": "https://harbour.example"},
        "title": "",
        "url": None,
        "description": "Gale warning",
        "fields": [],
        "footer": {"text": "until Friday"},
    }
    first = {**social.EXPORTED_MESSAGES[0], "content": "", "embeds": [shown]}
    (tmp_path / "x.json").write_bytes(social.exported([first]))
    [message] = of(read(Discord(), tmp_path), "messages")
    assert message["text"] == "Harbour office\nGale warning\nuntil Friday"


def test_a_post_of_linkedin_of_several_lines_has_the_quotes_of_its_author_alone(
    tmp_path: Path,
) -> None:
    header = "Date,ShareLink,ShareCommentary,SharedURL,MediaURL,Visibility\n"
    lines = [
        '"The ""dry"" dock is full.""',
        '""""',
        '""Ask again""',
        '"" on Monday""',
        '""",,,MEMBER',
    ]
    row = "2022-09-08 04:10:18,https://www.linkedin.com/feed/9," + "\n".join(lines)
    archive = social.LINKED | {"Shares.csv": f"{header}{row}\n".encode()}
    for name, content in archive.items():
        (tmp_path / name).write_bytes(content)
    [post] = of(read(LinkedIn(), tmp_path), "posts")
    assert post["text"] == 'The "dry" dock is full.\n\nAsk again\n on Monday'


def test_two_people_who_say_the_same_at_once_on_linkedin_say_it_twice(tmp_path: Path) -> None:
    columns = "CONVERSATION ID,CONVERSATION TITLE,FROM,SENDER PROFILE URL,TO,DATE,SUBJECT,CONTENT"
    said = [
        f"c1,Crew,{name},,Nora Lind,2026-01-01 10:00:00 UTC,,Aye,INBOX"
        for name in ("Otto Brandt", "Ana Reis")
    ]
    table = "\n".join([f"{columns},FOLDER", *said, said[0], ""])
    for base, content in (social.LINKED | {"messages.csv": table.encode()}).items():
        (tmp_path / base).write_bytes(content)
    senders = [message["sender"] for message in of(read(LinkedIn(), tmp_path), "messages")]
    assert sorted(senders) == ["Ana Reis", "Otto Brandt"]


def test_messages_of_somebody_who_left_linkedin_are_the_same_ones(tmp_path: Path) -> None:
    columns = "CONVERSATION ID,CONVERSATION TITLE,FROM,SENDER PROFILE URL,TO,DATE,SUBJECT,CONTENT"
    home = Home(tmp_path / "home")
    for name in ("Otto Brandt", "LinkedIn Member"):
        path = tmp_path / f"Basic_LinkedInDataExport {name}"
        path.mkdir()
        said = f"c1,,{name},,Nora Lind,2026-01-01 10:00:00 UTC,,The sail is mended"
        files = social.LINKED | {"messages.csv": f"{columns},FOLDER\n{said},INBOX\n".encode()}
        for base, content in files.items():
            (path / base).write_bytes(content)
        home.bring(path)
    [message] = of(home.records(), "messages")
    assert message["sender"] == "LinkedIn Member"
