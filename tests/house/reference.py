"""The pages of the reference that are made from the code.

``python -m tests.house.reference`` writes them; a test fails while they are not as it would.
"""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tests.house.materials import BILL, bill

from pdpp.cli.program import program
from pdpp.configuration.effective import CONFIG_VARIABLE
from pdpp.configuration.setting import Setting
from pdpp.configuration.table import FILE_NAME, GROUPS
from pdpp.mcp.tools.argument import Argument, ArgumentType, call_text
from pdpp.mcp.tools.definition import SIGNATURES, definition

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"

_MADE = "<!-- Made from the code by `make docs`; what is changed here by hand is lost. -->"
_WIDTH = 100


def leaves(command: click.Command, context: click.Context) -> Iterator[click.Context]:
    """Yield the context of every command that can be run, in the order of the help."""
    if isinstance(command, click.Group):
        if command.invoke_without_command:
            yield context
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, _below(context, found, name))
    else:
        yield context


def _below(context: click.Context, command: click.Command, name: str) -> click.Context:
    made = click.Context(command, info_name=name, parent=context)
    made.terminal_width = made.max_content_width = 80
    return made


def top() -> click.Context:
    """Return the context of the program itself."""
    context = click.Context(program, info_name="pdpp", **program.context_settings)
    context.terminal_width = context.max_content_width = 80
    return context


def help_page() -> str:
    """Return the page with the help of every command."""
    context = top()
    parts = [
        "# The help of every command",
        _MADE,
        _wrapped(
            "What `--help` says, command by command. [The program](commands.md) tells how the "
            "commands belong together."
        ),
    ]
    parts += [
        f"## `{leaf.command_path}`\n\n```text\n{leaf.command.get_help(leaf)}\n```"
        for leaf in leaves(program, context)
    ]
    return "\n\n".join(parts) + "\n"


def settings_page() -> str:
    """Return the page with every setting."""
    parts = ["# Settings of the server", _MADE, *_SETTINGS_TEXT]
    for heading, settings in GROUPS.items():
        rows = [_row(setting) for setting in settings]
        table = ["| setting | default | meaning |", "|---|---|---|", *rows]
        parts += [f"## {heading}", "\n".join(table)]
    return "\n\n".join([*parts, *_WORKERS_TEXT]) + "\n"


def tools_page() -> str:
    """Return the page with every tool of the MCP surface."""
    parts = [
        "# The six tools",
        _MADE,
        _wrapped(
            "What a client is told of each tool, with a call that is right. "
            "[The MCP surface](mcp.md) tells what they answer, and how much of it at most."
        ),
    ]
    for name, signature in SIGNATURES.items():
        told: Any = definition(name)
        rows = [_argument(argument) for argument in signature.arguments.values()]
        answers = ", ".join(f"`{key}`" for key in told["outputSchema"]["properties"])
        parts += [
            f"## `{name}`",
            _wrapped(told["description"]),
            f"```text\n{call_text(name, signature.example)}\n```",
            "\n".join(["| argument | takes | about |", "|---|---|---|", *rows]),
            _wrapped(f"The structured half may hold {answers}."),
        ]
    return "\n\n".join(parts) + "\n"


def _argument(argument: Argument) -> str:
    need = ", required" if argument.required else ""
    about = argument.about.replace("|", "\\|")
    return f"| `{argument.name}`{need} | {_taken(argument)} | {about} |"


def _taken(argument: Argument) -> str:
    if argument.choices:
        return ", ".join(f"`{choice}`" for choice in argument.choices)
    if argument.form is ArgumentType.INTEGER:
        upper = "" if argument.most is None else f" to {argument.most:,}"
        return f"a whole number from {argument.least}{upper}"
    return _FORMS[argument.form]


_FORMS = {
    ArgumentType.TEXT: "text",
    ArgumentType.LIST: "a list of names",
    ArgumentType.FILTER: "an object: a value or a range for each field",
    ArgumentType.LIMITS: "an object: a whole number for each relation",
}


def _row(setting: Setting) -> str:
    usual = setting.unset or f"`{setting.plain(setting.default)}`"
    flag = f", also `{setting.option}`" if setting.flag else ""
    told = f"{setting.meaning} Takes {setting.kind.taken}.".replace("|", "\\|")
    return f"| `{setting.name}`{flag} | {usual} | {told} |"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


_SETTINGS_TEXT = (
    _wrapped(
        f"`pdpp serve` reads its settings from three places, each over the one before: a file, the "
        f"environment, and flags. The file is `{FILE_NAME}` in the data folder, or the one that "
        f"`--config FILE` or `{CONFIG_VARIABLE}` names. A setting has one name: `rate_limit` in "
        "the file is `PDPP_RATE_LIMIT` in the environment and, where the table says so, "
        "`--rate-limit` as a flag."
    ),
    "```toml\n# pdpp.toml\n"
    'public_url = "https://data.example.org"\ntrusted_proxy = ["127.0.0.1"]\n'
    'rate_limit = "50/s"\naccess_log = true\n```',
    _wrapped(
        "`pdpp config show` prints what holds and where each value comes from; it takes the flags "
        "of `pdpp serve`, so that a command line can be tried before it is used. `pdpp config "
        "example` prints a file with every setting in it. A key that is none, or a value of the "
        "wrong kind, keeps the server from starting, with the file, the line and the nearest name "
        "that there is. Your passphrase and tokens are never settings. A few settings may hold a "
        "secret: the password in `database` and `database_read`, and `blobs_key_secret`. The "
        "program never prints it."
    ),
)
_WORKERS_TEXT = (
    "## Several workers",
    _wrapped(
        "With `workers` above 1 several processes answer on one port and read and write one store, "
        "which lets a machine use its cores. What is decided in the store holds for all of them at "
        "once: a revoked grant is refused by the very next request, whoever answers it, and "
        "receipts are one log. With the embedded file each worker counts alone for "
        "`rate_limit`, `oauth_rate_limit`, `registration_rate_limit` and the delay after wrong "
        "passphrases. A client that opens new connections can so reach up to `workers` times a "
        "limit; set it lower by that where it matters. With a database all workers count together. "
        "A worker that dies is started again, and all of them end, with the requests they have "
        "begun, when the server is told to stop."
    ),
)

PAGES = {
    REFERENCE / "help.md": help_page,
    REFERENCE / "settings.md": settings_page,
    REFERENCE / "tools.md": tools_page,
    BILL: bill,
}


def main() -> None:
    """Write every page."""
    for path, make in PAGES.items():
        path.write_text(make(), encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
