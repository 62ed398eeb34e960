"""Which protocol gives a published number: every value against the tool it is named after."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import corpus_bleu, sentence_bleu
from prepared import refusal, success

from tstbench.datasets_scripts.catalog import load_data, parse_direction
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.registry import family_of
from tstbench.metrics.scorers.classifiers import kinds
from tstbench.pipelines.audit.audit import as_text, audit, variants
from tstbench.pipelines.audit.claims import parse_claim
from tstbench.pipelines.audit.protocols import Side, bleu_values, texts_of

WAYS = ("mini/negative-to-positive", "mini/positive-to-negative")


def rewrites(direction):
    """Some near the references, some near the source, one short, one with capitals."""
    test_set = load_test_set(direction, cleaning="raw")
    made = [
        refs[n % len(refs)].replace(" the ", " a ") if n % 3 and refs else source
        for n, (source, refs) in enumerate(zip(test_set.sources, test_set.references, strict=True))
    ]
    made[0], made[1] = "fine .", made[1].title()
    made[2] = made[2] + " It 's  really ( very ) good !"
    return made


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    for name, direction in zip(("a.txt", "b.txt"), WAYS, strict=True):
        (folder / name).write_text("\n".join(rewrites(direction)) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def one_way(files):
    claims = [parse_claim(text) for text in ("bleu=30", "s-bleu=30", "chrf=30")]
    return audit([str(files / "a.txt")], WAYS[:1], claims)


def value(audited, number, **choices):
    wanted = {name: text for name, text in choices.items() if name != "over"}
    (found,) = [
        one
        for one in audited.findings[number].values
        if wanted.items() <= dict(one.choices).items()
        and dict(one.choices).get("over") == choices.get("over")
    ]
    return found.value


def lowered(text, tokenizer):
    return tokenizer(text.lower().split() and " ".join(text.lower().split()))


class TestAgainstTheTools:
    raw = load_test_set(WAYS[0], cleaning="raw")
    clean = load_test_set(WAYS[0])

    def refs(self, test_set=None):
        return [list(some) for some in (test_set or self.raw).references]

    def streams(self, references):
        most = max(map(len, references))
        return [[some[k] if k < len(some) else None for some in references] for k in range(most)]

    @pytest.mark.parametrize("case", ["lower", "mixed"])
    @pytest.mark.parametrize("tok", ["13a", "intl"])
    def test_sacrebleu(self, one_way, tok, case):
        expected = sacrebleu.corpus_bleu(
            rewrites(WAYS[0]),
            self.streams(self.refs()),
            tokenize=tok,
            lowercase=case == "lower",
        ).score
        found = value(one_way, 0, refs="all 4", files="raw", tok=tok, case=case, score="sacrebleu")
        assert found == pytest.approx(expected, abs=1e-9)

    def test_sacrebleu_of_single_sentences_and_of_the_second_reference(self, one_way):
        outputs, second = rewrites(WAYS[0]), [some[1:2] for some in self.refs()]
        expected = [
            sacrebleu.sentence_bleu(o, s, tokenize="13a").score
            for o, s in zip(outputs, second, strict=True)
            if s
        ]
        found = value(
            one_way, 0, refs="2", files="raw", tok="13a", case="mixed", score="sacrebleu sent."
        )
        assert found == pytest.approx(np.mean(expected), abs=1e-9)

    def test_nltk_over_the_corpus_and_averaged_over_sentences(self, one_way):
        split = NLTKWordTokenizer().tokenize
        outputs = [lowered(text, split) for text in rewrites(WAYS[0])]
        references = [[lowered(text, split) for text in some] for some in self.refs(self.clean)]
        same = {"refs": "all 4", "files": "clean refs", "tok": "nltk", "case": "lower"}
        whole = value(one_way, 0, **same, score="nltk corpus")
        assert whole == pytest.approx(100 * corpus_bleu(references, outputs), abs=1e-9)
        with np.errstate(all="ignore"), pytest.warns(UserWarning, match="0 counts"):
            alone = [sentence_bleu(r, o) for r, o in zip(references, outputs, strict=True)]
        found = value(one_way, 0, **same, score="nltk sent.")
        assert found == pytest.approx(100 * np.mean(alone), abs=1e-9)

    def test_multi_bleu_is_sacrebleu_without_tokens_or_smoothing(self, one_way):
        expected = sacrebleu.corpus_bleu(
            [" ".join(text.split()) for text in rewrites(WAYS[0])],
            [[" ".join(some[0].split()) for some in self.refs()]],
            tokenize="none",
            smooth_method="none",
            force=True,
        ).score
        found = value(
            one_way, 0, refs="1", files="raw", tok="whitespace", case="mixed", score="multi-bleu"
        )
        assert found == pytest.approx(expected, abs=1e-9)

    def test_self_bleu_and_chrf(self, one_way):
        outputs, sources = rewrites(WAYS[0]), list(self.raw.sources)
        made = {"files": "raw", "tok": "13a", "case": "mixed", "score": "sacrebleu"}
        expected = sacrebleu.corpus_bleu(outputs, [sources]).score
        assert value(one_way, 1, refs="source", **made) == pytest.approx(expected, abs=1e-9)
        assert value(one_way, 0, refs="source", **made) == pytest.approx(expected, abs=1e-9)
        for score, order in (("chrF", 0), ("chrF++", 2)):
            for case in ("lower", "mixed"):
                tool = sacrebleu.CHRF(word_order=order, lowercase=case == "lower")
                expected = tool.corpus_score(outputs, self.streams(self.refs())).score
                found = value(one_way, 2, refs="all 4", files="raw", score=score, case=case)
                assert found == pytest.approx(expected, abs=1e-9)
        known = one_way.findings[2].known
        assert {one.known_as for one in known} == {"sacrebleu", "sacrebleu, word order 2"}
        kinds = {(dict(one.choices)["files"], dict(one.choices)["case"]) for one in known}
        assert kinds == {("raw", "mixed")}

    def test_it_is_what_evaluate_reports(self, files, one_way, capsys):
        for protocol in ("tstbench", "13a", "whitespace"):
            name = "tstbench" if protocol == "tstbench" else f"tstbench {protocol}"
            asked = f"{files}/a.txt --direction {WAYS[0]} --metrics multi_bleu --json"
            shown, _ = success(
                capsys, "evaluate", *asked.split(), "--set", f"bleu.protocol={protocol}"
            )
            score = json.loads(shown)["scores"][0]["value"]
            known = [v for v in one_way.findings[0].known if v.known_as == name]
            assert score in [pytest.approx(v.value) for v in known if "all 4" in v.protocol]


def test_two_directions_are_averaged_or_taken_together(files, one_way):
    claims = [parse_claim("bleu=30")]
    both = audit([str(files / "a.txt"), str(files / "b.txt")], WAYS, claims)
    other = audit([str(files / "b.txt")], WAYS[1:], claims)
    how = {"refs": "1", "files": "raw", "tok": "13a", "case": "mixed", "score": "sacrebleu"}
    mean = (value(one_way, 0, **how) + value(other, 0, **how)) / 2
    assert value(both, 0, **how, over="mean") == pytest.approx(mean, abs=1e-9)
    outputs, references = [], []
    for direction in WAYS:
        outputs += rewrites(direction)
        references += [r[0] for r in load_test_set(direction, cleaning="raw").references]
    together = sacrebleu.corpus_bleu(outputs, [references]).score
    assert value(both, 0, **how, over="together") == pytest.approx(together, abs=1e-9)
    assert abs(mean - together) > 0.01


class TestClaims:
    @pytest.mark.parametrize(
        ("text", "low", "high"),
        [("bleu=55.2", 55.15, 55.25), ("bleu=55", 54.5, 55.5), ("ref-BLEU=0.552", 55.15, 55.25),
         ("ppl=80", 79.5, 80.5), ("joint=0.42", 0.415, 0.425), ("bleu=0.55", 54.5, 55.5),
         ("bleu=0.5", 0.45, 0.55), ("acc=0.95", 94.5, 95.5)],
    )  # fmt: skip
    def test_the_printed_digits_say_what_reproduces_it(self, text, low, high):
        claim = parse_claim(text)
        inside, outside = 1e-6 * high, 1e-3 * high
        assert claim.is_met_by(low + inside)
        assert claim.is_met_by(high - inside)
        assert not claim.is_met_by(low - outside)
        assert not claim.is_met_by(high + outside)

    @pytest.mark.parametrize("text", ["bleu=0", "acc=100", "s_sim=-0.2", "sti=-0.4", "s_wmd=1.7"])
    def test_the_ends_of_a_scale_and_negative_cosines_are_possible(self, text):
        assert parse_claim(text).text == text.partition("=")[2]

    def test_the_known_tool_comes_first_and_of_what_none_gives_the_nearest(self, files, one_way):
        known = next(v for v in one_way.findings[0].known if v.known_as == "sacrebleu")
        claims = [parse_claim(f"bleu={known.value:.4f}"), parse_claim("bleu=99.9")]
        found = audit([str(files / "a.txt")], WAYS[:1], claims)
        met, none = (one.reproduced_by for one in found.findings)
        assert met[0].known_as
        assert all(abs(one.value - known.value) <= 1e-4 for one in met)
        assert none == ()
        values = [one.value for one in found.findings[1].values]
        assert values == sorted(values, reverse=True)
        assert f"none of {len(values)} protocols gives it; the nearest gives" in as_text(found)


class TestTheCommand:
    def test_a_table_and_its_csv(self, files, capsys):
        table = files / "published.csv"
        table.write_text(
            "system,outputs,direction,bleu,self-bleu\n"
            f"ours,a.txt,{WAYS[0]},30.1,\n"
            f"=both,a.txt;b.txt,{WAYS[0]};{WAYS[1]},,40\n"
        )
        asked = ("audit", "--table", table)
        rows = list(csv.DictReader(io.StringIO(success(capsys, *asked, "--format", "csv")[0])))
        assert {(row["system"], row["metric"], row["claim"]) for row in rows} == {
            ("ours", "bleu", "30.1"), ("'=both", "s_bleu", "40"),
        }  # fmt: skip
        assert len(json.loads(success(capsys, *asked, "--format", "json")[0])) == len(rows)
        assert len(success(capsys, *asked, "--format", "markdown")[0].splitlines()) == 4
        text, _ = success(capsys, *asked)
        assert max(map(len, text.splitlines())) <= 80
        assert text.count(" protocols") == 4
        after = text.partition("well-known tools on these files:\n")[2]
        assert after.split("\n")[0].split() == "source all 4 first ref".split()

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("system,outputs,direction\nours,a.txt,{0}\n", "no column with claimed numbers"),
            ("system,outputs,bleu\nours,a.txt,3\n", "no column direction"),
            ("system,outputs,direction,bleu\nours,a.txt,{0},high\n", "line 2: bleu is 'high'"),
            ("system,outputs,direction,bleu\nours,a.txt;b.txt,{0},3\n", "line 2: 2 outputs and 1"),
            ("system,outputs,direction,bleu\nours,none.txt,{0},3\n", "line 2: no such file"),
            ("system,outputs,direction,bleu\nours,a.txt,{0},\n", "no line has a claimed number"),
            ("system,outputs,direction,bleu\n", "no line below the header"),
            ("system,outputs,direction,bleu,bleu\nours,a.txt,{0},5,6\n", "two columns are called"),
            ("system,outputs,direction,blue\nours,a.txt,{0},3\n", "wrong.csv, column 'blue': "),
            (
                "system,outputs,direction,acc\nours,a.txt,{0},-3\n",
                "wrong.csv, line 2: acc = -3 is impossible: acc is in percent, from 0 to 100",
            ),
            (
                "system,outputs,direction,joint\nours,a.txt,{0},0.4\nours,a.txt,{0},87\n",
                "line 3: joint = 87 is impossible: joint is a fraction, from 0 to 1. If 87 was "
                "printed as a percentage, claim 0.87",
            ),
            ("system,outputs,direction,bleu\nours,a.txt,{0},nan\n", "line 2: bleu is 'nan'"),
            (
                "system,outputs,direction,bleu\nours,a.txt;b.txt;b.txt,{0};{1};{1},3\n",
                "line 2: mini/positive-to-negative is given twice",
            ),
        ],
    )
    def test_a_wrong_table_is_refused(self, files, capsys, text, said):
        table = files / "wrong.csv"
        table.write_text(text.format(*WAYS))
        assert said in refusal(capsys, "audit", "--table", table)


def test_a_classifier_that_is_not_here_is_named_and_the_others_count(files, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    success(capsys, "train", "classifier", "mini")
    found = audit([str(files / "a.txt")], WAYS[:1], [parse_claim("acc=50")])
    assert {dict(one.choices)["variant"] for one in found.findings[0].values} == {"linear"}
    missing = {note.rpartition(" ")[2] for note in found.notes}  # of "--kind textcnn"
    assert missing == {*kinds()} - {"probe", "linear"}


@pytest.mark.realdata
def test_published_outputs_on_yelp():
    """24 and 55 of one file: the shared facts on Yelp's outputs, and values of the README."""
    both = ("yelp/negative-to-positive", "yelp/positive-to-negative")
    template = ["published:template"] * 2
    found = audit(template, both, [parse_claim("bleu=24"), parse_claim("bleu=55")])
    twenty_four, fifty_five = found.findings
    assert {dict(one.choices)["refs"] for one in fifty_five.reproduced_by} == {"source"}
    assert "source" not in {dict(one.choices)["refs"] for one in twenty_four.reproduced_by}
    chatgpt = audit(["published:chatgpt"], both[:1], [parse_claim("bleu=26.2")])
    assert "tstbench" in {one.known_as for one in chatgpt.findings[0].reproduced_by}


def test_which_files_are_cleaned_is_as_the_protocol_says():
    raw = load_test_set(WAYS[0], cleaning="raw")
    clean = load_test_set(WAYS[0])
    size = len(raw.sources)
    raw = replace(raw, sources=("it 's bad .",) * size, references=(("a .", "it 's ok ."),) * size)
    clean = replace(clean, sources=("it's bad.",) * size, references=(("a.", "it's ok."),) * size)
    side = Side(("it 's good .",) * size, raw, clean)
    found = {
        (view, files): [(outputs[0], references[0]) for outputs, references in texts]
        for view in ("2", "source", "all 2", "mean of 2")
        for files in ("raw", "clean refs", "cleaned")
        for texts in [texts_of(side, view, files)]
    }
    for files, output, refs, source in (
        ("raw", "it 's good .", ("a .", "it 's ok ."), "it 's bad ."),
        ("clean refs", "it 's good .", ("a.", "it's ok."), "it's bad."),
        ("cleaned", "it's good.", ("a.", "it's ok."), "it's bad."),
    ):
        assert found["2", files] == [(output, refs[1:])]
        assert found["source", files] == [(output, (source,))]
        assert found["all 2", files] == [(output, refs)]
        assert found["mean of 2", files] == [(output, refs[:1]), (output, refs[1:])]


def test_the_mean_over_references_is_that_of_their_own_scores():
    test_set = load_test_set(WAYS[0], cleaning="raw")
    two = replace(test_set, references=tuple(some[:2] for some in test_set.references))
    side = Side(tuple(rewrites(WAYS[0])), two, two)
    found = {}
    for one in bleu_values([side], against_source=False, notes=[]):
        refs, *others = one.choices
        found.setdefault(tuple(others), {})[refs[1]] = one.value
    assert len(found) > 100
    for of in found.values():
        assert of["mean of 2"] == pytest.approx((of["1"] + of["2"]) / 2, nan_ok=True)
    assert sum(of["1"] != of["2"] for of in found.values()) > 100


def test_tokens_that_could_not_be_tried_are_told(monkeypatch):
    monkeypatch.setattr("nltk.data.path", [])
    test_set = load_test_set(WAYS[0], cleaning="raw")
    side = Side(tuple(rewrites(WAYS[0])), test_set, test_set)
    notes = []
    tried = {dict(v.choices)["tok"] for v in bleu_values([side], against_source=True, notes=notes)}
    assert tried == {"nltk", "whitespace", "13a", "intl"}
    assert len(notes) == 1
    assert "punkt_tab" in notes[0]


def test_without_a_match_of_four_words_only_sacrebleu_smooths():
    test_set = load_test_set(WAYS[0], cleaning="raw")
    broken = tuple(" ".join(some[0].split()[::-2]) for some in test_set.references)
    side = Side(broken, test_set, test_set)
    how = {"refs": "1", "files": "raw", "tok": "13a", "case": "mixed"}
    found = {
        dict(one.choices)["score"]: one.value
        for one in bleu_values([side], against_source=False, notes=[])
        if how.items() <= dict(one.choices).items()
    }
    streams = [[some[0] for some in test_set.references]]
    theirs = sacrebleu.corpus_bleu(list(broken), streams)
    assert theirs.counts[3] == 0 < theirs.counts[0]
    assert found["sacrebleu"] == pytest.approx(theirs.score) != 0
    assert found["multi-bleu"] == found["nltk corpus"] == 0


def test_a_chinese_dataset_is_scored_as_chinese(tmp_path):
    """As ``evaluate`` and sacreBLEU's ``zh`` score it; for English, each line is one word."""
    lines = ("请把门关上好吗", "您能把账单拿来吗"), ("麻烦您把门关上好吗", "您能把账单拿过来吗")
    for name, texts in zip(("ref", "out"), lines, strict=True):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n", "utf-8")
    (tmp_path / "test.txt").write_text("把门关上\n拿账单来\n", "utf-8")
    (tmp_path / "zh.toml").write_text(
        'name = "menkou"\nstyles = ["cu", "li"]\nlanguage = "zh"\n[[direction]]\nfrom = "cu"\n'
        'to = "li"\ntest = { sources = "test.txt", references = "ref.txt" }\n'
    )
    load_data(tmp_path / "zh.toml")
    claims = [parse_claim("r_bleu=50"), parse_claim("bleu=50")]
    measured, own = audit([str(tmp_path / "out.txt")], ["menkou/cu-to-li"], claims).findings
    theirs = sacrebleu.corpus_bleu(list(lines[1]), [list(lines[0])], tokenize="zh").score
    assert theirs == pytest.approx(100 * (14 / 18 * 11 / 16 * 8 / 14 * 6 / 12) ** 0.25)  # by hand
    assert [one.value for one in measured.values] == [pytest.approx(theirs)] * 2
    known = {one.known_as: one.value for one in own.known if dict(one.choices)["refs"] == "1"}
    assert known["tstbench zh"] == known["sacrebleu -tok zh"] == pytest.approx(theirs)
    assert "tstbench" not in known


@pytest.mark.parametrize(
    ("metric", "field", "values"),
    [
        ("s_bert", "reduce", {"max", "mean"}),
        ("ppl", "norm", {"words", "words+1"}),
        ("length_ratio", "text", {"paper-v1+lower+13a"}),
    ],
)
def test_every_way_that_papers_differ_in_is_tried(metric, field, values):
    """What a variant is called is what its signature will say."""
    inputs = check_inputs(["a"], ["b"], [["c"]], parse_direction(WAYS[0]))
    family = family_of(metric)
    said = [
        family.fields(metric, inputs, family.options(**one.settings.get(family.name, {})))[field]
        for one in variants(metric)
    ]
    assert (set(said), len(said)) == (values, len(values))
