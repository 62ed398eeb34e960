"""A small chat server that speaks OpenAI's protocol, and fails as servers do, on purpose.

What it answers depends on the request alone. A fault happens at a request's first time or times, by
a hash of its text, so that a run is the same every time: 429 with Retry-After, 500, a cut
connection, an answer that comes too late, half an answer, and a page of HTML.

    python tests/support/chat_server.py 8000 --latency 0.2
"""

import argparse
import asyncio
import hashlib
import json
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from tstbench.chat import batch, client

FAULTS = ("429", "500", "cut", "late", "half", "page", "503 twice")
KEY = "sk-only-for-tests"


class ChatServer:
    """Serves /v1/chat/completions, /v1/completions, /v1/models, /v1/files and /v1/batches.

    Args:
        latency: seconds before each answer.
        faults: share of the requests that fail at first.
        late: seconds that a late answer takes.
        answer: from the messages' last text to the answer.
        key: without it a request is refused; None takes any.
        models: known names; None takes any.
        limit: longest prompt, in words.
        gateway: which request, from 1, gets a page of HTML with 502.
        tokens: from a request to the tokens of its answer, each with its alternatives.
        fault: the only one of the faults.
        rate: requests a second; what is more is refused with 429.
    """

    def __init__(
        self,
        latency=0.0,
        faults=0.0,
        late=2.0,
        answer=None,
        key=None,
        models=None,
        limit=None,
        error=None,
        rate=None,
        fault=None,
        gateway=None,
        tokens=None,
    ):
        self.latency, self.faults, self.late = latency, faults, late
        self.answer = answer or rewritten
        self.key, self.models, self.limit, self.error = key, models, limit, error
        self.times = Counter()  # how often each text was asked
        self.answered = Counter()  # how often each text was answered completely
        self.bodies = []
        self.most_at_once = self.at_once = 0
        self.injected = Counter()
        self.files, self.batches = {}, {}
        self.batch_fails = None  # the messages of each batch's errors, between |
        self.gateway, self.only = gateway, fault
        self.choices = tokens
        self.forgets = None  # its batches or its files
        self.rate, self.tokens, self.filled = rate, 1.0, time.monotonic()

    async def serve(self, port=0):
        self.server = await asyncio.start_server(self.connection, "127.0.0.1", port, backlog=512)
        self.port = self.server.sockets[0].getsockname()[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    async def connection(self, reader, writer):
        try:
            while (request := await read(reader)) is not None:
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    if not await self.respond(writer, *request):
                        break
                finally:
                    self.at_once -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def respond(self, writer, method, path, headers, body):
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            said = f"Incorrect API key provided: {headers.get('authorization', '')[7:]}"
            return await send(writer, 401, error(said, "invalid_api_key"))
        if path.endswith("/models"):
            rows = [
                {"id": n, "object": "model", "created": 0, "owned_by": "t"}
                for n in self.models or []
            ]
            return await send(writer, 200, {"object": "list", "data": rows})
        if "/files" in path or "/batches" in path:
            return await self.batch_api(writer, method, path, body)
        if not path.endswith(("/v1/chat/completions", "/v1/completions")):
            return await send(writer, 404, {"detail": "Not Found"})
        if ("prompt" in json.loads(body)) is path.endswith("/chat/completions"):
            return await send(writer, 422, error("another endpoint", None))
        return await self.chat(writer, json.loads(body))

    async def chat(self, writer, asked):
        self.bodies.append(asked)
        text = question_in(asked)
        if self.error is not None:
            return await send(writer, *self.error)
        if self.models is not None and asked["model"] not in self.models:
            said = f"The model `{asked['model']}` does not exist or you do not have access to it."
            return await send(writer, 404, error(said, "model_not_found"))
        if self.limit is not None and len(text.split()) > self.limit:
            said = f"This model's maximum context length is {self.limit} tokens."
            return await send(writer, 400, error(said, "context_length_exceeded"))
        self.times[text] += 1
        if len(self.bodies) == self.gateway:
            self.injected["gateway"] += 1
            return await send(writer, 502, "<html>Bad gateway</html>", kind="text/html")
        if self.rate is not None and not self.taken():
            slow = error("Rate limit reached", "rate_limit_exceeded")
            return await send(writer, 429, slow, {"retry-after-ms": str(1000 / self.rate)})
        fault = self.fault(text)
        if fault is not None:
            self.injected[fault] += 1
            return await self.fail(writer, fault, asked)
        await asyncio.sleep(self.latency)
        sent = await send(writer, 200, self.completion(asked))
        self.answered[text] += 1
        return sent

    def completion(self, asked):
        text = question_in(asked)
        found = self.answer(asked) if self.answer is not rewritten else rewritten(text)
        content = {"message": {"role": "assistant", "content": found}}
        if "prompt" in asked:
            content = {"text": found}
        more = {}
        if asked.get("logprobs") and "prompt" in asked:
            tokens = self.choices(asked)
            others = [{o["token"]: o["logprob"] for o in t["top_logprobs"]} for t in tokens]
            more["logprobs"] = {"tokens": [t["token"] for t in tokens], "top_logprobs": others}
        elif asked.get("logprobs") and self.choices is not None:
            more["logprobs"] = {"content": self.choices(asked)}
        usage = [len(text.split()), len((found or "").split())]
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": asked["model"],
            "choices": [{"index": 0, "finish_reason": "stop", **content, **more}],
            "usage": {
                "prompt_tokens": usage[0],
                "completion_tokens": usage[1],
                "total_tokens": sum(usage),
            },
        }

    def taken(self):
        """Whether there was a token in the bucket, which holds those of a tenth of a second."""
        now = time.monotonic()
        most = max(1.0, self.rate / 10)
        self.tokens = min(most, self.tokens + (now - self.filled) * self.rate)
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def fault(self, text):
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64
        if number >= self.faults:
            return None
        fault = self.only or FAULTS[int(number / self.faults * len(FAULTS))]
        return fault if self.times[text] <= (2 if fault == "503 twice" else 1) else None

    async def fail(self, writer, fault, asked):
        if fault == "429":
            slow = error("Rate limit reached", "rate_limit_exceeded")
            return await send(writer, 429, slow, {"Retry-After": "0.1"})
        if fault == "500":
            return await send(writer, 500, error("The server had an error", None))
        if fault == "503 twice":
            return await send(writer, 503, "overloaded", kind="text/plain")
        if fault == "page":
            return await send(
                writer, 200, "<html><body>Bad gateway</body></html>", kind="text/html"
            )
        if fault == "late":
            await asyncio.sleep(self.late)
            return await send(writer, 200, self.completion(asked))
        if fault == "half":
            return await send(writer, 200, json.dumps(self.completion(asked))[:60])
        whole = json.dumps(self.completion(asked)).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
        writer.write(b"content-length: %d\r\n\r\n" % len(whole) + whole[:20])
        await writer.drain()
        return False  # the connection is cut in the middle

    async def batch_api(self, writer, method, path, body):
        number = path.rsplit("/", 2 if path.endswith("/content") else 1)[1]
        if path.endswith("/content"):
            if self.forgets == "files":
                return await send(writer, 404, error(f"No such File object: {number}", None))
            return await send(writer, 200, self.files[number], kind="application/jsonl")
        if path.endswith("/files"):
            self.files["file-1"] = re.search(rb"\r\n\r\n(\{.*?)\r\n--", body, re.DOTALL)[1].decode()
            return await send(writer, 200, {"id": "file-1", "object": "file"})
        if method == "POST":
            self.batches["batch-1"] = 0
            asked = json.loads(body)
            lines = [
                json.loads(line) for line in self.files[asked["input_file_id"]].split("\n") if line
            ]
            rows = []
            for line in lines:
                self.times[line["body"]["messages"][-1]["content"]] += 1
                reply = {"status_code": 200, "body": self.completion(line["body"])}
                rows.append({"custom_id": line["custom_id"], "response": reply, "error": None})
            rows.reverse()  # the order of a batch's answers is not that of its requests
            rows[0] = {"custom_id": rows[0]["custom_id"], "response": None, "error": {"code": "x"}}
            self.files["file-2"] = "".join(
                json.dumps(row, ensure_ascii=False) + "\n" for row in rows
            )
        if method == "GET" and self.forgets == "batches":
            return await send(writer, 404, error("No batch found with id 'batch-1'.", None))
        self.batches["batch-1"] += 1
        done = self.batches["batch-1"] > 2
        batch = {
            "id": "batch-1",
            "object": "batch",
            "status": "completed" if done else "in_progress",
        }
        batch["output_file_id"] = "file-2" if done else None
        if self.batch_fails is not None:
            rows = [{"code": "x", "message": one} for one in self.batch_fails.split("|")]
            why = {"object": "list", "data": rows}
            batch |= {"status": "failed", "output_file_id": None, "errors": why}
        return await send(writer, 200, batch)


def question_in(asked):
    """The last text of a chat, or the prompt of a completion model."""
    return asked["prompt"] if "prompt" in asked else asked["messages"][-1]["content"]


def rewritten(text):
    """What a chat model might say: the sentence, a little different, with words around it."""
    sentence = re.split(r":|\n", text.removesuffix("\nOutput:"))[-1].strip()
    return f'Sure, here is the rewritten sentence:\n\n"{sentence.replace("never", "always")}"'


def error(message, code):
    return {"error": {"message": message, "type": "error", "code": code}}


async def read(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin1").split("\r\n")
    method, path, _ = first.split(" ")
    headers = dict(
        line.lower().split(": ", 1)
        if "uthor" not in line
        else ("authorization", line.split(": ", 1)[1])
        for line in lines
        if line
    )
    return method, path, headers, await reader.readexactly(int(headers.get("content-length", 0)))


async def send(writer, status, body, headers=None, kind="application/json"):
    content = (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = {"content-type": kind, "content-length": len(content), **(headers or {})}
    said = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} X\r\n{said}\r\n".encode() + content)
    await writer.drain()
    return True


@contextmanager
def serving(**how):
    """A server in a thread; what it saw is read from it afterwards. Who asks it again asks soon."""
    server, loop, ready = ChatServer(**how), asyncio.new_event_loop(), threading.Event()

    def run():
        loop.run_until_complete(server.serve())
        ready.set()
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client, "_FIRST_WAIT", 0.02)
            patch.setattr(batch, "_FIRST_LOOK", 0.02)
            yield server
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def stop():
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--latency", type=float, default=0.0)
    given = parser.parse_args()

    async def forever():
        server = ChatServer(given.latency)
        await server.serve(given.port)
        await server.server.serve_forever()

    asyncio.run(forever())
