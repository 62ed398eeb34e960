"""Every mistake with scorers, and with what they learn from: a row and a message each."""

import json
import zipfile

from acceptability.cola import COLA_FILES, cola_corpus, read_cola
from classifier_toys import CARD, LABELS, SENTENCES, STYLES
from refusals import refused, rows

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.judgments.studies import sentences_left_out
from tstbench.errors import (
    InputError,
    IntegrityError,
    MissingFileError,
    MissingScorerError,
    TooLittleError,
    UnknownNameError,
)
from tstbench.metrics.scorers import causal_lm
from tstbench.metrics.scorers.artefacts import find, open_artefact, store
from tstbench.metrics.scorers.classifiers import model_class
from tstbench.metrics.scorers.compare import compare_kinds
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.encoder import load_encoder
from tstbench.metrics.scorers.ensemble import EnsembleConfig
from tstbench.metrics.scorers.find import acceptability, split_layer
from tstbench.metrics.scorers.find import lexicon as find_lexicon
from tstbench.metrics.scorers.find import meaning as find_meaning
from tstbench.metrics.scorers.find import word_vectors as find_vectors
from tstbench.metrics.scorers.finetuned import FinetunedConfig
from tstbench.metrics.scorers.kneser_ney import estimate
from tstbench.metrics.scorers.language_model import (
    NgramLanguageModel,
    run_lmplz,
    train_language_model,
)
from tstbench.metrics.scorers.lexicon import LexiconConfig, fit_lexicon, read_lexicon
from tstbench.metrics.scorers.linear import LinearConfig
from tstbench.metrics.scorers.textcnn import TextCnnConfig
from tstbench.metrics.scorers.train import train_classifier
from tstbench.metrics.scorers.transformer import style_columns
from tstbench.metrics.scorers.word_vectors import WordVectorsConfig, fit_word_vectors, read_vectors
from tstbench.settings import read_settings

MINI = parse_direction("mini/negative-to-positive")


def trained(sentences=SENTENCES, labels=LABELS, styles=STYLES, *config, kind="linear", **more):
    about = {"dataset": "toy", "trained_on": "toys", **more}
    return lambda _: train_classifier(kind, sentences, labels, styles, *config, **about)


def card(**changes):
    """Opens a stored scorer whose card is this, or has these changes."""

    def act(_):
        file = store(CARD, lambda folder: (folder / "model.json").write_text("{}")).folder
        file /= "scorer.json"
        kept = json.loads(file.read_text())
        file.write_text(changes.get("text", json.dumps({**kept, **changes})))
        open_artefact(file.parent)

    return act


def read(reader, content, name="a.txt"):
    """Reads a file of this content."""

    def act(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        reader(folder / name)

    return act


def left_out(name):
    sentences_left_out([str(name)])


def cola(*lines):
    return read(read_cola, "".join(f"{line}\n" for line in lines), COLA_FILES["in_domain"])


def archive(folder):
    with zipfile.ZipFile(folder / "other.zip", "w") as content:
        content.writestr("cola_public/README", "")
    cola_corpus(folder / "other.zip")


def labels(model, styles=STYLES, **mapped):
    return lambda _: style_columns(dict(enumerate(model)), styles, mapped, name="m")


def ngrams(sentences, **options):
    return lambda folder: train_language_model(sentences, folder / "out", **options)


def lexicon(sentences, given, **settings):
    return lambda _: fit_lexicon(sentences, given, ("bad", "good"), LexiconConfig(**settings))


AB = '{"styles": ["a", "b"], "ngrams": '
POSITIVE = [text for text, label in zip(SENTENCES, LABELS, strict=True) if label]
ALL_BUT_ONE = [*POSITIVE, SENTENCES[0]], [1] * len(POSITIVE) + [0]
RARE = WordVectorsConfig(min_count=9)
CONFIGS = {
    FinetunedConfig: {
        "epochs": 0, "batch_size": 0, "learning_rate": -1, "warm_up": 1.0, "frozen_layers": -1,
    },
    WordVectorsConfig: {"dimensions": 0, "seed": -1, "negative": 0},
    LexiconConfig: {"longest_ngram": 0, "inverse_penalty": 0.0, "deviations": -1.0},
}  # fmt: skip


@rows(
    # -- what a classifier learns from
    (InputError, "2 sentences and 1 labels", trained(["a", "b"], [0])),
    (InputError, ("sentence 1: label 2", "2 styles"), trained(["a", "b"], [0, 2])),
    (InputError, "sentence 1: label -1", trained(["a", "b"], [0, -1])),
    (InputError, "no sentence is positive", trained(["a", "b"], [0, 0])),
    (InputError, "no sentence is negative or positive", trained([], [])),
    (InputError, "at least two styles", trained(["a"], [0], ("negative",))),
    (TooLittleError, "no word occurs in 2 of the 2", trained(["a", "b"], [0, 1])),
    (InputError, "toys: no sentence is positive", trained(SENTENCES[:9], LABELS[:9])),
    (InputError, "held-out sentences: 2", trained(held_out=(SENTENCES[:2], LABELS[:1]))),
    (InputError, "toys, training sentences: no sentence is pos", trained(held_out=ALL_BUT_ONE)),
    (InputError, "no kind", lambda _: compare_kinds([], SENTENCES, LABELS, STYLES, [])),
    (UnknownNameError, ("'textcn'", "'textcnn'"), trained(kind="textcn")),
    (UnknownNameError, ("'linaer'", "'linear'"), lambda _: model_class("linaer")),
    (InputError, ("linear", "LinearConfig"), trained(SENTENCES, LABELS, STYLES, TextCnnConfig())),
    (TooLittleError, "min_count", trained(SENTENCES, LABELS, STYLES, LinearConfig(min_count=999))),
    (InputError, "an ensemble of nothing", lambda _: EnsembleConfig(members=())),
    *(
        (InputError, ("each once", two), lambda _, two=two: EnsembleConfig(members=("linear", two)))
        for two in ("linear", "ensemble")
    ),
    (UnknownNameError, ("'liner'", "'linear'"), lambda _: EnsembleConfig(members=("liner",))),
    *(
        (
            InputError,
            name,
            lambda _, kind=kind, given={name: wrong}: read_settings(kind, given, "it"),
        )
        for kind, some in CONFIGS.items()
        for name, wrong in some.items()
    ),
    (InputError, ("'LABEL_0'", "labels of m"), labels(["LABEL_0", "LABEL_1"])),
    (InputError, "'neutral'", labels(["negative", "positive", "neutral"])),
    (InputError, "'negative'", labels(["negative", "positive"], (*STYLES, "neutral"))),
    (InputError, "'positive'", labels(["negative", "positive"], positive="negative")),
    # -- acceptability
    *(
        (InputError, "in_domain_dev.tsv, line 2", cola("x1\t0\t*\tbad it.", line))
        for line in ("x\t2\t\tlabel out of range.", "x\t1\ttoo few columns", "", "x\t\t\tno label.")
    ),
    (InputError, "no sentence is unacceptable", cola("x1\t1\t\tonly good ones.")),
    (MissingFileError, "in_domain_train.tsv", cola_corpus),
    (MissingFileError, "cola_public.zip", lambda _: cola_corpus()),
    (InputError, "not the CoLA archive", read(cola_corpus, "no archive", "other.zip")),
    (InputError, "in_domain_train", archive),
    # -- a scorer that is kept
    (IntegrityError, ("scorer.json", "styles"), card(styles="negative")),
    (IntegrityError, ("scorer.json", "role"), card(role="judge")),
    (IntegrityError, ("scorer.json", "n_sentences"), card(n_sentences="2")),
    (IntegrityError, ("scorer.json", "surprise"), card(surprise=1)),
    (IntegrityError, ("scorer.json", "schema_version"), card(schema_version=2)),
    (IntegrityError, ("scorer.json", "scores"), card(scores={"held_out_accuracy": None})),
    *(
        (IntegrityError, "not the card of a scorer", card(text=text))
        for text in ("", "[]", "{}", '{"hash": NaN}', "not json")
    ),
    (MissingScorerError, "prepare yelp", lambda _: find("language_model", "yelp", "kn5-positive")),
    (MissingScorerError, "scorer.json is missing", open_artefact),
    (MissingScorerError, "nobody/no-such-model", lambda _: load_encoder("nobody/no-such-model")),
    (
        MissingScorerError,
        "not a complete model",
        lambda folder: causal_lm.find(str(folder), None, HERE).load(),
    ),
    (InputError, "'@'", lambda _: split_layer("someone/model@last")),
    # -- language models
    *(
        (InputError, (named, "sentence 2"), ngrams(["good", text], estimator=estimator))
        for estimator in ("own", "auto")
        for named, text in (
            ("contains <s>", "a <s> food"),
            ("contains </s>", "a </s> food"),
            ("contains <unk>", "a <unk> food"),
            ("contains <UNK>", "a <UNK> food"),
            ("NUL", "fo\0od"),
            ("surrogate", "\ud800"),
            ("NoneType", None),
        )
    ),
    *(
        (InputError, named, ngrams(sentences, estimator=estimator))
        for estimator in ("own", "auto")
        for named, sentences in (("no sentences", []), ("one string", "good food"))
    ),
    *((InputError, (f"got {n}", "2 to 6"), lambda _, n=n: estimate(["a"], n)) for n in (0, 1, 7)),
    *(
        (InputError, ("2 to 6", f"got {n}"), lambda to, n=n: run_lmplz(["a"], to / "out", n))
        for n in (0, 1, 7)
    ),
    (UnknownNameError, ("'lmplzz'", "'lmplz'"), ngrams(["good"], estimator="lmplzz")),
    (MissingFileError, "lmplz is not on PATH", ngrams(["good"], estimator="lmplz")),
    (MissingFileError, "nowhere", lambda folder: NgramLanguageModel(folder / "nowhere")),
    (MissingFileError, "model.arpa is missing", NgramLanguageModel),
    # -- sentences that are left out
    (UnknownNameError, ("'mir2018'", "'mir2019'"), lambda _: left_out("mir2018")),
    (MissingFileError, "none.txt", lambda folder: left_out(folder / "none.txt")),
    (InputError, "a.txt", read(left_out, "\n")),
    (InputError, "output, source, system", read(left_out, "a,b\n1,2\n", "a.csv")),
    # -- lexicons
    (InputError, ("JSON", "a.txt"), read(read_lexicon, "[1")),
    (InputError, ("valid JSON", "a.txt"), read(read_lexicon, "[" * 100_000)),
    (InputError, ("no style lexicon", "a.txt"), read(read_lexicon, "{}")),
    (InputError, ("no style lexicon", "a.txt"), read(read_lexicon, '["good"]')),
    (InputError, "no style words", read(read_lexicon, f"{AB}{{}}}}")),
    (InputError, "styles", read(read_lexicon, '{"styles": "ab", "ngrams": {}}')),
    (InputError, "ngrams", read(read_lexicon, f'{AB}["x"]}}')),
    *(
        (InputError, ("'x'", "2 numbers"), read(read_lexicon, f'{AB}{{"x": {numbers}}}}}'))
        for numbers in ("[1]", "[1, NaN]")
    ),
    (InputError, "a word and its weight", read(read_lexicon, '{"mine": [["x", true]]}')),
    (InputError, "a word and its weight", read(read_lexicon, '{"mine": [["x"]]}')),
    (InputError, "2 sentences but 1 labels", lexicon(["a", "b"], [0])),
    (InputError, "none for good", lexicon(["a", "b"], [0, 0])),
    (TooLittleError, "2 of 2 sentences", lexicon(["a", "b"], [0, 1], min_count=2)),
    (InputError, "bad and good", lexicon(["a", "a"], [0, 1])),
    (MissingScorerError, "train lexicon mini", lambda _: find_lexicon("logistic", MINI, HERE)),
    (MissingScorerError, "'nowhere'", lambda _: find_meaning("nowhere", MINI, HERE)),
    (MissingScorerError, "'finetuned'", lambda _: acceptability("finetuned", MINI, HERE)),
    (MissingScorerError, "lexicon=nowhere", lambda _: find_lexicon("nowhere", MINI, HERE)),
    (MissingScorerError, "word_vectors=nowhere", lambda _: find_vectors("nowhere", MINI, HERE)),
    # -- word vectors
    (InputError, ("empty", "a.txt"), read(read_vectors, b"")),
    (InputError, "a.txt, line 1", read(read_vectors, b"soup\n")),
    (InputError, ("line 2: 1 numbers", "2"), read(read_vectors, b"soup 1 2\nsalt 1\n")),
    (InputError, ("line 2", "2 numbers"), read(read_vectors, b"soup 1 2\nsalt 1 a\n")),
    (InputError, ("'salt'", "line 2"), read(read_vectors, b"soup 1 2\nsalt 1 nan\n")),
    (InputError, ("UTF-8", "line 2"), read(read_vectors, b"soup 1 2\n\xff\xfe 1 2\n")),
    (InputError, ("3 words", "2 follow"), read(read_vectors, b"3 2\nsoup 1 2\nsalt 1 2\n")),
    (InputError, ("1 words", "2 follow"), read(read_vectors, b"1 2\nsoup 1 2\nsalt 1 2\n")),
    (InputError, "no word vectors", read(read_vectors, b"0 2\n")),
    (InputError, "word2vec", read(read_vectors, b"\x00\x01\x02")),
    (InputError, ("9 words of 5", "13 bytes"), read(read_vectors, b"9 5\nsoup \0\0\0\0")),
    (
        InputError,
        "no complete set of word vectors",
        read(read_vectors, b"1 2\nsoup\0\0\0\0\0\0\0\0"),
    ),
    (InputError, "no complete set", read(read_vectors, b"2 1\na \0\0\0\0\nb \0")),
    (MissingFileError, "none.txt", lambda folder: read_vectors(folder / "none.txt")),
    (TooLittleError, "9 times in 1", lambda _: fit_word_vectors(["a b"], RARE)),
    (MissingScorerError, "word-vectors mini", lambda _: find_vectors("word2vec", MINI, HERE)),
    (InputError, "a direction", lambda _: find_vectors("word2vec", None, HERE)),
)
def test_a_mistake_is_one_message(error, named, act, tmp_path, snapshot, monkeypatch):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(act, error, named, tmp_path, snapshot)
    assert not (tmp_path / "out").exists()
