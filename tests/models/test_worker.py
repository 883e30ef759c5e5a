import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from condensery.errors import Busy, ProviderError
from condensery.models.worker import Worker

PATIENCE = 30


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("test worker", limit=4)
    yield worker
    worker.close()


def occupy(worker: Worker) -> tuple[threading.Event, Future[bool]]:
    """Keep the thread busy until the returned event is set."""
    begun, release = threading.Event(), threading.Event()
    future = worker.submit(lambda: hold(begun, release))
    assert begun.wait(PATIENCE)
    return release, future


def hold(begun: threading.Event, release: threading.Event) -> bool:
    begun.set()
    return release.wait(PATIENCE)


def test_interactive_calls_run_before_background_ones_each_in_order(worker: Worker) -> None:
    release, _ = occupy(worker)
    order: list[str] = []
    names = [("b1", True), ("i1", False), ("b2", True), ("i2", False)]
    futures = [worker.submit(lambda name=name: order.append(name), background=late) for name, late in names]  # type: ignore[misc]
    release.set()
    for future in futures:
        future.result(PATIENCE)
    assert order == ["i1", "i2", "b1", "b2"]


def test_a_full_queue_says_busy_and_takes_calls_again_once_there_is_room(worker: Worker) -> None:
    release, _ = occupy(worker)
    waiting = [worker.submit(lambda: None) for _ in range(4)]
    with pytest.raises(Busy, match="test worker has 4 calls waiting"):
        worker.submit(lambda: None)
    release.set()
    for future in waiting:
        future.result(PATIENCE)
    assert worker.submit(lambda: "done").result(PATIENCE) == "done"


def test_background_calls_leave_half_of_the_queue_to_people(worker: Worker) -> None:
    release, _ = occupy(worker)
    worker.submit(lambda: None, background=True)
    worker.submit(lambda: None, background=True)
    with pytest.raises(Busy):
        worker.submit(lambda: None, background=True)
    worker.submit(lambda: None)
    release.set()


def test_a_cancelled_call_never_runs_and_gives_its_place_back(worker: Worker) -> None:
    release, _ = occupy(worker)
    ran: list[int] = []
    waiting = [worker.submit(lambda n=n: ran.append(n)) for n in range(4)]  # type: ignore[misc]
    assert waiting[1].cancel()
    last = worker.submit(lambda: ran.append(4))
    release.set()
    last.result(PATIENCE)
    assert ran == [0, 2, 3, 4]


async def test_cancelling_the_wait_takes_the_call_off_the_queue(worker: Worker) -> None:
    release, _ = occupy(worker)
    task = asyncio.create_task(worker.run(lambda: None))
    await asyncio.sleep(0)
    assert worker.waiting == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert worker.waiting == 0
    release.set()


def test_an_exception_reaches_its_own_caller_only(worker: Worker) -> None:
    failing = worker.submit(lambda: 1 / 0)
    following = worker.submit(lambda: "fine")
    with pytest.raises(ZeroDivisionError):
        failing.result(PATIENCE)
    assert following.result(PATIENCE) == "fine"


def test_closing_lets_the_running_call_end_drops_the_others_and_ends_the_thread() -> None:
    hurried, ended = threading.Event(), threading.Event()
    worker = Worker("test worker", limit=4, interrupt=hurried.set, at_end=ended.set)
    begun = threading.Event()
    running = worker.submit(lambda: hold(begun, hurried))
    assert begun.wait(PATIENCE)
    waiting = worker.submit(lambda: None)
    worker.close()
    assert running.result(PATIENCE)
    assert waiting.cancelled()
    assert ended.is_set()
    with pytest.raises(ProviderError, match="test worker is closed"):
        worker.submit(lambda: None)
    worker.close()


def test_a_worker_that_nobody_holds_any_more_ends_its_thread() -> None:
    ended = threading.Event()
    worker = Worker("test worker", limit=1, at_end=ended.set)
    worker.submit(lambda: None).result(PATIENCE)
    del worker
    gc.collect()
    assert ended.is_set()


def test_an_interpreter_with_a_busy_worker_exits() -> None:
    script = (
        "import threading; from condensery.models.worker import Worker\n"
        "stop, begun = threading.Event(), threading.Event()\n"
        "worker = Worker('w', limit=1, interrupt=stop.set, at_end=lambda: print('freed'))\n"
        "worker.submit(lambda: begun.set() or stop.wait()); begun.wait(); print('leaving')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["leaving", "freed"], "")
