"""Failures: why no answer came from a server, in a few words a person understands."""

from urllib.parse import urlsplit

from pdpp.credentials import USUAL_PORT, is_loopback


class AnswerTooLong(Exception):
    """More came than may come; ``Unreachable`` says it to the caller."""


class NotHttp(Exception):
    """What came cannot be read as an answer."""


class AnswerBrokeOff(NotHttp):
    """The connection ended before the answer did; what came must not pass for the whole."""


class Unreachable(Exception):
    """No answer came; the message says from where and why, without any secret.

    ``cause`` says why in a few words, for who writes a message of their own; ``answered`` that the
    server was there, and its answer is what cannot be used.
    """

    def __init__(self, message: str, cause: str, *, answered: bool = False) -> None:
        super().__init__(message)
        self.cause = cause
        self.answered = answered


def unreachable(origin: str, problem: Exception, seconds: float, most_bytes: int) -> Unreachable:
    """Return a failure of the network as an error that says what happened."""
    reason = cause(problem)
    if isinstance(problem, AnswerTooLong):
        what = f"{origin} answered with more than {most_bytes} bytes"
        return Unreachable(what, reason, answered=True)
    if isinstance(problem, NotHttp):
        what = f"{origin} answered what cannot be read ({reason}); check any proxy between"
        return Unreachable(what, reason, answered=True)
    if isinstance(problem, TimeoutError):
        return Unreachable(f"{origin} did not answer within {seconds:g} s", reason)
    if isinstance(problem, ConnectionRefusedError) and is_loopback(origin):
        advice = f"start the server with: {_start_command(origin)}"
    else:
        advice = "check that the server runs, the address, and any proxy between"
    return Unreachable(f"{origin} cannot be reached ({reason}); {advice}", reason)


def _start_command(origin: str) -> str:
    """Return the command that starts a server there; a service listens on the usual port."""
    port = urlsplit(origin).port or 80
    if port == USUAL_PORT:
        return "pdpp serve (or at every login: pdpp service install)"
    return f"pdpp serve --port {port}"


def cause(problem: Exception) -> str:
    """Return why a connection failed."""
    import socket
    import ssl

    match problem:
        case AnswerTooLong():
            return "its answer is too long"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not good: {problem.verify_message}"
        case ssl.SSLError():
            return "it does not speak TLS as it should"
        case socket.gaierror():
            return "there is no such name"
        case ConnectionRefusedError():
            return "nothing listens there"
        case TimeoutError():
            return "it did not answer in time"
        case AnswerBrokeOff():
            return "the answer broke off"
        case NotHttp():
            return "what came back is not HTTP"
        case ValueError():
            return "it is not an address"
        case _:
            return "the connection broke off"
