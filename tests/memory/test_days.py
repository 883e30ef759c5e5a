"""Days begin and end in UTC, wherever a program runs."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from condensery.memory.days import last_day
from condensery.memory.types import Fact
from condensery.terminal.remembering import state_of


@pytest.fixture(params=["Pacific/Kiritimati", "Etc/GMT+12"])
def far_away(request: pytest.FixtureRequest) -> Iterator[None]:
    """At any time, one of them has another date than UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


def test_days_are_counted_from_when_it_was_said() -> None:
    said = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    assert last_day(said, 30) == date(2026, 4, 1)
    assert last_day(said, None) is None


@pytest.mark.usefixtures("far_away")
def test_a_listed_fact_holds_up_to_the_day_it_is_recalled() -> None:
    today = datetime.now(UTC).date()
    states = [state_of(Fact(id="f", text="t", expires_on=today + timedelta(days=days))) for days in (-1, 0)]
    assert states == ["expired", "holds"]
