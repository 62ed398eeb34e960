"""Texts that need cleaning, through every metric and every entry.

The oracle is a person's cleaning (:mod:`trap_sentences`), with which everything is scored while
ours is switched off: a prediction, source or reference that is not cleaned is another number.
"""

from contextlib import contextmanager
from unicodedata import normalize

import numpy as np
import pytest
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import corpus_bleu
from prepared import success
from signature_world import make_world
from suite_runs import run
from trap_sentences import DIRECTION, GLAD, GRIM, ROWS, TEXTS, column, references, write_traps

from tstbench.datasets_scripts import cleaning
from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.cleaning import Cleaning, paper_v1
from tstbench.datasets_scripts.fingerprint import fingerprint
from tstbench.metrics import text as text_module
from tstbench.metrics.base import Cohort
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure, needs
from tstbench.metrics.naturalness.naturalness import _learned
from tstbench.metrics.options import choices
from tstbench.metrics.registry import METRICS
from tstbench.pipelines.report import read_report

MINI = parse_direction("mini/negative-to-positive")
SETTINGS = {"surface": {"equal": "clean"}, "naturalness": {"folds": 3}, "chrf": {"word_order": 2}}
SETTINGS |= {name: {"protocol": "cleaned"} for name in ("bertscore", "cola", "ppl")}
BLEU = ("s_bleu", "r_bleu", "multi_bleu", "joint")  # its protocols read raw text
JUDGED = tuple(name for name in METRICS if name.startswith("judge_"))
CLEANED = tuple(name for name in METRICS if name not in (*BLEU, *JUDGED))


@pytest.mark.parametrize(("trap", "text"), TEXTS)
def test_what_a_person_makes_of_each_trap(trap, text):
    assert paper_v1(text.raw) == text.clean, trap
    assert paper_v1(text.clean) == text.clean, trap


def test_the_traps_are_traps():
    assert len({row.trap for row in ROWS}) == len(ROWS) > 24
    assert {len(row.references) for row in ROWS} == {0, 1, 2, 3, 4}
    for texts in (column("source"), column("prediction"), [t for r in references() for t in r]):
        assert sum(paper_v1(text) != text for text in texts) > 20
        assert not all(text.isascii() for text in texts)
        assert any(text.count(" ") > 64 for text in texts)
    assert not {*GRIM, *GLAD} & {text.raw for _, text in TEXTS}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_world(tmp_path_factory)


@pytest.fixture
def scorers(made, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(made.home))
    return made.scorers()


def tokens(text):
    return NLTKWordTokenizer().tokenize(text.lower())


@contextmanager
def no_cleaning():
    """Every text is scored as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cleaning.CLEANINGS, "paper-v1", Cleaning("paper-v1", lambda text: text))
        _forget()
        yield
    _forget()


def _forget():
    for cached in (text_module.preparation, _learned):
        cached.cache_clear()


def inputs(**forms):
    return check_inputs(
        column("prediction", forms.get("predictions", "raw")),
        column("source", forms.get("sources", "raw")),
        references(forms.get("references", "raw")),
        MINI,
    )


def values(given, scorers, metrics=CLEANED):
    other = tuple(f"{text}-zorp" for text in column("source", "clean"))
    cohort = Cohort.of({"mine": given.predictions, "other": other})
    found = measure(metrics, given, scorers, choices(SETTINGS), cohort)
    shown = {name: one.value for name, one in found.items()}
    # How many sentences are above a half says too little: their own probabilities say more.
    for name in ("naturalness_unigram", "naturalness_neural", "naturalness_lm"):
        shown[name] = found[name].statistics.per_sentence.sum()
    for name in ("acc", "cola"):
        (need,) = needs([name], given, scorers, choices(SETTINGS))
        wanted = {"acc": MINI.target_style, "cola": "acceptable"}[name]
        scorer = scorers.load(need.role)
        of_wanted = scorer.distribution(need.texts)[:, scorer.styles.index(wanted)]
        assert found[name].value == pytest.approx(100 * (of_wanted > 0.5)[~given.failed].sum() / 26)
        shown[name] = of_wanted.sum()
    return shown


CLEAN = dict.fromkeys(("sources", "predictions", "references"), "clean")


@pytest.mark.slow
def test_every_metric_cleans_what_it_reads(scorers):
    with no_cleaning():
        usual = values(inputs(**CLEAN), scorers)
        raw = {one: values(inputs(**{**CLEAN, one: "raw"}), scorers) for one in CLEAN}
    assert values(inputs(), scorers) == pytest.approx(usual, rel=1e-6)
    # What is not cleaned shows, in every column that the metric reads.
    shows = {
        name: {one for one in CLEAN if abs(raw[one][name] - usual[name]) > 1e-6 * abs(usual[name])}
        for name in CLEANED
    }
    assert shows == {name: {"predictions", *reads(name)} for name in CLEANED}


def reads(name):
    learned = {"references"} if name in ("naturalness_unigram", "naturalness_neural") else set()
    return {*METRICS[name].reads} - {"direction"} | learned


def test_what_a_judge_is_asked_is_clean(scorers):
    with no_cleaning():
        wanted = {name: asked(name, inputs(**CLEAN), scorers) for name in JUDGED}
    assert {name: asked(name, inputs(), scorers) for name in JUDGED} == wanted
    with no_cleaning():
        for one, those in (("predictions", JUDGED), ("sources", set(JUDGED) - {"judge_fluency"})):
            for name in those:
                assert asked(name, inputs(**{**CLEAN, one: "raw"}), scorers) != wanted[name]


def asked(metric, given, scorers):
    (need,) = needs([metric], given, scorers)
    return list(need.texts)


def by_nltk(against):
    """The published recipe, on lower-cased, composed text: empty lists have nothing to match."""

    def words(text):
        return tokens(normalize("NFC", text))

    pairs = [(p, some) for p, some in zip(column("prediction"), against, strict=True) if some]
    return 100 * corpus_bleu(
        [[words(text) for text in some] for _, some in pairs], [words(p) for p, _ in pairs]
    )


# -- every entry ---------------------------------------------------------------------------------

WHOLE = ("s_bleu", "r_bleu", "multi_bleu", "s_bert", "r_bert", "multi_bert", "s_chrf", "r_chrf",
         "length_ratio", "copy_rate", "acc", "ppl", "joint")  # fmt: skip


def test_every_entry_scores_the_same_clean_texts(tmp_path, capsys):
    """Command line and suite, on files as raw as those of the real datasets."""
    data = write_traps(tmp_path / "data")
    predictions = tmp_path / "data" / "predictions.txt"
    success(
        capsys, "evaluate", f"mine={predictions}", "--data", data, "--direction", DIRECTION,
        "--metrics", *WHOLE, "--out", tmp_path / "results",
    )  # fmt: skip
    report = read_report(tmp_path / "results" / DIRECTION / "mine" / "report.json")
    suite = tmp_path / "suite.toml"
    metrics = ", ".join(f'"{name}"' for name in WHOLE)
    suite.write_text(
        f'out = "suite"\ndata = ["data/traps.toml"]\nmetrics = [{metrics}]\n[[system]]\n'
        f'info = {{ name = "mine" }}\noutputs = {{ "{DIRECTION}" = "data/predictions.txt" }}\n'
    )
    run(suite)
    again = read_report(tmp_path / "suite" / DIRECTION / "mine" / "report.json")
    assert again.scores == report.scores
    assert report.data.fingerprint == fingerprint(column("source", "clean"), references("clean"))
    assert report.data.cleaning == "paper-v1"

    scores = {score.metric: score.value for score in report.scores}
    clean = references("clean")
    assert scores["s_bleu"] == pytest.approx(by_nltk([[t] for t in column("source", "clean")]))
    assert scores["r_bleu"] == pytest.approx(by_nltk([some[:1] for some in clean]))
    assert scores["multi_bleu"] == pytest.approx(by_nltk(clean))
    acc, bleu, ppl = scores["acc"] / 100, scores["multi_bleu"] / 100, scores["ppl"]
    assert scores["joint"] == pytest.approx((acc * bleu / np.log(ppl)) ** (1 / 3), abs=1e-6)
