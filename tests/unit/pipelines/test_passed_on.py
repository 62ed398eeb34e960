"""What the layers between a command and a metric pass on: settings, folders, who made the texts."""

import json
import re
from dataclasses import replace

import pytest
from gyafc_copy import lay_out
from own_data import write_tones
from prepared import DIRECTION, refusal, success

import tstbench
from tstbench.datasets_scripts.fingerprint import fingerprint
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.module import compute
from tstbench.metrics.scorers.device import Placement
from tstbench.pipelines.evaluate import cohort, evaluate
from tstbench.pipelines.harness.questions import DirectionTask, HarnessSettings
from tstbench.pipelines.meta.columns import RatedOutput, computed_columns
from tstbench.pipelines.output_checks import warn
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.predictions import one_line, read_card
from tstbench.pipelines.references import bound_predictions
from tstbench.pipelines.report import SystemInfo, further_key, read_report
from tstbench.pipelines.results import read_stored
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.standings import read_standings
from tstbench.pipelines.submission import score_submission
from tstbench.pipelines.suite_file import read_suite
from tstbench.pipelines.transfer import baseline_info, predict
from tstbench.trainers.postprocess import post_processed

STEPS_ASKED = ("truncate-v1", "drop-repeats-v1")
LICENSED = "gyafc_em/informal-to-formal"
INFORMAL = ("ur friends r great", "gotta go 2 that show", "dunno what 2 say", "luv this band")
FORMAL = ("Your friends are kind.", "I must attend it.", "I cannot say.", "I enjoy this band.")


# -- who made the predictions ----------------------------------------------------------------------


@pytest.fixture
def rewritten(tmp_path, capsys):
    """What a trained system wrote, with its card beside it."""
    file = tmp_path / "mine.jsonl"
    asked = ("transfer", "delete-retrieve", "--direction", DIRECTION, "--out", file)
    success(capsys, *asked)
    return file


def scored(file, out, how, capsys):
    """The report on a file, by ``import tstbench`` or by the command line."""
    if how == "import":
        tstbench.evaluate({"mine": file}, DIRECTION, metrics=["s_bleu"], out=out)
    else:
        asked = ("--direction", DIRECTION, "--metrics", "s_bleu", "--out", out)
        success(capsys, "evaluate", f"mine={file}", *asked)
    return read_report(out / DIRECTION / "mine").system


@pytest.mark.parametrize("how", ["import", "command"])
def test_the_card_says_who_made_a_file_and_nothing_of_a_changed_one(
    rewritten, tmp_path, capsys, how
):
    card = read_card(rewritten)
    found = scored(rewritten, tmp_path / "out", how, capsys)
    assert (found.name, found.family) == ("mine", card.about.family)
    assert found.family != "unknown"
    assert found.system_hash == card.system_hash
    first, *rest = rewritten.read_text().splitlines(keepends=True)
    other = json.dumps(json.loads(first) | {"prediction": "written by hand"}) + "\n"
    rewritten.write_text(other + "".join(rest))
    found = scored(rewritten, tmp_path / "changed", how, capsys)
    assert (found.family, found.system_hash) == ("unknown", None)


# -- how a score is computed -----------------------------------------------------------------------

SUITE = """
metrics = ["s_bleu"]
device = "cpu"
dtype = "bfloat16"
batch_size = 3
[[system]]
system = "copy"
directions = ["mini/negative-to-positive"]
"""


def test_a_suites_device_number_type_and_batches_are_those_of_its_scorers(tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    assert read_suite(path).scoring().placement == Placement("cpu", "bfloat16", 3)


def test_an_option_that_is_given_beats_the_profiles(monkeypatch, tmp_path_factory):
    """The paper's profile takes the mean over references; who asks for the best one gets it."""
    encoder = "encoder=sentence-transformers/all-MiniLM-L6-v2@6"
    texts = {
        "predictions": ["the soup was hot.", "we left early."],
        "sources": ["the soup was cold.", "we stayed."],
        "references": [["the soup was warm.", "the stew was hot."], ["we left.", "off we went."]],
    }

    def reduced(**options):
        found = compute(["multi_bert"], profile="paper", scorers=[encoder], **texts, **options)
        return re.search(r"\|reduce:(\w+)\|", found["details"]["multi_bert"]["signature"])[1]

    assert reduced() == "mean"
    assert reduced(bertscore={"reduce": "max"}) == "max"


# -- the user's copy of a licensed corpus ----------------------------------------------------------


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Our own sentences in the layout of GYAFC, at a place that no variable names."""
    monkeypatch.delenv("TSTBENCH_GYAFC", raising=False)
    texts = ([f"{line} PART" for line in lines] for lines in (INFORMAL, FORMAL))
    return lay_out(tmp_path / "GYAFC_Corpus", *texts)


def test_the_folder_of_a_corpus_reaches_scorers_and_baselines(corpus):
    scores = tstbench.evaluate(
        [text.upper() for text in FORMAL],
        LICENSED,
        metrics=["acc", "s_bleu"],
        baselines=["random-target"],
        data_dir=corpus,
    )
    samples = scores.evaluation.systems[1].results.samples()
    drawn = tuple(sample.prediction for sample in samples)
    assert {text.rstrip(".") for text in drawn} <= {f"{text} train" for text in FORMAL}
    assert all(report.score("acc").value is not None for report in scores.reports)


def test_the_fitting_direction_is_looked_for_in_the_folder_too(corpus, tmp_path, capsys):
    file = tmp_path / "mine.txt"
    file.write_text("".join(f"{text} test\n" for text in INFORMAL))
    asked = ("evaluate", file, "--data-dir", corpus)
    assert LICENSED in refusal(capsys, *asked)


def test_a_harness_draws_and_scores_from_the_folder(corpus):
    task = DirectionTask(
        LICENSED, HarnessSettings(metrics=("acc",), examples=2, seed=3, data_dir=str(corpus))
    )
    shown = task.questions[0].text
    assert sum(f"{text} train" in shown for text in INFORMAL) == 2
    values = task.values({q.id: q.references[0] for q in task.questions})
    assert 0 <= values["acc"] <= 100


def test_agreement_with_people_takes_from_the_folder_what_it_can(corpus):
    """Its references, and what scorers learn from, though one scorer is not there at all."""
    outputs = [
        RatedOutput("ours", LICENSED, system, None, f"gyafc_em-test-0-{n:05}", f"{text} test",
                    f"{FORMAL[n]} test", {"style": score})
        for system, score in (("a", 1.0), ("b", 4.0))
        for n, text in enumerate(INFORMAL)
    ]  # fmt: skip
    how = scoring(["acc", "ppl", "r_bleu"], scorers=["language_model=/none/there.arpa"])
    columns, left = computed_columns(outputs, how, corpus)
    assert [column.name for column in columns] == ["acc", "r_bleu"]
    assert columns[1].sentence.tolist() == [100.0] * 8
    assert [one.metric for one in left] == ["ppl"]
    _, (without,) = computed_columns(outputs, scoring(["r_bleu"]))
    assert "references" in without.why


# -- which systems a metric compares ---------------------------------------------------------------


def test_a_module_that_trains_first_says_so_and_compares_with_the_other_systems(capsys):
    sources = [f"the {word} was cold." for word in ("soup", "stew", "pie", "tea")]
    given = {
        "sources": sources,
        "predictions": [text.replace("cold", "hot") for text in sources],
        "systems": {"other": [text.upper() + " indeed" for text in sources]},
        "direction": DIRECTION,
        "naturalness": {"folds": 2},
    }
    both = compute(["naturalness_unigram", "acc"], **given)  # nothing is trained yet
    assert "needs scorers that are not in" in capsys.readouterr().err
    alone = compute(["naturalness_unigram"], **given)
    name = "naturalness_unigram"
    assert both["details"][name]["signature"] == alone["details"][name]["signature"]
    assert both["acc"] is not None
    compute(["acc"], **given | {"predictions": sources})
    assert "needs scorers" not in capsys.readouterr().err


def test_a_language_that_is_not_the_directions_is_pointed_out(capsys):
    texts = {"predictions": ["It was warm."], "sources": ["It was cold."]}
    for language in ("en", "en-GB", "de"):
        found = compute(["s_bleu"], direction=DIRECTION, language=language, **texts)
    assert "|language:de|" in found["details"]["s_bleu"]["signature"]  # which counts
    said = capsys.readouterr().err.splitlines()
    assert [
        line for line in said if "careful" in line and "'de'" in line and "'en'" in line
    ] == said


def test_a_scorer_that_a_language_has_no_use_for_is_not_made(tmp_path, monkeypatch):
    """CoLA judges English: for German texts nobody has to have its sentences."""
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    data = tstbench.load_data(write_tones(tmp_path))
    assert {direction.name for direction in data.directions} <= {*tstbench.directions()}
    for direction in data.directions:
        assert scoring(["cola", "fluency"]).prepare(direction) == []


def test_only_systems_of_the_same_test_set_are_compared(tmp_path, prepared):
    """Results on an older copy of a test set say nothing of systems on this one."""
    now = load_test_set(DIRECTION)
    sources = (*now.sources[:-1], "the lamp was dim.")
    before = replace(now, sources=sources, fingerprint=fingerprint(sources, now.references))
    evaluate([Outputs("old", before.sources)], before, scoring(["s_bleu"]), root=tmp_path)
    evaluate([Outputs("new", now.sources)], now, scoring(["s_bleu"]), root=tmp_path)
    mine = Outputs("mine", tuple(text.upper() for text in now.sources))
    how = scoring(["naturalness_unigram"])
    assert set(cohort([mine], now, how, tmp_path).predictions) == {"new", "mine"}
    again = Outputs("new", tuple(text.lower() for text in now.references[0][:1] * len(now)))
    found = cohort([again], now, how, tmp_path).predictions  # what is given replaces what is there
    assert dict(found) == {"new": again.predictions}


def test_results_of_a_licensed_corpus_without_sentences_are_compared_with_nothing(tmp_path, capsys):
    """They may be there without their texts, which ended every metric that compares systems."""
    there = load_test_set("gyafc_em/informal-to-formal", data_dir=lay_out(tmp_path / "corpus"))
    root, how = tmp_path / "results", scoring(["s_bleu"])
    evaluate([Outputs("mine", ("no.",)), Outputs("other", ("never.",))], there, how, root=root)
    (samples,) = root.glob("gyafc_em/*/other/samples.jsonl")
    samples.unlink()
    asked = scoring(["naturalness_unigram"])
    found = cohort([Outputs("new", ("not at all.",))], there, asked, root).predictions
    assert dict(found) == {"new": ("not at all.",), "mine": ("no.",)}
    assert "has no samples.jsonl: nothing is compared with other" in capsys.readouterr().err
    found = cohort([Outputs("other", ("never.",))], there, asked, root).predictions
    assert set(found) == {"mine", "other"}
    assert not capsys.readouterr().err


# -- what a suite and a submission say of a system -------------------------------------------------


def test_a_suites_table_changes_only_what_it_says_of_a_system(tmp_path, capsys):
    """A name of one's own, the family of the card; a bound with facts of its own keeps them."""
    path = tmp_path / "suite.toml"
    path.write_text(
        'metrics = ["s_bleu"]\n'
        f'[[system]]\nsystem = "delete-retrieve"\ndirections = ["{DIRECTION}"]\n'
        'info = { name = "ours", date = "2026-03" }\n'
        f'[[system]]\nsystem = "reference-2"\ndirections = ["{DIRECTION}"]\n'
        'info = { name = "people", family = "human", date = "2025" }\n'
    )
    success(capsys, "run", path)
    ours, people = (
        read_report(tmp_path / "results" / DIRECTION / name).system for name in ("ours", "people")
    )
    plain = baseline_info("delete-retrieve")
    assert (ours.family, ours.date) == (plain.family, "2026-03")
    assert plain.family != "unknown"
    assert ours.needs_parallel is plain.needs_parallel is not None
    assert (people.family, people.date, people.origin) == ("human", "2025", None)
    texts = read_stored(tmp_path / "results" / DIRECTION / "people").samples()
    assert [one.prediction for one in texts] == [one.references[1] for one in texts]


def test_a_suite_does_to_answers_what_it_was_asked_to_and_says_so(tmp_path, capsys):
    system = "delete-retrieve"
    path = tmp_path / "suite.toml"
    path.write_text(
        f'metrics = ["s_bleu"]\n[[system]]\nsystem = "{system}"\n'
        f'directions = ["{DIRECTION}"]\npostprocess = ["truncate", "drop-repeats"]\n'
    )
    success(capsys, "run", path)
    test_set = load_test_set(DIRECTION)
    raw = predict(system, test_set)
    folder = tmp_path / "results" / DIRECTION / system
    written = [one.prediction for one in read_stored(folder).samples()]
    assert written == [one_line(post_processed(text, STEPS_ASKED)) for text in raw]
    assert written != raw
    assert read_report(folder).system.post_processing == STEPS_ASKED


def test_a_submission_is_scored_as_the_command_line_scores_it(prepared, tmp_path, capsys):
    texts = [text.upper() for text in load_test_set(DIRECTION).sources]
    file = tmp_path / "uploaded.txt"
    file.write_text("\n".join(texts) + "\n")
    system = SystemInfo(name="Mine", family="prompted", date="2026-02")
    told = []
    folder = score_submission(file, DIRECTION, system, tmp_path / "in", lambda *at: told.append(at))
    assert folder == tmp_path / "in" / DIRECTION / "Mine"
    submitted = read_report(folder)
    assert submitted.system == system
    asked = ("evaluate", f"Mine={file}", "--direction", DIRECTION, "--out", tmp_path / "out")
    success(capsys, *asked)
    same = read_report(tmp_path / "out" / DIRECTION / "Mine")
    assert submitted.scores == same.scores
    assert submitted.warnings == same.warnings
    assert "are the source itself" in submitted.warnings[0]
    assert len(submitted.scores) == 11  # the ten, and the calibrated Joint that boards rank by
    assert (folder.parent / "significance.json").is_file()
    shares = [share for share, _ in told]
    assert shares == sorted(shares)


# -- what is said of outputs before they are scored ------------------------------------------------


def test_the_face_warns_of_outputs_that_are_stored_already_but_of_no_bound(tmp_path, capsys):
    """Another name for what is there is said; the same name again, or people's rewrites, is not."""
    test_set = load_test_set(DIRECTION)
    texts = [text or "nothing" for text in predict("delete-retrieve", test_set)]

    def careful(name, given=texts, **more):
        capsys.readouterr()
        call = {"metrics": ["s_bleu"], "out": tmp_path, **more}
        tstbench.evaluate({name: list(given)}, DIRECTION, **call)
        said = [line for line in capsys.readouterr().err.splitlines() if "careful: " in line]
        return [line for line in said if "every output is that of" in line]

    assert careful("first") == []
    assert careful("first") == []
    (said,) = careful("second")
    assert "second: every output is that of first" in said
    assert careful("third", baselines=["reference-1"])  # the others are still looked at
    first = [some[0] for some in test_set.references]
    info = {"people": SystemInfo(name="people", family="human")}
    for infos, expected in (({}, 1), (info, 0)):
        capsys.readouterr()
        warn([Outputs("people", tuple(first))], test_set, infos)
        assert capsys.readouterr().err.count("are a human reference, word for word") == expected


# -- what is read back -----------------------------------------------------------------------------


def test_a_report_says_each_thing_once_and_under_its_own_name(tmp_path):
    texts = load_test_set(DIRECTION).sources
    tstbench.evaluate({"mine": list(texts)}, DIRECTION, metrics=["s_bleu"], out=tmp_path)
    file = tmp_path / DIRECTION / "mine" / "report.json"
    told = json.loads(file.read_text())
    (score,) = told["scores"]
    again = further_key("s_bleu", score["signature"])
    for scores, message in (
        ([score | {"key": "s_bleu@00000000"}], "is not the key of"),
        ([score, score | {"key": again}], "two scores have the same signature"),
        ([score, score], "two scores have the same key"),
    ):
        file.write_text(json.dumps(told | {"scores": scores}))
        with pytest.raises(tstbench.TSTBenchError, match=message):
            read_report(file)


def test_a_system_without_the_chosen_metric_has_no_row(tmp_path):
    texts = list(load_test_set(DIRECTION).sources)
    tstbench.evaluate({"one": texts}, DIRECTION, metrics=["s_bleu", "r_bleu"], out=tmp_path)
    others = [text.upper() for text in texts]
    tstbench.evaluate({"two": others}, DIRECTION, metrics=["r_bleu"], out=tmp_path)
    names = [
        {one.system.name for one in read_standings(tmp_path, metrics=metrics)[0].reports}
        for metrics in ((), ("s_bleu",), ("r_bleu",))
    ]
    assert names == [{"one", "two"}, {"one"}, {"one", "two"}]


def test_a_person_who_wrote_nothing_for_a_sentence_is_no_other_person():
    whole = load_test_set(DIRECTION)
    ragged = tuple(some[: 1 + n % 3] for n, some in enumerate(whole.references))
    third = bound_predictions("reference-3", replace(whole, references=ragged))
    assert third == tuple(some[2] if len(some) > 2 else "" for some in ragged)
    assert "" in third
