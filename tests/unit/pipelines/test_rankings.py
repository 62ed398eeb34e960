"""Tables for papers: marks, escapes, and the order of the ranking."""

import csv
import hashlib
import io
import re
import shutil
import subprocess
from dataclasses import replace

import leaderboard_results
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from tstbench.errors import InputError
from tstbench.pipelines.ranked_table import (
    COLUMNS,
    direction_table,
    metric_tables,
    parquet_values,
)
from tstbench.pipelines.ranking import Rank
from tstbench.pipelines.rankings import (
    FORMS,
    print_standings,
    standings_text,
    write_standings,
)
from tstbench.pipelines.report import Score, SystemInfo
from tstbench.pipelines.standings import Standings
from tstbench.pipelines.terminal_table import plain_table


def paper_table(reports, ranks, form, **how):
    return standings_text([Standings(tuple(reports), ranks)], form, **how)


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
LONE = {"acc": RANKS["acc"][:1]}
MEANING = (
    "best, or not significantly different from the best (paired bootstrap, p >= 0.05), among the "
    "ranked systems."
)


@pytest.mark.parametrize("name", ["", "x" * 101, "a\n", "\x1b[2Jgone", "a\x9bb", "a\u2028b"])
def test_a_name_that_would_upset_a_terminal_is_none(name):
    with pytest.raises(ValidationError, match="name"):
        SystemInfo(name=name)
    assert SystemInfo(name="caf\u00e9 \u4e2d\u6587 \U0001f600").name


def test_markdown():
    assert paper_table(REPORTS, RANKS, "markdown").splitlines() == [
        "mini/negative-to-positive, 40 sentences, profile embedded",
        "",
        "| rank | system | ACC ↑ | PPL ↓ |",
        "| ---: | --- | ---: | ---: |",
        r"| 1 | best\|\* a--b | **90.0** | 50.2 |",
        r"| 2 | worse\_\&\_\[better\] | 10.0 | – |",
        "|  | *bounds: not ranked* |  |  |",
        "|  | copy | 95.0 | 9.0 |",
        "",
        f"Ranked by ACC. Bold: {MEANING}",
    ]


def test_the_best_is_bold_in_a_terminal_and_starred_elsewhere(monkeypatch, capsys):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    print_standings([Standings(tuple(REPORTS), TIES)], "table")
    plain = capsys.readouterr().out
    assert "90.0*" in plain
    assert "10.0*" in plain
    assert "95.0*" not in plain
    assert f"*: {MEANING}" in " ".join(plain.split())
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    print_standings([Standings(tuple(REPORTS), TIES)], "table")
    terminal = capsys.readouterr().out
    assert "\x1b[1m 90.0\x1b[0m" in terminal
    assert "\x1b[1m 10.0\x1b[0m" in terminal
    assert "*:" not in terminal
    assert f"Bold: {MEANING}" in " ".join(re.sub(r"\x1b\[[\d;]*m", "", terminal).split())


def test_latex():
    text = paper_table(REPORTS, RANKS, "latex")
    assert text.splitlines()[-12:] == [
        r"\begin{tabular}{rlrr}",
        r"\toprule",
        r"rank & system & ACC $\uparrow$ & PPL $\downarrow$ \\",
        r"\midrule",
        r"1 & best\textbar{}{*} a-{}-b & \textbf{90.0} & 50.2 \\",
        r"2 & worse\_\&\_{[}better] & 10.0 & \textendash{} \\",
        r"\midrule",
        r"& \multicolumn{3}{l}{\emph{bounds: not ranked}} \\",
        r" & copy & 95.0 & 9.0 \\",
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    assert r"\label{tab:mini-negative-to-positive}" in text
    assert r"p $\geq$ 0.05" in text


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


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_a_tie_is_a_range_of_ranks_and_a_doubt_stands_beside_the_name(form):
    doubted = REPORTS[0].model_copy(update={"warnings": ("the outputs are in reverse order",)})
    twin = REPORTS[2].model_copy(update={"system": SystemInfo(name="twin")})
    text = paper_table([doubted, REPORTS[1], REPORTS[2], twin], TIES, form)
    text = re.sub(r"<.*?>", " ", text.partition("</style>")[2] or text)
    text = (
        text.replace(r"\textendash{}", "–").replace(r"\textsuperscript{\S}", "§").replace("\\", "")
    )
    assert len(re.findall("1–2[ &|]+(?:best|worse)", text)) == 2
    assert text.index("rank") < text.index("system")
    text = " ".join(text.split())
    assert len(re.findall("worse.{4,30}better.{0,6}§", text)) == 1  # not the best one
    assert re.search("§ worse.{4,30}better.*: the outputs are in reverse order", text)
    assert "§ twin: every output is that of copy." in text
    assert "copy§" not in text  # a bound may be what others wrote


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_what_is_bold(form):
    def marked(ranks):
        return re.findall(r"(?:\*\*|<b>|textbf\{)([\d.]+)", paper_table(REPORTS, ranks, form))

    assert marked(RANKS) == ["90.0"]
    assert marked(TIES) == ["90.0", "10.0"]
    assert marked(LONE) == []


def test_systems_that_no_metric_ranks_come_last():
    text = paper_table(REPORTS, LONE, "markdown")
    assert text.index("best") < text.index("worse") < text.index("copy")


def test_different_signatures_never_share_a_column():
    other = report("other", 99.0, 1.0)
    score = other.scores[0].model_copy(update={"signature": "acc|classifier:other", "key": "acc"})
    other = other.model_copy(update={"scores": (score, other.scores[1])})
    ranks = {**RANKS, score.signature: [Rank("other", 99.0, 1, 1, 1.0)]}
    text = paper_table([*REPORTS, other], ranks, "markdown")
    assert "| rank | system | ACC (1) ↑ | ACC (2) ↑ | PPL ↓ |" in text
    assert "| – | other | – | 99.0 | 1.0 |" in text
    assert "ACC (2) classifier:other. Their numbers cannot be compared." in text


def test_csv_holds_no_formula():
    names = ["=1+1", "+x", "-x", "@x", 'plain, "quoted"']
    rows = list(
        csv.DictReader(io.StringIO(paper_table([report(n, 1, 2) for n in names], {}, "csv")))
    )
    assert [row["system"] for row in rows[::2]] == ["'=1+1", "'+x", "'-x", "'@x", names[-1]]
    assert rows[1]["metric"] == "ppl"
    assert rows[1]["value"] == "2.0"
    assert rows[1]["bound"] == "no"


def test_html_shows_names_as_text():
    text = paper_table([report("<script>x</script>", 1, 2)], {}, "html")
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_a_terminal_gets_blocks_and_no_word_is_cut():
    reports = [report("a" * 30, 1, 2), report("x" * 90 + "end", 1, 2)]
    table = direction_table(Standings(tuple(reports), {}))
    wide = replace(
        table,
        titles=table.titles * 6,
        rows=tuple(replace(row, cells=row.cells * 6) for row in table.rows),
    )
    narrow = plain_table(wide, width=80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert narrow.count("system") > 2
    assert narrow.count("ACC ↑") == narrow.count("PPL ↓") == 6
    assert "end" in narrow
    one = plain_table(wide)
    assert "x" * 90 + "end" in one
    assert one.count("ACC ↑ ") == 6


@pytest.mark.parametrize("layout", ["directions", "metrics"])
def test_a_star_of_a_test_without_power_says_so(layout):
    reports = [
        report(name, 1, ppl) for name, ppl in (("low", 105.2), ("mid", 383.2), ("wild", 750.1))
    ]
    ranks = [
        Rank("low", 105.2, 1, 2, 1.0),
        Rank("mid", 383.2, 2, 3, 0.01),
        Rank("wild", 750.1, 1, 3, 0.2),  # its interval is 365 to 1,281
    ]
    said = "wild varies so much between sentences"
    assert said in standings_text(
        [Standings(tuple(reports), {"ppl": ranks})], "markdown", layout=layout
    )
    shown = [*ranks[:1], Rank("mid", 383.2, 2, 2, 0.06), ranks[2]]
    without = standings_text([Standings(tuple(reports), {"ppl": shown})], "markdown", layout=layout)
    assert "varies" not in without, "nobody better lacks the star"


def two_directions():
    back = [r.model_copy(update={"direction": "mini/positive-to-negative"}) for r in REPORTS[:2]]
    return [Standings(tuple(REPORTS), RANKS), Standings(tuple(back), TIES)]


def test_one_table_per_metric():
    acc, ppl = metric_tables(two_directions())
    assert acc.titles == ("mini\nnegative\nto positive", "mini\npositive\nto negative")
    assert [row.system for row in acc.rows] == [BEST, WORSE]
    assert [[cell.bold for cell in row.cells] for row in acc.rows] == [[True, True], [False, True]]
    assert [cell.text for cell in acc.bounds[0].cells] == ["95.0", "–"]
    assert ppl.name == "ppl"
    text = standings_text(two_directions(), "latex", layout="metrics")
    assert r"system & \shortstack[r]{mini\\negative\\to positive} & \shortstack" in text


def with_intervals():
    """The same systems, and an interval from 87.5 to 92.25 beside the best accuracy."""
    acc, ppl = REPORTS[1].scores
    bounds = {"low": 87.5, "high": 92.25, "level": 0.95, "resamples": 1000, "seed": 12345}
    data = {**acc.model_dump(), "interval": bounds}
    best = REPORTS[1].model_copy(update={"scores": (Score.model_validate(data), ppl)})
    return [REPORTS[0], best, REPORTS[2]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", [None, "directions", "metrics"])
def test_what_is_printed_is_what_is_written(form, layout, capsys):
    """By direction, unless asked."""
    text = standings_text(two_directions(), form, layout=layout or "directions")
    how = {"layout": layout} if layout else {}
    assert standings_text(two_directions(), form, **how) == text
    print_standings(two_directions(), form, **how)
    printed = capsys.readouterr().out
    assert printed == text + {"markdown": "\n", "table": "\n"}.get(form, "")
    if form == "markdown":
        first = "acc" if layout == "metrics" else "mini/negative-to-positive"
        assert text.lower().startswith(first)
        assert text.count("| system |") == 2
        assert "\n\n" in text
        assert "XX" not in text


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_intervals_are_shown_only_if_asked_for(form, capsys):
    reports = with_intervals()
    standings = [Standings(tuple(reports), RANKS)]
    # A page always has it where the pointer rests, and says so where it is in sight.
    mark = "value is its 95% interval" if form == "html" else "87.5"
    assert mark not in paper_table(reports, RANKS, form)
    assert mark in paper_table(reports, RANKS, form, intervals=True)
    assert mark not in standings_text(standings, form)
    print_standings(standings, form)
    assert mark not in capsys.readouterr().out
    print_standings(standings, form, intervals=True)
    assert mark in capsys.readouterr().out


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
