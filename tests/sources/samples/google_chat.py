"""Samples of Google Chat, as a Takeout holds it today and as it did before messages had ids."""

from typing import Any

from tests.sources.samples.photos import jpeg, tiff
from tests.sources.samples.sample import FormatSample, json_bytes

NORA = {"name": "Nora Lind", "email": "nora.lind@gmail.example", "user_type": "Human"}
BO = {"name": "Bo Reis", "email": "Bo.Reis@x.example", "user_type": "Human"}
TIDES = {"name": "Tide Bot", "email": "", "user_type": "Bot"}
ROOT = "Takeout/Google Chat"
DIRECT, SPACE = f"{ROOT}/Groups/DM k6oxHQAAAAE", f"{ROOT}/Groups/Space AAAAFyOfy4w"


def message(number: str, who: dict[str, Any], day: str, text: str = "", **more: Any) -> Any:
    """Return a message of the direct chat, in a topic of its own."""
    return {
        "creator": who,
        "created_date": day,
        **({"text": text} if text else {}),
        **more,
        "topic_id": more.get("topic_id", number),
        "message_id": f"k6oxHQAAAAE/{more.get('topic_id', number)}/{number}",
    }


HELLO = message(
    "aa1",
    NORA,
    "Thursday, November 3, 2022 at 11:59:50\u202fAM UTC",
    "The ferry bell rings twice before the fog gate opens",
    reactions=[
        {"emoji": {"unicode": "👍"}, "reactor_emails": ["bo.reis@x.example", "a@x.example"]},
        {"emoji": {"custom_emoji": {"short_code": ":buoy:", "uid": "u"}}, "reactor_emails": ["x"]},
    ],
    updated_date="Thursday, November 3, 2022 at 12:10:00\u202fPM UTC",
    previous_message_versions=[{"text": "The ferry bell", "creator": NORA}],
)
ANSWER = message(
    "aa2",
    BO,
    "Thursday, 3 November 2022 at 13:00:00 UTC",
    "Then we moor at the second ring",
    topic_id="aa1",
    quoted_message_metadata={
        "creator": NORA,
        "text": HELLO["text"],
        "message_id": HELLO["message_id"],
    },
)
PICTURES = message(
    "aa3",
    BO,
    "Friday, November 4, 2022 at 9:00:00 PM UTC",
    attached_files=[
        {"original_name": "gate.jpg", "export_name": "File-gate.jpg"},
        {"original_name": "gate.jpg", "export_name": "File-gate.jpg"},
        {"original_name": "49?account_id=3.png", "export_name": "File-49?account_id=3.png"},
        {"original_name": "gone.pdf", "export_name": "File-gone.pdf"},
    ],
)
DELETED = {
    "message_state": "DELETED",
    "deleted_date": "Friday, November 4, 2022 at 9:10:00 PM UTC",
    "topic_id": "aa4",
    "deletion_metadata": {"deletion_type": "CREATOR"},
    "message_id": "k6oxHQAAAAE/aa4/aa4",
}
LONG = "File-a survey of every mooring ring along the northern quay.pdf"
IN_SPACE = [
    {
        "creator": TIDES,
        "created_date": "2022年11月1日火曜日 17:04:31 UTC",
        "annotations": [
            {
                "start_index": 0,
                "length": 0,
                "url_metadata": {
                    "title": "Tide table of the week",
                    "snippet": "",
                    "url": {
                        "private_do_not_access_or_else_safe_url_wrapped_value": "https://t.example/"
                    },
                },
            }
        ],
        "topic_id": "t1",
        "message_id": "AAAAFyOfy4w/t1/t1",
    },
    {
        "creator": BO,
        "created_date": "martes, 1 de noviembre de 2022, 18:00:00 UTC",
        "text": "See the survey",
        "attached_files": [{"original_name": LONG[5:], "export_name": LONG}],
        "annotations": [
            {
                "start_index": 4,
                "length": 3,
                "gsuite_integration_metadata": {
                    "tasks_data": {
                        "task_properties": {"title": "Count the rings", "completed": False}
                    }
                },
            }
        ],
        "topic_id": "t2",
        "message_id": "AAAAFyOfy4w/t2/t2",
    },
]
OWNER = {
    "user": NORA,
    "membership_info": [
        {"group_id": "DM k6oxHQAAAAE", "membership_state": "MEMBER_JOINED"},
        {
            "group_name": "Harbour watch",
            "group_id": "Space AAAAFyOfy4w",
            "membership_state": "MEMBER_JOINED",
        },
    ],
}
PEOPLE = {"members": [NORA, BO]}
TODAY = {
    "Takeout/archive_browser.html": b"<html>nora.lind@gmail.example</html>",
    f"{ROOT}/Users/User 1234567890/user_info.json": json_bytes(OWNER),
    f"{DIRECT}/group_info.json": json_bytes(PEOPLE),
    f"{DIRECT}/messages.json": json_bytes({"messages": [HELLO, ANSWER, PICTURES, DELETED]}),
    f"{DIRECT}/File-gate.jpg": jpeg(tiff(), b"gate" * 9),
    f"{DIRECT}/File-gate(1).jpg": jpeg(tiff(), b"other" * 9),
    f"{DIRECT}/File-49_account_id=3.png": b"\x89PNG\r\n\x1a\n",
    f"{SPACE}/group_info.json": json_bytes({"name": "Harbour watch", **PEOPLE}),
    f"{SPACE}/messages.json": json_bytes({"messages": IN_SPACE}),
    f"{SPACE}/{LONG[:47]}.pdf": b"%PDF-1.4\n%%EOF",
}
OLDER = [
    {"creator": BO, "created_date": "Tuesday, September 6, 2016 at 6:46:08 PM UTC", "text": "Ahoy"},
    {"creator": BO, "created_date": "Tuesday, September 6, 2016 at 6:46:08 PM UTC", "text": "Ahoy"},
    {
        "creator": {"name": "Deleted User"},
        "created_date": "Tuesday, September 6, 2016 at 6:47:00 PM UTC",
        "text": "The lantern keeper signs off at dawn",
    },
]

SAMPLES = (
    FormatSample(
        "google_chat",
        "a Takeout of today",
        TODAY,
        words="ferry bell fog gate",
        sentence="The ferry bell rings twice before the fog gate opens",
        units={"message": ["JSON objects at messages.item"]},
        earlier={
            **{name: TODAY[name] for name in TODAY if name.endswith("info.json")},
            f"{DIRECT}/messages.json": json_bytes(
                {"messages": [{k: v for k, v in HELLO.items() if k != "updated_date"}]}
            ),
        },
        cut=f"{DIRECT}/messages.json",
        renamed={f"{DIRECT}/messages.json": f"{DIRECT}/messages (1).json"},
    ),
    FormatSample(
        "google_chat",
        "before messages had ids",
        {
            "Google Chat/Groups/DM old1/group_info.json": json_bytes(PEOPLE),
            "Google Chat/Groups/DM old1/messages.json": json_bytes({"messages": OLDER}),
            "Google Chat/Users/User 1/user_info.json": json_bytes({"user": NORA}),
        },
        words="lantern keeper dawn",
        sentence="The lantern keeper signs off at dawn",
        units={"message": ["JSON objects at messages.item"]},
    ),
)
