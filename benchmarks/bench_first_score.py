"""How long a newcomer waits: from an empty TSTBENCH_HOME to the first table, and after it.

    python benchmarks/bench_first_score.py [--smoke]

Every station is a process of its own, as somebody types it, imports and training included:

- first table: ``tstbench evaluate`` of one released system and copy, all ten metrics.
- further system, nothing new: the same with one more system, and once more.
- report: ``tstbench report`` of what is there.
- analyze: ``tstbench analyze`` of the same results.
- other direction: the first table of the way back; the classifier is there.
- mini: the first table of the dataset in the package, from another empty home.

The peer is a plain script on transformers: it imports what it needs, loads the same MiniLM and has
it read, in padded batches of 32, each distinct sentence twice, as encoder and as classifier. It
scores nothing. Processor seconds hardly depend on what else the machine does; the goals are for two
idle cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from job import CHATGPT, LI
from timing import Seconds, load_average

from tstbench.datasets_scripts.load import TestSet, load_test_set
from tstbench.files import read_lines
from tstbench.metrics.scorers.encoder_files import EMBEDDED_ENCODER, encoder_folder

GOALS = {"first table": 60, "further system": 30, "nothing new": 5, "report": 1, "mini": 15}
PEER = """
import sys, torch
from transformers import AutoModel, AutoTokenizer
folder, file = sys.argv[1:]
texts = open(file, encoding="utf-8").read().split("\\n")
tokenizer = AutoTokenizer.from_pretrained(folder)
for name in ("encoder", "classifier"):
    model = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        for i in range(0, len(texts), 32):
            model(**tokenizer(texts[i : i + 32], padding=True, return_tensors="pt"))
"""


@dataclass(frozen=True)
class Files:
    """What is scored: two files of outputs of one direction."""

    direction: str
    first: Path
    second: Path


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def yelp(folder: Path) -> tuple[Files, Files]:
    """Released outputs, both ways: ChatGPT's and retrieval's."""
    root, found = Path(os.environ["TSTBENCH_SOURCES"]), []
    for side, direction in enumerate(("negative-to-positive", "positive-to-negative")):
        lines = read_lines(root / LI / f"sentiment.test.{side}.retrieval")
        second = folder / f"retrieval-{side}.txt"
        write_lines(second, [line.split("\t")[1] for line in lines])
        first = second if side else root / CHATGPT / "output_cleaned.0"
        found.append(Files(f"yelp/{direction}", first, second))
    return found[0], found[1]


def mini(folder: Path) -> tuple[Files, Files]:
    """Sources with other words, both ways."""
    found = []
    for direction in ("mini/negative-to-positive", "mini/positive-to-negative"):
        sources = load_test_set(direction).sources
        name = direction.replace("/", "-")
        paths = [folder / f"{name}-{word}.txt" for word in ("very", "so")]
        for path, word in zip(paths, ("very", "so"), strict=True):
            write_lines(path, [text.replace("was", f"was {word}") for text in sources])
        found.append(Files(direction, *paths))
    return found[0], found[1]


def timed(command: list[str], home: Path, folder: Path) -> Seconds:
    """Run a command to its end; the processor seconds are those of all it started."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "TSTBENCH_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    children = (after[2] - before[2]) + (after[3] - before[3])
    return Seconds(wall, children)


def stations(files: Files, back: Files, small: Files, folder: Path) -> dict[str, Seconds]:
    """Each station's time; where mini is all there is, of the first table and of its report."""
    home = folder / "home"

    def tstbench(*arguments: object, home: Path = home) -> Seconds:
        command = [sys.executable, "-m", "tstbench", *map(str, arguments)]
        return timed(command, home, folder)

    def table(one: Files, *paths: Path, out: str = "results", home: Path = home) -> Seconds:
        end = ("--direction", one.direction, "--baseline", "copy", "--out", out)
        return tstbench("evaluate", *paths, *end, home=home)

    first = {"first table": table(files, files.first)}
    if files == small:
        return first | {"report": tstbench("report", "results")}
    return first | {
        "further system": table(files, files.first, files.second),
        "nothing new": table(files, files.first, files.second),
        "report": tstbench("report", "results"),
        "analyze": tstbench("analyze", "results", "--out", "analysis"),
        "other direction": table(back, back.first),
        "mini": table(small, small.first, out="mini-results", home=folder / "mini-home"),
    }


def peer(files: Files, folder: Path) -> Seconds:
    """The plain script, on the distinct sentences of the first table."""
    test_set: TestSet = load_test_set(files.direction)
    references = (text for some in test_set.references for text in some)
    texts = dict.fromkeys([*test_set.sources, *references, *read_lines(files.first)])
    file = folder / "texts.txt"
    write_lines(file, list(texts))
    model = str(encoder_folder(EMBEDDED_ENCODER))
    return timed([sys.executable, "-c", PEER, model, str(file)], folder, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="mini everywhere: does it still run?")
    arguments = parser.parse_args()
    if not arguments.smoke and "TSTBENCH_SOURCES" not in os.environ:
        sys.exit("TSTBENCH_SOURCES is needed: the outputs are released ones on Yelp")
    with tempfile.TemporaryDirectory() as name:
        folder, load = Path(name), load_average()
        small, _ = pair = mini(folder)
        files, back = pair if arguments.smoke else yelp(folder)
        plain = peer(files, folder)
        print(f"{files.direction}; load before: {load:.1f}")
        print(f"{'':16}{'wall':>8}{'processor':>11}{'/ peer':>8}   goal (wall, two idle cores)")
        for station, took in {"peer": plain, **stations(files, back, small, folder)}.items():
            goal = f"{GOALS[station]} s" if station in GOALS else ""
            ratio = took.cpu / plain.cpu
            print(f"{station:16}{took.wall:7.1f}s{took.cpu:10.1f}s{ratio:8.2f}   {goal}")


if __name__ == "__main__":
    main()
