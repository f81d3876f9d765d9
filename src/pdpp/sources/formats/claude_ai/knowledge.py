"""What Claude keeps beside conversations: projects with their documents, memories and pages."""

from collections.abc import Iterator, Mapping
from typing import Any

from pdpp.sources.formats.claude_ai.blocks import UNTITLED
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.shapes import odd, odd_items, odd_members
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree

_LARGEST_PAGE = 16 << 20


def read_project(value: Any, where: str) -> Iterator[Finding]:
    """Yield a project and its documents."""
    created_at = moment_text(value.get("created_at"))
    if not value.get("uuid") or created_at is None:
        yield Unknown("a project without an id or a time", where)
        return
    key = safe_key(str(value["uuid"]))
    data = {
        "id": key,
        "name": str(value.get("name") or UNTITLED),
        "description": value.get("description") or None,
        "instructions": value.get("prompt_template") or None,
        "created_at": created_at,
        "updated_at": moment_text(value.get("updated_at")) or created_at,
    }
    yield Item("projects", key, present(data))
    for number, document in enumerate(value.get("docs") or (), 1):
        place = f"{where} document {number}"
        yield from account(_document(key, document, created_at), place, "document")


def _document(project: RecordKey, value: Mapping[str, Any], created_at: str) -> Iterator[Finding]:
    name, text = str(value.get("filename") or UNTITLED), str(value.get("content") or "")
    key = safe_key(project, str(value.get("uuid") or digest_key(name, text)))
    created = moment_text(value.get("created_at")) or created_at
    data = {"id": key, "project_id": project, "name": name, "text": text, "created_at": created}
    yield Item("project_documents", key, data)


def read_memory(owner: str, value: Any, where: str) -> Iterator[Finding]:
    """Yield what Claude remembers, each text as one record.

    The export of an organisation holds the memories of other members too, under the same names.
    """
    memories = dict(_memories(value))
    yield from _remembered(owner, value, memories)
    yield from odd_members(value, where, conversations_memory=str, project_memories=dict)
    projects = value.get("project_memories")
    for text in projects.values() if isinstance(projects, dict) else ():
        yield from odd(text, where, str)
    yield from odd_items(value.get("memory_files"), where, content=str)
    if not memories:
        yield Skipped("an empty memory", where)


def _remembered(owner: str, value: Any, texts: Mapping[str, str]) -> Iterator[Item]:
    member = str(value.get("account_uuid") or "")
    others = (member,) if owner and member and member != owner else ()
    for name, text in sorted(texts.items()):
        key = safe_key("memory", digest_key(*others, name))
        yield Item("memories", key, {"id": key, "name": name, "text": text})


def read_reflections(owner: str, value: Any, where: str) -> Iterator[Finding]:
    """Yield what Claude wrote of each month, and tell what was answered to it."""
    for number, month in enumerate(value.get("reflections") or (), 1):
        place = f"{where} month {number}"
        text = _in_words(month.get("content")) if isinstance(month, Mapping) else ""
        if text:
            name = f"What Claude wrote of {month.get('period')}"
            yield from _remembered(owner, value, {name: text})
        else:
            yield Unknown("a month without a text", place)
    for _ in value.get("feedback") or ():
        yield Skipped("a rating of what Claude wrote", where)


def _in_words(content: Any) -> str:
    """Return what stands in a value at any depth, in its order: titles, texts and numbers."""
    if isinstance(content, Mapping):
        words = [_in_words(value) for value in content.values()]
        simple = not any(isinstance(value, Mapping | list) for value in content.values())
        return ("\n" if simple else "\n\n").join(filter(None, words))
    if isinstance(content, list):
        return "\n\n".join(filter(None, map(_in_words, content)))
    return "" if content is None or isinstance(content, bool) else str(content).strip()


def _memories(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value.get("conversations_memory"), str) and value["conversations_memory"]:
        yield "What Claude remembers of you", value["conversations_memory"]
    projects = value.get("project_memories")
    for name, text in (projects if isinstance(projects, dict) else {}).items():
        if isinstance(text, str) and text:
            yield f"What Claude remembers in project {name}", text
    for file in value.get("memory_files") or ():
        if isinstance(file, Mapping) and isinstance(file.get("content"), str) and file["content"]:
            yield f"Memory file {file.get('path')}", file["content"]


def read_page(tree: Tree, entry: FileEntry, value: Any, where: str) -> Iterator[Finding]:
    """Yield a published artifact: its active version, as the text of the page."""
    yield from odd_items(value.get("versions"), where)
    versions = [version for version in value.get("versions") or () if isinstance(version, Mapping)]
    if not value.get("id") or not versions:
        yield Unknown("an artifact without an id or a version", where)
        return
    active = next((v for v in versions if v.get("id") == value.get("active_version")), versions[-1])
    page = _page_of(tree, entry, str(active.get("id")))
    if page is None:
        yield Skipped("a page that is not in the export", where)
        return
    with page.open() as stream:
        content = stream.read(_LARGEST_PAGE).decode("utf-8-sig", "replace")
    key = safe_key("artifact", str(value["id"]))
    updated = moment_text(value.get("updated_at")) or moment_text(active.get("created_at"))
    data = {
        "id": key,
        "title": str(active.get("title") or UNTITLED),
        "kind": str(value.get("kind") or "artifact"),
        "text": html_text(content) if page.suffix == ".html" else content,
        "versions": len(versions),
        "created_at": moment_text(versions[0].get("created_at")) or updated,
        "updated_at": updated,
    }
    yield Item("artifacts", key, present(data))


def _page_of(tree: Tree, entry: FileEntry, version: str) -> FileEntry | None:
    names = [f"versions/{version}{end}" for end in (".html", "/index.html", "/index.md", ".md")]
    names.append("page.md")
    return next((page for name in names if (page := tree.beside(entry, name))), None)
