"""Mistakes with outputs, metrics and studies, told to whoever calls a function."""

import numpy as np
from prepared import DIRECTION
from refusals import refused, rows

import tstbench
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, MissingFileError, MissingScorerError, UnknownNameError
from tstbench.metrics.module import compute
from tstbench.metrics.statistics import bootstrap, mean_statistics, resample
from tstbench.pipelines.audit.claims import parse_claim
from tstbench.pipelines.calibration.calibrate import Plan
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.meta.coefficients import Pairs, correlate, draw, replicates
from tstbench.pipelines.meta.columns import read_scores
from tstbench.pipelines.meta.differences import perm_both, perm_both_systems
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.results import check_names, folder_name
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.style_invariance.arithmetic import style_invariance

ONE = {"predictions": ["good ."], "direction": DIRECTION}
PARTS = {"style": ("sti",), "content": ("s_sim",), "fluency": ("fluency",)}
PAIRS = Pairs(np.array([1.0, 2.0]), np.array([0, 1]), np.ones((1, 2)))
SHORT, LONG, ODD = np.arange(3.0), np.arange(4.0), np.array([1.0, np.nan])
TWICE = np.array([0, 0, 1, 1])


def scored(**given):
    call = {"predictions": ["x"] * 40, "direction": DIRECTION, "metrics": ["s_bleu"], **given}
    return lambda _: tstbench.evaluate(**call)


def evaluated(*systems):
    """With scorers that are not there."""

    def act(_):
        how, test_set = scoring(["acc"]), load_test_set(DIRECTION)
        outputs = [Outputs(name, test_set.sources) for name in systems]
        evaluate(outputs, test_set, how, scorers=how.scorers(test_set.direction))

    return act


def names(*given):
    return lambda _: check_names(given)


def table(text):
    def act(folder):
        (folder / "scores.csv").write_text(text)
        read_scores(folder / "scores.csv")

    return act


def styles(vectors, labels):
    return lambda _: style_invariance(vectors, np.array(labels, dtype=int))


def plan(**parts):
    return lambda _: Plan(name="x", candidates=parts)


@rows(
    # -- what is scored
    (UnknownNameError, f"'{DIRECTION}'", scored(direction="mini/negative-to-postive")),
    (InputError, "1 predictions, 40 sources", scored(predictions=["one"])),
    (MissingFileError, "nowhere.txt", scored(predictions="nowhere.txt")),
    (UnknownNameError, ("'blue'", "'bleu'"), scored(metrics=["blue"])),
    (InputError, "no system", evaluated()),
    (InputError, "two systems are named 'mine'", evaluated("mine", "mine")),
    (MissingScorerError, "tstbench prepare mini", evaluated("mine")),
    (UnknownNameError, ("'protocl'", "bleu"), scored(options={"bleu": {"protocl": "13a"}})),
    (UnknownNameError, "'classifer'", scored(scorers={"classifer": "linear"})),
    (UnknownNameError, "'gpu'", scored(device="gpu")),
    (UnknownNameError, "'int8'", scored(dtype="int8")),
    (InputError, "not 0", scored(batch_size=0)),
    (InputError, "not 0", lambda _: compute(["s_bleu"], **ONE, sources=["y"], batch_size=0)),
    (
        MissingScorerError,
        "tstbench prepare mine",
        lambda _: compute(["acc"], **(ONE | {"direction": "mine/rude-to-polite"})),
    ),
    (MissingScorerError, "HF_HUB_OFFLINE", lambda _: compute(["cola"], **ONE, profile="paper")),
    # -- names of systems
    (InputError, ("101", "100"), names("a" * 100, "a" * 101)),
    (InputError, "'x'", names("x", "y", "x")),
    *(
        (InputError, f"{one!r} and {other!r} would share a folder", names("y", one, "z", other))
        for one, other in (
            ("A b", "a_B"),
            ("日本語", "日本語!"),
            ("caf\u00e9", "cafe\u0301"),
            ("Ünal", "ünal"),
        )
    ),
    *(
        (InputError, ("invisible", ascii(name)), names("y", name))
        for name in ("x\u200by", "a\u202eb", "a\u200bb", "\ufeffa", "a\x1bb")
    ),
    *(
        (InputError, (repr(name), "letter"), lambda _, name=name: folder_name(name))
        for name in ("!?", "🙂", "...", "\u200b", "❤\ufe0f")
    ),
    # -- claims
    *(
        (InputError, (repr(text), "bleu=55.2"), lambda _, text=text: parse_claim(text))
        for text in ("bleu", "bleu=", "=5", "bleu=5,2", "bleu=1e3", "bleu=nan")
    ),
    (UnknownNameError, ("'blue'", "bleu"), lambda _: parse_claim("blue=5")),
    # -- tables of a metric's scores
    (InputError, "an output is known by", table("direction,system,output,m\na,b,c,1\n")),
    (InputError, "'id'", table("a,b\n1,2\n")),
    (InputError, "no column with scores", table("id,system\n1,2\n")),
    *(
        (
            InputError,
            (f"scores.csv, line 2, column m: '{cell}'", "number"),
            table(f"id,m\n1,{cell}\n"),
        )
        for cell in ("x", "nan", "NA", "1_000")
    ),
    (InputError, "line 3, column m: 'inf'", table("id,m\n1,2\n2,inf\n")),
    (InputError, ("3 for 2 columns", "line 3"), table("id,m\n1,0.5\n2,0,5\n")),
    (InputError, ("CSV", "line 2"), table('id,m\n"good" place,1\n')),
    (InputError, "'m'", table("id,m,m\n1,2,3\n")),
    (InputError, ("no rows", "scores.csv"), table("id,m\n")),
    (InputError, "scores.csv is empty", table("")),
    # -- arithmetic
    (InputError, "nothing to resample", lambda _: resample(0)),
    (InputError, "nothing to resample", lambda _: bootstrap(mean_statistics(np.array([])))),
    (InputError, "0 items", lambda _: draw(0, 5)),
    (InputError, "2", lambda _: replicates(["pearson"], np.ones(3), PAIRS)),
    (InputError, "NaN", lambda _: replicates(["pearson"], ODD, PAIRS)),
    (InputError, "not a number", lambda _: Pairs(ODD, np.array([0, 1]), np.ones((1, 2)))),
    (InputError, "(3,), (4,)", lambda _: perm_both(SHORT, LONG, LONG, resamples=9)),
    (
        InputError,
        "(4,), (3,)",
        lambda _: perm_both_systems(LONG, SHORT, np.arange(2.0), TWICE, resamples=9),
    ),
    (
        InputError,
        "not aligned",
        lambda _: perm_both_systems(LONG, LONG, SHORT, TWICE[1:], resamples=9),
    ),
    (
        UnknownNameError,
        ("'pearsons'", "'pearson'"),
        lambda _: correlate("pearsons", np.ones((1, 3)), np.ones((1, 3))),
    ),
    (InputError, "at least two styles", styles(np.eye(2), [0, 0])),
    (InputError, "at least two styles", styles(np.zeros((0, 2)), [])),
    (InputError, "two sentences each", styles(np.eye(3), [0, 0, 1])),
    (InputError, "two styles", styles(np.eye(4), [0, 0, 2, 2])),
    (InputError, "4 sentences", styles(np.zeros((4, 2)), [0, 0, 1, 1])),
    # -- plans of a calibration
    (UnknownNameError, "'nothing'", plan(**PARTS | {"style": ("nothing",)})),
    (InputError, ("s_sim", "content", "style"), plan(**PARTS | {"style": ("s_sim",)})),
    (InputError, "overall", plan(**PARTS, overall=("joint",))),
    (InputError, "no metric for content", plan(style=("sti",))),
)
def test_a_mistake_is_one_message(error, named, act, tmp_path, snapshot):
    refused(act, error, named, tmp_path, snapshot)
