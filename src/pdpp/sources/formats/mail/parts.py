"""Parts: a message put together of parts, from what a program keeps of it."""

from email.mime.multipart import MIMEMultipart


def parts_of(kind: str) -> MIMEMultipart:
    """Return a message without parts, to which parts are added that are written in base64.

    What stands between them is always the same and in no base64: a message without an id is known
    by its text, all of it, and must be the same in every import.
    """
    return MIMEMultipart(kind, boundary=f"--of--{kind}--")
