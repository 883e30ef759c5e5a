import pytest

from condensery.storage.database import Database
from condensery.storage.turns import TurnRepository


@pytest.fixture
def repository(database: Database) -> TurnRepository:
    return TurnRepository(database)
