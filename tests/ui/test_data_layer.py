from chainlit.types import Pagination, ThreadFilter

from condensery.prompts.loader import prompts_for
from condensery.storage.database import Database
from condensery.storage.turns import TurnRepository
from condensery.ui.choices import AS_SET
from condensery.ui.data_layer import LOCAL_USER, TurnsDataLayer
from condensery.ui.running import Running
from condensery.ui.threads import ThreadRepository
from condensery.ui.transcript import Transcript
from condensery.workflows.turn import Outcome, Turn, TurnKey


def data_layer(db: Database, running: Running | None = None) -> TurnsDataLayer:
    parts = ThreadRepository(db), TurnRepository(db), running or Running(), Transcript(prompts_for("en"))
    return TurnsDataLayer(*parts)


async def answered(db: Database, thread_id: str, message: str) -> None:
    key = TurnKey(turn_id=message, conversation_id=thread_id, user_id=LOCAL_USER)
    await TurnRepository(db).save(Turn(key=key, message=message, answer="Yes.", outcome=Outcome.ANSWERED))


async def test_a_reopened_thread_shows_its_turns_and_what_is_being_answered(database: Database) -> None:
    running = Running()
    layer = data_layer(database, running)
    await layer.update_thread("a", name="One?", user_id=LOCAL_USER)
    await answered(database, "a", "One?")
    with running.turn("a", "Two?"):
        thread = await layer.get_thread("a")
    assert thread is not None
    said = [step["output"] for step in thread["steps"] if step["type"].endswith("message")]
    assert said == ["One?", "Yes.", "Two?"]
    assert thread["userIdentifier"] == LOCAL_USER


async def test_a_turn_that_ends_while_its_thread_is_read_is_shown_once(database: Database) -> None:
    running = Running()
    layer = data_layer(database, running)
    await layer.update_thread("a", name="One?", user_id=LOCAL_USER)
    turns = layer._turns.list

    async def ending(*args: str, **options: str) -> list[Turn]:
        layer._turns.list = turns  # type: ignore[method-assign]
        found = await turns(*args, **options)
        await answered(database, "a", "One?")
        turn.__exit__(None, None, None)
        return found

    layer._turns.list = ending  # type: ignore[method-assign,assignment]
    turn = running.turn("a", "One?")
    turn.__enter__()
    thread = await layer.get_thread("a")
    assert thread is not None
    assert [step["output"] for step in thread["steps"] if step["type"].endswith("message")] == ["One?", "Yes."]


async def test_what_was_chosen_for_a_thread_comes_back_with_it_and_nothing_else(database: Database) -> None:
    layer = data_layer(database)
    await layer.update_thread("a", name="One?", user_id=LOCAL_USER)
    panel = {"engine": "simple", "method": AS_SET, "retrieval__top_k": 8}
    await layer.update_thread("a", metadata={"chat_settings": panel, "id": "of a session"})
    thread = await layer.get_thread("a")
    assert thread is not None
    assert thread["metadata"] == {"chat_settings": {"engine": "simple"}}


async def test_a_deleted_thread_stays_deleted_when_its_page_is_closed(database: Database) -> None:
    layer = data_layer(database)
    await layer.update_thread("a", name="One?", user_id=LOCAL_USER)
    await answered(database, "a", "One?")
    await layer.delete_thread("a")
    await layer.update_thread("a", metadata={"chat_settings": {"engine": "simple"}})
    assert await layer.get_thread("a") is None
    assert await layer.get_thread_author("a") == ""
    assert await TurnRepository(database).list("a") == []


async def test_the_last_used_thread_is_dated_last_so_that_the_page_lists_it_first(database: Database) -> None:
    layer = data_layer(database)
    for thread_id in ("a", "b", "a"):
        await layer.update_thread(thread_id, name=thread_id, user_id=LOCAL_USER)
    page = await layer.list_threads(Pagination(first=10), ThreadFilter(userId=LOCAL_USER))
    assert [thread["id"] for thread in page.data] == ["a", "b"]
    assert page.data[0]["createdAt"] > page.data[1]["createdAt"]


async def test_there_is_one_user(database: Database) -> None:
    layer = data_layer(database)
    local = await layer.get_user(LOCAL_USER)
    assert local is not None
    assert (local.id, local.identifier) == (LOCAL_USER, LOCAL_USER)
    assert await layer.get_user("somebody") is None
