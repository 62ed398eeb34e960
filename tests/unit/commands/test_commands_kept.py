"""What commands refuse before they begin, keep when they write, and say besides their numbers."""

import json
import shutil

import pytest
from gyafc_copy import lay_out
from leaderboard_results import BACK, THERE, real_results
from prepared import command_line, refusal

from tstbench.datasets_scripts.judgments.schema import read_judgments

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

    def test_the_worst_sentences_are_those_that_are_lost_by_the_last_metric_of_content(
        self, results, capsys
    ):
        asked = ("compare", "copy", "delete-retrieve", results, "--direction", THERE, "--json")
        usual, multi, other = (
            command_line(capsys, *asked, "--worst", "1000", *by)[1]
            for by in ((), ("--by", "multi_bleu"), ("--by", "s_bleu"))
        )
        assert usual == multi != other
        record = json.loads(usual)
        (metric,) = (one for one in record["metrics"] if one["metric"] == "multi_bleu")
        assert len(record["worst"]) == metric["sentences"]["lost"] > 0
        assert metric["sentences"]["tied"] > 0


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
        corpus = lay_out(tmp_path / "corpus", INFORMAL, INFORMAL)
        asked = ("sources", "gyafc_em/informal-to-formal", "--data-dir", corpus)
        code, out, err = command_line(capsys, *asked)
        assert (code, out.splitlines()) == (0, list(INFORMAL))
        assert "is licensed to you: do not publish its sentences" in err
        assert command_line(capsys, "sources", THERE)[2] == ""
