"""Attached files: how a chat names the file of a message, in whatever language the phone has."""

import re
from collections.abc import Iterator

from pdpp.sources.formats.whatsapp.lines import MARKS, chat_line

_ATTACHED = re.compile(r"<[^<>:：]{2,30}[:：][\s\u200e]*([^<>/\\:]{3,200})>")
_ADDED = re.compile(r"<([^<>/\\:]{3,200}\.\w{2,5}) \w{3,20}>")
_FILE = re.compile(r"\A[\u200e\s]*([^/\\\n]{1,200}\.\w{2,5}) \([^()\n]{4,40}\)(?=\n|\Z)")
_BESIDE_WORDS = re.compile(r"((?:IMG|VID|AUD|PTT|STK|DOC)-\d{8}-WA\d{4}\.\w{2,5})(?!\w)")
"""A name that stands between words, as Tamil and Persian write it."""
_BY_DAY = "-WA"
"""What each such name holds, which is looked for much sooner than the name."""
_MARK = re.compile(f"[{MARKS}]")
_OMITTED = re.compile(r"\A[\u200e\s]*<[^<>:]{4,40}>[^\S\n]*(?=\n|\Z)")
_LEFT_OUT = re.compile(
    r"\u200e[^\n\u200e]{0,40}(?:omitted|weggelassen|absente?|omess[ao]|omitid[ao]|ocultad[ao]|"
    r"não revelad[ao]|vynechán\w*|отсутствует|відсутн\w+|tidak disertakan|weggelaten|"
    r"含まれていません|ไม่มี\w+|đã bỏ qua|हटाई गई|dahil edilmedi|pominięto)",
    re.IGNORECASE,
)


def file_names(line: str) -> Iterator[str]:
    """Yield the names of files that stand in a line of a chat."""
    begun = chat_line(line)
    said = begun.text if begun is not None else line
    patterns = (_ATTACHED, _ADDED, _BESIDE_WORDS)
    for match in (*(pattern.search(line) for pattern in patterns), _FILE.match(said)):
        if match is not None:
            yield match.group(1).strip()


def attached_name(text: str) -> str | None:
    """Return the file that came with a message, where its words leave no doubt."""
    match = _ATTACHED.search(text) or _FILE.match(text)
    return match.group(1).strip() if match else None


def possible_name(text: str) -> str | None:
    """Return what may be the name of such a file, if there is one of that name."""
    match = _ADDED.search(text)
    if match is None and _BY_DAY in text:
        match = _BESIDE_WORDS.search(text.partition("\n")[0])
    return match.group(1).strip() if match else None


def is_left_out(text: str) -> bool:
    """Tell whether a message says that the phone left its file out."""
    return bool(_OMITTED.match(text.lstrip(MARKS)) or _LEFT_OUT.search(text))


def without_file(text: str) -> str:
    """Return what tells a message from others of its moment: its words, and that it had a file.

    The same file is left out of one export and comes with the next, and an iPhone numbers files
    anew in each. It writes words before their file, and Android writes them below it.
    """
    for pattern in (_ATTACHED, _FILE, _OMITTED, _LEFT_OUT):
        if match := pattern.search(text):
            return f"<file> {_plain(text[: match.start()])}{_plain(text[match.end() :])}".rstrip()
    return _plain(text)


def _plain(text: str) -> str:
    return (text if text.isascii() else _MARK.sub("", text)).strip()
