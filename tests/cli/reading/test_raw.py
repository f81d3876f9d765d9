"""JSON for programs, whatever it holds and wherever it goes."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.cli.reading.desk import Desk, at_desk
from tests.cli.shell import DECLARATION, command, environment
from tests.serving import living, planted_store, running

from pdpp.cli.reading import raw
from pdpp.credentials import Cache, Credential

ODD = b'{"object":"list","data":[{"object":"stream","name":"\\ud800"}],\r\n\t"has_more":false}\n'


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Path]:
    async def answer(_: Request) -> Response:
        return Response(ODD, media_type="application/json")

    with running(Starlette(routes=[Route("/v1/{path:path}", answer)])) as server:
        Cache(tmp_path / "clients").store(Credential(server.url, "token", "client"))
        yield tmp_path


def out(root: Path, *words: str, **env: str) -> bytes:
    done = subprocess.run(
        command("read", *words),
        env=environment({"PDPP_CACHE_ROOT": str(root), **env}),
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    return done.stdout


def test_what_the_server_sent_is_passed_on_as_it_is(odd: Path) -> None:
    assert out(odd, "streams", "--json") == ODD


def test_lines_are_good_json_in_any_character_set(tmp_path: Path) -> None:
    row = {"id": "é🌞", "mood": "ünicode 🌞 \x9b"}
    store = planted_store(tmp_path / "s", DECLARATION, {"c": "C"}, {("c", "moods"): [row]})
    with living(store) as world:
        desk = at_desk(world, tmp_path)
        for charset in ("utf-8", "latin-1", "ascii"):
            text = out(desk.root, "records", "moods", "--jsonl", PYTHONIOENCODING=charset)
            assert json.loads(text)["data"] == row
            text = out(desk.root, "records", "moods", "--json", PYTHONIOENCODING=charset)
            assert json.loads(text)["data"][0]["data"] == row
            assert out(desk.root, "records", "moods", PYTHONIOENCODING=charset)


def test_json_on_a_terminal_keeps_its_meaning_with_every_character_seen(
    odd: Path, desk: Desk
) -> None:
    code, screen = Desk(desk.world, odd, "token").terminal("read", "streams", "--json")
    assert code == 0
    assert json.loads(screen) == json.loads(ODD)
    assert "\t" not in screen


def test_half_a_character_is_still_good_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    raw.one_line({"name": "\ud800 é"})
    assert json.loads(capfdbinary.readouterr().out) == {"name": "\ud800 é"}
