"""Which file of an export an address inside it means."""

from pathlib import Path

import pytest

from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.tree import open_tree


def finder(folder: Path, *names: str) -> FileFinder:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"picture")
    return FileFinder(open_tree(folder))


@pytest.mark.parametrize(
    "name",
    [
        "media/posts/1.jpg",
        "your_instagram_activity/media/posts/1.jpg",
        "posts/1.jpg",
        "1.jpg",
    ],
)
def test_an_address_may_lack_folders_or_have_more(tmp_path: Path, name: str) -> None:
    found = finder(tmp_path, name).find("media/posts/1.jpg")
    assert found is not None
    assert found.name == name


def test_a_file_of_the_same_name_in_another_folder_is_another_file(tmp_path: Path) -> None:
    files = finder(tmp_path, "messages/inbox/bo_1/photos/1.jpg", "media/stories/1.jpg")
    assert files.find("media/posts/1.jpg") is None
    assert files.find("https://elsewhere.example/1.jpg") is None
