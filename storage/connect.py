"""Engines, and what their failures mean for whoever must act."""

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg  # type: ignore[import-untyped]
from sqlalchemy import URL, event
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from tenacity import before_sleep_log, retry, retry_if_exception_type, stop_after_delay, wait_exponential

from condensery.errors import Busy, CondenseryError, ConfigError, ProviderError
from condensery.storage.urls import without_password

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 10
PING_AFTER_SECONDS = 0.2
RECOVERY_SECONDS = 60
Revive = Callable[[], Awaitable[object]]

_OUT_OF_REACH = (OSError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError)
_PASSING = (asyncpg.InsufficientResourcesError, asyncpg.OperatorInterventionError, asyncpg.TransactionRollbackError)
_LOST = (asyncpg.InternalClientError, asyncpg.InterfaceError)
"""What the driver says of a connection that broke in the middle of something."""

_OF_THE_DRIVER = (OSError, asyncpg.PostgresError, *_LOST)
_WAY_OUT = "correct CONDENSERY_DATABASE_URL, or unset it to use the embedded database"


def new_engine(url: URL, *, revive: Revive | None = None, **pool: Any) -> AsyncEngine:
    """An engine for `url`, whose connections fail with ConfigError or ProviderError.

    When the server is out of reach, `revive` may start it before a second try.
    """

    async def connect() -> Any:
        try:
            return await _connect(url, revive)
        except _OF_THE_DRIVER as error:
            if meant := _meaning(error, url):
                raise meant from error
            raise _unexpected(error, url) from None

    return create_async_engine(url, async_creator=connect, hide_parameters=True, **pool)


def check_when_idle(engine: AsyncEngine) -> None:
    """Replace a pooled connection whose server has gone, without a round trip for every use of a busy one."""

    def note(connection: Any, record: Any) -> None:
        record.info["idle since"] = time.monotonic()

    def check(connection: Any, record: Any, proxy: Any) -> None:
        connection.run_async(_let_the_loop_look)
        idle = time.monotonic() - record.info.get("idle since", time.monotonic())
        if connection.driver_connection.is_closed() or (idle > PING_AFTER_SECONDS and not _answers(connection)):
            raise DisconnectionError

    event.listen(engine.sync_engine, "checkin", note)
    event.listen(engine.sync_engine, "checkout", check)


async def _let_the_loop_look(raw: Any) -> None:
    """Give the event loop the turns it needs to notice that the server hung up."""
    for _ in range(3):
        await asyncio.sleep(0)


def _answers(connection: Any) -> bool:
    try:
        connection.run_async(lambda raw: raw.execute("SELECT 1", timeout=CONNECT_SECONDS))
    except _OF_THE_DRIVER:
        return False
    return True


async def _connect(url: URL, revive: Revive | None) -> Any:
    address = url.translate_connect_args(username="user") | dict(url.query)
    address |= {"timeout": CONNECT_SECONDS, "server_settings": {"application_name": "condensery"}}
    if "port" in address:
        address["port"] = int(address["port"])
    try:
        return await _dial(**address)
    except _OUT_OF_REACH:
        if revive is None:
            raise
    await revive()
    return await _dial(**address)


@retry(
    retry=retry_if_exception_type(asyncpg.CannotConnectNowError),  # it starts, or recovers from a crash
    wait=wait_exponential(multiplier=0.1, max=2),
    stop=stop_after_delay(RECOVERY_SECONDS),
    before_sleep=before_sleep_log(logger, logging.WARNING),
    reraise=True,
)
async def _dial(**address: Any) -> Any:
    return await asyncpg.connect(**address)


@asynccontextmanager
async def reporting_failures(url: URL) -> AsyncIterator[None]:
    """Turn what goes wrong with a database into ConfigError, ProviderError or Busy.

    The driver's own error, which may quote what people wrote, goes no further when it is not one we know.
    """
    try:
        yield
    except PoolTimeout as error:
        raise Busy("every database connection is in use; try again in a moment") from error
    except DBAPIError as error:
        cause = (error.orig and error.orig.__cause__) or error
        if meant := _meaning(cause, url):
            raise meant from error
        raise _unexpected(cause, url) from None
    except (asyncpg.PostgresError, *_LOST) as error:  # where SQLAlchemy does not wrap them: at a transaction's ends
        if meant := _meaning(error, url):
            raise meant from error
        raise _unexpected(error, url) from None


def _unexpected(error: BaseException, url: URL) -> ProviderError:
    """What is said of any other error; the log names it, never its text, which can hold a row or a parameter."""
    code = getattr(error, "sqlstate", None) or "no code"
    names = [f"{part} {value}" for part in ("table", "constraint") if (value := getattr(error, f"{part}_name", None))]
    where = "".join(traceback.format_tb(error.__traceback__))
    logger.debug("%s (%s) %s\n%s", type(error).__name__, code, ", ".join(names), where)
    return ProviderError(f"the database failed unexpectedly ({type(error).__name__}, {code}); -vv logs where")


def _meaning(error: BaseException | None, url: URL) -> CondenseryError | None:
    """What the operator reads, without a password; None for an error that is not foreseen."""
    where = f"the database {without_password(url)}"
    what = getattr(error, "message", None) or str(error) or type(error).__name__
    match error:
        case asyncpg.InvalidAuthorizationSpecificationError() | asyncpg.ClientConfigurationError():
            return ConfigError(f"{where} refuses the connection: {what}; {_WAY_OUT}")
        case asyncpg.InvalidCatalogNameError():
            return ConfigError(f"{where} does not exist: {what}; create it with createdb, or {_WAY_OUT}")
        case asyncpg.InsufficientPrivilegeError():
            return ConfigError(
                f"{where} does not allow what is needed: {what}; grant CREATE on the database and its schema, "
                "and let an administrator run CREATE EXTENSION vector"
            )
        case asyncpg.LockNotAvailableError():
            return ProviderError(f"{where} is locked by another process that updates it; try again when that is done")
    if isinstance(error, _OUT_OF_REACH):
        return ProviderError(f"cannot reach {where}: {what}; start it, {_WAY_OUT}")
    if type(error) is asyncpg.InterfaceError or isinstance(error, asyncpg.InternalClientError):
        return ProviderError(f"the connection to {where} was lost; try again in a moment, or {_WAY_OUT}")
    return ProviderError(f"{where} failed: {what}; try again") if isinstance(error, _PASSING) else None
