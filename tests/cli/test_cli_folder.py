import sys
from pathlib import Path

import pytest
from tests.cli.shell import opened, pdpp_here

from pdpp.serving.data_folder import default_folder, keep_private, state_folder

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


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", HOME / ".local" / "state"),
        ({"XDG_STATE_HOME": "/state"}, "linux", Path("/state")),
        ({"XDG_STATE_HOME": "relative"}, "linux", HOME / ".local" / "state"),
        ({}, "darwin", HOME / "Library" / "Application Support"),
        ({"LOCALAPPDATA": "/local"}, "win32", Path("/local")),
        ({}, "win32", HOME / "AppData" / "Local"),
    ],
)
def test_each_platform_has_its_place_for_what_the_machine_remembers(
    environment: dict[str, str], platform: str, expected: Path
) -> None:
    assert state_folder(environment, platform, HOME) == expected / "pdpp" / "revocations"


@pytest.mark.embedded("about the file of the embedded engine")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("import", "not-there"), "No such file"),
        (("connection", "add", "diary", "--name", "Mine"), "there is no store in"),
        (("encryption", "status"), "there is no store in"),
    ],
)
def test_a_command_that_cannot_do_anything_begins_no_store(
    command: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    done = pdpp_here(*command, data=tmp_path / "new")
    assert done.code == 1
    assert told in done.err
    assert not (tmp_path / "new").exists()


def test_a_user_without_a_home_opens_a_store_all_the_same(
    diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    with opened(diary) as store:
        assert store.vault.held_grants() == []


@pytest.mark.embedded("about the file of the embedded engine")
@pytest.mark.skipif(sys.platform == "win32", reason="has other permissions")
def test_a_folder_that_others_can_read_is_closed_to_them_loudly(diary: Path) -> None:
    database = diary / "pdpp.sqlite3"
    diary.chmod(0o755)
    database.chmod(0o644)
    ended = pdpp_here("connection", "list", data=diary)
    assert ended.code == 0
    assert ended.err.startswith("WARNING: other users of this machine could read")
    assert (diary.stat().st_mode & 0o777, database.stat().st_mode & 0o777) == (0o700, 0o600)
    assert pdpp_here("connection", "list", data=diary).err == ""


@pytest.mark.embedded("about the file of the embedded engine")
@pytest.mark.skipif(sys.platform == "win32", reason="has other permissions")
def test_a_folder_that_cannot_be_closed_is_refused(
    diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    diary.chmod(0o755)
    (diary / "pdpp.sqlite3").chmod(0o644)
    monkeypatch.setattr(Path, "chmod", refuse)
    assert "cannot be closed to them" in pdpp_here("connection", "list", data=diary).failed()


@pytest.mark.skipif(sys.platform == "win32", reason="has other permissions")
def test_a_working_folder_without_a_store_keeps_its_permissions(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    (folder / "notes.txt").write_text("mine")
    keep_private(folder)
    assert folder.stat().st_mode & 0o777 == 0o755
