import pytest

from condensery.errors import ConfigError
from condensery.storage.urls import parse_database_url, without_password


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg2"])
def test_every_form_of_a_postgres_url_becomes_asyncpg_s(scheme: str) -> None:
    url = parse_database_url(f" {scheme}://me:secret@db.example:6543/docs\n")
    assert url.render_as_string(hide_password=False) == "postgresql+asyncpg://me:secret@db.example:6543/docs"


def test_a_quoted_password_is_unquoted_and_never_shown() -> None:
    url = parse_database_url("postgresql://me:p%40ss%2Fw%3Ard%25%23@db/docs")
    assert url.password == "p@ss/w:rd%#"  # noqa: S105
    assert without_password(url) == "postgresql+asyncpg://me:***@db/docs"


def test_libpq_s_sslmode_is_understood() -> None:
    assert parse_database_url("postgres://db/docs?sslmode=require").query == {"ssl": "require"}


def test_a_unix_socket_may_be_named_by_the_host_parameter() -> None:
    assert parse_database_url("postgresql:///docs?host=/run/pg&port=5433").query == {"host": "/run/pg", "port": "5433"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("me:hunter2@db/docs", "postgresql://USER:PASSWORD@HOST"),
        ("", "postgresql://USER:PASSWORD@HOST"),
        ("mysql://me:hunter2@db/docs", "mysql"),
        ("postgresql://me:hunter@2@db/docs", "%40"),
        ("postgresql://me:hunter2@db:port/docs", "postgresql://USER:PASSWORD@HOST"),
        ("postgresql://me:hunter2@db:99999/docs", "the port 99999; a port is a number from 1 to 65535"),
        ("postgresql://me:hunter2@db:0/docs", "the port 0;"),
        ("postgresql://me:hunter2@/docs?host=a,b&port=5432,70000", "the port 70000;"),
        ("postgresql://me:hunter2@db/docs?passwrd=hunter2&pgbouncer=true", "passwrd, pgbouncer"),
    ],
)
def test_a_wrong_url_is_refused_without_repeating_it(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match="CONDENSERY_DATABASE_URL") as caught:
        parse_database_url(text)
    assert told in str(caught.value)
    assert "hunter" not in str(caught.value)
    assert caught.value.__cause__ is None
