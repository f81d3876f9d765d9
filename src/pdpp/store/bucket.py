"""The address of a bucket: where an S3-compatible object store keeps large blobs."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """A bucket, what the names in it begin with, and how it is reached.

    Where there is no endpoint, region or key, the client takes what the environment or the machine
    gives, as programs for that store usually do (``AWS_REGION``, ``AWS_ACCESS_KEY_ID`` and others).
    """

    name: str
    prefix: str = ""
    endpoint: str | None = None
    region: str | None = None
    key_id: str | None = field(default=None, repr=False)
    key_secret: str | None = field(default=None, repr=False)
    """Never shown."""

    def __str__(self) -> str:
        return "/".join(part for part in (f"s3://{self.name}", self.prefix) if part)
