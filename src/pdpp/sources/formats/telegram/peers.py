"""Peers: what a chat is known by, so that no two chats share it and every export says the same.

Exports write bare numbers, but users, groups and channels each count by themselves: the type of a
chat tells whose number it is. It is named as Telegram names those who write: ``user5``, ``chat5``
and ``channel5``. A group that becomes public keeps its number and stays a channel.
"""

from collections.abc import Mapping
from types import MappingProxyType

_COUNTED_WITH = MappingProxyType(
    {
        "saved_messages": "user",
        "replies": "user",
        "verification_codes": "user",
        "verify_codes": "user",
        "personal_chat": "user",
        "bot_chat": "user",
        "private_group": "chat",
        "private_supergroup": "channel",
        "public_supergroup": "channel",
        "private_channel": "channel",
        "public_channel": "channel",
    }
)
_ONCE_ABOVE = MappingProxyType({"user": 1, "chat": 2, "channel": 2})
"""What the first exports had in the bits above the 32 of a number."""
_BITS = 32


def peer_id(kind: object, number: int) -> str:
    """Return the number of a chat with whose number it is, by the type of the chat."""
    return f"{_COUNTED_WITH.get(str(kind), '')}{number}"


def chat_id(kind: object, number: int, message: Mapping[str, object]) -> str:
    """Return what a chat is known by in every export; ``message`` is its first that tells a time.

    The first exports told users from others by the bits above the number. They are known by their
    messages, which tell no exact time and name those who write by numbers alone: the numbers of
    users have grown so large since that they have such bits themselves.
    """
    above = _ONCE_ABOVE.get(_COUNTED_WITH.get(str(kind), ""))
    if number >> _BITS == above and _is_of_first_exports(message):
        number &= (1 << _BITS) - 1
    return peer_id(kind, number)


def tells_time(message: Mapping[str, object]) -> bool:
    """Tell whether a message is more than a mark that Telegram could not export it."""
    return message.get("type") != "unsupported"


def _is_of_first_exports(message: Mapping[str, object]) -> bool:
    named = any(isinstance(message.get(name), str) for name in ("from_id", "actor_id"))
    return not named and message.get("date_unixtime") is None
