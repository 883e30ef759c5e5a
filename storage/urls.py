"""Reading a database URL, and naming it in messages without its password."""

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from condensery.errors import ConfigError

HIGHEST_PORT = 65535
_NAME = "CONDENSERY_DATABASE_URL"
_SHAPE = "postgresql://USER:PASSWORD@HOST:5432/DATABASE, with special characters of the password percent-encoded"


def parse_database_url(text: str) -> URL:
    """Turn a postgres:// or postgresql:// URL into asyncpg's form; libpq's `sslmode` becomes `ssl`.

    Raises ConfigError, which never repeats the URL, for anything else.
    """
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise ConfigError(f"{_NAME} is not a database URL; write {_SHAPE}") from None
    if url.get_backend_name() not in ("postgres", "postgresql"):
        raise ConfigError(f"{_NAME} names a {url.get_backend_name()} database; Postgres is needed: {_SHAPE}")
    if "@" in (url.host or ""):
        raise ConfigError(f"{_NAME} has an @ in its password; write it as %40: {_SHAPE}")
    if wrong := [port for port in _ports(url) if not (port.isdecimal() and 0 < int(port) <= HIGHEST_PORT)]:
        raise ConfigError(f"{_NAME} has the port {wrong[0]}; a port is a number from 1 to {HIGHEST_PORT}")
    return url.set(drivername="postgresql+asyncpg", query=_query(url))


def _ports(url: URL) -> list[str]:
    """Every port the URL names, also in its query, where a list has one for each host."""
    queried = ",".join(url.normalized_query.get("port", ())).split(",")
    return [port for port in (*queried, "" if url.port is None else str(url.port)) if port]


def _query(url: URL) -> dict[str, str | tuple[str, ...]]:
    query = dict(url.query)
    if "sslmode" in query:
        query["ssl"] = query.pop("sslmode")
    if unknown := sorted(set(query) - {"ssl", "host", "port"}):
        raise ConfigError(f"{_NAME} has parameters that asyncpg does not know: {', '.join(unknown)}; remove them")
    return query


def as_dsn(url: URL) -> str:
    """The URL, with its password, as libpq and asyncpg themselves read it: without a driver, and `ssl` as `sslmode`."""
    query = {"sslmode" if name == "ssl" else name: value for name, value in url.query.items()}
    return url.set(drivername="postgresql", query=query).render_as_string(hide_password=False)


def without_password(url: URL) -> str:
    """The URL as messages may show it."""
    return url.render_as_string(hide_password=True)
