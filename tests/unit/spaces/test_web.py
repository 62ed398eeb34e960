"""A page is served also where the machine is too busy to answer at once."""

import asyncio
import time
from pathlib import Path

import pytest
from answering import ask, asked, free_port
from leaderboard_results import score_by_bleu

import tstbench
from tstbench.errors import InputError
from tstbench.hosts import Hosts
from tstbench.spaces.web import MAX_BODY, KnownHosts, start

SLOW = 3.5  # seconds; Gradio's own question waits for 3


@pytest.mark.slow
def test_a_page_that_answers_slowly_is_served():
    gradio = pytest.importorskip("gradio")
    app = gradio.Server()

    @app.api_route("/", methods=["GET", "HEAD"])
    def root() -> str:
        time.sleep(SLOW)
        return "here"

    port, closed = free_port(), []
    called = {"allowed_hosts": ["rate.example.org"], "on_close": lambda: closed.append(True)}
    running = start(app, "127.0.0.1", port, **called)
    assert asked(running.url)[1] == '"here"'
    for name, status in (("evil.example", 421), (f"rate.example.org:{port}", 200)):
        assert asked(running.url, Host=name)[0] == status
    with pytest.raises(InputError, match=r"is in use.*--port 0"):
        start(gradio.Server(), "127.0.0.1", port)
    running.close()
    assert closed == [True]


@pytest.mark.parametrize("what", ["metric", "leaderboard"])
def test_uploads_have_a_limit_and_come_from_the_servers_own_page(what, tmp_path, monkeypatch):
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import launch as board
    from tstbench.spaces.metric_page import launch as metric

    if what == "metric":
        folder = Path(tstbench.__file__).parent / "metrics" / "bleu"
        page = metric(folder, prevent_thread_lock=True, quiet=True)
        port, path = page.server_port, "/gradio_api/upload"
    else:
        (tmp_path / "predictions").mkdir()  # results that are only begun
        page = board(tmp_path, port=0, score=score_by_bleu, block=False)
        port, path = int(page.url.rstrip("/").rpartition(":")[2]), "/leaderboard/submit"
    try:
        head = 'Content-Disposition: form-data; name="files"; filename="a"'
        part = f"--x\r\n{head}\r\n\r\na\r\n--x--\r\n".encode()
        own, form = f"http://127.0.0.1:{port}", "multipart/form-data; boundary=x"

        def sent(body=part, **headers):  # as a page of another website sends it: nothing is asked
            return ask(own, path, "POST", body, **{"Content-Type": form, **headers})[0]

        assert sent(Origin=own) not in (403, 413, 421)
        assert sent() not in (403, 413, 421)  # a program
        for other in ("https://evil.example", "null", f"http://127.0.0.2:{port}"):
            assert sent(Origin=other, Content_Type="text/plain") == 403
        assert sent(None, Content_Length=str(100 << 20)) == 413
    finally:
        page.close()


def test_a_request_that_says_no_size_ends_where_it_is_too_large():
    parts, got = iter([bytes(MAX_BODY - 1), b"a", b"b"]), []

    async def receive():
        return {"type": "http.request", "body": next(parts)}

    async def app(scope, receive, send):
        got.extend([(await receive())["type"] for _ in range(3)])

    scope = {"type": "http", "headers": [(b"host", b"127.0.0.1")]}
    asyncio.run(KnownHosts(app, Hosts("127.0.0.1"))(scope, receive, None))
    assert got == ["http.request", "http.request", "http.disconnect"]


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
