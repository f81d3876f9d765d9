"""Packages: several grants for one client, one for each account, that it reads with one token."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from pdpp.authz.authority import Authority
from pdpp.authz.selection import make_package
from pdpp.cli import grant_text
from pdpp.cli.client_name import client_names, named
from pdpp.cli.command_group import CommandGroup
from pdpp.cli.grant_options import GrantChoice, grant_options
from pdpp.cli.help_text import examples
from pdpp.cli.options import common, words
from pdpp.cli.output import show, table
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.errors import NotFound
from pdpp.model.grant import ACTIVE, Grant, Package, status
from pdpp.serving.data_folder import open_store
from pdpp.store.catalogue import Catalogue
from pdpp.store.port import Store


@click.group(cls=CommandGroup)
def package() -> None:
    """Give one token for several accounts, each with its own grant."""


@package.command(
    epilog=examples(
        "pdpp grant package create --client my-agent --everything --expires 30d \\",
        '  --purpose "Answer my questions"',
        "pdpp grant package create --client planner --connection cin_home \\",
        '  --connection cin_calendar --expires 30d --purpose "Plan my week"',
    )
)
@grant_options
@common
def create(asked: GrantChoice, data: Path, as_json: bool) -> None:
    """Make a grant for each account, and print the one token for all of them once.

    Choose connections, streams, fields, a time or records; each may be named several times. Without
    a choice the grants cover everything, which you are asked to confirm. You can revoke each grant
    alone, with pdpp grant revoke.
    """
    now = instant.now()
    with open_store(data) as store:
        catalogue = store.catalogue()
        package, grants, secret, token = make_package(
            asked.allowances(catalogue),
            client_id=asked.client,
            purpose=asked.purpose,
            now=now,
            expires_at=asked.expires,
        )
        store.vault.keep_package(package, grants, [token])
        clients = client_names(store)
    document = _document(package, grants, now) | {"package_token": secret}
    description = _in_words(package, grants, catalogue, clients, now)
    show(
        document,
        [*description, "", "Its token, which is not shown again:", secret],
        as_json=as_json,
    )


@package.command(
    "list", epilog=examples("pdpp grant package list", "pdpp grant package list --all --json")
)
@click.option("--all", "ended_too", is_flag=True, help="Show what is revoked or expired too.")
@common
def list_packages(ended_too: bool, data: Path, as_json: bool) -> None:
    """List the packages that clients have."""
    now = instant.now()
    with open_store(data) as store:
        listed = [
            (package, grants)
            for package, grants in _packages(store)
            if ended_too or status(package, now) == ACTIVE
        ]
        names = client_names(store)
    rows = [[visible(text, lines=False) for text in _row(*row, names, now)] for row in listed]
    heading = ("ID", "CLIENT", "STATUS", "EXPIRES", "GRANTS", "PURPOSE")
    lines = table([heading, *rows]) if rows else ["No packages."]
    show({"packages": [_document(*row, now) for row in listed]}, lines, as_json=as_json)


@package.command("show", epilog=examples("pdpp grant package show pkg_0123456789abcdef"))
@click.argument("package_id", type=words, metavar="ID")
@common
def show_package(package_id: str, data: Path, as_json: bool) -> None:
    """Show what each grant of a package lets its client see."""
    now = instant.now()
    with open_store(data) as store:
        package, grants = _find(store, package_id)
        catalogue, clients = store.catalogue(), client_names(store)
    lines = _in_words(package, grants, catalogue, clients, now)
    show(_document(package, grants, now), lines, as_json=as_json)


@package.command(epilog=examples("pdpp grant package revoke pkg_0123456789abcdef"))
@click.argument("package_id", type=words, metavar="ID")
@common
def revoke(package_id: str, data: Path, as_json: bool) -> None:
    """Revoke a package with all its grants; the server refuses its client's next request."""
    with open_store(data) as store:
        _find(store, package_id)
        revoked = Authority(store, instant.now).revoke_package(package_id)
        package, grants = _find(store, package_id)
    text = f"Revoked: {package_id}" if revoked else f"{package_id} was already revoked."
    show(_document(package, grants, instant.now()), [text], as_json=as_json)


def _find(store: Store, package_id: str) -> tuple[Package, Sequence[Grant]]:
    package = store.vault.package(package_id)
    if package is None:
        raise NotFound(f"there is no package {package_id!r}; see pdpp grant package list --all")
    return package, tuple(store.vault.package_grants(package_id))


def _packages(store: Store) -> Iterator[tuple[Package, Sequence[Grant]]]:
    """Yield every package with its grants, the oldest first."""
    names = dict.fromkeys(grant.package_id for grant in store.vault.grants() if grant.package_id)
    return (_find(store, name) for name in names)


def _row(
    package: Package, grants: Sequence[Grant], names: Mapping[str, str], now: int
) -> tuple[str, ...]:
    client, end = named(package.client_id, names), grant_text.end_of(package)
    good = sum(status(grant, now) == ACTIVE for grant in grants)
    count = str(good) if good == len(grants) else f"{good} of {len(grants)}"
    return package.id, client, status(package, now), end, count, _purpose(grants)


def _purpose(grants: Sequence[Grant]) -> str:
    """Return what the grants are for; they were made at once, for one thing."""
    return "; ".join(dict.fromkeys(grant.purpose for grant in grants))


def _document(package: Package, grants: Sequence[Grant], now: int) -> dict[str, Any]:
    return {
        "grant_package_id": package.id,
        "client_id": package.client_id,
        "status": status(package, now),
        **grant_text.moments(package),
        "grants": [grant_text.document(grant, now) for grant in grants],
    }


def _in_words(
    package: Package,
    grants: Sequence[Grant],
    catalogue: Catalogue,
    clients: Mapping[str, str],
    now: int,
) -> Iterator[str]:
    ended = "" if package.revoked_at is None else f" since {instant.to_text(package.revoked_at)}"
    client = visible(named(package.client_id, clients), lines=False)
    several = counted(len(grants), "grant")
    state = f"{status(package, now)}{ended}"
    yield f"Package {package.id}, {state}: {client} may read through {several}"
    for grant in grants:
        yield ""
        yield from grant_text.in_words(grant, catalogue.connections, clients, now)
