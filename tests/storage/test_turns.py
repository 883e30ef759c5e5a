import math
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import func, select, text

from condensery.errors import ProviderError
from condensery.storage.database import Database
from condensery.storage.schema import outbox
from condensery.storage.turns import TurnRepository
from condensery.tests.storage.stored_turns import a_turn, evidence, the_history
from condensery.workflows.turn import (
    Citation,
    Exchange,
    FallbackReason,
    OutboxEntry,
    Outcome,
    StageRecord,
    Turn,
    TurnKey,
)


async def test_a_turn_is_read_back_exactly_as_it_was_saved(repository: TurnRepository) -> None:
    turn = Turn(
        key=TurnKey(turn_id="t", conversation_id="c", user_id="u", organization_id="o"),
        message='und für "Aushilfen"? {x} 👍',
        question="Kündigungsfrist für Aushilfen",
        engine="condense_context",
        method="hybrid",
        fallback=FallbackReason.UNGROUNDED,
        answer="Three months [1].",
        answer_mode="extractive",
        evidence=evidence(),
        citations=(Citation(number=1, chunk_id="k", source="a.pdf", page=2, quote="Notice", start=0, end=6),),
        stages=(StageRecord(stage="condense", ms=1.25, note="error"),),
        outcome=Outcome.REFUSED,
        reason="nothing_found",
        created_at=datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC),
    )
    await repository.save(turn)
    assert await repository.get("t") == turn
    assert await repository.list("c") == [turn]


async def test_a_turn_nobody_saved_is_none(repository: TurnRepository) -> None:
    assert await repository.get("nothing") is None
    assert await repository.list("nothing") == []


async def test_a_time_without_a_zone_is_taken_as_utc(repository: TurnRepository) -> None:
    await repository.save(a_turn("t", created_at=datetime(2024, 1, 1)))
    assert (await repository.list("c"))[0].created_at == datetime(2024, 1, 1, tzinfo=UTC)


async def test_saving_a_turn_again_replaces_it_in_its_place(repository: TurnRepository) -> None:
    for turn_id in ("t1", "t2"):
        await repository.save(a_turn(turn_id), OutboxEntry(turn_id=turn_id, kind="remember", payload={"n": 1}))
    await repository.save(a_turn("t1", message="anew"), OutboxEntry(turn_id="t1", kind="remember", payload={"n": 2}))
    assert [turn.message for turn in await repository.list("c")] == ["anew", "message t2"]


async def test_an_outbox_entry_is_written_once_for_its_turn(database: Database, repository: TurnRepository) -> None:
    for n in (1, 2):
        await repository.save(a_turn("t"), OutboxEntry(turn_id="t", kind="remember", payload={"n": n}))
    async with database.transaction() as connection:
        rows = (await connection.execute(select(outbox))).all()
    assert [(row.turn_id, row.kind, row.payload, row.attempts, row.parked_at) for row in rows] == [
        ("t", "remember", {"n": 2}, 0, None)
    ]


async def test_a_turn_is_not_kept_without_its_outbox_entry(database: Database, repository: TurnRepository) -> None:
    async with database.transaction() as connection:
        await connection.execute(text("ALTER TABLE outbox ADD CHECK (kind <> 'refused here')"))
    with pytest.raises(ProviderError):
        await repository.save(a_turn("t"), OutboxEntry(turn_id="t", kind="refused here", payload={}))
    assert await repository.get("t") is None


async def test_an_outbox_entry_for_another_turn_is_an_error(database: Database, repository: TurnRepository) -> None:
    with pytest.raises(ValueError, match="'t2'"):
        await repository.save(a_turn("t1"), OutboxEntry(turn_id="t2", kind="remember", payload={}))
    async with database.transaction() as connection:
        assert await connection.scalar(select(func.count()).select_from(outbox)) == 0


@pytest.mark.parametrize("thief", [{"conversation_id": "other"}, {"user_id": "b"}, {"user_id": None}])
async def test_a_turn_cannot_be_overwritten_from_elsewhere(repository: TurnRepository, thief: dict[str, Any]) -> None:
    mine = a_turn("t", user_id="a")
    await repository.save(mine)
    with pytest.raises(ValueError, match="'t'"):
        await repository.save(a_turn("t", **({"user_id": "a"} | thief), message="stolen"))
    assert await repository.get("t") == mine


BROKEN_OFF = [
    {"outcome": Outcome.STOPPED},
    {"outcome": Outcome.FAILED},
    {"outcome": Outcome.REFUSED, "reason": "timed_out"},
]


@pytest.mark.parametrize("late", BROKEN_OFF)
@pytest.mark.parametrize("outcome", [Outcome.ANSWERED, Outcome.SMALL_TALK, Outcome.META, Outcome.REFUSED])
async def test_a_turn_broken_off_never_replaces_a_finished_one(
    database: Database, repository: TurnRepository, outcome: Outcome, late: dict[str, Any]
) -> None:
    finished = a_turn("t", outcome=outcome)
    await repository.save(finished)
    await repository.save(a_turn("t", answer="", **late), OutboxEntry(turn_id="t", kind="late", payload={}))
    assert await repository.get("t") == finished
    async with database.transaction() as connection:
        assert await connection.scalar(select(func.count()).select_from(outbox)) == 0


@pytest.mark.parametrize("late", BROKEN_OFF)
async def test_a_turn_broken_off_is_kept_when_there_is_no_better_one(
    repository: TurnRepository, late: dict[str, Any]
) -> None:
    await repository.save(a_turn("t", outcome=Outcome.FAILED))
    await repository.save(a_turn("t", answer="part", **late))
    stored = await repository.get("t")
    assert stored is not None
    assert (stored.answer, stored.outcome) == ("part", late["outcome"])


async def test_a_finished_turn_replaces_one_broken_off_and_a_refusal(repository: TurnRepository) -> None:
    for outcome in (Outcome.STOPPED, Outcome.REFUSED):
        await repository.save(a_turn(outcome, outcome=outcome))
        await repository.save(a_turn(outcome))
        stored = await repository.get(outcome)
        assert stored is not None
        assert stored.outcome is Outcome.ANSWERED


async def test_a_turn_broken_off_elsewhere_is_still_an_error(repository: TurnRepository) -> None:
    await repository.save(a_turn("t"))
    with pytest.raises(ValueError, match="'t'"):
        await repository.save(a_turn("t", conversation_id="other", outcome=Outcome.STOPPED))


async def test_a_conversation_is_hidden_from_every_other_user(repository: TurnRepository) -> None:
    await repository.save(a_turn("mine", user_id="a"))
    await repository.save(a_turn("nobody's"))
    for user, visible in (("a", ["message mine"]), ("b", []), ("", []), ("a' OR '1'='1", [])):
        assert await the_history(repository, user_id=user) == visible
        assert [turn.message for turn in await repository.list("c", user_id=user)] == visible
        assert (await repository.get("mine", user_id=user) is not None) == bool(visible)
    assert await the_history(repository) == ["message mine", "message nobody's"]


async def test_conversations_do_not_mix(repository: TurnRepository) -> None:
    await repository.save(a_turn("t1"))
    await repository.save(a_turn("t2", conversation_id="other"))
    assert await the_history(repository) == ["message t1"]


async def test_text_that_postgres_refuses_is_stored_clean(database: Database, repository: TurnRepository) -> None:
    bad = "a\x00b\ud800c"
    turn = a_turn(bad, conversation_id=bad, user_id=bad, message=bad, answer=bad, question=bad, evidence=evidence(bad))
    await repository.save(turn, OutboxEntry(turn_id=bad, kind=bad, payload={bad: [bad]}))
    stored = await repository.get(bad, user_id=bad)
    assert stored is not None
    good = "ab\ufffdc"
    assert (stored.key.turn_id, stored.message, stored.answer, stored.question) == (good, good, good, good)
    assert stored.evidence[0].chunk.text == good
    assert await repository.history(bad, max_turns=1, max_chars=99) == [Exchange(message=good, answer=good)]
    async with database.transaction() as connection:
        row = (await connection.execute(select(outbox))).one()
    assert (row.kind, row.payload) == (good, {good: [good]})


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
async def test_a_score_that_is_no_number_does_not_lose_the_turn(repository: TurnRepository, score: float) -> None:
    await repository.save(a_turn("t", evidence=evidence(score=score)))
    stored = await repository.get("t")
    assert stored is not None
    assert stored.evidence[0].score == 0.0
