"""How long a reader of the leaderboard waits, measured in a real browser.

    python benchmarks/bench_leaderboard.py [--systems 200] [--metrics 50]

Results are generated (only their amount matters, not their values): systems x 14 directions, each
a report of metrics with intervals and signatures, and sentences for one direction. Prints one
JSON object per measurement. "Cold" is a browser's first visit to the page, "warm" a later one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import tempfile
import time
from pathlib import Path

from timing import read_options

from tstbench import __version__
from tstbench.datasets_scripts.known import DIRECTIONS
from tstbench.files import write_json
from tstbench.metrics.registry import METRICS
from tstbench.pipelines.report import DataInfo, IntervalInfo, Report, Sample, Score, SystemInfo
from tstbench.pipelines.report_files import write_report
from tstbench.pipelines.results import known_data
from tstbench.spaces.leaderboard import launch
from tstbench.spaces.leaderboard.data import Results

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
FAMILIES = ("fpft", "peft", "prompted", "rule", "human", "unknown")
WORDS = "the food was good but waiters never came and we left early with cold soup again".split()
MIDDLE = {"percent": (20, 90), "fraction": (0.2, 0.9), "perplexity": (30, 400)}


def make_results(
    root: Path, systems: int, sentences: int, *, ranks: bool = True, metrics: int | None = None
) -> None:
    """Write a results tree; one direction has sentences, and all have rank files if asked."""
    random.seed(0)
    for direction in (name for name in DIRECTIONS if not name.startswith("mini/")):
        names = []
        for number in range(systems):
            report = make_report(direction, number, sentences, metrics)
            if not report.system.is_bound:
                names.append(report.system.name)
            folder = root / direction / f"system-{number:03d}"
            with_texts = direction == "yelp/negative-to-positive"
            samples = make_samples(sentences) if with_texts else []
            write_report(folder, report, samples)
            write_json(folder / "report.json", as_schema_1(report))
            if not with_texts:
                (folder / "samples.jsonl").unlink()
        if ranks:
            spans = {n: [max(1, i - 3), min(len(names), i + 5)] for i, n in enumerate(names, 1)}
            significance = {score.signature: {"ranks": spans} for score in report.scores}
            write_json(root / direction / "significance.json", significance)


def as_schema_1(report: Report) -> dict[str, object]:
    """The report as a file of schema 1, which had no replicates: nobody drew any for it."""
    content = report.model_dump(
        mode="json", exclude={"samples_sha256", "replicates_sha256", "scores"}
    )
    new = {"key", "made_with", "recipe", "profile"}
    scores = [
        {
            **score.model_dump(mode="json", exclude=new),
            "signature": score.signature.replace("|v:1", "", 1),
        }
        for score in report.scores
    ]
    return {**content, "schema_version": 1, "profile": "embedded", "scores": scores}


def make_report(direction: str, number: int, sentences: int, metrics: int | None = None) -> Report:
    """One report of plausible, random numbers."""
    scores = []
    for facts in tuple(METRICS.values())[:metrics]:
        low, high = MIDDLE.get(facts.unit, (0.2, 0.9))
        value = random.uniform(low, high)
        half = 0.03 * value
        fields = f"protocol:tstbench|n:{sentences}|data:0123456789ab"
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
                signature=f"{facts.name}|v:1|direction:{direction}|{fields}",
                made_with=f"tstbench:{__version__}",
                recipe="0" * 64,
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
            fingerprint="0123456789abcdef" * 4,
            cleaning="paper-v1",
            sentences=sentences,
            references_min=1,
            references_max=4,
        ),
        outputs_sha256=f"{number:064x}",
        scores=tuple(scores),
    )


def make_samples(count: int) -> list[Sample]:
    """Sentences of random words, with random scores."""
    return [
        Sample(
            id=f"yelp-test-0-{i:05d}",
            source=f"{i} " + " ".join(random.choices(WORDS, k=9)),
            references=tuple(" ".join(random.choices(WORDS, k=9)) for _ in range(4)),
            prediction=" ".join(random.choices(WORDS, k=9)),
            scores={name: random.random() for name in METRICS if name != "joint"},
        )
        for i in range(count)
    ]


def median_of(times: int, measure) -> float:
    return round(statistics.median(measure() for _ in range(times)), 3)


def tell(what: str, seconds: float, **more: object) -> None:
    print(json.dumps({"what": what, "seconds": seconds, **more}), flush=True)


def measure(root: Path, chromium: str, systems: int) -> None:
    from playwright.sync_api import sync_playwright

    started = time.perf_counter()
    running = launch(root, port=0, block=False)
    tell("open the port", round(time.perf_counter() - started, 3))
    board = Results(root).board()
    tell("read all reports", round(time.perf_counter() - started, 3), reports=len(board.entries))
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            _measure_pages(browser, running.url, systems)
            browser.close()
    finally:
        running.close()


def _measure_pages(browser, url: str, systems: int) -> None:
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
    tell("first view, cold", median_of(5, cold))
    page = browser.new_page()
    first_view(page)
    tell("first view, warm", median_of(5, lambda: first_view(page)))
    started = time.perf_counter()
    page.wait_for_function(
        f"document.querySelectorAll('table.board tr[data-name]').length == {systems}"
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
    tell("filter by name", median_of(5, lambda: in_page(typed.format(next(words)))))
    tell("show all rows", in_page("document.querySelector('.more')?.click()"))
    chip = "document.querySelector('.chip').click()"
    tell("filter by family, all rows shown", median_of(5, lambda: in_page(chip)))
    order = "document.querySelector('th[data-key=acc] .sort').click()"
    tell("sort, all rows shown", median_of(5, lambda: in_page(order)))
    box = "document.querySelector('input[data-local=columns]').click()"
    tell("hide a column, all rows shown", median_of(5, lambda: in_page(box)))

    directions = iter(["amazon/negative-to-positive", "yelp/positive-to-negative"] * 3)

    def change_direction() -> float:
        name = next(directions)
        started = time.perf_counter()
        page.select_option("[data-param=direction]", name)
        page.wait_for_selector(f"[data-param=direction]:has([value='{name}'][selected])")
        page.wait_for_selector("#stage[aria-busy=false]")
        return time.perf_counter() - started

    tell("change the direction", median_of(5, change_direction))
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
    parser.add_argument("--no-ranks", action="store_true", help="leave ranks to the page")
    options = read_options(parser, systems=20, sentences=20)
    tell("machine", 0.0, python=platform.python_version(), systems=options.systems)
    os.environ.pop("TSTBENCH_SOURCES", None)  # reports of no real test set are left out
    known_data.cache_clear()
    with tempfile.TemporaryDirectory() as folder:
        make_results(
            Path(folder),
            options.systems,
            options.sentences,
            ranks=not options.no_ranks,
            metrics=options.metrics,
        )
        measure(Path(folder), options.chromium, options.systems)


if __name__ == "__main__":
    main()
