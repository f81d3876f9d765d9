"""A scripted model behind real hosts: what the model saw is what we sent."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.hosts.conftest import Home, needed
from tests.hosts.model import DONE, ScriptedModel

QUESTION: dict[str, object] = {"query": "invoice 4471"}
PAGE: dict[str, object] = {"stream": "messages"}
PROMPT = "Find the tiler's invoice"


def claude(home: Home, model: ScriptedModel) -> str:
    """Ask Claude Code; its tool search is off, so that the model has every tool at once."""
    home.paste("claude-code", ".claude.json")
    home.variables.update(
        ANTHROPIC_BASE_URL=model.url,
        ANTHROPIC_API_KEY="sk-ant-none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        ENABLE_TOOL_SEARCH="0",
    )
    return home.run("claude", "-p", PROMPT, "--allowedTools", "mcp__pdpp__search")


def codex(home: Home, model: ScriptedModel) -> str:
    """Ask Codex with a model outside its catalogue."""
    home.paste("codex", ".codex/config.toml")
    home.variables.update(SCRIPTED_KEY="none")
    provider = f'{{name="scripted",base_url="{model.url}/v1",env_key="SCRIPTED_KEY"}}'
    return home.run(
        *("codex", "exec", "--skip-git-repo-check", "-m", "scripted"),
        *("-c", f"model_providers.scripted={provider}", "-c", 'model_provider="scripted"'),
        *("--dangerously-bypass-approvals-and-sandbox", PROMPT),
    )


def gemini(home: Home, model: ScriptedModel) -> str:
    """Ask Gemini CLI."""
    security = {"auth": {"selectedType": "gemini-api-key"}}
    home.paste("gemini-cli", ".gemini/settings.json", security=security)
    home.variables.update(
        GOOGLE_GEMINI_BASE_URL=model.url, GEMINI_API_KEY="none", GEMINI_CLI_TRUST_WORKSPACE="true"
    )
    return home.run("gemini", "-p", PROMPT, "--yolo", "-m", "gemini-2.5-flash")


def opencode(home: Home, model: ScriptedModel) -> str:
    """Ask opencode."""
    options = {"baseURL": f"{model.url}/v1", "apiKey": "none"}
    scripted = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
    home.paste("opencode", ".config/opencode/opencode.json", provider={"scripted": scripted})
    return home.run("opencode", "run", "-m", "scripted/m", PROMPT)


def the_object(seen: str, result: dict[str, Any]) -> bool:
    """Tell whether a host showed the structured half, with nothing cut."""
    shown = json.loads(seen[seen.index("{") :])
    return bool(_lasting(shown) == _lasting(result["structuredContent"]))


def the_text(seen: str, result: dict[str, Any]) -> bool:
    """Tell whether a host showed the text half, with nothing cut."""
    return "\n".join(block["text"] for block in result["content"]) in seen


def _lasting(value: Any) -> Any:
    """Return a document without what differs from one answer to the next."""
    if isinstance(value, dict):
        return {k: _lasting(v) for k, v in value.items() if k != "request_id"}
    return [_lasting(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("program", "ask", "is_whole"),
    [
        ("claude", claude, the_object),
        ("codex", codex, the_object),
        ("gemini", gemini, the_text),
        ("opencode", opencode, the_text),
    ],
)
def test_what_the_model_saw_is_what_we_sent(
    home: Home,
    program: str,
    ask: Callable[[Home, ScriptedModel], str],
    is_whole: Callable[[str, dict[str, Any]], bool],
) -> None:
    needed(program)
    with ScriptedModel("search", QUESTION) as model:
        said = ask(home, model)
    assert DONE in said
    [seen] = model.results
    assert is_whole(seen, home.call("search", QUESTION)), seen[:2_000]


def test_the_page_of_no_limit_reaches_the_model_of_the_host_that_cuts_first(home: Home) -> None:
    needed("codex")
    with ScriptedModel("query_records", PAGE) as model:
        said = codex(home, model)
    assert DONE in said
    [seen] = model.results
    sent = home.call("query_records", PAGE)
    assert sent["structuredContent"]["data"]["has_more"] is True
    assert the_object(seen, sent), seen[:2_000]
