import asyncio

import pytest

from condensery.ui.running import Running


async def start(running: Running, thread_id: str, message: str, ended: list[str]) -> "asyncio.Task[None]":
    """A turn that runs until it is cancelled, and then takes a moment to keep what it has."""

    async def turn() -> None:
        with running.turn(thread_id, message):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                ended.append(message)
                raise

    task = asyncio.create_task(turn())
    await asyncio.sleep(0)
    return task


async def test_stop_ends_every_turn_of_a_thread_and_waits_for_what_they_keep() -> None:
    running, ended = Running(), list[str]()
    tasks = [await start(running, thread, message, ended) for thread, message in [("a", "1"), ("a", "2"), ("b", "3")]]
    assert running.messages("a") == ["1", "2"]
    await running.stop("a")
    assert sorted(ended) == ["1", "2"]
    assert running.messages("a") == []
    assert not tasks[2].done()
    await running.stop_all()
    assert tasks[2].cancelled()


async def test_waiting_for_a_thread_returns_when_its_turns_have_ended() -> None:
    running = Running()
    task = await start(running, "a", "1", [])
    waiting = asyncio.create_task(running.wait("a"))
    await asyncio.sleep(0)
    assert not waiting.done()
    task.cancel()
    await waiting
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_thread_in_which_nothing_runs_has_nothing_to_stop() -> None:
    running = Running()
    await running.stop("a")
    await running.wait("a")
    assert running.messages("a") == []
