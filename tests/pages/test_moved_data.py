"""Nobody sees a page of data that is no longer in its place."""

from pathlib import Path

import pytest
from tests.pages.house import PASSPHRASE, housed

PATHS = ("/", "/agents", "/accounts", "/settings", "/activity")

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def test_the_owner_sees_no_page_of_data_that_was_moved_and_leaves_nothing_in_its_place(
    tmp_path: Path,
) -> None:
    with housed(tmp_path / "data") as house:
        owner = house.owner()
        assert {owner.get(path).answer.status_code for path in PATHS} == {200}
        token = dict(owner.get("/import").fields("#upload"))["token"]
        (tmp_path / "data").rename(tmp_path / "moved")
        # A server looks for its file a hundred times a second.
        house.wait_for(lambda: owner.get(PATHS[0]).answer.status_code == 503)
        assert {owner.get(path).answer.status_code for path in PATHS} == {503}
        told = {"name": "a.md", "size": "4", "modified": "1", "confirm": PASSPHRASE}
        headers = {"X-Form-Token": token}
        answer = owner.http.post("/import/uploads", data=told, headers=headers)
        assert answer.status_code == 503
        assert not (tmp_path / "data").exists()
        (tmp_path / "moved").rename(tmp_path / "data")
        assert {owner.get(path).answer.status_code for path in PATHS} == {200}
