from pathlib import Path

import httpx
from tests.cli.shell import Served, pdpp, pdpp_here, serving

ASK = (
    "grant",
    "create",
    "--client",
    "my-agent",
    "--purpose",
    "Answer my questions",
    "--everything",
    "--json",
)


def introspect(served: Served, secret: str, token: str) -> httpx.Response:
    return httpx.post(
        f"{served.url}/oauth/introspect",
        data={"token": token},
        headers={"Authorization": f"Bearer {secret}"},
        trust_env=False,
    )


def test_the_secret_of_a_resource_server_asks_about_tokens_and_reads_nothing(
    diary: Path, tmp_path: Path
) -> None:
    made = pdpp("owner", "resource-server", "--label", "archive", data=diary)
    secret = made.out.strip()
    assert secret.startswith("pdpp_resource_server_")
    assert "not shown again" in made.err
    grant = pdpp_here(*ASK, data=diary).document
    with serving(diary, tmp_path / "notes") as served:
        told = introspect(served, secret, grant["client_token"]).json()
        assert served.get("/v1/streams", secret).status_code == 403
        refused = introspect(served, grant["client_token"], secret)
    assert told["active"] is True
    assert told["grant_id"] == grant["grant_id"]
    assert refused.status_code == 401


def test_the_secret_may_end(diary: Path) -> None:
    asked = ("owner", "resource-server", "--label", "archive", "--expires", "1d", "--json")
    told = pdpp_here(*asked, data=diary).document
    assert told["resource_server_secret"].startswith("pdpp_resource_server_")
    assert told["label"] == "archive"
    assert told["expires_at"] is not None
