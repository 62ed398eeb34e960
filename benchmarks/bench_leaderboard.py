"""How long a reader of the leaderboard waits, measured in a real browser.

    python benchmarks/bench_leaderboard.py [--systems 200] [--metrics 50]

Results are generated (only their amount matters, not their values): systems x 14 directions, each
a report of metrics with intervals, signatures and replicates, and sentences for one direction.
Prints one JSON object per measurement. "Cold" is a browser's first visit to the page, "warm" a
later one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import read_options

from tstbench import __version__
from tstbench.datasets_scripts.catalog import DIRECTIONS
from tstbench.metrics.registry import METRICS
from tstbench.metrics.statistics import RESAMPLES
from tstbench.pipelines.report import (
    DataInfo,
    IntervalInfo,
    Report,
    Sample,
    Score,
    SystemInfo,
    predictions_sha256,
    score_recipe,
    write_report,
)
from tstbench.pipelines.results import folder_name
from tstbench.spaces.leaderboard import launch
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.places import MOST_TESTED

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
FAMILIES = ("fpft", "peft", "prompted", "rule", "human", "unknown")
WORDS = "the food was good but waiters never came and we left early with cold soup again".split()
MIDDLE = {"percent": (20, 90), "fraction": (0.2, 0.9), "perplexity": (30, 400)}


def make_results(root: Path, systems: int, sentences: int, *, metrics: int | None = None) -> None:
    """Write a results tree; one direction has sentences."""
    random.seed(0)
    for direction in (name for name in DIRECTIONS if not name.startswith("mini/")):
        for number in range(systems):
            with_texts = direction == "yelp/negative-to-positive"
            samples = make_samples(sentences, metrics) if with_texts else []
            report = make_report(direction, number, sentences, samples, metrics)
            folder = root / direction / folder_name(report.system.name)
            folder.mkdir(parents=True)
            first = folder.parent / folder_name(f"System {0:03d} of laboratory 0")
            if systems > MOST_TESTED and folder != first:  # nothing is tested, so any will do
                os.link(first / "replicates.parquet", folder / "replicates.parquet")
            else:
                content = write_replicates(folder, report)
            digest = {"replicates_sha256": hashlib.sha256(content).hexdigest()}
            report = report.model_copy(update=digest)
            if with_texts:
                write_report(folder, report, samples)
            else:  # not forced to the disk, which takes longer than all the rest
                (folder / "report.json").write_text(report.model_dump_json(indent=2) + "\n")


def write_replicates(folder: Path, report: Report) -> bytes:
    """Replicates that are as often at one end of a score's interval as at the other."""
    draws = np.random.default_rng(random.getrandbits(32))
    columns = {
        score.key: np.append(
            score.value, draws.choice([score.interval.low, score.interval.high], RESAMPLES)
        )
        for score in report.scores
    }
    pq.write_table(pa.table(columns), folder / "replicates.parquet")
    return (folder / "replicates.parquet").read_bytes()


def make_report(
    direction: str,
    number: int,
    sentences: int,
    samples: list[Sample] = (),
    metrics: int | None = None,
) -> Report:
    """One report of plausible, random numbers."""
    scores, data = [], "0123456789abcdef" * 4
    outputs = (
        predictions_sha256([one.prediction for one in samples]) if samples else f"{number:064x}"
    )
    for facts in tuple(METRICS.values())[:metrics]:
        low, high = MIDDLE.get(facts.unit, (0.2, 0.9))
        value = round(random.uniform(low, high), 6)
        half = 0.03 * value
        fields = f"protocol:tstbench|n:{sentences}|data:0123456789ab"
        signature = f"{facts.name}|v:1|direction:{direction}|{fields}"
        scores.append(
            Score(
                key=facts.name,
                metric=facts.name,
                value=value,
                unit=facts.unit,
                higher_is_better=facts.higher_is_better,
                interval=IntervalInfo(
                    low=value - half, high=value + half, level=0.95, resamples=1000, seed=12345
                ),
                signature=signature,
                made_with=f"tstbench:{__version__}",
                recipe=score_recipe(outputs, data, signature),
                profile="embedded",
            )
        )
    return Report(
        tstbench=__version__,
        direction=direction,
        system=SystemInfo(
            name=f"System {number:03d} of laboratory {number % 17}",
            family=FAMILIES[number % len(FAMILIES)],
            needs_parallel=(None, True, False)[number % 3],
            date=f"2026-{1 + number % 12:02d}",
            origin="generated for a measurement",
            outputs_url="https://example.org/outputs",
        ),
        data=DataInfo(
            fingerprint=data,
            cleaning="paper-v1",
            sentences=sentences,
            references_min=1,
            references_max=4,
        ),
        outputs_sha256=outputs,
        scores=tuple(scores),
    )


def make_samples(count: int, metrics: int | None = None) -> list[Sample]:
    """Sentences of random words, with random scores."""
    return [
        Sample(
            id=f"yelp-test-0-{i:05d}",
            source=f"{i} " + " ".join(random.choices(WORDS, k=9)),
            references=tuple(" ".join(random.choices(WORDS, k=9)) for _ in range(4)),
            prediction=" ".join(random.choices(WORDS, k=9)),
            scores={name: random.random() for name in tuple(METRICS)[:metrics] if name != "joint"},
        )
        for i in range(count)
    ]


def median_of(times: int, measure) -> float:
    return round(statistics.median(measure() for _ in range(times)), 3)


def tell(what: str, seconds: float, **more: object) -> None:
    print(json.dumps({"what": what, "seconds": seconds, **more}), flush=True)


def measure(root: Path, chromium: str, systems: int, repeat: int) -> None:
    from playwright.sync_api import sync_playwright

    started = time.perf_counter()
    running = launch(root, port=0, block=False)
    tell("open the port", round(time.perf_counter() - started, 3))
    board = Results(root).board()
    tell("read all reports", round(time.perf_counter() - started, 3), reports=len(board.entries))
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            _measure_pages(browser, running.url, systems, repeat)
            browser.close()
    finally:
        running.close()


def _measure_pages(browser, url: str, systems: int, repeat: int) -> None:
    row = "table.board tbody tr:has(.name)"

    def first_view(page) -> float:
        started = time.perf_counter()
        page.goto(url)
        page.wait_for_selector(row)
        return time.perf_counter() - started

    def cold() -> float:
        context = browser.new_context()
        try:
            return first_view(context.new_page())
        finally:
            context.close()

    tell("first view of all, the server just started", round(cold(), 3))
    tell("first view, cold", median_of(repeat, cold))
    page = browser.new_page()
    first_view(page)
    tell("first view, warm", median_of(repeat, lambda: first_view(page)))
    started = time.perf_counter()
    page.wait_for_function(
        f"() => document.querySelectorAll('table.board tr[data-name]').length == {systems}"
    )
    tell("all rows behind it", round(time.perf_counter() - started, 3))

    def in_page(script: str) -> float:
        """Seconds from the event to the next painted frame, by the browser's own clock."""
        return page.evaluate(
            f"""async () => {{
                const start = performance.now();
                {script};
                await new Promise(r => requestAnimationFrame(() => setTimeout(r)));
                return (performance.now() - start) / 1000;
            }}"""
        )

    typed = """
        const field = document.querySelector('[data-local=q]');
        field.value = '{}';
        field.dispatchEvent(new Event('input', {{bubbles: true}}))
    """
    words = iter(["00", "laboratory 3", "1", "", "system 19"])
    tell("filter by name", median_of(repeat, lambda: in_page(typed.format(next(words)))))
    tell("show all rows", in_page("document.querySelector('.more')?.click()"))
    chip = "document.querySelector('.chip').click()"
    tell("filter by family, all rows shown", median_of(repeat, lambda: in_page(chip)))
    order = "document.querySelector('th[data-key=acc] .sort').click()"
    tell("sort, all rows shown", median_of(repeat, lambda: in_page(order)))
    box = "document.querySelector('input[data-local=columns]').click()"
    tell("hide a column, all rows shown", median_of(repeat, lambda: in_page(box)))

    directions = iter(["amazon/negative-to-positive", "yelp/positive-to-negative"] * 3)

    def change_direction() -> float:
        name = next(directions)
        started = time.perf_counter()
        page.select_option("[data-param=direction]", name)
        page.wait_for_selector(f"[data-param=direction]:has([value='{name}'][selected])")
        page.wait_for_selector("#stage[aria-busy=false]")
        return time.perf_counter() - started

    tell("change the direction", median_of(repeat, change_direction))
    for view, ready in (("overview", row), ("samples", ".sample"), ("pictures", ".plot svg")):
        started = time.perf_counter()
        page.goto(f"{url}?view={view}&direction=yelp/negative-to-positive")
        page.wait_for_selector(ready)
        tell(f"open a link to {view}", round(time.perf_counter() - started, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--metrics", type=int, help="the first so many; all by default")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--repeat", type=int, choices=range(1, 6), default=5)
    options = read_options(parser, systems=4, sentences=8, metrics=6, repeat=1)
    tell("machine", 0.0, python=platform.python_version(), systems=options.systems)
    with tempfile.TemporaryDirectory() as folder:
        make_results(Path(folder), options.systems, options.sentences, metrics=options.metrics)
        measure(Path(folder), options.chromium, options.systems, options.repeat)


if __name__ == "__main__":
    main()
