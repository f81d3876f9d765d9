"""The table of settings: what a server can be told, in one place for every way of telling it."""

from collections.abc import Mapping
from types import MappingProxyType

from pdpp.authz.lifetime import Lifetimes
from pdpp.configuration.kind import (
    BUCKET,
    DATABASE,
    ENDPOINT,
    FOLDER,
    HOST,
    NAME,
    NETWORKS,
    ORIGIN,
    RATE,
    SECRET,
    SIZE,
    SPAN,
    SWITCH,
    WITNESS,
    choice,
    rate,
    whole,
)
from pdpp.configuration.setting import Setting
from pdpp.credentials import USUAL_PORT
from pdpp.model.instant import SECOND
from pdpp.service.settings import Settings

FILE_NAME = "pdpp.toml"

_LIMITS = Settings()
_LIVES = Lifetimes()


def _span(seconds: float) -> int:
    return round(seconds * SECOND)


SERVING = (
    Setting(
        "data",
        FOLDER,
        None,
        "The data folder.",
        flag=True,
        unset="your platform's folder for data",
        sample="my-data",
    ),
    Setting(
        "database",
        DATABASE,
        None,
        "The PostgreSQL database that holds the records, instead of a file in the data folder. "
        "A password belongs in PDPP_DATABASE, in the settings file or in ~/.pgpass: other users of "
        "the machine see the flags of a command.",
        flag=True,
        unset="a file in the data folder",
        sample="postgresql://pdpp@localhost/pdpp",
    ),
    Setting(
        "database_read",
        DATABASE,
        None,
        "A read replica of the database. It answers reads of clients as long as it has everything "
        "that they could know of, and those of clients that send PDPP-Max-Lag also when it is "
        "behind. Who may read is always decided by the database itself.",
        flag=True,
        unset="the database answers every read",
        sample="postgresql://pdpp@replica/pdpp",
    ),
    Setting(
        "database_read_lag",
        SPAN,
        _span(5),
        "How far the replica may be behind for clients that tolerate it; beyond that the database "
        "answers.",
    ),
    Setting(
        "owner",
        NAME,
        "owner",
        "The owner whose records the server serves from the database; each owner has records, "
        "grants and a passphrase of their own.",
        flag=True,
    ),
    Setting(
        "owners",
        SWITCH,
        False,
        "Serve every owner of the database, each at an address of their own, see owners_by.",
        flag=True,
    ),
    Setting(
        "owners_by",
        choice("host", "path"),
        "host",
        "Where owners are: each at a host name below that of public_url (NAME.data.example.org), "
        "or each below a path of it (data.example.org/NAME). Browsers keep host names apart from "
        "each other, and not paths.",
        flag=True,
    ),
    Setting(
        "blobs",
        BUCKET,
        None,
        "The bucket of an S3-compatible object store that has files of more than 1 MiB, for a "
        "server with a database. Everything in it is sealed with a key from the database. Needs "
        "the extra s3.",
        flag=True,
        unset="a folder in the data folder",
        sample="s3://my-bucket/pdpp",
    ),
    Setting(
        "blobs_endpoint",
        ENDPOINT,
        None,
        "The address of the object store.",
        unset="that of AWS, or AWS_ENDPOINT_URL",
        sample="https://s3.example.org",
    ),
    Setting(
        "blobs_region",
        NAME,
        None,
        "The region of the bucket.",
        unset="AWS_REGION, or us-east-1",
        sample="eu-central-1",
    ),
    Setting(
        "blobs_key_id",
        NAME,
        None,
        "The id of the key that opens the bucket.",
        unset="AWS_ACCESS_KEY_ID, or what the machine is given",
        sample="AKIA",
    ),
    Setting(
        "blobs_key_secret",
        SECRET,
        None,
        "The secret of that key. Set it in the environment or in the settings file, which only you "
        "can read; it is never shown.",
        unset="AWS_SECRET_ACCESS_KEY, or what the machine is given",
        sample="secret",
    ),
    Setting("host", HOST, "127.0.0.1", "The address to listen on.", flag=True),
    Setting(
        "port",
        whole(0, 65_535),
        USUAL_PORT,
        "The port to listen on; 0 picks a free one.",
        flag=True,
    ),
    Setting(
        "public_url",
        ORIGIN,
        None,
        "The address at which others reach this server; its metadata, challenges and "
        "citations name it.",
        flag=True,
        unset="the address it listens on",
        sample="https://data.example.org",
    ),
    Setting(
        "trusted_proxy",
        NETWORKS,
        (),
        "Proxies that may say which scheme and host the caller used; the server believes no other.",
        flag=True,
        unset="none",
    ),
    Setting(
        "client_documents",
        SWITCH,
        False,
        "Whether agents may name themselves by the address of a document, which this server "
        "fetches. Turn it on only where the server can reach the agents' makers (claude.ai, "
        "chatgpt.com); pdpp doctor tries it. Without it agents register here, which always works.",
    ),
    Setting(
        "workers",
        whole(1, 64),
        1,
        "Processes that answer. Each keeps its own count for rate_limit and for wrong passphrases; "
        "with a database they share it.",
        flag=True,
    ),
    Setting(
        "rate_limit",
        RATE,
        _LIMITS.requests_per_second,
        "Requests each grant may make.",
        flag=True,
    ),
    Setting(
        "request_burst",
        whole(1, 10_000_000),
        None,
        "Requests each grant may make at once before rate_limit holds it back.",
        unset="what rate_limit gives in 3 seconds",
        sample=_LIMITS.request_burst,
    ),
)

LOGS = (
    Setting(
        "log_level",
        choice("debug", "info", "warning", "error"),
        "warning",
        "The lowest level that is written to the log, which is standard error.",
        flag=True,
    ),
    Setting(
        "log_format",
        choice("auto", "text", "json"),
        "auto",
        "One JSON object a line, or text; auto is text on a terminal and JSON elsewhere.",
        flag=True,
    ),
    Setting(
        "access_log",
        SWITCH,
        False,
        "Log every request: its id, method, route, status and time, never its query or token.",
        flag=True,
    ),
)

LIMITS = (
    Setting("body_bytes", SIZE, _LIMITS.body_bytes, "The longest body of one ingest."),
    Setting("line_bytes", SIZE, _LIMITS.line_bytes, "The longest record that is ingested."),
    Setting("blob_bytes", SIZE, _LIMITS.blob_bytes, "The largest file that is stored."),
    Setting(
        "text_blob_bytes",
        SIZE,
        _LIMITS.text_blob_bytes,
        "The largest stored file that is still served as text, window by window.",
    ),
    Setting(
        "inline_time",
        SPAN,
        _span(_LIMITS.inline_seconds),
        "How long a read may hold up the others before it moves to a thread of its own.",
        field="inline_seconds",
    ),
    Setting(
        "read_time",
        SPAN,
        _span(_LIMITS.read_seconds),
        "How long a read may take before it is ended with 503.",
        field="read_seconds",
    ),
    Setting(
        "concurrent_reads",
        whole(1, 256),
        _LIMITS.concurrent_reads,
        "Threads for reads that take long.",
    ),
    Setting(
        "job_lease",
        SPAN,
        _span(_LIMITS.job_lease_seconds),
        "How long after the death of a worker another one waits before it continues its jobs.",
        field="job_lease_seconds",
    ),
    Setting(
        "bookmark_life",
        SPAN,
        _LIMITS.bookmark_life,
        "How long a bookmark of changes_since is good, and traces of deleted records are kept.",
    ),
    Setting(
        "oauth_rate_limit",
        RATE,
        _LIMITS.oauth_requests_per_second,
        "Requests each address may make to the authorization server.",
        field="oauth_requests_per_second",
    ),
    Setting(
        "oauth_burst",
        whole(1, 10_000_000),
        _LIMITS.oauth_request_burst,
        "Such requests an address may make at once.",
        field="oauth_request_burst",
    ),
    Setting(
        "registration_rate_limit",
        rate("m"),
        _LIMITS.registrations_per_minute,
        "Clients each address may register.",
        field="registrations_per_minute",
    ),
    Setting(
        "registration_burst",
        whole(1, 10_000_000),
        _LIMITS.registration_burst,
        "Clients an address may register at once.",
    ),
    Setting(
        "login_tries",
        whole(1, 1_000_000),
        _LIMITS.login.free,
        "Wrong passphrases that an address may try at once; each more doubles its pause.",
        field="login.free",
    ),
    Setting(
        "login_pause", SPAN, _LIMITS.login.longest, "The longest such pause.", field="login.longest"
    ),
    Setting(
        "all_login_tries",
        whole(1, 1_000_000),
        _LIMITS.all_logins.free,
        "Wrong passphrases that all addresses together may try at once.",
        field="all_logins.free",
    ),
    Setting(
        "all_login_pause",
        SPAN,
        _LIMITS.all_logins.longest,
        "The longest pause for all of them.",
        field="all_logins.longest",
    ),
    Setting(
        "receipts_rows",
        whole(1_000, 1_000_000_000),
        _LIMITS.receipts.most_rows,
        "Receipts that are kept; the oldest go first.",
        field="receipts.most_rows",
    ),
    Setting(
        "receipts_bytes",
        SIZE,
        _LIMITS.receipts.most_bytes,
        "Bytes that receipts may take; the oldest go first.",
        field="receipts.most_bytes",
    ),
    Setting(
        "receipts_witness",
        WITNESS,
        _LIMITS.receipts.witness,
        "A file, or an https address, that is told the end of the log every minute.",
        field="receipts.witness",
        unset="nobody is told",
        sample="/srv/witness/pdpp.log",
    ),
)

LIFETIMES = (
    Setting("access_life", SPAN, _LIVES.access, "How long an access token is good."),
    Setting("refresh_life", SPAN, _LIVES.refresh, "How long a refresh token is good."),
    Setting("code_life", SPAN, _LIVES.code, "How long an authorization code is good."),
    Setting("pushed_life", SPAN, _LIVES.pushed, "How long a pushed request is good."),
    Setting("device_life", SPAN, _LIVES.device, "How long a device's code can be approved."),
    Setting(
        "device_poll",
        SPAN,
        _LIVES.poll,
        "How long a device waits between two questions.",
        field="poll",
    ),
    Setting(
        "refresh_grace",
        SPAN,
        _LIVES.grace,
        "How long a refresh whose answer was lost may be tried again.",
        field="grace",
    ),
    Setting("session_life", SPAN, _LIVES.session, "How long the owner stays logged in."),
    Setting(
        "shared_session_life",
        SPAN,
        _LIVES.shared_session,
        "The same at an http address whose cookies other ports of the host get, too.",
    ),
    Setting(
        "browser_life",
        SPAN,
        _LIVES.browser,
        "How long a browser that logged in is known, so that strangers do not slow it down.",
    ),
    Setting("login_code_life", SPAN, _LIVES.login_code, "How long pdpp owner code's code is good."),
    Setting("review_life", SPAN, _LIVES.review, "How long a request waits for your decision."),
    Setting(
        "document_life", SPAN, _LIVES.document, "How long a fetched client document is remembered."
    ),
    Setting(
        "idle_client_life",
        SPAN,
        _LIVES.idle_client,
        "How long a client that never got an approval is kept.",
    ),
)

GROUPS: Mapping[str, tuple[Setting, ...]] = MappingProxyType(
    {"Serving": SERVING, "Logs": LOGS, "Limits": LIMITS, "Lifetimes": LIFETIMES}
)
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {setting.name: setting for group in GROUPS.values() for setting in group}
)
