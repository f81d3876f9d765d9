"""The names that programs may import; adding or taking one away is a decision."""

import subprocess
import sys

import pytest

import pdpp
from pdpp import client


def test_the_names_of_the_package() -> None:
    assert pdpp.__all__ == ["AsyncClient", "Client", "__version__"]
    assert pdpp.Client is client.Client
    assert pdpp.AsyncClient is client.AsyncClient


def test_the_names_of_the_library() -> None:
    assert client.__all__ == [
        "Aggregation",
        "AsyncBlob",
        "AsyncChanges",
        "AsyncClient",
        "AsyncListing",
        "Blob",
        "Changes",
        "Client",
        "CredentialError",
        "Excerpt",
        "Group",
        "Handle",
        "Hit",
        "Listing",
        "Notice",
        "OwnerCredentialError",
        "Page",
        "PdppError",
        "Record",
        "Saved",
        "Schema",
        "SchemaStream",
        "ServerError",
        "ServerUnreachable",
        "Stream",
        "UnexpectedAnswer",
        "Window",
    ]
    for name in client.__all__:
        assert getattr(client, name).__name__ == name


@pytest.mark.parametrize("module", [pdpp, client])
def test_another_name_is_no_attribute(module: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # type: ignore[attr-defined]  # noqa: B018 - reading it is the test


def test_the_library_is_imported_when_it_is_asked_for_and_without_an_event_loop() -> None:
    script = (
        "import sys, pdpp\n"
        "assert 'pdpp.client' not in sys.modules\n"
        "pdpp.Client\n"
        "heavy = {'asyncio', 'apsw', 'orjson', 'starlette', 'click', 'pdpp.store'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
