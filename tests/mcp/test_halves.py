"""How much longer the structured half is than the text half, over journeys of two kinds."""

from collections.abc import Mapping, Sequence

import pytest
from bench.agent import Call
from bench.journeys import journeys
from tests.mcp.client import Estate
from tests.mcp.everyday_journeys import everyday_journeys
from tests.mcp.host import hosted

from pdpp.evidence.text import json_text


@pytest.mark.parametrize("ways", [journeys(), everyday_journeys()], ids=["long", "everyday"])
def test_the_structured_half_is_lean(
    demo: Estate, demo_token: str, ways: Mapping[str, Sequence[Call]]
) -> None:
    host = hosted(demo.world.server, demo_token)
    assert len(ways) == 15
    results = [host.call(tool, asked) for calls in ways.values() for tool, asked in calls]
    spoken = sum(len(result.text) for result in results)
    shaped = sum(len(json_text(result.structured)) for result in results)
    assert shaped <= 1.6 * spoken, f"{shaped:,} characters beside {spoken:,}"
