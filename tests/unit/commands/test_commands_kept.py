"""What commands refuse before they begin, keep when they write, and say besides their numbers."""

import json
import shutil

import pytest
from leaderboard_results import BACK, THERE, real_results
from own_data import MANNERS, write_manners
from prepared import command_line, refusal

from tstbench.datasets_scripts.judgments.schema import read_judgments
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.scorers.find_words import LEXICON

HEADER = "source,output,system,direction,style\n"
INFORMAL = ("hey what is your favorite song", "i think he is so cool", "dunno ask him")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return real_results(tmp_path_factory.mktemp("results"), hostile=False)


def table(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines), "utf-8")
    return path


class TestCompare:
    def test_a_direction_is_needed_only_if_several_have_both(self, results, tmp_path, capsys):
        root = shutil.copytree(results, tmp_path / "results")
        asked = ("compare", "copy", "delete-retrieve", root)
        shutil.rmtree(root / BACK / "copy")
        code, out, _ = command_line(capsys, *asked, "--json")
        assert (code, json.loads(out)["direction"]) == (0, THERE)
        shutil.rmtree(root / THERE / "delete-retrieve")
        said = refusal(capsys, *asked)
        assert said == f"no direction in {root} has both 'copy' and 'delete-retrieve'"

    def test_the_worst_sentences_are_those_that_are_lost_and_no_ties(self, results, capsys):
        asked = ("compare", "copy", "delete-retrieve", results, "--direction", THERE, "--json")
        _, out, _ = command_line(capsys, *asked, "--worst", "1000", "--by", "r_bleu")
        record = json.loads(out)
        (metric,) = (one for one in record["metrics"] if one["metric"] == "r_bleu")
        assert len(record["worst"]) == metric["sentences"]["lost"] > 0
        assert metric["sentences"]["tied"] > 0
        assert "--worst -1: it must be 1 or more" in refusal(capsys, *asked, "--worst", "-1")

    def test_without_a_word_sentences_are_sorted_by_the_last_metric_of_content(
        self, results, capsys
    ):
        asked = ("compare", "copy", "delete-retrieve", results, "--direction", THERE, "--json")
        _, out, _ = command_line(capsys, *asked, "--worst", "3")
        by = {
            metric: command_line(capsys, *asked, "--worst", "3", "--by", metric)[1]
            for metric in ("s_bleu", "multi_bleu")
        }
        assert out == by["multi_bleu"] != by["s_bleu"]


class TestJudgments:
    def test_other_studies_in_the_file_are_kept_and_the_same_is_replaced(self, tmp_path, capsys):
        out = tmp_path / "human.jsonl"
        one = table(tmp_path / "one.csv", f"a,b,ours,{THERE},4", f"c,d,ours,{THERE},2")
        other = table(tmp_path / "other.csv", f"a,b,ours,{THERE},5")
        assert command_line(capsys, "judgments", one, "--out", out)[0] == 0
        code, _, err = command_line(capsys, "judgments", other, "--out", out)
        assert (code, "after 2 of other studies" in err) == (0, True)
        table(one, f"a,b,ours,{THERE},1")
        code, shown, _ = command_line(capsys, "judgments", one, "--out", out)
        assert shown.splitlines()[-1].split("\t") == [THERE, "ours", "1", "1.00"]
        found = [(row.study, row.score) for row in read_judgments(out)]
        assert found == [("other", 5), ("one", 1)]

    def test_two_files_of_one_study_are_asked_about(self, tmp_path, capsys):
        files = [table(tmp_path / place / "my.csv", f"a,b,x,{THERE},4") for place in ("p", "q")]
        said = refusal(capsys, "meta-evaluate", *files, "--metrics", "s_bleu")
        assert f"the study 'my' is in {files[0]} and in {files[1]}: give one of them" in said
        said = refusal(
            capsys, "meta-evaluate", files[0], "--study", files[1], "--metrics", "s_bleu"
        )
        assert "give one of them" in said


class TestMetaEvaluate:
    def test_what_could_not_be_written_or_meant_is_told_before_anything_is_read(
        self, tmp_path, capsys
    ):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine/notes.txt").write_text("mine")
        asked = ("meta-evaluate", tmp_path / "not-read.csv", "--metrics", "s_bleu")
        assert "did not write" in refusal(capsys, *asked, "--out", tmp_path / "mine")
        assert (tmp_path / "mine/notes.txt").read_text() == "mine"
        (tmp_path / "other.json").write_text('{"scores": []}')
        assert "not measured agreement" in refusal(
            capsys, *asked, "--summary", tmp_path / "other.json"
        )
        said = refusal(capsys, *asked, "--lower-is-better", "ppl")
        assert "--lower-is-better names columns of --scores, which is not given" in said


def test_what_contradicts_itself_is_told_before_anything_is_read(tmp_path, capsys):
    asked = ("meta-evaluate", tmp_path / "not-read.csv", "--scores", tmp_path / "neither.csv")
    said = refusal(capsys, *asked, "--metrics", "s_bleu")
    assert said == "give --metrics or --scores: one report compares one kind"
    said = refusal(capsys, "harness", "--out", tmp_path / "P")
    assert said == "--out: say which LOG the predictions are in"
    assert list(tmp_path.iterdir()) == []


def test_two_logs_of_one_direction_are_not_mixed(tmp_path, capsys):
    item = {"direction": THERE, "id": "1", "prediction": "first"}
    for name in ("a", "b"):
        row = {"metrics": ["s_bleu"], "s_bleu": {**item, "prediction": name}}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    logs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    said = refusal(capsys, "harness", *logs, "--out", tmp_path / "P")
    assert f"{logs[0]} and {logs[1]} both have predictions for {THERE}" in said
    assert not (tmp_path / "P").exists()
    assert command_line(capsys, "harness", logs[1], "--out", tmp_path / "P", "--name", "it")[0] == 0
    written = (tmp_path / "P" / THERE / "it.jsonl").read_text("utf-8")
    assert json.loads(written) == {"id": "1", "prediction": "b"}


class TestSources:
    def test_licensed_sentences_come_with_a_word(self, tmp_path, capsys):
        for part in ("train", "tune", "test"):
            folder = tmp_path / "GYAFC_Corpus/Entertainment_Music" / part
            folder.mkdir(parents=True)
            for name in ("informal", "formal"):
                for file in (name, *(f"{name}.ref{k}" for k in range(4))):
                    (folder / file).write_text("".join(f"{line}\n" for line in INFORMAL))
        asked = ("sources", "gyafc_em/informal-to-formal", "--data-dir", tmp_path / "GYAFC_Corpus")
        code, out, err = command_line(capsys, *asked)
        assert (code, out.splitlines()) == (0, list(INFORMAL))
        assert "is licensed to you: do not publish its sentences" in err
        assert command_line(capsys, "sources", THERE)[2] == ""

    def test_the_same_file_is_written_again(self, tmp_path, capsys):
        for _ in range(2):
            code, _, err = command_line(capsys, "sources", THERE, "--out", tmp_path / "s.txt")
            assert (code, err) == (0, f"wrote 40 sources to {tmp_path / 's.txt'}\n")


def test_directions_say_what_may_be_published_and_why_not(tmp_path, capsys):
    file = write_manners(tmp_path / "manners")
    file.write_text(MANNERS.replace('licence = "cc0-1.0"\n', ""), "utf-8")
    _, out, _ = command_line(capsys, "directions", "--data", file)
    last = {row.split("\t")[0]: row.split("\t")[-1] for row in out.splitlines()}
    assert last[THERE] == "yes"
    assert last["gyafc_fr/informal-to-formal"] == "no: licensed"
    assert last["manners/rude-to-polite"] == "no: no licence"


def test_a_check_says_what_cannot_be_computed_without_training_sentences(tmp_path, capsys):
    file = write_manners(tmp_path / "manners")
    with_train = command_line(capsys, "data", "check", file)
    assert (with_train[0], "no [train]" in with_train[2]) == (0, False)
    train = '[train]\nrude = "rude.txt"\npolite = "polite.txt"\n'
    file.write_text(MANNERS.replace(train, ""), "utf-8")
    code, _, err = command_line(capsys, "data", "check", file)
    assert code == 0
    assert "no [train]: metrics that need a trained scorer (acc, ppl, joint) cannot" in err


class TestTransfer:
    def test_a_folder_is_no_file(self, tmp_path, capsys):
        asked = ("transfer", "copy", "--direction", THERE, "--out", tmp_path)
        assert f"is a folder; give a file, such as {tmp_path / 'copy.jsonl'}" in refusal(
            capsys, *asked
        )
        assert list(tmp_path.iterdir()) == []

    def test_people_are_asked_nothing(self, tmp_path, capsys):
        asked = ("transfer", "reference-1", "--direction", THERE, "--out", tmp_path / "r.jsonl")
        said = refusal(capsys, *asked, "--dry-run")
        assert "--dry-run: reference-1 is people's, and nobody is asked" in said
        assert not (tmp_path / "r.jsonl").exists()
        assert command_line(capsys, *asked)[0] == 0
        rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
        test_set = load_test_set(THERE)
        assert [row["id"] for row in rows] == list(test_set.ids)
        assert [row["prediction"] for row in rows] == [some[0] for some in test_set.references]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("delete-retrieve",), "give either --direction"),
        (("delete-retrieve", "--direction", THERE, "--dataset", "mini"), "give either --direction"),
        (("cola", "yelp"), "takes no dataset and no options"),
        (("cola", "--name", "mine"), "takes no dataset and no options"),
        (("classifier",), "the dataset is missing, for instance: tstbench train classifier yelp"),
        (("classifier", "mini", "--epochs", "3"), "--epochs"),  # the default kind has none
        (("classifier", "mini", "--kind", "textcnn", "--epochs", "0"), "epochs of textcnn"),
        (("classifier", "mini", "--kind", "finetuned", "--betas", "[0.9]"), "betas"),
        (("classifier", "mini", "--kind", "nearest"), "unknown"),
        (("classifier", "mini", "--without", "li2018"), "--without needs --name"),
        (("lexicon", "mini", "--without", "li2018"), "--without needs --name"),
        (("lexicon", "mini", "--inverse-penalty", "much"), "inverse_penalty of lexicon"),
        (
            ("classifier", "mini", "--without", "li2018", "--name", "linear"),
            "--name linear is the scorer that metrics use",
        ),
        (
            ("lexicon", "mini", "--without", "li2018", "--name", LEXICON),
            f"--name {LEXICON} is the scorer that metrics use",
        ),
    ],
)
def test_what_cannot_be_trained_is_told_and_nothing_is(arguments, said, capsys, tstbench_home):
    assert said in refusal(capsys, "train", *arguments)
    assert not (tstbench_home / "scorers").exists()


def test_a_folder_of_somebody_else_is_told_of_before_anything_is_done(
    tmp_path, capsys, tstbench_home
):
    (tmp_path / "notes.txt").write_text("mine")
    asked = ("train", "delete-retrieve", "--direction", THERE, "--out", tmp_path)
    assert "did not write" in refusal(capsys, *asked)
    assert not (tstbench_home / "systems").exists()
    assert "did not write" in refusal(capsys, "style-invariance", "unheard", "--out", tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_dataset_is_built_with_the_cleaning_that_was_asked_for(tmp_path, capsys):
    code, _, err = command_line(
        capsys, "build", "mini", "--cleaning", "raw", "--out", tmp_path / "data"
    )
    assert code == 0
    assert err.startswith("wrote mini (raw) to ")
