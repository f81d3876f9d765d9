"""Kinds of activities: what was watched, searched and visited can be counted in any language."""

from pathlib import Path

import pytest
from tests.sources.kit import read
from tests.sources.samples.google import activity
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.google_activity.source import GoogleActivity

ADS = [{"name": "Von Google Ads"}]


@pytest.mark.parametrize(
    ("link", "details", "kind"),
    [
        ("https://www.youtube.com/watch?v=abc", [], "video"),
        ("https://music.youtube.com/watch?v=abc", [], "video"),
        ("https://www.youtube.com/shorts/abc", [], "video"),
        ("https://youtu.be/abc", [], "video"),
        ("https://www.youtube.com/watch?v=abc", ADS, "advertisement"),
        ("https://www.youtube.com/results?search_query=ropes", [], "search"),
        ("https://www.google.com/search?q=ropes", [], "search"),
        ("https://www.google.com/search?hl=de&q=ropes", [], "search"),
        ("https://www.google.com/url?q=https://ropes.example/&usg=1", [], "page"),
        ("https://www.google.co.uk/url?q=https://ropes.example/", [], "page"),
        ("https://www.youtube.com/post/abc", [], None),
        ("", ADS, None),
    ],
)
def test_an_address_tells_what_was_done(
    tmp_path: Path, link: str, details: list[dict[str, str]], kind: str | None
) -> None:
    done = activity("Etwas getan", 1, titleUrl=link, details=details)
    (tmp_path / "MyActivity.json").write_bytes(json_bytes([done]))
    [data] = read(GoogleActivity(), tmp_path).values()
    assert data.get("kind") == kind
