from condensery.storage.database import Database
from condensery.storage.turns import TurnRepository
from condensery.workflows.turn import Outcome, Turn, TurnKey


async def test_a_saved_turn_is_read_back_as_it_was(database: Database) -> None:
    turn = Turn(key=TurnKey(turn_id="t1", conversation_id="c"), message="m", answer="a", outcome=Outcome.ANSWERED)
    await TurnRepository(database).save(turn)
    assert await TurnRepository(database).get("t1") == turn
