"""Chats keep the names of the newest export, whatever is imported after it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.sources.kit import Home, zipped

FIRST = datetime(2026, 1, 31, 8, tzinfo=UTC)
Names = dict[str, str]
Counts = dict[str, int]
Maker = Callable[[Names, Counts], dict[str, bytes]]


def moments(count: int) -> list[datetime]:
    return [FIRST + timedelta(days=day) for day in range(count)]


def discord(names: Names, counts: Counts) -> dict[str, bytes]:
    """Return a package in which channels have names and so many messages each."""
    files: dict[str, Any] = {"Account/user.json": {"id": "42", "username": "nora"}}
    for number, name in names.items():
        channel = {
            "id": number,
            "type": "GUILD_TEXT",
            "name": name,
            "guild": {"name": f"of {name}"},
        }
        files[f"Messages/c{number}/channel.json"] = channel
        files[f"Messages/c{number}/messages.json"] = [
            {"ID": f"{number}{at:%m%d}", "Timestamp": f"{at:%Y-%m-%d %H:%M:%S}", "Contents": "Hi"}
            for at in reversed(moments(counts[number]))
        ]
    return {name: orjson.dumps(held) for name, held in files.items()}


def slack(names: Names, counts: Counts) -> dict[str, bytes]:
    """Return an export of a workspace; what a channel is called is told beside its messages."""
    files: dict[str, Any] = {"users.json": [{"id": "U1", "name": "nora", "team_id": "T1"}]}
    files["channels.json"] = [
        {"id": f"C{number}", "name": name, "created": 1, "members": ["U1"]}
        for number, name in names.items()
    ]
    for number, name in names.items():
        for at in moments(counts[number]):
            said = {"type": "message", "user": "U1", "text": "Hi", "ts": f"{at.timestamp():.6f}"}
            files[f"{name}/{at:%Y-%m-%d}.json"] = [said]
    return {name: orjson.dumps(held) for name, held in files.items()}


def telegram(names: Names, counts: Counts) -> dict[str, bytes]:
    """Return an export of an account, all of whose chats are in one file."""
    chats = [
        {
            "name": name,
            "type": "private_group",
            "id": int(number),
            "messages": [
                {
                    "id": place,
                    "type": "message",
                    "date": f"{at:%Y-%m-%dT%H:%M:%S}",
                    "date_unixtime": str(int(at.timestamp())),
                    "from": "Nora",
                    "from_id": "user1",
                    "text": "Hi",
                    "text_entities": [],
                }
                for place, at in enumerate(moments(counts[number]), 1)
            ],
        }
        for number, name in names.items()
    ]
    about = {"user_id": 1, "first_name": "Nora"}
    document = {"personal_information": about, "chats": {"about": "x", "list": chats}}
    return {"result.json": orjson.dumps(document)}


def chatgpt(names: Names, counts: Counts) -> dict[str, bytes]:
    """Return an export of conversations, whose messages do not tell the title."""
    talks = []
    for number, name in names.items():
        nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
        parent = "root"
        for at in moments(counts[number]):
            node = f"{number}-{at:%m%d}"
            message = {
                "id": node,
                "author": {"role": "user"},
                "create_time": at.timestamp(),
                "content": {"content_type": "text", "parts": ["Hi"]},
            }
            nodes[node] = {"id": node, "message": message, "parent": parent}
            parent = node
        last = moments(counts[number])[-1].timestamp()
        talks.append(
            {
                "id": number,
                "conversation_id": number,
                "title": name,
                "current_node": parent,
                "create_time": FIRST.timestamp(),
                "update_time": last,
                "mapping": nodes,
            }
        )
    user = {"id": "u1", "email": "nora@example.org"}
    return {"conversations.json": orjson.dumps(talks), "user.json": orjson.dumps(user)}


OLD, NEW = {"111": "rigging", "222": "knots"}, {"111": "sails", "222": "ropes"}


def told(home: Home) -> dict[str, list[dict[str, Any]]]:
    streams: dict[str, list[dict[str, Any]]] = {}
    for (stream, _), data in sorted(home.records().items()):
        streams.setdefault(stream, []).append(data)
    return streams


@pytest.mark.parametrize("make", [discord, slack, telegram, chatgpt])
def test_the_names_of_the_newest_export_stay(make: Maker, tmp_path: Path) -> None:
    # In the second chat nothing was said between the two; the first tells which is newer.
    older = zipped(tmp_path / "older.zip", make(OLD, {"111": 3, "222": 2}))
    newer = zipped(tmp_path / "newer.zip", make(NEW, {"111": 4, "222": 2}))
    back, forth = Home(tmp_path / "back"), Home(tmp_path / "forth")
    forth.seal_like(back)
    back.bring(newer)
    before = back.records()
    report = back.bring(older)
    assert back.records() == before, report
    assert report["status"] == "complete", report
    assert (report["counts"]["new"], report["counts"]["changed"]) == (0, 0)
    forth.bring(older)
    forth.bring(newer)
    assert told(forth) == told(back)
    assert "rigging" not in str(told(forth))


@pytest.mark.parametrize("make", [discord, slack, telegram])
def test_what_only_an_older_export_holds_gets_the_name_of_today(
    make: Maker, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    home.bring(zipped(tmp_path / "newer.zip", make(NEW, {"111": 4, "222": 2})))
    more = {**OLD, "333": "moored"}
    report = home.bring(zipped(tmp_path / "older.zip", make(more, {"111": 3, "222": 2, "333": 1})))
    assert report["status"] == "complete", report
    fields = ("channel", "chat", "conversation")
    named = (data[field] for data in told(home)["messages"] for field in fields if field in data)
    assert sorted({name.lstrip("#") for name in named}) == ["moored", "ropes", "sails"]


def test_the_same_messages_under_another_name_are_taken_for_news(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(zipped(tmp_path / "a.zip", discord(OLD, {"111": 3, "222": 2})))
    home.bring(zipped(tmp_path / "b.zip", discord(NEW, {"111": 3, "222": 2})))
    assert {data["channel"] for data in told(home)["messages"]} == {"sails", "ropes"}
    assert {data["server"] for data in told(home)["channels"]} == {"of sails", "of ropes"}
