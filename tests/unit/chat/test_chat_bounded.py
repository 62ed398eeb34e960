"""A chat server that is not one: answers without end, bombs, and doors to somewhere else."""

import asyncio
import gzip
import json
import ssl
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from answering import answering
from chat_server import KEY
from prepared import command_line

pytest.importorskip("openai")

from tstbench.chat.connection import MAX_ANSWER, TooMuchError, bounded_client
from tstbench.chat.refusals import RefusedError, fatal
from tstbench.chat.settings import ServerSettings


@contextmanager
def serving(answer):
    """The address of a server that answers by ``answer(handler)``, and what it was sent."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_POST(self):
            seen.append(self.rfile.read(int(self.headers["content-length"])))
            with suppress(OSError):  # the client has heard enough
                answer(self)

        def do_GET(self):
            answer(self)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with answering(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", seen


def post(url, key="none", most=MAX_ANSWER):
    async def go():
        # Read at once, whoever asks for a stream: the `openai` client posts, and does not.
        async with (
            bounded_client(ssl.create_default_context(), key, most) as client,
            client.stream("POST", url, json={"messages": []}) as response,
        ):
            return response

    return asyncio.run(go())


def head(handler, status=200, **headers):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def test_a_whole_answer_arrives():
    def answer(handler):
        assert handler.headers["accept-encoding"] == "identity"
        head(handler, 418, x_kind="tea")
        handler.wfile.write(b'{"a": "\xc3\xa9"}')

    with serving(answer) as (url, _):
        found = post(url, most=11)
        with pytest.raises(TooMuchError):
            post(url, most=10)
    assert (found.status_code, found.headers["x-kind"]) == (418, "tea")
    assert found.json() == {"a": "é"}


def test_a_key_is_masked_however_json_writes_it():
    key = "sk/a+b-0123456789"
    written = [key.replace("/", r"\/"), "".join(rf"\u{ord(one):04X}" for one in key), key]

    def answer(handler):
        body = f'["{written[0]}", "{written[1]}", "\\\\{written[2]}"]'.encode()
        head(handler, content_length=str(len(body)))
        handler.wfile.write(body)

    with serving(answer) as (url, _):
        assert post(url, key).json() == ["...", "...", "\\..."]


@pytest.mark.parametrize("place", ["answers", "models", "refusals", "batch"])
def test_a_key_that_a_server_repeats_is_in_no_message_and_no_file(
    place, capsys, tmp_path, monkeypatch
):
    """In every answer, the name of the model that answered, a list of models, an error."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def answer(handler):
        key = handler.headers["authorization"].removeprefix("Bearer ")
        choice = {"message": {"content": f"good, {key}"}, "finish_reason": key}
        if handler.path.endswith("/models"):
            said, status = {"data": [{"id": key, "object": "model"}]}, 200
        elif place == "answers":
            said, status = {"choices": [choice], "model": key}, 200
        else:
            code = "model_not_found" if place == "models" else "odd"
            said, status = {"error": {"message": f"not {key}", "code": code}}, 404
        body = json.dumps(said).encode()
        head(handler, status, content_length=str(len(body)), content_type="application/json")
        handler.wfile.write(body)

    with serving(answer) as (url, _):
        out = tmp_path / "o.jsonl"
        code, shown, err = command_line(
            capsys, "transfer", "chat", "--model", "m", "--base-url", url, "--retries", "0",
            "--direction", "mini/negative-to-positive", "--out", out, "--concurrency", "1",
            "--via", "batch" if place == "batch" else "chat",
        )  # fmt: skip
    assert code == (0 if place == "answers" else 2), err
    assert KEY not in shown + err
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert not [file for file in files if KEY.encode() in file.read_bytes()]
    if place == "answers":
        assert "good, ..." in out.read_text()
    else:
        assert "..." in err


def test_an_answer_without_end():
    def answer(handler):
        head(handler)
        for _ in range(4 * MAX_ANSWER >> 20):
            handler.wfile.write(b"x" * (1 << 20))

    with serving(answer) as (url, _), pytest.raises(TooMuchError, match="more than 32 MiB"):
        post(url)


def test_an_answer_without_end_is_refused_at_once_by_older_clients_too():
    """openai 1.50, the least that is asked for, wraps what a transport raises."""
    import httpx
    import openai

    wrapped = openai.APIConnectionError(request=httpx.Request("POST", "http://x/v1"))
    wrapped.__cause__ = TooMuchError("an answer of more than 32 MiB")
    failure = fatal(wrapped, ServerSettings(model="m"), "chat", has_key=False)
    assert isinstance(failure, RefusedError)
    assert "more than 32 MiB" in str(failure)


def test_an_answer_that_trickles_ends_and_is_told(capsys, tmp_path):
    def answer(handler):
        head(handler)
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)

    with serving(answer) as (url, _):
        said = transfer(capsys, tmp_path, url, "--timeout", "0.4", "--retries", "0")
    assert "did not end its answer within 0.8 seconds" in said


@pytest.mark.parametrize("via", ["chat", "batch"])
def test_a_redirect_is_told(capsys, tmp_path, via):
    with (
        serving(lambda handler: head(handler)) as (elsewhere, stolen),
        serving(lambda handler: head(handler, 307, location=elsewhere)) as (url, _),
    ):
        said = transfer(capsys, tmp_path, url, "--via", via)
    assert "redirects are not followed: give the address it names with --base-url (307" in said
    assert stolen == []


def test_a_batch_is_bounded_too(capsys, tmp_path):
    bomb = gzip.compress(b"x" * (1 << 24))

    def answer(handler):
        head(handler, content_encoding="gzip", content_length=str(len(bomb)))
        handler.wfile.write(bomb)

    with serving(answer) as (url, _):
        said = transfer(capsys, tmp_path, url, "--via", "batch")
    assert "a compressed answer, which nobody asked for" in said


def transfer(capsys, tmp_path, url, *more):
    """What the command says that ends with exit code 2."""
    where = ("--direction", "mini/negative-to-positive", "--out", str(tmp_path / "out.jsonl"))
    arguments = ("transfer", "chat", "--model", "x", "--base-url", url, *where, *more)
    code, _, err = command_line(capsys, *arguments)
    assert code == 2
    return " ".join(err.split())
