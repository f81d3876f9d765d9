"""The demo's script: what the agent asks about an invoice, and what it may not see."""

import json
import re
from collections.abc import Generator, Mapping
from typing import Any

from pdpp.authz.authority import Authority
from pdpp.cli import grant_text
from pdpp.cli.demo.agent import DemoAgent, ToolAnswer
from pdpp.cli.demo.server import CLIENT, PURPOSE, DemoGrant, DemoServer
from pdpp.cli.demo.step import DemoStep
from pdpp.demo.story import INVOICE
from pdpp.model import instant

_CALL = re.compile(r"read: read_record_field (\{.*\})$", re.MULTILINE)
_PASSAGE = '"see the hallway by Friday"'


def demo_steps(server: DemoServer) -> Generator[DemoStep]:
    """Yield the steps; the call of a step is made when the step is asked for."""
    approved = server.approve()
    yield _decision(server, approved)
    agent, stranger = DemoAgent(server.url, approved.token), DemoAgent(server.url, server.token)
    try:
        yield _connection(agent)
        yield _discovery(agent, server)
        paid = agent.call("search", {"query": INVOICE})
        yield _evidence(paid)
        yield _message(agent, paid)
        passage = agent.call("search", {"query": _PASSAGE, "streams": ["documents"]})
        yield _needle(passage)
        yield _window(agent, passage)
        yield _other_stream(agent)
        yield _other_field(agent)
        yield _all_accounts(stranger, server, len(paid.structured["results"]))
        yield _revocation(agent, server, approved)
    finally:
        agent.close()
        stranger.close()


def _decision(server: DemoServer, approved: DemoGrant) -> DemoStep:
    catalogue, now = server.catalogue(), instant.now()
    _, _, *lines = grant_text.in_words(approved.grant, catalogue.connections, {}, now)
    return DemoStep(
        "The owner decides",
        f"Nora Winter keeps {len(catalogue.connections)} accounts on a server of her own: "
        f"{server.records():,} records of mail, chats, notes, payments and photos. An agent, "
        f"{CLIENT}, asks to read some of them: “{PURPOSE}”. Nora approves this much:",
        facts=tuple(line.removeprefix("  ") for line in lines),
        after="Nothing else exists for this agent, and Nora can take it back at any moment.",
    )


def _connection(agent: DemoAgent) -> DemoStep:
    agent.open()
    tools = agent.tools()
    return DemoStep(
        "The agent connects",
        "It speaks the Model Context Protocol, and is given tools that can do nothing but read:",
        facts=(", ".join(tools.text.split()),),
        after=f"Their descriptions are all that its model carries along: {len(tools.spelled):,} "
        "characters. No word from a record is ever in them.",
    )


def _discovery(agent: DemoAgent, server: DemoServer) -> DemoStep:
    seen = agent.call("schema", {})
    streams = [
        stream
        for connector in seen.structured["data"]["connectors"]
        for stream in connector["streams"]
    ]
    opened = sum(sum(stream["record_counts"].values()) for stream in streams)
    return DemoStep(
        "What is there?",
        "The first rung of the ladder: names and counts, no content.",
        tool="schema",
        seen=seen,
        after=f"It counts what the grant opens, {opened:,} of {server.records():,} records: "
        "letters from before this year are not among them.",
    )


def _evidence(seen: ToolAnswer) -> DemoStep:
    return DemoStep(
        "“Has the tiler’s invoice 4471 been paid?”",
        "The second rung: a search answers with the passages that matched, not with letters.",
        tool="search",
        arguments={"query": INVOICE},
        seen=seen,
        after="Each hit names the exact place it quotes and the call that reads on from there. "
        "The agent could answer now.",
    )


def _message(agent: DemoAgent, hits: ToolAnswer) -> DemoStep:
    arguments = _next_call(hits, 1)
    return DemoStep(
        "What was it for?",
        "The third rung: the agent copies the call that the second hit offered.",
        tool="read_record_field",
        arguments=arguments,
        seen=agent.call("read_record_field", arguments),
        after="What a record says is fenced off, so that a letter cannot pose as an instruction.",
    )


def _needle(seen: ToolAnswer) -> DemoStep:
    return DemoStep(
        "“What does the building inspector want to see by Friday?”",
        "The answer is somewhere in a diary that has grown as long as a short novel.",
        tool="search",
        arguments={"query": _PASSAGE, "streams": ["documents"]},
        seen=seen,
        after=f"That field has {_total(seen):,} characters. The model is shown the line it needs.",
    )


def _window(agent: DemoAgent, hits: ToolAnswer) -> DemoStep:
    offered = _next_call(hits, 0)
    arguments = {
        "id": offered["id"],
        "field_path": offered["field_path"],
        "query": _PASSAGE,
        "before_chars": 200,
        "after_chars": 200,
    }
    seen = agent.call("read_record_field", arguments)
    window = seen.structured["window"]
    read = window["end_chars"] - window["start_chars"]
    return DemoStep(
        "A little more around it",
        "A window can be asked for by its words too, and as narrow as one likes.",
        tool="read_record_field",
        arguments=arguments,
        seen=seen,
        after=f"The model read {read:,} of {window['total_chars']:,} characters, and knows where "
        "they stand.",
    )


def _other_stream(agent: DemoAgent) -> DemoStep:
    arguments = {"stream": "transactions"}
    return DemoStep(
        "Somewhere it may not look",
        "Curious, the agent asks for Nora’s payments.",
        tool="query_records",
        arguments=arguments,
        seen=agent.call("query_records", arguments),
        after="These are the words for a stream that does not exist, too. Whether Nora has a bank "
        "account stays her business.",
    )


def _other_field(agent: DemoAgent) -> DemoStep:
    arguments = {"stream": "messages", "filter": {"labels": "important"}}
    return DemoStep(
        "A field it may not see",
        "The letters have labels, but Nora did not share them. Could a filter tell anyway?",
        tool="query_records",
        arguments=arguments,
        seen=agent.call("query_records", arguments),
        after="No: a hidden field cannot be used to filter, sort, count or search, and it never "
        "affects an answer.",
    )


def _all_accounts(stranger: DemoAgent, server: DemoServer, granted: int) -> DemoStep:
    seen = stranger.call("search", {"query": INVOICE})
    answer = seen.structured["data"]
    hits, total = answer["data"], answer["meta"]["count"]["value"]
    connections = server.catalogue().connections
    ids = {hit["id"].partition("/")[0] for hit in hits}
    names = sorted(connections[connection_id].display_name for connection_id in ids)
    return DemoStep(
        "What the grant hid",
        "Now the first question again, from a client that may read everything.",
        tool="search",
        arguments={"query": INVOICE},
        seen=seen,
        who="another client",
        after=f"{total} hits, the best {len(hits)} of them from {', '.join(names)}. Our agent saw "
        f"{granted}, and no trace that there were more.",
    )


def _revocation(agent: DemoAgent, server: DemoServer, approved: DemoGrant) -> DemoStep:
    Authority(server.store, instant.now).revoke_grant(approved.grant.id)
    return DemoStep(
        "Taken back",
        "The kitchen is finished. Nora revokes the approval, and the agent asks once more.",
        tool="schema",
        seen=agent.call("schema", {}),
        after="The very next request is refused. On a server of your own this is: "
        "pdpp grant revoke ID",
    )


def _next_call(answer: ToolAnswer, place: int) -> Mapping[str, Any]:
    """Return the arguments of a call that an answer offers, as a model would copy them."""
    arguments: Mapping[str, Any] = json.loads(_CALL.findall(answer.text)[place])
    return arguments


def _total(answer: ToolAnswer) -> int:
    excerpts = [hit["evidence_excerpts"][0] for hit in answer.structured["data"]["data"]]
    return max(int(excerpt["total_chars"]) for excerpt in excerpts)
