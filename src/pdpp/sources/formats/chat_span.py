"""Spans of chats: how many messages a chat has, and when its first and its last were sent."""

from dataclasses import dataclass


@dataclass(slots=True)
class ChatSpan:
    """What was seen of the messages of one chat so far; times are texts that sort."""

    count: int = 0
    first: str = ""
    last: str = ""

    def see(self, sent: str) -> None:
        """Take in the time of one message."""
        self.first = min(sent, self.first) if self.count else sent
        self.last = max(sent, self.last)
        self.count += 1

    def members(self) -> dict[str, object]:
        """Return what the record of the chat says of it."""
        return {
            "message_count": self.count,
            "started_at": self.first,
            "updated_at": self.last,
        }
