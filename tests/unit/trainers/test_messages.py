"""Every mistake in a system's options, settings or sentences: a row and a message each."""

from dataclasses import replace

from prepared import DIRECTION
from refusals import refused, rows
from tiny_models import make_bert
from word_systems import BAD, GOOD

from tstbench.commands.cli import _run
from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart, load_training
from tstbench.errors import InputError, MissingFileError, UnknownNameError
from tstbench.trainers.lora.records import load_instructions
from tstbench.trainers.strap import read_paraphrases
from tstbench.trainers.system import Generation, system_class
from tstbench.trainers.train import system_config
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.selection import hold_out

LORA = "llama-lora"


def train(name, options, *, preset=""):
    """Train from the command line; FOLDER stands for the test's own."""

    def act(folder):
        given = f"{preset and f'--preset {preset} '}{options}".replace("FOLDER", str(folder))
        _run(["train", name, "--direction", DIRECTION, "--device", "cpu", *given.split()])

    return act


def tiny(name, options):
    return train(name, options, preset="tiny")


def configured(text):
    """Train with a file of settings."""

    def act(folder):
        (folder / "c.toml").write_text(text)
        train("delete-retrieve", "--config FOLDER/c.toml")(folder)

    return act


def asked(name, **settings):
    """Ask for settings of a rewrite."""
    return lambda _: system_class(name).read_generation(Generation(settings=settings))


def learned(name, source=BAD, target=GOOD, **settings):
    """Learn from these sentences."""

    def act(_):
        direction = parse_direction(DIRECTION)
        data = TrainingData(direction, "paper-v1", TrainingPart("train", source, target))
        preset = None if name in ("random-target", "delete-retrieve") else "tiny"
        config = system_config(name, direction, settings, preset=preset)
        system_class(name).train(data, config, Run(device="cpu"))

    return act


def with_base(name, made, options="", setting="--base"):
    """Train on a checkpoint that is made for this."""

    def act(folder):
        tiny(name, f"{setting} {made(folder / 'model')} {options}")(folder)

    return act


def instructions(name, content):
    def act(folder):
        (folder / name).write_text(content)
        load_instructions(str(folder / name))

    return act


def paraphrases(text):
    def act(folder):
        (folder / "bad.tsv").write_text(text)
        read_paraphrases(folder / "bad.tsv")

    return act


def one_sentence_of_arae(_):
    data = load_training(DIRECTION)
    part = replace(data.train, source=data.train.source[:1])
    one = replace(data, train=part, validation=replace(data.train, name="validation"))
    config = system_config("arae", data.direction, preset="tiny")
    system_class("arae").train(one, config, Run(device="cpu"))


def few_held_out(_):
    data = load_training(DIRECTION)
    few = replace(data, validation=None, train=replace(data.train, target=data.train.target[:5]))
    hold_out(few, 3, seed=0)


@rows(
    # -- options of a training; the ranges of all settings are in house/test_numbers.py
    (UnknownNameError, ("'delete-retreive'", "'delete-retr"), train("delete-retreive", "")),
    (UnknownNameError, ("'clasifier'", "'classifier'"), train("clasifier", "")),
    (InputError, "copy needs no", train("copy", "")),
    (InputError, ("gamma of delete-", "'many'"), train("delete-retrieve", "--gamma many")),
    (InputError, "'../x'", train("delete-retrieve", "--name ../x")),
    (UnknownNameError, ("'gama'", "'gamma'"), configured("gama = 3")),
    (InputError, ("gamma of delete-retrieve", "0"), configured("gamma = -1")),
    (InputError, "c.toml: not TOML", configured("gamma")),
    (MissingFileError, "no.toml", train("delete-retrieve", "--config FOLDER/no.toml")),
    (UnknownNameError, ("tinny", "'tiny'"), train("stytrans", "--preset tinny")),
    (InputError, "nothing to resume", tiny("stytrans", "--resume")),
    (InputError, ("heads of stytrans", "0"), train("stytrans", "--heads 0")),
    (InputError, "discriminator of stytrans", train("stytrans", "--discriminator both")),
    (InputError, "device of training", train("stytrans", "--device gpu")),
    (InputError, ("dimension 32", "heads 3"), tiny("stytrans", "--heads 3")),
    (InputError, "alignment of nast", train("nast", "--alignment free")),
    (UnknownNameError, ("'--alignement'", "'--alignment'"), train("nast", "--alignement simple")),
    (InputError, "noise must not change a sentence's", tiny("nast", "--alignment simple")),
    (InputError, ("heads 5", "dimension 32"), tiny("nast", "--heads 5")),
    (InputError, "retriever of tsst", train("tsst", "--retriever elastic")),
    (InputError, "teacher_forcing of tsst", train("tsst", "--teacher-forcing 1.5")),
    (InputError, "5002", tiny("tsst", "--retrieved 5000")),
    (InputError, ("batch_size of dar", "33", "2"), train("dar", "--batch-size 33")),
    (InputError, "hidden 33", train("dar", "--hidden 33")),
    (InputError, "cell of dar", train("dar", "--cell rnn")),
    (InputError, "noise of dar", train("dar", "--noise edits")),
    (InputError, "weights of ctat", train("ctat", "--weights []")),
    (InputError, ("dimension 30", "heads 4"), train("ctat", "--dimension 30")),
    (InputError, "objective of caae", train("caae", "--objective both")),
    (InputError, "optimizer of arae", train("arae", "--optimizer adagrad")),
    (InputError, ("mini has no pairs", "--pairs mined", "bsrr"), tiny("bsrr", "--pairs data")),
    (
        MissingFileError,
        ("bart-none", "examples/backbone"),
        tiny("bsrr", "--base facebook/bart-none"),
    ),
    (
        MissingFileError,
        ("FacebookAI/none", "--classifier scratch"),
        tiny("bsrr", "--classifier FacebookAI/none"),
    ),
    (InputError, "mining of bsrr", tiny("bsrr", "--mining wrong")),
    (InputError, ("48", "32"), tiny("bsrr", "--classifier-dimension 48")),
    (InputError, ("max_length is 500", "128"), tiny("bsrr", "--max-length 500")),
    (InputError, ("has no pairs", "--pairs mined"), tiny("tyb", "--pairs data")),
    (
        MissingFileError,
        ("bart-nowhere", "examples/backbone"),
        tiny("tyb", "--base facebook/bart-nowhere"),
    ),
    (
        MissingFileError,
        ("no/such/folder", "examples/backbone"),
        tiny("tyb", "--base no/such/folder"),
    ),
    (InputError, "bleu_sign of tyb", tiny("tyb", "--bleu-sign wrong")),
    (InputError, ("max_length of tyb", "3"), tiny("tyb", "--max-length 2")),
    (InputError, ("max_length is 501", "128"), tiny("tyb", "--max-length 501")),
    (InputError, "is a bert", with_base("tyb", make_bert)),
    (MissingFileError, "strap needs a paraphraser", train("strap", "")),
    (MissingFileError, "gpt2-large", train("strap", "--paraphraser rules")),
    (
        MissingFileError,
        ("/none", "examples/backbone"),
        train("strap", "--paraphraser rules --base /none"),
    ),
    (MissingFileError, "the paraphraser: ", tiny("strap", "--paraphraser /none")),
    (InputError, "padding of strap", train("strap", "--padding left")),
    (MissingFileError, ("no/such-model", "examples/backbone"), tiny(LORA, "--base no/such-model")),
    (InputError, "no end-of-sequence token", with_base(LORA, make_bert)),
    (InputError, ("'c_attn'", "q_proj", "all-linear"), tiny(LORA, "--target-modules c_attn")),
    (InputError, "all-linear takes all of them", tiny(LORA, "--target-modules ,")),
    (InputError, "'lm_head'", tiny(LORA, "--target-modules lm_head")),
    (InputError, ("cutoff is 4000", "512"), tiny(LORA, "--cutoff 4000")),
    (InputError, ("no record fits", "--template short"), tiny(LORA, "--cutoff 20")),
    # -- settings of a rewrite
    (InputError, "weights.0 of ctat's generation", asked("ctat", weights=[-1.0])),
    (UnknownNameError, ("'weigths'", "'weights'"), asked("ctat", weigths=[1.0])),
    (InputError, "retrieval of dar's generation", asked("dar", retrieval="bm25")),
    (InputError, ("gamma of dar's generation: ", "finite"), asked("dar", gamma=float("inf"))),
    (InputError, "beams of arae's generation", asked("arae", beams=101)),
    # -- what there is to learn from
    (InputError, "5 positive", few_held_out),
    (InputError, "11 are held out", learned("stytrans", hold_out=11)),
    (InputError, "two sentences of each style", one_sentence_of_arae),
    (InputError, "no negative sentences", learned("dar", ())),
    (InputError, "salience 99", learned("dar", gamma=99.0, hold_out=2)),
    (InputError, "9 words besides its markers", learned("dar", min_content=9, hold_out=2)),
    (InputError, "no positive sentences", learned("bsrr", ("a",), ())),
    (InputError, "has no positive sentences", learned("strap", BAD, ())),
    (InputError, "the target style", learned("random-target", ("x",), ())),
    (InputError, "both styles", learned("delete-retrieve", (), GOOD)),
    (InputError, "sentences of both styles", learned("delete-retrieve", BAD, ())),
    (InputError, "x.json: not JSON", instructions("x.json", "{")),
    (InputError, "got dict", instructions("x.json", "{}")),
    (InputError, ("record 1", "'output'"), instructions("x.json", '[{"instruction": "a"}]')),
    (InputError, "got 3", instructions("x.json", '[{"instruction": "a", "output": 3}]')),
    (InputError, "record 1: an object", instructions("x.json", '["a"]')),
    (InputError, "no record", instructions("x.json", "[]")),
    (
        InputError,
        ("x.jsonl", "line 2"),
        instructions("x.jsonl", '{"instruction": "a", "output": "b"}\n{'),
    ),
    (InputError, "x.txt", instructions("x.txt", "no")),
    (MissingFileError, "none.json", lambda folder: load_instructions(str(folder / "none.json"))),
    (MissingFileError, "yahma/alpaca-none", lambda _: load_instructions("yahma/alpaca-none")),
    (InputError, ("bad.tsv", "line 2"), paraphrases("one\ttwo\nthree\n")),
    (MissingFileError, "none.tsv", lambda folder: read_paraphrases(folder / "none.tsv")),
)
def test_a_mistake_is_one_message(error, named, act, tmp_path, snapshot):
    refused(act, error, named, tmp_path, snapshot)
