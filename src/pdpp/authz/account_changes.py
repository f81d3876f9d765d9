"""Account changes: what becomes of grants when the owner removes an account or merges two."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from pdpp.authz.authority import Authority
from pdpp.model.grant import ACTIVE, Allowance, Grant, status
from pdpp.store.vault import VaultTransaction

Rewrite = Callable[[Grant], tuple[Allowance, ...]]
"""What a grant opens after a change; nothing where the grant is to end."""


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
    return lambda grant: tuple(
        allowance for allowance in grant.allowances if allowance.connection_id not in connection_ids
    )


def merged_account(source_id: str, target_id: str) -> Rewrite:
    """Return the rewrite for a merge: what opened the one account opens the other.

    Where a grant opens a stream of both, the limits it has on the target stay: a merge must not
    show more of the target's fields than the owner approved.
    """

    def rewrite(grant: Grant) -> tuple[Allowance, ...]:
        open_streams = {
            allowance.stream
            for allowance in grant.allowances
            if allowance.connection_id == target_id
        }
        return tuple(
            replace(allowance, connection_id=target_id)
            if allowance.connection_id == source_id
            else allowance
            for allowance in grant.allowances
            if allowance.connection_id != source_id or allowance.stream not in open_streams
        )

    return rewrite


def changes_of(grants: Iterable[Grant], rewrite: Rewrite, now: int) -> list[GrantChange]:
    """Return the active grants that a rewrite changes."""
    changes = [
        GrantChange(grant, rewrite(grant)) for grant in grants if status(grant, now) == ACTIVE
    ]
    return [change for change in changes if change.allowances != change.grant.allowances]


def apply_to_grants(authority: Authority, rewrite: Rewrite) -> list[GrantChange]:
    """Change the grants as they are now, in one transaction, and revoke what opens nothing."""

    def work(transaction: VaultTransaction, now: int) -> list[GrantChange]:
        changes = changes_of(list(transaction.grants()), rewrite, now)
        for change in changes:
            if change.ends:
                transaction.revoke_grant(change.grant.id, now)
                _revoke_empty_package(transaction, change.grant.package_id, now)
            else:
                transaction.change_allowances(change.grant.id, change.allowances)
        return changes

    return authority.decide(work)


def _revoke_empty_package(transaction: VaultTransaction, package_id: str | None, now: int) -> None:
    if package_id is None:
        return
    if all(status(grant, now) != ACTIVE for grant in transaction.package_grants(package_id)):
        transaction.revoke_package(package_id, now)
