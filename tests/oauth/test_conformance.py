"""The official conformance suite judges the authorization server."""

import re
import socket
import subprocess
import threading
from pathlib import Path

import httpx
import pytest
from tests.mcp.launch import environment, find_judges
from tests.oauth.browser import decide
from tests.oauth.dance import Dance

SECONDS = 120
SUITE = Path("@modelcontextprotocol", "conformance", "dist", "index.js")
ADDRESS = re.compile(r"http://\S+/oauth/authorize\?\S+")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_the_conformance_suite_finds_no_fault(dance: Dance, tmp_path: Path, revision: str) -> None:
    judges, port = find_judges(), free_port()
    party = dance.register(f"http://127.0.0.1:{port}/callback")
    target = ["--url", dance.url, "--client-id", party.client_id, "--port", str(port)]
    process = subprocess.Popen(
        [
            str(judges / ".bin" / "node"),
            str(judges / SUITE),
            "authorization",
            *target,
            "--resource",
            f"{dance.url}/mcp",
            "--spec-version",
            revision,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**environment(), "HOME": str(tmp_path), "NO_COLOR": "1"},
    )
    watch = threading.Timer(SECONDS, process.kill)
    watch.start()
    with process:
        assert process.stdout is not None
        told = ""
        for line in process.stdout:
            told += line
            if line.startswith("Callback server started"):
                address = ADDRESS.search(told)
                assert address is not None
                httpx.get(decide(dance, address[0]), trust_env=False)
    watch.cancel()
    assert process.returncode == 0, told
    assert re.search(r"authorization-server-metadata-endpoint: \d passed, 0 failed", told)
    assert "authorization-code-grant: 1 passed, 0 failed" in told
