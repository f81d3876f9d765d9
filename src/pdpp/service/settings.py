"""Settings: every limit of the resource server in one value."""

from dataclasses import dataclass, field

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.throttle import ADDRESS, TOTAL, GuessPace
from pdpp.credentials import HERE
from pdpp.model.instant import DAY
from pdpp.receipts.recorder import ReceiptPolicy


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits and lifetimes; times are in seconds unless they say otherwise."""

    origin: str = HERE
    public: bool = False
    """Whether the origin was configured; where it was not, a trusted proxy may name another."""
    trusted_proxies: tuple[str, ...] = ()
    client_documents: bool = False
    """Whether clients may be known by a document that is fetched from another machine."""
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    oauth_requests_per_second: float = 20.0
    oauth_request_burst: int = 200
    registrations_per_minute: float = 10.0
    registration_burst: int = 30
    login: GuessPace = ADDRESS
    all_logins: GuessPace = TOTAL
    body_bytes: int = 64 << 20
    line_bytes: int = 8 << 20
    blob_bytes: int = 4 << 30
    text_blob_bytes: int = 16 << 20
    requests_per_second: float = 200.0
    request_burst: int = 600
    inline_seconds: float = 0.005
    read_seconds: float = 10.0
    read_lag_seconds: float = 0.0
    """How far behind the replica may be that answers a client which tolerates it."""
    concurrent_reads: int = 4
    job_lease_seconds: float = 30.0
    """How long after the death of a worker its jobs wait. A worker that is alive renews its leases
    three times as often; it must not lose one while the machine is busy."""
    bookmark_life: int = 90 * DAY
    receipts: ReceiptPolicy = field(default_factory=ReceiptPolicy)
