from condensery.storage.database import Database
from condensery.storage.turns import TurnRepository
from condensery.ui.threads import NAME_CHARS, ThreadRepository
from condensery.workflows.turn import Outcome, Turn, TurnKey


async def said(db: Database, thread_id: str, message: str, answer: str = "Yes.") -> None:
    key = TurnKey(turn_id=f"{thread_id}-{message}", conversation_id=thread_id, user_id="local")
    await TurnRepository(db).save(Turn(key=key, message=message, answer=answer, outcome=Outcome.ANSWERED))


async def listed(threads: ThreadRepository, **options: str) -> list[str]:
    return [thread.id for thread in (await threads.list("local", limit=10, **options)).threads]


async def test_a_thread_keeps_its_first_name_and_moves_to_the_top_when_it_is_used(database: Database) -> None:
    threads = ThreadRepository(database)
    for thread_id, name in [("a", "First"), ("b", "Second"), ("a", "Another question")]:
        await threads.open(thread_id, user_id="local", name=name)
    assert await listed(threads) == ["a", "b"]
    thread = await threads.get("a")
    assert thread is not None
    assert thread.name == "First"


async def test_threads_are_listed_page_by_page_and_for_their_user_only(database: Database) -> None:
    threads = ThreadRepository(database)
    for number in range(5):
        await threads.open(f"t{number}", user_id="local", name="x")
    await threads.open("foreign", user_id="somebody", name="x")
    first = await threads.list("local", limit=3)
    assert ([thread.id for thread in first.threads], first.more) == (["t4", "t3", "t2"], True)
    rest = await threads.list("local", limit=3, after="t2")
    assert ([thread.id for thread in rest.threads], rest.more) == (["t1", "t0"], False)


async def test_a_search_looks_into_names_messages_and_answers_and_takes_no_wildcards(database: Database) -> None:
    threads = ThreadRepository(database)
    for thread_id, name in [("a", "Tickets"), ("b", "Weather"), ("c", "100% rye")]:
        await threads.open(thread_id, user_id="local", name=name)
    await said(database, "b", "Will it snow?", "It will, on Monday.")
    assert await listed(threads, search="ticket") == ["a"]
    assert await listed(threads, search="SNOW") == ["b"]
    assert await listed(threads, search="monday") == ["b"]
    assert await listed(threads, search="%") == ["c"]
    assert await listed(threads, search="nothing of the kind") == []


async def test_a_name_is_one_short_line_that_postgres_accepts(database: Database) -> None:
    threads = ThreadRepository(database)
    await threads.open("a", user_id="local", name="one\ntwo\x00 " + "x" * 200)
    thread = await threads.get("a")
    assert thread is not None
    assert thread.name.startswith("one two x")
    assert len(thread.name) == NAME_CHARS


async def test_settings_and_names_change_only_where_a_thread_is(database: Database) -> None:
    threads = ThreadRepository(database)
    await threads.open("a", user_id="local", name="x")
    await threads.change("a", name="y", settings={"engine": "simple"})
    await threads.change("gone", name="y", settings={"engine": "simple"})
    thread = await threads.get("a")
    assert thread is not None
    assert (thread.name, thread.settings) == ("y", {"engine": "simple"})
    assert await threads.get("gone") is None


async def test_deleting_a_thread_deletes_what_was_said_in_it_and_nothing_else(database: Database) -> None:
    threads, turns = ThreadRepository(database), TurnRepository(database)
    for thread_id in ("a", "b"):
        await threads.open(thread_id, user_id="local", name="x")
        await said(database, thread_id, "Really?")
    await threads.delete("a")
    assert await listed(threads) == ["b"]
    assert await turns.list("a") == []
    assert len(await turns.list("b")) == 1
