"""Presence: who is at work on a file is known from locks, also across processes."""

import threading
from pathlib import Path

from pdpp.store.sqlite.presence import Presence


def test_the_first_is_alone_and_the_second_is_not(tmp_path: Path) -> None:
    one, two = Presence(tmp_path / "lock"), Presence(tmp_path / "lock")
    assert one.enter()
    one.welcome()
    assert not two.enter()
    one.leave()
    two.leave()
    two.leave()
    assert one.enter()
    one.leave()
    one.welcome()


def test_whoever_comes_waits_until_the_first_has_looked_around(tmp_path: Path) -> None:
    one, two = Presence(tmp_path / "lock"), Presence(tmp_path / "lock")
    assert one.enter()
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(two.enter()))
    thread.start()
    thread.join(0.1)
    assert thread.is_alive()
    one.welcome()
    thread.join(20)
    assert found == [False]
    one.leave()
    two.leave()
