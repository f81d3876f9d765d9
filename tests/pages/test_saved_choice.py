"""Choices that are saved on one consent page and used on the next."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pages.house import House, Reader, Sheet, housed

from pdpp.pages.saved_choice import saved_choices


@pytest.fixture(scope="module")
def saving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with housed(Path(tmp_path_factory.mktemp("saving")) / "store") as made:
        yield made


@pytest.fixture(scope="module")
def chooser(saving: House) -> Reader:
    return saving.owner()


def ticked(page: Sheet, name: str) -> set[str]:
    return {str(node.attributes["value"]) for node in page.tree.css(f"input[name={name}][checked]")}


def save(page: Sheet, name: str) -> Sheet:
    boxes = (("connection", "cin_notes"), ("connection", "cin_photos"))
    return page.send(tick=boxes, action="save", save_as=name, span="30d")


def test_choices_are_saved_used_and_forgotten(saving: House, chooser: Reader) -> None:
    page = chooser.get(saving.ask(name="First"))
    saved = save(page, " Notes  and photos ")
    assert saved.status == 200
    assert "code=" not in saved.answer.text
    assert list(saved_choices(saving.store.vault)) == ["Notes and photos"]
    other = chooser.get(saving.ask(name="Second"))
    assert ticked(other, "connection") == set()
    used = other.send(action="saved:Notes and photos")
    assert ticked(used, "connection") == {"cin_notes", "cin_photos"}
    assert ticked(used, "span") == {"30d"}
    assert "2 accounts" in used.text
    gone = used.send(action="forget:Notes and photos")
    assert saved_choices(saving.store.vault) == {}
    assert ticked(gone, "connection") == {"cin_notes", "cin_photos"}
    assert gone.send(action="saved:Notes and photos").status == 400


def test_a_choice_needs_a_name_and_a_tick(saving: House, chooser: Reader) -> None:
    page = chooser.get(saving.ask())
    nameless = save(page, " ")
    assert nameless.status == 400
    assert "Give these choices a name" in nameless.text
    assert ticked(nameless, "connection") == {"cin_notes", "cin_photos"}
    assert page.send(action="save", save_as="Nothing").status == 400
    assert saved_choices(saving.store.vault) == {}


def test_what_is_gone_is_not_opened_by_a_saved_choice(tmp_path: Path) -> None:
    with housed(tmp_path / "store") as house:
        reader = house.owner()
        save(reader.get(house.ask()), "Both")
        house.store.remove_connection("cin_photos")
        used = reader.get(house.ask()).send(action="saved:Both")
        assert ticked(used, "connection") == {"cin_notes"}
