"""Samples of X, Discord, LinkedIn and Reddit."""

import json
from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes


def script(name: str, value: Any) -> bytes:
    return f"window.YTD.{name}.part0 = ".encode() + json.dumps(value, indent=2).encode()


def tweet(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {
        "tweet": {
            "id_str": str(1_800_000_000_000_000_000 + number),
            "full_text": text,
            "created_at": f"Thu Jan 01 10:00:{number:02} +0000 2026",
            "entities": {"urls": []},
            "favorite_count": "3",
            "retweet_count": "1",
            "lang": "en",
            **more,
        }
    }


TWEETS = [
    tweet(
        1,
        "Tar &amp; oakum keep the dinghy dry: https://t.co/x",
        entities={"urls": [{"url": "https://t.co/x", "expanded_url": "https://oakum.example/"}]},
    ),
    tweet(2, "@bo Yes", in_reply_to_status_id_str="17", in_reply_to_screen_name="bo"),
    tweet(3, "RT @bo: Fog"),
]
ACCOUNT = [{"account": {"username": "nora", "accountId": "42", "accountDisplayName": "Nora"}}]
DIRECT = [
    {
        "dmConversation": {
            "conversationId": "42-77",
            "messages": [
                {
                    "messageCreate": {
                        "id": "9001",
                        "senderId": "77",
                        "recipientId": "42",
                        "text": "The compass needle sticks near the stove",
                        "createdAt": "2026-01-01T10:00:00.000Z",
                        "urls": [],
                        "mediaUrls": [],
                    }
                },
                {"joinConversation": {"initiatingUserId": "77"}},
            ],
        }
    }
]
X_FILES = {
    "data/manifest.js": b"window.__THAR_CONFIG = {}",
    "data/account.js": script("account", ACCOUNT),
    "data/tweets.js": script("tweets", TWEETS),
    "data/tweets_media/1800000000000000001-pic.jpg": b"\xff\xd8\xff\xe0 oakum",
    "data/direct-messages.js": script("direct_messages", DIRECT),
    "data/like.js": script(
        "like", [{"like": {"tweetId": "5", "fullText": "Gulls!", "expandedUrl": "https://x.com/5"}}]
    ),
    "data/note-tweet.js": script(
        "note_tweet",
        [
            {
                "noteTweet": {
                    "noteTweetId": "8",
                    "createdAt": "2026-01-01T10:00:00.000Z",
                    "core": {"text": "A long one"},
                }
            }
        ],
    ),
    "Your archive.html": b"<html></html>",
}
OLD_POST = {
    "source": "web",
    "entities": {
        "urls": [{"url": "http://t.co/a", "expanded_url": "https://cork.example/"}],
        "media": [],
    },
    "geo": {},
    "id_str": "334455667788990011",
    "id": 334455667788990011,
    "text": "Cork &amp; floats for the nets: http://t.co/a",
    "created_at": "2013-05-14 20:01:00 +0000",
    "user": {"screen_name": "nora_sails", "id_str": "42"},
}
X_BEFORE_2018 = {
    "data/js/tweets/2013_05.js": b"Grailbird.data.tweets_2013_05 = \n" + json_bytes([OLD_POST]),
    "data/js/user_details.js": b'var user_details =  {"screen_name": "nora_sails", "id": "42"}',
    "data/js/tweet_index.js": b"var tweet_index =  [ ]",
    "tweets.csv": b'"tweet_id","text"\n"334455667788990011","Cork"\n',
    "index.html": b"<html></html>",
}
MESSAGES = [
    {
        "ID": 1_299_999_999_999_999_999,
        "Timestamp": "2026-01-01 10:00:00",
        "Contents": "The mizzen halyard jams when it freezes",
        "Attachments": "",
    },
    {
        "ID": 1_300_000_000_000_000_000,
        "Timestamp": "2026-01-01 10:00:05",
        "Contents": "",
        "Attachments": "https://cdn.example/a.png https://cdn.example/b.png",
    },
]
CHANNEL = {
    "id": "555",
    "type": "GUILD_TEXT",
    "name": "rigging",
    "guild": {"id": "1", "name": "Boat club"},
}
USER = {"id": "4242", "username": "nora", "global_name": "Nora L"}
DISCORD_CSV = (
    "ID,Timestamp,Contents,Attachments\r\n"
    '1299999999999999998,2020-01-01 10:00:00.123000+00:00,"Scrape the barnacles, then\nrinse",\r\n'
)
AUTHOR = {"id": "4242", "name": "nora", "nickname": "Nora L", "isBot": False}
EXPORTED_MESSAGES: list[dict[str, Any]] = [
    {
        "id": "1299999999999999999",
        "type": "Default",
        "timestamp": "2026-01-01T10:00:00.123+00:00",
        "timestampEdited": "2026-01-01T10:09:00+00:00",
        "isPinned": False,
        "content": "The mizzen halyard jams when it freezes",
        "author": AUTHOR,
        "attachments": [],
        "embeds": [{"title": "Halyards", "url": "https://ropes.example", "fields": []}],
        "stickers": [],
        "reactions": [{"emoji": {"id": "", "name": "👍"}, "count": 2, "users": []}],
    },
    {
        "id": "1300000000000000000",
        "type": "Reply",
        "timestamp": "2026-01-01T13:00:05+03:00",
        "timestampEdited": None,
        "content": "",
        "author": {"id": "7", "name": "bo", "nickname": None},
        "attachments": [
            {"id": "9", "url": "rigging [555].json_Files\\knot-0AF1B.png", "fileName": "knot.png"},
            {"id": "10", "url": "https://cdn.example/a.png", "fileName": "a.png"},
        ],
        "reference": {"messageId": "1299999999999999999", "channelId": "555", "guildId": "1"},
    },
]


def exported(messages: list[dict[str, Any]]) -> bytes:
    """Return a channel as DiscordChatExporter writes it."""
    channel = {"id": "555", "type": "GuildTextChat", "name": "rigging", "topic": None}
    return json_bytes(
        {
            "guild": {"id": "1", "name": "Boat club", "iconUrl": "https://cdn.example/i.png"},
            "channel": channel,
            "dateRange": {"after": None, "before": None},
            "exportedAt": "2026-02-01T00:00:00+00:00",
            "messages": messages,
            "messageCount": len(messages),
        }
    )


LINKED_MESSAGES = (
    "CONVERSATION ID,CONVERSATION TITLE,FROM,SENDER PROFILE URL,TO,RECIPIENT PROFILE URLS,DATE,"
    "SUBJECT,CONTENT,FOLDER\n"
    "2-abc,,Helga Brandt,https://www.linkedin.com/in/helga,Nora Lind,,2026-01-01 10:00:00 UTC,,"
    '"The shipyard hires a sailmaker, ask for Otto",INBOX\n'
    "2-abc,,Nora Lind,,Helga Brandt,,2026-01-01 10:05:00 UTC,,<p>Thank <b>you</b></p>,INBOX\n"
)
CONNECTIONS = (
    "Notes:\n"
    '"When exporting your connection data, you may notice some addresses missing."\n'
    "\n"
    "First Name,Last Name,URL,Email Address,Company,Position,Connected On\n"
    "Helga,Brandt,https://www.linkedin.com/in/helga,,Werft Nord,Sailmaker,05 Jan 2026\n"
    ",,,,,,\n"
)
LINKED = {
    "messages.csv": LINKED_MESSAGES.encode(),
    "Connections.csv": CONNECTIONS.encode(),
    "Profile.csv": b"First Name,Last Name,Headline\nNora,Lind,Pilot\n",
    "Shares.csv": (
        b"Date,ShareLink,ShareCommentary,SharedUrl,MediaUrl,Visibility\n"
        b"2026-01-02 08:00:00,https://www.linkedin.com/feed/1,We sail again,,,MEMBER\n"
    ),
    "Skills.csv": b"Name\nSailing\n",
}
REDDIT = {
    "posts.csv": (
        b"id,permalink,date,ip,subreddit,gildings,title,url,body\n"
        b"p1,https://www.reddit.com/r/sailing/comments/p1/keel/,2026-01-01 10:00:00 UTC,,sailing,0,"
        b"Keel bolts,,How do you tell a wet keel bolt from a rusty one?\n"
    ),
    "comments.csv": (
        b"id,permalink,date,ip,subreddit,gildings,link,parent,body,media\n"
        b"c1,https://www.reddit.com/r/sailing/comments/p1/keel/c1/,2026-01-01 11:00:00 UTC,,"
        b'sailing,0,https://www.reddit.com/r/sailing/comments/p1/keel/,,"Tap it, and\nlisten",\n'
    ),
    "messages.csv": (
        b"id,permalink,thread_id,date,ip,from,to,subject,body\n"
        b"m1,https://www.reddit.com/message/m1,t1,2026-01-01 12:00:00 UTC,,bo,nora,Hi,Ahoy there\n"
    ),
    "post_votes.csv": (
        b"id,permalink,direction\np9,https://www.reddit.com/r/knots/comments/p9/nice_knot/,up\n"
    ),
    "saved_posts.csv": b"id,permalink\np8,https://www.reddit.com/r/knots/comments/p8/splice/\n",
    "statistics.csv": b"statistic,value\naccount name,nora_l\nis_deleted,False\n",
    "ip_logs.csv": b"date,ip\n2026-01-01,1.2.3.4\n",
}

SAMPLES = (
    FormatSample(
        "x_twitter",
        "since 2022",
        X_FILES,
        words="tar oakum dinghy",
        sentence="Tar & oakum keep the dinghy dry: https://oakum.example/",
        units={
            "post": ["JSON objects at item.tweet"],
            "conversation": ["JSON objects at item.dmConversation"],
            "like": ["JSON objects at item.like"],
        },
        earlier={**X_FILES, "data/tweets.js": script("tweets", TWEETS[:1])},
        cut="data/tweets.js",
    ),
    FormatSample(
        "x_twitter",
        "before 2018",
        X_BEFORE_2018,
        words="cork floats nets",
        sentence="Cork & floats for the nets: https://cork.example/",
        units={"post": ["JSON objects at item"]},
        cut="data/js/tweets/2013_05.js",
    ),
    FormatSample(
        "x_twitter",
        "before 2020",
        {"tweet.js": script("tweet", [tweet(9, "The old capstan song")["tweet"]])},
        words="old capstan song",
        sentence="The old capstan song",
        units={"post": ["JSON objects at item"]},
        cut="tweet.js",
    ),
    FormatSample(
        "discord",
        "lists",
        {
            "package/Messages/index.json": json_bytes({"555": "rigging in Boat club", "556": None}),
            "package/Messages/c555/channel.json": json_bytes(CHANNEL),
            "package/Messages/c555/messages.json": json_bytes(MESSAGES),
            "package/Messages/c556/channel.json": json_bytes({"id": "556", "type": "DM"}),
            "package/Messages/c556/messages.json": b"[]",
            "package/Account/user.json": json_bytes(USER),
        },
        words="mizzen halyard jams freezes",
        sentence="The mizzen halyard jams when it freezes",
        units={"message": ["JSON objects at item"]},
        earlier={
            "package/Messages/c555/channel.json": json_bytes(CHANNEL),
            "package/Messages/c555/messages.json": json_bytes(MESSAGES[:1]),
            "package/Account/user.json": json_bytes(USER),
        },
    ),
    FormatSample(
        "discord",
        "tables",
        {
            "messages/c555/channel.json": json_bytes(CHANNEL),
            "messages/c555/messages.csv": DISCORD_CSV.encode(),
            "account/user.json": json_bytes(USER),
        },
        words="scrape barnacles rinse",
        sentence="Scrape the barnacles, then\nrinse",
        units={"message": ["rows below a header"]},
        cut="messages/c555/messages.csv",
        torn=1,
    ),
    FormatSample(
        "discord",
        "DiscordChatExporter",
        {
            "rigging [555].json": exported(EXPORTED_MESSAGES),
            "rigging [555].json_Files/knot-0AF1B.png": b"\x89PNG knot",
            "rigging [555].json_Files/icon-00000.png": b"\x89PNG icon",
        },
        words="mizzen halyard jams freezes",
        sentence="The mizzen halyard jams when it freezes",
        units={"message": ["JSON objects at messages.item"]},
        earlier={"rigging [555].json": exported(EXPORTED_MESSAGES[:1])},
        renamed={"rigging [555].json": "export (1).json"},
    ),
    FormatSample(
        "linkedin",
        "tables",
        LINKED,
        words="shipyard hires sailmaker Otto",
        sentence="The shipyard hires a sailmaker, ask for Otto",
        cut="messages.csv",
        torn=1,
        earlier={
            **LINKED,
            "messages.csv": "\n".join(LINKED_MESSAGES.split("\n")[:2]).encode() + b"\n",
        },
        renamed={"Connections.csv": "Connections (1).csv"},
    ),
    FormatSample(
        "linkedin",
        "messages alone",
        {"messages.csv": LINKED_MESSAGES.encode()},
        words="shipyard hires sailmaker Otto",
        sentence="The shipyard hires a sailmaker, ask for Otto",
        units={"message": ["rows below a header"]},
    ),
    FormatSample(
        "reddit",
        "comments alone",
        {"comments.csv": REDDIT["comments.csv"]},
        words='"Tap it, and listen"',
        sentence="Tap it, and\nlisten",
        units={"comment": ["rows below a header"]},
        cut="comments.csv",
        torn=1,
    ),
    FormatSample(
        "reddit",
        "tables",
        REDDIT,
        words="wet keel bolt rusty",
        sentence="How do you tell a wet keel bolt from a rusty one?",
        earlier={name: REDDIT[name] for name in ("posts.csv", "statistics.csv")},
        renamed={"posts.csv": "posts (1).csv"},
    ),
)
