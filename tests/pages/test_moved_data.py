"""Nobody sees a page of data that is no longer in its place."""

from pathlib import Path

import pytest
from tests.pages.house import housed

PATHS = ("/", "/agents", "/accounts", "/settings", "/activity")

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def test_the_owner_sees_no_page_of_data_that_was_moved(tmp_path: Path) -> None:
    with housed(tmp_path / "data") as house:
        owner = house.owner()
        assert {owner.get(path).answer.status_code for path in PATHS} == {200}
        (tmp_path / "data").rename(tmp_path / "moved")
        # A server looks for its file a hundred times a second.
        house.wait_for(lambda: owner.get(PATHS[0]).answer.status_code == 503)
        assert {owner.get(path).answer.status_code for path in PATHS} == {503}
        (tmp_path / "moved").rename(tmp_path / "data")
        assert {owner.get(path).answer.status_code for path in PATHS} == {200}
