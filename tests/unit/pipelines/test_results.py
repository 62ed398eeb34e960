"""The results folder, on a folder written here by hand: what is read, what is refused and why."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from leaderboard_results import THERE, report, sample

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import InputError, TSTBenchError
from tstbench.pipelines.report import IntervalInfo, predictions_sha256, score_recipe, write_report
from tstbench.pipelines.results import (
    is_result,
    read_direction,
    read_stored,
    read_whole,
    submission_folder,
    system_folder,
    system_folders,
)
from tstbench.pipelines.standings import check_results_folder, rank_results

# Replicates 0, 0.1, ... 99.9 in any order. Percentile q of n sorted values is the one at
# (n - 1) * q / 100, between its neighbours: 24.975 and 974.025, so 2.4975 and 97.4025.
EVEN = np.random.RandomState(4).permutation(1000) / 10
LOW, HIGH = 2.4975, 97.4025
SAMPLES = (
    sample(1, "weak tea .", "strong tea .", ("good tea .", "nice tea ."), s_bleu=31.5),
    sample(2, "caf\u00e9 bad", "", (), s_bleu=None),
    sample(3, "so sad", "so glad", ("so glad",), s_bleu=100.0),
)


def columns(**more):
    return {"s_bleu": np.r_[40.5, EVEN], "r_bleu": np.r_[7.25, EVEN[::-1] * 2], **more}


def table(folder, arrays):
    pq.write_table(pa.table(arrays), folder / "replicates.parquet")


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(root, name="ours", *, folder=None, arrays=None, samples=SAMPLES, direction=THERE, **said):
    """A whole result; ``said`` replaces fields of the report."""
    one = report(name, {"s_bleu": 40.5, "r_bleu": 7.25}, direction)
    outputs = predictions_sha256([each.prediction for each in SAMPLES])
    scores = tuple(
        score.model_copy(
            update={
                "recipe": score_recipe(outputs, one.data.fingerprint, score.signature),
                "interval": IntervalInfo(
                    low=LOW * scale, high=HIGH * scale, level=0.95, resamples=1000, seed=12345
                ),
            }
        )
        for score, scale in zip(one.scores, (1, 2), strict=True)
    )
    one = one.model_copy(update={"scores": scores, "outputs_sha256": outputs})
    target = root / direction / (folder or name)
    write_report(target, one, list(samples))
    table(target, columns() if arrays is None else arrays)
    digests = {"replicates_sha256": sha(target / "replicates.parquet")}
    if samples:
        digests["samples_sha256"] = sha(target / "samples.jsonl")
    else:
        (target / "samples.jsonl").unlink()
    edit(target, **{**digests, **said})
    return target


def edit(folder, **fields):
    path = folder / "report.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def refused(folder, **how):
    with pytest.raises(InputError) as error:
        read_stored(folder).check_whole(**how)
    return str(error.value)


def test_a_whole_result_and_its_parts(tmp_path):
    stored = read_whole(make(tmp_path))
    assert stored.has_samples
    assert [(one.id, one.prediction) for one in stored.samples()] == [
        ("s-1", "strong tea ."),
        ("s-2", ""),
        ("s-3", "so glad"),
    ]
    found = stored.bootstrapped()
    assert list(found) == ["s_bleu", "r_bleu"]
    assert (found["s_bleu"].value, found["r_bleu"].value) == (40.5, 7.25)
    assert (found["r_bleu"].replicates == EVEN[::-1] * 2).all()


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({k: v[:-1] for k, v in columns().items()}, "one value and 1000 replicates"),
        ({k: np.r_[v, 0.0] for k, v in columns().items()}, "one value and 1000 replicates"),
        (columns(r_bleu=np.arange(1001)), "r_bleu does not have one value and 1000"),
        (columns(r_bleu=np.zeros(1001, np.float32)), "r_bleu does not have one value"),
        (columns(r_bleu=pa.array(["x"] * 1001)), ""),
        (columns(r_bleu=pa.array([None] + [1.0] * 1000)), ""),
        ({"s_bleu": columns()["s_bleu"]}, ""),
    ],
    ids=["short", "long", "whole numbers", "float32", "words", "null", "no column"],
)
def test_replicates_of_another_form_are_damaged(tmp_path, arrays, why):
    folder = make(tmp_path, arrays=arrays)
    with pytest.raises(InputError) as error:
        read_stored(folder).bootstrapped()
    told = str(error.value)
    assert told.startswith(f"{folder / 'replicates.parquet'} is damaged: ")
    assert told.endswith(". Evaluate the system again")
    assert why in told


def test_missing_files(tmp_path):
    folder = make(tmp_path)
    (folder / "samples.jsonl").rename(tmp_path / "kept")
    with pytest.raises(TSTBenchError, match=r"samples\.jsonl"):
        read_stored(folder).check_whole()
    assert not read_whole(folder, complete=False).has_samples
    shutil.copy(tmp_path / "kept", folder / "samples.jsonl")
    (folder / "replicates.parquet").unlink()
    told = f"{folder} has no replicates.parquet. Evaluate the system again"
    assert refused(folder) == refused(folder, complete=False) == told
    edit(folder, replicates_sha256=None)  # as if it had never had any
    assert refused(folder, complete=False) == told
    assert read_stored(folder).bootstrapped() == {}, "nothing to compare"
    edit(folder, scores=[], replicates_sha256="0" * 64)  # a report without scores has one, too
    assert refused(folder, complete=False) == told
    nothing = make(tmp_path, "nothing", scores=[], replicates_sha256=None)
    (nothing / "replicates.parquet").unlink()
    read_stored(nothing).check_whole(complete=False)
    (nothing / "samples.jsonl").write_text("")
    assert "samples.jsonl is damaged: it does not match" in refused(nothing, complete=False)


def test_sentences_of_a_licensed_corpus_may_be_missing(tmp_path):
    licensed = "gyafc_em/informal-to-formal"
    folder = make(tmp_path, direction=licensed, samples=())
    read_whole(folder)
    other = make(tmp_path, direction="mine/a-to-b", samples=())
    with pytest.raises(TSTBenchError, match=r"samples\.jsonl"):
        read_whole(other)


def test_a_folder_belongs_to_one_system_and_direction(tmp_path):
    folder = make(tmp_path, "GPT 4")
    assert refused(folder) == (
        f"{folder / 'report.json'} names the system 'GPT 4', whose folder would be 'GPT_4': the "
        "report was changed, or the folder renamed. Give it its name back, or evaluate the system "
        "again"
    )
    make(tmp_path, "GPT 4", folder="GPT_4")
    read_whole(tmp_path / THERE / "GPT_4")
    own = make(tmp_path, "na\u00efve Bayes", folder="na\u00efve_Bayes")
    read_whole(own)
    one = read_stored(own).report
    # SHA-256 of name, predictions and profile with zero bytes between, sixteen digits of it.
    whole = f"na\u00efve Bayes\0{one.outputs_sha256}\0{one.profile}".encode()
    assert submission_folder(one) == "submission-" + hashlib.sha256(whole).hexdigest()[:16]
    read_whole(own.rename(own.with_name(submission_folder(one))))
    folder = folder.with_name("GPT_4")
    edit(folder, direction="mini/positive-to-negative")
    with pytest.raises(InputError) as error:
        read_whole(folder)
    assert str(error.value) == (
        f"{folder / 'report.json'} is a report of mini/positive-to-negative, but is under {THERE}"
    )


def test_what_is_in_a_folder(tmp_path):
    folder = make(tmp_path, "b")
    assert is_result(folder)
    (folder / "history.jsonl").write_text("")
    (folder / ".hidden").write_text("")
    assert is_result(folder)
    (folder / "notes.txt").write_text("")
    assert not is_result(folder)
    make(tmp_path, "c")
    make(tmp_path, "a")
    (tmp_path / THERE / "a" / "report.json").write_text("")  # even one that cannot be read
    (tmp_path / THERE / "0-nothing").mkdir()
    shutil.copytree(folder, tmp_path / THERE / ".b.new")
    broken = tmp_path / THERE / "d"
    broken.mkdir()
    (broken / "report.json").symlink_to(tmp_path / "nowhere")
    names = [path.name for path in system_folders(tmp_path / THERE)]
    assert names == ["a", "b", "c", "d"]
    assert system_folders(tmp_path / "nowhere") == []


def test_a_direction_names_what_it_leaves_out(tmp_path, capsys):
    make(tmp_path, "a", folder="a", samples=())
    make(tmp_path, "GPT 4", folder="GPT_4")
    make(tmp_path, "b", folder="b")
    twin = read_stored(tmp_path / THERE / "b").report
    make(tmp_path, "b", folder=submission_folder(twin))
    found = read_direction(tmp_path / THERE)
    assert [one.folder.name for one in found] == ["GPT_4", "b"]
    assert found[0].folder == system_folder(tmp_path, parse_direction(THERE), "GPT 4")
    told = capsys.readouterr().err
    assert "left out: " in told
    assert "a/samples.jsonl" in told
    assert f"{submission_folder(twin)}: 'b' is also in {tmp_path / THERE / 'b'}" in " ".join(
        told.split()
    )
    every = read_direction(tmp_path / THERE, complete=False)
    assert [one.folder.name for one in every] == ["GPT_4", "a", "b"]


def test_a_source_that_was_changed_and_sentences_with_every_score(tmp_path):
    every = [one.model_copy(update={"scores": {"s_bleu": 1.0, "r_bleu": 2.0}}) for one in SAMPLES]
    folder = make(tmp_path, samples=tuple(every))
    read_stored(folder).check_whole()
    path = folder / "samples.jsonl"
    path.write_text(path.read_text().replace("weak tea", "bad tea"))  # no prediction
    assert refused(folder) == (
        f"{path} is damaged: it does not match the hash in its report. Evaluate the system again"
    )
    with pytest.raises(InputError, match="is damaged"):
        next(read_stored(folder).each_sample())


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_it_was_checked(tmp_path):
    folder = make(tmp_path)
    samples = read_stored(folder).each_sample()
    found = [next(samples)]
    other = folder / "other"
    other.write_text("[]\n")
    other.replace(folder / "samples.jsonl")
    assert [*found, *samples] == list(SAMPLES)


def test_a_line_that_is_no_sentence_is_named_with_its_file(tmp_path):
    folder = make(tmp_path)
    (folder / "samples.jsonl").write_text("[]\n")
    edit(folder, samples_sha256=sha(folder / "samples.jsonl"))
    with pytest.raises(InputError, match=rf"{folder}/samples\.jsonl, line 1: not a sample"):
        read_stored(folder).samples()


@pytest.mark.parametrize("name", ["samples.jsonl", "replicates.parquet"])
def test_a_file_too_large_is_not_read(tmp_path, name):
    folder = make(tmp_path)
    with (folder / name).open("ab") as file:
        file.truncate(2**31 + 1)  # a hole, which needs no disk
    # Sentences may have 2 GiB, not the 64 MiB of other files.
    assert refused(folder) == f"{folder / name} is too large: 2048 MiB, the limit is 2048 MiB"


def test_a_link_that_leads_out_of_the_results(tmp_path):
    root = tmp_path / "results"
    folder = make(root)
    for name in ("samples.jsonl", "replicates.parquet", "report.json"):
        (folder / name).rename(tmp_path / name)
        (folder / name).symlink_to(tmp_path / name)
        assert refused(folder).startswith(
            f"{folder / name} is a link that leads out of {root}, which"
        )
        (folder / name).unlink()
        (tmp_path / name).rename(root / name)
        (folder / name).symlink_to(root / name)  # somewhere else in the results
        read_stored(folder).check_whole()


def test_a_metric_that_nobody_here_knows_is_shown_and_not_ranked(tmp_path):
    for name in ("one", "two"):
        folder = make(tmp_path, name)
        content = json.loads((folder / "report.json").read_text())
        content["scores"][0] |= {"key": "ours", "metric": "ours", "signature": "ours|v:1"}
        score = content["scores"][0]
        parts = (content["outputs_sha256"], content["data"]["fingerprint"], score["signature"])
        score["recipe"] = score_recipe(*parts)
        arrays = {"ours": columns()["s_bleu"], "r_bleu": columns()["r_bleu"]}
        table(folder, arrays)
        content |= {"replicates_sha256": sha(folder / "replicates.parquet")}
        content |= {"samples_sha256": None}
        (folder / "samples.jsonl").unlink()
        (folder / "report.json").write_text(json.dumps(content))
    found = read_direction(folder.parent, complete=False)
    assert [one.report.scores[0].metric for one in found] == ["ours", "ours"]
    assert [signature.split("|")[0] for signature in rank_results(found)] == ["r_bleu"]


def test_a_results_folder_and_one_that_is_still_empty_are_taken(tmp_path, monkeypatch):
    make(tmp_path / "results")
    check_results_folder(tmp_path / "results")
    (tmp_path / "empty/predictions").mkdir(parents=True)
    check_results_folder(tmp_path / "empty")
    monkeypatch.chdir(tmp_path / "results/mini")  # the message says where that is
    with pytest.raises(InputError, match=str(tmp_path / "results")):
        check_results_folder(Path())
