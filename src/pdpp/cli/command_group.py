"""Command groups: several commands of one noun, listed with what each does, never cut short."""

import click


class CommandGroup(click.Group):
    """A group whose help tells the first sentences of each command whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does on as many lines as it takes."""
        commands = [self.commands[name] for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(command.name or "", _summary(command)) for command in commands])


def _summary(command: click.Command) -> str:
    return " ".join((command.help or "").partition("\n\n")[0].split())
