"""What was revoked stays so, also when the database of an older backup is put back."""

import shutil
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.world import NOW, Clock

from pdpp.authz.account_changes import apply_to_grants, merged_account, without_accounts
from pdpp.authz.authority import Authority
from pdpp.model.grant import AccessMode, Allowance, Grant, Interval, Package
from pdpp.store.sqlite.revocations import RevocationFiles
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore
from pdpp.store.tables.database import TableReader
from pdpp.store.vault import RefreshToken, Token

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def made(folder: Path, clock: Clock) -> SqliteStore:
    store = SqliteStore(folder, clock)
    vault = store.vault
    for name in ("g1", "g2"):
        token = Token(f"t-{name}", "client", "agent", NOW, grant_id=name)
        vault.keep_grant(Grant(name, "agent", "x", AccessMode.CONTINUOUS, (), NOW), [token])
    vault.keep_package(Package("p1", "agent", NOW, None), [], [])
    vault.keep_token(Token("owners", "owner", "me", NOW))
    with vault.transaction() as transaction:
        transaction.add_refresh_token(
            RefreshToken("r1", "f1", "agent", "pdpp:read", NOW, NOW + 60, grant_id="g2")
        )
    return store


def put_back(store: SqliteStore, folder: Path, backup: Path, clock: Clock) -> SqliteStore:
    store.close()
    for path in folder.glob(f"{FILE_NAME}*"):
        path.unlink()
    shutil.copy(backup / FILE_NAME, folder / FILE_NAME)
    return SqliteStore(folder, clock)


def test_a_database_from_before_a_revocation_revives_nothing(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    folder, backup = tmp_path / "data", tmp_path / "backup"
    store = made(folder, clock)
    store.backup(backup)
    assert not (backup / "revocations").exists()
    authority = Authority(store, clock)
    assert authority.revoke_grant("g1")
    assert authority.revoke_package("p1")
    authority.revoke_token("owners")
    with store.vault.transaction() as transaction:
        transaction.revoke_family("f1", NOW)
    store = put_back(store, folder, backup, clock)
    vault = store.vault
    revoked = [vault.grant("g1"), vault.package("p1"), vault.token("owners"), vault.refresh("r1")]
    assert all(item is not None and item.revoked_at is not None for item in revoked)
    token, other = vault.token("t-g1"), vault.grant("g2")
    assert token is not None
    assert token.revoked_at is not None
    assert other is not None
    assert other.revoked_at is None
    assert "revoked again" in caplog.text
    caplog.clear()
    store.close()
    SqliteStore(folder, clock).close()
    assert caplog.text == ""


def test_a_store_that_is_opened_while_another_program_revokes_finds_nothing_revived(
    tmp_path: Path,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, looked = made(tmp_path, clock), threading.Event()
    look, add = RevocationFiles.revived, RevocationFiles.add
    second: list[SqliteStore] = []
    opening = threading.Thread(target=lambda: second.append(SqliteStore(tmp_path, clock)))

    def looking(files: RevocationFiles, db: TableReader) -> list[tuple[str, str]]:
        revived = look(files, db)
        looked.set()
        return revived

    def adding(files: RevocationFiles, revoked: Sequence[str]) -> None:
        add(files, revoked)
        opening.start()
        assert looked.wait(20)

    monkeypatch.setattr(RevocationFiles, "revived", looking)
    monkeypatch.setattr(RevocationFiles, "add", adding)
    assert Authority(store, clock).revoke_grant("g1")
    opening.join(20)
    grant = second[0].vault.grant("g1")
    assert grant is not None
    assert grant.revoked_at is not None
    assert caplog.messages == []
    second[0].close()
    store.close()


def test_the_list_is_private_and_grows_only_by_what_changed(tmp_path: Path, clock: Clock) -> None:
    store = made(tmp_path, clock)
    authority, path = Authority(store, clock), tmp_path / "revocations"
    assert path.read_text() == ""
    for _ in range(3):
        authority.revoke_client("agent")
        authority.revoke_grant("nowhere")
    assert sorted(path.read_text().split("\n")) == ["", "grant g1", "grant g2", "package p1"]
    assert path.stat().st_mode & 0o077 == 0
    store.close()


def test_a_list_that_somebody_wrote_into_does_no_harm(tmp_path: Path, clock: Clock) -> None:
    made(tmp_path, clock).close()
    (tmp_path / "revocations").write_bytes(b"nonsense\ngrant \n\xff\xfe\ngrant g1; DROP\n")
    store = SqliteStore(tmp_path, clock)
    grant = store.vault.grant("g1")
    assert grant is not None
    assert grant.revoked_at is None
    store.close()


def open_at(folder: Path, machine: Path | None, clock: Clock) -> SqliteStore:
    return SqliteStore(folder, clock, machine=machine)


def revoked_ids(store: SqliteStore) -> set[str]:
    return {grant.id for grant in store.vault.grants() if grant.revoked_at is not None}


def test_a_backup_in_another_folder_of_the_machine_revives_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    machine = tmp_path / "machine"
    made(tmp_path / "data", clock).close()
    store = open_at(tmp_path / "data", machine, clock)
    for name in ("oldest", "older"):
        store.backup(tmp_path / name)
        Authority(store, clock).revoke_grant("g1" if name == "oldest" else "g2")
    store.close()
    for name, dead in (("oldest", {"g1", "g2"}), ("older", {"g1", "g2"})):
        restored = open_at(tmp_path / name, machine, clock)
        assert revoked_ids(restored) == dead
        token = restored.vault.token("t-g1")
        assert token is not None
        assert token.revoked_at is not None
        # What nobody revoked is as it was: this machine knows.
        package = restored.vault.package("p1")
        assert package is not None
        assert package.revoked_at is None
        restored.close()


def test_where_nobody_knows_what_was_revoked_everything_waits_for_the_owner(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = made(tmp_path / "data", clock)
    store.backup(tmp_path / "backup")
    store.close()
    fresh = tmp_path / "fresh machine"
    restored = open_at(tmp_path / "backup", fresh, clock)
    assert "wait for its owner" in caplog.text
    assert restored.vault.held_grants() == ["g1", "g2"]
    assert revoked_ids(restored) == {"g1", "g2"}
    vault = restored.vault
    names = ("t-g1", "owners")
    assert all(getattr(vault.token(name), "revoked_at", None) for name in names)
    assert getattr(vault.refresh("r1"), "revoked_at", None)
    restored.close()
    # It goes on waiting when it is opened again, also after another backup and elsewhere.
    restored = open_at(tmp_path / "backup", fresh, clock)
    vault = restored.vault
    vault.confirm(["g2"])
    assert revoked_ids(restored) == {"g1"}
    assert getattr(vault.refresh("r1"), "revoked_at", 0) is None
    assert getattr(vault.token("t-g2"), "revoked_at", 0) is None
    assert getattr(vault.token("owners"), "revoked_at", None)
    vault.confirm(None)
    assert revoked_ids(restored) == set()
    assert vault.held_grants() == []
    assert getattr(vault.token("owners"), "revoked_at", 0) is None
    restored.close()


def test_a_confirmation_does_not_revive_what_is_known_as_revoked(
    tmp_path: Path, clock: Clock
) -> None:
    store = made(tmp_path / "data", clock)
    store.backup(tmp_path / "backup")
    store.close()
    restored = SqliteStore(tmp_path / "backup", clock)
    (tmp_path / "backup" / "revocations").write_text("grant g1\n")
    restored.vault.confirm(None)
    assert revoked_ids(restored) == {"g1"}
    restored.close()


def restored_elsewhere(folder: Path, clock: Clock, *grants: Grant) -> SqliteStore:
    """Return a store of which everything waits for the owner."""
    store = made(folder / "data", clock)
    for grant in grants:
        store.vault.keep_grant(grant, [])
    store.backup(folder / "backup")
    store.close()
    return SqliteStore(folder / "backup", clock)


def test_what_is_revoked_after_all_was_confirmed_waits_for_nobody(
    tmp_path: Path, clock: Clock
) -> None:
    restored = restored_elsewhere(tmp_path, clock)
    restored.vault.confirm(None)
    # At the very moment at which it was suspended.
    assert Authority(restored, clock).revoke_grant("g2")
    assert restored.vault.held_grants() == []
    restored.close()


def test_what_is_revoked_while_it_waits_stays_so(tmp_path: Path, clock: Clock) -> None:
    restored = restored_elsewhere(tmp_path, clock)
    vault, authority = restored.vault, Authority(restored, clock)
    clock.now += 1
    assert authority.revoke_grant("g1")
    assert authority.revoke_package("p1")
    assert authority.revoke_token("owners")
    with vault.transaction() as transaction:
        transaction.revoke_family("f1", clock())
    assert vault.held_grants() == ["g2"]
    vault.confirm(None)
    assert revoked_ids(restored) == {"g1"}
    ended = [vault.token("t-g1"), vault.package("p1"), vault.token("owners"), vault.refresh("r1")]
    assert all(one is not None and one.revoked_at is not None for one in ended)
    assert getattr(vault.token("t-g2"), "revoked_at", 0) is None
    restored.close()


def test_a_client_is_revoked_while_its_grants_wait(tmp_path: Path, clock: Clock) -> None:
    restored = restored_elsewhere(tmp_path, clock)
    clock.now += 1
    Authority(restored, clock).revoke_client("agent")
    restored.vault.confirm(None)
    assert revoked_ids(restored) == {"g1", "g2"}
    assert getattr(restored.vault.refresh("r1"), "revoked_at", None)
    restored.close()


def test_what_waits_is_not_swept_away(tmp_path: Path, clock: Clock) -> None:
    restored = restored_elsewhere(tmp_path, clock)
    clock.now += 1
    Authority(restored, clock).sweep()
    restored.vault.confirm(None)
    assert revoked_ids(restored) == set()
    restored.close()


def test_changes_of_accounts_hold_for_grants_that_wait(tmp_path: Path, clock: Clock) -> None:
    def opening(name: str, *allowances: Allowance) -> Grant:
        return Grant(name, "agent", "x", AccessMode.CONTINUOUS, allowances, NOW)

    whole, gone = (Allowance(id, "notes", "rev", ("id", "body")) for id in ("home", "gone"))
    early = Allowance("work", "notes", "rev", ("id",), whole=False, time=Interval(until=NOW))
    restored = restored_elsewhere(
        tmp_path, clock, opening("both", whole, early), opening("other", gone)
    )
    clock.now += 1
    apply_to_grants(Authority(restored, clock), merged_account("work", "home"))
    apply_to_grants(Authority(restored, clock), without_accounts(["gone"]))
    restored.vault.confirm(None)
    both, other = restored.vault.grant("both"), restored.vault.grant("other")
    assert both is not None
    assert both.allowances == (replace(early, connection_id="home"),)
    assert other is not None
    assert other.revoked_at is not None
    restored.close()


def opening(name: str, *connection_ids: str) -> Grant:
    allowances = tuple(Allowance(id, "notes", "rev", ("id", "body")) for id in connection_ids)
    return Grant(name, "agent", "x", AccessMode.CONTINUOUS, allowances, NOW)


def opened(store: SqliteStore, name: str) -> list[str]:
    grant = store.vault.grant(name)
    assert grant is not None
    return [] if grant.revoked_at is not None else [a.connection_id for a in grant.allowances]


def test_a_database_from_before_a_removal_lets_no_grant_open_the_account_again(
    tmp_path: Path, clock: Clock
) -> None:
    folder, backup = tmp_path / "data", tmp_path / "backup"
    store = made(folder, clock)
    for grant in (opening("wide", "home", "gone away"), opening("other", "home")):
        store.vault.keep_grant(grant, [])
    store.backup(backup)
    removed = ["gone away"]
    apply_to_grants(Authority(store, clock), without_accounts(removed), removed)
    store = put_back(store, folder, backup, clock)
    assert opened(store, "wide") == ["home"]
    assert opened(store, "other") == ["home"]
    store.close()


def test_a_database_from_before_a_removal_revives_no_grant_of_that_account_alone(
    tmp_path: Path, clock: Clock
) -> None:
    folder, backup = tmp_path / "data", tmp_path / "backup"
    store = made(folder, clock)
    store.vault.keep_grant(opening("wide", "gone"), [])
    store.backup(backup)
    with store.vault.transaction() as transaction:
        merged = opening("wide", "gone", "home").allowances
        transaction.change_allowances("wide", merged)
    apply_to_grants(Authority(store, clock), without_accounts(["gone"]), ["gone"])
    store = put_back(store, folder, backup, clock)
    assert opened(store, "wide") == []
    store.close()


def test_an_account_under_the_id_of_a_removed_one_stays_open_where_a_merge_opened_it(
    tmp_path: Path, clock: Clock
) -> None:
    folder = tmp_path / "data"
    store = made(folder, clock)
    store.vault.keep_grant(opening("wide", "home", "work"), [])
    apply_to_grants(Authority(store, clock), without_accounts(["home"]), ["home"])
    apply_to_grants(Authority(store, clock), merged_account("work", "home"))
    store.close()
    store = SqliteStore(folder, clock)
    assert opened(store, "wide") == ["home"]
    store.close()


def test_a_database_from_before_a_merge_opens_what_was_approved(
    tmp_path: Path, clock: Clock
) -> None:
    folder, backup = tmp_path / "data", tmp_path / "backup"
    store = made(folder, clock)
    store.vault.keep_grant(opening("wide", "home", "work"), [])
    store.backup(backup)
    apply_to_grants(Authority(store, clock), merged_account("work", "home"))
    store = put_back(store, folder, backup, clock)
    assert opened(store, "wide") == ["home", "work"]
    store.close()


def test_a_machine_that_can_keep_nothing_is_no_reason_to_fail(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "file").write_text("")
    store = open_at(tmp_path / "data", tmp_path / "file" / "below", clock)
    Authority(store, clock).revoke_grant("nowhere")
    store.vault.keep_grant(Grant("g", "agent", "x", AccessMode.CONTINUOUS, (), NOW), [])
    assert Authority(store, clock).revoke_grant("g")
    store.close()
    assert (tmp_path / "data" / "revocations").read_text() == "grant g\n"
