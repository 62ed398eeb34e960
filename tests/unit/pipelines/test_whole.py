"""Altered and damaged results are named and left out wherever results are read."""

import json
import os
import shutil

import pytest
from leaderboard_results import THERE, real_results, report, write

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.pipelines.analysis.data import read_run
from tstbench.pipelines.growth import read_results
from tstbench.pipelines.hub.build import build_all
from tstbench.pipelines.hub.manifest import find_repository
from tstbench.pipelines.results import read_direction
from tstbench.pipelines.standings import read_standings, write_significance
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.query import VIEWS, Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.views import render

BAD = "delete-retrieve"
WHOLE = {"copy", "random-target", "reference-1"}


def edit(folder, change):
    path = folder / "report.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def edit_samples(folder, change):
    path = folder / "samples.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def first_score(**fields):
    return lambda folder: edit(folder, lambda report: report["scores"][0].update(fields))


def flipped(folder):
    path = folder / "replicates.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def another_prediction(rows):
    rows[3]["prediction"] = "a much better answer"


def pipe(folder):
    (folder / "report.json").unlink()
    os.mkfifo(folder / "report.json")


def loop(name):
    def change(folder):
        (folder / name).unlink()
        (folder / name).symlink_to(folder / name)

    return change


def content(name, text):
    return lambda folder: (folder / name).write_text(text)


def outside(folder):
    """The folder moved out of the results, with a link in its place."""
    folder.symlink_to(shutil.move(folder, folder.parents[3] / "elsewhere"))


def twice(folder):
    path = folder / "report.json"
    text = path.read_text().replace('"tstbench":', '"direction": "x/a-to-b", "tstbench":', 1)
    path.write_text(text)


ALTERED = {
    "predictions": lambda f: edit_samples(f, another_prediction),
    "a flipped byte": flipped,
    "another system's name": lambda f: edit(f, lambda r: r["system"].update(name="GPT-9")),
    "a neighbour's name": lambda f: edit(f, lambda r: r["system"].update(name="copy")),
    "a folder elsewhere": outside,
    "no replicates": lambda f: (f / "replicates.parquet").unlink(),
    "nothing but a report that names nothing": lambda f: (
        (f / "replicates.parquet").unlink(),
        (f / "samples.jsonl").unlink(),
        edit(f, lambda report: report.update(replicates_sha256=None, samples_sha256=None)),
    ),
}
DAMAGED = {
    "empty replicates": content("replicates.parquet", ""),
    "empty replicates without a hash": lambda f: (
        content("replicates.parquet", "")(f),
        edit(f, lambda report: report.update(replicates_sha256=None)),
    ),
    "an empty report": content("report.json", ""),
    "a deep report": content("report.json", '{"a":' * 100_000),
    "a report that is a list": content("report.json", "[]"),
    "NaN": first_score(value=float("nan")),
    "a key twice": twice,
    "half a surrogate pair": lambda f: edit(f, lambda r: r["system"].update(name="\ud800")),
    "a report that is a loop": loop("report.json"),
    "samples that are a loop": loop("samples.jsonl"),
    "replicates that are a loop": loop("replicates.parquet"),
    "a pipe": pipe,
    "empty samples": content("samples.jsonl", ""),
    "nested samples": content("samples.jsonl", '{"id": ' * 100_000 + "\n"),
    "samples that are lists": content("samples.jsonl", "[]\n"),
}
KINDS = {**ALTERED, **DAMAGED}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return real_results(tmp_path_factory.mktemp("whole"), directions=(THERE,), hostile=False)


@pytest.fixture
def root(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "results")


@pytest.fixture(params=KINDS)
def harmed(request, root):
    KINDS[request.param](root / THERE / BAD)
    return root


def names(reports):
    return {report.system.name for report in reports}


def test_whatever_reads_results_leaves_it_out_and_names_it(harmed, capsys):
    folder = harmed / THERE
    assert names(one.report for one in read_direction(folder)) == WHOLE
    assert BAD in capsys.readouterr().err
    (standings,) = read_standings(harmed)
    assert names(standings.reports) == WHOLE
    write_significance(folder)
    record = json.loads((folder / "significance.json").read_text())
    assert {name for one in record.values() for name in one["ranks"]} == set()
    (results,) = read_run(harmed)
    assert names(results.reports) == WHOLE
    board = Results(harmed).board()
    assert names(entry.report for entry in board.entries) == WHOLE
    assert any(BAD in problem for problem in board.problems)
    for view in VIEWS:
        render(board, Query.parse({"view": view, "direction": THERE}), RankCache())
    assert read_results(harmed, load_test_set(THERE).direction, BAD, quiet=True) is None


@pytest.mark.parametrize("kind", ["a flipped byte", "a neighbour's name", "a pipe"])
def test_the_hub_gets_the_others(kind, root, tmp_path, capsys):
    KINDS[kind](root / THERE / BAD)
    (root / THERE / "copy" / "loop").symlink_to(root / THERE / "copy" / "loop")
    (root / THERE / "copy" / "notes.txt").write_text("private")
    (root / THERE / "copy" / "history.jsonl").write_text("not a history of ours\n")
    (built,) = build_all(tmp_path / "hub", datasets=(), results=root, only=("results",))
    repository = find_repository(tmp_path / "hub", "dataset", built.repo_id)
    published = repository.manifest().files
    reports = {path.split("/")[2] for path in published if path.endswith("/report.json")}
    assert reports == WHOLE
    assert not any(path.endswith(("notes.txt", "loop", "history.jsonl")) for path in published)
    for name in ("scores.parquet", f"{THERE}/significance.json"):
        assert BAD.encode() not in repository.source(name).read_bytes()
    assert f"left out: {root / THERE / BAD}" in capsys.readouterr().err


def test_judgments_elsewhere_are_not_read(root, tmp_path):
    (tmp_path / "human.jsonl").write_text("")
    (root / "human.jsonl").symlink_to(tmp_path / "human.jsonl")
    board = Results(root).board()
    assert (len(board.entries), board.human) == (4, {})
    assert sum("is a link that leads out of" in one for one in board.problems) == 1
    with pytest.raises(InputError, match=r"human\.jsonl is a link that leads out of"):
        build_all(tmp_path / "hub", datasets=(), results=root, only=("results",))


def test_links_within_the_results_and_those_of_the_hubs_client_are_followed(whole, tmp_path):
    cache = tmp_path / "datasets--tstbench--results"
    root = cache / "snapshots" / ("0" * 40)
    shutil.copytree(whole, root)
    (cache / "blobs").mkdir()
    (root / THERE / BAD).rename(root / "kept")
    (root / THERE / BAD).symlink_to("../../kept")
    for n, path in enumerate(sorted(path for path in root.rglob("*") if path.is_file())):
        path.rename(cache / "blobs" / str(n))
        path.symlink_to(os.path.relpath(cache / "blobs" / str(n), path.parent))
    tmp_path.joinpath("link").symlink_to(root)
    for place in (root, tmp_path / "link"):
        board = Results(place).board()
        assert (len(board.entries), board.problems) == (4, ())


def test_a_board_notices_what_changes_while_it_is_shown(root):
    results = Results(root)
    assert len(results.board().entries) == 4
    (root / THERE / BAD / "replicates.parquet").write_bytes(b"")
    assert names(entry.report for entry in results.board().entries) == WHOLE


def test_where_no_result_is_whole_that_is_what_is_said(root, capsys):
    for folder in (root / THERE).glob("*/"):
        flipped(folder)
    with pytest.raises(InputError, match=r"no system's results are whole\. Evaluate those named"):
        read_standings(root)
    assert capsys.readouterr().err.count("is damaged: it does not match") == 4


def test_a_link_in_a_circle_or_a_file_among_the_folders_harms_nobody(root):
    for place in (root, root / "mini", root / THERE):
        (place / "loop").symlink_to(place / "loop")
        (place / "notes.txt").write_text("notes")
    (root / "human.jsonl").write_text('{"a":' * 100_000)
    board = Results(root).board()
    assert len(board.entries) == 4
    said = "\n".join(board.problems)
    assert "human.jsonl, line 1" in said
    (standings,) = read_standings(root)
    assert len(standings.reports) == 4


def test_a_report_without_scores_is_named_by_every_view(tmp_path):
    write(tmp_path, report("empty", {}))
    nothing = Results(tmp_path).board()
    write(tmp_path, report("one", {"s_bleu": 50.0}))
    board = Results(tmp_path).board()
    assert [entry.label for entry in board.entries] == ["one"]
    assert "empty/report.json has no scores" in board.problems[0]
    for view in (*VIEWS, "system"):
        for some in (nothing, board):
            query = Query.parse({"view": view, "direction": THERE, "system": "empty"})
            render(some, query, RankCache())
