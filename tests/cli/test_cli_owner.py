import os
import pty
import re
import select
import time
from pathlib import Path

import httpx
import pytest
from tests.cli.shell import DEADLINE_SECONDS, pdpp, pdpp_here, serving, started
from tests.engine import open_store

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.owner import Owner
from pdpp.authz.throttle import Throttle
from pdpp.model import instant

GOOD = "four plain words here"


def lets_in(data: Path, passphrase: str) -> bool:
    """Tell whether a passphrase is the owner's."""
    store = open_store(data)
    try:
        owner = Owner(store.vault, instant.now, Lifetimes(), Throttle(instant.now))
        return owner.knows(owner.log_in(passphrase, "here"))
    except Exception:  # noqa: BLE001 - whatever is refused does not let in
        return False
    finally:
        store.close()


def test_a_passphrase_is_read_from_standard_input(diary: Path) -> None:
    done = pdpp("owner", "init", "--passphrase-file", "-", data=diary, stdin=f"{GOOD}\r\n".encode())
    assert done.code == 0
    assert GOOD not in done.out + done.err
    assert lets_in(diary, GOOD)
    assert not lets_in(diary, "another")


def test_a_passphrase_is_read_from_the_first_line_of_a_file(diary: Path, tmp_path: Path) -> None:
    file = tmp_path / "passphrase"
    file.write_text(f"{GOOD}\nsecond line\n")
    done = pdpp_here("owner", "init", "--passphrase-file", file, "--json", data=diary)
    assert done.document == {"owner": "ready"}
    assert lets_in(diary, GOOD)


def test_a_passphrase_is_replaced_only_when_asked_to(diary: Path) -> None:
    init = ("owner", "init", "--passphrase-file", "-")
    assert pdpp_here(*init, data=diary, stdin=GOOD.encode()).code == 0
    told = pdpp_here(*init, data=diary, stdin=b"another good one").failed()
    assert "pdpp owner init --reset" in told
    assert lets_in(diary, GOOD)
    assert pdpp_here(*init, "--reset", data=diary, stdin=b"another good one").code == 0
    assert lets_in(diary, "another good one")
    assert not lets_in(diary, GOOD)


def test_another_passphrase_ends_every_login(diary: Path) -> None:
    init = ("owner", "init", "--reset", "--passphrase-file", "-")
    assert pdpp_here(*init, data=diary, stdin=GOOD.encode()).code == 0
    store = open_store(diary)
    owner = Owner(store.vault, instant.now, Lifetimes(), Throttle(instant.now))
    secret = owner.log_in(GOOD, "here")
    assert pdpp_here(*init, data=diary, stdin=GOOD.encode()).code == 0
    known = owner.knows(secret)
    store.close()
    assert not known


@pytest.mark.parametrize("given", [b"", b"short\n"])
def test_a_short_passphrase_is_refused_with_advice(diary: Path, given: bytes) -> None:
    told = pdpp_here("owner", "init", "--passphrase-file", "-", data=diary, stdin=given).failed()
    assert "at least 12 characters" in told


def test_without_a_terminal_the_file_is_asked_for(diary: Path) -> None:
    told = pdpp_here("owner", "init", data=diary, stdin=GOOD.encode()).failed(code=64)
    assert "--passphrase-file" in told


def test_no_option_takes_the_passphrase_itself(diary: Path) -> None:
    assert "No such option" in pdpp_here("owner", "init", "--passphrase", GOOD, data=diary).failed(
        code=64
    )


def test_in_a_terminal_it_is_asked_for_twice_and_not_shown(diary: Path) -> None:
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with started("owner", "init", "--data", diary, start_new_session=True, **streams) as process:
        os.close(theirs)
        seen = _read_until(ours, b"Passphrase: ")
        os.write(ours, f"{GOOD}\n".encode())
        seen += _read_until(ours, b"The same again: ")
        os.write(ours, f"{GOOD}\n".encode())
        seen += _read_until(ours, b"The passphrase is set")
        assert process.wait(timeout=DEADLINE_SECONDS) == 0
    os.close(ours)
    assert GOOD.encode() not in seen
    assert lets_in(diary, GOOD)


def _read_until(terminal: int, wanted: bytes) -> bytes:
    deadline, seen = time.monotonic() + DEADLINE_SECONDS, b""
    while wanted not in seen:
        assert time.monotonic() < deadline, seen
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 4_096)
    return seen


def test_the_printed_code_lets_the_person_at_the_machine_in_once(
    diary: Path, tmp_path: Path
) -> None:
    without = pdpp_here("owner", "code", data=diary).failed()
    assert "there is no passphrase yet" in without
    given = f"{GOOD}\n".encode()
    assert pdpp_here("owner", "init", "--passphrase-file", "-", data=diary, stdin=given).code == 0
    with serving(diary, tmp_path / "notes") as served:
        printed = pdpp_here("owner", "code", "--json", data=diary).document["code"]
        url = served.url
        for expected in (303, 401):
            with httpx.Client(base_url=url, headers={"Origin": url}) as browser:
                page = browser.get("/agents")
                form = page.text[page.text.index("<details") :]
                hidden = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
                answer = browser.post("/agents", data={**hidden, "login_code": printed})
                assert answer.status_code == expected
                assert (browser.get("/agents").status_code == 200) == (expected == 303)
        log = served.err.read_text() + served.out.read_text()
        assert printed not in log
