"""Requests a second of a prompted system against a server that takes 200 ms for every answer.

The ideal is concurrency / latency, which needs an idle processor: at 64 a request may take 3.1 ms
of one, and the server needs another. The published loop sends one request after the other and
sleeps ten seconds after each; its pauses are counted, not slept.

    python benchmarks/bench_prompting.py
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from timing import read_options

LATENCY = 0.2  # seconds
PAUSE = 10.0  # seconds after each request, in the published script
SERVER = Path(__file__).parents[1] / "tests" / "support" / "chat_server.py"
DIRECTION = "mini/negative-to-positive"


@contextmanager
def server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(SERVER), str(port), "--latency", str(LATENCY)]
    process = subprocess.Popen(command)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def ours(url: str, concurrency: int, count: int) -> tuple[float, float]:
    """Requests a second, from the first request to the last prediction; processor ms for each."""
    from tstbench.trainers.load import load_system
    from tstbench.trainers.system import Generation

    settings = {"model": "m", "base_url": url, "concurrency": concurrency}
    sources = [f"sentence {i} of {concurrency} was never good ." for i in range(count)]
    chat = load_system("chat")
    with tempfile.TemporaryDirectory() as home:  # nothing is answered from disk
        os.environ["TSTBENCH_HOME"] = home
        start, busy = time.perf_counter(), time.process_time()
        answers = chat.transfer(sources, DIRECTION, generation=Generation(settings=settings))
        assert len(list(answers)) == count
        busy = time.process_time() - busy
        return count / (time.perf_counter() - start), 1000 * busy / count


def published(url: str, count: int) -> float:
    """Requests a second of the loop with its pauses."""
    import openai

    client = openai.OpenAI(api_key="none", base_url=url)
    start = time.perf_counter()
    for i in range(count):
        client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": f"rewrite this:sentence {i} ."}],
            temperature=0,
            max_tokens=100,
        )
    return count / (time.perf_counter() - start + count * PAUSE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2, help="the best of so many")
    parser.add_argument("--seconds", type=float, default=10.0, help="ideal length of a round")
    given = read_options(parser, rounds=1, seconds=0.2)
    with server() as url:
        ours(url, 4, 8)  # imports, and the server's first requests
        one_by_one = published(url, 10)
        print(f"published loop: {one_by_one:.3f} requests/s with its pauses")
        for concurrency in (1, 4, 16, 64):
            ideal = concurrency / LATENCY
            count = round(ideal * given.seconds)
            rate, busy = max(ours(url, concurrency, count) for _ in range(given.rounds))
            print(
                f"concurrency {concurrency:>2}: {rate:6.1f} requests/s, {rate / ideal:.3f} of the "
                f"ideal {ideal:.0f}, {rate / one_by_one:,.0f} times the published loop, "
                f"{busy:.1f} ms of a processor for a request"
            )


if __name__ == "__main__":
    main()
