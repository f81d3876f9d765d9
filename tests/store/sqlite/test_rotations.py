"""A refresh token that was used stays so when the database of an older backup is put back."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.store.world import NOW, Clock

from pdpp.authz.issuance import IssuedTokens, Issuer
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.token import hash_token
from pdpp.model.errors import OAuthError
from pdpp.model.grant import AccessMode, Grant
from pdpp.model.instant import DAY
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore
from pdpp.store.vault import RefreshToken, ShortLivedSecret

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

FIRST = "the first refresh token"


@dataclass
class House:
    """A store in one folder, which can be put back to its backup."""

    folder: Path
    clock: Clock
    store: SqliteStore
    machine: Path | None = None

    def refresh(self, token: str) -> IssuedTokens:
        """Return what a refresh token is good for; refuse it where it is not."""
        with self.store.vault.transaction() as transaction:
            issuer = Issuer(transaction, Lifetimes(), self.clock())
            kept = transaction.refresh(hash_token(token))
            assert kept is not None
            return issuer.rotate(kept, None)

    def reopen(self) -> None:
        """Open the store as the next start of the program does."""
        self.store.close()
        self.store = SqliteStore(self.folder, self.clock, machine=self.machine)

    def put_back(self, backup: Path) -> None:
        """Put the database of a backup in the place of the one that is there."""
        self.store.close()
        for path in self.folder.glob(f"{FILE_NAME}*"):
            path.unlink()
        shutil.copy(backup / FILE_NAME, self.folder / FILE_NAME)
        self.reopen()

    def must_refuse(self, token: str) -> None:
        """Check that a refresh token gives nothing."""
        with pytest.raises(OAuthError):
            self.refresh(token)


def began(tmp_path: Path, clock: Clock, machine: Path | None) -> House:
    """Return a new store with a client that has its first refresh token."""
    folder = tmp_path / "data"
    store = SqliteStore(folder, clock, machine=machine)
    grant = Grant("g", "agent", "x", AccessMode.CONTINUOUS, (), NOW)
    store.vault.keep_grant(grant, [])
    with store.vault.transaction() as transaction:
        transaction.add_refresh_token(
            RefreshToken(
                hash_token(FIRST), "fam_1", "agent", "x", NOW, NOW + 90 * DAY, grant_id="g"
            )
        )
    return House(folder, clock, store, machine)


@pytest.fixture(params=["folder", "machine"])
def house(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> House:
    return began(tmp_path, clock, tmp_path / "machine" if request.param == "machine" else None)


def next_of(house: House, token: str) -> str:
    """Return the refresh token that replaces another, an hour later."""
    house.clock.now += 3_600_000_000
    refreshed = house.refresh(token).refresh
    assert refreshed is not None
    return refreshed


def test_a_used_token_is_refused_after_an_older_database_was_put_back(
    house: House, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    house.store.backup(tmp_path / "backup")
    second = next_of(house, FIRST)
    next_of(house, second)
    house.put_back(tmp_path / "backup")
    house.must_refuse(FIRST)
    assert "revoked again" in caplog.text
    house.store.close()


def test_the_machine_knows_of_it_in_another_folder(tmp_path: Path, clock: Clock) -> None:
    machine = tmp_path / "machine"
    house = began(tmp_path, clock, machine)
    house.store.backup(tmp_path / "backup")
    next_of(house, FIRST)
    house.store.close()
    copy = SqliteStore(tmp_path / "backup", clock, machine=machine)
    House(tmp_path / "backup", clock, copy, machine).must_refuse(FIRST)
    copy.close()


def test_a_token_that_was_not_used_since_the_backup_is_good_after_it(
    house: House, tmp_path: Path
) -> None:
    second = next_of(house, FIRST)
    house.store.backup(tmp_path / "backup")
    house.put_back(tmp_path / "backup")
    third = next_of(house, second)
    house.reopen()
    next_of(house, third)
    house.store.close()


def test_an_access_token_that_was_withdrawn_since_the_backup_is_not_good_after_it(
    house: House, tmp_path: Path
) -> None:
    lost = house.refresh(FIRST)
    house.store.backup(tmp_path / "backup")
    house.refresh(FIRST)
    house.put_back(tmp_path / "backup")
    token = house.store.vault.token(hash_token(lost.access))
    assert token is not None
    assert token.revoked_at is not None
    assert lost.refresh is not None
    house.must_refuse(lost.refresh)
    house.store.close()


def test_what_a_crash_left_unremembered_costs_nobody_a_token(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = next_of(house, FIRST)
    with monkeypatch.context() as patch:
        patch.setattr("pdpp.store.sqlite.rotations.RotationFiles.keep", _forget)
        third = next_of(house, second)
    house.reopen()
    next_of(house, third)
    house.store.close()


def _forget(*_: object) -> None:
    """Remember nothing, as a program that was killed."""


def test_a_folder_that_was_copied_by_hand_takes_no_used_token_where_the_machine_remembers(
    tmp_path: Path, clock: Clock
) -> None:
    house = began(tmp_path, clock, tmp_path / "machine")
    second = next_of(house, FIRST)
    house.store.close()
    shutil.copytree(house.folder, tmp_path / "by hand")
    house.reopen()
    next_of(house, second)
    house.store.close()
    shutil.rmtree(house.folder)
    shutil.copytree(tmp_path / "by hand", house.folder)
    house.reopen()
    house.must_refuse(second)
    house.store.close()


def test_what_the_machine_could_not_write_the_folder_knows(tmp_path: Path, clock: Clock) -> None:
    house = began(tmp_path, clock, tmp_path / "machine")
    second = next_of(house, FIRST)
    house.store.backup(tmp_path / "backup")
    [memory] = (tmp_path / "machine").glob("*-rotations")
    shutil.copytree(memory, tmp_path / "memory")
    next_of(house, second)
    shutil.rmtree(memory)
    shutil.copytree(tmp_path / "memory", memory)
    house.put_back(tmp_path / "backup")
    house.must_refuse(second)
    house.store.close()


def test_of_two_copies_in_use_the_one_is_good_that_took_the_token_last(
    tmp_path: Path, house: House
) -> None:
    house.store.backup(tmp_path / "copy")
    copy = SqliteStore(tmp_path / "copy", house.clock, machine=house.machine)
    copy.vault.confirm(None)
    other = House(tmp_path / "copy", house.clock, copy, house.machine)
    mine, theirs = next_of(house, FIRST), next_of(other, FIRST)
    house.reopen()
    other.reopen()
    next_of(other, theirs)
    if house.machine is None:  # Nobody can know of the other.
        next_of(house, mine)
    else:
        house.must_refuse(mine)
    house.store.close()
    other.store.close()


def test_what_is_remembered_is_private_and_goes_when_the_token_has_ended(house: House) -> None:
    next_of(house, FIRST)
    folder = house.folder / "rotations"
    [file] = folder.iterdir()
    assert file.stat().st_mode & 0o077 == folder.stat().st_mode & 0o077 == 0
    house.clock.now += 91 * DAY
    house.reopen()
    assert list(folder.iterdir()) == []
    house.store.close()


def test_a_folder_that_cannot_be_written_does_not_cost_the_client_its_answer(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    (house.folder / "rotations").write_text("in the way")
    next_of(house, FIRST)
    assert "is not remembered" in caplog.text
    house.store.close()


def test_a_file_that_somebody_wrote_into_does_no_harm(house: House) -> None:
    second = next_of(house, FIRST)
    for name, content in (("a", b"\xff\xfe"), ("b", b"fam_1"), ("c", b"fam_1 x -1\n")):
        (house.folder / "rotations" / name).write_bytes(content)
    (house.folder / "rotations" / "d").mkdir()
    house.reopen()
    next_of(house, second)
    house.store.close()


def test_a_backup_holds_no_login_and_no_code(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore(tmp_path / "data", clock)
    with store.vault.transaction() as transaction:
        for kind in ("session", "code", "login_code", "browser"):
            transaction.add_secret(ShortLivedSecret(f"h-{kind}", kind, {}, NOW, NOW + DAY))
    store.backup(tmp_path / "backup")
    assert store.vault.secret("session", "h-session") is not None
    store.close()
    assert b"h-session" not in (tmp_path / "backup" / FILE_NAME).read_bytes()
    assert [path.name for path in (tmp_path / "backup").iterdir()] == [FILE_NAME]
    copy = SqliteStore(tmp_path / "backup", clock)
    assert copy.vault.secrets("session", NOW, 10) == []
    copy.close()
