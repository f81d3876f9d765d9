from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from pdpp.authz.lifetime import Lifetimes
from pdpp.configuration.database import DatabaseAddress
from pdpp.configuration.effective import (
    Configuration,
    configure,
    configured_bucket,
    configured_database,
)
from pdpp.configuration.kind import Value
from pdpp.configuration.table import LIFETIMES, LIMITS, SETTINGS
from pdpp.model.errors import Misconfigured
from pdpp.model.instant import DAY, SECOND
from pdpp.service.settings import Settings
from pdpp.store.bucket import BucketAddress

ORIGIN = "http://127.0.0.1:7377"


def effective(
    folder: Path, text: str | None = None, *, env: dict[str, str] | None = None, **flags: Value
) -> Configuration:
    """Return what holds with a file in the data folder, an environment and flags."""
    if text is not None:
        (folder / "pdpp.toml").write_text(text, encoding="utf-8")
    return configure(flags, env or {}, folder)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(Misconfigured) as refused:
        effective(folder, text)
    return refused.value.message.removeprefix(str(folder / "pdpp.toml"))


def test_without_a_word_the_defaults_hold(tmp_path: Path) -> None:
    found = effective(tmp_path)
    assert found.settings(ORIGIN) == Settings()
    assert found.lifetimes() == Lifetimes()
    assert {chosen.origin for chosen in found.chosen.values()} == {"default"}
    assert found["data"] == tmp_path
    assert (found.file, found.remarks) == (None, ())


def test_a_flag_wins_over_the_environment_which_wins_over_the_file(tmp_path: Path) -> None:
    text = 'port = 1\nhost = "::1"\nworkers = 2\n'
    env = {"PDPP_PORT": "2", "PDPP_HOST": "localhost"}
    found = effective(tmp_path, text, env=env, port=3)
    assert found.chosen["port"] == (3, "--port")
    assert found.chosen["host"] == ("localhost", "PDPP_HOST")
    assert found.chosen["workers"] == (2, f"{tmp_path / 'pdpp.toml'}, line 3")
    assert found.chosen["rate_limit"].origin == "default"
    assert found.file == tmp_path / "pdpp.toml"


def test_an_empty_variable_says_nothing(tmp_path: Path) -> None:
    assert effective(tmp_path, env={"PDPP_PORT": ""}).chosen["port"] == (7377, "default")


def test_settings_reach_the_server_and_the_authorization_server(tmp_path: Path) -> None:
    text = (
        'public_url = "https://data.example"\nrate_limit = "10/s"\nread_time = "2s"\n'
        'body_bytes = "1 MiB"\nbookmark_life = "7d"\naccess_life = "5m"\nrefresh_grace = 10\n'
        'device_poll = "7s"\nreceipts_rows = 5000\nregistration_rate_limit = "3/m"\n'
        'trusted_proxy = ["10.0.0.1"]\nlogin_tries = 2\nall_login_pause = "5m"\n'
    )
    found = effective(tmp_path, text)
    settings = found.settings(ORIGIN)
    assert settings.origin == "https://data.example"
    assert (settings.requests_per_second, settings.request_burst) == (10, 30)
    assert (settings.read_seconds, settings.body_bytes) == (2.0, 1 << 20)
    assert settings.bookmark_life == 7 * DAY
    assert (settings.receipts.most_rows, settings.registrations_per_minute) == (5_000, 3)
    assert (settings.public, settings.trusted_proxies) == (True, ("10.0.0.1/32",))
    assert (settings.login.free, settings.login.longest) == (2, 900 * SECOND)
    assert (settings.all_logins.free, settings.all_logins.longest) == (30, 300 * SECOND)
    lives = settings.lifetimes
    assert (lives.access, lives.grace, lives.poll) == (300 * SECOND, 10 * SECOND, 7 * SECOND)


def test_a_replica_comes_with_the_lag_that_it_may_have(tmp_path: Path) -> None:
    text = 'database = "postgresql://a@b/c"\ndatabase_read = "postgresql://a:secret@d/c"\n'
    found = effective(tmp_path, text + 'database_read_lag = "2s"\n')
    database = found.database()
    assert database is not None
    assert (database.replica_url, database.read_lag_seconds) == ("postgresql://a:secret@d/c", 2.0)
    assert found.settings(ORIGIN).read_lag_seconds == 2.0
    assert "secret" not in repr(database)
    assert effective(tmp_path, 'database_read_lag = "2s"').settings(ORIGIN).read_lag_seconds == 0


def test_a_bucket_is_set_in_the_environment_or_in_the_file_and_its_secret_is_never_shown(
    tmp_path: Path,
) -> None:
    text = 'database = "postgresql://a@b/c"\nblobs = "s3://mine/of/pdpp/"\nblobs_key_id = "AK"\n'
    env = {"PDPP_BLOBS_KEY_SECRET": "hush-hush", "PDPP_BLOBS_ENDPOINT": "https://s3.example/"}
    found = effective(tmp_path, text, env=env)
    database = found.database()
    assert database is not None
    assert configured_database(tmp_path, env) == database
    bucket = database.bucket
    assert bucket == BucketAddress("mine", "of/pdpp", "https://s3.example", None, "AK", "hush-hush")
    assert str(bucket) == "s3://mine/of/pdpp"
    assert "hush-hush" not in repr(database)
    assert "hush-hush" not in SETTINGS["blobs_key_secret"].plain("hush-hush")
    assert configured_bucket(tmp_path, {}) == replace(bucket, endpoint=None, key_secret=None)
    assert effective(tmp_path, 'database = "postgresql://a@b/c"').database() == DatabaseAddress(
        "postgresql://a@b/c", "owner"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('blobs = "s3://key:hush@mine/x"', "this is not a bucket such as s3://name/prefix"),
        ('blobs = "https://mine/x"', "is not a bucket such as s3://name/prefix"),
        ('blobs_endpoint = "https://key:hush@mine"', "this is not an address such as"),
        ('blobs_key_secret = "hush\\u0000"', "this is not a secret of 1 to 200 characters"),
    ],
)
def test_a_key_in_the_address_of_a_bucket_is_refused_and_not_repeated(
    text: str, told: str, tmp_path: Path
) -> None:
    refused = refusal(tmp_path, text)
    assert told in refused
    assert "hush" not in refused


def test_a_bucket_without_a_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="only a server with database"):
        effective(tmp_path, 'blobs = "s3://mine"').database()


def test_every_limit_and_every_lifetime_can_be_set() -> None:
    named = {setting.field or setting.name for setting in LIMITS}
    elsewhere = {"origin", "public", "trusted_proxies", "requests_per_second", "request_burst"}
    elsewhere |= {"client_documents", "read_lag_seconds"}
    parts: dict[str, tuple[str, ...]] = {"receipts": ("most_rows", "most_bytes", "witness")}
    parts |= dict.fromkeys(("login", "all_logins"), ("free", "longest"))
    limits = {field.name for field in fields(Settings)} - elsewhere - {"lifetimes", *parts}
    assert limits | {f"{name}.{part}" for name in parts for part in parts[name]} == named
    lives = {setting.field or setting.name.removesuffix("_life") for setting in LIFETIMES}
    assert lives == asdict(Lifetimes()).keys()


def test_a_slow_rate_still_lets_one_request_through(tmp_path: Path) -> None:
    assert effective(tmp_path, "rate_limit = 0.01").settings(ORIGIN).request_burst == 1
    assert effective(tmp_path, "request_burst = 7").settings(ORIGIN).request_burst == 7


def test_a_misspelt_setting_is_told_with_its_line_and_the_nearest_one(tmp_path: Path) -> None:
    text = "# mine\nport = 1\n\nrate_limt = 5\n"
    assert refusal(tmp_path, text) == (
        ", line 4: there is no setting 'rate_limt'; did you mean 'rate_limit'?"
    )


def test_a_setting_like_no_other_is_told_with_where_they_are_listed(tmp_path: Path) -> None:
    told = refusal(tmp_path, 'zzz = "pdpp_owner_secret"')
    assert told == ", line 1: there is no setting 'zzz'; pdpp config show lists them"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('port = "80"', ", line 1: port: '80' is not a whole number from 0 to 65,535"),
        ("\nport = 70000", ", line 2: port: 70000 is not a whole number from 0 to 65,535"),
        ("'port' = true", ", line 1: port: True is not a whole number from 0 to 65,535"),
        ('log_level = "loud"', "'loud' is not one of debug, info, warning, error"),
        ("[server]\nport = 1", ", line 1: 'server' is a table; settings stand alone"),
        ("server.port = 1", ", line 1: 'server' is a table"),
        ('"po\\u0072t2" = 1', ", line 1: there is no setting 'port2'; did you mean 'port'?"),
        ("port = ", " is not TOML: Invalid value (at "),
        ('data = "elsewhere"', ", line 1: a file in the data folder cannot move it; use --data"),
    ],
)
def test_what_no_server_can_do_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    assert told in refusal(tmp_path, text)


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "pdpp.toml").write_bytes(b"\xff")
    with pytest.raises(Misconfigured, match="is not UTF-8"):
        effective(tmp_path)


def test_a_variable_that_makes_no_sense_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"PDPP_WORKERS: 'many' is not a whole number"):
        effective(tmp_path, env={"PDPP_WORKERS": "many"})


def test_a_variable_that_is_almost_a_setting_is_remarked_and_others_are_left_alone(
    tmp_path: Path,
) -> None:
    env = dict.fromkeys(
        ("PDPP_RATELIMIT", "PDPP_CACHE_ROOT", "PDPP_PROVIDER_URL", "PDPP_ZZZ", "PORT"), "5"
    )
    assert effective(tmp_path, env=env).remarks == (
        "PDPP_RATELIMIT is no setting and has no effect; did you mean PDPP_RATE_LIMIT?",
    )


@pytest.mark.parametrize("way", ["flag", "variable"])
def test_a_file_elsewhere_is_read_where_it_is_named_and_may_name_the_data_folder(
    way: str, tmp_path: Path
) -> None:
    named = tmp_path / "etc" / "server.toml"
    named.parent.mkdir()
    named.write_text('data = "records"\nport = 5')
    env = {"PDPP_CONFIG": str(named)} if way == "variable" else {}
    flag = named if way == "flag" else None
    found = effective(tmp_path, "port = 1", env=env, config=flag)
    assert (found.file, found["port"]) == (named, 5)
    assert found["data"] == tmp_path / "etc" / "records"
    assert effective(tmp_path, env=env, config=flag, data=tmp_path)["data"] == tmp_path


def test_the_file_of_the_chosen_data_folder_is_the_one_that_is_read(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "pdpp.toml").write_text("port = 5")
    assert effective(tmp_path, "port = 1", data=other)["port"] == 5
    assert effective(tmp_path, env={"PDPP_DATA": str(other)})["port"] == 5


def test_a_named_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"cannot read .*none\.toml: no such file"):
        effective(tmp_path, config=tmp_path / "none.toml")


def test_names_have_one_spelling_each_way() -> None:
    setting = SETTINGS["public_url"]
    assert (setting.variable, setting.option) == ("PDPP_PUBLIC_URL", "--public-url")
