"""The how-to pages, done word for word."""

import json
import shlex
from pathlib import Path

import httpx
from tests.cli.shell import pdpp, serving
from tests.house.terminal import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "own-records.md"


def test_the_page_brings_records_in_and_grants_them(tmp_path: Path) -> None:
    declaration, line = blocks(PAGE, "json")
    (tmp_path / "diary.json").write_text(declaration)
    (tmp_path / "entries.ndjson").write_text(line)
    data = tmp_path / "data"
    token = ""
    for command in blocks(PAGE)[0].strip().splitlines():
        program, *arguments = shlex.split(command)
        assert program == "pdpp"
        if arguments == ["serve"]:
            break
        places = [str(tmp_path / word) if "." in word else word for word in arguments]
        told = pdpp(*places, "--json", data=data)
        assert told.code == 0, told
        token = told.document.get("client_token", token)
    with serving(data, tmp_path / "notes") as served:
        found = served.get("/v1/search?q=rain", token).json()["data"]
        record = httpx.get(
            f"{served.url}{found[0]['record_url']}", headers={"Authorization": f"Bearer {token}"}
        ).json()
    [hit] = found
    assert hit["id"].startswith("cin_diary/entries:")
    assert "2026-03-01" not in hit["id"]  # The view has no id, so the key goes by a pseudonym.
    assert record["data"] == {
        name: json.loads(line)["data"][name] for name in ("title", "written_at")
    }
