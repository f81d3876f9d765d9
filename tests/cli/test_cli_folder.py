from pathlib import Path

import pytest

from pdpp.serving.data_folder import default_folder

HOME = Path("/home/nora")


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", HOME / ".local/share/pdpp"),
        ({"XDG_DATA_HOME": "/srv/share"}, "linux", Path("/srv/share/pdpp")),
        ({"XDG_DATA_HOME": "relative"}, "linux", HOME / ".local/share/pdpp"),
        ({}, "darwin", HOME / "Library/Application Support/pdpp"),
        ({"APPDATA": "/roaming"}, "win32", Path("/roaming/pdpp")),
        ({}, "win32", HOME / "AppData/Roaming/pdpp"),
    ],
)
def test_each_platform_has_its_folder_for_data(
    environment: dict[str, str], platform: str, expected: Path
) -> None:
    assert default_folder(environment, platform, HOME) == expected
