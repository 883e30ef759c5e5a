"""What every `Memory` keeps to. A test module imports these tests beside a fixture `memory` of its own."""

from datetime import UTC, datetime, timedelta

from condensery.memory.types import Memory, NewFact, organization_scope, user_scope

ANN = user_scope("ann")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = datetime.now(UTC).date()


def fact(text: str, *, turn: str = "t1", minutes: int = 0, **fields: object) -> NewFact:
    """A fact said `minutes` after noon."""
    said_at = NOON + timedelta(minutes=minutes)
    return NewFact.model_validate({"text": text, "turn_id": turn, "said_at": said_at, **fields})


async def texts(memory: Memory, *, history: bool = False) -> list[str]:
    return [each.text for each in await memory.list(scope=ANN, history=history)]


async def recalled(memory: Memory, question: str, *, threshold: float = 0.3, limit: int = 5) -> list[str]:
    return [each.text for each in await memory.recall(question, scope=ANN, limit=limit, threshold=threshold)]


async def test_a_fact_is_recalled_with_where_it_comes_from(memory: Memory) -> None:
    new = fact("I live in Oslo.", slot="home", conversation_id="c1", expires_on=TODAY)
    [stored] = await memory.remember([new], scope=ANN)
    [found] = await memory.recall("Where in Oslo do I live?", scope=ANN, limit=5, threshold=0.3)
    assert found.model_copy(update={"score": None}) == stored
    assert NewFact.model_validate(stored.model_dump(include=set(NewFact.model_fields))) == new
    assert found.score is not None
    assert 0.3 <= found.score <= 1


async def test_nothing_is_recalled_that_does_not_bear_on_the_question(memory: Memory) -> None:
    await memory.remember([fact("I like tea.")], scope=ANN)
    assert await recalled(memory, "tea") == ["I like tea."]
    assert await recalled(memory, "rockets") == []


async def test_the_best_come_first_and_no_more_than_asked_for(memory: Memory) -> None:
    words = ["I like green tea.", "I have a red bicycle.", "I drink green tea from Japan."]
    await memory.remember([fact(each) for each in words], scope=ANN)
    scores = [each.score for each in await memory.recall("green tea", scope=ANN, limit=3, threshold=0)]
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    assert len(await recalled(memory, "green tea", threshold=0, limit=2)) == 2
    assert await recalled(memory, "green tea", threshold=0, limit=0) == []


async def test_a_blank_question_recalls_nothing(memory: Memory) -> None:
    await memory.remember([fact("I like tea.")], scope=ANN)
    assert await recalled(memory, " \n") == []


async def test_the_same_turn_again_changes_nothing(memory: Memory) -> None:
    facts = [fact("I live in Oslo.", slot="home"), fact("I like tea.")]
    assert len(await memory.remember(facts, scope=ANN)) == 2
    before = await memory.list(scope=ANN, history=True)
    assert await memory.remember(facts, scope=ANN) == []
    assert await memory.list(scope=ANN, history=True) == before


async def test_what_is_known_is_not_kept_twice(memory: Memory) -> None:
    await memory.remember([fact("I like tea.")], scope=ANN)
    assert await memory.remember([fact("I like tea", turn="t2", minutes=1)], scope=ANN) == []
    assert await texts(memory, history=True) == ["I like tea."]


async def test_a_newer_fact_takes_the_place_of_an_older_one_of_its_slot(memory: Memory) -> None:
    [oslo] = await memory.remember([fact("I live in Oslo.", slot="home")], scope=ANN)
    [bergen] = await memory.remember([fact("I live in Bergen.", slot="home", turn="t2", minutes=1)], scope=ANN)
    assert await recalled(memory, "I live in", threshold=0) == ["I live in Bergen."]
    assert await texts(memory) == ["I live in Bergen."]
    old = (await memory.list(scope=ANN, history=True))[1]
    assert (old.id, old.superseded_by, old.superseded_at) == (oslo.id, bergen.id, bergen.said_at)


async def test_a_turn_that_is_stored_late_does_not_replace_what_was_said_after_it(memory: Memory) -> None:
    [bergen] = await memory.remember([fact("I live in Bergen.", slot="home", turn="t2", minutes=1)], scope=ANN)
    [oslo] = await memory.remember([fact("I live in Oslo.", slot="home")], scope=ANN)
    assert oslo.superseded_by == bergen.id
    assert await texts(memory) == ["I live in Bergen."]


async def test_a_home_takes_the_place_of_where_someone_was_though_much_else_is_nearer(memory: Memory) -> None:
    await memory.remember([fact("I'm in Zurich.", slot="place")], scope=ANN)
    near = [fact(f"I like Basel in month {number} of the year.", slot=f"like:{number}") for number in range(12)]
    await memory.remember(near, scope=ANN)
    [basel] = await memory.remember([fact("I live in Basel.", slot="home", turn="t2", minutes=1)], scope=ANN)
    [zurich] = [each for each in await memory.list(scope=ANN, history=True) if each.slot == "place"]
    assert zurich.superseded_by == basel.id


async def test_where_someone_was_that_is_stored_late_does_not_hold_beside_their_home(memory: Memory) -> None:
    [basel] = await memory.remember([fact("I live in Basel.", slot="home", turn="t2", minutes=1)], scope=ANN)
    [zurich] = await memory.remember([fact("I'm in Zurich.", slot="place")], scope=ANN)
    assert zurich.superseded_by == basel.id
    [bern] = await memory.remember([fact("I'm in Bern.", slot="place", turn="t3", minutes=2)], scope=ANN)
    assert bern.superseded_by is None


async def test_what_was_superseded_can_be_said_again(memory: Memory) -> None:
    for number, town in enumerate(("Oslo", "Bergen", "Oslo")):
        await memory.remember([fact(f"I live in {town}.", slot="home", turn=f"t{number}", minutes=number)], scope=ANN)
    assert await texts(memory) == ["I live in Oslo."]
    assert await texts(memory, history=True) == ["I live in Oslo.", "I live in Bergen.", "I live in Oslo."]


async def test_an_old_turn_again_brings_nothing_back(memory: Memory) -> None:
    first = [fact("I live in Oslo.", slot="home")]
    await memory.remember(first, scope=ANN)
    await memory.remember([fact("I live in Bergen.", slot="home", turn="t2", minutes=1)], scope=ANN)
    assert await memory.remember(first, scope=ANN) == []
    assert await texts(memory) == ["I live in Bergen."]


async def test_a_fact_is_recalled_up_to_its_last_day(memory: Memory) -> None:
    yesterday = TODAY - timedelta(days=1)
    await memory.remember([fact("I like old tea.", expires_on=yesterday)], scope=ANN)
    await memory.remember([fact("I have a new bicycle.", minutes=1, expires_on=TODAY)], scope=ANN)
    assert await texts(memory) == ["I have a new bicycle."]
    assert await recalled(memory, "old tea", threshold=0) == ["I have a new bicycle."]
    assert await texts(memory, history=True) == ["I have a new bicycle.", "I like old tea."]


async def test_the_newest_are_listed_first(memory: Memory) -> None:
    await memory.remember([fact("I like tea.", minutes=5), fact("I have a bicycle.", minutes=9)], scope=ANN)
    await memory.remember([fact("I speak Welsh.", turn="t2", minutes=7)], scope=ANN)
    assert await texts(memory) == ["I have a bicycle.", "I speak Welsh.", "I like tea."]


async def test_one_fact_can_be_forgotten(memory: Memory) -> None:
    tea, bicycle = await memory.remember([fact("I like tea."), fact("I have a bicycle.")], scope=ANN)
    assert await memory.forget(scope=ANN, fact_id=tea.id) == 1
    assert await memory.forget(scope=ANN, fact_id=tea.id) == 0
    assert [each.id for each in await memory.list(scope=ANN, history=True)] == [bicycle.id]


async def test_the_facts_of_a_conversation_can_be_forgotten(memory: Memory) -> None:
    await memory.remember([fact("I like tea.", conversation_id="c1"), fact("I have a bicycle.")], scope=ANN)
    await memory.remember([fact("I speak Welsh.", turn="t2", conversation_id="c2")], scope=ANN)
    assert await memory.forget(scope=ANN, conversation_id="c1") == 1
    assert sorted(await texts(memory)) == ["I have a bicycle.", "I speak Welsh."]


async def test_everything_can_be_forgotten_with_its_history(memory: Memory) -> None:
    await memory.remember([fact("I live in Oslo.", slot="home")], scope=ANN)
    await memory.remember([fact("I live in Bergen.", slot="home", turn="t2", minutes=1)], scope=ANN)
    assert await memory.forget(scope=ANN) == 2
    assert await texts(memory, history=True) == []
    assert await recalled(memory, "I live in Oslo", threshold=0) == []


async def test_unknown_ids_erase_nothing(memory: Memory) -> None:
    [tea] = await memory.remember([fact("I like tea.", conversation_id="c1")], scope=ANN)
    for unknown in ("", "*", "x", "00000000-0000-0000-0000-000000000000"):
        assert await memory.forget(scope=ANN, fact_id=unknown) == 0
        assert await memory.forget(scope=ANN, conversation_id=unknown) == 0
    assert await memory.forget(scope=ANN, fact_id=tea.id, conversation_id="c2") == 0
    assert await texts(memory) == ["I like tea."]


async def test_a_user_and_an_organization_of_one_name_share_nothing(memory: Memory) -> None:
    shared = organization_scope("ann")
    [own] = await memory.remember([fact("I like tea.")], scope=ANN)
    await memory.remember([fact("The office closes at six.")], scope=shared)
    assert await texts(memory) == ["I like tea."]
    assert [each.text for each in await memory.list(scope=shared)] == ["The office closes at six."]
    assert await memory.forget(scope=shared, fact_id=own.id) == 0
    assert await memory.forget(scope=shared) == 1
    assert await texts(memory) == ["I like tea."]


async def test_a_held_scope_can_be_written_to_by_its_holder(memory: Memory) -> None:
    async with memory.locked(ANN):
        await memory.remember([fact("I like tea.")], scope=ANN)
        assert await texts(memory) == ["I like tea."]
        assert await memory.forget(scope=ANN) == 1
    assert await texts(memory, history=True) == []
