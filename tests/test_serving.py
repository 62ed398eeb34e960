"""A page is served also where the machine is too busy to answer at once."""

import socket
import time
import urllib.request

import pytest

from tstbench.errors import InputError
from tstbench.spaces.serving import start

SLOW = 3.5  # seconds; Gradio's own question waits for 3


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
    running = start(app, "127.0.0.1", port, on_close=lambda: closed.append(True))
    with urllib.request.urlopen(running.url) as answer:
        assert answer.read() == b'"here"'
    with pytest.raises(InputError, match="is in use: choose another port"):
        start(gradio.Server(), "127.0.0.1", port)
    running.close()
    assert closed == [True]
