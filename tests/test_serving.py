"""A page is served also where the machine is too busy to answer at once."""

import http.client
import socket
import time
import urllib.request

import pytest

from tstbench.errors import InputError
from tstbench.spaces.serving import start

SLOW = 3.5  # seconds; Gradio's own question waits for 3


def asked(port, host):
    """The status of an answer to a request that names this host."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/", headers={"Host": host})
    status = connection.getresponse().status
    connection.close()
    return status


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
    with pytest.raises(InputError, match="is in use: choose another port"):
        start(gradio.Server(), "127.0.0.1", port)
    running.close()
    assert closed == [True]
