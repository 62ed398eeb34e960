"""A million outputs of one's own data: peak memory and sentences a second, as they grow. By hand.

    python benchmarks/bench_million.py                                # 100,000 and 1,000,000 pairs
    python benchmarks/bench_million.py --sentences 20000 100000 --metrics acc bleu

Makes data of as many pairs as asked from the words of `mini` (one reference each), and outputs that
change two words; then runs ``tstbench evaluate`` on them, in a process of its own with an empty
``TSTBENCH_HOME``, and prints that process's peak memory, its time, and what both cost a sentence.
Scorers are trained on the data's few training sentences, so that only scoring grows. The first line
is a run of 1,000 sentences: what models and libraries take by themselves.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from job import edited, generated_job
from timing import read_options

METRICS = "acc", "bleu", "chrf", "ppl", "cola", "length_ratio"
WAY = "many/negative-to-positive"


def write_data(folder: Path, sentences: int) -> None:
    """``many.toml`` with its texts, and ``outputs.txt``."""
    rng, job = random.Random(0), generated_job()
    sources = list(job.test_set.sources)
    words = sorted({word for source in sources for word in source.split()})
    for name in ("negative", "positive"):
        texts = (f"{rng.choice(sources)} {name}" for _ in range(2_000))
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n")
    with (
        (folder / "test.txt").open("w") as test,
        (folder / "references.txt").open("w") as references,
        (folder / "outputs.txt").open("w") as outputs,
    ):
        for number in range(sentences):
            source = f"{edited(rng.choice(sources), words, rng)} {number}"
            test.write(f"{source}\n")
            references.write(f"{edited(source, words, rng)}\n")
            outputs.write(f"{edited(source, words, rng)}\n")
    (folder / "many.toml").write_text(
        'name = "many"\nstyles = ["negative", "positive"]\n'
        '[train]\nnegative = "negative.txt"\npositive = "positive.txt"\n'
        '[[direction]]\nfrom = "negative"\nto = "positive"\n'
        'test = { sources = "test.txt", references = ["references.txt"] }\n'
    )


def measure(folder: Path, metrics: list[str], more: list[str]) -> tuple[float, float]:
    """Seconds, and GiB at the most."""
    command = [sys.executable, "-m", "tstbench", "evaluate", str(folder / "outputs.txt")]
    command += ["--data", str(folder / "many.toml"), "--direction", WAY, "--metrics", *metrics]
    command += ["--out", str(folder / "results"), *more]
    start = time.perf_counter()
    env = {**os.environ, "TSTBENCH_HOME": str(folder / "home")}
    with subprocess.Popen(command, env=env, cwd=folder) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    return time.perf_counter() - start, used.ru_maxrss * resource_unit() / 2**30


def resource_unit() -> int:
    """Bytes of ``ru_maxrss``: kibibytes on Linux, bytes on macOS."""
    return 1 if sys.platform == "darwin" else 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--metrics", nargs="+", default=list(METRICS))
    asked = read_options(parser, sentences=[40], metrics=["bleu"])
    print(f"metrics: {' '.join(asked.metrics)}")
    before: tuple[int, float, float] | None = None
    for sentences in (1_000, *asked.sentences):
        with tempfile.TemporaryDirectory() as folder:
            write_data(Path(folder), sentences)
            seconds, peak = measure(Path(folder), asked.metrics, [])
        print(f"{sentences:>9,} sentences: {seconds:8.1f} s, {peak:6.2f} GiB", end="")
        if before:
            count, earlier, held = sentences - before[0], before[1], before[2]
            print(
                f"; of each more, {1e6 * (seconds - earlier) / count:.0f} us and "
                f"{(peak - held) * 2**30 / count:,.0f} bytes",
                end="",
            )
        print(flush=True)
        before = sentences, seconds, peak


if __name__ == "__main__":
    main()
