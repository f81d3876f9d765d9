"""``pdpp read window``: a bounded piece of one field, and the pieces beside it."""

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.reading import raw, read_options
from pdpp.cli.reading.hint import next_command, spelled_id
from pdpp.cli.reading.mark import pieces_of
from pdpp.cli.reading.naming import FieldPiece, Parts, piece_of, usage
from pdpp.cli.reading.printer import Printer, StyledText, make_printer
from pdpp.cli.reading.provider import connected, sourced
from pdpp.client import request
from pdpp.client.client import Client
from pdpp.client.envelope import window_reader
from pdpp.client.request import WindowOptions
from pdpp.client.result import Window
from pdpp.evidence.budget import DEFAULT_LIMIT, MAX_LIMIT


@click.command(
    epilog=examples(
        "pdpp read window cin_home/messages:m-1 body",
        "pdpp read window cin_home/messages:m-1 body --offset 4096 --limit 2000",
        "pdpp read window messages:m-1 body --connection cin_home --query deposit",
        "pdpp read window --connection cin_home --stream messages --record m-1 body",
        codes=REMOTE_CODES,
    )
)
@click.argument("id", required=False)
@click.argument("field", required=False)
@click.option("--offset", type=click.IntRange(0), metavar="N", help="Begin at this character.")
@click.option("--limit", type=click.IntRange(1, MAX_LIMIT), metavar="N", help="How many at most.")
@click.option("--query", metavar="TEXT", help="Read around the first match of these words.")
@click.option(
    "--before",
    type=click.IntRange(0),
    metavar="N",
    help="With --query: characters before the match.",
)
@click.option(
    "--after", type=click.IntRange(0), metavar="N", help="With --query: characters after the match."
)
@click.option("--all", "every", is_flag=True, help="Read the field to its end.")
@read_options.together(
    read_options.connection,
    read_options.stream,
    read_options.record,
    read_options.as_json,
    read_options.as_lines,
)
@sourced
def window(
    id: str | None,
    field: str | None,
    offset: int | None,
    limit: int | None,
    query: str | None,
    before: int | None,
    after: int | None,
    every: bool,
    connection: str | None,
    stream: str | None,
    record: str | None,
    as_json: bool,
    as_lines: bool,
    provider: str | None,
    cache_root: str | None,
) -> None:
    """Read a piece of FIELD of the record ID, by offset or around words.

    ID is connection/stream:record, stream:record with --connection, or a pdpp:// URI.
    """
    read_options.one_form(as_json=as_json, as_lines=as_lines, every=every)
    piece = piece_of(id, field, Parts(connection, stream, record))
    options = _options(piece, offset, limit, query, before, after)
    if every and options.get("query") is not None:
        raise usage("--all reads from an offset on, not around --query")
    with connected(provider, cache_root) as client:
        if as_json:
            raw.verbatim(client.ask(request.window(piece.handle, piece.field, options)))
        elif every:
            _all(client, piece, options, as_lines=as_lines)
        else:
            _one(client, piece, options, as_lines=as_lines)


def _options(
    piece: FieldPiece,
    offset: int | None,
    limit: int | None,
    query: str | None,
    before: int | None,
    after: int | None,
) -> WindowOptions:
    """Return what was chosen; a URI's own choice stands where nothing else was said."""
    return {
        "offset_chars": offset if offset is not None or query is not None else piece.offset,
        "limit_chars": limit if limit is not None or query is not None else piece.limit,
        "query": query if query is not None or offset is not None else piece.query,
        "before_chars": before,
        "after_chars": after,
    }


def _one(client: Client, piece: FieldPiece, options: WindowOptions, *, as_lines: bool) -> None:
    asked = request.window(piece.handle, piece.field, options)
    read = client.ask(asked).parsed(window_reader(piece.handle.connection_id))
    if as_lines:
        raw.one_line(read.raw)
        return
    page = make_printer()
    _head(page, read)
    page.passage(pieces_of(read.text, read.start_chars, read.matches))
    _beside(page, read)


def _all(client: Client, piece: FieldPiece, options: WindowOptions, *, as_lines: bool) -> None:
    """Write a field to its end: one text, or each window as a line of JSON."""
    start = options.get("offset_chars") or 0
    limit = options.get("limit_chars") or MAX_LIMIT
    windows = client.windows(piece.handle, piece.field, offset_chars=start, limit_chars=limit)
    if as_lines:
        for read in windows:
            raw.one_line(read.raw)
        return
    text, last = [], None
    for last in windows:
        text.append(last.text)
    page = make_printer()
    if last is not None:
        _head(page, last._replace(start_chars=start, complete=start == 0))
    page.passage(pieces_of("".join(text), start, ()))


def _head(page: Printer, read: Window) -> None:
    ended = "whole field" if read.complete else "end reached"
    state = "more follows" if read.has_more else ended
    place = f"chars {read.start_chars}–{read.end_chars} of {read.total_chars}, {state}"
    digest = "" if read.digest is None else f" · digest {read.digest}"
    id = StyledText(spelled_id(read.id), "id")
    page.line(id, f" · {read.field_path} · {place}{digest}")
    if read.matches:
        first, *others = (f"{start}–{end}" for start, end in read.matches)
        more = f"; others at {', '.join(others)}" if others else ""
        if read.match_count is None:
            page.line(f"match at {first}{more}")
            return
        left = read.match_count - len(read.matches)
        page.line(f"match 1 of {read.match_count} at {first}{more}{_and_more(left)}")


def _and_more(left: int) -> str:
    return f" and {left} more" if left else ""


def _beside(page: Printer, read: Window) -> None:
    """Offer the piece after this one and the piece before it."""
    id, limit = (
        spelled_id(read.id),
        max(DEFAULT_LIMIT, read.limit_chars or 0),
    )
    sized = None if limit == DEFAULT_LIMIT else min(limit, MAX_LIMIT)
    if read.next_offset_chars is not None:
        following = {"offset": read.next_offset_chars, "limit": sized}
        page.command("read on", next_command("window", id, read.field_path, **following))
    if read.start_chars > 0:
        begin = max(0, read.start_chars - min(limit, MAX_LIMIT))
        size = read.start_chars - begin
        earlier = {"offset": begin, "limit": None if size == DEFAULT_LIMIT else size}
        page.command("before", next_command("window", id, read.field_path, **earlier))
