"""What a message of Google Chat holds beside its text: people, links, tasks and reactions."""

from collections.abc import Iterator, Mapping
from typing import Any

_URL = "private_do_not_access_or_else_safe_url_wrapped_value"


def address_of(person: object) -> str:
    """Return the address of a person, in small letters; nothing where there is none."""
    email = person.get("email") if isinstance(person, dict) else None
    return email.strip().lower() if isinstance(email, str) else ""


def links_of(annotations: object) -> list[str]:
    """Return the addresses that a message links to."""
    return [link for annotation in objects_of(annotations) for link in _links(annotation)]


def _links(annotation: Mapping[str, Any]) -> Iterator[str]:
    page = _part(annotation, "url_metadata")
    call = _part(_part(annotation, "video_call_metadata"), "meeting_space")
    video = _part(annotation, "youtube_metadata").get("id")
    drive = _part(annotation, "drive_metadata").get("id")
    address = page.get("url")
    for link in (
        address.get(_URL) if isinstance(address, dict) else address,
        call.get("meeting_url"),
        f"https://www.youtube.com/watch?v={video}" if video else None,
        f"https://drive.google.com/open?id={drive}" if drive else None,
    ):
        if isinstance(link, str) and link:
            yield link


def details_of(annotations: object) -> str:
    """Return the words of what is attached to a message: pages, documents, events and tasks."""
    words = (word for annotation in objects_of(annotations) for word in _words(annotation))
    return "\n".join(dict.fromkeys(word.strip() for word in words if word.strip()))


def _words(annotation: Mapping[str, Any]) -> Iterator[str]:
    page = _part(annotation, "url_metadata")
    workspace = _part(annotation, "gsuite_integration_metadata")
    event = _part(_part(workspace, "calendar_event_data"), "calendar_event")
    task = _part(_part(workspace, "tasks_data"), "task_properties")
    status = _part(workspace, "call_data").get("call_status")
    for word in (
        *(page.get(name) for name in ("title", "snippet")),
        _part(annotation, "drive_metadata").get("title"),
        event.get("title"),
        *(task.get(name) for name in ("title", "description")),
        f"a call: {status.replace('_', ' ').lower()}" if isinstance(status, str) else None,
    ):
        if isinstance(word, str):
            yield word


def reactions_of(reactions: object) -> list[str]:
    """Return how people reacted, each sign with how often."""
    return [word for reaction in objects_of(reactions) if (word := _reaction(reaction))]


def _reaction(reaction: Mapping[str, Any]) -> str:
    emoji = _part(reaction, "emoji")
    sign = emoji.get("unicode") or _part(emoji, "custom_emoji").get("short_code")
    people = reaction.get("reactor_emails")
    count = len(people) if isinstance(people, list) else 1
    if not isinstance(sign, str) or not sign:
        return ""
    return f"{sign} {count}" if count > 1 else sign


def _part(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def objects_of(values: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list, whatever else stands in its place."""
    listed = values if isinstance(values, list) else []
    return [value for value in listed if isinstance(value, dict)]
