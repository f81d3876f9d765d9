"""Steps of the demo: one question, the answer, and the words around them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpp.cli.demo.agent import ToolAnswer

AGENT = "agent"


@dataclass(frozen=True, slots=True)
class DemoStep:
    """A title, what leads to it, what was asked and seen, and what to notice about it.

    ``tool`` is empty where nothing was asked; ``facts`` are lines that are shown as they are;
    ``who`` asked.
    """

    title: str
    before: str
    facts: tuple[str, ...] = ()
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seen: ToolAnswer | None = None
    after: str = ""
    who: str = AGENT

    def as_json(self) -> dict[str, Any]:
        """Return the step as JSON data, with each half and what it costs."""
        document: dict[str, Any] = {"title": self.title, "before": self.before}
        if self.facts:
            document["facts"] = list(self.facts)
        if self.tool:
            document |= {"who": self.who, "tool": self.tool, "arguments": dict(self.arguments)}
        if self.seen is not None:
            document |= {
                "content": self.seen.text,
                "content_chars": len(self.seen.text),
                "structured_content": self.seen.structured,
                "structured_chars": len(self.seen.spelled),
            }
        return document | {"after": self.after}
