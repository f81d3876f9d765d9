"""Agent talks: what other coding agents share, sessions whose messages come from anywhere.

Unlike the logs of ``agent_log`` these are documents or databases that are written anew.
"""

from collections.abc import Iterator, Mapping

from pdpp.sources.formats.agent_session import TITLE_CHARS, spelled
from pdpp.sources.formats.agent_tokens import TokenCount
from pdpp.sources.item import Finding, Item, present
from pdpp.sources.keys import safe_key

_TYPED = frozenset({"type", "kind", "mimeType", "mime_type", "media_type", "inlineData"})


class AgentTalk:
    """One session while it is read."""

    def __init__(self, session: str, **facts: object) -> None:
        self.key = safe_key(session)
        self.facts = {name: str(fact) for name, fact in facts.items() if fact}
        self.title = ""
        self.tokens = TokenCount()
        self._prompt = ""
        self._positions: dict[str, int] = {}
        self._times: tuple[str, str] | None = None

    def message(self, name: str, role: str, text: str, at: str, model: object = None) -> Item:
        """Return one message; one that is stated anew keeps its position."""
        position = self._positions.setdefault(name, len(self._positions) + 1)
        first, last = self._times or (at, at)
        self._times = (min(first, at), max(last, at))
        if not self._prompt and role == "user" and not text.lstrip().startswith("<"):
            self._prompt = " ".join(text.split())[:TITLE_CHARS]
        if model:
            self.facts["model"] = str(model)
        key = safe_key(self.key, name)
        data = {
            "id": key,
            "session_id": self.key,
            "role": role,
            "text": text,
            "model": str(model) if model else None,
            "position": position,
            "sent_at": at,
        }
        return Item("messages", key, present(data))

    def tool(
        self, name: str, tool: object, given: object, result: object, at: str
    ) -> Iterator[Finding]:
        """Yield the use of a tool, and what it gave back where that is known."""
        yield self.call(name, tool, given, at)
        if text := text_of(result):
            yield self.result(name, text, at)

    def call(self, name: str, tool: object, given: object, at: str) -> Item:
        """Return the use of a tool."""
        key = safe_key(self.key, "tool", name)
        shared = {"id": key, "session_id": self.key, "sent_at": at}
        return Item("tool_calls", key, {**shared, "tool": str(tool), "input": spelled(given or {})})

    def result(self, name: str, text: str, at: str) -> Item:
        """Return what a tool gave back, under the name of its use."""
        key = safe_key(self.key, "tool", name)
        data = {"id": key, "session_id": self.key, "sent_at": at, "call_id": key, "text": text}
        return Item("tool_results", key, data)

    def record(self, started: str | None = None, ended: str | None = None) -> Item | None:
        """Return the record of the session; None where it has neither messages nor times."""
        times = [*(self._times or ()), *filter(None, (started, ended))]
        if not times or not self._positions:
            return None
        data = {
            "id": self.key,
            "title": (self.title or self._prompt or self.key)[:TITLE_CHARS],
            **self.facts,
            **self.tokens.members(),
            "message_count": len(self._positions),
            "started_at": min(times),
            "ended_at": max(times),
        }
        return Item("sessions", self.key, data)


def text_of(value: object) -> str:
    """Return the text of content that is a string, a list of pieces or an object that holds one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_of, value)))
    if isinstance(value, Mapping):
        contents = (
            value.get(name)
            for name in ("text", "output", "content", "functionResponse", "response", "error")
        )
        text = next((text for piece in contents if (text := text_of(piece))), "")
        # What has a type is a piece of another kind, such as a picture.
        return text if text or value.keys() & _TYPED else text_of([*value.values()])
    return ""
