import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.launch import Server


@pytest.fixture(scope="session")
def http_url() -> Iterator[str]:
    """The address of a fixture server over HTTP."""
    with Server("http") as server:
        line = server.output.next()
        assert line is not None
        yield line.decode()


@pytest.fixture(scope="session")
def judges() -> Path:
    """The folder of the official programs that judge the kernel."""
    folder = Path(__file__).with_name("judges") / "node_modules"
    if not (folder / ".bin" / "node").exists():
        reason = "the official MCP judges are not installed: run `make judges` (it needs npm)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
