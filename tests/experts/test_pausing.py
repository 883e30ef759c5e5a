"""A run that waits is a row: it holds nothing in the process, and any process may bring it to its end."""

import asyncio
import threading

import pytest

from condensery.app import App
from condensery.errors import ProviderError
from condensery.experts.channels import Desk
from condensery.experts.types import RequestState
from condensery.tests.app.helpers import rows
from condensery.tests.experts.asking import asked, closed, last, until
from condensery.tests.experts.conftest import OpenExperts
from condensery.workflows.turn import Outcome

WAITING = "SELECT * FROM condensery_runs.wf_handlers WHERE status = 'running' AND idle_since IS NOT NULL"
OF_THE_STORE = "SELECT * FROM pg_stat_activity WHERE datname = current_database() AND application_name = ''"


async def at_rest(app: App) -> None:
    """Wait until the server of the runs is closed."""
    async with asyncio.timeout(30):
        while app.experts.runs.is_open:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await app.experts.runs.close()


async def test_a_run_that_waits_holds_no_task_no_thread_and_no_connection(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="first")
        await app.experts.answer(request.id, "Twelve francs.")
        await at_rest(app)  # whatever is opened once, such as pools and the loop that looks for news, is there
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        for number in range(10):
            await asked(app, f"What is the code of locker {number}?", conversation_id=f"c{number}")
        await at_rest(app)
        await asyncio.sleep(0.2)
        assert len(await rows(app, WAITING)) == 10
        assert len(asyncio.all_tasks()) <= tasks
        assert threading.active_count() <= threads
        assert await rows(app, OF_THE_STORE) == []
        assert await rows(app, "SELECT * FROM pg_locks WHERE locktype = 'advisory'") == []


async def test_a_run_resumes_with_its_state_in_another_app(expert_app: OpenExperts) -> None:
    async with expert_app() as first:
        request = await asked(first, conversation_id="c")
    async with expert_app() as second:
        assert len(await rows(second, WAITING)) == 1
        await second.experts.answer(request.id, "Twelve francs.", expert="Weber")
        assert "Twelve francs." in (await last(second, "c")).answer


async def test_two_apps_at_once_bring_every_run_to_one_answer(expert_app: OpenExperts) -> None:
    async with expert_app() as one, expert_app() as other:
        requests = [await asked(one, f"What is the code of locker {n}?", conversation_id=f"c{n}") for n in range(8)]
        replies = [
            app.experts.answer(request.id, f"The code is {n}.")
            for n, request in enumerate(requests)
            for app in (one, other)
        ]
        results = await asyncio.gather(
            *replies, one.experts.settle_all(), other.experts.settle_all(), return_exceptions=True
        )
        assert sum(isinstance(result, Exception) for result in results) == 8
        for number, request in enumerate(requests):
            await closed(one, request.id)
            turns = await one.history(f"c{number}")
            assert [turn.outcome for turn in turns] == [
                Outcome.ASKS_CONSENT,
                Outcome.ASKS_EXPERT,
                Outcome.ANSWERED,
            ]
            assert f"“The code is {number}.” [1]" in turns[-1].answer


async def test_a_reply_that_its_process_took_and_died_is_told_by_the_next(expert_app: OpenExperts) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
        await app.services.expert_requests.settle(
            request.id, RequestState.ANSWERED, expert="Weber", reply="Twelve francs."
        )
    async with expert_app() as app:
        await app.warm()
        await closed(app, request.id)
        assert "Twelve francs." in (await last(app, "c")).answer


@pytest.mark.parametrize("at", ["before it began", "while it sent", "after it had sent"])
async def test_a_run_that_was_broken_off_begins_anew(
    expert_app: OpenExperts, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with expert_app() as app:
        request = await asked(app, conversation_id="c")
    sent: list[str] = []

    async def send(self: Desk, question: object, *, request_id: str, expires_at: object) -> None:
        sent.append(request_id)

    monkeypatch.setattr(Desk, "send", send)
    async with expert_app() as app:
        async with app.services.database.transaction() as connection:
            if at == "before it began":
                await connection.exec_driver_sql("DELETE FROM condensery_runs.wf_handlers")
            else:
                await connection.exec_driver_sql("UPDATE condensery_runs.wf_handlers SET idle_since = NULL")
            if at != "after it had sent":
                await connection.exec_driver_sql("UPDATE expert_requests SET state = 'asked'")
        await app.experts.settle_all()
        await until(app, request.id, RequestState.SENT)
        await app.experts.answer(request.id, "Twelve francs.")
        assert "Twelve francs." in (await last(app, "c")).answer
    assert sent == ([] if at == "after it had sent" else [request.id])


async def test_a_channel_that_fails_is_told_in_the_conversation(
    expert_app: OpenExperts, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: Desk, question: object, *, request_id: str, expires_at: object) -> None:
        raise ProviderError("the desk has burnt down")

    monkeypatch.setattr(Desk, "send", fail)
    async with expert_app() as app:
        await app.ask("How much is the night bus?", conversation_id="c")
        offer = await app.experts.offered("c")
        assert offer is not None
        await app.ask("yes", conversation_id="c")
        await closed(app, offer.id)
        turn = await last(app, "c")
    assert (turn.outcome, turn.reason) == (Outcome.REFUSED, "expert_unreachable")
    assert "burnt" not in turn.answer
