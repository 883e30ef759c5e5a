"""Signatures of the webhook, in both directions: HMAC-SHA256 over the time in seconds, a dot, and the body."""

import hashlib
import hmac

from condensery.errors import CondenseryError

TIMESTAMP_HEADER = "Condensery-Timestamp"
SIGNATURE_HEADER = "Condensery-Signature"
VERSION = "v1="


class BadSignature(CondenseryError):
    """A message is not from who holds the secret, or not from now; nothing of it may be used."""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The signature of `body` at `timestamp`, as the header has it."""
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return VERSION + digest


def signed(secret: str, body: bytes, *, now: float) -> dict[str, str]:
    """The headers that go with `body`."""
    timestamp = str(int(now))
    return {TIMESTAMP_HEADER: timestamp, SIGNATURE_HEADER: signature(secret, timestamp, body)}


def verify(secret: str, timestamp: str, given: str, body: bytes, *, now: float, fresh_seconds: int) -> None:
    """Raise `BadSignature` unless `given` is the signature of `body`, made within `fresh_seconds` of `now`."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise BadSignature(f"{TIMESTAMP_HEADER} must be the time in whole seconds since 1970")
    if not hmac.compare_digest(signature(secret, timestamp, body).encode(), given.encode()):
        raise BadSignature(f"{SIGNATURE_HEADER} is not that of this body and time")
    if abs(now - int(timestamp)) > fresh_seconds:
        raise BadSignature(f"the signature is older than {fresh_seconds} seconds, or from the future; sign anew")
