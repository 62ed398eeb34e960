"""A page is served also where the machine is too busy to answer at once."""

import asyncio
import http.client
import socket
import time
import urllib.request

import pytest

from tstbench.errors import InputError
from tstbench.hosts import Hosts
from tstbench.spaces.serving import KnownHosts, start

SLOW = 3.5  # seconds; Gradio's own question waits for 3


def asked(port, host):
    """The status of an answer to a request that names this host."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/", headers={"Host": host})
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.slow
def test_a_page_that_answers_slowly_is_served():
    gradio = pytest.importorskip("gradio")
    app = gradio.Server()

    @app.api_route("/", methods=["GET", "HEAD"])
    def root() -> str:
        time.sleep(SLOW)
        return "here"

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    closed = []
    running = start(
        app,
        "127.0.0.1",
        port,
        allowed_hosts=["rate.example.org"],
        on_close=lambda: closed.append(True),
    )
    with urllib.request.urlopen(running.url) as answer:
        assert answer.read() == b'"here"'
    for name, status in (("evil.example", 421), (f"rate.example.org:{port}", 200)):
        assert asked(port, name) == status
    with pytest.raises(InputError, match=r"is in use.*--port 0"):
        start(gradio.Server(), "127.0.0.1", port)
    running.close()
    assert closed == [True]


@pytest.mark.parametrize(
    ("names", "reached"),
    [
        ([b"127.0.0.1:80"], True),
        ([b"evil.example"], False),
        ([], False),
        ([b"127.0.0.1", b"evil.example"], False),
    ],
)
def test_a_websocket_is_opened_by_its_own_name_only(names, reached):
    """A page of somebody else's name would read what ours says, as over HTTP."""
    calls, sent = [], []

    async def app(scope, receive, send):
        calls.append(scope["type"])

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "headers": [(b"host", name) for name in names]}
    asyncio.run(KnownHosts(app, Hosts("127.0.0.1"))(scope, None, send))
    assert calls == ["websocket"] * reached
    assert sent == ([] if reached else [{"type": "websocket.close", "code": 1008}])
