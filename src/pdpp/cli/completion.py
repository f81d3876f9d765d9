"""Completion: the script that lets a shell complete commands, options and their values."""

import click
from click.shell_completion import get_completion_class

from pdpp.cli.help_text import examples

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_PDPP_COMPLETE"


@click.command(
    epilog=examples(
        "pdpp completion bash > ~/.local/share/bash-completion/completions/pdpp",
        "pdpp completion zsh > ~/.zfunc/_pdpp",
        "pdpp completion fish > ~/.config/fish/completions/pdpp.fish",
        'eval "$(pdpp completion bash)"',
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete pdpp; save it, then open a new terminal.

    For zsh, the folder must be in fpath before compinit runs, as in fpath=(~/.zfunc $fpath).
    """
    program = click.get_current_context().find_root().command
    script = get_completion_class(shell)
    if script is None:
        raise AssertionError(shell)
    click.echo(script(program, {}, "pdpp", VARIABLE).source())
