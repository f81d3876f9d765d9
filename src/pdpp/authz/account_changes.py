"""Account changes: what becomes of grants when the owner removes an account or merges two."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from pdpp.authz.authority import Authority
from pdpp.model.grant import ACTIVE, Allowance, Grant, Interval, status
from pdpp.store.vault import VaultTransaction

Rewrite = Callable[[Sequence[Grant]], Sequence[tuple[Allowance, ...]]]
"""What each of the grants of one approval opens after a change; nothing where one is to end."""


@dataclass(frozen=True, slots=True)
class GrantChange:
    """A grant that a change of accounts touches, and what it opens afterwards."""

    grant: Grant
    allowances: tuple[Allowance, ...]

    @property
    def ends(self) -> bool:
        """Tell whether the grant would open nothing any more."""
        return not self.allowances


def without_accounts(connection_ids: Collection[str]) -> Rewrite:
    """Return the rewrite for accounts that are removed: what opens them goes.

    An account that is later added under the same id must not be open to those who could read the
    old one, so the allowance itself is taken out.
    """
    return lambda grants: [
        tuple(
            allowance
            for allowance in grant.allowances
            if allowance.connection_id not in connection_ids
        )
        for grant in grants
    ]


def merged_account(source_id: str, target_id: str) -> Rewrite:
    """Return the rewrite for a merge: what opened the one account opens the other.

    Where one approval opens a stream of both, it is left with what it opened of either: the same
    fields, times and records. Else the records of one would be seen through the limits of the
    other, and a package would show each record twice.
    """

    def rewrite(grants: Sequence[Grant]) -> list[tuple[Allowance, ...]]:
        allowances = [allowance for grant in grants for allowance in grant.allowances]
        moved = [allowance for allowance in allowances if allowance.connection_id == source_id]
        of_target = {
            allowance.stream for allowance in allowances if allowance.connection_id == target_id
        }

        def after(allowance: Allowance) -> Allowance | None:
            if allowance.connection_id == source_id:
                if allowance.stream in of_target:
                    return None
                return replace(allowance, connection_id=target_id)
            if allowance.connection_id != target_id:
                return allowance
            left: Allowance | None = allowance
            for other in moved:
                if left is not None and other.stream == left.stream:
                    left = in_common(left, other)
            return left

        return [
            tuple(left for allowance in grant.allowances if (left := after(allowance)) is not None)
            for grant in grants
        ]

    return rewrite


def in_common(allowance: Allowance, other: Allowance) -> Allowance | None:
    """Return an allowance with the limits of another too, None where it would open nothing."""
    fields = tuple(name for name in allowance.fields if name in other.fields)
    time = _both_times(allowance.time, other.time)
    keys = (
        other.keys
        if allowance.keys is None
        else allowance.keys
        if other.keys is None
        else allowance.keys & other.keys
    )
    if not fields or (time is not None and time.empty) or keys == frozenset():
        return None
    whole = allowance.whole and fields == allowance.fields
    return replace(allowance, fields=fields, whole=whole, time=time, keys=keys)


def _both_times(one: Interval | None, other: Interval | None) -> Interval | None:
    if one is None or other is None:
        return other if one is None else one
    return one.intersect(other)


def changes_of(
    grants: Iterable[Grant], rewrite: Rewrite, now: int, held: Collection[str] = ()
) -> list[GrantChange]:
    """Return the grants that a rewrite changes: active ones, and those that are held.

    A held grant may be confirmed after the change, and must not show more then.
    """
    approvals: dict[str, list[Grant]] = {}
    for grant in grants:
        if grant.id in held or status(grant, now) == ACTIVE:
            approvals.setdefault(grant.package_id or grant.id, []).append(grant)
    return [
        GrantChange(grant, allowances)
        for approval in approvals.values()
        for grant, allowances in zip(approval, rewrite(approval), strict=True)
        if allowances != grant.allowances
    ]


def apply_to_grants(
    authority: Authority, rewrite: Rewrite, removed: Collection[str] = ()
) -> list[GrantChange]:
    """Change the grants as they are now, in one transaction, and revoke what opens nothing.

    ``removed`` are accounts that the grants must not open again, whatever backup is put back.
    """

    def work(transaction: VaultTransaction, now: int) -> list[GrantChange]:
        held = transaction.held_grants()
        changes = changes_of(list(transaction.grants()), rewrite, now, held)
        for change in changes:
            if change.ends:
                transaction.revoke_grant(change.grant.id, now)
                _revoke_empty_package(transaction, change.grant.package_id, now)
            else:
                transaction.change_allowances(change.grant.id, change.allowances, removed)
        return changes

    return authority.decide(work)


def _revoke_empty_package(transaction: VaultTransaction, package_id: str | None, now: int) -> None:
    if package_id is None:
        return
    held = transaction.held_grants()
    grants = transaction.package_grants(package_id)
    if not any(grant.id in held or status(grant, now) == ACTIVE for grant in grants):
        transaction.revoke_package(package_id, now)
