"""Nothing that a request brings stays in a module: what follows from a reach lives on the reach."""

import ast
import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import httpx

SOURCE = Path(__file__).parents[2] / "src" / "pdpp"

MADE_ONCE = {
    "authz/client_document.py:_usual_context": "the certificate authorities of this machine",
    "authz/owner.py:_hasher": "the hasher of passphrases",
    "evidence/fence.py:_hidden_in_lines": "one pattern",
    "evidence/language/associations.py:_associations": "one table of the package",
    "evidence/language/asked_word.py:_word": "what public tables say of words met lately, bounded",
    "evidence/language/members.py:_members": "one table of the package",
    "evidence/language/stems.py:_every_stems": "the languages, twice",
    "evidence/language/stems.py:every_stem": "the stems of words met lately, bounded",
    "evidence/language/stems.py:irregular_forms": "one table of the package",
    "evidence/language/stems.py:stems_of": "one for each language",
    "evidence/language/tables.py:common_words": "one table of the package",
    "evidence/language/tables.py:frequencies": "one table of the package for each language",
    "evidence/language/tables.py:related_words": "one table of the package",
    "evidence/language/translations.py:_from_english": "one table of the package",
    "evidence/language/translations.py:_german": "one table of the package",
    "evidence/language/translations.py:_to_english": "one table of the package for each language",
    "evidence/language/word_parts.py:_month_terms": "one for each month",
    "pages/imports/import_page.py:_guide": "how to export from each format that is installed",
    "pages/imports/upload.py:_described": "the last two uploads, as they are described",
    "pages/template.py:_brand": "the icon of the package",
    "pages/template.py:_environment": "the templates",
    "pages/template.py:asset_path": "one for each file of the package",
    "pages/template.py:script": "one for each file of the package",
    "pages/template.py:script_source": "one for each file of the package",
    "service/local_zone.py:_zone_of": "the zone of this machine, bounded",
    "service/origin.py:_networks": "the proxies of the settings",
    "sources/formats/apple_health/kinds.py:choice_words": "codes of choices, bounded",
    "sources/formats/apple_health/kinds.py:kind_words": "codes of measurements, bounded",
    "sources/formats/apple_health/kinds.py:note_words": "names of what is noted, bounded",
    "sources/formats/calendar_ics/zone_names.py:_zone_shown_as": "names of zones, bounded",
    "sources/formats/markdown/frontmatter.py:_loader": "one class",
    "sources/formats/takeout_time.py:_day_and_zone": "days in the words of an export, bounded",
    "sources/reading/tree.py:_parsed": "the names that formats ask for, bounded",
    "sources/registry.py:_plugins_in": "the plugins that are installed",
    "sources/table/form.py:_forms_by_signs": "the forms of times that tables have",
    "store/intake.py:_validator": "one for each declared schema",
    "store/postgres/dialect.py:statement": "one for each statement of the code, bounded",
    "store/postgres/schema.py:tables": "the declared tables",
    "store/sqlite/bulk.py:_same_cells": "one for each number of fields, bounded",
    "store/sqlite/bulk.py:_statement": "one for each number of rows of such a statement, bounded",
    "store/sqlite/bulk.py:insertion_of": "one for each statement of the code, bounded",
    "store/sqlite/schema.py:_table_names": "the tables of this program",
    "store/tables/search/analysis.py:_remembered": "words met lately, bounded",
    "store/tables/vault/grants.py:_grant": "one for each grant, as its row is kept",
    "store/tables/vault/grants.py:_grants": "the grants of a package, as their rows are kept",
}
"""Every cache of a module, and why what it keeps is not of a request."""


def is_cache(node: ast.expr) -> bool:
    """Tell whether an expression is ``cache`` or ``lru_cache``, called or not."""
    name = node.func if isinstance(node, ast.Call) else node
    last = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return last in ("cache", "lru_cache")


def caches_in(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    if "cache" not in text:  # To parse and walk through every module takes seconds.
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any(map(is_cache, node.decorator_list)):
            yield node.name
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and is_cache(node.func):
            yield ast.unparse(node)


def test_every_cache_of_a_module_is_known_and_not_of_requests() -> None:
    kept = {
        f"{path.relative_to(SOURCE).as_posix()}:{name}"
        for path in SOURCE.rglob("*.py")
        for name in caches_in(path)
    }
    assert kept == MADE_ONCE.keys()


def sizes() -> dict[str, int]:
    """Return how much each cache of our modules holds now, but for those of languages and writes.

    A question may be the first in its language, whose tables are read then, and receipts are
    written by a thread of their own, which may come to its first statement at any time.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("pdpp.")]
    kept = [value for module in modules for value in vars(module).values()]
    caches = [value for value in kept if isinstance(value, _lru_cache_wrapper)]
    return {
        f"{one.__module__}.{one.__qualname__}": one.cache_info().currsize
        for one in caches
        if one.__module__.startswith("pdpp.")
        and not any(apart in one.__module__ for apart in (".language.", ".bulk", ".dialect"))
    }


def ask(reader: httpx.Client, number: int) -> None:
    """Ask what was not asked before: other words, another filter, other fields."""
    fields = [name for bit, name in enumerate(("id", "title", "pages")) if number >> bit & 1]
    chosen = {"fields": ",".join(fields)} if fields else {}
    page = {"filter[pages][gte]": number, "limit": 1 + number, **chosen}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/v1/search", {"q": f"lantern {number}", "streams": "books"}),
        ("/v1/search", {"q": "lantern", "streams": "books", "filter[pages][gte]": number}),
        ("/v1/streams/books/records", page),
        ("/v1/streams/books/aggregate", {"metric": "count", "filter[pages][lte]": number}),
    ]
    for path, params in asked:
        answer = reader.get(path, params=params)
        assert answer.status_code == 200, answer.text
        assert answer.json().get("data", [None]), "an answer without records would show nothing"


def test_requests_that_differ_leave_nothing_behind(reader: httpx.Client) -> None:
    ask(reader, 0)
    before = sizes()
    for number in range(1, 8):
        ask(reader, number)
    assert before
    assert sizes() == before
