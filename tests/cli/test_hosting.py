import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager

import pytest

from condensery.terminal.hosting import Host


@pytest.fixture(autouse=True)
def ctrl_c_interrupts() -> Iterator[None]:
    """As in a terminal; a process that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Resource:
    """An async resource that notes what happens to it."""

    def __init__(self) -> None:
        self.events: list[str] = []

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[str]:
        self.events.append("opened")
        try:
            yield threading.current_thread().name
        finally:
            await asyncio.sleep(0)
            self.events.append("closed")


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_work_runs_beside_the_resource_in_another_thread() -> None:
    resource = Resource()

    async def work() -> str:
        return threading.current_thread().name

    with Host(resource.opened()) as host:
        assert host.run(work()) == host.value
        assert host.value != threading.current_thread().name
        assert resource.events == ["opened"]
    assert resource.events == ["opened", "closed"]


def test_an_error_of_the_work_is_raised_and_the_host_goes_on() -> None:
    async def fail() -> None:
        raise ValueError("no")

    with Host(Resource().opened()) as host:
        with pytest.raises(ValueError, match="no"):
            host.run(fail())
        assert host.run(asyncio.sleep(0, "on")) == "on"


def test_ctrl_c_cancels_the_work_waits_for_its_clean_up_and_keeps_the_host() -> None:
    cleaned = []

    async def work() -> None:
        try:
            press_ctrl_c()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    resource = Resource()
    with Host(resource.opened()) as host:
        with pytest.raises(CancelledError):
            host.run(work())
        assert cleaned == [True]
        assert resource.events == ["opened"]
        assert host.run(asyncio.sleep(0, "on")) == "on"


def test_outside_of_work_ctrl_c_interrupts_as_usual() -> None:
    with Host(Resource().opened()) as host:
        host.run(asyncio.sleep(0))
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


def test_ctrl_c_while_opening_closes_what_was_opened() -> None:
    resource = Resource()

    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        async with resource.opened():
            press_ctrl_c()
            await asyncio.Event().wait()
            yield

    with pytest.raises(KeyboardInterrupt), Host(slow()):
        pytest.fail("it cannot have opened")
    assert resource.events == ["opened", "closed"]


def test_an_error_on_opening_is_raised() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        raise ValueError("cannot open")
        yield

    with pytest.raises(ValueError, match="cannot open"), Host(broken()):
        pytest.fail("it cannot have opened")


def test_an_error_on_closing_is_raised() -> None:
    @asynccontextmanager
    async def clinging() -> AsyncIterator[None]:
        yield
        raise ValueError("cannot close")

    with pytest.raises(ValueError, match="cannot close"), Host(clinging()):
        pass
