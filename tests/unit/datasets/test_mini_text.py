"""The sentences of the mini dataset: layout, distinctness, and references in their places."""

import re
from collections import Counter

import numpy as np
import pytest
from places import ROOT
from sklearn.feature_extraction.text import TfidfVectorizer

DATA = ROOT / "datasets_scripts" / "mini" / "data"
STYLES = (0, 1)  # negative, positive: the suffix of each file
REFERENCES = tuple(f"reference{k}" for k in range(4))
SIZES = {"train": 739, "dev": 60, "test": 40} | dict.fromkeys(REFERENCES, 40)
FILES = [f"{part}.{style}" for part in SIZES for style in STYLES]


def lines(part: str, style: int) -> list[str]:
    return (DATA / f"{part}.{style}").read_text("utf-8").splitlines()


def test_the_folder_holds_the_files_of_the_layout_and_no_others():
    assert sorted(path.name for path in DATA.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_files_are_plain_lower_case_lines(name):
    raw = (DATA / name).read_bytes()
    assert raw.endswith(b"\n")
    text = raw.decode("ascii")
    assert "\r" not in text
    sentences = text[:-1].split("\n")
    assert len(sentences) == SIZES[name.split(".")[0]]
    for sentence in sentences:
        assert re.fullmatch(r"[a-z0-9',:;-]+( [a-z0-9',.:;!?-]+)+", sentence), sentence
        assert sentence[-1] in ".!?", sentence
        assert not re.search(r"\s[,.:;!?]", sentence), sentence
        assert 3 <= len(sentence.split()) <= 25, sentence


def test_no_sentence_occurs_twice_anywhere():
    """Covers leaks between splits, copied sources among the references, and equal references."""
    seen = Counter(line for part in SIZES for style in STYLES for line in lines(part, style))
    assert [line for line, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("part", REFERENCES)
def test_references_are_aligned_with_their_sources(part, style):
    """The nearest source is the line's own; a shifted file would score about 1 in 40."""
    sources = lines("test", style)
    weights = TfidfVectorizer().fit(sources)
    similarity = weights.transform(lines(part, style)) @ weights.transform(sources).T
    own_line = similarity.toarray().argmax(1) == np.arange(SIZES["test"])
    assert own_line.mean() >= 0.9
