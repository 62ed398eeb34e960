"""The published studies in one schema, and a user's own: what is kept, flagged and refused."""

import io
import json
import pickle
import zipfile
from collections import Counter

import numpy as np
import pytest

from tstbench.commands.cli import main
from tstbench.datasets_scripts.judgments.mir2019 import read_npz
from tstbench.datasets_scripts.judgments.own import Layout, read_study
from tstbench.datasets_scripts.judgments.pauli2025 import read_annotations
from tstbench.datasets_scripts.judgments.schema import read_judgments, write_judgments
from tstbench.datasets_scripts.judgments.studies import STUDIES
from tstbench.datasets_scripts.judgments.tstbench2025 import ASPECT_NAMES, read_scores
from tstbench.errors import InputError


def npz(path, **members):
    """An archive as NumPy wrote it before objects were refused."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in members.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.asarray(value), allow_pickle=True)
            archive.writestr(f"{name}.npy", stream.getvalue())
    return path


def test_archives_of_arrays_dictionaries_and_texts_are_read(tmp_path):
    inner = np.array({"a": np.arange(3.0), "b": [1.5, 2.5], "c": np.float32(2)}, dtype=object)
    letters = np.array(["A", None, "B"], dtype=object)
    found = read_npz(npz(tmp_path / "a.npz", inner=inner, letters=letters, plain=np.eye(2)))
    assert found["inner"]["a"].tolist() == [0, 1, 2]
    assert (found["inner"]["b"], float(found["inner"]["c"])) == ([1.5, 2.5], 2.0)
    assert list(found["letters"]) == ["A", None, "B"]
    assert found["plain"].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("numpy", "load"),
        ("os", "system"),
        ("builtins", "print"),
        ("numpy.core.multiarray", "fromfile"),
    ],
)
def test_an_archive_never_runs_code(tmp_path, capfd, module, name):
    header = io.BytesIO()
    np.lib.format.write_array(header, np.array(None, dtype=object), allow_pickle=True)
    start = header.getvalue()[: header.getvalue().index(b"\n") + 1]
    payload = f"c{module}\n{name}\n(Vid\ntR.".encode()
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", start + payload)
    with pytest.raises(pickle.UnpicklingError, match=rf"{module}\.{name}, which no array needs"):
        read_npz(tmp_path / "a.npz")
    assert capfd.readouterr().out == ""


PAULI = (
    "sample_id,input,output,style_to,source_from,intention,step,quest_nr,AnswerA_1,AnswerA_2,"
    "AnswerA_3,AnswerB_1,AnswerB_2,AnswerB_3,prolificID_1,prolificID_2,prolificID_3\n"
)


def test_raters_of_a_study_get_pseudonyms(tmp_path):
    file = tmp_path / "a.csv"
    row = "7.0,it rained,rain!,catchy,ours,style,,1,4,4,3,1,2,1,person-z,person-a,person-m\n"
    file.write_text(PAULI + row)
    rows = read_annotations([file])
    assert [r.rater for r in rows[:3]] == ["rater-1", "rater-2", "rater-3"]
    assert {r.aspect for r in rows} == {"style", "content"}
    assert [r.score for r in rows if r.aspect == "content"] == [1, 2, 1]
    assert {(r.direction, r.condition) for r in rows} == {("pauli2025/neutral-to-catchy", "style")}
    assert "person" not in "".join(r.model_dump_json() for r in rows)
    # In another place and another file a person is the same rater.
    (tmp_path / "b.csv").write_text(
        PAULI + row.replace("person-z,person-a,person-m", "person-m,person-new,person-z")
    )
    both = read_annotations([file, tmp_path / "b.csv"])
    assert [r.rater for r in both[6:9]] == ["rater-3", "rater-4", "rater-1"]


def test_a_score_beyond_the_scale_is_flagged(tmp_path):
    scores = {name: ["4"] * 50 for name in ASPECT_NAMES}
    scores["strength"] = ["5.8", *["3.5"] * 49]
    file = tmp_path / "all_score.json"
    file.write_text(json.dumps({"GPT4_FS": scores}))
    rows = read_scores(file, "yelp/negative-to-positive")
    assert [(r.score, r.flag, r.item) for r in rows[:2]] == [
        (5.8, "impossible", "place-01"),
        (3.5, None, "place-02"),
    ]
    assert {(r.system, r.certain, r.source, r.sample_id) for r in rows} == {
        ("gpt4-fs", False, None, None)
    }


OWN = "source,output,system,direction,style,Meaning\n"
LINES = (
    "it was bad,it was good,ours,mini/negative-to-positive,4,5\n"
    "a,b,copy,mini/negative-to-positive,,1\n"
)


CONTENT = {"columns": {"content": "Meaning"}}


def study(folder, text, name="my.csv", **layout):
    """The scores in a table."""
    (folder / name).write_text(text)
    return read_study(folder / name, Layout(**layout))


def test_a_users_table_is_a_study_in_which_spaces_are_no_score(tmp_path):
    rows = study(tmp_path, OWN + LINES, **CONTENT)
    assert [(r.aspect, r.score, r.system) for r in rows] == [
        ("style", 4, "ours"),
        ("content", 5, "ours"),
        ("content", 1, "copy"),
    ]
    assert {r.study for r in rows} == {"my"}
    assert rows[0].sample_id == "it was bad"
    assert study(tmp_path, OWN + LINES.replace(",4,", ", ,"), **CONTENT) == rows[1:]


def test_every_column_of_a_users_table_arrives_in_its_field(tmp_path):
    names = "id source output system rater direction model condition style naturalness_relative"
    values = 'n7|it was bad|it was "good"|ours-1|al|x/a-to-b|ours|warm|7.5|1'.split("|")

    def read(names, values):
        text = "\t".join(names.split()) + "\n" + "\t".join(values) + "\n"
        # A direction of the layout is for rows without one of their own.
        return study(tmp_path, text, "whole.tsv", scale="0-10", direction="mini/c-to-d")

    style, natural = read(names, values)
    common = {
        "study": "whole", "dataset": "x", "direction": "x/a-to-b", "system": "ours-1",
        "sample_id": "n7", "source": "it was bad", "output": 'it was "good"', "rater": "al",
        "model": "ours", "condition": "warm", "note": None, "item": None, "certain": None,
        "flag": None,
    }  # fmt: skip
    assert style.model_dump() == {
        **common, "aspect": "style", "scale": "interval 0-10", "score": 7.5,
    }  # fmt: skip
    assert natural.model_dump() == {
        **common, "aspect": "naturalness_relative", "scale": "nominal 0-1", "score": 1.0,
    }  # fmt: skip
    bare, _ = read(names.replace("direction", "way"), [*values[:4], "", *values[5:]])
    assert (bare.rater, bare.direction, bare.dataset) == ("rater-1", "mini/c-to-d", "mini")


def test_a_head_in_marks_promises_doubled_ones(tmp_path):
    head = '"source"\t"output"\t"system"\t"direction"\t"style"\n'
    with pytest.raises(InputError, match=r"my\.tsv, line 2: not valid TSV"):
        study(tmp_path, head + '"s"\t"good" place\t"ours"\t"x/a-to-b"\t4\n', "my.tsv")


def test_long_sources_that_begin_alike_are_two_sentences(tmp_path):
    rows = [LINES.splitlines()[0].replace("it was", "very " * 30, 1)] * 2
    rows[1] = rows[1].replace("bad", "dull")
    ids = {row.sample_id for row in study(tmp_path, OWN + "\n".join(rows), **CONTENT)}
    assert len(ids) == 2
    assert max(map(len, ids)) == 100


@pytest.mark.parametrize(
    ("text", "layout", "said"),
    [
        (OWN.replace("output", "rewrite") + LINES, {}, "no column output; it has .*--column"),
        (OWN.replace("direction", "way") + LINES, {}, "no column 'direction'"),
        (OWN.replace("style,Meaning", "a,b") + LINES, {}, "no column with scores"),
        (OWN + LINES.replace(",4,", ",four,"), {}, "line 2, column style: 'four' is not a number"),
        (OWN + LINES.replace(",4,", ",NA,"), {}, "my.csv, line 2, column style: 'NA' is not"),
        (OWN + LINES.replace(",4,", ",-inf,"), {}, "line 2, column style: '-inf' is infinite"),
        (OWN + LINES.replace(",4,", ",1_0,"), {}, "line 2, column style: '1_0' is not a number"),
        ("", {}, "is empty: its first line must name the columns. A table of human scores has"),
        (OWN + LINES.replace(",4,", ",9,"), {}, "line 2, column style: score 9 is not on the"),
        (OWN + LINES.replace(",4,", ",nan,"), {}, "line 2, column style: .*finite"),
        (OWN + LINES.replace("mini/negative-to-positive", "mini"), {}, "line 2, column style"),
        (OWN + LINES.replace("tive-to-posi", "tive to posi"), {}, "like dataset/source-to-target"),
        (
            "rater," + OWN + "Al B," + LINES.splitlines()[0],
            {},
            "rater: 'Al B' is not like lower-case letters",
        ),
        (OWN + "a,b,c\n", {}, "line 2: .* 3 for 6 columns"),
        (OWN + LINES + LINES, {}, "line 4: style of ours, .* is in line 2 too"),
        (OWN, {}, "no score in it"),
        (OWN + LINES, {"columns": {"content": "Sense"}}, "no column Sense"),
    ],
)
def test_a_wrong_table_says_where(tmp_path, text, layout, said):
    with pytest.raises(InputError, match=said):
        study(tmp_path, text, **layout)


def test_a_table_becomes_judgments_on_the_command_line(tmp_path, capsys):
    file, out = tmp_path / "my.csv", tmp_path / "out.jsonl"
    file.write_text(OWN + LINES)
    assert main(["judgments", str(file), "--column", "content=Meaning", "--out", str(out)]) == 0
    assert len(read_judgments(out)) == 3
    assert "mini/negative-to-positive\tours\t1\t4.00\t5.00" in capsys.readouterr().out


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "rows", "unscored"),
    [("mir2019", 10492, 240), ("pauli2025", 1200, 0), ("tstbench2025", 15000, 0)],
)
def test_the_published_studies(name, rows, unscored, tmp_path):
    found = STUDIES[name].judgments()
    assert len(found) == rows
    assert sum(row.score is None for row in found) == unscored
    assert all((row.note is None) == (row.score is not None) for row in found)
    assert not [row for row in found if row.flag]
    write_judgments(tmp_path / "all.jsonl", found)
    assert read_judgments(tmp_path / "all.jsonl") == found
    assert "6161c4cc2d4f503e8265038e" not in (tmp_path / "all.jsonl").read_text()  # a person's id


@pytest.mark.realdata
def test_mir_is_aligned_with_texts_and_settings():
    rows = STUDIES["mir2019"].judgments()
    assert len({row.system for row in rows}) == 13  # 12 settings and the inputs themselves
    asked = [r for r in rows if r.aspect == "style_difference"]
    copies, others = [
        [r.score for r in asked if (r.source == r.output) is c] for c in (True, False)
    ]
    assert len(copies) > 50
    assert np.mean(copies) < 2 < 3 < np.mean(others)  # 1 is "identical styles"
    relative = Counter(r.model for r in rows if r.aspect == "naturalness_relative")
    assert relative == {"CAAE": 1220, "ARAE": 732, "DAR": 244}
    # Which half of the sentences is the negative one is told by their words.
    praise = {*"great good love loved best delicious friendly excellent amazing awesome".split()}
    blame = {*"not never no n't worst bad rude horrible terrible awful".split()}
    for style, own, other in (("negative", blame, praise), ("positive", praise, blame)):
        sources = {r.source for r in rows if r.direction.startswith(f"yelp/{style}-to-")}
        told, against = (sum(bool(w & {*s.split()}) for s in sources) for w in (own, other))
        assert told > 40 > 5 * against
