"""``import tstbench``: the same scores as the command line, as one object."""

import csv
import io
import math
import re
from dataclasses import replace

import pytest
from prepared import DIRECTION, command_line, refusal

import tstbench
from tstbench.pipelines.rankings import standings_text
from tstbench.pipelines.report import read_report
from tstbench.pipelines.standings import read_standings
from tstbench.pipelines.tables import fragment

CHEAP = ["bleu", "acc"]


pytestmark = pytest.mark.usefixtures("prepared")


@pytest.fixture
def sources():
    return list(tstbench.load_test_set(DIRECTION).sources)


def test_every_name_of_the_face_is_there():
    for name in tstbench.__all__:
        assert getattr(tstbench, name) is not None
    assert set(dir(tstbench)) == set(tstbench.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        tstbench.evalute  # noqa: B018


def test_lists():
    assert tstbench.metrics()[:2] == ("acc", "s_bleu")
    assert DIRECTION in tstbench.directions()
    from tstbench.metrics.registry import METRICS  # a submodule does not hide the function

    assert tstbench.metrics() == tuple(METRICS)


def test_scores_are_those_of_the_command_line(sources, tmp_path, capsys):
    file = tmp_path / "mine.txt"
    file.write_text("\n".join(sources) + "\n")
    _, table, _ = command_line(
        capsys, "evaluate", file, "--direction", DIRECTION, "--metrics", *CHEAP,
        "--out", tmp_path / "out", "--intervals",
    )  # fmt: skip
    wanted = read_report(tmp_path / "out" / DIRECTION / "mine").scores
    from_texts = tstbench.evaluate(sources, DIRECTION, metrics=CHEAP)
    from_file = tstbench.evaluate({"mine": file}, DIRECTION, metrics=CHEAP)
    for scores in (from_texts, from_file):
        assert {s.key: s for s in scores.report.scores} == {s.key: s for s in wanted}
    acc = next(score for score in wanted if score.metric == "acc").interval
    assert f"{acc.low:.1f}–{acc.high:.1f}" in table
    assert (from_texts["s_bleu"], from_texts["ppl"]) == (100.0, None)
    assert from_texts.report.system.name == "predictions"


def test_a_string_is_one_name(sources):
    scores = tstbench.evaluate(sources, DIRECTION, metrics="s_bleu", baselines="copy")
    assert [r.system.name for r in scores.reports] == ["predictions", "copy"]
    assert scores.reports[0].scores[0].metric == "s_bleu"


def test_who_made_outputs_is_said_beside_the_file_by_an_option_or_in_python(
    sources, tmp_path, capsys
):
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text("\n".join(sources) + "\n")
    (tmp_path / "one.toml").write_text('family = "rule"\ndate = "2018"\n')
    said = tmp_path / "said.toml"
    said.write_text('[one]\ndate = "2018-06"\n[two]\norigin = "our paper"\n')
    asked = (tmp_path / "one.txt", tmp_path / "two.txt", "--direction", DIRECTION)
    asked = ("evaluate", *asked, "--metrics", "s_bleu", "--out", tmp_path / "out")
    assert command_line(capsys, *asked, "--info", said)[0] == 0

    def facts(name):
        info = read_report(tmp_path / "out" / DIRECTION / name).system
        return info.name, info.family, info.date, info.origin

    assert facts("one") == ("one", "rule", "2018-06", None)
    assert facts("two") == ("two", "unknown", None, "our paper")
    (tmp_path / "one.toml").unlink()
    assert command_line(capsys, *asked)[0] == 0  # what is known stays
    assert facts("one") == ("one", "rule", "2018-06", None)
    said.write_text('[two]\ndate = "2019"\n')  # of what is scored already
    assert command_line(capsys, *asked, "--info", said)[0] == 0
    assert facts("two") == ("two", "unknown", "2019", None)
    for predictions, info in (
        (sources, {"date": "2020"}),
        ({"x": sources}, {"x": {"date": "2020"}}),
    ):
        scores = tstbench.evaluate(predictions, DIRECTION, metrics="s_bleu", info=info)
        assert scores.report.system.date == "2020"
    for text, named in (
        ('[one]\nfamly = "rule"', "unknown key 'one.famly'. Did you mean 'family'"),
        ('[one]\nfamily = "rules"', "one.family: .*'fpft'"),
        ('[three]\nfamily = "rule"', "unknown system 'three'"),
    ):
        said.write_text(text)
        assert re.search(named, refusal(capsys, *asked, "--info", said)), text
    with pytest.raises(tstbench.TSTBenchError, match="famly"):
        tstbench.evaluate(sources, DIRECTION, metrics="s_bleu", info={"famly": "rule"})


@pytest.fixture
def several(sources):
    return tstbench.evaluate(
        {"<b>odd</b>": [text.upper() for text in sources]},
        DIRECTION,
        metrics=["acc", "s_bleu", "cola"],
        baselines=["copy", "reference-1"],
    )


def test_it_prints_a_table(several):
    text = str(several)
    assert repr(several) == text
    for word in ("ACC ↑", "CoLA† ↑", "<b>odd</b>", "copy", "† CoLA is scored here with a weak"):
        assert word in text
    assert max(len(line) for line in text.splitlines()) < 200
    assert several._repr_html_() == fragment(several.table)


def test_pandas_and_ranks(several):
    frame = several.to_pandas()
    assert len(frame) == 3 * 3
    assert set(frame["system"]) == {"<b>odd</b>", "copy", "reference-1"}
    assert frame.query("system == 'copy' and metric == 's_bleu'")["value"].item() == 100.0
    assert frame["signature"].str.contains("|v:", regex=False).all()
    assert not frame["signature"].str.contains("tstbench:0", regex=False).any()
    assert [rank.system for rank in several.rank("acc")] == ["<b>odd</b>"]  # the others are bounds
    with pytest.raises(tstbench.TSTBenchError, match="several systems were scored"):
        several.report  # noqa: B018


def test_frames_have_what_the_csv_has_and_a_folder_is_read_into_one(sources, tmp_path):
    out = tmp_path / "results"
    odd = [text.upper() for text in sources]
    for direction in (DIRECTION, "mini/positive-to-negative"):
        texts = tstbench.load_test_set(direction).sources if direction != DIRECTION else odd
        scores = tstbench.evaluate(
            {"ours": list(texts)}, direction, metrics=["s_bleu"], baselines=["copy"], out=out
        )
    frame = tstbench.load_results(out)
    reader = csv.DictReader(io.StringIO(standings_text(read_standings(out), "csv")))
    assert list(frame.columns) == reader.fieldnames == list(scores.to_pandas().columns)
    assert list(frame["value"]) == [float(row["value"]) for row in reader]
    assert set(frame["direction"]) == {DIRECTION, "mini/positive-to-negative"}
    bounds = frame[frame["system"] == "copy"]
    assert bounds["bound"].all()
    assert bounds["rank_low"].isna().all()
    ranks = frame[frame["system"] == "ours"]
    assert list(zip(ranks["rank_low"], ranks["rank_high"], strict=True)) == [(1, 1), (1, 1)]
    one = tstbench.load_results(out, sentences=True)
    assert len(one) == 2 * 2 * 40
    copied = one.query("system == 'copy'")
    assert list(copied["prediction"]) == list(copied["source"])
    assert (copied["s_bleu"] == 100.0).all()
    with pytest.raises(tstbench.TSTBenchError, match="nowhere"):
        tstbench.load_results(tmp_path / "nowhere")


def test_ranks_are_in_the_order_of_the_table_and_leave_nobody_out(sources):
    """ACC orders the table while both have it; by s-BLEU the one without a score is last."""
    upper = [text.upper() for text in sources]
    scores = tstbench.evaluate({"a": upper, "b": sources}, DIRECTION, metrics=["acc", "s_bleu"])
    assert [r.system for r in scores.rank()] == [r.system for r in scores.table.rows]
    a, b = scores.evaluation.systems
    without = replace(a, asked={"acc": a.asked["acc"]})
    some = replace(scores, evaluation=replace(scores.evaluation, systems=(b, without)))
    assert [row.system for row in some.table.rows] == [r.system for r in some.rank()]
    first, last = some.rank("s_bleu")
    assert (first.system, first.value, first.low, first.high, first.ties_best) == (
        "b", 100.0, 1, 1, True,
    )  # fmt: skip
    assert (last.system, last.low, last.high, last.ties_best) == ("a", 1, 2, False)
    assert math.isnan(last.value)
    with pytest.raises(tstbench.TSTBenchError, match="unknown metric here 'ppl'"):
        some.rank("ppl")
