"""Devices: a grant approved in a browser that may run anywhere, by a code a person types."""

import time
from collections.abc import Callable
from math import isnan
from typing import NamedTuple

from pdpp.credentials import Credential
from pdpp.enrolment.credential import ask_token, make_credential
from pdpp.enrolment.provider import EnrolmentError, Provider, reaching
from pdpp.enrolment.registration import DEVICE_GRANT, SCOPE, complaint
from pdpp.wire.http import FORM_LIMITS, HttpClient

_OK = 200
_SLOWER_SECONDS = 5.0
_LONGEST_SECONDS = 1_800.0


class DeviceCode(NamedTuple):
    """What a person types, where, and how the program asks for the outcome."""

    device_code: str
    user_code: str
    address: str
    address_with_code: str | None
    seconds: float
    interval: float


def ask_code(provider: Provider, client_id: str) -> DeviceCode:
    """Ask the provider for a code."""
    if provider.device_authorization_endpoint is None:
        raise EnrolmentError(f"{provider.issuer} offers no codes for programs without a browser")
    form = {"client_id": client_id, "scope": SCOPE}
    with reaching():
        reply = HttpClient(FORM_LIMITS).post_form(provider.device_authorization_endpoint, form)
    answer = reply.document
    try:
        seconds, interval = float(answer["expires_in"]), float(answer.get("interval", 5))
        if isnan(seconds) or isnan(interval):
            raise ValueError("not a time")
        complete = answer.get("verification_uri_complete")
        return DeviceCode(
            str(answer["device_code"]),
            str(answer["user_code"]),
            str(answer["verification_uri"]),
            complete if isinstance(complete, str) else None,
            min(seconds, _LONGEST_SECONDS),
            max(interval, 0.05),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise EnrolmentError(
            f"{provider.issuer} gave no code: {complaint(reply.status, answer)}"
        ) from None


def await_approval(
    provider: Provider,
    client_id: str,
    code: DeviceCode,
    waiting: Callable[[float], None],
    *,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> Credential:
    """Ask until the owner has decided; ``waiting`` hears how many seconds are left."""
    form = {
        "grant_type": DEVICE_GRANT,
        "device_code": code.device_code,
        "client_id": client_id,
    }
    interval, end = code.interval, clock() + code.seconds
    while (left := end - clock()) > 0:
        waiting(left)
        pause(min(interval, left))
        reply = ask_token(provider, form)
        answer = reply.document
        if reply.status == _OK:
            return make_credential(provider, client_id, answer, clock())
        error = answer.get("error")
        if error == "slow_down":
            interval += _SLOWER_SECONDS
        elif error != "authorization_pending":
            raise EnrolmentError(_ended(provider, reply.status, answer))
    raise EnrolmentError(f"the code expired before it was approved; {_again(provider)}")


def _ended(provider: Provider, status: int, answer: object) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    if error == "access_denied":
        return "the owner denied the request"
    if error == "expired_token":
        return f"the code expired before it was approved; {_again(provider)}"
    return f"{provider.issuer} gave no token: {complaint(status, answer)}"


def _again(provider: Provider) -> str:
    return f"run again: {provider.connect_command}"
