"""What becomes of grants when accounts are removed or merged."""

from pdpp.authz.account_changes import changes_of, merged_account, without_accounts
from pdpp.model.grant import AccessMode, Allowance, Grant


def allowance(connection_id: str, stream: str = "entries", *fields: str) -> Allowance:
    return Allowance(connection_id, stream, "r1", fields or ("id",))


def grant(*allowances: Allowance, revoked_at: int | None = None) -> Grant:
    return Grant("g", "agent", "why", AccessMode.CONTINUOUS, allowances, 1, revoked_at=revoked_at)


def test_a_grant_loses_removed_accounts_and_ends_with_the_last() -> None:
    both = grant(allowance("a"), allowance("b"))
    [change] = changes_of([both], without_accounts(["a"]), 5)
    assert change.allowances == (allowance("b"),)
    assert not change.ends
    [change] = changes_of([both], without_accounts(["a", "b"]), 5)
    assert change.ends


def test_grants_that_have_ended_or_open_other_accounts_are_left_alone() -> None:
    grants = [grant(allowance("b")), grant(allowance("a"), revoked_at=2)]
    assert changes_of(grants, without_accounts(["a"]), 5) == []


def test_after_a_merge_a_grant_opens_the_target_with_the_limits_it_had() -> None:
    [change] = changes_of(
        [grant(allowance("a", "entries", "id", "x"))], merged_account("a", "b"), 5
    )
    assert change.allowances == (allowance("b", "entries", "id", "x"),)


def test_a_merge_never_opens_more_fields_of_a_stream_the_grant_had_of_the_target() -> None:
    narrow = allowance("b", "entries", "id")
    both = grant(allowance("a", "entries", "id", "secret"), narrow, allowance("a", "moods"))
    [change] = changes_of([both], merged_account("a", "b"), 5)
    assert set(change.allowances) == {narrow, allowance("b", "moods")}
