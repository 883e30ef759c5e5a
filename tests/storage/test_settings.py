import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import event, text

from condensery.errors import ConfigError
from condensery.settings import Settings
from condensery.settings_live import LiveSettings
from condensery.settings_runtime import Changes
from condensery.storage.database import Database, open_database
from condensery.storage.settings import SettingsRepository


@pytest.fixture
def repository(database: Database) -> SettingsRepository:
    return SettingsRepository(database)


def storing(**values: Any) -> Callable[[Mapping[str, Any]], Changes]:
    return lambda stored: Changes(values)


async def test_values_are_read_back_as_they_were_stored(repository: SettingsRepository) -> None:
    assert await repository.load() == (0, {})
    values = {"a": 8, "b": 0.1, "c": False, "d": 'wörter "x"', "e": None}
    assert await repository.change(storing(**values)) == (1, values)
    assert await repository.load() == (1, values)


async def test_every_change_raises_the_number_and_touches_only_what_it_names(repository: SettingsRepository) -> None:
    await repository.change(storing(a=1, b=2))
    await repository.change(storing(b=3, c=4))
    assert await repository.change(lambda _: Changes({}, frozenset({"a"}))) == (3, {"b": 3, "c": 4})
    assert await repository.generation() == 3


async def test_a_refused_change_leaves_everything_as_it_was(repository: SettingsRepository) -> None:
    def refuse(stored: Mapping[str, Any]) -> Changes:
        raise ConfigError("no")

    await repository.change(storing(a=1))
    with pytest.raises(ConfigError, match="no"):
        await repository.change(refuse)
    assert await repository.load() == (1, {"a": 1})


async def test_writers_take_turns_and_see_what_the_one_before_has_left(settings: Settings) -> None:
    def one_more(stored: Mapping[str, Any]) -> Changes:
        return Changes({"count": stored.get("count", 0) + 1})

    async with open_database(settings) as one, open_database(settings) as other:
        writers = [SettingsRepository(one), SettingsRepository(other)] * 10
        await asyncio.gather(*(writer.change(one_more) for writer in writers))
        assert await writers[0].load() == (20, {"count": 20})


async def test_of_two_changes_that_do_not_go_together_only_the_first_is_stored(settings: Settings) -> None:
    async with open_database(settings) as one, open_database(settings) as other:
        changing = [
            LiveSettings(settings, SettingsRepository(one)).set({"retrieval.top_k": 25}),
            LiveSettings(settings, SettingsRepository(other)).set({"retrieval.candidates": 20}),
        ]
        outcomes = await asyncio.gather(*changing, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes].count(ConfigError) == 1
        assert len((await SettingsRepository(one).load()).values) == 1


async def test_unchanged_settings_cost_one_read_and_stay_the_same_object(
    database: Database, settings: Settings
) -> None:
    live = LiveSettings(settings, SettingsRepository(database))
    changed = await live.set({"retrieval.top_k": 8})
    statements: list[str] = []
    event.listen(database.engine.sync_engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    assert await live.current() is changed
    assert len(statements) == 1


async def test_what_another_process_stores_is_seen_at_the_next_look(database: Database, settings: Settings) -> None:
    ours, theirs = (LiveSettings(settings, SettingsRepository(database)) for _ in range(2))
    before = await ours.current()
    await theirs.set({"retrieval.top_k": 8})
    assert (await ours.current()).retrieval.top_k == 8
    assert before.retrieval.top_k == 5
    await theirs.reset("retrieval.top_k")
    assert (await ours.current()).retrieval.top_k == 5


async def test_an_unusable_stored_value_is_a_warning_and_not_in_the_way(
    database: Database, settings: Settings, repository: SettingsRepository, caplog: pytest.LogCaptureFixture
) -> None:
    await repository.change(lambda _: Changes({"retrieval.method": "of an older version", "retrieval.top_k": 8}))
    live = LiveSettings(settings, repository)
    assert (await live.current()).retrieval.top_k == 8
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [each for each in warnings if "retrieval.method (database): got 'of an older version'" in each]
    await live.current()
    assert len([record for record in caplog.records if "retrieval.method" in record.getMessage()]) == 1


async def test_a_database_that_fails_leaves_the_settings_as_they_were(
    database: Database, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    live = LiveSettings(settings, SettingsRepository(database))
    changed = await live.set({"retrieval.top_k": 8})
    async with database.transaction() as connection:
        await connection.execute(text("ALTER TABLE settings_state RENAME TO gone"))
    assert await live.current() is changed
    assert any("the settings stay as they were" in record.getMessage() for record in caplog.records)
