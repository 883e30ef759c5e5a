"""What every test may ask for: a clean environment and a database of its own on one embedded Postgres."""

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import hypothesis
import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
for _name in [name for name in os.environ if name.startswith("CONDENSERY_")]:
    if _name != "CONDENSERY_REQUIRE_BROWSER":  # not a setting: it is for the tests of the chat app
        del os.environ[_name]

from condensery.app import open_app  # noqa: E402
from condensery.models.embedding import HuggingFaceEmbedder  # noqa: E402
from condensery.models.embedding_folder import model_folder  # noqa: E402
from condensery.settings import BUNDLED_EMBEDDINGS, Settings  # noqa: E402
from condensery.storage.database import Database, open_database  # noqa: E402
from condensery.storage.embedded import start_server  # noqa: E402
from condensery.storage.migrate import migrate  # noqa: E402

TEMPLATE = "migrated"
EXAMPLES = Path(__file__).parents[1] / "examples" / "docs"
_numbers = itertools.count(1)

# A slow or busy machine is no fault of the code: property tests have no time limit.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's shell reaches a test; a test sets what it needs with monkeypatch."""
    for name in [name for name in os.environ if name.startswith("CONDENSERY_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A temporary directory whose path is short enough for a unix socket in it."""
    path = Path(tempfile.mkdtemp(prefix="cnd-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The session's embedded Postgres, as an asyncpg URL of its `postgres` database; `migrated` is the template."""
    home = Path(tempfile.mkdtemp(prefix="cnd-"))
    server = start_server(home)
    _run(_statement(server.url().render_as_string(), "ALTER SYSTEM SET fsync = off"))  # tests need no safe disk
    _run(_statement(server.url().render_as_string(), f"CREATE DATABASE {TEMPLATE}"))
    _run(migrate(server.url(TEMPLATE)))
    yield server.url().render_as_string()
    server.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
async def database_url(postgres_url: str) -> AsyncIterator[str]:
    """The URL of a fresh, migrated database that only this test uses."""
    async with _new_database(postgres_url, f"TEMPLATE {TEMPLATE}") as url:
        yield url


@pytest.fixture
async def empty_database_url(postgres_url: str) -> AsyncIterator[str]:
    """The URL of a fresh database without any table or extension of ours."""
    async with _new_database(postgres_url, "") as url:
        yield url


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings with a data directory and a database of this test's own."""
    return Settings.model_validate({"data_dir": tmp_path, "database_url": database_url})


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """A fresh database, opened as the product opens it."""
    async with open_database(settings) as database:
        yield database


@asynccontextmanager
async def _new_database(postgres_url: str, options: str) -> AsyncIterator[str]:
    name = f"test_{next(_numbers)}"
    await _statement(postgres_url, f"CREATE DATABASE {name} {options}")
    yield postgres_url.replace("/postgres?", f"/{name}?")
    await _statement(postgres_url, f"DROP DATABASE {name} WITH (FORCE)")


async def _statement(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def _run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run `coroutine` to its end beside whatever loop pytest has in this thread."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="session")
def corpus_template(postgres_url: str) -> str:
    """The name of a database that holds the ingested example documents; tests copy it."""
    _run(_statement(postgres_url, "CREATE DATABASE corpus TEMPLATE migrated"))
    _run(_ingest_examples(postgres_url.replace("/postgres?", "/corpus?")))
    return "corpus"


class _SharedEmbedder(HuggingFaceEmbedder):
    """The real embedding model, loaded once for all tests: an app that closes leaves it open."""

    async def close(self) -> None:
        pass


@pytest.fixture(scope="session")
def shared_embedder() -> Iterator[HuggingFaceEmbedder]:
    """The bundled embedding model."""
    folder = model_folder(BUNDLED_EMBEDDINGS)
    embedder = _SharedEmbedder(folder, name=BUNDLED_EMBEDDINGS)
    yield embedder
    _run(HuggingFaceEmbedder.close(embedder))


@pytest.fixture
async def corpus_settings(
    postgres_url: str,
    corpus_template: str,
    tmp_path: Path,
    shared_embedder: HuggingFaceEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Settings]:
    """Settings over a fresh copy of the ingested example documents; apps opened in the test share one embedder."""
    monkeypatch.setattr("condensery.services.open_embedder", lambda settings: shared_embedder)
    async with _new_database(postgres_url, f"TEMPLATE {corpus_template}") as url:
        yield Settings.model_validate({"data_dir": tmp_path, "database_url": url})


async def _ingest_examples(url: str) -> None:
    settings = Settings.model_validate({"database_url": url})
    async with open_app(settings) as app:
        report = await app.ingest([EXAMPLES])
    assert report.ok, report.failed
