"""One way through for every operation, for a bearer as for the owner's session."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.resource.library import library_store
from tests.serving import UNLIMITED, grant

from pdpp.authz.principal import Gate, Principal, owner_principal
from pdpp.model import instant
from pdpp.model.errors import (
    InsufficientScope,
    InvalidRequest,
    NotFound,
    RateLimitExceeded,
    StreamNotAllowed,
)
from pdpp.receipts.recorder import Recorder
from pdpp.resource.operate import operate
from pdpp.service.cursor import Signer
from pdpp.service.rate_limit import RateLimiter
from pdpp.service.runner import Runner
from pdpp.service.service import Service
from pdpp.service.settings import Settings


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    store = library_store(tmp_path)
    runner = Runner(store, UNLIMITED)
    yield Service(
        store=store,
        gate=Gate(store, instant.now),
        runner=runner,
        signer=Signer(store.secret()),
        rate_limiter=RateLimiter(0, 1, time.monotonic),
        settings=Settings(),
        clock=instant.now,
        recorder=Recorder(store.receipts, instant.now),
    )
    runner.close()
    store.close()


def run(service: Service, who: Principal, operation: str, **asked: Any) -> Any:
    return asyncio.run(operate(service, who, operation, **asked))


def session(service: Service) -> Principal:
    return owner_principal(service.store.catalogue())


def client(service: Service, **selection: Any) -> Principal:
    return service.gate.admit(f"Bearer {grant(service.store, **selection)}")


def test_the_owner_and_a_client_run_the_same_operation_each_with_what_they_see(
    service: Service,
) -> None:
    asked = {"path": {"stream": "books", "record_id": "b1"}, "query": {"connection_id": "home"}}
    whole = run(service, session(service), "getRecord", **asked)
    part = run(service, client(service, fields=("id", "title")), "getRecord", **asked)
    assert set(part["data"]) == {"id", "title"}
    assert set(part["data"]) < set(whole["data"])


def test_pages_of_an_operation_follow_its_cursor(service: Service) -> None:
    asked: dict[str, Any] = {
        "path": {"stream": "books"},
        "query": {"connection_id": "home", "limit": 2},
    }
    first = run(service, session(service), "listRecords", **asked)
    asked["query"] = {**asked["query"], "cursor": first["next_cursor"]}
    second = run(service, session(service), "listRecords", **asked)
    assert not {row["id"] for row in first["data"]} & {row["id"] for row in second["data"]}
    assert first["links"]["next"].startswith("/v1/streams/books/records?")


def test_what_is_wrong_is_raised_as_it_is_answered(service: Service) -> None:
    nobody = client(service, streams=("authors",))
    record = {"stream": "books", "record_id": "b1"}
    with pytest.raises(StreamNotAllowed):
        run(service, nobody, "getRecord", path=record)
    with pytest.raises(InsufficientScope):
        run(service, nobody, "listJobs")
    with pytest.raises(NotFound):
        run(service, session(service), "getRecord", path={**record, "record_id": "none"})
    with pytest.raises(InvalidRequest, match="Unknown parameter"):
        run(service, session(service), "listStreams", query={"surprise": "1"})


def test_operations_are_limited_and_recorded_for_everybody(service: Service) -> None:
    limited = replace(service, rate_limiter=RateLimiter(0.01, 1, time.monotonic))
    run(limited, session(limited), "listStreams")
    with pytest.raises(RateLimitExceeded):
        run(limited, session(limited), "listStreams")
    assert limited.recorder._batch.count == 1
