"""Natural questions: a model behind a blind host reaches the fact with one search and one read.

It asks as a person would, sees one half of the first page, and opens one hit that is shown there,
the one a reader would open. Nothing is filtered, no stream is named, no second search is made.
"""

import re

import pytest
from tests.mcp.client import Client
from tests.mcp.sight import Agent, Seen

QUESTIONS = (
    # The question, what the id of the hit that a reader would open holds, and the fact.
    ("What is the password of the guest wifi?", "wifi", r"tan.{0,12}ger.{0,12}ine"),
    ("How much did the kitchen tiles cost?", "m-invoice-4471", r"2,386\.40"),
    ("When must I pay invoice 4471?", "m-invoice-4471$", r"to be paid by 20 March"),
    ("Who is the plumber?", "cin_home/messages", r"Duarte"),
    ("Who is our sound designer?", "users:U01", r"Tomás Rebelo"),
    ("How much is in the savings account for the flat?", "accounts", r"11,?870"),
    ("How much flour does the plum cake need?", "plum cake of Helga", r"200 g flour"),
    ("When is the Christmas concert?", "events", r"2025-12-14"),
    ("Where is the Christmas concert?", "events", r"chapel on the hill"),
    ("What colour does Matteo want less of?", "messages", r"with less orange"),
    ("What did they find under the floor?", "photos", r"newspaper from 1958"),
    ("Who is the bookeeper?", "users:U07", r"Gonçalo Vaz"),
    ("How much is the mortgage each month?", "transactions", r"712\.4"),
    ("Which things did I order from Notenblatt?", "orders", r"Black folder|Tuning fork"),
    ("伏見稲荷には何時に出発しますか", "documents", r"朝六時"),
)


def visible(seen: Seen) -> str:
    """Return what a model reads, without the marks."""
    return re.sub("</?mark>", "", seen.visible)


@pytest.mark.parametrize(("question", "opened", "fact"), QUESTIONS, ids=[q for q, *_ in QUESTIONS])
def test_a_natural_question_reaches_its_fact(
    agent: Agent, question: str, opened: str, fact: str
) -> None:
    hits = agent.call("search", {"query": question})
    if re.search(fact, visible(hits)):
        return
    ids = [id for id in hits.ids if opened in f"{id}$"]
    assert ids, visible(hits)
    assert re.search(fact, visible(agent.call("fetch", {"id": ids[0]})))


def test_a_search_without_hits_offers_what_to_try(client: Client) -> None:
    seen = client.call("search", {"query": "xylophonist"})
    text = seen.text
    assert "schema" in text
    assert "messages" in text
