"""``tstbench report`` and ``tstbench sources``, on what the pipeline itself wrote."""

import json
import subprocess
import sys

import pytest
from chromium import chromium, in_browser
from gyafc_copy import lay_out
from leaderboard_results import BACK, HOSTILE, THERE, real_results
from prepared import command_line, refusal, success

from tstbench.commands.sources import sources_text
from tstbench.datasets_scripts.load import TestSet, load_test_set
from tstbench.errors import InputError
from tstbench.metrics.registry import METRICS
from tstbench.pipelines.meta.known import ranking_place, shipped_calibration
from tstbench.pipelines.rankings import standings_text
from tstbench.pipelines.standings import read_standings


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return real_results(tmp_path_factory.mktemp("report") / "results")


def printed(capsys, *arguments):
    out, _ = success(capsys, "report", *arguments)
    return out


@pytest.mark.parametrize(
    ("options", "chosen", "how"),
    [
        ("", {}, {}),
        ("--intervals", {}, {"intervals": True}),
        ("--layout metrics", {}, {"layout": "metrics"}),
        ("--each-seed", {"each_seed": True}, {}),
        ("--directions mini --metrics bleu", {"directions": ["mini"], "metrics": ["bleu"]}, {}),
        (
            f"--directions {BACK} --metrics multi_bleu s_bleu --systems copy delete-retrieve",
            {
                "directions": [BACK],
                "metrics": ["multi_bleu", "s_bleu"],
                "systems": ["copy", "delete-retrieve"],
            },
            {},
        ),
    ],
)
def test_what_is_asked_for_is_printed(results, capsys, options, chosen, how):
    wanted = standings_text(read_standings(results, **chosen), "markdown", **how)
    assert printed(capsys, results, "--format", "markdown", *options.split()) == f"{wanted}\n"


def test_nothing_slow_is_imported(results):
    code = (
        "import sys; from tstbench.commands.cli import main; "
        f"main(['report', {str(results)!r}, '--out', {str(results.parent / 'o.csv')!r}]);"
        "print([name for name in ('torch', 'datasets', 'evaluate', 'pandas', 'gradio', 'sklearn')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("ending", ["tex", "md", "html", "csv", "txt"])
def test_a_file_is_replaced_only_if_it_is_ours(results, capsys, tmp_path, ending):
    out = tmp_path / "new" / f"report.{ending}"
    for _ in range(2):
        assert printed(capsys, results, "--out", out) == ""
    assert "delete-retrieve" in out.read_text("utf-8").replace("-{}", "-")


def test_a_hostile_name_is_text(results, capsys):
    assert "<script" not in printed(capsys, results, "--format", "html")
    assert HOSTILE in printed(capsys, results)
    assert "<script" not in printed(capsys, results, "--format", "markdown").replace(r"\<", "")


def test_without_a_name_a_folder_called_results_is_needed(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no results folder here" in refusal(capsys, "report")


def test_the_metric_that_orders_a_table():
    """The one that agrees best with people where that was measured, if every system has it."""
    weights = "bleu:multi_bleu|weights:1,1,1", f"weights:{shipped_calibration().signed}"

    def first(metrics, direction, lacking=0):
        own = {m: f"{m}|v:1|direction:{direction}|" for m in metrics}
        for name, ours in zip(("joint", "joint_calibrated"), weights, strict=True):
            own |= {name: own[name] + ours} if name in own else {}
        late = {"joint_calibrated": lacking}
        return min(own, key=lambda m: ranking_place(m, own[m], late.get(m, 0)))

    assert first(METRICS, "yelp/negative-to-positive") == "joint_calibrated"
    assert first(METRICS, "my/negative-to-positive") == "joint_calibrated"
    assert first(METRICS, "my/toxic-to-civil") == "joint"
    assert first(METRICS, "yelp/negative-to-positive", lacking=1) == "joint"
    assert first(["cola", "multi_bleu", "s_bleu"], THERE) == "s_bleu"
    assert first(["somebody_elses", "ppl"], THERE) == "ppl"
    others = "yelp/negative-to-positive", "weights:mine#0123456789ab"
    assert ranking_place("joint", "joint|direction:{}|{}".format(*others)) < ranking_place(
        "joint_calibrated", "joint_calibrated|direction:{}|{}".format(*others)
    ), "somebody's own calibration was compared with nobody"


def test_sources_are_in_order(capsys, tmp_path):
    test_set = load_test_set(THERE)
    out, _ = success(capsys, "sources", THERE)
    assert out.splitlines() == list(test_set.sources)
    file = tmp_path / "sources.jsonl"
    for _ in range(2):  # its own file is written again
        code, _, err = command_line(capsys, "sources", THERE, "--references", "--out", file)
        assert (code, err) == (0, f"wrote 40 sources to {file}\n")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == list(test_set.ids)
    assert [tuple(row["references"]) for row in rows] == list(test_set.references)
    code, out, _ = command_line(capsys, "sources", THERE, "--format", "jsonl")
    assert [*json.loads(out.splitlines()[0])] == ["id", "source"]


def test_licensed_sentences_come_with_a_word(tmp_path, capsys):
    lines = ["i think he is so cool", "dunno ask him"]
    corpus = lay_out(tmp_path / "corpus", lines, lines)
    out, err = success(capsys, "sources", "gyafc_em/informal-to-formal", "--data-dir", corpus)
    assert out.splitlines() == lines
    assert "is licensed to you: do not publish its sentences" in err
    assert success(capsys, "sources", THERE)[1] == ""


def test_a_sentence_of_two_lines_is_none_in_a_file_of_lines():
    broken = TestSet(
        load_test_set(THERE).direction, "test", ("a-1",), ("one\ntwo",), ((),), "0" * 64, "raw"
    )
    with pytest.raises(InputError, match="a-1: the sentence contains a line break"):
        sources_text(broken, "text")
    assert json.loads(sources_text(broken, "jsonl"))["source"] == "one\ntwo"


@in_browser
def test_a_page_on_a_phone_keeps_names_in_sight(results, capsys, tmp_path):
    out = tmp_path / "report.html"
    printed(capsys, results, "--out", out)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(out.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.evaluate("document.querySelector('.wide').scrollLeft = 150")
        assert page.evaluate("document.querySelector('.wide').scrollLeft") > 0
        for name in page.locator("tbody th").all():
            box = name.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 330  # beside it there is room for a value
