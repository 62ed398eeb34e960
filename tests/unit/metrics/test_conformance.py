"""What every metric promises: its facts, and its evaluate module, loaded as a user loads it.

Arguments, checks and messages are those of one base class: they are tried on one module, and of the
others it is asked that they are made from it.
"""

import dataclasses
import doctest
import inspect
import json
import math
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import evaluate
import numpy as np
import pandas as pd
import pytest
from places import ROOT
from prepared import DIRECTION
from tiny_models import make_bert

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import InputError, MissingScorerError
from tstbench.metrics.base import compared_with, reference_count, view_left_out
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.registry import METRICS, families, family_of
from tstbench.pipelines.evaluate import evaluate as evaluate_systems
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.transfer import predict

# Compared in their own tests: they need a server, weights, or several systems.
ELSEWHERE = ("llm_judge", "logprop", "bleurt", "lm_ppl", "naturalness")
MODULES = {
    name: tuple(facts.name for facts in family.metrics)
    for name, family in families().items()
    if name not in ELSEWHERE
}
# With a calibration, or a mean of sentences, it has another: see test_calibrated.py.
MODULES["joint"] = ("joint", "acc", "r_bleu", "multi_bleu", "ppl")
ALIGNED = ("bleu", "bertscore", "joint", "sim", "chrf", "wmd", "meaning")  # sources and references
SEVERAL = ("bleu", "bertscore", "joint", "sim", "chrf", "meaning")  # have a view on all references
SOURCED = ("sti", "surface", "cps")  # read sources only
DIRECTED = ("acc", "ppl", "cola", "fluency", "joint", "sti", "wmd")  # need a direction


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def columns(name, test_set, predictions, most=None):
    """Everything that a module can be given, of all sentences or of the first ones."""
    given = {"predictions": list(predictions)[:most]}
    if name in ALIGNED:
        given["sources"] = list(test_set.sources)[:most]
        given["references"] = [list(some) for some in test_set.references][:most]
    if name in SOURCED:
        given["sources"] = list(test_set.sources)[:most]
    if name in DIRECTED:
        given["direction"] = DIRECTION
    return given


def values(result):
    return {name: value for name, value in result.items() if name != "details"}


def test_the_modules_are_the_folders():
    assert {*MODULES, *ELSEWHERE} == {
        p.parent.name for p in (ROOT / "metrics").glob("*/[a-z]*.py")
    } - {"scorers"}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_a_module_and_the_pipeline_say_the_same(name, prepared, test_set):
    predictions = predict("delete-retrieve", test_set)
    how = scoring(MODULES[name])
    how.prepare(test_set.direction)  # word vectors, for those beyond the benchmark
    evaluation = evaluate_systems([Outputs("dr", tuple(predictions))], test_set, how)
    report = evaluation.systems[0].results.report
    module, given = evaluate.load(f"metrics/{name}"), columns(name, test_set, predictions)
    result = module.compute(**given, per_sentence=True)
    assert tuple(values(result)) == MODULES[name]
    samples = list(evaluation.systems[0].results.samples())
    for metric in MODULES[name]:
        score, details = report.score(metric), result["details"][metric]
        assert result[metric] == pytest.approx(score.value, abs=1e-6)
        assert details["interval"] == pytest.approx([score.interval.low, score.interval.high])
        assert (details["unit"], details["higher_is_better"]) == (
            score.unit,
            score.higher_is_better,
        )
        if metric != "joint":
            assert details["per_sentence"] == [sample.scores[metric] for sample in samples]
        ours, theirs = (set(s.split("|")) for s in (details["signature"], score.signature))
        if name not in DIRECTED:
            theirs.remove(f"direction:{DIRECTION}")
        if name not in ALIGNED:  # who is not given the test set cannot say which it is
            theirs.remove(f"data:{test_set.fingerprint[:12]}")
            theirs.add("data:unknown")
        assert ours == theirs
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    for details in result["details"].values():  # by default, no sentences flood a notebook
        details.pop("per_sentence")
    assert module.compute(**given) == result


def test_a_module_takes_a_scorer_that_reads_the_language(tmp_path):
    encoder = make_bert(tmp_path / "tiny")
    given = {"predictions": ["sehr gut"], "sources": ["sehr gut"], "references": [["die suppe"]]}
    module = evaluate.load("metrics/bertscore")
    for scorers in (f"encoder={encoder}@1", [f"encoder={encoder}@1"]):
        found = module.compute(**given, language="de", scorers=scorers)
        assert found["s_bert"] == pytest.approx(1)  # a copy
        said = found["details"]["s_bert"]["signature"]
        assert "|language:de|encoder:tiny#" in said
    assert module.compute(**given, language="de")["s_bert"] is None  # nothing is kept


@pytest.mark.parametrize("name", [*MODULES, *ELSEWHERE])
def test_a_module_is_made_from_the_base_class_and_explains_all_it_takes(name):
    """evaluate passes on whatever it is given: only a closed signature refuses a slip."""
    module = evaluate.load(f"metrics/{name}")
    own = {attribute for attribute in vars(type(module)) if not attribute.startswith("__")}
    assert type(module).__mro__[1].__name__ == "StyleTransferMetric"
    assert own == {"family"}
    reads = {"sources", "references"} if name in (*ALIGNED, "bleurt", "naturalness") else set()
    reads |= {"sources"} if name in (*SOURCED, "llm_judge", "logprop") else set()
    assert {*module.columns} == reads
    # What ``--set`` reaches, a notebook reaches, and on the card one reads of it.
    options = {field.name for field in dataclasses.fields(families()[name].options)}
    assert options <= {*module.options}
    card = Path(f"metrics/{name}/README.md").read_text()
    assert [option for option in sorted(options) if f"`{option}`" not in card] == []
    everywhere = {"direction", "profile", "scorers", "language", "batch_size", "per_sentence"}
    assert everywhere <= {*inspect.signature(module.compute).parameters}
    for parameter in ("predictions", *module.columns, *module.options, *everywhere):
        assert f"{parameter} (" in module.inputs_description
    for metric in families()[name].metrics:
        assert metric.name in module.inputs_description
    assert module.description.strip()
    assert module.citation.startswith("@")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_are_true(name, prepared):
    module = evaluate.load(f"metrics/{name}")

    def load(hub_name):
        assert hub_name == f"tstbench/{name}"
        return evaluate.load(f"metrics/{name}")

    names = {"evaluate": types.SimpleNamespace(load=load)}
    example = doctest.DocTestParser().get_doctest(
        module.inputs_description, names, name, f"metrics/{name}/{name}.py", 0
    )
    assert example.examples
    assert any(one.want for one in example.examples)
    runner = doctest.DocTestRunner()
    runner.run(example)
    assert runner.summarize(verbose=False) == (0, len(example.examples))


# -- what may be handed in -------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEVERAL)
def test_single_strings_are_lists_of_one(name, prepared, test_set):
    given = columns(name, test_set, test_set.sources, most=15)
    firsts = [some[0] for some in given["references"]]
    module = evaluate.load(f"metrics/{name}")
    as_strings = module.compute(**{**given, "references": firsts})
    as_lists = module.compute(**{**given, "references": [[text] for text in firsts]})
    mixed = [*firsts[:7], *([text] for text in firsts[7:])]
    assert as_strings == as_lists
    assert module.compute(**{**given, "references": mixed}) == as_lists
    direction = {"direction": given.pop("direction")} if "direction" in given else {}
    module.add_batch(**{**given, "references": mixed})
    assert module.compute(**direction) == as_lists
    several = next(metric for metric in values(as_strings) if metric.startswith("multi_"))
    assert as_strings[several] is None
    assert as_strings["details"][several] == {"left_out": "no sentence has several references"}


@pytest.mark.parametrize(
    ("name", "first"), [*(("bleu", first) for first in (0, 1)), *((name, 4) for name in SEVERAL)]
)
def test_references_may_be_ragged_also_in_the_first_row(name, first, prepared, test_set):
    given = columns(name, test_set, test_set.sources, most=15)
    given["references"] = [r[: (i + first) % 5] for i, r in enumerate(given["references"])]
    result = evaluate.load(f"metrics/{name}").compute(**given, per_sentence=True)
    several = next(metric for metric in values(result) if metric.startswith("multi_"))
    assert "|refs:0-4|" in result["details"][several]["signature"]
    undefined = [i for i, v in enumerate(result["details"][several]["per_sentence"]) if v is None]
    assert undefined == [i for i, some in enumerate(given["references"]) if not some]
    assert math.isfinite(result[several])


@pytest.mark.parametrize(
    "given_as",
    [
        lambda texts, some: (np.array(texts), tuple(map(tuple, some))),
        lambda texts, some: (tuple(texts), [[*row, *[""] * (4 - len(row))] for row in some]),
        lambda texts, some: [pd.Series(one, index=range(7, 47)) for one in (texts, some)],
    ],
    ids=["arrays and tuples", "padded lists of references", "columns of a filtered table"],
)
def test_other_columns_are_columns_too(given_as, test_set):
    given = columns("bleu", test_set, test_set.sources)
    given["references"] = [row[: 1 + i % 4] for i, row in enumerate(given["references"])]
    module = evaluate.load("metrics/bleu")
    texts, references = given_as(given["sources"], given["references"])
    other = {"predictions": texts, "sources": texts, "references": references}
    assert module.compute(**other) == module.compute(**given)
    module.add_batch(**other)
    assert module.compute() == module.compute(**given)


def test_one_module_scores_in_several_threads(prepared, test_set):
    module = evaluate.load("metrics/acc")
    ways = ("mini/negative-to-positive", "mini/positive-to-negative")
    given = {"predictions": list(test_set.sources)}
    expected = [module.compute(**given, direction=way) for way in ways]
    assert expected[0]["acc"] != expected[1]["acc"]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: module.compute(**given, direction=ways[n % 2]), range(60)))
    assert found == expected * 30


def test_combined_modules_take_what_each_of_them_reads(prepared, test_set):
    names = ("bleu", "acc", "surface", "chrf")
    modules = {name: evaluate.load(f"metrics/{name}") for name in names}
    given = columns("joint", test_set, test_set.sources)
    expected = {}
    for name, module in modules.items():
        alone = columns(name, test_set, test_set.sources) | {"direction": DIRECTION}
        expected |= values(module.compute(**alone))
    combined = evaluate.combine(list(modules.values()))
    at_once = combined.compute(**given)
    assert {name: at_once[name] for name in expected} == expected
    bleu = modules["bleu"].compute(**given, protocol="13a")
    assert bleu["r_bleu"] != expected["r_bleu"]
    two = evaluate.combine([modules["bleu"], modules["chrf"]]).compute(**given, protocol="13a")
    assert (two["r_bleu"], two["r_chrf"]) == (bleu["r_bleu"], expected["r_chrf"])
    texts = {name: column for name, column in given.items() if name != "direction"}
    combined.add_batch(**texts)
    assert combined.compute(direction=DIRECTION) == at_once
    with pytest.raises(TypeError, match="protocl"):
        combined.compute(**given, protocl="13a")
    modules["acc"].add_batch(**texts)
    assert modules["acc"].compute(direction=DIRECTION)["acc"] == expected["acc"]


def test_batches_make_one_corpus(test_set):
    given = columns("bleu", test_set, test_set.sources)
    module = evaluate.load("metrics/bleu")
    expected = module.compute(**given)
    for part in (slice(0, 1), slice(1, 30), slice(30, 40)):
        module.add_batch(**{name: column[part] for name, column in given.items()})
    assert module.compute() == expected


@pytest.mark.parametrize("wrong", [{"predictions": ["x"] * 39}, {"references": "abc"}])
def test_a_module_still_works_after_a_mistake(wrong, test_set):
    given = columns("bleu", test_set, test_set.sources)
    module = evaluate.load("metrics/bleu")
    with pytest.raises(InputError):
        module.compute(**given | wrong)
    assert values(module.compute(**given)) == values(evaluate.load("metrics/bleu").compute(**given))


@pytest.mark.parametrize("name", sorted({*DIRECTED} - {"cola", "fluency"}))  # theirs is here
def test_a_scorer_of_unknown_data_says_which_command_makes_it(name, test_set):
    """A dataset that is only a name here has no sentences to train on."""
    given = {**columns(name, test_set, test_set.sources), "direction": "manners/rude-to-polite"}
    with pytest.raises(MissingScorerError, match=r"Make it with: tstbench (prepare|train)"):
        evaluate.load(f"metrics/{name}").compute(**given)


def test_a_direction_of_ones_own_is_a_label_where_no_scorer_is_needed():
    result = evaluate.load("metrics/bleu").compute(
        predictions=["pass the salt, please"],
        sources=["give me the salt"],
        references=[["pass the salt, please"]],
        direction="manners/rude-to-polite",
    )
    assert "|direction:manners/rude-to-polite|" in result["details"]["r_bleu"]["signature"]


# -- facts: a wrong line here turns a table around, so all of it is written out once more ----------

TEXTS, WAY = ("sources",), ("direction",)
REFERENCES, JUDGED = ("references",), ("sources", "direction")


def views(measure, title, unit, better="higher", of=("s", "r", "multi")):
    """Against the source, the first reference, and all of them."""
    known = (unit, better, "content")
    return {
        f"{view}_{measure}": (f"{view}-{title}", *known, TEXTS if view == "s" else REFERENCES)
        for view in of
    }


# Title, unit, which way is better, aspect, inputs besides the predictions.
FACTS = {
    "acc": ("ACC", "percent", "higher", "style", WAY),
    **views("bleu", "BLEU", "percent"),
    **views("bert", "BERT", "fraction"),
    "ppl": ("PPL", "perplexity", "lower", "fluency", WAY),
    "cola": ("CoLA", "percent", "higher", "fluency", ()),
    "joint": ("Joint", "fraction", "higher", "overall", ("direction", "references")),
    "joint_calibrated": ("Calibrated Joint", "fraction", "higher", "overall", JUDGED),
    "joint_sentence": ("Sentence Joint", "fraction", "higher", "overall", JUDGED),
    "judge_style": ("Judge style", "fraction", "higher", "style", JUDGED),
    "judge_content": ("Judge content", "fraction", "higher", "content", JUDGED),
    "judge_fluency": ("Judge fluency", "fraction", "higher", "fluency", ()),
    "judge_unread": ("Judge unread", "percent", "lower", "other", JUDGED),
    "logprop": ("LogProp", "number", "higher", "content", JUDGED),
    "logprop_plain": ("LogProp plain", "number", "higher", "content", TEXTS),
    "sti": ("STI", "number", "higher", "style", JUDGED),
    "target_style": ("P(target)", "fraction", "higher", "style", WAY),
    **views("sim", "sim", "fraction"),
    **views("chrf", "chrF", "percent"),
    "length_ratio": ("length ratio", "number", "neither", "other", TEXTS),
    "copy_rate": ("copies", "percent", "lower", "other", TEXTS),
    **views("wmd", "WMD", "number", "lower", of="sr"),
    **views("meteor", "METEOR", "fraction", of="sr"),
    **views("embedding_average", "EmbAvg", "fraction", of="sr"),
    **views("greedy_matching", "Greedy", "fraction", of="sr"),
    **views("vector_extrema", "Extrema", "fraction", of="sr"),
    **views("sentence_bleu", "sentBLEU", "fraction", of="sr"),
    **views("meaning", "Meaning", "fraction"),
    "cps": ("CPS", "fraction", "higher", "content", TEXTS),
    "naturalness_unigram": ("Nat-unigram", "percent", "higher", "fluency", TEXTS),
    "naturalness_neural": ("Nat-neural", "percent", "higher", "fluency", TEXTS),
    "naturalness_lm": ("Nat-LM", "percent", "higher", "fluency", JUDGED),
    "fluency": ("Fluency", "fraction", "higher", "fluency", ()),
    **views("bleurt", "BLEURT", "number"),
    "lm_ppl": ("LM-PPL", "perplexity", "lower", "fluency", ()),
}


def test_every_metric_says_of_itself_what_it_always_said():
    assert list(FACTS) == list(METRICS)
    for name, facts in METRICS.items():
        found = (facts.title, facts.unit, facts.better, facts.aspect, facts.reads)
        assert (name, found) == (name, FACTS[name])
    cohorts = {name for name, facts in METRICS.items() if facts.compares_systems}
    assert cohorts == {"naturalness_unigram", "naturalness_neural"}  # they learn from all systems
    arrows = {"lower": "↓", "higher": "↑", "neither": ""}
    assert all(facts.arrow == arrows[facts.better] for facts in METRICS.values())
    assert [name for name, facts in METRICS.items() if facts.neutral] == ["length_ratio"]


def test_what_reads_references_is_left_out_where_there_are_none():
    inputs = check_inputs(["a b", "c"], ["b", "c"], [[], []], parse_direction(DIRECTION))
    why = {}
    for name in METRICS:
        family = family_of(name)
        why[name] = family.left_out(name, inputs, family.options())
    wanted = {name for name, facts in METRICS.items() if "references" in facts.reads}
    assert {name for name, one in why.items() if one == "no sentence has a reference"} == wanted


@pytest.mark.parametrize(
    ("references", "says", "left_out", "multi"),
    [
        ([[], []], "0", "no sentence has a reference", "no sentence has a reference"),
        ([["c"], []], "0-1", None, "no sentence has several references"),
        ([["c", "d"], ["e", "f"]], "2", None, None),
    ],
)
def test_a_view_reads_what_its_name_says(references, says, left_out, multi):
    inputs = check_inputs(["p", "q"], ["a", "b"], references)
    first = [some[:1] for some in references]
    views = [("s", [["a"], ["b"]], "source", None), ("r", first, "first", left_out),
             ("multi", references, says, multi)]  # fmt: skip
    for view, *expected in views:
        name = f"{view}_x"
        found = [f(name, inputs) for f in (compared_with, reference_count, view_left_out)]
        assert (view, found) == (view, expected)
    with pytest.raises(InputError, match="rx_x is not a view"):
        view_left_out("rx_x", inputs)
