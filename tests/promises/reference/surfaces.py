"""The same questions over ``/mcp``, in both eras and both halves, and through ``pdpp read``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from tests.cli.reading.desk import Desk
from tests.cli.shell import Ended
from tests.promises.messages import tool_call
from tests.promises.observer import Interference, Switch, anonymous, seen
from tests.promises.reference.answers import Ask, answer
from tests.promises.reference.judge import Departure, Judge, handles
from tests.promises.reference.stage import Actor
from tests.serving import Running, World

from pdpp.credentials import Cache, Credential

_HANDLE = re.compile(r"\bc\d+[ab]/notes:[\w-]+")
_TOOLS = {
    "records": "query_records",
    "search": "search",
    "semantic": "search",
    "hybrid": "search",
    "aggregate": "aggregate",
}
_KEY_CHARS = 200
_SEARCHES = ("search", "semantic", "hybrid")
_RENAMED = {"q": "query", "streams[]": "streams"}
_COMMANDS = {
    "records": "records",
    "search": "search",
    "semantic": "search",
    "hybrid": "search",
    "aggregate": "aggregate",
}
_LEFT_OUT = ("time_zone", "match", "view", "expand")
"""What a tool or a command does not take, or only in another form."""


def _arguments(ask: Ask) -> dict[str, Any]:
    """Return the arguments of a tool for a question."""
    made: dict[str, Any] = {} if ask.kind in _SEARCHES else {"stream": ask.stream}
    if ask.kind in ("semantic", "hybrid"):
        made["mode"] = ask.kind
    for name, text in ask.params.items():
        if name.startswith("filter["):
            field, _, operator = name[len("filter[") : -1].partition("][")
            made["filter"] = {field: {operator: text} if operator else text}
        elif name == "limit":
            made[name] = int(text)
        elif name == "fields":
            made[name] = text.split(",")
        else:
            made[_RENAMED.get(name, name)] = text
    return made


def _taken(ask: Ask) -> dict[str, str]:
    """Return what a tool takes of a question: searches have the time zone of their server."""
    searches = ask.kind in _SEARCHES
    return {n: v for n, v in ask.params.items() if not searches or n != "time_zone"}


def asked_by_tool(ask: Ask) -> bool:
    """Tell whether a question can be asked with a tool and a command."""
    odd = any(name in ask.params for name in _LEFT_OUT if name != "time_zone")
    by_time = ask.kind in _SEARCHES and "sort" in ask.params
    return ask.kind in _TOOLS and not odd and not by_time


def call_tool(judge: Judge, ask: Ask, era: str) -> None:
    """Ask with a tool: the same bytes from both, and each half says what the model says."""
    plain = Ask(ask.kind, ask.stream, _taken(ask))
    message = tool_call(_TOOLS[ask.kind], _arguments(plain), era)
    replies = [
        seen(caller.exchange("POST", "/mcp", (), message.headers(), message.body()))
        for caller in judge.callers()
    ]
    judge.counts[f"mcp {era}"] += 1
    if replies[0] != replies[1]:
        raise Interference(f"{message}\n{replies[0]}\n{replies[1]}")
    result = orjson.loads(replies[0].body)["result"]
    expected = answer(judge.feeds, ask)
    if result.get("isError", False) is not (expected.status != 200):
        raise Departure(f"{message}: {result}, not {expected}")
    if expected.status != 200:
        return
    body = result["structuredContent"]["data"]
    if ask.kind == "aggregate":
        told = {name: body[name] for name in expected.body}
        _must_agree(message, told, _with_short_keys(expected.body))
        return
    text = list(dict.fromkeys(_HANDLE.findall(result["content"][0]["text"])))
    shown = [_handle_of(row) for row in body["data"]]
    _must_agree(message, text, shown)
    _must_be_first(message, ask, shown, handles(expected))
    if not body["has_more"]:
        _must_agree(message, len(shown), len(handles(expected)))


def _with_short_keys(body: dict[str, Any]) -> dict[str, Any]:
    """Return an aggregation as a tool tells it: long keys are cut, with how long they are."""
    if "groups" not in body:
        return body
    return {**body, "groups": [_with_short_key(group) for group in body["groups"]]}


def _with_short_key(group: dict[str, Any]) -> dict[str, Any]:
    key = group["key"]
    if not isinstance(key, str) or len(key) <= _KEY_CHARS:
        return group
    return {**group, "key": key[:_KEY_CHARS], "key_chars": len(key)}


def call_package(judge: Judge, ask: Ask) -> None:
    """Ask a package of many grants with a tool: what is hidden from all of them changes nothing."""
    plain = Ask(ask.kind, ask.stream, _taken(ask))
    message = tool_call(_TOOLS[ask.kind], _arguments(plain), "modern")
    replies = []
    for actor in judge.stage.both:
        caller, _ = actor.in_package(judge.number)
        replies.append(seen(caller.exchange("POST", "/mcp", (), message.headers(), message.body())))
    judge.counts["mcp package"] += 1
    if replies[0] != replies[1]:
        raise Interference(f"{message}\n{replies[0]}\n{replies[1]}")
    assert replies[0].status == 200, replies[0]


def _must_be_first(what: object, ask: Ask, shown: Sequence[str], wanted: Sequence[str]) -> None:
    """Check that a page begins a list; hits of nearly the same score may change places."""
    if ask.kind in _SEARCHES:
        _must_agree(what, set(shown) - set(wanted), set())
    else:
        _must_agree(what, shown, wanted[: len(shown)])


def _handle_of(row: Mapping[str, Any]) -> str:
    return str(row["fetch"]["id"] if "fetch" in row else row["id"])


def _must_agree(what: object, real: object, expected: object) -> None:
    if real != expected:
        raise Departure(f"{what}\n{real}\nnot\n{expected}")


@dataclass(frozen=True, slots=True)
class Terminal:
    """The program, connected to one address where both sides are served in turn."""

    switch: Switch
    server: Running
    root: Path

    def run(self, judge: Judge, ask: Ask) -> None:
        """Ask with a command: the same output for both, and the model's rows in it."""
        searches = ask.kind in _SEARCHES
        words = [_COMMANDS[ask.kind]]
        if ask.kind in ("semantic", "hybrid"):
            words.append(f"--mode={ask.kind}")
        options = {"metric": "metric", "field": "field", "group_by": "group-by", "sort": "sort"}
        for name, text in ask.params.items():
            if name in options:
                words.append(f"--{options[name]}={text}")
            elif name == "connection_id":
                words.append(f"--connection={text}")
        # A question may begin with a sign, as an option does.
        words += ["--json", "--", ask.params["q"] if searches else "notes"]
        ended = [self._run(judge.number, actor, words) for actor in judge.stage.both]
        judge.counts["pdpp read"] += 1
        if ended[0] != ended[1]:
            raise Interference(f"{words}\n{ended[0]}\n{ended[1]}")
        named = {"q", "connection_id", *options}
        kept = {name: text for name, text in ask.params.items() if name in named}
        expected = answer(judge.feeds, Ask(ask.kind, "notes", kept, meaning=ask.meaning))
        if (ended[0].code == 0) is not (expected.status == 200):
            raise Departure(f"{words}: {ended[0]}, not {expected}")
        if expected.status == 200 and ask.kind != "aggregate":
            body = orjson.loads(ended[0].out)
            rows = [
                f"{r['connection_id']}/notes:{r.get('record_key', r['id'])}" for r in body["data"]
            ]
            _must_be_first(words, ask, rows, handles(expected))

    def _run(self, number: int, actor: Actor, words: Sequence[str]) -> Ended:
        caller = actor.under(number)
        self.switch.app = caller.app
        Cache(self.root / "clients").store(Credential(self.server.url, caller.token, "client"))
        desk = Desk(World(actor.store, self.server), self.root, caller.token)
        ended = desk.here("read", *words)
        return Ended(ended.code, anonymous(ended.out), anonymous(ended.err))
