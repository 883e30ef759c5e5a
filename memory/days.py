"""How long facts hold: by days of UTC, the same for every process."""

from datetime import UTC, date, datetime, timedelta


def today() -> date:
    """The day it is."""
    return datetime.now(UTC).date()


def last_day(said_at: datetime, days: int | None) -> date | None:
    """The last day of a fact that holds for `days` from when it was said; None for one without an end."""
    return (said_at.astimezone(UTC) + timedelta(days=days)).date() if days else None


def is_over(expires_on: date | None) -> bool:
    """Whether the last day has passed."""
    return expires_on is not None and expires_on < today()
