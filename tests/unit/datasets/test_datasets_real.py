"""The real upstream files: every trap that was found in them, counted again."""

import json

import pytest
from places import GOLDEN

from tstbench.datasets_scripts.build import build
from tstbench.datasets_scripts.catalog import CORPORA, DATASETS
from tstbench.datasets_scripts.cleaning import PAPER_V1, RAW, match_key
from tstbench.datasets_scripts.corpus import read_side
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.datasets_scripts.sources import BENCHMARK, fetch, upstream_file
from tstbench.datasets_scripts.system_outputs import SYSTEM_OUTPUTS, read_output
from tstbench.files import read_lines

pytestmark = pytest.mark.realdata
NAMES = ("yelp", "amazon", "shakespeare", "styptb_tfu", "styptb_arr")
LEAKS = {  # test sentences in a split that is no test set, as (split, style)
    "yelp": {("validation", "negative"): 0, ("validation", "positive"): 0},
    "amazon": {
        ("mined", "negative"): 0,
        ("mined", "positive"): 0,
        ("validation", "negative"): 0,
        ("validation", "positive"): 0,
    },
    "shakespeare": {("validation", "shakespearean"): 9, ("validation", "modern"): 25},
    "styptb_tfu": {("validation", "present"): 3, ("validation", "future"): 3},
    "styptb_arr": {("validation", "modified"): 0, ("validation", "unmodified"): 0},
}
ABSENT = {"yelp": {"train"}, "amazon": {"train"}}  # the mirror lacks what is large
GOLDEN = json.loads(GOLDEN.joinpath("fingerprints.json").read_text())


@pytest.fixture(scope="module")
def reports(sources, tmp_path_factory):
    out = tmp_path_factory.mktemp("built")
    return {name: build(name, out, allow_missing=True) for name in NAMES}


def raw_lines(path):
    return read_lines(fetch(upstream_file(BENCHMARK, f"Dataprepro/datasets/{path}")))


def quality(report, part, style):
    (found,) = (q for q in report.quality if (q.part, q.style) == (part, style))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_fingerprints_are_the_recorded_ones(reports, name):
    """They change with a new version, cleaning or step only: say so in the CHANGELOG."""
    assert reports[name].fingerprints == GOLDEN["fingerprints"][name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cleaning", ["paper-v1", "raw"])
def test_scorers_never_see_a_test_sentence(sources, name, cleaning):
    data = load_styles(name, cleaning=cleaning)
    forbidden = set()
    for direction in DATASETS[name].directions:
        test = load_test_set(direction, cleaning=cleaning)
        for texts in (test.sources, *test.references):
            forbidden |= {" ".join(text.lower().split()) for text in texts}
    for part in {*data.splits} - ABSENT.get(name, set()):
        seen = {" ".join(text.lower().split()) for text in data.splits[part].texts}
        assert bool(forbidden & seen) == (part == "test")
        assert "" not in seen


def test_yelp_development_files_hold_the_whole_test_set(sources):
    test = set(raw_lines("yelp/test.0")) | set(raw_lines("yelp/test.1"))
    dev = [raw_lines("yelp/dev.0"), raw_lines("yelp/dev.1")]
    assert [len(lines) for lines in dev] == [25_278, 38_205]
    assert len(test) == 1000
    assert test <= set(dev[0]) | set(dev[1])
    for style in (0, 1):
        side = read_side(CORPORA["yelp"], "validation", style, RAW)
        # 502 and 508 lines: 1,000 sentences, some of them more than once
        assert (len(side.texts), side.removed) == ((24_776, 502), (37_697, 508))[style]
        assert not test & set(side.texts)
        for line, text in zip(side.lines[::500], side.texts[::500], strict=True):
            assert dev[style][line] == text  # ids still point at upstream's lines
    assert load_styles("yelp").training.name == "validation"  # pinned
    assert load_styles("yelp").training.excluded == 47  # rewrites that people also wrote as reviews


def test_yelp_has_four_references_although_three_files_lack_the_last_newline(sources):
    file = fetch(upstream_file(BENCHMARK, "Dataprepro/datasets/yelp/reference1.0"))
    assert not file.read_bytes().endswith(b"\n")
    for direction in DATASETS["yelp"].directions:
        got = load_test_set(direction)
        assert (len(got), {len(refs) for refs in got.references}) == (500, {4})


def test_amazon_uses_the_references_that_are_written_as_its_sentences(reports):
    got = load_test_set("amazon/negative-to-positive", cleaning="raw")
    assert [refs[0] for refs in got.references] == raw_lines("amazon/reference.0")
    assert not any(c.isupper() for refs in got.references for c in refs[0])
    report = reports["amazon"]
    assert report.rows["negative-to-positive"] == {"validation": 1015, "test": 500}
    assert report.rows["positive-to-negative"] == {"validation": 985, "test": 500}
    assert list(report.left_out) == ["train"]
    mined = load_styles("amazon").training
    assert mined.name == "mined"
    keys = list(map(match_key, mined.texts))
    assert len(keys) > 80_000
    assert len(set(keys[: len(mined.of(0))])) == len(mined.of(0))  # each once within its style


def test_shakespeare_references_are_the_other_side(reports):
    assert raw_lines("shakespeare/ref.0") == raw_lines("shakespeare/test.0")  # upstream's trap
    for style, direction in enumerate(DATASETS["shakespeare"].directions):
        got = load_test_set(direction, cleaning="raw")
        assert list(got.sources) == raw_lines(f"shakespeare/test.{style}")
        assert [refs[0] for refs in got.references] == raw_lines(f"shakespeare/test.{1 - style}")
    assert reports["shakespeare"].rows["modern-to-shakespearean"] == {
        "train": 18_395,
        "validation": 1218,
        "test": 1462,
    }


@pytest.mark.parametrize(
    ("name", "overlap"),
    [("shakespeare", (53, 68)), ("styptb_tfu", (25, 25)), ("styptb_arr", (8, 9))],
)
def test_overlap_of_test_and_train_is_kept_counted_and_shown(reports, name, overlap):
    card = (reports[name].folder / "README.md").read_text()
    for style, want in zip(DATASETS[name].styles, overlap, strict=True):
        found = quality(reports[name], "train", style)
        assert found.test_overlap == want
        assert f"| train | {style} | {found.rows:,} | 0 | 0 | {found.duplicates:,} |" in card


@pytest.mark.parametrize(
    ("name", "rows"), [("styptb_tfu", (6544, 363, 364)), ("styptb_arr", (4376, 243, 243))]
)
def test_styleptb_goes_one_way_only(reports, name, rows):
    (direction,) = DATASETS[name].directions
    assert tuple(reports[name].rows[direction.config].values()) == rows
    assert set(reports[name].rows) == {"default", direction.config, "styles"}


@pytest.mark.parametrize("name", NAMES)
def test_no_split_has_empty_lines_or_a_leak_it_does_not_report(reports, name):
    assert len(reports[name].quality) >= 4, "two styles, in two splits at least"
    for found in reports[name].quality:
        assert found.empty == 0
        assert found.words[0] >= 1
        assert found.words[3] <= 64
    overlap = {
        (q.part, q.style): q.test_overlap
        for q in reports[name].quality
        if q.part in ("validation", "mined")
    }
    assert overlap == LEAKS[name]


@pytest.mark.parametrize("name", NAMES)
def test_test_sets_agree_in_words_whatever_the_cleaning(sources, name):
    for direction in DATASETS[name].directions:
        paper, raw = (load_test_set(direction, cleaning=c) for c in ("paper-v1", "raw"))
        assert paper.ids == raw.ids
        assert paper.sources == tuple(map(PAPER_V1, raw.sources))
        assert list(map(match_key, paper.sources)) == list(map(match_key, raw.sources))


def test_system_outputs_are_aligned_with_the_test_sets(sources):
    for output in SYSTEM_OUTPUTS:
        got = read_output(output, load_test_set(output.direction).sources)
        assert len(got) == len(load_test_set(output.direction).sources) > 0
        assert all(got)
    assert len(SYSTEM_OUTPUTS) == 26
