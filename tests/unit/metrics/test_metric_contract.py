"""The contract of metrics and scorers: plans load nothing, and signatures say all that matters."""

import dataclasses
import re
import shutil
from unicodedata import normalize

import numpy as np
import pytest
import sacrebleu
from prepared import DIRECTION

from tstbench.datasets_scripts.catalog import load_data, parse_direction
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.metrics.base import LeftOut, draw_together
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure, plan, roles_needed
from tstbench.metrics.options import BENCHMARK, choices
from tstbench.metrics.registry import (
    METRICS,
    benchmark_metrics,
    expand,
    families,
    family_of,
)
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.device import Placement
from tstbench.metrics.scorers.prepare import TRAINED, is_trained_here
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.scorers.roles import OURS
from tstbench.metrics.statistics import bootstrap
from tstbench.metrics.text import preparation

EMBEDDED = PROFILES["embedded"]
BENCHMARK_METRICS = benchmark_metrics()
# Roles of scorers that read sentences, not tokens, prompts or requests.
PLAIN = {
    "classifier",
    "language_model",
    "cleaned_language_model",
    "source_language_model",
    "encoder",
    "acceptability",
    "meaning",
}


@pytest.fixture(scope="module")
def inputs():
    test_set = load_test_set(DIRECTION)
    predictions = [some[0] for some in test_set.references]
    return check_inputs(predictions, test_set.sources, test_set.references, test_set.direction)


@pytest.fixture
def scorers(inputs):
    return Scorers(EMBEDDED, inputs.direction)


def test_a_plan_loads_nothing_and_says_what_the_score_will_say(
    prepared, inputs, scorers, monkeypatch
):
    measured = measure(BENCHMARK_METRICS, inputs, Scorers(EMBEDDED, inputs.direction))
    monkeypatch.setattr(Scorers, "load", lambda *_: pytest.fail("a scorer was loaded"))
    planned = plan(BENCHMARK_METRICS, inputs, scorers)
    assert list(planned) == list(BENCHMARK_METRICS)
    for metric, signature in planned.items():
        assert str(signature) == str(measured[metric].signature)
        assert signature.made_with == measured[metric].signature.made_with


@pytest.mark.parametrize(
    ("metric", "settings"),
    [("sti", ("sti", "temperature")), ("s_chrf", ("chrf", "beta"))],
)
def test_a_number_is_stated_with_all_its_digits(prepared, inputs, scorers, metric, settings):
    family, option = settings
    said = [
        str(plan([metric], inputs, scorers, choices({family: {option: value}}))[metric])
        for value in ("1.2345678", "1.2345679", "3", "3.0")
    ]
    assert said[0] != said[1]
    assert said[2] == said[3]
    assert f"|{option}:3|" in said[2]


def test_what_is_done_unless_told_otherwise_where_no_signature_says_so():
    """Masks are not asked for: their defaults are in no usual signature (test_whole_signatures)."""
    usual = {name: dataclasses.asdict(families()[name].options()) for name in ("cps", "wmd")}
    assert usual == {
        "cps": {
            "mask": "none", "threshold": 0.3, "rule": "published", "unit": "pieces",
            "placeholder": "[PAD]", "steps": 50, "baseline": "pad", "output": "probability",
        },
        "wmd": {
            "mask": "none", "placeholder": "learned", "tokens": "words", "synonyms": "auto",
            "meteor": "2007",
        },
    }  # fmt: skip


def test_joint_reads_every_reference_if_a_sentence_has_two():
    family = family_of("joint")
    for references, bleu in (([["a"], ["b", "c"]], "multi_bleu"), ([["a"], ["b"]], "r_bleu")):
        inputs = check_inputs(["a", "b"], None, references, parse_direction(DIRECTION))
        assert family.parts("joint", inputs, family.options()) == ("acc", bleu, "ppl")
        assert family.fields("joint", inputs, family.options())["bleu"] == bleu


def test_scorers_read_texts_prepared_as_the_signature_says():
    """Spaces and upper case tell apart what was cleaned, lower-cased and split."""
    outputs, sources, references = ["It 's GREAT ."], ["It 's BAD !"], [["WHAT 's GOOD is Good ."]]
    direction = parse_direction(DIRECTION)
    inputs = check_inputs(outputs, sources, references, direction)
    every = [*outputs, *sources, *references[0]]
    english = preparation("en")
    ways = {
        english.clean_name: english.clean(every),
        english.classifier_name: english.for_classifier(every),
        english.language_model_name: english.for_language_model(every),
        "fold+lower": ["it 's great .", "it 's bad !", "what 's good is good ."],
        "fold+lower+nltk": ["it 's great .", "it 's bad !", "what 's good is good ."],
    }
    assert len({text for texts in ways.values() for text in texts}) == 12
    roles = set()
    for family in families().values():
        for facts in family.metrics:
            options = family.options()
            said = ways.get(str(family.fields(facts.name, inputs, options).get("text")))
            for need in family.needs(facts.name, inputs, options):
                if said and need.role in PLAIN:
                    assert set(need.texts) <= {*said}, (facts.name, need.role)
                    roles.add(need.role)
    assert roles == PLAIN


@pytest.mark.parametrize("protocol", ["13a", "intl", "char", "zh", "whitespace"])
@pytest.mark.parametrize("column", ["predictions", "references"])
def test_how_a_system_writes_its_spaces_moves_no_bleu(inputs, scorers, protocol, column):
    """SacreBLEU of cleaned texts, whoever wrote them with spaces before the marks."""
    how, clean = choices({"bleu": {"protocol": protocol}}), preparation("en").clean
    made, wanted = [some[1] for some in inputs.references], [some[0] for some in inputs.references]
    tool = {"whitespace": {"tokenize": "none", "smooth_method": "none"}}
    expected = sacrebleu.corpus_bleu(
        clean(made), [clean(wanted)], force=True, **tool.get(protocol, {"tokenize": protocol})
    ).score
    texts = {"predictions": made, "references": wanted}
    texts[column] = [re.sub(r"(?<=\w)(?=[.,!?;])", " ", text) for text in texts[column]]
    given = check_inputs(texts["predictions"], inputs.sources, texts["references"])
    score = measure(["r_bleu"], given, scorers, how)["r_bleu"]
    assert score.value == pytest.approx(expected, abs=1e-9)
    assert score.signature.as_dict()["text"] == "paper-v1+nfc"


OVERLAP = "s_bleu r_bleu multi_bleu r_chrf multi_chrf copy_rate r_sentence_bleu s_meteor".split()


@pytest.mark.parametrize("code", ["en", "fr", "vi"])
@pytest.mark.parametrize(
    "settings",
    [{"chrf": {"clean": False}}, {"bleu": {"protocol": "char"}, "wmd": {"tokens": "whitespace"}}],
)
def test_how_a_letter_is_encoded_moves_no_overlap(scorers, code, settings):
    """A letter is one character or several: what equals its reference scores as it does."""
    texts = {
        "en": ["a café très chère", "the naïve café über here"],
        "fr": ["le café était très bon .", "où est la forêt brûlée ici ?"],
        "vi": ["món ăn ở đây rất tệ", "tôi sẽ không bao giờ quay lại"],
    }[code]
    composed, apart = ([normalize(form, text) for text in texts] for form in ("NFC", "NFD"))
    assert composed != apart
    metrics = [name for name in OVERLAP if code == "en" or name != "s_meteor"]
    usual, *others = (
        measure(
            metrics,
            in_language(code, made, wanted, [[text, text] for text in wanted]),
            scorers,
            choices(settings),
        )
        for made, wanted in ((composed, composed), (apart, composed), (composed, apart))
    )
    for name, score in usual.items():
        best = {"r_sentence_bleu": 1, "s_meteor": score.value}.get(name, 100)
        assert [score.value, *(one[name].value for one in others)] == pytest.approx([best] * 3)
        assert score.signature.as_dict()["text"].endswith("nfc")


def test_metrics_that_are_drawn_together_have_their_own_replicates(inputs, scorers, monkeypatch):
    found = measure(["s_bleu", "s_chrf"], inputs, scorers)
    draw_together([*found.values()])
    alone = {metric: bootstrap(one.statistics)[0] for metric, one in found.items()}
    monkeypatch.setattr("tstbench.metrics.base.bootstrap", None)  # not drawn again
    for metric, one in found.items():
        assert np.array_equal(one.replicates, alone[metric], equal_nan=True)


def test_names_of_families_stand_for_their_metrics():
    assert expand(["bertscore"]) == ("s_bert", "r_bert", "multi_bert")
    assert expand(["joint", "acc", "joint"]) == ("joint", "acc")
    for metric in METRICS:
        assert metric in {facts.name for facts in family_of(metric).metrics}


def test_roles_follow_from_needs(scorers):
    assert roles_needed(["s_bleu"], scorers) == ()
    assert roles_needed(["multi_bert"], scorers) == ("encoder",)
    assert set(roles_needed(["joint"], scorers)) == {"classifier", "language_model"}
    named = Scorers(EMBEDDED.with_scorers(["judge=m"]), scorers.direction)
    masked = choices({"wmd": {"mask": "masked"}, "cps": {"mask": "masked"}})
    ours = {one.name for one in OURS} - {"paper_classifier"}
    assert set(roles_needed(METRICS, named, masked)) == ours - {"word_vectors"}
    masked_only = {"lexicon", "attribution", "masked_vectors"}
    assert set(roles_needed(METRICS, named)) == ours - masked_only


def test_what_can_be_trained_is_said_once():
    ships = {"meaning", "acceptability"}  # trained by commands of their own; what metrics use ships
    assert set(TRAINED) == {one.name for one in OURS if one.trained} - ships
    assert not is_trained_here("encoder", "linear")
    assert not is_trained_here("classifier", "someone/model")
    assert not is_trained_here("language_model", "model.arpa")


# -- another scorer -------------------------------------------------------------------------------


def test_a_language_model_by_file_is_known_by_name_and_content(prepared, inputs, tmp_path):
    file = tmp_path / "my model.arpa"
    own = EMBEDDED.with_scorers([f"language_model={file}"])
    found = []
    for way in ("mini/negative-to-positive", "mini/positive-to-negative"):
        model = Scorers(EMBEDDED, parse_direction(way)).load("language_model")
        shutil.copyfile(model.path, file)
        found.append(measure(["ppl"], inputs, Scorers(own, inputs.direction))["ppl"])
    usual = measure(["ppl"], inputs, Scorers(EMBEDDED, inputs.direction))["ppl"]
    assert usual.value == found[0].value != found[1].value
    assert len({one.signature for one in (usual, *found)}) == 3
    assert all("|lm:file:my_model#" in str(one.signature) for one in found)


# -- where and in which number type ---------------------------------------------------------------


def test_a_device_that_is_not_there():
    import torch

    if torch.cuda.is_available():
        assert Placement("cuda").resolve() == "cuda"
        return
    assert Placement("auto").resolve() == "cpu"
    with pytest.raises(InputError, match=r"finds no CUDA device here\. Use --device cpu"):
        Placement("cuda").resolve()
    if not torch.backends.mps.is_available():
        with pytest.raises(InputError, match=r"--device mps: .* finds no MPS device here"):
            Placement("mps").resolve()


def test_a_number_type_that_the_gpu_lacks_is_told_before_anything_is_loaded(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    with pytest.raises(InputError, match=r"--dtype bfloat16: Tesla V100 does not compute in it"):
        Placement("cuda", "bfloat16").resolve()
    before = torch.backends.cuda.cudnn_sdp_enabled()
    try:
        assert Placement("auto", "float16").resolve() == "cuda"
        assert not torch.backends.cuda.cudnn_sdp_enabled()  # prepared anew for each shape
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


# -- other languages ------------------------------------------------------------------------------


def in_language(code, predictions, sources, references):
    return check_inputs(predictions, sources, references, None, code)


# Which ready-made scorer of a profile each metric reads that is left out.
OF_ENGLISH = {
    "embedded": {
        "encoder": "s_bert multi_bert s_sim cps naturalness_neural",
        "acceptability": "cola fluency",
        "meaning": "r_meaning",
        "causal_lm": "logprop lm_ppl",
    },
    "paper": {"encoder": "r_bert", "acceptability": "cola", "bleurt": "s_bleurt"},
}


@pytest.mark.parametrize(
    ("profile", "name", "metric"),
    [(p, r, m) for p, some in OF_ENGLISH.items() for r, all_ in some.items() for m in all_.split()],
)
def test_a_scorer_that_reads_english_alone_scores_english_alone(profile, name, metric):
    """The languages are those of the models' cards; a scorer of the user's is taken as it comes."""
    direction = parse_direction("mini/negative-to-positive")
    german = check_inputs(["gut"], ["kalt"], [["gut !", "fein"]], direction, "de")
    chosen = PROFILES[profile]
    (left,) = plan([metric], german, Scorers(chosen, direction)).values()
    assert isinstance(left, LeftOut)
    assert f" reads English, but the texts are 'de': --scorer {name}=..." in left.why
    how = Scorers(chosen, direction), BENCHMARK
    assert name not in roles_needed([metric], *how, german)
    british = dataclasses.replace(german, language="en-GB")
    assert name in roles_needed([metric], *how, british)
    own = Scorers(chosen.with_scorers([f"{name}=me/multilingual@3"]), direction)
    assert name in roles_needed([metric], own, BENCHMARK, german)


def test_a_role_that_nobody_plays_is_told_when_it_is_needed():
    """In another language as in English: which roles are needed is asked when nothing is there."""
    for code in ("en", "de"):
        inputs = check_inputs(["gut"], ["kalt"], None, None, code)
        scorers = Scorers(EMBEDDED, None)
        assert roles_needed(["s_bleurt"], scorers, BENCHMARK, inputs) == ("bleurt",)
        with pytest.raises(InputError, match="profile embedded has no bleurt"):
            plan(["s_bleurt"], inputs, scorers)


def test_what_learns_from_the_dataset_reads_its_language(tones):
    """That of the texts, and without any, that of the dataset."""
    direction = parse_direction("mini/negative-to-positive")
    german = check_inputs(["gut"], ["kalt"], [["gut !", "fein"]], direction, "de")
    metrics = ["acc", "ppl", "cola", "joint", "sti", "s_wmd", "naturalness_lm", "s_bleu", "r_chrf"]
    load_data(tones)
    own = Scorers(EMBEDDED, parse_direction("tones/rude-to-polite"))
    for asked in ((Scorers(EMBEDDED, direction), BENCHMARK, german), (own,)):
        assert set(roles_needed(metrics, *asked)) == {
            *("classifier", "word_vectors", "cleaned_language_model", "source_language_model"),
        }


# -- found by use ---------------------------------------------------------------------------------


def test_a_classifier_of_other_styles_is_refused_when_it_is_found(prepared, inputs):
    folder = find("classifier", "mini", "linear").folder
    profile = EMBEDDED.with_scorers([f"acceptability={folder}"])
    with pytest.raises(InputError, match="does not know unacceptable and acceptable"):
        Scorers(profile, inputs.direction).find("acceptability")


@pytest.mark.parametrize("value", [4, 4.0, "4", np.int64(4)])
def test_a_whole_number_is_one_in_every_spelling(value):
    assert choices({"chrf": {"char_order": value}}).of("chrf").char_order == 4
