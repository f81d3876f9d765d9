"""The activity pages: what agents read, by day and by question, and all of it to take away."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import orjson
from starlette.responses import Response, StreamingResponse

from pdpp.authz.choice import FeedKey
from pdpp.authz.requester import agent_id, requester_of
from pdpp.authz.wording import label_of
from pdpp.model import instant
from pdpp.model.errors import NotFound
from pdpp.pages.agent_question import (
    AgentQuestion,
    RecordLinks,
    clients_by_last_read,
    grouped,
    latest_questions,
)
from pdpp.pages.dates import Dates
from pdpp.pages.page_request import PageRequest
from pdpp.pages.reading_days import DAYS, HEIGHT, STEP, DayBar, day_bars, unusual_reads
from pdpp.pages.site import Site
from pdpp.service.headers import SECURITY_HEADERS
from pdpp.store.receipts import Receipt, ReceiptQuery

_MOST_QUESTIONS = 25
_MOST_OF_A_DAY = 200
_TITLED_PLACES = 2
_MOST_TITLES = 100
"""Titles on the page of a question: each is a read of its own."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class UnusualLine:
    """Something unusual, by the agent's name."""

    name: str
    agent: str
    day: str
    words: str


async def show_activity(request: PageRequest) -> Response:
    """Answer ``GET /activity``."""
    site, dates = request.site, request.dates
    day = _day(request.http.query_params.get("day", ""))
    since, until = (None, None) if day is None else _bounds(dates, day)
    most = _MOST_QUESTIONS if day is None else _MOST_OF_A_DAY
    questions = latest_questions(site, most, since, until)
    bars, unusual = _days(site, dates, day)
    links = RecordLinks(site.reader(), dates)
    return request.page(
        "activity.html",
        day=None if day is None else dates.written(day),
        bars=bars,
        width=DAYS * STEP,
        height=HEIGHT,
        step=STEP,
        unusual=unusual,
        questions=[await _titled(links, question) for question in questions[:_MOST_QUESTIONS]],
        more=max(0, len(questions) - _MOST_QUESTIONS),
        notes=_notes(site, dates),
    )


def _day(text: str) -> date | None:
    """Return a day that has one after it, where the text names one."""
    try:
        day = date.fromisoformat(text) if _DAY.match(text) else None
    except ValueError:
        return None
    return None if day == date.max else day


def _bounds(dates: Dates, day: date) -> tuple[int, int]:
    return dates.midnight(day), dates.midnight(day + timedelta(days=1))


async def _titled(links: RecordLinks, question: AgentQuestion) -> AgentQuestion:
    """Return a question with the first records that it read, of different streams if it can be."""
    titled = [place for place in question.places if place.records][:_TITLED_PLACES]
    return replace(
        question, links=tuple([link for place in titled for link in await links.of(place, 1)])
    )


def _days(site: Site, dates: Dates, chosen: date | None) -> tuple[list[DayBar], list[UnusualLine]]:
    log = site.service.store.receipts
    now = site.service.clock()
    today = dates.local(now).date()
    hours = log.hourly(now - (DAYS + 1) * instant.DAY)
    unusual = [
        UnusualLine(
            requester_of(row.client_id, site.authority.client(row.client_id)).name,
            agent_id(row.client_id),
            dates.written(row.day),
            row.words,
        )
        for row in unusual_reads(
            hours, log.first_reads(), dates, today, partial(_stream_name, site)
        )
    ]
    bars = day_bars(hours, dates, today, "" if chosen is None else chosen.isoformat())
    return list(bars), unusual


def _stream_name(site: Site, place: FeedKey) -> str:
    feed = site.service.store.catalogue().feeds.get(place)
    if feed is None:
        return " / ".join(place)
    return f"{feed.connection.display_name} / {label_of(feed.stream)}"


def _notes(site: Site, dates: Dates) -> list[str]:
    """Return what happened to the log itself in these days."""
    since = site.service.clock() - DAYS * instant.DAY
    events = site.service.store.receipts.events(since)
    return [f"{dates.moment(row.receipt.at)}: {row.receipt.detail}" for row in events]


async def show_question(request: PageRequest) -> Response:
    """Answer ``GET /activity/{number}``: one question, with every record that it read."""
    site, text = request.site, request.http.path_params["number"]
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise NotFound("This question is not in the log, or no longer there.")
    log = site.service.store.receipts
    question = next(grouped(site, log.question(int(text))), None)
    if question is None:
        raise NotFound("This question is not in the log, or no longer there.")
    links = RecordLinks(site.reader(), request.dates)
    titles_of_place = max(1, _MOST_TITLES // max(1, len(question.places)))
    places = [
        (place, await links.of(place, titles_of_place)) for place in question.places[:_MOST_TITLES]
    ]
    return request.page("question.html", question=question, places=places)


async def export_activity(request: PageRequest) -> Response:
    """Answer ``GET /activity/export``: every read of every agent, a JSON object a line."""
    site = request.site
    clients = [client_id for _, client_id in clients_by_last_read(site)]
    headers = {
        **SECURITY_HEADERS,
        "Content-Type": "application/x-ndjson",
        "Content-Disposition": 'attachment; filename="pdpp-activity.ndjson"',
    }
    return StreamingResponse(_lines(site, clients), headers=headers)


def _lines(site: Site, clients: list[str]) -> Iterator[bytes]:
    for client_id in clients:
        for row in site.service.store.receipts.receipts(ReceiptQuery(client_id=client_id)):
            yield orjson.dumps(_document(row.number, row.receipt)) + b"\n"


def _document(number: int, receipt: Receipt) -> dict[str, Any]:
    return {"number": number, **receipt._asdict(), "at": instant.to_text(receipt.at)}
