"""``tstbench analyze``: its files, its page, and what it refuses."""

import base64
import csv
import hashlib
import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from analysis_results import SYSTEMS, handmade, judgment
from chromium import chromium, in_browser
from leaderboard_results import HOSTILE, THERE, report, sample, write
from prepared import refusal, success

from tstbench.datasets_scripts.judgments.schema import write_judgments
from tstbench.files import folder_digest
from tstbench.pipelines.analysis.correlation import over_systems
from tstbench.pipelines.analysis.data import read_run
from tstbench.pipelines.analysis.sentences import metric_cases, system_cases
from tstbench.spaces.analysis.write import AnalysisOptions, is_analysis, write_analysis

ITEMS = (
    "ranking", "trade-off-content", "trade-off-fluency", "scores", "correlation-systems",
    "correlation-sentences", "distributions", "lengths", "disagreement-systems",
    "disagreement-metrics", "plane-human_style-1-ppl",
)  # fmt: skip
PLAIN = AnalysisOptions(style_map=False)
PLANE = ("human_style", "1/ppl")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Results with people's scores and a hostile system, and their analysis by the command."""
    root = handmade(tmp_path_factory.mktemp("analyze") / "results")
    texts = [
        sample(n, f"{HOSTILE} {n}", f"{HOSTILE} {n}", (HOSTILE,), acc=100.0, s_bleu=n, multi_bleu=n)
        for n in range(40)
    ]
    write(root, report(HOSTILE, {"acc": 51.0, "s_bleu": 33.0, "multi_bleu": 30.0}), texts)
    some = [judgment(s, n, 1.0 + (n * m) % 5) for m, s in enumerate(SYSTEMS, 1) for n in range(9)]
    write_judgments(root / "human.jsonl", some)
    before = folder_digest(root)
    written = write_analysis(root, root / "analysis", replace(PLAIN, planes=(PLANE,)))
    shutil.move(root / "analysis", root.parent / "analysis")
    assert folder_digest(root) == before, "the results stay as they are"
    return root, root.parent / "analysis", written


@pytest.mark.slow
def test_every_item_in_every_form(made):
    _, out, _ = made
    for item in ITEMS:
        base = out / THERE / item
        assert base.with_name(f"{item}.png").read_bytes().startswith(b"\x89PNG"), item
        drawing = ET.parse(base.with_name(f"{item}.svg")).getroot()
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        assert not drawing.findall(".//{http://www.w3.org/2000/svg}script")
        rows = list(csv.reader(base.with_name(f"{item}.csv").open(encoding="utf-8")))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}
        assert base.with_name(f"{item}.md").read_text().count("| ---") >= 1
        latex = base.with_name(f"{item}.tex").read_text()
        assert latex.count(r"\begin{") == latex.count(r"\end{")
        assert (f"{item}.png" in latex) == (item != "scores")  # whose table is the whole of it
    manifest = json.loads((out / "analysis.json").read_text())
    assert (
        manifest["files"]["index.html"]
        == hashlib.sha256((out / "index.html").read_bytes()).hexdigest()
    )


@pytest.mark.slow
def test_the_data_are_the_numbers(made):
    root, out, written = made
    rows = list(csv.DictReader((out / THERE / "correlation-systems.csv").open(encoding="utf-8")))
    (results,), (aspects,) = written.directions, written.aspects
    matrix = over_systems(results, aspects)
    assert "human style" in matrix.titles
    for row in rows:
        i, j = (matrix.titles.index(row[name]) for name in ("one", "other"))
        cell = matrix.cells[i][j]
        for name, value in (("pearson", cell.value), ("low", cell.low), ("high", cell.high)):
            assert row[name] == ("" if value is None else f"{value:.9g}") or float(
                row[name]
            ) == pytest.approx(value, rel=1e-8)
    told = (
        (out / THERE / "correlation-systems.md").read_text("utf-8").replace("\N{MINUS SIGN}", "-")
    )
    ends = re.findall(r"([+-][\d.]+), ([+-][\d.]+)", told)
    shown = [(float(low), float(high)) for low, high in ends]
    assert shown
    assert all(low < high for low, high in shown)
    points = list(csv.DictReader((out / THERE / "trade-off-content.csv").open(encoding="utf-8")))
    curve = [row["system"] for row in points if row["curve"] == "cae"]
    assert sorted(curve) == ["cae@1", "cae@10", "cae@5"]
    intervals = list(csv.DictReader((out / THERE / "ranking.csv").open(encoding="utf-8")))
    reports = {r.system.name: r for r in read_run(root)[0].reports}
    for row in intervals:
        score = reports[row["system"]].score("joint")
        assert float(row["value"]) == score.value
        assert float(row["low"]) == pytest.approx(score.interval.low)


def test_the_sentences_to_read_are_those_that_disagree_with_what_was_said_of_them(made):
    _, out, written = made
    (results,), (aspects,) = written.directions, written.aspects
    found = system_cases(results)
    rows = csv.DictReader((out / THERE / "disagreement-systems.csv").open(encoding="utf-8"))
    names = ("case", "id", "system", "place", "source", "output")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (str(n), case.id, one.system, f"{one.place:.9g}", case.source,
         one.text)
        for n, case in enumerate(found, 1)
        for one in case.rewrites
    ]  # fmt: skip
    lines = (out / THERE / "disagreement-systems.md").read_text("utf-8").splitlines()
    for n, case in enumerate(found, 1):
        (line,) = (line for line in lines if line.startswith(f"| {n}. "))
        best, worst = (case.rewrites[i].system for i in (0, -1))
        assert [cell.split(":")[0].strip() for cell in line.split(" | ")[2:]] == [best, worst]
    metrics = metric_cases(results, aspects)
    rows = csv.DictReader((out / THERE / "disagreement-metrics.csv").open(encoding="utf-8"))
    numbers = ("high_score", "high_place", "low_score", "low_place")
    for row, case in zip(rows, metrics, strict=True):
        assert (row["id"], row["high"], row["low"]) == (case.id, case.high, case.low)
        assert [float(row[name]) for name in numbers] == pytest.approx(
            [getattr(case, name) for name in numbers], rel=1e-8
        )
    table = (out / THERE / "disagreement-metrics.md").read_text("utf-8")
    first = metrics[0]
    assert f"{first.high} {first.high_score:.4g} | {first.low} {first.low_score:.4g}" in table


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_page_runs_nothing_and_asks_for_nothing(made):
    _, out, _ = made
    page = (out / "index.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    names = {tag for tag, _ in tags.found}
    assert not names & {"script", "iframe", "object", "embed", "link", "base", "form", "svg"}
    for tag, attributes in tags.found:
        assert not any(name.startswith("on") for name in attributes)
        assert "style" not in attributes
        if tag == "img":
            assert attributes["src"].startswith("data:image/svg+xml;base64,")
            assert attributes["alt"]
        if tag == "a":
            assert attributes["href"].startswith(("#", f"{THERE}/"))
    (policy,) = [a["content"] for t, a in tags.found if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "<script>window" not in page
    assert "&lt;script&gt;window" in page
    assert not re.search(r"url\(|@import", style)


def test_a_picture_in_the_page_has_a_dark_twin_for_each_colour(made):
    _, out, _ = made
    page = (out / "index.html").read_text(encoding="utf-8")
    pictures = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)
    assert pictures
    for data in pictures:
        drawing = base64.b64decode(data).decode()
        ET.fromstring(drawing)
        assert "@media (prefers-color-scheme:dark)" in drawing
        outside = re.sub(r"<style>.*?</style>", "", drawing, flags=re.S)
        assert not re.findall(r"(?:fill|stroke):\s*#[0-9a-f]{6}", outside)


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_again(made, tmp_path, capsys):
    root, out, _ = made
    again = shutil.copytree(out, tmp_path / "again")  # its own folder is replaced
    (again / "index.html").write_text("old")
    options = ("--no-style-map", "--plane", *PLANE, "--out", again)
    said, err = success(capsys, "analyze", root, *options)
    assert folder_digest(again) == folder_digest(out)
    assert is_analysis(again)
    assert THERE in said
    assert "with people" in said
    assert all(len(line) <= 80 for line in said.split("\n"))
    assert f"open {again / 'index.html'}" in err


def test_somebodys_folder_is_left_alone(made, tmp_path, capsys):
    root, out, _ = made
    copy = shutil.copytree(out, tmp_path / "copy")
    (copy / THERE / "my-notes.txt").write_text("mine")
    assert "did not write" in refusal(capsys, "analyze", root, "--out", copy)


@pytest.mark.slow
def test_a_table_of_scores_is_joined_by_system_and_source(tmp_path, capsys):
    root = handmade(tmp_path / "results", systems=SYSTEMS[:4])
    lines = ["source,output,system,direction,style"]
    lines += [
        f"source {n} is here,{name} says {n} =1,{name.upper()},{THERE},{1 + (n * m) % 5}"
        for m, name in enumerate(SYSTEMS[:4], 1)
        for n in range(40)
        if n % 10 != m - 1
    ]
    table = tmp_path / "mine.csv"
    table.write_text("\n".join(lines) + "\n")
    options = AnalysisOptions(style_map=False, human=(table,))
    ((aspect,),) = write_analysis(root, tmp_path / "out", options).aspects
    assert len(aspect.sentences) == len(lines) - 1
    assert aspect.other_texts == 0
    assert aspect.sentences["beta", "s-5"] == 1 + (5 * 2) % 5
    assert "none of its" not in capsys.readouterr().err
    table.write_text(table.read_text().replace("ALPHA", "OMEGA").replace(THERE, "mini/a-to-b"))
    write_analysis(root, tmp_path / "out", options)
    said = capsys.readouterr().err
    assert f"{table}: none of its {len(lines) - 1} scores is of a system and a direction" in said
    assert "it has OMEGA, BETA, GAMMA, DELTA on mini/a-to-b" in said


def test_bounds_alone_and_a_dataset_of_one_direction_get_a_plain_word(tmp_path):
    one_way = "styptb_arr/modified-to-unmodified"
    handmade(tmp_path / "results", one_way, systems=(), metrics=("s_bleu", "acc"))
    options = AnalysisOptions()
    (section,) = write_analysis(tmp_path / "results", tmp_path / "out", options).sections
    text = " ".join(section.missing)
    assert "styptb_arr/unmodified-to-modified too, a direction that the dataset does not" in text


def test_little_is_still_something(tmp_path):
    """One system, one metric, no sentences."""
    root = tmp_path / "results"
    write(root, report("alone", {"acc": 50.0}))
    (section,) = write_analysis(root, tmp_path / "out", PLAIN).sections
    assert [item.name for item, _ in section.items] == ["ranking", "scores"]
    text = " ".join(section.missing)
    for what in ("style and content", "style and fluency", "4 systems", "samples.jsonl"):
        assert what in text, what


@pytest.mark.slow
def test_no_sentence_of_a_licensed_corpus_is_written(tmp_path):
    direction = "gyafc_em/informal-to-formal"
    root = handmade(tmp_path / "results", direction, systems=("alpha", "beta"))
    out = tmp_path / "out"
    write_analysis(root, out, PLAIN)
    files = [p for p in out.rglob("*") if p.suffix in (".csv", ".md", ".tex", ".html", ".svg")]
    assert (out / direction / "disagreement-systems.csv") in files
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "is here" not in text, file
        assert "alpha says" not in text, file


@pytest.mark.slow
def test_several_directions_have_a_map_of_all(tmp_path):
    for direction in (THERE, "mini/positive-to-negative"):
        handmade(tmp_path / "r", direction, metrics=("acc", "joint"), texts=False)
    *directions, last = write_analysis(tmp_path / "r", tmp_path / "out", PLAIN).sections
    assert last.name == "All directions"
    assert [s.name for s in directions] == [THERE, "mini/positive-to-negative"]
    assert (tmp_path / "out" / "all" / "correlation-directions.png").is_file()


@in_browser
def test_a_browser_shows_it_all_and_complains_of_nothing(made):
    _, out, _ = made
    with chromium() as browser:
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 900})
            said, asked = [], []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto((out / "index.html").as_uri())
            assert said == []
            assert [url for url in asked if not url.startswith("data:")] == [
                (out / "index.html").as_uri()
            ]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate("window.hurt") is None
            assert page.evaluate(
                "[...document.images].every(one => one.complete && one.naturalWidth > 0)"
            )
            page.close()
