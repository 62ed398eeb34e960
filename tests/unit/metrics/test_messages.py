"""Every mistake with metrics, their options and what they are given: a row and a message each."""

import dataclasses
import json
import math

import evaluate
import numpy as np
import pytest
from places import ROOT
from refusals import refused, rows

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import InputError, MissingFileError, MissingScorerError, UnknownNameError
from tstbench.metrics.bertscore.bertscore import bertscore
from tstbench.metrics.bleu.bleu import bleu_statistics
from tstbench.metrics.cps.cps import cps_statistics
from tstbench.metrics.fluency.fluency import graded_statistics
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.joint.calibration import (
    CalibratedPart,
    calibrated_scores,
    check_replaceable_calibration,
    load_calibration,
)
from tstbench.metrics.joint.joint import JointWeights
from tstbench.metrics.logprop.prompt_files import load_prompts
from tstbench.metrics.measure import measure, plan
from tstbench.metrics.naturalness.naturalness import folds_of, naturalness_statistics
from tstbench.metrics.options import choices
from tstbench.metrics.ppl.ppl import ppl_statistics
from tstbench.metrics.registry import METRICS, expand
from tstbench.metrics.scorers.masking import style_words, word_attributions
from tstbench.metrics.scorers.profile import PROFILES, Profile, Scorers
from tstbench.metrics.signature import Signature
from tstbench.metrics.statistics import (
    bootstrap,
    mean_statistics,
    paired_p_value,
    share_statistics,
)
from tstbench.metrics.sti.sti import (
    check_distances,
    earth_movers_distance,
    style_transfer_intensity,
    target_probability,
    uniform_distances,
)
from tstbench.metrics.text import preparation
from tstbench.metrics.wmd.transport import transport_distances
from tstbench.metrics.wmd.wmd import compare

MINI = parse_direction("mini/negative-to-positive")
EMBEDDED = PROFILES["embedded"]
GIVEN = {
    "predictions": ["a good one", "b", "c"],
    "sources": ["a bad one", "y", "z"],
    "references": [["a", "fine one"], ["b"], []],
}
EVEN = np.full((2, 2), 0.5)
LINE = np.array([[0.0], [1.0], [3.0], [7.0], [20.0]])
NO_FAILURE = np.zeros(4, bool)


def call(function, *arguments, **named):
    return lambda _: function(*arguments, **named)


def option(family, **settings):
    return call(choices, {family: settings})


def module(name="bleu", without=None, **changed):
    """``evaluate``'s own call of a metric's module, with something else or something missing."""
    given = {key: value for key, value in {**GIVEN, **changed}.items() if key != without}
    return lambda _: evaluate.load(f"{ROOT}/metrics/{name}").compute(**given)


def of_class(wanted, *shape):
    return call(graded_statistics, np.full(shape, 0.5), wanted, np.zeros(shape[0], bool))


def probability(value):
    rows = [[0.1, 0.3], [0.1, 0.2], [0.4, value], [0.0, 9.0]]
    return call(graded_statistics, rows, 1, NO_FAILURE)


def weights(*some):
    parts = [CalibratedPart("acc", "style", weight, 1.0, 0.0) for weight in some]
    return call(calibrated_scores, parts, {"acc": np.ones(2)}, np.zeros(2, dtype=bool))


def calibration(text=None, part=(), check=lambda file: load_calibration(str(file)), **changes):
    """Reads the shipped calibration with a mistake, or checks that it may be replaced."""

    def act(folder):
        shipped = json.loads((ROOT / "metrics/joint/calibrated-v1.json").read_text())
        if part:
            shipped["parts"] = [{**shipped["parts"][0], **dict(part)}]
        (folder / "mine.json").write_text(text or json.dumps({**shipped, **changes}))
        check(folder / "mine.json")

    return act


def distances(*given):
    return call(check_distances, np.array(given, dtype=float), 3)


def ground(content):
    def act(folder):
        (folder / "ground.json").write_text(content)
        choices({"sti": {"ground": str(folder / "ground.json")}})

    return act


def no_distribution(row):
    """As the second output, and as the second source."""
    bad = np.array([[0.5, 0.5], row])
    return [
        call(earth_movers_distance, EVEN, bad, uniform_distances(2)),
        call(earth_movers_distance, bad, EVEN, uniform_distances(2)),
        call(target_probability, bad, 0),
    ]


def prompts(old, new):
    file = """name = "mine"
styled = "{source} -> {target_style}:"
plain = "{source} ->"
styled_alone = "{target_style}:"
plain_alone = "->"
end = "."
"""

    def act(folder):
        (folder / "mine.toml").write_text(file.replace(old, new, 1))
        load_prompts(str(folder / "mine.toml"))

    return act


def transport(first, second, vectors=LINE):
    return call(transport_distances, first, second, np.array(vectors))


def bertscores(predictions, references, **how):
    """Asked before anything is encoded."""
    return call(bertscore, predictions, references, None, **how)


def planned(metric):
    return call(plan, [metric], check_inputs(["a text"]), Scorers(EMBEDDED, None))


def judge(**options):
    scorers = Scorers(EMBEDDED.with_scorers(["judge=m@http://127.0.0.1:9/v1"]), MINI)
    inputs = check_inputs(["a"], ["b"], None, MINI)
    return lambda _: measure(["judge_style"], inputs, scorers, choices({"llm_judge": options}))


def german(_):
    inputs = check_inputs(["gut ."], ["kalt ."], None, None, "de")
    how = choices({"bleu": {"protocol": "tstbench"}})
    measure(["s_bleu"], inputs, Scorers(EMBEDDED, None), how)


def facts(**changed):
    return lambda _: dataclasses.replace(METRICS["acc"], **changed)


@rows(
    # -- what a module is given
    (InputError, "predictions are missing", module(without="predictions")),
    (InputError, "0 predictions", module(predictions=[], sources=[], references=[])),
    (InputError, "must be a list of texts, got one text", module(predictions="abc")),
    *(
        (InputError, ("prediction 0", named), module(predictions=[wrong, "b", "c"]))
        for named, wrong in (
            ("None", None),
            ("nan (float)", math.nan),
            ("'NaN', which a program writes", "NaN"),
            ("3 (int)", 3),
            ("line break", "a\nb"),
            ("NUL", "a\0b"),
            ("not valid Unicode", "\ud83d"),
        )
    ),
    (InputError, "all 3 predictions are empty", module(predictions=[" "] * 3)),
    (InputError, "2 predictions, 3 sources, 3 references", module(predictions=["x"] * 2)),
    (InputError, "sources are missing", module(without="sources")),
    (InputError, ("references are missing", "[] if"), module(without="references")),
    (InputError, "source 0 is None", module(sources=[None, "y", "z"])),
    (InputError, "references of sentence 0 are None", module(references=[None, ["b"], []])),
    (InputError, "sentence 0, reference 1 is None", module(references=[["a", None], ["b"], []])),
    (InputError, "references must be a list", module(references="abc")),
    (InputError, "'german'", module(language="german")),
    (TypeError, "'profil'", module(profil="embedded")),
    *(
        (error, ("direction", named), module("acc", direction=wrong))
        for error, named, wrong in (
            (InputError, "3", 3),
            (InputError, "no direction", "no direction"),
            (UnknownNameError, "mini", "mini"),
            (UnknownNameError, "'mini/negative-to-positive'", "mini/negativ-to-positive"),
        )
    ),
    (UnknownNameError, ("'tstbnch'", "'tstbench'"), module(protocol="tstbnch")),
    (UnknownNameError, "'embeded'", module("bertscore", profile="embeded")),
    (InputError, ("acc", "direction"), planned("acc")),
    (InputError, ("s_bleu", "sources"), planned("s_bleu")),
    (InputError, ("r_bert", "references"), planned("r_bert")),
    (InputError, ("joint", "direction"), planned("joint")),
    (UnknownNameError, ("'bertscor'", "'bertscore'"), call(expand, ["bertscor"])),
    (
        MissingScorerError,
        "neither kn5, lstm nor a file",
        call(
            Scorers(EMBEDDED.with_scorers(["language_model=nowhere"]), MINI).find, "language_model"
        ),
    ),
    (
        InputError,
        ("no encoder", "--scorer encoder="),
        call(Scorers(Profile("bare", {"classifier": "linear"}), None).find, "encoder"),
    ),
    # -- facts and options
    (UnknownNameError, ("'perzent'", "'percent'"), facts(unit="perzent")),
    (UnknownNameError, ("'styles'", "'style'"), facts(aspect="styles")),
    (InputError, "higher_is_better", facts(higher_is_better=None)),
    (InputError, "'My metric'", facts(name="My metric")),
    *(
        (InputError, (f"setting {name}", family), option(family, **{name: value}))
        for family, name, values in (
            ("naturalness", "folds", (3.9, True, math.inf, 1, 1001)),
            ("naturalness", "seed", (-1,)),
            ("naturalness", "unigram_penalty", (0, math.nan)),
            ("llm_judge", "max_tokens", (1.5, 0)),
            ("llm_judge", "wordings", (0,)),
            ("llm_judge", "temperature", (3,)),
            ("chrf", "beta", (True, "0", "nan")),
            ("chrf", "char_order", ("0", "21")),
            ("chrf", "word_order", ("-1", "two")),
            ("chrf", "lowercase", ("maybe",)),
            ("joint", "weights", ([1, "x", 1], 1, "abc")),
            ("sti", "temperature", ("0", "-1", "nan", "inf")),
            ("cps", "threshold", (1.5, math.nan)),
            ("cps", "steps", (0, 10_001)),
            ("cps", "placeholder", (" ", "a|b", "a b")),
        )
        for value in values
    ),
    *(
        (UnknownNameError, (f"{family}.{name}", repr(value)), option(family, **{name: value}))
        for family, name, value in (
            ("naturalness", "human", "source"),
            ("cps", "baseline", "pas"),
            ("cps", "mask", "hidden"),
            ("bleurt", "reduce", "maxi"),
            ("ppl", "norm", "word"),
            ("ppl", "protocol", "papers"),
            ("sti", "of", "most"),
            ("joint", "mean", "geometrical"),
            ("lm_ppl", "first", "words"),
            ("lm_ppl", "average", "words"),
            ("logprop", "subtract", "everything"),
        )
    ),
    *(
        (InputError, "weights", module("joint", direction=str(MINI), weights=wrong))
        for wrong in ([1, -1, 1], [0, 0, 0], [1, 2], [1, 2, 3, 4])
    ),
    (UnknownNameError, ("'tstbnch'", "BLEU"), module("joint", protocol="tstbnch")),
    (UnknownNameError, ("'v2'", "v1", "file of your own"), call(load_prompts, "v2")),
    (InputError, ("plain", "{source}"), prompts('"{source} ->"', '"->"')),
    (InputError, "{target_style}", prompts('"{source} ->"', '"{source} {target_style}"')),
    (InputError, "plain_alone", prompts('"->"', '"-> "')),
    (InputError, "end: Field required", prompts('end = "."', "")),
    (InputError, "not TOML", prompts("end =", "end")),
    (InputError, "colour", judge(omit="colour")),
    (InputError, "not JSON", judge(extra="{")),
    (InputError, "'model'", judge(extra='{"model": "x"}')),
    (InputError, "'temperature'", judge(extra='{"temperature": "hot"}')),
    (InputError, "llm_judge.max_tokens", judge(extra='{"max_tokens": 3}')),
    (UnknownNameError, "style-v1", judge(style_prompts="nice")),
    (InputError, ("tstbench", "'de'"), german),
    (
        InputError,
        ("bertscore.protocol", "'de'"),
        call(preparation("de").reading, "bertscore", "paper"),
    ),
    # -- shares, tests and signatures
    *(
        (InputError, f"no class {wanted}", call(share_statistics, np.full((2, 3), 1 / 3), wanted))
        for wanted in (-1, 3)
    ),
    (InputError, "shape", call(share_statistics, np.full((4, 2), 0.5), 1, NO_FAILURE[:3])),
    (InputError, "sentence 1", call(share_statistics, np.array([[0.5, 0.5], [np.nan, 1]]), 0)),
    (InputError, "sentence 2", call(share_statistics, [[0.5, 0.5], [0, 1], [1, None]], 0)),
    (
        InputError,
        "3 and 4",
        call(paired_p_value, mean_statistics(np.ones(3)), mean_statistics(np.ones(4))),
    ),
    (InputError, "0 sentences", call(bootstrap, mean_statistics(np.ones(0)))),
    *(
        (InputError, "not a signature", call(Signature.parse, identity, made_with))
        for identity, made_with in (("acc|nonsense", ""), ("|v:1", ""), ("acc|v:1", "nonsense"))
    ),
    *(
        (InputError, named, call(Signature.of, "acc", versions, **fields))
        for value in ("two words", "a|b")
        for named, versions, fields in (
            ("text=", {}, {"text": value}),
            ("nltk=", {"nltk": value}, {}),
        )
    ),
    # -- Joint
    *(
        (InputError, "weights must be finite", call(JointWeights, *wrong))
        for wrong in (
            (0, 0, 0),
            (np.inf, 1, 2),
            (1, np.nan, 2),
            (1, 2, -0.5),
            (-1, 3, 2),
            (3, -1, 1),
        )
    ),
    *(
        (InputError, "weights must be finite", weights(*wrong))
        for wrong in ((), (0.0,), (np.inf, 1.0), (2.0, -0.5), (np.nan, 1.0))
    ),
    (UnknownNameError, "'calibrated-v9'", option("joint", calibration="calibrated-v9")),
    (MissingFileError, "none.json", lambda folder: load_calibration(str(folder / "none.json"))),
    (InputError, "calibration of joint: Expecting value", calibration("nothing of ours")),
    (InputError, "no calibration", calibration("{}", check=check_replaceable_calibration)),
    (InputError, "is a folder", check_replaceable_calibration),
    *(
        (InputError, f"not a calibration of joint: {named}", calibration(part=part))
        for named, part in (
            ("parts.0.weight", {"weight": -1.0}),
            ("parts.0.slope", {"slope": "steep"}),
            ("parts.0.aspect", {"aspect": "beauty"}),
            ("parts: ", {"weight": 0.0}),
            *(("parts: ", {"metric": name}) for name in ("joint", "joint_calibrated")),
        )
    ),
    (InputError, "parts", calibration(parts=[])),
    (InputError, "schema_version", calibration(schema_version=2)),
    (InputError, "colour", calibration(colour="red")),
    # -- BLEU, CPS, PPL and graded scores
    (InputError, "2 predictions but 1 lists", call(bleu_statistics, ["a", "b"], [["a"]])),
    *(
        (UnknownNameError, (f"'{name}'", "whitespace"), call(bleu_statistics, ["a"], [["a"]], name))
        for name in ("whitspace", "multi-bleu")  # that script reads uncleaned files
    ),
    *(
        (InputError, f"{one} and {two}", call(cps_statistics, np.ones(one), np.ones(two)))
        for one, two in (((2, 3), (2, 4)), ((3,), (3,)), ((2, 3, 4), (2, 3, 4)), ((1, 2), (2, 2)))
    ),
    (InputError, "'tokens'", call(ppl_statistics, np.array([-1.0]), np.array([1]), "tokens")),
    *(
        (InputError, (f"no class {wanted}", str(shape)), of_class(wanted, *shape))
        for shape, wanted in (((4,), 0), ((2, 3), 3), ((2, 3), -1), ((3, 2), 2), ((2, 2, 2), 0))
    ),
    *(
        (InputError, ("sentence 2", named), probability(value))
        for named, value in (("1.5", 1.5), ("-0.5", -0.5), ("nan", np.nan), ("nan", None))
    ),
    (InputError, "(3,)", call(graded_statistics, np.full((2, 3), 0.5), 2, np.zeros(3, bool))),
    # -- style words
    *(
        (InputError, "2 word pieces", call(word_attributions, [(0, 1), (1, 2)], some, [(0, 2)]))
        for some in ([1.0], [1.0, 2, 3])
    ),
    *(
        (InputError, ("threshold", str(wrong)), call(style_words, np.ones(2), wrong))
        for wrong in (-0.1, 1.5, np.nan)
    ),
    (UnknownNameError, ("'coverin'", "'covering'"), call(style_words, np.ones(2), 0.5, "coverin")),
    *(
        (InputError, "not a number", call(style_words, np.array(some), 0.5))
        for some in ([1.0, np.nan], [-np.inf, 2.0])
    ),
    # -- naturalness
    *(
        (
            InputError,
            f"{one} differences",
            call(naturalness_statistics, np.zeros(one), np.zeros(two)),
        )
        for one, two in (((3,), (2,)), ((2, 2), (2, 2)), ((), ()))
    ),
    (
        InputError,
        "sentence 2",
        call(naturalness_statistics, np.array([1.0, 0, np.nan, np.nan]), np.zeros(4)),
    ),
    *(
        (InputError, named, call(folds_of, list(sources), folds, 0))
        for sources, folds, named in (
            ("aa", 2, "all sources are the same"),
            ("", 2, "all sources are the same"),
            ("abb", 3, "from 2 to 2"),
            ("abc", 1, "from 2 to 3"),
        )
    ),
    # -- STI
    (InputError, "(2, 2) for 3 styles", distances([0, 1], [1, 0])),
    (InputError, "finite", distances([0, 1, 1], [1, 0, np.nan], [1, 1, 0])),
    (InputError, "not negative", distances([0, -1, 1], [-1, 0, 1], [1, 1, 0])),
    (InputError, "to itself", distances([1, 1, 1], [1, 0, 1], [1, 1, 0])),
    (InputError, "both directions", distances([0, 1, 1], [2, 0, 1], [1, 1, 0])),
    *(
        (InputError, ("1 is", str(row)), act)
        for row in ([0.5, np.nan], [0.7, 0.7], [1.5, -0.5], [0.25, 0.5])
        for act in no_distribution(row)
    ),
    (InputError, "no style 2", call(style_transfer_intensity, EVEN, EVEN, 2, uniform_distances(2))),
    (
        InputError,
        "(1, 2) and (2, 2)",
        call(style_transfer_intensity, EVEN[:1], EVEN, 0, uniform_distances(2)),
    ),
    (InputError, "no style 2", call(target_probability, EVEN, 2)),
    (InputError, "no style -1", call(target_probability, EVEN, -1)),
    (InputError, "(2,)", call(target_probability, EVEN[0], 0)),
    (MissingFileError, "'unifrom'", option("sti", ground="unifrom")),
    *(
        (InputError, named, ground(content))
        for named, content in (
            ("'styles' and 'distances'", "[]"),
            ("'styles' and 'distances'", '{"styles": [], "distance": []}'),
            ("two or more different", '{"styles": ["a"], "distances": [[0]]}'),
            ("two or more different", '{"styles": ["a", "a"], "distances": [[0, 1], [1, 0]]}'),
            ("a list of names", '{"styles": [1, 2], "distances": [[0, 1], [1, 0]]}'),
            ("one row of distances", '{"styles": ["a", "b"], "distances": [[0, 1]]}'),
            ("the row of b", '{"styles": ["a", "b"], "distances": [[0, 1], [1]]}'),
            ("the row of a", '{"styles": ["a", "b"], "distances": [[0, "1"], [1, 0]]}'),
            ("too large", f'{{"styles": ["a", "b"], "distances": [[0, 1{"0" * 400}], [1, 0]]}}'),
            ("both directions", '{"styles": ["a", "b"], "distances": [[0, 1], [2, 0]]}'),
        )
    ),
    # -- words and their vectors
    (UnknownNameError, ("'wmdd'", "'wmd'"), call(compare, "wmdd", [(["a"], ["b"])])),
    *(
        (InputError, name, call(compare, name, [(["a"], ["b"])]))
        for name in ("wmd", "embedding_average", "greedy_matching", "vector_extrema")
    ),
    (InputError, "2 predictions but 1 lists", bertscores(["good", "bad"], [["good"]])),
    (InputError, "not strings", bertscores(["good"], ["good"])),
    (InputError, "'median'", bertscores(["good"], [["good"]], reduce="median")),
    (InputError, "2 texts against 1", transport([[0], [1]], [[0]])),
    (InputError, "(5,)", transport([[0]], [[1]], LINE[:, 0])),
    (InputError, "(1, 5, 1)", transport([[0]], [[1]], LINE[None])),
    *(
        (InputError, "not finite", transport([[0]], [[1]], [*LINE, [wrong]]))
        for wrong in (np.nan, -np.inf)
    ),
    (InputError, "rows 1 to 5 of 5", transport([[1, 3]], [[2, 5]])),
    (InputError, "rows 1 to 5 of 5", transport([[5]], [[1]])),
    (InputError, "rows -2 to 3 of 5", transport([[1, 3]], [[2, -2]])),
)
def test_a_mistake_is_one_message(error, named, act, tmp_path, snapshot):
    refused(act, error, named, tmp_path, snapshot)


@pytest.mark.parametrize("text", ["{", "[" * 100_000])
@pytest.mark.parametrize("file", [ground, calibration])
def test_what_is_no_json(file, text, tmp_path):
    """In words that are Python's own, and differ by its version."""
    with pytest.raises(InputError, match=r"is not (JSON|a calibration)"):
        file(text)(tmp_path)
