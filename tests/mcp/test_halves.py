"""How much longer the structured half is than the text half, over the journeys of the benchmark."""

from bench.journeys import journeys
from tests.mcp.client import Estate
from tests.mcp.host import hosted

from pdpp.evidence.text import json_text


def test_the_structured_half_is_lean(demo: Estate, demo_token: str) -> None:
    host = hosted(demo.world.server, demo_token)
    ways = journeys()
    assert len(ways) == 15
    results = [host.good(tool, asked) for calls in ways.values() for tool, asked in calls]
    spoken = sum(len(result.text) for result in results)
    shaped = sum(len(json_text(result.structured)) for result in results)
    assert shaped <= 1.6 * spoken, f"{shaped:,} characters beside {spoken:,}"
