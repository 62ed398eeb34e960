"""Tables for papers: marks, escapes, and the order of the ranking."""

import csv
import hashlib
import io
import re
import shutil
import subprocess

import leaderboard_results
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from tstbench.errors import InputError
from tstbench.pipelines.ranked_table import (
    COLUMNS,
    direction_table,
    parquet_values,
)
from tstbench.pipelines.ranking import Rank
from tstbench.pipelines.rankings import (
    FORMS,
    print_standings,
    standings_text,
    write_standings,
)
from tstbench.pipelines.report import Score, SeedRun, SystemInfo
from tstbench.pipelines.seeds import MeanScore, Spread
from tstbench.pipelines.standings import Standings
from tstbench.pipelines.tables import fragment, to_latex
from tstbench.pipelines.terminal_table import plain_table


def report(name, acc, ppl):
    """Without intervals, and signed by the metric's name alone."""
    made = leaderboard_results.report(name, {"acc": acc, "ppl": ppl})
    scores = tuple(
        one.model_copy(update={"interval": None, "signature": one.metric}) for one in made.scores
    )
    digest = hashlib.sha256(name.encode()).hexdigest()
    return made.model_copy(update={"scores": scores, "outputs_sha256": digest})


WORSE, BEST = "worse_&_[better]", "best|* a--b"
REPORTS = [report(WORSE, 10.04, None), report(BEST, 90.0, 50.25), report("copy", 95.0, 9.0)]
RANKS = {"acc": [Rank(BEST, 90.0, 1, 1, 1.0), Rank(WORSE, 10.04, 2, 2, 0.01)]}
TIES = {"acc": [Rank(BEST, 90.0, 1, 2, 1.0), Rank(WORSE, 10.04, 1, 2, 0.06)]}
LONG = "a name that is too long for half of a terminal of eighty columns, which its end shows"


@pytest.mark.parametrize("name", ["", "x" * 101, "a\n", "\x1b[2Jgone", "a\x9bb", "a\u2028b"])
def test_a_name_that_would_upset_a_terminal_is_none(name):
    with pytest.raises(ValidationError, match="name"):
        SystemInfo(name=name)
    assert SystemInfo(name="caf\u00e9 \u4e2d\u6587 \U0001f600").name


def test_the_best_is_bold_in_a_terminal_and_not_starred(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    print_standings([Standings(tuple(REPORTS), TIES)], "table")
    terminal = capsys.readouterr().out
    assert "\x1b[1m 90.0\x1b[0m" in terminal
    assert "\x1b[1m 10.0\x1b[0m" in terminal
    assert "*:" not in terminal
    assert "Bold: best, or not significantly different" in terminal


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="LaTeX is not installed")
def test_latex_compiles_with_every_name(tmp_path):
    odd = "".join(map(chr, range(32, 127)))
    names = [odd[:50], odd[50:], "[x]", "*", r"\\", "--", "$", r"\input{x}"]
    reports = [report(name, 50.0, 2000.0) for name in names]
    standings = [Standings(tuple(reports), {})]
    for layout in ("directions", "metrics"):
        text = standings_text(standings, "latex", layout=layout, intervals=True)
        (tmp_path / f"{layout}.tex").write_text(text)
    (tmp_path / "main.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}"
        "\\input{directions}\\input{metrics}\\end{document}"
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "main"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1500:]
    assert "Overfull" not in done.stdout


def everything():
    """Two directions with all that a table may have to say; what it is, stands beside it."""

    def made(name, values, direction="mini/negative-to-positive", **fields):
        info = fields.pop("info", {})
        one = leaderboard_results.report(name, values, direction, info=info)
        digest = hashlib.sha256(fields.pop("outputs", name).encode()).hexdigest()
        return one.model_copy(update={"outputs_sha256": digest, **fields})

    def scored(report, place, **fields):
        scores = list(report.scores)
        kind = MeanScore if "spread" in fields else Score
        data = {n: v for n, v in scores[place].model_dump().items() if n != "answers"}
        scores[place] = kind(**{**data, **fields})
        return report.model_copy(update={"scores": tuple(scores)})

    values = {"acc": 90.0, "cola": 60.0, "ppl": 50.25, "length_ratio": 1.0, "s_bleu": 12.0}
    best = made(BEST, values)
    answers = {"one": {"asked": 1200, "empty": 3, "no number": 1100}, "two": {"asked": 40}}
    best = scored(best, 1, answers=answers)  # some answers of a judge were no score
    ours = made("ours", {"acc": 50.0, "cola": 60.0}, info={"date": "2024-05", "family": "fpft"})
    # The mean of two seeds for one metric, of one for another.
    ours = scored(ours, 0, spread=Spread(seeds=(1, 4), values=(48.0, 52.0)))
    ours = scored(ours, 1, spread=Spread(seeds=(4,), values=(60.0,)), interval=None)
    run = SeedRun(system="theirs", recipe="a" * 64, seed=7)
    worse = made(WORSE, {"acc": 10.04, "ppl": None}, warnings=("its outputs are short", "odd"))
    wild = made(LONG, {"acc": 5.0, "length_ratio": 0.5}, info={"seed_run": run})
    other = made("other", {"acc": 99.0, "ppl": 2.0})
    # Another classifier: its accuracy is in a column of its own, and no other.
    otherwise = other.scores[0].signature.replace("linear:mini", "encoder:theirs")
    other = scored(other, 0, signature=otherwise)
    bounds = [made(n, {"acc": 95.0, "ppl": 9.0}, outputs="same") for n in ("copy", "Reference-1")]
    bounds.append(made("twin", {"acc": 95.0}, outputs="same"))  # no bound: what others wrote
    acc, length = best.scores[0].signature, best.scores[3].signature
    weak = "cola|v:1|classifier:lora:cola#acc3a8c7fbd4|n:40"
    first = [best, worse, wild, ours, other, *bounds]
    ranks = {
        acc: [
            Rank(BEST, 90.0, 1, 2, 1.0), Rank("ours", 50.0, 1, 3, 0.3),
            Rank(WORSE, 10.04, 4, 4, 0.01), Rank(LONG, 5.0, 2, 4, 0.06),
        ],
        otherwise: [Rank("other", 99.0, 1, 1, 1.0)],
        length: [Rank(BEST, 1.0, 1, 2, 1.0), Rank(LONG, 0.5, 1, 2, float("nan"))],
    }  # fmt: skip
    back = [
        made(name, {"acc": acc, "cola": 50.0}, "mini/positive-to-negative")
        for name, acc in (("ours", 70.0), ("zebra", 80.0), (BEST, None))
    ]
    data = back[0].data.model_copy(update={"sentences": 12})  # too few for tests
    back = [scored(one.model_copy(update={"data": data}), 1, signature=weak) for one in back]
    there = {back[0].scores[0].signature: [Rank("zebra", 80.0, 1, 1, 1), Rank("ours", 70, 2, 2, 0)]}
    alone = [made("copy", {"acc": 95.0}, "yelp/negative-to-positive")]  # a bound, and no system
    shown = ((first, ranks, ("cola", "acc")), (back, there), (alone, {}))
    return [Standings(tuple(some), *more) for some, *more in shown]


@pytest.mark.parametrize("layout", ["directions", "metrics"])
@pytest.mark.parametrize("form", FORMS)
def test_everything_that_a_table_says(form, layout, snapshot):
    """Numbered columns, ties, doubts, seeds, unread answers, notes: on record, for reading."""
    text = standings_text(everything(), form, layout=layout, intervals=layout == "directions")
    if form == "csv":
        text = text.replace("0" * 64, "0")
        assert text == snapshot(name=form)  # has no tables, and always intervals
    else:
        assert re.sub("(?s)<style>.*</style>", "", text) == snapshot


def test_everything_in_a_narrow_terminal(snapshot):
    """In blocks, each with the names, of which long ones are cut in the middle."""
    table = direction_table(everything()[0])
    for intervals in (False, True):
        text = plain_table(table, width=80, intervals=intervals)
        assert max(map(len, text.splitlines())) <= 80
        assert text == snapshot
    assert fragment(table) == snapshot(name="in a notebook")


def test_more_than_six_columns_take_both_of_a_page():
    found = [to_latex(direction_table(one)) for one in everything()]
    assert ["table*" in text for text in found] == [True, False, False]


def two_directions():
    back = [r.model_copy(update={"direction": "mini/positive-to-negative"}) for r in REPORTS[:2]]
    return [Standings(tuple(REPORTS), RANKS), Standings(tuple(back), TIES)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", [None, "directions", "metrics"])
def test_what_is_printed_is_what_is_written(form, layout, capsys):
    """By direction and without intervals, unless asked."""
    asked = {"layout": layout or "directions", "intervals": layout is not None}
    how = asked if layout else {}
    text = standings_text(everything(), form, **asked)
    assert standings_text(everything(), form, **how) == text
    print_standings(everything(), form, **how)
    printed = capsys.readouterr().out
    assert printed == text + {"markdown": "\n", "table": "\n"}.get(form, "")


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_ours_is_replaced_and_no_other(form, tmp_path):
    path, text = tmp_path / "out", standings_text(two_directions(), form)
    write_standings(path, text, form)
    first = path.read_text("utf-8")
    assert first.endswith(text)
    assert len(first) > len(text) or form in ("html", "csv")
    path.write_bytes(first.replace("\n", "\r\n").encode())  # an editor's line ends
    write_standings(path, text, form)
    assert path.read_text("utf-8") == first
    path.write_bytes(b"\xff my own words\n" + first.splitlines()[0].encode()[:9])
    with pytest.raises(InputError, match=r"it is left unchanged\. Write to another file, or move"):
        write_standings(path, text, form)
    path.write_bytes(b"")
    write_standings(path, text, form)
    assert path.read_text("utf-8") == first
    with pytest.raises(InputError, match=f"{tmp_path.name} is a folder, but must be a file"):
        write_standings(tmp_path, text, form)


def test_a_csv_with_our_columns_is_ours(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text(",".join(COLUMNS) + "\n1,2\n")
    write_standings(path, "new", "csv")
    assert path.read_text() == "new"
    for columns in ([*COLUMNS][:-1], [*COLUMNS][1:], (*COLUMNS, "mine"), ("a", "b")):
        path.write_text(",".join(columns) + "\n1,2\n")
        with pytest.raises(InputError, match="left unchanged"):
            write_standings(path, "new", "csv")


def test_parquet_has_the_rows_of_csv_with_types_and_replaces_only_its_own(tmp_path):
    path, standings = tmp_path / "scores.parquet", two_directions()
    for _ in range(2):  # the second time it replaces what it wrote
        write_standings(path, parquet_values(standings))
    table = pq.read_table(path)
    rows = list(csv.DictReader(io.StringIO(standings_text(standings, "csv"))))
    assert table.column_names == list(rows[0])
    words = {True: "yes", False: "no", None: ""}
    for ours, theirs in zip(table.to_pylist(), rows, strict=True):
        told = {n: words[v] if v is None or v is True or v is False else v for n, v in ours.items()}
        assert {name: str(value) for name, value in told.items()} == theirs
    kinds = {
        name: str(table.schema.field(name).type) for name in ("bound", "value", "seed", "date")
    }
    assert kinds == {"bound": "bool", "value": "double", "seed": "int64", "date": "string"}
    pq.write_table(table.replace_schema_metadata(None), path)
    for foreign in (path.read_bytes(), b"PAR1 and no more"):
        path.write_bytes(foreign)
        with pytest.raises(InputError, match="left unchanged"):
            write_standings(path, parquet_values(standings))
