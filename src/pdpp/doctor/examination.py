"""The examination: every step of a hosted agent's way in, in order, each on its own line."""

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import NamedTuple

from pdpp.doctor import agent, authorization, discovery
from pdpp.doctor.finding import Finding, StepBroken, StepOutcome, StepUntried
from pdpp.doctor.state import ExaminationState
from pdpp.doctor.wire import NoAnswer


class Step(NamedTuple):
    """Something to try, once those before it that it needs went well."""

    name: str
    about: str
    work: Callable[[ExaminationState], str]
    needs: tuple[str, ...] = ()


STEPS: tuple[Step, ...] = (
    Step("reach", "The address takes connections", discovery.reach),
    Step("tls", "The connection is private", discovery.tls, ("reach",)),
    Step("answer", "The server answers", discovery.answer, ("reach",)),
    Step("clock", "The clocks agree", discovery.clock, ("answer",)),
    Step("resource", "It says what it guards", discovery.resource, ("answer",)),
    Step("root", "It says so at the root, too", discovery.root, ("answer",)),
    Step("server", "It says how to get in", discovery.server, ("resource",)),
    Step("redirect", "It answers where it is asked", discovery.redirect, ("answer",)),
    Step("challenge", "It tells strangers where to ask", discovery.challenge, ("answer",)),
    Step("forwarded", "It believes no stranger's name for it", discovery.forwarded, ("answer",)),
    Step("register", "A client registers", authorization.register, ("server",)),
    Step("document", "A client has its own document", authorization.client_document, ("server",)),
    Step("authorize", "The owner is asked", authorization.authorize, ("register",)),
    Step("approve", "The owner's yes comes back", authorization.approve, ("tls", "authorize")),
    Step("token", "A code becomes tokens", authorization.token, ("approve",)),
    Step("legacy", "An agent of today connects", agent.legacy, ("token",)),
    Step("modern", "An agent of the newest revision connects", agent.modern, ("token",)),
    Step("audience", "The token is good for one thing", authorization.audience, ("token",)),
    Step("refresh", "The token is renewed", authorization.refresh, ("token",)),
    Step("owner", "An owner's token is turned away", agent.owner, ("approve",)),
    Step("cleanup", "What was made is taken back", authorization.clean_up, ("register",)),
)


def examine(
    state: ExaminationState, steps: Sequence[Step] = STEPS
) -> Generator[Finding, None, None]:
    """Yield what each step finds; a step that needs a broken one is not tried."""
    done: set[str] = set()
    try:
        for step in steps:
            missing = next((name for name in step.needs if name not in done), None)
            finding = _try(step, state) if missing is None else _skip(step, missing)
            if finding.outcome is StepOutcome.OK:
                done.add(step.name)
            yield finding
    except (KeyboardInterrupt, GeneratorExit):
        _leave(state)
        raise


def _try(step: Step, state: ExaminationState) -> Finding:
    try:
        return Finding(step.name, step.about, StepOutcome.OK, step.work(state))
    except StepUntried as reason:
        return Finding(step.name, step.about, StepOutcome.UNTRIED, str(reason))
    except StepBroken as problem:
        return Finding(step.name, step.about, StepOutcome.BROKEN, problem.says, problem.fix)
    except NoAnswer as problem:
        fix = "The server answered before; its log, or that of the proxy, says what happened."
        return Finding(step.name, step.about, StepOutcome.BROKEN, str(problem), fix)


def _leave(state: ExaminationState) -> None:
    """Take back what was made by an examination that is broken off."""
    if state.client_id:
        with suppress(StepBroken, NoAnswer):
            authorization.clean_up(state)


def _skip(step: Step, missing: str) -> Finding:
    return Finding(step.name, step.about, StepOutcome.UNTRIED, f"needs the step {missing}")
