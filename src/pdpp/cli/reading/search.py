"""``pdpp read search``: hits with the passage that proves each, and the command around it."""

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.reading import raw, read_options
from pdpp.cli.reading.filters import filters_of
from pdpp.cli.reading.hint import next_command, spelled_id
from pdpp.cli.reading.mark import excerpt_pieces
from pdpp.cli.reading.naming import stream_of
from pdpp.cli.reading.paging import MOST_A_PAGE, pages_of, write_end, write_items, write_lines
from pdpp.cli.reading.printer import Cell, Printer, StyledText, make_printer, quoted
from pdpp.cli.reading.provider import connected, sourced
from pdpp.client.request import SearchOptions
from pdpp.client.result import Excerpt, Hit, Page
from pdpp.evidence.amount import counted
from pdpp.evidence.budget import DEFAULT_LIMIT
from pdpp.evidence.fence import quote

_FEW = 10
_MATCH_HELP = "best: any of the words counts; all: every word must be there."
_SORT_HELP = "score, the best first; or time, the newest first."
_INDENT = 3


@click.command(
    epilog=examples(
        "pdpp read search invoice 4471",
        "pdpp read search '\"green tiles\"' --stream messages --connection cin_home",
        "pdpp read search deposit --filter 'sent_at>=2026-01-01' --all --jsonl > hits",
        codes=REMOTE_CODES,
    )
)
@click.argument("words", nargs=-1, required=True)
@click.option("--stream", "streams", metavar="NAME", multiple=True, help="Only this stream.")
@click.option(
    "--mode",
    type=click.Choice(["lexical", "semantic", "hybrid"]),
    metavar="MODE",
    help="lexical, by words; semantic, by meaning; or hybrid, where the server offers it.",
)
@click.option("--match", type=click.Choice(["best", "all"]), metavar="HOW", help=_MATCH_HELP)
@click.option("--sort", type=click.Choice(["score", "time"]), metavar="BY", help=_SORT_HELP)
@read_options.together(
    read_options.connection, read_options.filters, read_options.limit, read_options.cursor
)
@read_options.together(read_options.every, read_options.as_json, read_options.as_lines)
@sourced
def search(
    words: tuple[str, ...],
    streams: tuple[str, ...],
    mode: str | None,
    match: str | None,
    sort: str | None,
    connection: str | None,
    filters: tuple[str, ...],
    limit: int | None,
    cursor: str | None,
    every: bool,
    as_json: bool,
    as_lines: bool,
    provider: str | None,
    cache_root: str | None,
) -> None:
    """Find records that answer WORDS, best first, each with the passage that fits best.

    Any of the words counts. A "phrase" in double quotes and +word must be there, -word must not;
    word* finds every word that begins so. from:anna, in:messages, before:2026-03-01, after: and
    on: narrow the search. Put -- before words that begin with a dash.
    """
    read_options.one_form(as_json=as_json, as_lines=as_lines, every=every)
    query = " ".join(words)
    options: SearchOptions = {
        "streams": [stream_of(name) for name in streams],
        "connection_id": connection,
        "filter": filters_of(filters),
        "mode": mode,  # type: ignore[typeddict-item]
        "match": match,  # type: ignore[typeddict-item]
        "sort": sort,  # type: ignore[typeddict-item]
        "limit": limit or (MOST_A_PAGE if every else _FEW),
        "cursor": cursor,
    }
    with connected(provider, cache_root) as client:
        if as_json:
            raw.verbatim(client.ask_search(query, **options))
            return
        pages = pages_of(client.search(query, **options), every=every)
        if as_lines:
            write_lines(pages)
            return
        page = make_printer()
        count, last = write_items(page, pages, _hit_lines)
        write_end(page, last, _total(count, last))
        if not count:
            page.command("fields", next_command("schema"))


def _hit_lines(page: Printer, number: int, hit: Hit) -> None:
    id = spelled_id(hit.id)
    if hit.excerpts:
        _evidence(page, number, id, hit.excerpts[0])
    else:
        matched = ", ".join(hit.matched_fields)
        where = f" · matched in {matched} only, no passage" if matched else " · no passage"
        page.line(f"{number}. ", StyledText(id, "id"), where)
        page.command("read", next_command("fetch", id), _INDENT)
    title: list[Cell] = [] if hit.title is None else [StyledText(quote(hit.title), "title"), " · "]
    lacks = f"lacks {', '.join(hit.missing)}" if hit.missing else None
    source = (hit.connector_key, hit.display_name, hit.stream, hit.event_time, lacks)
    page.line(*title, " · ".join(part for part in source if part is not None), indent=_INDENT)


def _evidence(page: Printer, number: int, id: str, part: Excerpt) -> None:
    page.line(f"{number}. {part.field_path}{_range(part)} in ", StyledText(id, "id"))
    page.line(*quoted(part, excerpt_pieces(part), coloured=page.coloured), indent=_INDENT)
    page.command("read", window_command(id, part), _INDENT)


def _range(part: Excerpt) -> str:
    if part.start_chars is None:
        return ""
    return f" {part.start_chars}–{part.end_chars} of {part.total_chars}"


def window_command(id: str, part: Excerpt) -> str:
    """Return the command that reads around a passage, as the server says it is read."""
    offset, limit = part.read
    return next_command(
        "window",
        id,
        part.field_path,
        offset=part.start_chars if offset is None else offset,
        limit=None if limit == DEFAULT_LIMIT else limit,
    )


def _total(count: int, page: Page[Hit]) -> str:
    hits = counted(count, "hit")
    if page.count is not None:
        total = hits if page.count == count else f"{count:,} of {counted(page.count, 'hit')}"
        return f"{total}, all matches ranked."
    return f"{hits}." if count else "No hits."
