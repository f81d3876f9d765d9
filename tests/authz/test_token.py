import hashlib

from pdpp.authz.token import TokenKind, hash_token, mint


def test_a_token_is_kept_only_as_its_hash() -> None:
    secret, token = mint(TokenKind.CLIENT, "app", 5, grant_id="g", expires_at=9)
    assert token.hash == hash_token(secret) == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in repr(token)
    assert (token.kind, token.label, token.created_at) == ("client", "app", 5)
    assert (token.grant_id, token.expires_at, token.revoked_at) == ("g", 9, None)


def test_a_token_tells_its_kind_and_is_never_made_twice() -> None:
    secrets = {mint(TokenKind.OWNER, "console", 0)[0] for _ in range(50)}
    assert len(secrets) == 50
    assert all(secret.startswith("pdpp_owner_") and len(secret) > 50 for secret in secrets)


def test_a_package_token_is_bound_to_its_package() -> None:
    secret, token = mint(TokenKind.PACKAGE, "app", 0, package_id="p")
    assert secret.startswith("pdpp_package_")
    assert (token.kind, token.package_id, token.grant_id) == ("mcp_package", "p", None)


def test_any_text_has_a_hash() -> None:
    assert len(hash_token("\ud800")) == 64
