"""One whole signature for every metric; and nothing moves a number that no signature states.

What is listed here is compared with what there is: a field that somebody adds to an options class,
a scorer, a placement or a card fails a test until somebody says whether it can move a number.
"""

import dataclasses
import inspect
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from signature_world import cohort, given, make_world

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.cleaning import Cleaning, paper_v1
from tstbench.metrics import registry
from tstbench.metrics import text as text_module
from tstbench.metrics.base import Cohort
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.measure import measure, needs, plan
from tstbench.metrics.options import choices
from tstbench.metrics.registry import METRICS, families, family_of, metric_facts
from tstbench.metrics.scorers.artefacts import ScorerCard
from tstbench.metrics.scorers.device import Placement
from tstbench.metrics.scorers.profile import Profile
from tstbench.metrics.scorers.roles import Found
from tstbench.metrics.text import Preparation
from tstbench.pipelines.report import score_recipe
from tstbench.pipelines.scoring import Scoring
from tstbench.version import __version__

# What is between ``direction`` and ``n``, word for word. In braces: a role's scorer, whose hash
# depends on where it was trained, and the cohort.
BLEU = "protocol:tstbench|tok:nltk|case:lower|smooth:none|text:nfc"
BERT = "encoder:{encoder}|layer:2|reduce:max|rescale:no|protocol:paper|text:fold+lower"
SIM = "encoder:{encoder}|layer:2|pool:mean|reduce:max|text:paper-v1"
BLEURT = "bleurt:{bleurt}|reduce:max|text:paper-v1"
CHRF = "beta:2|nc:6|nw:0|case:mixed|text:paper-v1+nfc"
MEANING = "meaning:{meaning}|combine:mean|reduce:max|text:paper-v1"
JUDGE = "answers:short|score:written|temperature:0|max_tokens:16|parsing:1"
SCORED = f"{JUDGE}|unread:skip|empty:worst|text:paper-v1"
ASKED = "judge:{judge}|server:127.0.0.1"
LOGPROP = (
    "causal_lm:{causal_lm}|prompts:v1#3d2f84ca0756|subtract:nothing|norm:tokens|empty:uniform"
    "|text:paper-v1"
)
WORDS = "mask:none|text:paper-v1+words"
VECTORS = "vectors:{word_vectors}"
RAW = "|empty:zero|norm:raw|unknown:skip"
NATURAL = "seed:0|text:paper-v1+lower|empty:miss|cohort:{cohort}"
TWO = {"s": "source", "r": "first"}


def views(measure, before, after="", of=TWO | {"multi": "0-4"}):
    """Against the source, the first reference, and all of them."""
    return {f"{view}_{measure}": f"{before}|refs:{refs}{after}" for view, refs in of.items()}


FIELDS = {
    "acc": "classifier:{classifier}|text:paper-v1+lower|empty:miss",
    **views("bleu", BLEU),
    **views("bert", BERT),
    "ppl": "lm:{language_model}|norm:words|protocol:paper|text:fold+lower+nltk",
    "cola": "classifier:{acceptability}|protocol:paper|text:fold+lower|empty:miss",
    "joint": "bleu:multi_bleu|weights:1,1,1|classifier:{classifier}|acc.text:paper-v1+lower"
    f"|empty:miss|multi_bleu.{BLEU.replace('text', 'multi_bleu.text')}|refs:0-4"
    "|lm:{language_model}|norm:words|ppl.protocol:paper|ppl.text:fold+lower+nltk",
    "joint_calibrated": "weights:calibrated-v1#cc4d6477d3af|sti.classifier:{classifier}"
    "|ground:uniform"
    "|temperature:1|sti.text:paper-v1+lower|sti.empty:0-or-less|encoder:{encoder}|layer:2|pool:mean"
    "|reduce:max|s_sim.text:paper-v1|refs:source|s_sim.empty:zero|fluency.classifier:{acceptability}"
    "|fluency.text:paper-v1|fluency.empty:zero",
    "joint_sentence": "mean:geometric|parts:target_style+s_meaning+fluency"
    "|target_style.classifier:{classifier}|temperature:1|target_style.text:paper-v1+lower"
    f"|target_style.empty:0|{MEANING.replace('text', 's_meaning.text')}|refs:source"
    "|s_meaning.empty:zero|fluency.classifier:{acceptability}|fluency.text:paper-v1"
    "|fluency.empty:zero",
    "judge_style": f"{ASKED}|prompts:style-v1#4fd218ba99e2|wordings:11|{SCORED}",
    "judge_content": f"{ASKED}|prompts:content-v1#fec42ff445f8|wordings:11|{SCORED}",
    "judge_fluency": f"{ASKED}|prompts:fluency-v1#ce1788ebd413|wordings:11|{SCORED}",
    "judge_unread": f"{ASKED}|prompts:style-v1+content-v1+fluency-v1#4e00445d2d74"
    f"|wordings:11+11+11|{JUDGE}|unread:counted|empty:skip|text:paper-v1",
    "logprop": LOGPROP,
    "logprop_plain": LOGPROP,
    "lm_ppl": "causal_lm:{causal_lm}|first:bos|average:tokens|empty:skip|text:paper-v1",
    "sti": "classifier:{classifier}|ground:uniform|temperature:1|text:paper-v1+lower"
    "|empty:0-or-less",
    "target_style": "classifier:{classifier}|temperature:1|text:paper-v1+lower|empty:0",
    **views("sim", SIM, "|empty:zero"),
    **views("chrf", CHRF),
    "length_ratio": "text:paper-v1+lower+13a|empty:no-words",
    "copy_rate": "equal:letters|text:paper-v1+nfc",
    **views("wmd", f"{VECTORS}|{WORDS}", "|empty:farthest|norm:unit|unknown:skip", TWO),
    **views("meteor", f"{WORDS}+nfc", "|empty:zero|stages:exact+stem", TWO),
    **views("embedding_average", f"{VECTORS}|{WORDS}", RAW, TWO),
    **views("greedy_matching", f"{VECTORS}|{WORDS}", RAW, TWO),
    **views("vector_extrema", f"{VECTORS}|{WORDS}", RAW, TWO),
    **views("sentence_bleu", f"{WORDS}+nfc", "|empty:zero|zero:0.01", TWO),
    **views("meaning", MEANING, "|empty:zero"),
    "cps": "encoder:{encoder}|layer:2|mask:none|text:paper-v1|empty:zero",
    "naturalness_unigram": f"human:sources+references|folds:10|C:1.0|{NATURAL}",
    "naturalness_neural": "encoder:{encoder}|layer:2|human:sources+references|folds:10|C:0.01"
    f"|{NATURAL}",
    "naturalness_lm": "lm:{cleaned_language_model}|source_lm:{source_language_model}|mixture:styles"
    "|norm:words+1|text:paper-v1+lower+13a|empty:miss",
    "fluency": "classifier:{acceptability}|text:paper-v1|empty:zero",
    **views("bleurt", BLEURT),
}
# Each role's scorer here; after it come twelve digits of its hash.
NAMES = {
    "classifier": "linear:mini", "language_model": "kn5-positive:mini",
    "cleaned_language_model": "kn5-positive:mini",
    "source_language_model": "kn5-negative:mini", "acceptability": "lora:cola",
    "encoder": "bert", "meaning": "crossed:v1", "word_vectors": "file:vectors",
    "causal_lm": "llm", "judge": "m", "bleurt": "bleurt",
}  # fmt: skip
TORCH = "torch transformers tokenizers"
LIBRARIES = {
    "bleu": "nltk sacrebleu", "bertscore": TORCH, "ppl": "kenlm nltk sacrebleu",
    "joint": "nltk sacrebleu kenlm", "joint_calibrated": f"scipy {TORCH}",
    "joint_sentence": f"scipy {TORCH}",
    "logprop": TORCH, "lm_ppl": TORCH, "sti": "scipy", "sim": TORCH, "bleurt": TORCH,
    "chrf": "sacrebleu", "wmd": "numpy nltk", "meaning": TORCH, "cps": "torch transformers",
    "naturalness": "kenlm sacrebleu scikit-learn",
}  # fmt: skip
NO_WORDNET = {"wmd": {"synonyms": "no"}}  # whose data may be here or not


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_world(tmp_path_factory)


@pytest.fixture
def world(made, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(made.home))
    return made


def signatures(scorers, inputs=None, settings=None, systems=None, metrics=METRICS):
    inputs = inputs or given()
    chosen = choices(NO_WORDNET, settings or {})
    return plan(metrics, inputs, scorers, chosen, systems or cohort(inputs))


def said(*arguments, **named):
    return {name: str(one) for name, one in signatures(*arguments, **named).items()}


def test_every_whole_signature(world):
    scorers, systems = world.scorers(), cohort(given())
    filled = {role: f"{name}#{scorers.find(role).hash[:12]}" for role, name in NAMES.items()}
    data = given().data_fingerprint[:12]
    assert said(scorers) == {
        metric: f"{metric}|v:{METRICS[metric].version}|direction:mini/negative-to-positive"
        f"|{fields.format(**filled, cohort=systems.hash[:12])}|n:26|data:{data}"
        for metric, fields in FIELDS.items()
    }


def test_what_computed_each_number(world):
    for metric, one in signatures(world.scorers()).items():
        libraries = (LIBRARIES.get(metric) or LIBRARIES.get(family_of(metric).name, "")).split()
        wanted = [f"tstbench:{__version__}", *(f"{name}:{version(name)}" for name in libraries)]
        assert one.made_with == "|".join(wanted)


# -- every option --------------------------------------------------------------------------------

ALL = "all"
# Family, option, another value: the metrics whose signature says it.
OPTIONS = {
    ("bleu", "protocol", "13a"): "s_bleu r_bleu multi_bleu joint",
    ("bertscore", "protocol", "cleaned"): ALL,
    ("bertscore", "reduce", "mean"): ALL,
    ("ppl", "protocol", "cleaned"): "ppl joint",
    ("ppl", "norm", "words+1"): "ppl joint",
    ("joint", "weights", (2, 1, 3)): "joint",
    ("joint", "calibration", "FITTED"): "joint_calibrated",
    ("joint", "mean", "minimum"): "joint_sentence",
    ("fluency", "combine", "mean"): "fluency joint_calibrated joint_sentence",
    ("llm_judge", "style_prompts", "OWN"): "judge_style judge_unread",
    ("llm_judge", "content_prompts", "OWN"): "judge_content judge_unread",
    ("llm_judge", "fluency_prompts", "OWN"): "judge_fluency judge_unread",
    ("llm_judge", "wordings", 3): ALL,
    ("llm_judge", "explain", True): ALL,
    ("llm_judge", "expected", True): ALL,
    ("llm_judge", "temperature", 0.5): ALL,
    ("llm_judge", "max_tokens", 9): ALL,
    ("llm_judge", "omit", "max_tokens"): ALL,
    ("llm_judge", "extra", '{"top_k": 1}'): ALL,
    ("lm_ppl", "first", "skip"): ALL,
    ("lm_ppl", "average", "sentences"): ALL,
    ("logprop", "prompts", "OWN"): ALL,
    ("logprop", "subtract", "source"): ALL,
    ("sti", "ground", "FAR"): "sti joint_calibrated",
    ("sti", "temperature", 2.0): "sti target_style joint_calibrated joint_sentence",
    ("sti", "of", "least"): "target_style joint_sentence",
    ("sim", "reduce", "mean"): "s_sim r_sim multi_sim joint_calibrated",
    ("bleurt", "reduce", "mean"): ALL,
    ("chrf", "beta", 1.0): ALL,
    ("chrf", "char_order", 4): ALL,
    ("chrf", "word_order", 2): ALL,
    ("chrf", "lowercase", True): ALL,
    ("chrf", "clean", False): ALL,
    ("surface", "equal", "raw"): "copy_rate",
    ("wmd", "mask", "removed"): ALL,
    ("wmd", "placeholder", "centroid"): " ".join(
        f"{view}_{measure}"
        for view in "sr"
        for measure in ("wmd", "embedding_average", "greedy_matching", "vector_extrema")
    ),
    ("wmd", "tokens", "whitespace"): ALL,
    ("wmd", "meteor", "1.5"): "s_meteor r_meteor",
    ("meaning", "combine", "cosine"): "s_meaning r_meaning multi_meaning joint_sentence",
    ("meaning", "reduce", "mean"): "s_meaning r_meaning multi_meaning joint_sentence",
    ("cps", "mask", "removed"): ALL,
    ("cps", "threshold", 0.9): ALL,
    ("cps", "rule", "covering"): ALL,
    ("cps", "unit", "words"): ALL,
    ("cps", "placeholder", "food"): ALL,
    ("cps", "steps", 1): ALL,
    ("cps", "baseline", "mask"): ALL,
    ("cps", "output", "logit"): ALL,
    ("naturalness", "human", "sources"): "naturalness_unigram naturalness_neural",
    ("naturalness", "folds", 5): "naturalness_unigram naturalness_neural",
    ("naturalness", "unigram_penalty", 9.0): "naturalness_unigram",
    ("naturalness", "neural_penalty", 9.0): "naturalness_neural",
    ("naturalness", "seed", 1): "naturalness_unigram naturalness_neural",
}
# Data that may not be here, a cased classifier, one that sees punctuation: test_wmd.py,
# test_profiles.py, test_text.py
ELSEWHERE = {("wmd", "synonyms"), ("cola", "protocol"), ("acc", "protocol")}
# Of two styles, ordinal distances are uniform ones.
FAR = '{"styles": ["negative", "positive"], "distances": [[0, 3], [3, 0]]}'
USUAL = {
    "cps": {"mask": "masked"},
    "wmd": {"mask": "masked"},
}  # what must be chosen for an option to matter


def test_nothing_that_can_move_a_number_is_without_a_case():
    """Of a scorer, ``load`` loads what the others identify; ``on_device`` says whether the type is
    stated. All that scoring takes is below.
    """
    for taken, names in (
        (Found, "name hash fields load on_device"),
        (Scoring, "metrics profile choices placement"),
        (Profile, "name scorers options"),
    ):
        assert {field.name for field in dataclasses.fields(taken)} == {*names.split()}
    declared = {
        (name, field.name)
        for name, family in families().items()
        for field in dataclasses.fields(family.options)
    }
    assert declared == {case[:2] for case in OPTIONS} | ELSEWHERE


def own_prompts(family, option, folder):
    """A copy of the prompt file with another name for a thing."""
    name = "v1" if family == "logprop" else f"{option.removesuffix('_prompts')}-v1"
    source = Path(registry.__file__).parent / family / "prompts" / f"{name}.toml"
    text = source.read_text(encoding="utf-8")
    path = folder / f"{name}.toml"  # of the same name: the content must tell them apart
    path.write_text(
        text.replace(" text", " passage").replace(" sentence", " line"), encoding="utf-8"
    )
    return str(path)


@pytest.mark.parametrize("case", OPTIONS, ids=lambda case: f"{case[0]}.{case[1]}")
def test_an_option_that_moves_a_number_is_in_the_signature(world, asked, case, tmp_path):
    family, option, value = case
    if value == "OWN":
        value = own_prompts(family, option, tmp_path)
    if value == "FAR":
        value = str(tmp_path / "far.json")
        Path(value).write_text(FAR)
    if value == "FITTED":
        value = str(tmp_path / "fitted.json")
        shipped = Path(registry.__file__).parent / "joint" / "calibrated-v1.json"
        fitted = json.loads(shipped.read_text())
        fitted["parts"][0]["slope"] += 1
        Path(value).write_text(json.dumps(fitted))
    usual = {} if option == "mask" else USUAL.get(family, {})
    settings = [json.dumps({family: some}) for some in (usual, {**usual, option: value})]
    mine = [facts.name for facts in families()[family].metrics]
    one, two = map(asked.said, settings)
    stated = {metric for metric in METRICS if one[metric] != two[metric]}
    assert stated == ({*mine} if OPTIONS[case] == ALL else {*OPTIONS[case].split()})
    recipes = [{score_recipe("o", "d", some[m]) for m in stated} for some in (one, two)]
    assert not recipes[0] & recipes[1]
    if family == "llm_judge":
        return  # its numbers need a server: test_llm_judge.py
    measured = {*mine, *({"joint"} & stated)}
    values = [asked.numbers(frozenset(measured), some) for some in settings]
    moved = {metric for metric in measured if values[0][metric] != values[1][metric]}
    assert moved <= stated, "an identity stands for two numbers"
    # One text has nothing to reduce; no output of these is its source but for its case, or has
    # parts of less style than its whole (test_sti.py).
    some = {"reduce": "multi_", "lowercase": ("r_", "multi_"), "of": "none"}.get(option, "")
    wanted = {metric for metric in stated & measured if metric.startswith(some)}
    assert moved == wanted, "show it with a value that moves every number"


@pytest.fixture(scope="module")
def asked(made):
    """Signatures and numbers by settings, as JSON: the usual ones are asked for once."""
    scorers, inputs = made.scorers(), given()

    @cache
    def numbers(metrics, settings):
        options = choices(NO_WORDNET, json.loads(settings))
        found = measure(metrics, inputs, scorers, options, cohort(inputs))
        return {name: (one.value, one.per_sentence()) for name, one in found.items()}

    @cache
    def signed(settings):
        return said(scorers, settings=json.loads(settings))

    return SimpleNamespace(said=signed, numbers=numbers)


# -- every other choice --------------------------------------------------------------------------


def needed(scorers):
    """Metric to the roles that it, or a part of it, uses."""
    return {m: {need.role for need in needs([m], given(), scorers)} for m in METRICS}


@pytest.mark.parametrize(
    "changed", [{"name": "other"}, {"hash": "f" * 64}, {"fields": {"layer": 77}}], ids=str
)
def test_every_scorer_is_in_the_signature_of_all_that_use_it(world, changed):
    uses = needed(world.scorers())
    usual = said(world.scorers())
    for role in sorted(set().union(*uses.values())):
        scorers = world.scorers()
        scorers._found[role] = dataclasses.replace(scorers.find(role), **changed)
        other = said(scorers)
        moved = {metric for metric in METRICS if usual[metric] != other[metric]}
        assert moved == {metric for metric in METRICS if role in uses[metric]}, role


def test_the_number_type_is_said_where_a_scorer_computes_in_it(world):
    assert {field.name for field in dataclasses.fields(Placement)} == {
        "dtype",
        *("device", "batch_size", "asking"),  # which move no number
    }
    uses, usual = needed(world.scorers()), said(world.scorers())
    for dtype in ("bfloat16", "float16"):
        scorers = world.scorers(placement=Placement("cpu", dtype))
        other = said(scorers)
        for metric in METRICS:
            on_device = any(scorers.find(role).on_device for role in uses[metric])
            assert (f"|dtype:{dtype}|" in other[metric]) == on_device
            assert (other[metric] == usual[metric]) == (not on_device)
    for same in (Placement("cpu"), Placement(batch_size=3)):
        assert said(world.scorers(placement=same)) == usual
    exact, half = (
        measure(["s_bert"], given(), world.scorers(placement=Placement("cpu", dtype)))[
            "s_bert"
        ].value
        for dtype in ("float32", "bfloat16")
    )
    assert exact != half == pytest.approx(exact, abs=0.05)


def test_texts_and_their_order_are_in_every_signature(world):
    """One letter of one source or reference; one sentence less; the other direction; a language."""
    assert {field.name for field in dataclasses.fields(Inputs)} == {
        "sources", "references", "direction", "language",
        "predictions",  # of the recipe: see below
        "without", "others",  # one of the references
    }  # fmt: skip
    scorers, usual, inputs = world.scorers(), said(world.scorers()), given()
    some = inputs.references
    other = {
        "sources": (inputs.sources[0] + "x", *inputs.sources[1:]),
        "references": ((some[0][0] + "x", *some[0][1:]), *some[1:]),
    }
    changes = [{name: texts} for name, texts in other.items()]
    changes.append({"references": (some[0][::-1], *some[1:])})
    changes.append({"direction": parse_direction("mini/positive-to-negative")})
    for change in changes:
        new = said(scorers, dataclasses.replace(inputs, **change))
        assert not {metric for metric in METRICS if new[metric] == usual[metric]}, change
    others = tuple(r[1:] for r in inputs.references)
    new = said(scorers, dataclasses.replace(inputs, without="reference-1", others=others))
    compared = {metric for metric in METRICS if "references" in metric_facts(metric).reads}
    assert {metric for metric in METRICS if new[metric] != usual[metric]} == compared
    assert not [m for m in compared if "|without:reference-1|n:" not in new[m]]
    new = said(scorers, dataclasses.replace(inputs, language="de"))
    assert {metric for metric in METRICS if "|language:de|" not in new[metric]} == {
        *("cola", "fluency", "joint_calibrated", "joint_sentence", "s_meteor", "r_meteor"),
        *("s_meaning", "r_meaning", "multi_meaning"),  # whose scorers come with the package
    }


@pytest.mark.parametrize("changed", ["cleaning", "tokenizer", "lowercases"])
def test_how_texts_are_prepared_is_in_every_signature_that_it_moves(world, monkeypatch, changed):
    assert {field.name for field in dataclasses.fields(Preparation)} == {
        "language", "cleaning", "tokenizer", "lowercases",
    }  # fmt: skip
    usual = said(world.scorers())
    other = {
        "cleaning": Cleaning("paper-v2", paper_v1), "tokenizer": "intl", "lowercases": False,
    }  # fmt: skip
    prepared = dataclasses.replace(text_module.preparation("en"), **{changed: other[changed]})
    for family in families().values():
        module = inspect.getmodule(type(family))
        if hasattr(module, "preparation"):
            monkeypatch.setattr(module, "preparation", lambda _="en": prepared)
    new = said(world.scorers())
    same = {metric for metric in METRICS if usual[metric] == new[metric]}
    without = {m for m, fields in FIELDS.items() if "acc." not in fields and (
        "protocol:tstbench" in fields or "protocol:paper" in fields)
    }  # fmt: skip
    of_tokens = {m for m in METRICS if family_of(m).name == "wmd"}  # scorers/tokens.py prepares
    lower = {m for m, fields in FIELDS.items() if "paper-v1+lower" in fields}
    split = {m for m, fields in FIELDS.items() if "+lower+13a" in fields}
    moved = {"cleaning": {*METRICS} - without, "tokenizer": split, "lowercases": lower}[changed]
    assert {*METRICS} - same == moved - of_tokens


@pytest.mark.parametrize("metric", METRICS)
def test_a_metrics_version_is_in_its_signature(world, monkeypatch, metric):
    usual = said(world.scorers(), metrics=[metric])[metric]
    family, facts = registry._table()[metric]
    changed = (family, dataclasses.replace(facts, version=77))
    monkeypatch.setitem(registry._table(), metric, changed)
    new = said(world.scorers(), metrics=[metric])[metric]
    assert new == usual.replace(f"|v:{facts.version}|", "|v:77|") != usual


def test_what_compares_systems_says_which(world):
    usual = said(world.scorers())
    texts = given().predictions
    new = said(world.scorers(), systems=Cohort.of({"mine": texts, "other": texts}))
    moved = {metric for metric in METRICS if usual[metric] != new[metric]}
    assert moved == {metric for metric, facts in METRICS.items() if facts.compares_systems}


# -- recipes -------------------------------------------------------------------------------------


def test_a_scores_recipe_knows_outputs_data_and_signature():
    names = [*inspect.signature(score_recipe).parameters]
    assert names == ["outputs_sha256", "data_fingerprint", "identity"]
    usual = dict(zip(names, ("aa", "bb", "cc"), strict=True))
    recipes = {score_recipe(**{**usual, name: "x"}) for name in names} | {score_recipe(**usual)}
    assert len(recipes) == 4
    assert score_recipe("ab", "c", "d") != score_recipe("a", "bc", "d")


CARD = ScorerCard(
    role="classifier", dataset="mini", name="linear", kind="linear", styles=("a", "b"),
    trained_on="mini", data_fingerprint="0" * 64, n_sentences=3, settings={"seed": 1, "c": [2]},
)  # fmt: skip
TRAINED = {
    "role": "acceptability", "dataset": "yelp", "name": "other", "kind": "textcnn",
    "styles": ("b", "a"), "data_fingerprint": "1" * 64, "settings": {"seed": 2, "c": [2]},
}  # fmt: skip
# Known only after training, or for people; n_sentences and n_excluded follow from the data.
UNKNOWN = {
    "trained_on": "x", "n_sentences": 4, "n_excluded": 1, "scores": {"x": 0.5},
    "versions": {"torch": "1"}, "schema_version": 1,
}  # fmt: skip


def test_a_scorers_recipe_knows_all_that_it_is_trained_with():
    assert {field.name for field in dataclasses.fields(ScorerCard)} == {*TRAINED, *UNKNOWN}
    for name, value in TRAINED.items():
        assert dataclasses.replace(CARD, **{name: value}).recipe != CARD.recipe, name
    for name, value in UNKNOWN.items():
        assert dataclasses.replace(CARD, **{name: value}).recipe == CARD.recipe, name
