from datetime import UTC, datetime

import pytest
from sqlalchemy import event

from condensery.storage.database import Database
from condensery.storage.turns import TurnRepository
from condensery.tests.storage.stored_turns import a_turn, the_history
from condensery.workflows.turn import (
    Exchange,
    Outcome,
)


async def test_history_tells_answers_made_from_documents_from_other_turns(repository: TurnRepository) -> None:
    for outcome in Outcome:
        await repository.save(a_turn(outcome, message=outcome, outcome=outcome))
    await repository.save(a_turn("long", message="x" * 4001, question="long"))
    await repository.save(a_turn("just", message="y" * 4000))
    exchanges = await repository.history("c", max_turns=99, max_chars=99_999)
    assert [each.message[:9] for each in exchanges if each.evidenced] == ["answered", "stopped", "y" * 9]
    assert [each.message for each in exchanges if not each.evidenced] == [
        "small_talk",
        "meta",
        "refused",
        "asks_consent",
        "asks_expert",
        "long",
    ]
    assert [each.message for each in exchanges if each.shortened] == ["long"]


async def test_history_tells_quotes_from_what_a_model_wrote(repository: TurnRepository) -> None:
    for mode in ("extractive", "generated", None):
        await repository.save(a_turn(str(mode), message=str(mode), answer_mode=mode))
    exchanges = await repository.history("c", max_turns=99, max_chars=99_999)
    assert [(each.message, each.quoted) for each in exchanges] == [
        ("extractive", True),
        ("generated", False),
        ("None", False),
    ]


async def test_history_is_two_sided_and_oldest_first(repository: TurnRepository) -> None:
    for turn_id in ("t1", "t2"):
        await repository.save(a_turn(turn_id))
    assert await repository.history("c", max_turns=9, max_chars=999) == [
        Exchange(message="message t1", answer="answer t1"),
        Exchange(message="message t2", answer="answer t2"),
    ]


async def test_history_follows_the_order_of_saving_and_not_the_clock(repository: TurnRepository) -> None:
    await repository.save(a_turn("t1", created_at=datetime(2030, 1, 1, tzinfo=UTC)))
    await repository.save(a_turn("t2", created_at=datetime(2020, 1, 1, tzinfo=UTC)))
    assert await the_history(repository) == ["message t1", "message t2"]


@pytest.mark.parametrize(("max_turns", "kept"), [(0, []), (1, ["message t3"]), (2, ["message t2", "message t3"])])
async def test_history_keeps_the_latest_turns(repository: TurnRepository, max_turns: int, kept: list[str]) -> None:
    for turn_id in ("t1", "t2", "t3"):
        await repository.save(a_turn(turn_id))
    assert await the_history(repository, max_turns=max_turns) == kept


@pytest.mark.parametrize(("max_chars", "kept"), [(0, []), (9, []), (10, ["m3"]), (19, ["m3"]), (20, ["m2", "m3"])])
async def test_history_keeps_the_latest_characters(repository: TurnRepository, max_chars: int, kept: list[str]) -> None:
    for number in (1, 2, 3):
        await repository.save(a_turn(f"t{number}", message=f"m{number}", answer="ä€👍x" * 2))
    assert await the_history(repository, max_chars=max_chars) == kept


async def test_history_has_no_gap_before_a_turn_that_is_too_long(repository: TurnRepository) -> None:
    await repository.save(a_turn("t1", message="short", answer="x"))
    await repository.save(a_turn("t2", message="long", answer="x" * 1000))
    await repository.save(a_turn("t3", message="last", answer="x"))
    assert await the_history(repository, max_chars=100) == ["last"]


async def test_history_holds_only_turns_that_gave_an_answer(repository: TurnRepository) -> None:
    for outcome in Outcome:
        await repository.save(a_turn(f"{outcome} said", message=outcome, outcome=outcome))
        await repository.save(a_turn(f"{outcome} silent", outcome=outcome, answer=" \n"))
    assert await the_history(repository) == [
        "answered",
        "small_talk",
        "meta",
        "refused",
        "asks_consent",
        "asks_expert",
        "stopped",
    ]


async def test_turns_that_gave_no_answer_do_not_use_up_the_limits(repository: TurnRepository) -> None:
    await repository.save(a_turn("t1"))
    await repository.save(a_turn("t2", outcome=Outcome.FAILED, answer="x" * 1000))
    assert await the_history(repository, max_turns=1, max_chars=50) == ["message t1"]


async def test_history_never_asks_for_evidence(database: Database, repository: TurnRepository) -> None:
    sent: list[str] = []
    event.listen(database.engine.sync_engine, "before_cursor_execute", lambda *call: sent.append(call[2]))
    await repository.history("c", max_turns=5, max_chars=500)
    [statement] = [each for each in sent if "FROM" in each]
    assert "turns.evidence" not in statement
    assert "answer" in statement
    await repository.list("c")
    assert "turns.evidence" in sent[-1], "the listener must be able to see it"


async def test_history_carries_the_question_of_a_pasted_log_not_the_log(database: Database) -> None:
    repository = TurnRepository(database)
    await repository.save(a_turn("t1", message="2026-01-05 WARN\n" * 2000 + "What is this?", question="What is this?"))
    await repository.save(a_turn("t2", message="And that?", question="What is this? And that?"))
    assert await the_history(repository) == ["What is this?", "And that?"]
    first = await repository.get("t1")
    assert first is not None
    assert first.message.startswith("2026-01-05 WARN")
