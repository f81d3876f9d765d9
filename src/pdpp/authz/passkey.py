"""Passkeys: the owner's keys in a phone, a computer or a stick, that log in like the passphrase."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from pdpp.authz.short_lived import SecretKind, new_secret
from pdpp.authz.token import hash_token
from pdpp.authz.webauthn import (
    ALGORITHMS,
    CHALLENGE_LIFE,
    AuthenticatorData,
    PasskeyContext,
    check_authenticator,
    check_client_data,
    check_public_key,
    check_signature,
    decode,
    encode,
    is_same_origin,
)
from pdpp.model.errors import AuthenticationError, InvalidRequest
from pdpp.store.vault import Vault, VaultReader, VaultTransaction

MOST_PASSKEYS = 20
MOST_NAME_CHARS = 60
_SETTING = "passkeys"
_NO_PASSKEYS_HERE = "Passkeys do not work at this address."


@dataclass(frozen=True, slots=True)
class Passkey:
    """One passkey, with what is needed to check it; none of it is secret."""

    id: str
    name: str
    rp_id: str
    origin: str
    """The address at which it was made, and the only one at which it logs in.

    Browsers offer a passkey to every port of a host. A program on another port, which names its
    own port to this server and to the browser alike, would otherwise be let in.
    """
    public_key: str
    counter: int
    created_at: int
    used_at: int | None = None


def read_passkeys(vault: VaultReader, rp_id: str | None = None) -> tuple[Passkey, ...]:
    """Return the owner's passkeys, or those of one address."""
    kept = vault.setting(_SETTING)
    passkeys = () if kept is None else tuple(Passkey(**one) for one in orjson.loads(kept))
    return tuple(key for key in passkeys if rp_id is None or key.rp_id == rp_id)


def creation_options(
    vault: VaultReader, context: PasskeyContext, now: int
) -> Mapping[str, Any] | None:
    """Return what a browser is asked for to make a passkey; None where it could not."""
    rp_id = context.rp_id
    if rp_id is None:
        return None
    return {
        "rp": {"id": rp_id, "name": "Your data server"},
        "user": {"id": context.user_id, "name": "owner", "displayName": "Owner"},
        "challenge": context.new_challenge(now),
        "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in ALGORITHMS],
        # Discoverable, so that the login page need not tell strangers the ids of the keys.
        "authenticatorSelection": {"residentKey": "required", "userVerification": "required"},
        "attestation": "none",
        "excludeCredentials": [
            {"type": "public-key", "id": key.id} for key in read_passkeys(vault, rp_id)
        ],
    }


def request_options(
    vault: VaultReader, context: PasskeyContext, now: int
) -> Mapping[str, Any] | None:
    """Return what a browser is asked for to log in; None where no passkey is good here."""
    rp_id = context.rp_id
    passkeys = read_passkeys(vault, rp_id)
    if rp_id is None or not any(is_same_origin(key.origin, context.origin) for key in passkeys):
        return None
    challenge = context.new_challenge(now)
    return {"rpId": rp_id, "challenge": challenge, "userVerification": "required"}


def add_passkey(
    transaction: VaultTransaction, answer: str, name: str, context: PasskeyContext, now: int
) -> Passkey:
    """Keep a new passkey. The caller has checked the passphrase."""
    rp_id = _rp_id(context)
    fields = _fields(answer)
    challenge = check_client_data(fields["client"], "webauthn.create", context, now)
    data = AuthenticatorData.parse(fields["authenticator"])
    check_authenticator(data, rp_id)
    if not data.credential_id or data.credential_id != fields["id"]:
        raise AuthenticationError("The passkey's answer belongs to two different keys. Try again.")
    check_public_key(fields["key"])
    passkey = Passkey(
        encode(data.credential_id),
        " ".join(name.split())[:MOST_NAME_CHARS] or "Passkey",
        rp_id,
        context.origin,
        encode(fields["key"]),
        data.counter,
        now,
    )
    _use_up(transaction, challenge, now)
    others = read_passkeys(transaction)
    if any(other.id == passkey.id for other in others):
        raise InvalidRequest("This passkey is known here already.")
    if len(others) >= MOST_PASSKEYS:
        raise InvalidRequest(f"There are {MOST_PASSKEYS} passkeys; remove one first.")
    _keep(transaction, (*others, passkey))
    return passkey


def remove_passkey(vault: Vault, passkey_id: str) -> None:
    """Forget a passkey: it does not log in any more."""
    with vault.transaction() as transaction:
        passkeys = read_passkeys(transaction)
        rest = tuple(key for key in passkeys if key.id != passkey_id)
        if len(rest) == len(passkeys):
            raise InvalidRequest("There is no such passkey any more.")
        _keep(transaction, rest)


def forget_passkeys(transaction: VaultTransaction) -> None:
    """Forget every passkey: somebody else may have added one."""
    transaction.keep_setting(_SETTING, None)


def use_passkey(
    transaction: VaultTransaction, answer: str, context: PasskeyContext, now: int
) -> None:
    """Refuse an answer that no passkey of the owner's gave, or that was given before."""
    used, challenge = check_passkey(transaction, answer, context, now)
    _use_up(transaction, challenge, now)
    passkeys = read_passkeys(transaction)
    _keep(transaction, tuple(used if key.id == used.id else key for key in passkeys))


def check_passkey(
    vault: VaultReader, answer: str, context: PasskeyContext, now: int
) -> tuple[Passkey, str]:
    """Return the passkey that gave an answer, as it is after that, and what it answered to."""
    rp_id = _rp_id(context)
    fields = _fields(answer)
    challenge = check_client_data(fields["client"], "webauthn.get", context, now)
    passkeys = read_passkeys(vault)
    passkey = next((key for key in passkeys if key.id == encode(fields["id"])), None)
    if passkey is None or not is_same_origin(passkey.origin, context.origin):
        raise AuthenticationError("This server does not know this passkey; perhaps it was removed.")
    check_signature(
        decode(passkey.public_key), fields["signature"], fields["authenticator"], fields["client"]
    )
    data = AuthenticatorData.parse(fields["authenticator"])
    check_authenticator(data, rp_id)
    # A counter that does not grow means that two devices have the key. Zero twice means that the
    # authenticator does not count, as those do not that keep a key on several devices.
    if (passkey.counter or data.counter) and data.counter <= passkey.counter:
        raise AuthenticationError(
            "This passkey may have been copied: log in with the passphrase, and remove it in "
            "the settings."
        )
    return replace(passkey, counter=data.counter, used_at=now), challenge


def _rp_id(context: PasskeyContext) -> str:
    if context.rp_id is None:
        raise InvalidRequest(_NO_PASSKEYS_HERE)
    return context.rp_id


def _fields(answer: str) -> dict[str, bytes]:
    """Return the parts of what the page's script sent."""
    try:
        sent = orjson.loads(answer)
    except orjson.JSONDecodeError:
        sent = None
    if not isinstance(sent, dict):
        raise AuthenticationError("The browser sent no passkey; this needs scripts to be on.")
    names = ("id", "client", "authenticator", "signature", "key")
    return {name: decode(sent.get(name, "")) for name in names}


def _use_up(transaction: VaultTransaction, challenge: str, now: int) -> None:
    """Take a challenge once: those that were used are kept until they are too old anyway."""
    kind = SecretKind.CHALLENGE
    if transaction.secret(kind.value, hash_token(challenge)) is not None:
        raise AuthenticationError("This answer from your passkey was already used. Try again.")
    _, used = new_secret(kind, {}, now, 2 * CHALLENGE_LIFE, text=challenge)
    transaction.add_secret(used)


def _keep(transaction: VaultTransaction, passkeys: tuple[Passkey, ...]) -> None:
    encoded = orjson.dumps([asdict(key) for key in passkeys]) if passkeys else None
    transaction.keep_setting(_SETTING, encoded)
