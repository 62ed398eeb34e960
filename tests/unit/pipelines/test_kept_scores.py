"""Scores that are kept between runs: the same numbers, and never those of anything else."""

import io
import os
import shutil
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
import torch
from prepared import DIRECTION

from tstbench.datasets_scripts.catalog import as_direction
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.base import Cohort, draw_together
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure, plan
from tstbench.pipelines import evaluate as evaluating
from tstbench.pipelines import kept_scores
from tstbench.pipelines.cache import entries, prunable
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.growth import read_results
from tstbench.pipelines.kept_scores import FOLDER, about, in_blocks, measured
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.scoring import scoring

METRICS = (
    "s_bleu",
    "multi_bleu",
    "acc",
    "ppl",
    "s_chrf",
    "length_ratio",
    "s_bert",
    "naturalness_lm",
)


pytestmark = pytest.mark.usefixtures("prepared")


@pytest.fixture
def inputs():
    whole = load_test_set(DIRECTION)
    texts = [f"great {source}" for source in whole.sources[:6]]
    return check_inputs(
        texts, whole.sources[:6], whole.references[:6], as_direction(DIRECTION), "en"
    )


def ask(metric, inputs, **settings):
    how = scoring([metric], **settings)
    scorers = how.scorers(as_direction(DIRECTION))
    return measured([metric], inputs, scorers, how.choices)[metric]


def afresh(metric, inputs, **settings):
    how = scoring([metric], **settings)
    return measure([metric], inputs, how.scorers(as_direction(DIRECTION)), how.choices)[metric]


def same(one, other):
    assert (one.signature, one.signature.made_with) == (other.signature, other.signature.made_with)
    assert (one.value, one.caution) == (other.value, other.caution)
    assert one.statistics.rows.tobytes() == other.statistics.rows.tobytes()
    assert one.replicates.tobytes() == other.replicates.tobytes()
    assert one.per_sentence() == other.per_sentence()


def lie(prepared):
    """Make each kept file say 0 of every sentence: whoever reads it can be told from the rest."""
    for path in (prepared / FOLDER).iterdir():
        with np.load(io.BytesIO(path.read_bytes()[65:])) as file:
            kept = dict(file)
        kept["rows"] = np.zeros_like(kept["rows"])
        write(path, **kept)


def write(path, **arrays):
    """Write a file as the module does: what it is the hash of, after the hash."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    path.write_bytes(sha256(buffer.getvalue()).hexdigest().encode() + b"\n" + buffer.getvalue())


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_kept_is_what_was_measured(metric, prepared, inputs):
    made = ask(metric, inputs)
    same(ask(metric, inputs), made)
    same(afresh(metric, inputs), made)
    lie(prepared)
    assert not ask(metric, inputs).statistics.rows.any(), "the second time, the file is read"


def test_other_texts_settings_or_scorers_never_read_it(prepared, inputs):
    for metric in ("s_bleu", "multi_bleu", "acc"):
        ask(metric, inputs)
    lie(prepared)
    other = replace(inputs, predictions=(*inputs.predictions[:-1], "good food"))
    same(ask("s_bleu", other), afresh("s_bleu", other))
    other = replace(inputs, references=(*inputs.references[:-1], ("good food",)))
    same(ask("multi_bleu", other), afresh("multi_bleu", other))
    other = replace(inputs, sources=(*inputs.sources[:-1], "bad food"), references=None)
    same(ask("s_bleu", other), afresh("s_bleu", other))  # its signature says data:unknown
    how = {"settings": {"bleu": {"protocol": "13a"}}}
    same(ask("s_bleu", inputs, **how), afresh("s_bleu", inputs, **how))
    how = {"scorers": ["classifier=linear@validation"]}
    scoring(["acc"], **how).prepare(as_direction(DIRECTION))
    same(ask("acc", inputs, **how), afresh("acc", inputs, **how))


def test_systems_are_compared_with_those_of_now(prepared, inputs):
    how = scoring(["naturalness_unigram"])
    scorers = how.scorers(as_direction(DIRECTION))
    whole = load_test_set(DIRECTION).sources
    inputs = replace(inputs, predictions=whole[::-1], sources=whole, references=None)
    for others in (whole, tuple(f"{source} great" for source in whole)):
        cohort = Cohort.of({"mine": inputs.predictions, "theirs": others})
        given = (["naturalness_unigram"], inputs, scorers, how.choices, cohort)
        expected = measure(*given)["naturalness_unigram"]
        same(measured(*given)["naturalness_unigram"], expected)
        lie(prepared)


def test_what_is_damaged_is_measured_again(prepared, inputs):
    made = ask("s_bleu", inputs)
    (path,) = (prepared / FOLDER).iterdir()
    whole = path.read_bytes()
    places = {*range(0, 70, 8), *range(70, len(whole), 40), len(whole) - 1}
    flipped = [whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :] for n in places]
    for content in (b"", whole[:200], whole[:-30], b"PK" + bytes(100), bytes(len(whole)), *flipped):
        path.write_bytes(content)
        assert about(path) == {}
        same(ask("s_bleu", inputs), made)
        assert path.read_bytes() == whole


def test_a_device_counts_where_something_computes_on_it(prepared, inputs):
    """What ``auto`` is on this machine is the same as its name."""
    here = "cuda" if torch.cuda.is_available() else "cpu"
    for metric in ("s_bert", "acc", "s_bleu"):
        ask(metric, inputs)
    lie(prepared)
    for metric in ("s_bert", "acc", "s_bleu"):
        assert not ask(metric, inputs, device=here).statistics.rows.any()
    if here == "cuda":
        assert ask("s_bert", inputs, device="cpu").statistics.rows.any()
        assert not ask("acc", inputs, device="cpu").statistics.rows.any()


def test_the_cache_shows_them_and_prunes_those_of_other_code(prepared, inputs):
    ask("s_bleu", inputs)
    (path,) = (prepared / FOLDER).iterdir()
    (entry,) = (one for one in entries() if one.kind == "score")
    assert entry.name == f"s_bleu {DIRECTION} {path.name[:8]}"
    assert (entry.path, entry.state, entry in prunable([entry])) == (path, "current", False)
    write(path, about='{"metric": "s_bleu", "tools": "python 2"}')
    (entry,) = prunable(one for one in entries() if one.kind == "score")
    assert (entry.state, entry.name) == ("of other code", f"s_bleu {path.name[:8]}")


ONEDNN = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
TOGETHER = ("acc", "bleu", "chrf", "bertscore", "ppl", "cola", "joint", "length_ratio", "sim")


@pytest.fixture
def few_at_once(monkeypatch):
    """Blocks of seven sentences, so that a test set of forty is one of many."""
    monkeypatch.setenv(ONEDNN, "0")  # so that what is set meanwhile is undone
    for module in (kept_scores, evaluating):
        monkeypatch.setattr(module, "BLOCK", 7)


def outputs(test_set):
    return [
        Outputs("great", tuple(f"great {source}" for source in test_set.sources)),
        Outputs("cut", tuple(source[:20] for source in test_set.sources)),
    ]


def values(evaluation):
    return [
        {s.signature: (s.value, s.interval and (s.interval.low, s.interval.high)) for s in r.scores}
        for r in (one.results.report for one in evaluation.systems)
    ]


@pytest.mark.slow
def test_many_sentences_have_the_numbers_of_one_piece(prepared, monkeypatch, tmp_path, request):
    test_set = load_test_set(DIRECTION)
    # Of the first seven sentences, none has several references; of the next, none has any.
    most = test_set.references
    fewer = (*(some[:1] for some in most[:7]), *[()] * 7, *most[14:])
    test_set = replace(test_set, references=fewer)
    how = scoring(TOGETHER)
    whole = evaluate(outputs(test_set), test_set, how)
    request.getfixturevalue("few_at_once")
    calls = []
    monkeypatch.setattr(
        kept_scores, "measure", lambda *given: calls.append(given[1]) or measure(*given)
    )
    blocks = evaluate(outputs(test_set), test_set, how, root=tmp_path)
    assert [len(one.predictions) for one in calls] == [7, 7] * 5 + [5, 5]
    assert [len(some) for some in values(whole)] == [17, 17]
    for one, other in zip(values(whole), values(blocks), strict=True):
        assert list(one) == list(other)
        for signature, (value, interval) in one.items():
            assert other[signature] == (
                pytest.approx(value, abs=2e-6),
                pytest.approx(interval, abs=2e-6),
            )
    for one, other in zip(whole.systems, blocks.systems, strict=True):
        for mine, theirs in zip(one.results.samples(), other.results.samples(), strict=True):
            assert mine.scores == pytest.approx(theirs.scores, abs=2e-6)
    notes = [about(path) for path in (prepared / FOLDER).iterdir()]
    by = [note["scorers"] for note in notes if note["metric"] == "multi_bert"]
    assert len(by) == 12  # blocks of two systems
    assert all(by), "kept under its encoder's hash, also where a block has no second reference"
    stored = read_results(tmp_path, test_set.direction, "cut")
    assert [*stored.samples()] == [*blocks.systems[1].results.samples()]


def test_many_sentences_take_little_memory(few_at_once, monkeypatch):
    """Counts take a byte each, a scorer forgets a finished block, and oneDNN keeps no kernels."""
    monkeypatch.delenv(ONEDNN)
    test_set, how = load_test_set(DIRECTION), scoring(["multi_bleu", "acc", "ppl"])
    inputs = check_inputs(
        [f"great {one}" for one in test_set.sources],
        test_set.sources,
        test_set.references,
        test_set.direction,
    )
    scorers = how.scorers(test_set.direction)
    memo = scorers.load("classifier")._memo
    asked = plan(how.metrics, inputs, scorers)
    (found,) = in_blocks([inputs], [asked], scorers, how.choices)
    kinds = {metric: one.statistics.rows.dtype for metric, one in found.items()}
    assert kinds == {"multi_bleu": np.uint8, "acc": np.uint8, "ppl": np.float64}
    assert len(memo) == 0
    assert os.environ[ONEDNN] == "0"
    draw_together([*found.values()])
    for metric, one in measure(how.metrics, inputs, scorers).items():
        assert np.array_equal(vars(found[metric])["replicates"], one.replicates)
        assert (found[metric].statistics.rows == one.statistics.rows).all()
        assert found[metric].value == pytest.approx(one.value, rel=1e-12)


def test_after_an_interruption_only_the_rest_is_measured(monkeypatch, few_at_once, tmp_path):
    test_set, how = load_test_set(DIRECTION), scoring(["s_bleu", "acc"])
    sizes = []

    def third(*given):
        if len(sizes) == 3:
            raise KeyboardInterrupt
        sizes.append(len(given[1].predictions))
        return measure(*given)

    monkeypatch.setattr(kept_scores, "measure", third)
    with pytest.raises(KeyboardInterrupt):
        evaluate(outputs(test_set)[:1], test_set, how, root=tmp_path)
    texts = []
    monkeypatch.setattr(
        kept_scores, "measure", lambda *given: texts.append((given[0], given[1])) or measure(*given)
    )
    again = evaluate(outputs(test_set)[:1], test_set, how, root=tmp_path)
    assert sizes == [7, 7, 7]
    asked = [(asked, len(one.predictions)) for asked, one in texts]
    assert asked == [([], 7)] * 3 + [(["s_bleu", "acc"], size) for size in (7, 7, 5)]
    assert values(again) == values(evaluate(outputs(test_set)[:1], test_set, how))


def test_a_disk_without_room_is_told_once_and_all_is_measured(prepared, few_at_once, capsys):
    test_set, how = load_test_set(DIRECTION), scoring(["s_bleu"])
    expected = values(evaluate(outputs(test_set)[:1], test_set, how))
    shutil.rmtree(prepared / FOLDER)
    (prepared / FOLDER).write_text("no folder")
    capsys.readouterr()
    assert values(evaluate(outputs(test_set)[:1], test_set, how)) == expected
    said = capsys.readouterr().err
    assert said.count("scores of texts cannot be kept") == 1
    assert str(prepared / FOLDER) in said
    assert "measured again" in said


def test_metrics_that_need_all_sentences_get_them(few_at_once):
    test_set, how = load_test_set(DIRECTION), scoring(["naturalness_unigram", "s_bleu"])
    evaluation = evaluate(outputs(test_set), test_set, how)
    scores = evaluation.systems[0].results.report.scores
    assert {score.metric for score in scores} == {"naturalness_unigram", "s_bleu"}
