"""Content of Telegram messages: texts, and words for what is no text, such as polls and places."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from pdpp.sources.formats.telegram.rich import rich_text
from pdpp.sources.reading.jsontext import NotJson, read_json

_LEFT_OUT = "(File "
"""How Telegram begins what it writes in place of a file, such as that it is too large."""
_SERVICE_FACTS = (
    *("title", "new_title", "emoticon", "duration_seconds", "discard_reason"),
    *("score", "amount", "currency", "stars", "months", "gift_text"),
)


def text_of(value: Mapping[str, object]) -> str:
    """Return what a message says; what is not written is put into words."""
    text = plain_text(value.get("text")) or rich_text(value.get("rich_message"))
    if value.get("type") == "service":
        return text or service_text(value)
    pieces = [text, *_extras(value)]
    return "\n".join(piece for piece in pieces if piece)


def plain_text(value: object) -> str:
    """Return a text, which is a string or a list of strings and marked pieces."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    pieces = (_marked(piece) if isinstance(piece, Mapping) else piece for piece in value)
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _marked(piece: Mapping[str, object]) -> object:
    """Return a marked piece; of words that lead somewhere also where to."""
    text, link = piece.get("text"), piece.get("href")
    return f"{text} ({link})" if isinstance(link, str) and link and link != text else text


def service_text(value: Mapping[str, Any]) -> str:
    """Return what happened in a chat, such as that somebody joined."""
    action = str(value.get("action") or "").replace("_", " ")
    members = [str(name) for name in value.get("members") or () if name]
    facts = [
        plain_text(value[name]) or str(value[name]) for name in _SERVICE_FACTS if value.get(name)
    ]
    details = ", ".join([*members, *facts])
    return f"{action}: {details}" if details else action


def _extras(value: Mapping[str, object]) -> Iterator[str]:
    poll = value.get("poll")
    if isinstance(poll, Mapping):
        yield f"Poll: {plain_text(poll.get('question'))}"
        yield from _answers(poll)
    todo = value.get("todo_list")
    if isinstance(todo, Mapping):
        yield f"List: {plain_text(todo.get('title'))}"
        yield from _answers(todo)
    place = [str(value[name]) for name in ("place_name", "address") if value.get(name)]
    position = value.get("location_information")
    if isinstance(position, Mapping):
        place.append(f"{position.get('latitude')}, {position.get('longitude')}")
    if place:
        yield f"Place: {', '.join(place)}"
    contact = value.get("contact_information")
    if isinstance(contact, Mapping):
        names = ("first_name", "last_name", "phone_number")
        yield f"Contact: {' '.join(str(contact[name]) for name in names if contact.get(name))}"
    yield from _file_words(value)
    if value.get("game_title"):
        yield f"Game: {value['game_title']}"
    if value.get("invoice_information"):
        yield _invoice(value["invoice_information"])
    if value.get("giveaway_information"):
        yield "Giveaway"


def _invoice(value: object) -> str:
    """Return what was to be paid, which Telegram writes as JSON inside a text."""
    if isinstance(value, str):
        with suppress(NotJson):
            value = read_json(value.encode())
    names = ("title", "description", "amount", "currency")
    given = value if isinstance(value, Mapping) else {}
    facts = [str(given[name]) for name in names if given.get(name)]
    return f"Invoice: {', '.join(facts)}" if facts else "Invoice"


def _file_words(value: Mapping[str, object]) -> Iterator[str]:
    """Yield what is known of a file beside its bytes, which most exports leave out."""
    if value.get("sticker_emoji"):
        yield f"Sticker: {value['sticker_emoji']}"
    song = [str(value[name]) for name in ("performer", "title") if value.get(name)]
    if song:
        yield f"Audio: {' – '.join(song)}"
    if value.get("file_name") and str(value.get("file")).startswith(_LEFT_OUT):
        yield f"File: {value['file_name']}"


def _answers(value: Mapping[str, Any]) -> Iterator[str]:
    for answer in value.get("answers") or ():
        if isinstance(answer, Mapping):
            votes = f" ({answer['voters']} votes)" if "voters" in answer else ""
            yield f"- {plain_text(answer.get('text'))}{votes}"


def reactions_of(value: Mapping[str, object]) -> list[str]:
    """Return how people reacted to a message, each as the sign and how often."""
    reactions = value.get("reactions")
    return [
        f"{reaction.get('emoji') or reaction.get('type')} ×{reaction.get('count')}"
        for reaction in (reactions if isinstance(reactions, list) else ())
        if isinstance(reaction, Mapping)
    ]


def kind_of(value: Mapping[str, object]) -> str:
    """Return what a message without words is."""
    return str(value.get("media_type") or value.get("sticker_emoji") or "no text")
