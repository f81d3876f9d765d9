"""Plain texts: lines that were broken only for the way, and files that are written into them."""

import binascii
import re
from collections.abc import Iterator

_SIGNATURE = "-- "
_BEGIN = re.compile(r"begin [0-7]{3,4} (\S.{0,200})")


def rejoined(text: str, *, drops_space: bool) -> str:
    """Return a text of ``format=flowed`` with its paragraphs as they were typed (RFC 3676)."""
    paragraphs: list[list[str]] = []
    depth_before, flows = 0, False
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        words = line[depth:].removeprefix(" ")
        if not flows or depth != depth_before or words == _SIGNATURE:
            paragraphs.append([f"{'>' * depth} " if depth else ""])
        flows, depth_before = words.endswith(" ") and words != _SIGNATURE, depth
        paragraphs[-1].append(words[:-1] if flows and drops_space else words)
    return "\n".join("".join(paragraph) for paragraph in paragraphs)


def taken_out(text: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Return a text without the files that old programs wrote into it (uuencode), and these."""
    files: list[tuple[str, bytes]] = []
    if "begin " not in text:
        return text, files
    kept: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        begin = _BEGIN.fullmatch(line)
        if begin is None:
            kept.append(line)
            continue
        inner, content = _until_end(lines)
        if content is None:
            kept += [line, *inner]
        else:
            files.append((begin.group(1).strip(), content))
    return "\n".join(kept).strip() if files else text, files


def _until_end(lines: Iterator[str]) -> tuple[list[str], bytes | None]:
    """Return the lines of a file up to its end, and its content where they are of one."""
    taken: list[str] = []
    pieces: list[bytes] = []
    for line in lines:
        taken.append(line)
        if line.rstrip() == "end":
            return taken, b"".join(pieces)
        try:
            pieces.append(_line_bytes(line))
        except (binascii.Error, ValueError):
            break
    return taken, None


def _line_bytes(line: str) -> bytes:
    raw = line.rstrip().encode("ascii")
    if not raw:
        return b""
    # Some programs write more letters than the first one of a line says.
    return binascii.a2b_uu(raw[: 1 + ((raw[0] - 32 & 63) * 4 + 5) // 3])
