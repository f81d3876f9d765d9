"""Page media: files, places, polls and reactions on Telegram's web pages, named as in its JSON."""

import re
from typing import TYPE_CHECKING, Any

from pdpp.sources.formats.telegram.page_text import plain, words_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_SHOWN = {
    "photo_wrap": None,
    "sticker_wrap": "sticker",
    "animated_wrap": "animation",
    "video_file_wrap": "video_file",
}
"""What a picture on the page leads to; a photo has no kind of its own."""
_TITLED = {
    "Sticker": "sticker",
    "Animation": "animation",
    "Video file": "video_file",
    "Video message": "video_message",
}
_NAMELESS = frozenset({"File", "Audio file"})
_SECONDS = re.compile(r"\((\d+) seconds?\)", re.ASCII)
_NOT_TAKEN = {"Missed": "missed", "Cancelled": "missed", "Declined": "busy"}
_POSITION = re.compile(r"(-?\d+\.\d+), ?(-?\d+\.\d+)", re.ASCII)
_VOTES = re.compile(r"(\d+) votes?", re.ASCII)


def media_of(page: "LexborNode") -> dict[str, Any]:
    """Return what came with a message beside its text; a rich message may hold many files."""
    if page.css_first("[class^=media_]") is None:
        return {}
    figures = page.css(".rich_message figure")
    if figures:
        return {"rich_message": {"blocks": list(map(_figure, figures))}}
    return _alone(page)


def _figure(figure: "LexborNode") -> dict[str, Any]:
    told = figure.attributes
    number = told.get("data-photo-id") or told.get("data-document-id")
    return {**_alone(figure), "document_id": number}


def _alone(page: "LexborNode") -> dict[str, Any]:
    poll = page.css_first(".media_poll")
    if poll is not None:
        return _poll(poll)
    if page.css_first("[class^=media_giveaway]") is not None:
        return {"giveaway_information": True}
    for name, kind in _SHOWN.items():
        shown = page.css_first(f"a.{name}")
        if shown is not None:
            place = shown.attributes.get("href") or ""
            return _file(kind, place) if kind else {"photo": place}
    block = page.css_first(".media_wrap .media")
    return _described(block) if block is not None else {}


def _described(block: "LexborNode") -> dict[str, Any]:
    """Return what a block tells: its title, what it says below, and where it leads."""
    classes = (block.attributes.get("class") or "").split()
    kind = next((name.removeprefix("media_") for name in classes if name.startswith("media_")), "")
    title, status = words_of(block, ".title"), words_of(block, ".status")
    description = words_of(block, ".description")
    link = block.attributes.get("href") or ""
    if kind == "contact":
        value = {"first_name": title, "phone_number": status.removesuffix(" - vCard")}
        return {"contact_information": value} | ({"contact_vcard": link} if link else {})
    if kind in ("location", "live_location", "venue"):
        named = {"place_name": title, "address": description} if kind == "venue" else {}
        return {**named, **_position(f"{status} {link}")} or {"media_type": title}
    if kind == "game":
        return {"game_title": title}
    if kind == "invoice":
        facts = {"title": title, "description": description, "amount": status}
        return {"invoice_information": facts}
    if kind == "call":
        return _call(status)
    return _left_out(kind, title, status, link or f"(File {description})")


def _left_out(kind: str, title: str, status: str, file: str) -> dict[str, Any]:
    """Return a file that is shown by its name alone, or was left out of the export."""
    if title.startswith("Self-destructing"):
        return {"media_type": title}
    if title == "Photo":
        return {"photo": file}
    if kind in ("voice_message", "audio_file"):
        value = _file(kind, file)
        performer, dash, song = title.partition(" – ")
        if kind == "audio_file" and dash:
            value |= {"performer": performer, "title": song}
        return value
    value = _file(_TITLED.get(title) if kind in ("photo", "video") else None, file)
    if value.get("media_type") == "sticker":
        value["sticker_emoji"] = status.partition(",")[0] if not status[:1].isdigit() else ""
    elif kind == "file" and title not in _NAMELESS:
        value["file_name"] = title
    return value


def _file(kind: str | None, place: str) -> dict[str, Any]:
    return {"file": place, "media_type": kind} if kind else {"file": place}


def _call(status: str) -> dict[str, Any]:
    lasted = _SECONDS.search(status)
    return {
        "type": "service",
        "action": "phone_call",
        "duration_seconds": int(lasted[1]) if lasted else None,
        "discard_reason": _NOT_TAKEN.get(status.partition(" (")[0]),
    }


def _position(text: str) -> dict[str, Any]:
    found = _POSITION.search(text)
    if found is None:
        return {}
    place = {"latitude": float(found[1]), "longitude": float(found[2])}
    return {"location_information": place}


def _poll(node: "LexborNode") -> dict[str, Any]:
    """Return a poll, or a list of things to do, which looks like one."""
    question = words_of(node, ".question")
    is_list = words_of(node, ".details") == "To-do List"
    answers = []
    for answer in node.css(".answer"):
        told = answer.css_first("span.details")
        votes = _VOTES.search(plain(told)) if told is not None else None
        if told is not None:
            told.decompose()
        text = plain(answer).strip().removeprefix("- ")
        answers.append({"text": text} | ({} if is_list else {"voters": _count(votes)}))
    if is_list:
        return {"todo_list": {"title": question, "answers": answers}}
    return {"poll": {"question": question, "answers": answers}}


def _count(votes: re.Match[str] | None) -> int:
    return int(votes[1]) if votes else 0


def reactions_in(page: "LexborNode") -> list[dict[str, Any]]:
    """Return how people reacted, each sign with how often; few people are shown one by one."""
    found = []
    for node in page.css(".reactions .reaction"):
        count = words_of(node, ".count")
        number = int(count) if count.isdecimal() else len(node.css(".userpics .userpic"))
        reaction = {"type": "emoji", "emoji": words_of(node, ".emoji"), "count": number}
        if "paid" in (node.attributes.get("class") or "").split():
            reaction = {"type": "paid", "count": number}
        elif node.css_first(".emoji a") is not None:
            reaction = {"type": "custom_emoji", "count": number}
        found.append(reaction)
    return found
