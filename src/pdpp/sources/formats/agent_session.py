"""Agent sessions: what is known of a session while its log is read line by line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpp.sources.formats.agent_tokens import TokenCount, resumed_count

TITLE_CHARS = 120
_RECENT_ANSWERS = 8
"""Of how many answers pieces may stand among each other: helpers answer side by side."""
_RECENT_MESSAGES = 32
"""How many messages may come out of the order of time."""


@dataclass(slots=True)
class AgentSession:
    """A session so far; as ``state`` it travels with the place where reading stopped."""

    title: str = ""
    prompt: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    first: str = ""
    last: str = ""
    messages: int = 0
    recent: dict[str, str] = field(default_factory=dict)
    passed: str = ""
    """The last messages with their times, and the latest time of those that came before them."""
    lines: int = 0
    acted: bool = False
    """Whether something was done before anything was said."""
    moment: str = ""
    repeats: dict[str, int] = field(default_factory=dict)
    """How often each thing was there at the moment that was told last."""
    tokens: TokenCount = field(default_factory=lambda: TokenCount(most=_RECENT_ANSWERS))

    @classmethod
    def resumed(cls, state: Mapping[str, Any]) -> "AgentSession":
        """Return a session as its ``state`` left it."""
        return cls(**{**state, "tokens": resumed_count(state.get("tokens", {}), _RECENT_ANSWERS)})

    def state(self) -> dict[str, Any]:
        """Return everything as JSON data; ``asdict`` would take longer than reading a line."""
        return {
            "title": self.title,
            "prompt": self.prompt,
            "facts": self.facts.copy(),
            "first": self.first,
            "last": self.last,
            "messages": self.messages,
            "recent": self.recent.copy(),
            "passed": self.passed,
            "lines": self.lines,
            "acted": self.acted,
            "moment": self.moment,
            "repeats": self.repeats.copy(),
            "tokens": self.tokens.state(),
        }

    def name(self, title: Any, *, anew: bool = False) -> None:
        """Take in a title; the first one stays unless a later one counts ``anew``."""
        if title and (anew or not self.title):
            self.title = str(title)[:TITLE_CHARS]

    def learn(self, name: str, value: Any, *, anew: bool = False) -> None:
        """Take in a fact; the first one stays unless a later one counts ``anew``."""
        if isinstance(value, str) and value and (anew or name not in self.facts):
            self.facts[name] = value

    def hear(self, role: str, text: str, at: str, name: str = "") -> None:
        """Take in one message; the first that no program wrote in tags gives the title.

        Logs are not in the order of time: what an agent kept of a long talk is written again, under
        the same ``name``, and counts once.
        """
        self.first = min(self.first, at) if self.first else at
        self.last = max(self.last, at)
        self.messages += not name or self._is_new(name, at)
        if not self.prompt and role == "user" and not text.lstrip().startswith("<"):
            self.prompt = " ".join(text.split())[:TITLE_CHARS]

    def _is_new(self, name: str, at: str) -> bool:
        if name in self.recent or at <= self.passed:
            return False
        if len(self.recent) == _RECENT_MESSAGES:
            self.passed = max(self.passed, self.recent.pop(next(iter(self.recent))))
        self.recent[name] = at
        return True

    def act(self, at: str) -> None:
        """Take in what a tool or a program did; where something is said, that tells the times."""
        if not self.messages:
            self.acted = True
            self.first = min(self.first, at) if self.first else at
            self.last = max(self.last, at)

    def repeat(self, moment: str, name: str) -> int:
        """Return how often a thing was there at one moment, this time included."""
        if moment != self.moment:
            self.moment, self.repeats = moment, {}
        self.repeats[name] = number = self.repeats.get(name, 0) + 1
        return number

    def record(self, key: str) -> dict[str, Any]:
        """Return the record of the session."""
        return {
            "id": key,
            "title": self.title or self.prompt or key,
            "message_count": self.messages,
            "started_at": self.first,
            "ended_at": self.last,
            **self.facts,
            **self.tokens.members(),
        }


def joined(texts: Iterable[str]) -> str:
    """Return the texts that say anything, as paragraphs."""
    return "\n\n".join(text for text in texts if text.strip())


def spelled(given: Any) -> str:
    """Return what a tool was given as text that can be read and searched."""
    if not isinstance(given, Mapping):
        return str(given)
    return "\n".join(f"{name}: {_inline(value)}" for name, value in given.items())


def _inline(value: Any) -> str:
    words = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return " ".join(value) if words else str(value)
