"""The doctor: connects as a hosted agent does, step by step, and names the step that is broken."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TextIO

import click

from pdpp.cli.help_text import examples
from pdpp.cli.options import passphrase_in
from pdpp.cli.output import show
from pdpp.credentials import HERE
from pdpp.doctor.examination import examine
from pdpp.doctor.finding import Finding, StepOutcome
from pdpp.doctor.state import Approver, ExaminationState, mcp_url
from pdpp.doctor.wire import Wire
from pdpp.model import instant


def address(text: str) -> str:
    """Return the address that agents are given."""
    try:
        return mcp_url(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command(
    epilog=examples(
        "pdpp doctor",
        "pdpp doctor --data ~/my-data",
        "pdpp doctor https://data.example.org/mcp",
        "pdpp doctor https://data.example.org --passphrase-file - < passphrase",
    )
)
@click.argument("url", type=address, default=HERE)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Say yes as the owner of this data folder, the one that the server serves.",
)
@click.option(
    "--passphrase-file",
    metavar="FILE",
    type=click.File("r", encoding="utf-8"),
    help="Approve with the passphrase in the first line of a file, or of standard input with -.",
)
@click.option(
    "--client-document",
    metavar="URL",
    help="Ask as the client whose metadata document is at this https address. Default: that of "
    "Claude Code, where the setting client_documents is on.",
)
@click.option(
    "--ca",
    "authorities",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Trust the certificate authorities in this file, too.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def doctor(
    url: str,
    data: Path | None,
    passphrase_file: TextIO | None,
    client_document: str | None,
    authorities: Path | None,
    as_json: bool,
) -> None:
    """Connect to URL as a hosted agent does, and name what is broken and its fix.

    URL is the address that agents are given, with or without /mcp; by default it is the server
    on this machine. Without --data or --passphrase-file you are asked for the owner's passphrase;
    leave it empty to stop before the approval. At the end the command revokes all that it made.
    """
    wire = Wire(authorities=None if authorities is None else str(authorities))
    with ExitStack() as stack:
        approver = _approver(stack, wire, data, passphrase_file)
        state = ExaminationState(url, wire, approver, client_document)
        findings = []
        for finding in stack.enter_context(closing(examine(state))):
            findings.append(finding)
            if not as_json:
                for line in _lines(finding):
                    click.echo(line)
    _conclude(url, findings, as_json=as_json)


def _approver(
    stack: ExitStack, wire: Wire, data: Path | None, passphrase_file: TextIO | None
) -> Approver | None:
    if data is not None and passphrase_file is not None:
        raise click.UsageError("Give --data or --passphrase-file, not both.")
    if data is not None:
        from pdpp.doctor.folder import ByFolder
        from pdpp.serving.data_folder import open_store

        return ByFolder(stack.enter_context(open_store(data)), instant.now)
    passphrase = _passphrase(passphrase_file)
    if not passphrase:
        return None
    from pdpp.doctor.passphrase import ByPassphrase

    return ByPassphrase(wire, passphrase)


def _passphrase(source: TextIO | None) -> str:
    if source is not None:
        return passphrase_in(source)
    if not sys.stdin.isatty():
        return ""
    typed: str = click.prompt(
        "Owner's passphrase (empty to go on without)",
        default="",
        hide_input=True,
        show_default=False,
        err=True,
    )
    return typed


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.outcome.sign} {finding.step:<10} {finding.about}: {finding.says}"
    if finding.fix is not None:
        yield f"  {'':<10} {finding.fix}"


def _conclude(url: str, findings: Sequence[Finding], *, as_json: bool) -> None:
    first = next((finding for finding in findings if finding.outcome is StepOutcome.BROKEN), None)
    document = {
        "url": url,
        "ok": first is None,
        "first_broken": None if first is None else first.step,
        "steps": [finding._asdict() for finding in findings],
    }
    untried = [finding.step for finding in findings if finding.outcome is StepOutcome.UNTRIED]
    show(document, ["", *_verdict(url, first, untried)], as_json=as_json)
    if first is not None:
        click.get_current_context().exit(1)


def _verdict(url: str, first: Finding | None, untried: Sequence[str]) -> Iterator[str]:
    if first is not None:
        yield f"Broken first: {first.step} ({first.about}): {first.says}."
        yield f"To mend it: {first.fix}"
        return
    yield f"All is well: agents can connect to {url}." if len(untried) < 2 else "Nothing is broken."
    if untried:
        yield f"Not tried: {', '.join(untried)}."
