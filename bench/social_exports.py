"""Social exports: chats, histories and logs of other services and programs, of any size."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench.exports import PEOPLE, moment_of, text_of


def _chat(folder: Path, count: int, place: str) -> Path:
    """Write one chat of Meta's, a file for each 10,000 messages."""
    chat = folder / place / "inbox" / "harbour_10158"
    chat.mkdir(parents=True)
    for part, start in enumerate(range(0, count, 10_000)):
        messages: list[dict[str, Any]] = [
            {
                "sender_name": PEOPLE[number % 4].encode().decode("latin-1"),
                "timestamp_ms": int(moment_of(number).timestamp() * 1000),
                "content": text_of(number),
            }
            for number in range(start, min(start + 10_000, count))
        ]
        document = {
            "participants": [{"name": "Nora"}, {"name": "Helga"}],
            "messages": messages,
            "title": "Harbour",
            "thread_path": "inbox/harbour_10158",
        }
        (chat / f"message_{part + 1}.json").write_text(json.dumps(document))
    return folder


def facebook(folder: Path, count: int) -> Path:
    """Write the archive of an account with one chat."""
    return _chat(folder, count, "your_facebook_activity/messages")


def instagram(folder: Path, count: int) -> Path:
    """Write the archive of an account with one chat."""
    return _chat(folder, count, "your_instagram_activity/messages")


MAKERS: Mapping[str, Callable[[Path, int], Path]] = MappingProxyType(
    {maker.__name__: maker for maker in (facebook, instagram)}
)
"""What writes an export with a number of things into a folder, by the key of its source."""
