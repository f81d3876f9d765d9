"""Every answer is what a small model says, which is given what a grant shows and nothing else."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine import ENGINE
from tests.promises.cramping import cramp
from tests.promises.observer import Switch
from tests.promises.reference.judge import Judge
from tests.promises.reference.questions import Questioner
from tests.promises.reference.stage import NOW, Stage, make_template, stage
from tests.promises.reference.surfaces import Terminal, asked_by_tool, call_package, call_tool
from tests.serving import running
from tests.soak import SOAK

from pdpp.mcp.reading import package
from pdpp.model import instant

WORLDS = 10_000 if SOAK else 1_000 if ENGINE == "sqlite" else 400
IN_A_TEST, IN_A_STORE = WORLDS // 10, 20
SURFACES = {
    *("records", "search", "semantic", "hybrid", "aggregate", "window", "record"),
    *("streams", "schema", "changes", "file"),
}
TALKED = {"mcp legacy", "mcp modern", "mcp package", "pdpp read", "package"}
PAGES = ("1", "2", "5", "100")
"""How many changes a world is told at once, from world to world."""

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of this test's own is made in it
"""Where worlds are quick to write: that they reach a disk is not what is tested here."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def template(folder: Path) -> Path:
    return make_template(folder / "template")


@pytest.fixture(scope="module")
def terminal(folder: Path) -> Iterator[Terminal]:
    switch = Switch()
    with running(switch) as server:
        yield Terminal(switch, server, folder / "cache")


def live(made: Stage) -> dict[int, Judge]:
    """Let the worlds of a stage live, with a reading of changes in the middle of each life."""
    judges = {plan.number: Judge(made, plan.number) for plan in made.plans}
    for plan in made.plans:
        judge = judges[plan.number]
        for step in range(len(plan.steps)):
            for actor in made.both:
                actor.live(plan.number, step)
            made.at(max(actor.clock() for actor in made.both) + instant.SECOND)
            if step == 0 or step == len(plan.steps) - 1:
                judge.look()
                judge.changes(plan.places[0][0], PAGES[(plan.number + step) % len(PAGES)])
    made.at(instant.parse(NOW) or 0)
    return judges


def question(judge: Judge, terminal: Terminal, seed: str) -> None:
    """Ask about one world in every way there is."""
    number = judge.number
    meaning = judge.stage.left.encoder is not None
    questioner = Questioner(f"{seed} {number}", judge.look(), meaning=meaning)
    questions = list(questioner.questions(6))
    for ask in questions:
        judge.ask(ask)
    for blob_id, asked in questioner.files(judge.hidden_files()):
        judge.file(blob_id, asked)
    tools = [ask for ask in questions if asked_by_tool(ask)]
    for ask in tools[:1]:
        call_tool(judge, ask, ("legacy", "modern")[number % 2])
    for ask in tools[:1] if number % 5 == 0 else []:
        call_package(judge, ask)
    for ask in tools[-1:] if number % 4 == 0 else []:
        terminal.run(judge, ask)


@pytest.mark.parametrize("part", range(10))
def test_every_answer_is_what_the_model_says(
    template: Path, terminal: Terminal, folder: Path, part: int
) -> None:
    counts: Counter[str] = Counter()
    for first in range(part * IN_A_TEST, (part + 1) * IN_A_TEST, IN_A_STORE):
        seed = f"part {part}"
        with (
            tempfile.TemporaryDirectory(dir=folder) as place,
            pytest.MonkeyPatch.context() as patch,
            stage(
                template,
                Path(place),
                range(first, first + IN_A_STORE),
                seed,
                meaning=first % (3 * IN_A_STORE) == 0,
            ) as made,
        ):
            # A busy machine must not make one side late: what is told then is another test's.
            patch.setattr(package, "TOGETHER_SECONDS", 60.0)
            patch.setattr(package, "CHILD_SECONDS", 60.0)
            patch.setattr(package, "ALL_SECONDS", 60.0)
            if first % (2 * IN_A_STORE):
                cramp(patch)
            for judge in live(made).values():
                question(judge, terminal, seed)
                counts += judge.counts
    assert counts.keys() == SURFACES | TALKED
    assert min(counts[kind] for kind in SURFACES) >= IN_A_TEST
