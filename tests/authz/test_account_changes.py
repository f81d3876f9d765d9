"""What becomes of grants when accounts are removed or merged."""

from dataclasses import replace

from pdpp.authz.account_changes import changes_of, merged_account, without_accounts
from pdpp.model.grant import AccessMode, Allowance, Grant, Interval


def allowance(connection_id: str, stream: str = "entries", *fields: str) -> Allowance:
    return Allowance(connection_id, stream, "r1", fields or ("id",))


def grant(
    *allowances: Allowance,
    revoked_at: int | None = None,
    id: str = "g",
    package_id: str | None = None,
) -> Grant:
    mode = AccessMode.CONTINUOUS
    return Grant(id, "agent", "why", mode, allowances, 1, None, revoked_at, package_id)


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


def test_a_merge_leaves_what_a_grant_opens_of_other_accounts() -> None:
    wide = allowance("c", "entries", "id", "x")
    three = grant(allowance("a", "entries", "id"), allowance("b", "entries", "id", "y"), wide)
    [change] = changes_of([three], merged_account("a", "b"), 5)
    assert change.allowances == (replace(allowance("b", "entries", "id"), whole=False), wide)


def limited(
    connection_id: str, *, since: int | None = None, keys: frozenset[str] | None = None
) -> Allowance:
    time = None if since is None else Interval(since)
    return replace(allowance(connection_id), time=time, keys=keys)


def test_a_grant_of_both_is_left_with_the_times_fields_and_records_of_either() -> None:
    one, other = limited("a", since=50, keys=frozenset("xy")), limited("b", since=90)
    for first, second in ((one, other), (other, one)):
        ids = (first.connection_id, second.connection_id)
        [change] = changes_of([grant(one, other)], merged_account(*ids), 5)
        [left] = change.allowances
        assert left == replace(limited(ids[1], since=90), keys=frozenset("xy"))


def test_where_nothing_was_open_of_both_nothing_is_open_afterwards() -> None:
    early = replace(allowance("a"), time=Interval(None, 10))
    [change] = changes_of([grant(early, limited("b", since=10))], merged_account("a", "b"), 5)
    assert change.ends
    fields = [allowance("a", "entries", "id"), allowance("b", "entries", "secret")]
    [change] = changes_of([grant(*fields)], merged_account("a", "b"), 5)
    assert change.ends


def test_a_package_of_both_accounts_shows_each_record_once_and_no_more_of_it() -> None:
    children = [
        grant(allowance("a", "entries", "id", "x"), id="g1", package_id="p"),
        grant(allowance("b", "entries", "id", "y"), id="g2", package_id="p"),
        grant(allowance("a", "entries", "id", "x"), id="alone"),
    ]
    after = {
        change.grant.id: change.allowances
        for change in changes_of(children, merged_account("a", "b"), 5)
    }
    assert after["g1"] == ()
    assert after["g2"] == (replace(allowance("b", "entries", "id"), whole=False),)
    assert after["alone"] == (allowance("b", "entries", "id", "x"),)
