"""``tstbench style-invariance``: its numbers by hand, its files, and what it refuses."""

import csv
import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from own_data import write_lines
from prepared import command_line, refusal, success
from sklearn.neighbors import NearestNeighbors
from tiny_models import make_bert

from tstbench.metrics.scorers.word_vectors import WordVectors
from tstbench.pipelines.style_invariance.arithmetic import style_invariance
from tstbench.pipelines.style_invariance.measure import (
    InvarianceOptions,
    find_embedding,
    measure,
    sample_styles,
    summed,
)
from tstbench.pipelines.style_invariance.report import file_names, matrix_table, terminal

MOODS = """\
name = "moods"
styles = ["glad", "sad", "cross"]
licence = "cc0-1.0"

[train]
glad = "glad.txt"
sad = "sad.txt"
cross = "cross.txt"

[[direction]]
from = "glad"
to = "sad"
test = { sources = "test.txt", references = ["test.ref.txt"] }

[[direction]]
from = "sad"
to = "cross"
test = { sources = "sad.test.txt", references = ["sad.ref.txt"] }
"""
# One number a direction: a style's words point to one side, "tea" to all.
VECTORS = "sun 1 0 0\nrain 0 1 0\nrow 0 0 1\ntea 1 1 1\n"
TEXTS = {
    "glad": ["sun", "sun tea", "sun rain", "zzz"],
    "sad": ["rain", "rain tea", "rain row"],
    "cross": ["row", "row tea", "row sun", "row row tea"],
    "test": ["tea"],
    "sad.test": ["tea row"],
    "sad.ref": ["tea sun"],
    "test.ref": ["tea tea"],
}
WORD = {"sun": (1, 0, 0), "rain": (0, 1, 0), "row": (0, 0, 1), "tea": (1, 1, 1)}


@pytest.fixture
def moods(tmp_path) -> Path:
    """Three styles, and one sentence without a known word."""
    folder = tmp_path / "moods"
    folder.mkdir()
    for name, lines in TEXTS.items():
        write_lines(folder / f"{name}.txt", lines)
    (folder / "moods.toml").write_text(MOODS)
    (folder / "vectors.txt").write_text(VECTORS)
    return folder


def by_hand(style: str) -> list[tuple[float, ...]]:
    """Sums of the words' vectors, without the sentences that have none."""
    sums = [
        tuple(map(sum, zip(*(WORD[w] for w in text.split() if w in WORD), strict=True)))
        for text in TEXTS[style]
    ]
    return [one for one in sums if one]


def cosine(a, b) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))


def call(capsys, moods, *arguments):
    out, _ = success(
        capsys, "style-invariance", "moods", "--data", moods / "moods.toml", *arguments
    )
    return out


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8") as stream:
        return list(csv.reader(stream))


class TestNumbers:
    def test_a_sentence_is_the_sum_of_its_words(self):
        vectors = WordVectors(list(WORD), np.array(list(WORD.values()), dtype=np.float32))
        found = summed(vectors, ["sun sun tea", "zzz", "", "zzz rain"])
        assert found.tolist() == [[3, 1, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]]

    @pytest.mark.parametrize("self_pairs", [False, True])
    def test_the_matrix_of_a_vectors_file_by_hand(self, capsys, moods, tmp_path, self_pairs):
        out = tmp_path / "out"
        more = ["--self-pairs"] if self_pairs else []
        call(capsys, moods, "--embedding", moods / "vectors.txt", "--permutations", 20,
             "--out", out, *more)  # fmt: skip
        header, *rows = rows_of(out / "file-vectors-raw.csv")
        styles = ["glad", "sad", "cross"]
        assert header == ["style", *styles]
        assert [row[0] for row in rows] == styles
        for i, one in enumerate(styles):
            for j, other in enumerate(styles):
                pairs = [
                    cosine(a, b)
                    for n, a in enumerate(by_hand(one))
                    for m, b in enumerate(by_hand(other))
                    if self_pairs or one != other or n != m
                ]
                value = float(rows[i][j + 1])
                assert value == pytest.approx(sum(pairs) / len(pairs), abs=1e-8)
        found = json.loads((out / "style_invariance.json").read_text())["embeddings"][0]
        assert found["used"] == [3, 3, 4]
        assert found["left_out"] == [1, 0, 0]
        assert f"self_pairs:{'yes' if self_pairs else 'no'}" in found["signature"]

    def test_the_encoder_gives_what_the_function_does(self, moods, tmp_path, monkeypatch):
        monkeypatch.setenv("TSTBENCH_DATA", "")
        from tstbench.datasets_scripts.catalog import load_data

        load_data(moods / "moods.toml")
        bert = make_bert(tmp_path / "tiny")
        sample = sample_styles("moods", most=9)
        options = InvarianceOptions(permutations=30, seed=4)
        layer = find_embedding(f"{bert}@1", sample)
        last = find_embedding(str(bert), sample)
        assert (last.name, layer.name, last.fields["layer"]) == ("tiny", "tiny@1", 3)
        one, other = (measure(embedding, sample, options) for embedding in (last, layer))
        for form, found in one.forms.items():
            expected = style_invariance(
                last.vectors(sample.texts), sample.labels, centred=form == "centred",
                permutations=30, seed=4,
            )  # fmt: skip
            np.testing.assert_allclose(found.similarities, expected.similarities)
            assert found.gap_p_value == expected.gap_p_value
            assert not np.allclose(found.similarities, other.forms[form].similarities)
        assert str(one.signature) != str(other.signature)

    @pytest.mark.slow
    def test_word2vec_is_trained_on_the_dataset_itself(self, capsys, tstbench_home):
        pytest.importorskip("gensim")
        call = ["style-invariance", "mini", "--embedding", "word2vec", "--permutations", 20]
        out, err = success(capsys, *call)
        assert "training the word vectors of mini" in err
        # By default a word that occurs once is known, so no sentence is left out.
        assert "word2vec:mini, raw" in out
        assert "left out" not in out
        cards = [json.loads(p.read_text()) for p in tstbench_home.rglob("scorer.json")]
        assert [card["trained_on"].split()[0] for card in cards] == ["mini/train"]
        _, again, err = command_line(capsys, *call)
        assert again == out
        assert "training" not in err

    def test_an_encoder_gives_each_sentence_its_own_vector(self, tmp_path):
        """Whatever repeats, and however many there are at once."""
        sample = sample_styles("mini", most=3)
        embedding = find_embedding(str(make_bert(tmp_path / "tiny")), sample)
        texts = ["good food", "bad food", "good food", "the staff was kind", "bad food"]
        alone = np.concatenate([embedding.vectors([text]) for text in texts])
        np.testing.assert_allclose(embedding.vectors(texts), alone, atol=1e-6)

    def test_nearest_sentences_are_those_of_scikit_learn(self, tmp_path):
        sample = sample_styles("mini", most=30)
        embedding = find_embedding(str(make_bert(tmp_path / "tiny")), sample)
        vectors = embedding.vectors(sample.texts)
        nearest = NearestNeighbors(n_neighbors=10, metric="cosine").fit(vectors).kneighbors()[1]
        found = measure(embedding, sample, InvarianceOptions(permutations=1, points=30)).map
        own = (sample.labels[nearest] == sample.labels[:, None]).mean()
        assert found.neighbours == pytest.approx(own)
        assert found.neighbours_by_chance == pytest.approx(29 / 59)


class TestSentences:
    def test_a_sample_of_each_style_is_seeded(self):
        one, same, other = (sample_styles("mini", most=40, seed=seed) for seed in (1, 1, 2))
        assert np.bincount(one.labels).tolist() == [40, 40]
        assert one.texts == same.texts
        assert one.fingerprint == same.fingerprint
        assert one.texts != other.texts
        split, drawn = one.data.training, []
        for style in (0, 1):
            own = [t for t, s in zip(one.texts, one.labels, strict=True) if s == style]
            places = [split.of(style).index(text) for text in own]
            assert places == sorted(set(places)), "in order, none drawn twice"
            drawn.append(places)
        assert drawn[0] != drawn[1], "each style has draws of its own"
        every = sample_styles("mini", most=10**6)
        assert len(every.texts) == len(every.data.training) == sum(every.available)

    def test_a_repeated_sentence_is_counted(self, moods, capsys, tmp_path):
        write_lines(moods / "sad.txt", ["rain", "rain", "rain tea", "rain"])
        out = tmp_path / "out"
        call(capsys, moods, "--embedding", moods / "vectors.txt", "--permutations", 5,
             "--out", out)  # fmt: skip
        assert json.loads((out / "style_invariance.json").read_text())["repeated"] == [0, 2, 0]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """mini by a tiny encoder at two layers, and one of them again."""
    bert = make_bert(tmp_path_factory.mktemp("model") / "tiny")
    root = tmp_path_factory.mktemp("invariance")
    from tstbench.commands.cli import main

    for name, layers in (("one", ("", "@0")), ("same", ("@0", "@00"))):
        embeddings = [part for layer in layers for part in ("--embedding", f"{bert}{layer}")]
        arguments = ["--sentences", "40", "--permutations", "50", "--points", "30"]
        arguments += ["--out", str(root / name)]
        assert main(["style-invariance", "mini", *embeddings, *arguments]) == 0
    return root


class TestFiles:
    @pytest.mark.slow
    def test_every_embedding_in_every_form(self, made):
        names = {p.name for p in (made / "one").iterdir()}
        pictures = {
            f"{name}-{what}.{end}"
            for name in ("tiny", "tiny-0")
            for what in ("raw", "centred", "map")
            for end in ("csv", "png", "svg")
        }
        assert names == {*pictures, "README.md", "style_invariance.json", "comparison.csv"}
        for name in pictures:
            path = made / "one" / name
            if name.endswith("png"):
                assert path.read_bytes().startswith(b"\x89PNG")
            elif name.endswith("svg"):
                text = "".join(ET.parse(path).getroot().itertext())
                assert "negative" in text
                assert "positive" in text

    def test_the_same_call_gives_the_same_bytes(self, made):
        again = sorted((made / "same").glob("tiny-0-*"))
        assert len(again) == len(list((made / "same").glob("*.*g"))) + 3 == 9  # once
        for path in again:
            assert path.read_bytes() == (made / "one" / path.name).read_bytes(), path.name

    def test_the_page_shows_what_is_there(self, made):
        text = (made / "one" / "README.md").read_text()
        linked = re.findall(r"\]\(([^)]+)\)", text)
        assert len(linked) == 6
        assert all((made / "one" / name).is_file() for name in linked)
        found = json.loads((made / "one" / "style_invariance.json").read_text())
        for one in found["embeddings"]:
            assert f"`{one['signature']}`" in text
            assert one["map"]["points"] == 2 * 30
        assert str(made) not in text

    def test_the_comparison_says_what_the_matrices_say(self, made):
        header, *rows = rows_of(made / "one" / "comparison.csv")
        table = [dict(zip(header, row, strict=True)) for row in rows]
        found = json.loads((made / "one" / "style_invariance.json").read_text())
        forms = [(one, form) for one in found["embeddings"] for form in ("raw", "centred")]
        for row, (one, form) in zip(table, forms, strict=True):
            assert (row["embedding"], row["form"]) == (one["name"], form)
            for name in ("self_similar", "expected", "p_value", "gap", "gap_p_value"):
                assert float(row[name]) == one[form][name]
            assert float(row["percentage"]) == 50 * one[form]["self_similar"]

    def test_it_replaces_only_what_it_wrote(self, moods, capsys, tmp_path):
        out = tmp_path / "out"
        more = ["--embedding", moods / "vectors.txt", "--permutations", 5, "--out", out]
        call(capsys, moods, *more)
        call(capsys, moods, *more)  # its own is replaced
        (out / "mine.txt").write_text("notes")
        said = refusal(capsys, "style-invariance", "moods", "--data", moods / "moods.toml", *more)
        assert "did not write" in said
        assert (out / "mine.txt").read_text() == "notes"

    def test_file_names_differ(self):
        class Named:
            def __init__(self, name):
                self.embedding = type("Embedding", (), {"name": name})()

        names = file_names([Named(n) for n in ("a b", "a|b", "a:b", "../..", "")])
        assert names == ["a-b", "a-b~2", "a-b~3", "embedding", "embedding~2"]


class TestTerminal:
    def test_eighty_columns_however_long_the_names(self, moods, capsys):
        long = moods / f"{'vectors' * 12}.txt"
        long.write_text(VECTORS)
        out = call(capsys, moods, "--embedding", long, "--permutations", 20)
        assert max(map(len, out.splitlines())) <= 80
        assert "3 to 4 sentences each" in out
        assert "left out, no word known: glad 1" in out

    def test_it_marks_styles_that_are_most_similar_to_themselves(self, moods, snapshot):
        from tstbench.datasets_scripts.catalog import load_data

        load_data(moods / "moods.toml")
        sample = sample_styles("moods", most=9)
        found = measure(
            find_embedding(str(moods / "vectors.txt"), sample),
            sample,
            InvarianceOptions(permutations=10, points=0),
        )
        assert found.map is None
        assert terminal(sample, InvarianceOptions(), [found]) == snapshot
        raw = replace(found.forms["raw"], most_similar=((0, 1), (1,), (2,)))
        tied = matrix_table(sample, replace(found, forms={"raw": raw}), "raw")
        assert [row[-1] for row in tied.rows] == ["glad, sad", "sad *", "cross *"]


@pytest.mark.parametrize(
    ("sad", "vectors", "said"),
    [
        (["rain"], VECTORS, "style 'sad' has 1 sentence;"),
        (["rain", "more rain"], "sun 1 0\nrow 0 1\n",
         "a vector for 0 of the sentences of style 'sad' (moods)"),
        (["rain", "more rain"], "sun 1 0\nrain 1\n", "vectors.txt"),
        (["rain", "more rain"], None, "layers 0 to 3"),
    ],
)  # fmt: skip
def test_what_is_refused(capsys, moods, sad, vectors, said):
    write_lines(moods / "sad.txt", sad)
    embedding = moods / "vectors.txt"
    if vectors is None:
        embedding = f"{make_bert(moods / 'tiny')}@9"
    else:
        embedding.write_text(vectors)
    call = ("moods", "--data", moods / "moods.toml", "--embedding", embedding)
    assert said in refusal(capsys, "style-invariance", *call)
