"""A sample of a Grok export."""

from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes

FOLDER = "ttl/30d/export_data/u-1"
BACKEND = f"{FOLDER}/prod-grok-backend.json"


def response(name: str, sender: str, text: str, second: int, **more: Any) -> dict[str, Any]:
    time = {"$date": {"$numberLong": str(1_767_261_600_000 + second * 1_000)}}
    return {
        "response": {"_id": name, "sender": sender, "message": text, "create_time": time, **more}
    }


TALK = [
    response("g1", "human", "How deep is the dry dock?", 1, file_attachments=["f-1", "f-2"]),
    response(
        "g2",
        "ASSISTANT",
        "The dry dock is eleven metres deep at spring tide.",
        2,
        parent_response_id="g1",
        thinking_trace="Look at the plan.",
        model="grok-4",
    ),
    response("g3", "human", "", 3),
]


def backend(*talk: Any, **more: Any) -> bytes:
    about = {
        "id": "c-1",
        "user_id": "u-1",
        "title": "Dry dock",
        "create_time": "2026-01-01T10:00:00.5Z",
        "modify_time": f"2026-01-01T10:05:{len(talk):02}Z",
    }
    value = {"conversations": [{"conversation": about, "responses": list(talk)}], **more}
    return json_bytes(value)


SAMPLES = (
    FormatSample(
        "grok",
        "a document and files",
        {
            BACKEND: backend(*TALK, projects=[], tasks=[{"id": "t"}], media_posts=[{"id": "p"}]),
            f"{FOLDER}/prod-mc-asset-server/f-1/content": b"\x89PNG the plan",
            f"{FOLDER}/prod-mc-billing.json": b"{}",
        },
        words="dry dock eleven metres spring",
        sentence="The dry dock is eleven metres deep at spring tide.",
        units={"conversation": ["JSON objects at conversations.item"]},
        earlier={BACKEND: backend(*TALK[:1])},
        cut=BACKEND,
    ),
)
