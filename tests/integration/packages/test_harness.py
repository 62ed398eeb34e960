"""Inspect AI and lm-evaluation-harness ask our questions and report our numbers."""

import json
import math
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import ROOT
from prepared import command_line, prepared_home, refusal, success

import tstbench
from tstbench.datasets_scripts.catalog import DATASETS
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, TSTBenchError, UnknownNameError
from tstbench.pipelines.harness.lm_eval_files import FOLDER, task_files, write_task_files
from tstbench.pipelines.harness.logs import read_log
from tstbench.pipelines.harness.questions import (
    DirectionTask,
    HarnessSettings,
    dataset_directions,
    read_settings,
)
from tstbench.trainers.prompted import ChatSettings, Plan
from tstbench.trainers.prompting.prompts import load_prompts
from tstbench.trainers.system import Request, Task

DIRECTION = "mini/negative-to-positive"
BLEU = ("s_bleu", "r_bleu", "multi_bleu")
SCORED = ("s_bleu", "multi_bleu", "acc", "joint")


def needs(package):
    """Skips before any fixture is made."""
    why = f"{package} is not installed: pip install 'tstbench[harness]'"
    return pytest.mark.skipif(find_spec(package) is None, reason=why)


def bleu_task(**settings):
    return DirectionTask(DIRECTION, HarnessSettings(metrics=BLEU, **settings))


@pytest.mark.parametrize("examples", [0, 3])
def test_the_questions_are_those_of_a_prompted_system(examples):
    task = bleu_task(examples=examples, seed=5)
    settings = ChatSettings(model="m", examples=examples)
    requests = [Request(q.id, q.source) for q in task.questions]
    asked = Task(task.direction, seed=5, settings=settings, device="cpu")
    calls = Plan.of(settings, task.direction).calls(requests, asked)
    assert [list(q.messages) for q in task.questions] == [c.body["messages"] for (c,) in calls]
    assert [q.text for q in task.questions] == [c.body["messages"][0]["content"] for (c,) in calls]


def test_an_answer_becomes_a_prediction_as_in_a_prompted_system():
    task, source = bleu_task(), "the food was bad ."
    answer = 'Sure, here is it:\n\n"The food was good."'
    assert task.prediction(answer, source).text == "The food was good."
    assert task.prediction(answer, source).rules == ("preface-v1", "quotes-v2")
    assert task.prediction("Half an", source, filtered=True).text == ""
    raw = bleu_task(clean=("none",))
    assert raw.prediction("a\n\nb", source).text == "a b"
    assert raw.prediction("Half an", source, filtered=True).text == "Half an"


def test_what_looks_wrong_is_said_and_in_the_report(capsys):
    task = bleu_task()
    names = [question.id for question in task.questions]
    report = task.report(dict(zip(names, task.test_set.sources[::-1], strict=True)))
    assert "in reverse order" in report.warnings[0]
    assert "careful: model: the outputs are in reverse order" in capsys.readouterr().err


def test_scores_of_a_part_are_those_of_its_sentences_and_say_so():
    task = bleu_task()
    questions = task.questions[3:20]
    report = task.report({q.id: q.references[0] for q in reversed(questions)})
    assert report.data.sentences == 17
    assert {s.metric: s.value for s in report.scores}["r_bleu"] == 100
    assert report.data.fingerprint != task.test_set.fingerprint
    assert all("|n:17|" in score.signature for score in report.scores)


def test_nothing_to_score_is_no_number(capsys):
    task = bleu_task()
    values = task.values({q.id: "" for q in task.questions})
    assert list(values) == list(BLEU)
    assert all(map(math.isnan, values.values()))
    assert "predictions are empty" in capsys.readouterr().err
    with pytest.raises(InputError, match="has no sentence 'x'"):
        task.report({"x": "y"})


def test_by_default_nothing_is_trained(capsys, tmp_path_factory, monkeypatch):
    assert DirectionTask(DIRECTION, HarnessSettings()).metrics == BLEU
    assert "run 'tstbench prepare mini'" in capsys.readouterr().err
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
    assert DirectionTask(DIRECTION, HarnessSettings()).metrics == (*BLEU, "acc", "joint")


WRONG = [
    ({"metric": "acc"}, "unknown setting 'metric'. Did you mean 'metrics'?"),
    ({"examples": 99}, "setting examples: "),
    ({"examples_by": "chance"}, "setting examples_by: "),
    ({"metrics": "sbleu"}, "'sbleu'"),
    ({"prompts": "tstbench"}, "unknown prompts 'tstbench'"),
    ({"clean": "quotes"}, "unknown cleaning rule 'quotes'"),
    ({"metrics": "s_bleu", "examples_file": "x.jsonl"}, "say how many to show"),
    ({"metrics": "s_bleu", "profile": "papr"}, "unknown profile 'papr'"),
    ({"metrics": "s_bleu", "scorers": "classifer=linear"}, "'classifer'"),
    ({"metrics": "s_bleu", "device": "gpu"}, "unknown device 'gpu'"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_a_wrong_setting_is_told(given, message):
    with pytest.raises(TSTBenchError) as told:
        _ = DirectionTask(DIRECTION, read_settings(given)).questions
    assert message in str(told.value)


def test_a_direction_of_another_dataset_is_told():
    assert [d.name for d in dataset_directions("mini", "negative-to-positive")] == [DIRECTION]
    assert len(dataset_directions("yelp")) == 2
    with pytest.raises(InputError, match="is not one of yelp"):
        dataset_directions("yelp", DIRECTION)
    with pytest.raises(UnknownNameError, match="negative-to-positive"):
        dataset_directions("yelp", "negative-to-positiv")


def test_task_files_are_written_once_and_mended(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path))
    folder = write_task_files()
    written = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    assert written == dict(task_files())
    assert len(written) == 16
    first = (folder / "utils.py").stat().st_mtime_ns
    (folder / "_common.yaml").write_text("task: another\n")
    write_task_files()
    assert (folder / "_common.yaml").read_text("utf-8") == written["_common.yaml"]
    assert (folder / "utils.py").stat().st_mtime_ns == first


def test_the_command_tells_where_the_task_files_are(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))
    assert command_line(capsys, "harness") == (0, f"{tmp_path / 'home' / FOLDER}\n", "")
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    out = ("--out", tmp_path / "P")
    assert "line 1: not a sample" in refusal(capsys, "harness", tmp_path / "other.jsonl", *out)
    assert "no such file" in refusal(capsys, "harness", tmp_path / "none.jsonl", *out)
    assert "Give a folder with --out" in refusal(capsys, "harness", tmp_path / "other.jsonl")


def test_lm_eval_is_given_the_scores_of_the_answers_that_it_has_now():
    """One process scores many models: values of the model before are not those of the next."""
    from tstbench.pipelines.harness import lm_eval_tasks as tasks

    docs = tasks.documents(DIRECTION, {"metrics": ["s_bleu", "r_bleu"]})[tasks.SPLIT]

    def scored(answers):
        items = [
            tasks.process_results(doc, [text]) for doc, text in zip(docs, answers, strict=True)
        ]
        assert all(list(item) == ["s_bleu", "r_bleu"] for item in items)
        return {
            name: tasks.aggregation(name)([item[name] for item in items])
            for name in ("s_bleu", "r_bleu")
        }

    copies = scored(docs["source"])
    same = [some[0] for some in docs["references"]]  # compared with the other references
    rewrites = scored(same)
    report = tstbench.evaluate(same, DIRECTION, metrics=["r_bleu", "multi_bleu"]).reports[0]
    wanted = {one.metric: one.value for one in report.scores}
    assert copies["s_bleu"] == 100
    assert rewrites["r_bleu"] == wanted["r_bleu"]
    assert max(copies["r_bleu"], rewrites["s_bleu"], *wanted.values()) < 100
    assert math.isnan(tasks.aggregation("acc")([tasks.process_results(docs[0], ["x"])["s_bleu"]]))
    tasks.documents(DIRECTION, {"metrics": ["s_bleu"], "clean": "none"})
    kept = tasks.process_results(docs[0], ['"quoted"'])["s_bleu"]["prediction"]
    assert kept == '"quoted"'  # the settings of now, not of before
    for metric in ("r_bleu", "multi_bleu"):  # the same answers, asked for another score
        tasks.documents(DIRECTION, {"metrics": [metric]})
        items = [tasks.process_results(d, [text]) for d, text in zip(docs, same, strict=True)]
        assert tasks.aggregation(metric)([one[metric] for one in items]) == wanted[metric]


# -- the harnesses themselves ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A GPT-2 that has learned to continue prompts with first references, a part of them right.

    Its scores are neither 0 nor 100; its chat template adds nothing.
    """
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.trainers import WordLevelTrainer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("harness")
    test_set, prompts = load_test_set(DIRECTION), load_prompts()
    asked = [prompts.message(test_set.direction, source) for source in test_set.sources]
    texts = [f"{a} {r[0]} <eos>" for a, r in zip(asked, test_set.references, strict=True)]
    words = Tokenizer(WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    special = ["<unk>", "<pad>", "<eos>"]
    words.train_from_iterator(texts, WordLevelTrainer(special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", eos_token="<eos>"
    )
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=256, n_embd=64, n_layer=2, n_head=2,
        bos_token_id=2, eos_token_id=2, pad_token_id=1,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    gpt2 = GPT2LMHeadModel(config)
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimizer = torch.optim.AdamW(gpt2.parameters(), lr=3e-3)
    for _ in range(60):
        loss = gpt2(batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    gpt2.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def evaluated(capsys, log, out):
    """What ``tstbench evaluate`` says of the predictions in a log."""
    success(capsys, "harness", log, "--out", out, "--name", "it")
    file = out / DIRECTION / "it.jsonl"
    where = ("--direction", DIRECTION, "--metrics", *SCORED, "--json")
    shown, _ = success(capsys, "evaluate", file, *where)
    return {score["metric"]: score["value"] for score in json.loads(shown)["scores"]}


@needs("inspect_ai")
def test_inspect_reports_our_numbers(model, prepared, tmp_path, capsys, monkeypatch):
    import inspect_ai

    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    from tstbench.pipelines.harness.inspect_tasks import TASKS

    arguments = {"model_path": str(model), "do_sample": False, "device": "cpu"}
    (log,) = inspect_ai.eval(
        TASKS["mini"](direction="negative-to-positive", metrics=",".join(SCORED)),
        model="hf/local",
        model_args=arguments,
        display="none",
        score_display=False,
        log_dir=str(tmp_path / "logs"),
    )
    assert log.status == "success", log.error
    (score,) = log.results.scores
    values = {name: one.value for name, one in score.metrics.items()}
    assert values.pop("sentences") == 40
    assert values == evaluated(capsys, Path(log.location), tmp_path / "P")
    assert 0 < values["s_bleu"] < 100
    assert 0 < values["joint"] < 1


def test_a_log_with_a_sentence_twice_is_of_two_runs(tmp_path):
    """Half of one run's answers and half of another's are nobody's predictions."""
    log = tmp_path / "samples_tstbench_mini_negative_to_positive.jsonl"
    item = {"direction": DIRECTION, "id": "mini-test-0-00003", "prediction": "x"}
    log.write_text((json.dumps({"metrics": ["acc"], "acc": item}) + "\n") * 2)
    with pytest.raises(InputError, match=r"line 2: .* for mini-test-0-00003"):
        read_log(log)


@needs("lm_eval")
def test_lm_eval_reports_our_numbers(model, prepared, tmp_path, capsys):
    import lm_eval
    from lm_eval.tasks import TaskManager

    task = "tstbench_mini_negative_to_positive"
    manager = TaskManager(
        include_path=str(write_task_files()),
        include_defaults=False,
        metadata={"tstbench": {"metrics": list(SCORED)}},
    )
    found = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(model), "dtype": "float32"},
        tasks=[task],
        task_manager=manager,
        batch_size=40,
        device="cpu",
    )
    log = tmp_path / f"samples_{task}.jsonl"
    log.write_text("".join(json.dumps(row, default=str) + "\n" for row in found["samples"][task]))
    values = {name: found["results"][task][f"{name},none"] for name in SCORED}
    assert values == evaluated(capsys, log, tmp_path / "P")
    assert 0 < values["s_bleu"] < 100
    assert 0 < values["joint"] < 1


@needs("inspect_ai")
def test_inspect_finds_a_task_for_every_dataset():
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    tasks = import_module(points["inspect_ai"]["tstbench"]).TASKS
    assert list(tasks) == [name for name, facts in DATASETS.items() if facts.directions]


@needs("inspect_ai")
def test_inspect_takes_settings_as_its_command_line_gives_them():
    from tstbench.pipelines.harness.inspect_tasks import TASKS

    task = TASKS["mini"](metrics=["s_bleu", "r_bleu"], examples=2, clean="none")
    assert len(task.dataset) == 80  # both directions
    assert len({sample.id for sample in task.dataset}) == 80
    first = task.dataset[0]
    expected = bleu_task(examples=2).questions[0]
    assert first.input[0].text == expected.text
    assert list(first.target) == list(expected.references)
    assert task.config.temperature == 0
    drawn = TASKS["mini"](metrics=["s_bleu"], examples=2, seed=5).dataset[0].input[0].text
    assert drawn == bleu_task(examples=2, seed=5).questions[0].text != expected.text
    for given, message in WRONG[1:]:  # the first is an argument that no task has
        with pytest.raises(TSTBenchError) as told:
            TASKS["mini"](**{"metrics": "s_bleu", **given})
        assert message in str(told.value)


@needs("inspect_ai")
def test_a_log_of_several_epochs_is_no_file_of_predictions(tmp_path, capsys):
    import inspect_ai

    from tstbench.pipelines.harness.inspect_tasks import TASKS

    (log,) = inspect_ai.eval(
        TASKS["mini"](direction="negative-to-positive", metrics="s_bleu"),
        model="mockllm/model",
        display="none",
        log_dir=str(tmp_path / "logs"),
        epochs=2,
        limit=3,
    )
    message = refusal(capsys, "harness", log.location, "--out", tmp_path / "P")
    assert "has 2 epochs: one is needed" in message
    assert not (tmp_path / "P").exists()


@needs("inspect_ai")
def test_inspect_directions_are_scored_apart_and_epochs_averaged():
    from inspect_ai.scorer import SampleScore, Score

    from tstbench.pipelines.harness.inspect_tasks import corpus_scores

    def score(question, direction, answer):
        made = Score(value=1.0, answer=answer, metadata={"direction": direction})
        return SampleScore(score=made, sample_id=question.id)

    compute = corpus_scores({"metrics": ["s_bleu"]})
    there, back = DIRECTION, "mini/positive-to-negative"
    first = [score(q, there, q.source) for q in bleu_task().questions]
    second = [score(q, there, q.references[0]) for q in bleu_task().questions]
    other = DirectionTask(back, HarnessSettings(metrics=BLEU)).questions
    others = [score(q, back, q.source) for q in other]
    alone = compute(second)["s_bleu"]
    assert 0 < alone < 100
    assert compute(first + second) == {"s_bleu": (100 + alone) / 2, "sentences": 40}
    assert compute(second + others) == {
        "negative-to-positive/s_bleu": alone,
        "negative-to-positive/sentences": 40,
        "positive-to-negative/s_bleu": 100,
        "positive-to-negative/sentences": 40,
    }
