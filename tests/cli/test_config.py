import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp, pdpp_here

from pdpp.cli.config import example_lines
from pdpp.configuration.effective import configure
from pdpp.configuration.table import SETTINGS


def shown(*arguments: str | Path, env: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the settings that the program shows, by name."""
    document = pdpp("config", "show", "--json", *arguments, env=env).document
    return {setting["name"]: setting for setting in document["settings"]}


def test_every_setting_is_shown_with_its_value_and_where_it_came_from(tmp_path: Path) -> None:
    file = tmp_path / "pdpp.toml"
    file.write_text('host = "::1"\nread_time = "3s"\n')
    found = shown("--data", tmp_path, "--workers", "2", env={"PDPP_RATE_LIMIT": "5/s"})
    assert found.keys() == SETTINGS.keys()
    told = {name: (setting["value"], setting["from"]) for name, setting in found.items()}
    assert told["host"] == ("::1", f"{file}, line 1")
    assert told["read_time"] == ("3s", f"{file}, line 2")
    assert told["rate_limit"] == ("5/s", "PDPP_RATE_LIMIT")
    assert told["workers"] == (2, "--workers")
    assert told["data"] == (str(tmp_path), "--data")
    assert told["port"] == (7377, "default")
    assert told["public_url"] == (None, "default")
    assert found["port"]["variable"] == "PDPP_PORT"


def test_a_person_sees_a_table_and_the_file_that_was_read(tmp_path: Path) -> None:
    none = pdpp_here("config", "show", data=tmp_path).out
    assert re.search(r"^public_url +the address it listens on +default$", none, re.MULTILINE)
    assert none.endswith("\nNo file was read.\n")
    (tmp_path / "pdpp.toml").write_text("access_log = true")
    ended = pdpp_here("config", "show", data=tmp_path).out
    assert re.search(r"^access_log +true +\S+, line 1$", ended, re.MULTILINE)
    assert ended.endswith(f"\nRead: {tmp_path / 'pdpp.toml'}\n")


def test_no_store_is_made_by_looking_at_settings(tmp_path: Path) -> None:
    assert pdpp_here("config", "show", data=tmp_path / "none").code == 0
    assert not (tmp_path / "none").exists()


def test_a_mistake_in_the_file_is_one_line_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "pdpp.toml"
    file.write_text("\nprot = 80\n")
    for command in (("config", "show"), ("serve",)):
        told = pdpp_here(*command, data=tmp_path).failed()
        assert told == f"{file}, line 2: there is no setting 'prot'; did you mean 'port'?"
    told = pdpp("serve", "--json", data=tmp_path).err
    assert json.loads(told)["error"]["code"] == "misconfigured"


def test_a_mistake_in_a_flag_is_wrong_usage(tmp_path: Path) -> None:
    told = pdpp_here("serve", "--workers", "0", data=tmp_path).failed(code=64)
    assert "'0' is not a whole number from 1 to 64. See pdpp serve --help." in told


def test_a_variable_that_is_almost_a_setting_is_remarked_on_stderr(tmp_path: Path) -> None:
    ended = pdpp("config", "show", data=tmp_path, env={"PDPP_RATELIMIT": "5/s"})
    assert ended.code == 0
    assert ended.err == (
        "PDPP_RATELIMIT is no setting and has no effect; did you mean PDPP_RATE_LIMIT?\n"
    )


def test_the_example_changes_nothing_as_it_is() -> None:
    text = pdpp_here("config", "example").out
    assert text == "\n".join([*example_lines(), ""])
    assert tomllib.loads(text) == {}
    assert max(map(len, text.splitlines())) <= 100


def test_the_example_is_right_with_every_line_in_use(tmp_path: Path) -> None:
    lines = [line[1:] if re.match(r"#[a-z]", line) else line for line in example_lines()]
    file = tmp_path / "all.toml"
    file.write_text("\n".join(lines))
    assert tomllib.loads(file.read_text()).keys() == SETTINGS.keys()
    found = configure({"config": file}, {}, tmp_path)
    assert found["data"] == tmp_path / "my-data"
    for name, setting in SETTINGS.items():
        assert setting.default is None or found[name] == setting.default, name


@pytest.mark.parametrize("flag", ["--access-log", "--no-access-log"])
def test_a_switch_is_a_flag_and_its_opposite(flag: str, tmp_path: Path) -> None:
    found = shown("--data", tmp_path, flag, env={"PDPP_ACCESS_LOG": "true"})
    assert found["access_log"]["value"] is (flag == "--access-log")
    assert found["access_log"]["from"] == "--access-log"
