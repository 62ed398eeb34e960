"""Tables for papers: marks, escapes, and the order of the ranking."""

import re

import pytest
from pydantic import ValidationError

from tstbench.pipelines.ranking import Rank
from tstbench.pipelines.rankings import paper_table, print_ranking
from tstbench.pipelines.report import DataInfo, Report, Score, SystemInfo


def report(name, acc, ppl):
    def score(metric, value, unit, better):
        return Score(
            metric=metric,
            value=value,
            unit=unit,
            higher_is_better=better,
            interval=None,
            signature=metric,
        )

    return Report(
        tstbench="0",
        direction="mini/negative-to-positive",
        profile="embedded",
        system=SystemInfo(name=name),
        data=DataInfo(
            fingerprint="0" * 64, cleaning="raw", sentences=2, references_min=1, references_max=1
        ),
        outputs_sha256="0" * 64,
        scores=(
            score("acc", acc, "percent", True),
            score("ppl", ppl, "perplexity", False),
        ),
    )


def ranked(name, value, low, high, p_best):
    return Rank(name, value, low, high, p_best, is_best=p_best == 1.0)


REPORTS = [report("worse_&_better", 10.04, None), report("best|*", 90.0, 50.25)]
RANKS = {"acc": [ranked("best|*", 90.0, 1, 1, 1.0), ranked("worse_&_better", 10.04, 2, 2, 0.01)]}


@pytest.mark.parametrize("name", ["", "x" * 101, "a\n", "\x1b[2Jgone", "a\x9bb", "a\u2028b"])
def test_a_name_that_would_upset_a_terminal_is_none(name):
    with pytest.raises(ValidationError, match="name"):
        SystemInfo(name=name)
    assert SystemInfo(name="caf\u00e9 \u4e2d\u6587 \U0001f600").name


def test_markdown():
    assert paper_table(REPORTS, RANKS, "markdown").split("\n") == [
        "| system | ACC ↑ | PPL ↓ |",
        "| --- | ---: | ---: |",
        r"| best\|\* | **90.0** | 50.2 |",
        r"| worse\_&\_better | 10.0 | – |",
    ]


def test_the_best_is_bold_in_a_terminal_and_starred_elsewhere(monkeypatch, capsys):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    print_ranking(REPORTS, RANKS, "table")
    plain = capsys.readouterr().out
    assert "90.0*" in plain
    assert "10.0*" not in plain
    assert "*: best, =: not" in " ".join(plain.split())
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    print_ranking(REPORTS, RANKS, "table")
    terminal = capsys.readouterr().out
    assert "\x1b[1m90.0\x1b[0m" in terminal
    assert "90.0*" not in terminal
    assert "bold: best, =: not" in " ".join(re.sub(r"\x1b\[[\d;]*m", "", terminal).split())


def test_latex():
    text = paper_table(REPORTS, RANKS, "latex")
    assert r"best|* & \textbf{90.0} & 50.2 \\" in text
    assert r"worse\_\&\_better & 10.0 & -- \\" in text
    assert text.startswith(r"\begin{tabular}{lrr}")


def test_what_is_not_significantly_worse_is_bold_too():
    ties = {"acc": [ranked("best|*", 90.0, 1, 2, 1.0), ranked("worse_&_better", 10.04, 1, 2, 0.06)]}
    assert "**10.0**" in paper_table(REPORTS, ties, "markdown")


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_systems_that_no_metric_ranks_come_last(form):
    one = {"acc": RANKS["acc"][:1]}
    text = paper_table(REPORTS, one, form)
    assert text.index("best") < text.index("worse")
