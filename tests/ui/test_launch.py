import socket

import pytest

from condensery.errors import ConfigError
from condensery.settings import App
from condensery.ui.launch import listen, url_of


def test_a_taken_port_is_an_error_that_names_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1, port {port}: .*CONDENSERY_APP__PORT"):
            listen(App(port=port))


def test_the_port_is_held_from_then_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with listen(App(port=port)), pytest.raises(ConfigError):
        listen(App(port=port))


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),  # noqa: S104
        ("::1", "http://[::1]:8000"),
        ("localhost", "http://localhost:8000"),
    ],
)
def test_the_address_that_is_announced_can_be_opened(host: str, url: str) -> None:
    assert url_of(App(host=host)) == url
