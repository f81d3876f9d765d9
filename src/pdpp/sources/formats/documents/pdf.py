"""PDF: the text of each page, by a library in pure Python."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from io import BytesIO
from typing import Any

from pdpp.sources.formats.documents.pdfnotes import written_lines
from pdpp.sources.formats.documents.text import NotReadable, PagedText
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.times import local_text


def read_pdf(content: bytes) -> PagedText:
    """Return the text of a document and what it says of itself."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # What is wrong is told in the report.
    failures = (PyPdfError, OSError, NotImplementedError, AssertionError, *SURPRISES)
    document = PagedText()
    try:
        reader = PdfReader(BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise NotReadable("a document with a password")
        count = len(reader.pages)
    except failures as problem:
        raise NotReadable("a document that is damaged") from problem
    document.take(_pages(document, reader, count, failures))
    _keep_properties(document, reader, failures)
    return document


def _pages(
    document: PagedText, reader: Any, count: int, failures: tuple[type[Exception], ...]
) -> Iterator[str | None]:
    for number in range(count):
        try:
            text = reader.pages[number].extract_text()
        except failures:
            yield None
            continue
        written = list(written_lines(reader.pages[number], failures))
        document.lost_notes += written.count(None)
        yield "\n".join([text, *filter(None, written)])


def _keep_properties(
    document: PagedText, reader: Any, failures: tuple[type[Exception], ...]
) -> None:
    def property_of(read: Callable[[Any], Any]) -> Any:
        try:
            return read(reader.metadata) if reader.metadata is not None else None
        except failures:
            return None

    document.title = str(property_of(lambda properties: properties.title) or "").strip()
    document.author = str(property_of(lambda properties: properties.author) or "").strip()
    document.created = _moment(property_of(lambda properties: properties.creation_date))
    document.modified = _moment(property_of(lambda properties: properties.modification_date))


def _moment(value: object) -> str | None:
    return local_text(value, None)[0] if isinstance(value, datetime) else None
