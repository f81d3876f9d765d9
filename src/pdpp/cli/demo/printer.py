"""Print the steps of the demo as text, in colour on a terminal."""

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import click

from pdpp.cli.demo.step import AGENT, DemoStep
from pdpp.evidence.fence import visible

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 100
_TEXT_LINES = 16
_STRUCTURED_CHARS = 320
_LAST = "Try it with your own agent: pdpp serve --demo"
_HALVES = ("content", "structuredContent")


class StepPrinter(Protocol):
    """Prints steps and, at the end, what they cost."""

    def step(self, number: int, step: DemoStep) -> None: ...

    def total(self, steps: Sequence[DemoStep]) -> None: ...


def asked(step: DemoStep) -> str:
    """Return a call as a model writes it."""
    given = "" if not step.arguments else " " + json.dumps(step.arguments, ensure_ascii=False)
    return f"{step.tool}{given}"


def halves(step: DemoStep, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield each half of an answer under a heading with its cost; long ones are cut."""
    if step.seen is None:
        return
    texts = (step.seen.text, step.seen.spelled)
    for name, text, cut in zip(_HALVES, texts, (_first_lines, _first_chars), strict=True):
        yield f"{name} · {len(text):,} characters", visible(text if whole else cut(text))


def _first_lines(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= _TEXT_LINES:
        return text
    return "\n".join([*lines[:_TEXT_LINES], f"… and {len(lines) - _TEXT_LINES} more lines"])


def _first_chars(text: str) -> str:
    if len(text) <= _STRUCTURED_CHARS:
        return text
    return f"{text[:_STRUCTURED_CHARS]}\n… and {len(text) - _STRUCTURED_CHARS:,} more characters"


def costs(steps: Sequence[DemoStep]) -> list[tuple[str, str, str]]:
    """Return what each call and all together cost a model, in the one half or the other."""
    calls = [
        (asked(step), len(step.seen.text), len(step.seen.spelled))
        for step in steps
        if step.seen is not None and step.who == AGENT
    ]
    total = ("together", sum(text for _, text, _ in calls), sum(other for *_, other in calls))
    return [(name, f"{text:,}", f"{other:,}") for name, text, other in [*calls, total]]


class PlainStepPrinter:
    """Writes text without colour, as wide as it may be."""

    def __init__(self, width: int, *, whole: bool) -> None:
        self._width = max(24, width)
        self._whole = whole

    def step(self, number: int, step: DemoStep) -> None:
        """Write one step."""
        title = f"{number}. {step.title}"
        self._paragraph(title)
        click.echo("=" * min(self._width, len(title)))
        self._paragraph(step.before)
        for line in step.facts:
            self._quoted(line, "  ")
        if step.tool:
            self._quoted(f"{step.who}> {asked(step)}", "")
        for heading, text in halves(step, whole=self._whole):
            self._quoted(f"[{heading}]", "  ")
            for line in text.split("\n"):
                self._quoted(line, "  | ")
        self._paragraph(step.after)
        click.echo()

    def _paragraph(self, text: str) -> None:
        click.echo(textwrap.fill(text, self._width))

    def _quoted(self, line: str, prefix: str) -> None:
        wrapped = textwrap.wrap(
            line,
            self._width - len(prefix),
            subsequent_indent=" " * (len(line) - len(line.lstrip())),
            replace_whitespace=False,
            break_on_hyphens=False,
        )
        for part in wrapped or [""]:
            click.echo((prefix + part).rstrip())

    def total(self, steps: Sequence[DemoStep]) -> None:
        """Write what all steps cost."""
        self._paragraph("What the model was shown, in characters of one half or the other")
        for name, text, structured in costs(steps):
            room = max(10, self._width - 18)
            cut = name if len(name) <= room else f"{name[: room - 1]}…"
            click.echo(f"{cut.ljust(room)} {text:>8} {structured:>8}")
        click.echo()
        self._paragraph(_LAST)


class RichStepPrinter:
    """Writes in colour, with the halves in frames and the matches marked."""

    def __init__(self, console: "Console", *, whole: bool) -> None:
        self._console = console
        self._whole = whole

    def step(self, number: int, step: DemoStep) -> None:
        """Write one step."""
        from rich.panel import Panel
        from rich.rule import Rule
        from rich.text import Text

        show = self._console.print
        show(Rule(Text(f"{number}. {step.title}", style="bold"), align="left", style="cyan"))
        show(Text(step.before))
        for line in step.facts:
            show(Text(f"  {line}", style="green"))
        if step.tool:
            show(Text.assemble((f"{step.who} ▸ ", "bold magenta"), (asked(step), "magenta")))
        for place, (heading, text) in enumerate(halves(step, whole=self._whole)):
            body = Text(text, style="dim" if place else "")
            body.highlight_regex(r"<mark>[^<]*</mark>", "bold yellow")
            frame = "dim" if place else "yellow"
            show(Panel(body, title=heading, title_align="left", border_style=frame))
        show(Text(step.after, style="italic"))
        show()

    def total(self, steps: Sequence[DemoStep]) -> None:
        """Write what all steps cost."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title="What the model was shown, in characters", title_justify="left")
        table.add_column("call", overflow="fold")
        for half in _HALVES:
            table.add_column(half, justify="right")
        *calls, together = [tuple(map(Text, row)) for row in costs(steps)]
        for row in calls:
            table.add_row(*row)
        table.add_section()
        table.add_row(*together, style="bold")
        self._console.print(table)
        self._console.print(Text(f"\n{_LAST}", style="bold"))


def make_step_printer(*, whole: bool) -> StepPrinter:
    """Return the printer for a terminal, or for a file."""
    import shutil

    if not sys.stdout.isatty():
        return PlainStepPrinter(shutil.get_terminal_size((WIDEST, 24)).columns, whole=whole)
    from rich.console import Console

    console = Console(highlight=False)
    console.width = min(console.width, WIDEST)
    return RichStepPrinter(console, whole=whole)
