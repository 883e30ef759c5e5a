from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from condensery.ui.guard import LOOPBACK, Guard

PAGE = {"accept": "text/html,*/*"}


async def page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("here")


async def talk(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


def client(names: tuple[str, ...] | None = LOOPBACK, url: str = "http://127.0.0.1:8000") -> TestClient:
    app = Starlette(routes=[Route("/", page, methods=["GET", "POST"]), WebSocketRoute("/ws", talk)])
    return TestClient(Guard(app, names, "badge", lambda: "badge=signed"), base_url=url)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST"])
def test_the_app_answers_under_its_own_names(host: str) -> None:
    assert client().get("/", headers={"host": host}).text == "here"


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1.evil.example", "", "[::1"])
def test_a_page_elsewhere_cannot_reach_it_by_a_name_of_its_own(host: str) -> None:
    assert client().get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:3000", "null"])
def test_a_page_elsewhere_cannot_send_anything(origin: str) -> None:
    assert client().post("/", headers={"origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect), client().websocket_connect("/ws", headers={"origin": origin}):
        pass


def test_its_own_page_can() -> None:
    own = {"origin": "http://127.0.0.1:8000"}
    assert client().post("/", headers=own).status_code == 200
    with client().websocket_connect("/ws", headers={**own, "host": "127.0.0.1:8000"}):
        pass


def test_an_app_that_others_may_reach_answers_under_any_name_but_only_its_own_pages() -> None:
    shared = client(None, "http://library.example:8000")
    assert shared.get("/").status_code == 200
    assert shared.post("/", headers={"origin": "http://evil.example"}).status_code == 403


def test_a_page_may_load_nothing_from_elsewhere() -> None:
    policy = client().get("/").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy


def cookies(response: Any) -> list[str]:
    return list(response.headers.get_list("set-cookie"))


def test_a_browser_is_signed_in_with_its_first_page() -> None:
    first = client().get("/", headers=PAGE)
    assert cookies(first) == ["badge=signed; HttpOnly; Path=/; SameSite=Lax"]
    assert cookies(client().get("/", headers={**PAGE, "cookie": "a=b; badge=signed"})) == []
    assert cookies(client().get("/", headers={"accept": "application/json"})) == []
