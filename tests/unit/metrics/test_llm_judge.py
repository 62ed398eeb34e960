"""A chat model as a judge: wordings, strict parsing, one range, and nothing asked twice."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time

import evaluate
import numpy as np
import pytest
from chat_server import KEY, question_in, serving
from local_chat import make_chat_model
from own_data import write_lines
from prepared import DIRECTION, refusal, success
from scipy.stats import spearmanr

from tstbench.chat.answers import Answers, answers_folder
from tstbench.chat.refusals import reply_of
from tstbench.chat.settings import Handling
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, LimitError, UnknownNameError
from tstbench.files import home
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.llm_judge.wordings import prompt_names, wordings
from tstbench.metrics.measure import measure, needs, plan
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.device import Placement
from tstbench.metrics.scorers.judge import judge_settings
from tstbench.metrics.scorers.profile import PROFILES, Scorers

ASPECTS = ("style", "content", "fluency")
JUDGED = ("judge_style", "judge_content", "judge_fluency")


def inputs(count=6, **changed):
    test_set = load_test_set(DIRECTION)
    first = [some[0] for some in test_set.references[:count]]
    predictions = changed.get("predictions", first)
    return check_inputs(
        predictions, test_set.sources[:count], test_set.references[:count], test_set.direction
    )


def judged(server, metrics=JUDGED, texts=None, handling=None, model="m", **options):
    url = server if isinstance(server, str) else server.url
    profile = PROFILES["embedded"].with_scorers([f"judge={model}@{url}"])
    texts = texts or inputs()
    placement = Placement(asking=handling or Handling())
    scorers = Scorers(profile, texts.direction, placement)
    return measure(metrics, texts, scorers, choices({"llm_judge": options}))


def ends(asked):
    """The scale that a request names."""
    ending = question_in(asked).removesuffix("\n\nAnswer:").rpartition("\n\n")[2]
    return map(int, re.search(r"from (\d+) to (\d+)", ending).groups())


def middle(asked):
    return f"{sum(ends(asked)) / 2:g}"


# -- answers --------------------------------------------------------------------------------------


def test_probabilities_in_a_servers_json_are_kept_or_nothing_is():
    body = {"choices": [{"message": {"content": "3"}, "finish_reason": "stop"}]}
    good = [{"token": "3", "logprob": -0.1, "top_logprobs": [{"token": "3", "logprob": -0.1}]}]
    body["choices"][0]["logprobs"] = {"content": good}
    reply = reply_of(body, "u")
    assert reply.tokens == (("3", (("3", -0.1),)),)
    Answers("u", "m").put("k", reply)
    assert Answers("u", "m").get("k") == reply
    for bad in (None, {}, {"content": None}, {"content": [{"token": 3}]}, {"content": "x"}, 7):
        body["choices"][0]["logprobs"] = bad
        assert reply_of(body, "u").tokens is None
    path = Answers("u", "m").path
    path.write_text(path.read_text().replace("-0.1", '"x"'))
    assert Answers("u", "m").get("k") is None  # not what was written: asked again


# -- wordings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("aspect", ASPECTS)
def test_eleven_wordings_for_each_aspect(aspect):
    (name,) = prompt_names(aspect)
    found = wordings(name, aspect, 11, explain=False, single_digit=False)
    assert len(found.wordings) == 11
    direction = load_test_set(DIRECTION).direction
    texts = []
    for one in found.wordings:
        (message,) = found.messages(one, "OUT {x}", "SRC", direction)
        texts.append(message["content"])
        assert message["content"].count("OUT {x}") == 1
        assert f"from {one.scale.low} to {one.scale.high} and" in message["content"]
        if one.scale.high != 100:  # of one hundred people, percent
            assert {str(one.worst), str(one.best)} <= set(re.findall(r"\d+", one.text)), one.id
        assert ("SRC" in message["content"]) <= (aspect != "fluency")
    assert len(set(texts)) == 11
    assert len({(one.worst, one.best) for one in found.wordings}) > 4
    digits = wordings(name, aspect, 11, explain=False, single_digit=True)
    assert [one.id for one in digits.wordings] == [
        one.id for one in found.wordings if one.scale.high <= 9
    ]
    assert digits.sha256 != found.sha256


GOOD = """name = "mine"
aspect = "fluency"
answer = "{low} to {high}"
explain = "why, then {low} to {high}"
[[wording]]
id = "a"
text = "rate {output}"
worst = 0
best = 100
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{output}", "{otuput}", r"wording 'a' has the slot \{otuput\}, .* Known: \{output\}"),
        ("{output}", "it", r"wording 'a' has no slot \{output\}, but needs exactly one"),
        ("{output}", "{output} {source}", r"the slot \{source\}"),
        ("best = 100", "best = 0", "worst and best are both 0"),
        ("worst = 0", 'worst = "x"', "wording.0.worst: Input should be a valid integer"),
        ("worst = 0", "", "wording.0.worst: Field required"),
        ("{low} to {high}", "{output}", "answer has the slot"),
        ('"fluency"', '"beauty"', "aspect: Input should be 'style', 'content' or 'fluency'"),
        ('"fluency"', '"style"', "asks about style, but is given for fluency"),
        ("name =", "name", "not TOML"),
        ("best = 100", 'best = 100\n[[wording]]\nid = "a"\ntext = "{output}"\nworst=0\nbest=1',
         "'a' is there twice"),
    ],
)  # fmt: skip
def test_a_prompt_file_with_a_mistake(tmp_path, old, new, said):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        wordings(str(path), "fluency", 11, explain=False, single_digit=False)


def test_ones_own_prompt_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    with serving(answer=lambda _: "75") as server:
        found = judged(server, ["judge_fluency"], fluency_prompts=str(path))["judge_fluency"]
        with pytest.raises(InputError, match="no scale within 0 to 9"):
            judged(server, ["judge_fluency"], fluency_prompts=str(path), expected=True)
        with pytest.raises(UnknownNameError, match=r"fluency-v1.*file of your own"):
            judged(server, ["judge_fluency"], fluency_prompts="fluent")
    assert found.value == 0.75
    assert "|prompts:mine#" in str(found.signature)
    assert str(tmp_path) not in str(found.signature)


# -- a server -------------------------------------------------------------------------------------


def test_every_wording_is_asked_once():
    with serving(answer=middle) as server:
        found = judged(server)
        assert [one.value for one in found.values()] == [0.5] * 3
        # Fluency is asked about distinct outputs; every question is about one of the six here.
        assert len(server.answered) == 6 * 33
        assert set(server.answered.values()) == {1}
        body = server.bodies[0]
        assert set(body) == {"model", "messages", "temperature", "max_tokens"}
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0, 16)
    again = judged(server)  # the server is gone: all of it is on disk
    assert [str(one.signature) for one in again.values()] == [
        str(one.signature) for one in found.values()
    ]
    assert [one.value for one in again.values()] == [0.5] * 3


def partly(asked):
    """Hard to say of one hundred people, no score out of ten; else the middle, or 0 where it is."""
    low, high = ends(asked)
    return {100: "it is hard to say", 10: "11"}.get(high, "0" if low == 0 else middle(asked))


def test_what_cannot_be_read_is_left_out_and_counted():
    with serving(answer=partly) as server:
        found = judged(server, (*JUDGED, "judge_unread"))
    assert [found[m].value for m in JUDGED] == pytest.approx([(8 * 0.5 + 0) / 9] * 3)
    assert found["judge_unread"].statistics.per_sentence == pytest.approx([100 * 2 / 11] * 6)


def test_an_empty_output_is_worst_and_not_asked_about():
    texts = inputs(predictions=["", "so nice", "so nice", " ", "fine", "fine"])
    with serving(answer=lambda asked: str(list(ends(asked))[1])) as server:
        found = judged(server, ("judge_fluency", "judge_unread"), texts, wordings=1)
        assert len(server.bodies) == 2 + 4 + 4  # equal outputs are asked about once, as to fluency
    assert found["judge_fluency"].statistics.per_sentence.tolist() == [0, 1, 1, 0, 1, 1]
    assert np.isnan(found["judge_unread"].statistics.per_sentence[[0, 3]]).all()


def test_expected_scores_through_a_server():
    def tokens(asked):
        assert asked["top_logprobs"] == 20
        assert asked["logprobs"] is True
        low, high = ends(asked)
        half = [{"token": str(one), "logprob": math.log(0.25)} for one in (low, high)]
        return [{"token": str(high), "logprob": math.log(0.25), "top_logprobs": half}]

    with serving(answer=lambda asked: str(list(ends(asked))[1]), tokens=tokens) as server:
        found = judged(server, expected=True)
        assert len(server.bodies) == 6 * 27  # those on scales of single digits
    assert [one.value for one in found.values()] == [pytest.approx(0.5)] * 3
    assert "|wordings:9|" in str(found["judge_style"].signature)
    with serving(answer=middle) as silent, pytest.raises(InputError, match="no probabilities of"):
        judged(silent, expected=True)
    assert 0 < len(silent.bodies) <= 4  # not all of them, which may cost money


def test_a_completion_model_is_asked_with_a_prompt():
    def tokens(asked):
        low, high = ends(asked)
        assert asked["logprobs"] == 5  # the most that this endpoint gives
        half = [{"token": f" {one}", "logprob": math.log(0.25)} for one in (low, high)]
        return [{"token": f" {high}", "top_logprobs": half}]

    def answer(asked):
        return f" {list(ends(asked))[1]}"

    spec = "completions:m"
    with serving(answer=answer, tokens=tokens) as server:
        written = judged(server, ("judge_content",), model=spec)["judge_content"]
        expected = judged(server, ("judge_content",), model=spec, expected=True)["judge_content"]
        first = server.bodies[0]
    assert first["prompt"].endswith("and with nothing else.\n\nAnswer:")
    assert "messages" not in first
    assert first["max_tokens"] == 16
    assert expected.value == pytest.approx(0.5)
    scales = wordings("content-v1", "content", 11, explain=False, single_digit=False).wordings
    assert written.value == pytest.approx(sum(one.best > one.worst for one in scales) / 11)
    assert "|server:127.0.0.1|backend:completions|" in str(written.signature)
    with serving(answer=answer) as server:
        chat = judged(server, ("judge_content",))["judge_content"]
    assert "backend" not in str(chat.signature)


@pytest.mark.parametrize("template", [True, False])
def test_a_local_judge_answers_what_transformers_generates(template, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path / "judge"
    make_chat_model(folder, load_test_set(DIRECTION).sources)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if not template:
        (folder / "chat_template.jinja").unlink()
    model = AutoModelForCausalLM.from_pretrained(folder)
    scorers = Scorers(PROFILES["embedded"].with_scorers([f"judge=local:{folder}"]), None)
    chosen = choices({"llm_judge": {"expected": True, "max_tokens": 4, "wordings": 3}})
    (need,) = needs(["judge_fluency"], inputs(3), scorers, chosen)
    replies = scorers.load("judge").replies(need.texts)
    for request, reply in zip(need.texts, replies, strict=True):
        asked = json.loads(request)["messages"][0]["content"]
        text = f"{asked}\n" if template else f"{asked}\n\nAnswer:"
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)
        out = model.generate(
            **ids,
            max_new_tokens=4,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
        written = out.sequences[0, ids["input_ids"].shape[1] :]
        assert reply.text == tokenizer.decode(written, skip_special_tokens=True)
        assert "".join(token for token, _ in reply.tokens) == reply.text
        likeliest = [out.logits[k][0].log_softmax(-1).max() for k in range(len(reply.tokens))]
        assert [o[0][1] for _, o in reply.tokens] == pytest.approx(torch.stack(likeliest).tolist())
    kept = next(answers_folder().glob("*.jsonl")).read_bytes()
    again = Scorers(PROFILES["embedded"].with_scorers([f"judge=local:{folder}"]), None)
    assert again.load("judge").replies(need.texts) == replies
    assert next(answers_folder().glob("*.jsonl")).read_bytes() == kept
    assert "|backend:local|" in str(plan(["judge_fluency"], inputs(3), again)["judge_fluency"])
    summary = again.load("judge").estimate(need.texts).summary
    assert "9 judgements" in summary
    assert "9 of them answered" in summary
    for option in ({"temperature": 0.5}, {"extra": '{"stop": "x"}'}, {"max_tokens": 600}):
        with pytest.raises(InputError, match=next(iter(option))):
            measure(["judge_fluency"], inputs(3), again, choices({"llm_judge": option}))


def test_a_server_without_probabilities_is_found_out_after_filtered_answers_too():
    """The first answers say nothing of it: a filter left no text in them."""
    first: dict[str, int] = {}

    def answer(body):
        place = first.setdefault(json.dumps(body, sort_keys=True), len(first))
        return "" if place < 4 else middle(body)

    with serving(answer=answer) as server, pytest.raises(InputError, match="no probabilities of"):
        judged(server, ("judge_style",), expected=True)


def test_an_explanation_before_the_score():
    with serving(answer=lambda asked: f"It is good.\nScore: {middle(asked)}") as server:
        found = judged(server, ["judge_content"], explain=True)
        assert server.bodies[0]["max_tokens"] == 300
        assert "Explain" in server.bodies[0]["messages"][0]["content"]
    assert found["judge_content"].value == 0.5


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("m@localhost:8000/v1", "begins with http"),
        ("m@u:secret@localhost:8000/v1", "begins with http"),
        ("@http://u:secret@h/v1", "name the model before the address"),
        ("m@http://u:secret@h/v1", "holds a user name, a password"),
    ],
)
def test_a_judge_that_cannot_be_asked(spec, said):
    with pytest.raises(InputError, match=said) as found:
        judge_settings(spec, Handling())
    assert "secret" not in str(found.value)


@pytest.mark.parametrize(
    ("spec", "model", "url"),
    [
        ("m@https://h.example/v1/", "m", "https://h.example/v1"),
        ("@cf/meta/llama@http://h:8000/v1", "@cf/meta/llama", "http://h:8000/v1"),
        ("a@b@http://h/v1", "a@b", "http://h/v1"),
        ("m@http://h/a@http://b/v1", "m", "http://h/a@http://b/v1"),
        (" m @http://h/v1", "m", "http://h/v1"),
        ("@cf/meta/llama", "@cf/meta/llama", "http://first/v1"),
    ],
)
def test_an_address_stays_as_it_is_written_there_or_else_in_the_environment(
    monkeypatch, spec, model, url
):
    assert judge_settings("gpt", Handling()).url == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://first/v1/")
    settings = judge_settings(spec, Handling())
    monkeypatch.setenv("OPENAI_BASE_URL", "http://second/v1")
    assert (settings.model, settings.url) == (model, url)


# -- the command line -----------------------------------------------------------------------------


def command(server, tmp_path, *more, metrics=JUDGED):
    test_set = load_test_set(DIRECTION)
    outputs = tmp_path / "mine.txt"
    write_lines(outputs, [some[0] for some in test_set.references])
    judge = ("--scorer", f"judge=m@{server.url}")
    return ("evaluate", outputs, "--direction", DIRECTION, "--metrics", *metrics, *judge, *more)


def test_a_module_asks_the_judge_that_is_named_or_else_that_of_the_variable(monkeypatch):
    module = evaluate.load("metrics/llm_judge")
    given = {
        "predictions": ["so good."],
        "sources": ["so bad."],
        "direction": DIRECTION,
        "wordings": 2,
    }
    with serving(answer=middle) as server, serving(answer=middle) as other:
        monkeypatch.setenv("TSTBENCH_JUDGE", f"owners@{server.url}")
        found = module.compute(**given)
        assert "|judge:owners#" in found["details"]["judge_style"]["signature"]
        assert module.compute(**given, judge=f"mine@{other.url}")["judge_unread"] == 0
        assert [len(one.bodies) for one in (server, other)] == [6, 6]


def test_a_dry_run_sends_nothing_and_a_limit_loses_nothing(tmp_path, capsys):
    with serving(answer=middle) as server:
        few = ("--set", "llm_judge.wordings=3", "--concurrency", "4")
        dry = command(server, tmp_path, *few, "--dry-run", "--prices", "1,2")
        shown, err = success(capsys, *dry)
        assert server.bodies == []
        rows = [json.loads(line) for line in shown.splitlines()]
        assert len(rows) == 40 * 9
        assert rows[0]["request"]["model"] == "m"
        assert not any(row["answered"] for row in rows)
        least = sum(row["prompt_tokens"] for row in rows) / 1e6
        assert f"360 requests to {server.url} for 360 judgements" in err
        assert f"${least:.4f} to ${least + 2 * 16 * 360 / 1e6:.4f}" in err
        said = refusal(capsys, *command(server, tmp_path, *few, "--max-requests", "100"))
        assert "stopped after 100 requests, before 1 more: --max-requests is 100" in said
        assert len(server.bodies) == 100
        _, err = success(capsys, *dry)
        assert "100 more answered already" in err
        success(capsys, *command(server, tmp_path, *few, "--max-requests", "260"))
        assert set(server.answered.values()) == {1}
        assert len(server.answered) == 360
    said = refusal(capsys, "evaluate", "--baseline", "copy", "--direction", DIRECTION,
                   "--metrics", "s_bleu", "--dry-run")  # fmt: skip
    assert "none of these metrics asks a chat model" in said
    said = refusal(capsys, "evaluate", "--baseline", "copy", "--direction", DIRECTION,
                   "--metrics", "judge_style", "--dry-run")  # fmt: skip
    assert "has no judge: choose one: --scorer judge=" in said


@pytest.mark.slow
def test_ctrl_c_loses_nothing(tmp_path):
    with serving(answer=middle, latency=0.02) as server:
        few = ("--set", "llm_judge.wordings=3", "--concurrency", "4")
        given = [str(one) for one in command(server, tmp_path, *few)]
        whole = [sys.executable, "-m", "tstbench", *given]
        begun = subprocess.Popen(
            whole, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while len(server.answered) < 60:
            assert begun.poll() is None, begun.stderr.read().decode()
            time.sleep(0.01)
        begun.send_signal(signal.SIGINT)
        _, err = begun.communicate(timeout=30)
        assert begun.returncode == 130, err.decode()
        assert b"Traceback" not in err
        again = subprocess.run(whole, capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
        assert len(server.answered) == 40 * 9
        twice = [text for text, times in server.answered.items() if times > 1]
        assert len(twice) <= 4  # those that were under way


def test_limits_hold_for_each_command_not_for_the_process():
    with serving(answer=middle) as server:
        handling = Handling(max_requests=6, concurrency=2)
        with pytest.raises(LimitError):
            judged(server, ["judge_style"], handling=handling, wordings=2)
        judged(server, ["judge_style"], handling=handling, wordings=2)
        assert len(server.bodies) == 12


def test_the_report_counts_what_no_wording_could_read_and_has_no_key(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    out = ("--out", tmp_path / "results")
    with serving(answer=partly, key=KEY) as server:
        asked = command(server, tmp_path, *out, metrics=["judge_style"])
        said = "".join(success(capsys, *asked))
    (file,) = (tmp_path / "results").glob("*/*/*/report.json")
    scores = {score["metric"]: score for score in json.loads(file.read_text())["scores"]}
    n = len(load_test_set(DIRECTION))
    assert scores["judge_style"]["answers"]["percent"] == {"asked": n, "unparsable": n}
    assert scores["judge_style"]["answers"]["examiner"] == {"asked": n, "out of range": n}
    assert scores["judge_style"]["answers"]["success"] == {"asked": n}
    shown, _ = success(capsys, "report", tmp_path / "results", "--format", "markdown")
    assert f"{2 * n} of {11 * n:,} answers are no score" in shown
    assert f"{n} out of range (examiner {n}), {n} unparsable (percent {n})" in shown
    files = [one for top in (home(), tmp_path) for one in top.rglob("*") if one.is_file()]
    assert KEY.encode() not in b"".join([said.encode(), *(one.read_bytes() for one in files)])


def test_agreement_of_each_wording_and_of_all(tmp_path, capsys):
    """One wording says what people say, another the opposite; a third reads three outputs."""
    human = [1, 2, 3, 4, 5, 2]
    texts = [f"{n} bowls of soup" for n in range(6)]
    prompts, study = tmp_path / "mine.toml", tmp_path / "study.csv"
    wording = '[[wording]]\nid = "{0}"\ntext = "{0}: {{output}}"\nworst = 1\nbest = 5\n'
    asked = [wording.format(one) for one in ("same", "opposite", "some")]
    prompts.write_text("".join([GOOD.partition("[[wording]]")[0], *asked]))
    rows = [f"it was {t},{t},s,{DIRECTION},{score}" for t, score in zip(texts, human, strict=True)]
    write_lines(study, ["source,output,system,direction,fluency", *rows])

    def answer(asked):
        wording, _, rest = question_in(asked).partition(": ")
        place = texts.index(rest.partition("\n")[0])
        if wording == "some":
            return "none" if place < 3 else str(human[place])
        return str(human[place] if wording == "same" else 6 - human[place])

    with serving(answer=answer) as server:
        success(
            capsys, "meta-evaluate", study, "--metrics", "judge_fluency", "--scorer",
            f"judge=m@{server.url}", "--set", f"llm_judge.fluency_prompts={prompts}",
            "--out", tmp_path / "agreement",
        )  # fmt: skip
    found = json.loads((tmp_path / "agreement" / "meta.json").read_text())
    sentence = [s for s in found["scores"] if s["coefficient"] == "spearman"]
    by_name = {s["metric"].removeprefix("judge_fluency"): s for s in sentence}
    assert {name: s["outputs"] for name, s in by_name.items()} == {
        "": 6, ":same": 6, ":opposite": 6, ":some": 3,
    }  # fmt: skip
    assert by_name[":same"]["value"] == by_name[":some"]["value"] == 1
    assert by_name[":opposite"]["value"] == -1
    assert "judge_fluency:some (n 3)" in (tmp_path / "agreement" / "README.md").read_text()
    means = [0.5, 0.5, 0.5, (0.75 + 0.25 + 0.75) / 3, 2 / 3, (0.25 + 0.75 + 0.25) / 3]
    assert by_name[""]["value"] == pytest.approx(spearmanr(means, human).statistic, abs=1e-6)
