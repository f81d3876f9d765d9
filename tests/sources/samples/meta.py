"""Samples of Facebook and Instagram archives in the layouts of several years."""

from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes

PHOTO = b"\xff\xd8\xff\xe0 a boat"
ZERO = 1_767_261_600


def spoilt(text: str) -> str:
    """Return a text as Meta writes it: UTF-8 read as Latin-1."""
    return text.encode().decode("latin-1")


def message(number: int, sender: str, text: str | None, **more: Any) -> dict[str, Any]:
    made = {"sender_name": spoilt(sender), "timestamp_ms": (ZERO + number) * 1000 + 7, **more}
    return made if text is None else {**made, "content": spoilt(text)}


def chat(
    *messages: dict[str, Any], path: str = "inbox/harbour_10158", title: str = "Harbour café"
) -> dict[str, Any]:
    return {
        "participants": [{"name": spoilt("Inês Duarte")}, {"name": "Nora Lind"}],
        "messages": list(messages),
        "title": spoilt(title),
        "is_still_participant": True,
        "thread_path": path,
        "magic_words": [],
    }


OLD = message(1, "Inês Duarte", "The ferry to Cacilhas leaves at dawn, naïve as that sounds 🌊")
TALK = (
    message(9, "Nora Lind", None, photos=[{"uri": "messages/inbox/harbour_10158/photos/boat.jpg"}]),
    message(
        8, "Nora Lind", "Look", share={"link": "https://tides.example/a", "share_text": "Tides"}
    ),
    message(7, "Inês Duarte", None, is_unsent=True),
    message(7, "Inês Duarte", "The same moment again"),
    message(6, "Nora Lind", None, call_duration=61, missed=False),
    message(
        5,
        "Nora Lind",
        "Yes",
        reactions=[{"reaction": spoilt("👍"), "actor": spoilt("Inês Duarte")}],
    ),
    message(4, "Nora Lind", None, sticker={"uri": "messages/stickers_used/gone.png"}),
)
PROFILE = {
    "profile_v2": {
        "name": {"full_name": spoilt("Nora Lindström")},
        "emails": {"emails": ["nora@lind.example"]},
        "username": "nora.lind",
        "profile_uri": "https://www.facebook.com/nora.lind",
    }
}
POST = {
    "timestamp": ZERO,
    "title": spoilt("Nora Lindström added a photo."),
    "data": [{"post": spoilt("Die Möwen über dem Leuchtfeuer schlafen nie")}],
    "attachments": [
        {
            "data": [
                {"media": {"uri": "posts/media/gull.jpg", "description": "A gull"}},
                {"place": {"name": spoilt("Cais do Sodré")}},
                {"external_context": {"url": "https://gulls.example"}},
            ]
        }
    ],
    "tags": [{"name": spoilt("Inês Duarte")}, "Bo"],
}
COMMENT = {
    "timestamp": ZERO + 5,
    "title": "Nora commented on a post.",
    "data": [{"comment": {"timestamp": ZERO + 5, "comment": "Well sailed", "author": "Nora"}}],
}
LIKE = {
    "timestamp": ZERO + 6,
    "title": "Nora likes a photo.",
    "data": [{"reaction": {"reaction": "LIKE", "actor": "Nora"}}],
}


def facebook(root: str, inbox: str, *, posts: str) -> dict[str, bytes]:
    return {
        f"{inbox}/inbox/harbour_10158/message_1.json": json_bytes(chat(*TALK)),
        f"{inbox}/inbox/harbour_10158/message_2.json": json_bytes(chat(OLD)),
        f"{inbox}/inbox/harbour_10158/photos/boat.jpg": PHOTO,
        f"{inbox}/archived_threads/bo_2222/message_1.json": json_bytes(
            chat(message(2, "Bo", "Hi"), path="archived_threads/bo_2222", title="Bo")
        ),
        f"{posts}/your_posts__check_ins__photos_and_videos_1.json": json_bytes([POST]),
        f"{posts}/media/gull.jpg": PHOTO + b"2",
        f"{root}comments_and_reactions/comments.json": json_bytes({"comments_v2": [COMMENT]}),
        f"{root}comments_and_reactions/likes_and_reactions_1.json": json_bytes([LIKE]),
        "connections/friends/your_friends.json": json_bytes(
            {"friends_v2": [{"name": spoilt("Inês Duarte"), "timestamp": ZERO}]}
        ),
        "personal_information/profile_information/profile_information.json": json_bytes(PROFILE),
        "preferences/feed/feed.json": json_bytes({"people": []}),
    }


SEALED = {
    "participants": ["Nora Lind", "Tomás Reis"],
    "threadName": "Tomás Reis_3",
    "messages": [
        {
            "isUnsent": False,
            "media": [{"uri": "./media/rope.jpg"}],
            "reactions": [{"actor": "Nora Lind", "reaction": "❤"}],
            "senderName": "Tomás Reis",
            "text": "The spare rope hangs behind the boathouse door",
            "timestamp": (ZERO + 3) * 1000,
            "type": "media",
        }
    ],
}

IG_MESSAGES = (
    message(9, "nora", "Bring the orange buoys tonight, não te esqueças"),
    message(8, "ines", None, photos=[{"uri": "your_instagram_activity/messages/inbox/x/1.jpg"}]),
)
IG_OWNER = {
    "profile_user": [{"title": "User", "string_map_data": {"Username": {"value": "nora.lind"}}}]
}


def labelled(**cells: Any) -> dict[str, Any]:
    return {"title": "", "media_list_data": [], "string_map_data": cells}


def instagram(*, today: bool) -> dict[str, bytes]:
    inbox = "your_instagram_activity/messages/inbox" if today else "messages/inbox"
    comment = labelled(
        Comment={"value": spoilt("Que maré!")},
        **{"Media Owner": {"value": "ines"}, "Time": {"timestamp": ZERO}},
    )
    like_today = {
        "timestamp": ZERO,
        "media": [],
        "label_values": [
            {
                "label": "URL",
                "value": "https://www.instagram.com/p/X/",
                "href": "https://www.instagram.com/p/X/",
            },
            {"label": "Owner", "value": "ines"},
        ],
        "fbid": "17",
    }
    like_before = {
        "title": "ines",
        "string_list_data": [
            {"href": "https://www.instagram.com/p/X/", "value": "👍", "timestamp": ZERO}
        ],
    }
    follower = {"href": "https://www.instagram.com/ines", "value": "ines", "timestamp": ZERO}
    media = {"uri": "media/posts/202601/gull.jpg", "creation_timestamp": ZERO, "title": ""}
    return {
        f"{inbox}/harbour_77/message_1.json": json_bytes(
            chat(*IG_MESSAGES, path="inbox/harbour_77")
        ),
        "personal_information/personal_information/personal_information.json": json_bytes(IG_OWNER),
        "media/posts_1.json": json_bytes(
            [
                {
                    "media": [media, {**media, "uri": "media/posts/202601/other.jpg"}],
                    "title": spoilt("Gaivotas à tarde"),
                    "creation_timestamp": ZERO,
                }
            ]
        ),
        "media/stories.json": json_bytes(
            {
                "ig_stories": [
                    {"uri": "media/stories/s.jpg", "creation_timestamp": ZERO + 1, "title": "Fog"}
                ]
            }
        ),
        "media/posts/202601/gull.jpg": PHOTO,
        "media/stories/s.jpg": PHOTO + b"s",
        "connections/followers_and_following/followers_1.json": json_bytes(
            [{"title": "", "string_list_data": [follower]}]
        ),
        "connections/followers_and_following/following.json": json_bytes(
            {
                "relationships_following": [
                    {
                        "title": "bo",
                        "string_list_data": [
                            {"href": "https://www.instagram.com/_u/bo", "timestamp": ZERO}
                        ],
                    }
                ]
            }
        ),
        "comments/post_comments_1.json": json_bytes(
            [comment] if today else {"comments_media_comments": [comment]}
        ),
        "likes/liked_posts.json": json_bytes(
            [like_today] if today else {"likes_media_likes": [like_before]}
        ),
    }


IN_CHAT = "JSON objects at messages.item"
SAMPLES = (
    FormatSample(
        "facebook",
        "since 2025",
        FACEBOOK := facebook(
            "your_facebook_activity/",
            "your_facebook_activity/messages",
            posts="your_facebook_activity/posts",
        ),
        words="ferry Cacilhas naïve dawn",
        sentence="The ferry to Cacilhas leaves at dawn, naïve as that sounds 🌊",
        units={
            "message": [IN_CHAT],
            "comment": ["JSON objects at comments_v2.item"],
            "friend": ["JSON objects at friends_v2.item"],
        },
        earlier={
            **{name: held for name, held in FACEBOOK.items() if "harbour" not in name},
            "your_facebook_activity/messages/inbox/harbour_10158/message_1.json": json_bytes(
                chat(OLD)
            ),
        },
        cut="your_facebook_activity/messages/inbox/harbour_10158/message_1.json",
    ),
    FormatSample(
        "facebook",
        "before 2024",
        facebook("", "messages", posts="posts"),
        words="Möwen Leuchtfeuer schlafen",
        sentence="Die Möwen über dem Leuchtfeuer schlafen nie",
        units={"message": [IN_CHAT]},
    ),
    FormatSample(
        "facebook",
        "chats encrypted from end to end",
        {"messages/Tomás Reis_3.json": json_bytes(SEALED), "messages/media/rope.jpg": PHOTO},
        words="spare rope boathouse",
        sentence="The spare rope hangs behind the boathouse door",
        units={"message": [IN_CHAT]},
        cut="messages/Tomás Reis_3.json",
    ),
    FormatSample(
        "instagram",
        "since 2026",
        instagram(today=True),
        words="orange buoys tonight",
        sentence="Bring the orange buoys tonight, não te esqueças",
        units={"message": [IN_CHAT], "story": ["JSON objects at ig_stories.item"]},
        earlier={
            name: held
            for name, held in instagram(today=True).items()
            if "posts" not in name and "stories" not in name
        },
        cut="your_instagram_activity/messages/inbox/harbour_77/message_1.json",
    ),
    FormatSample(
        "instagram",
        "before 2024",
        instagram(today=False),
        words="Gaivotas tarde",
        sentence="Gaivotas à tarde",
        units={
            "message": [IN_CHAT],
            "like": ["JSON objects at likes_media_likes.item"],
            "comment": ["JSON objects at comments_media_comments.item"],
        },
    ),
)
