"""Eleven styles without references: the Corpus of Diverse Styles, as docs/your_data.md says."""

import json
import re

import pytest
from places import ROOT
from prepared import command_line, refusal

from tstbench.datasets_scripts.catalog import load_data
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.metrics.scorers.prepare import prepare
from tstbench.metrics.scorers.profile import PROFILES

pytestmark = pytest.mark.realdata

FOLDER = "FayeXXX/A-Benchmark-of-Text-Style-Transfer/Algorithms/STRAP/data_samples"
FILES = (
    *("aae", "bible", "coha_1810-1830", "coha_1890-1910", "coha_1990-2000", "english_tweets"),
    *("joyce", "lyrics", "romantic_poetry", "shakespeare", "switchboard"),
)
STYLES = tuple(file.split("-")[0] for file in FILES)  # coha_1810: no hyphen in a name
DIRECTION = "diverse/lyrics-to-bible"


@pytest.fixture
def cds(sources, tmp_path):
    def table(lines):
        return "".join(
            f'{style} = {{ file = "{sources / FOLDER / file}.txt", lines = "{lines}" }}\n'
            for style, file in zip(STYLES, FILES, strict=True)
        )

    path = tmp_path / "cds.toml"
    styles = ", ".join(f'"{style}"' for style in STYLES)
    path.write_text(
        f'name = "diverse"\ntitle = "Corpus of Diverse Styles"\nstyles = [{styles}]\n'
        f"[train]\n{table('1-900')}[test]\n{table('901-1000')}"
    )
    return path


def test_every_two_of_eleven_styles_are_a_direction(cds):
    dataset = load_data(cds)
    assert len(dataset.directions) == 11 * 10
    data = load_styles("diverse")
    assert data.styles == STYLES
    test, train = data.splits["test"], data.training
    assert [len(test.of(style)) for style in range(11)] == [100] * 11
    assert len(train) + train.excluded == 11 * 900
    assert train.excluded > 0  # the samples repeat lines
    got = load_test_set(DIRECTION)
    assert got.ids[0] == "diverse-test-7-00000"
    assert got.sources == test.of(STYLES.index("lyrics"))
    assert set(got.references) == {()}


def test_eleven_styles_are_scored_without_references(cds, capsys, tmp_path):
    load_data(cds)
    made = prepare(load_test_set(DIRECTION).direction, PROFILES["embedded"], ["acc", "ppl"])
    assert [artefact.card.styles for artefact in made] == [STYLES, ("bible",)]
    assert min(made[0].card.scores.values()) > 3 / 11  # chance is one eleventh
    bible = load_styles("diverse").splits["test"].of(STYLES.index("bible"))
    out = tmp_path / "bible.txt"
    out.write_text("".join(f"{text}\n" for text in bible))
    arguments = ("evaluate", out, "--baseline", "copy", "--direction", DIRECTION, "--data", cds)
    metrics = ("--metrics", "acc", "ppl", "s_bleu", "r_bleu", "multi_bleu")
    code, printed, err = command_line(capsys, *arguments, *metrics, "--json")
    assert code == 0, err
    reports = {r["system"]["name"]: r for r in map(json.loads, printed.splitlines())}
    values = {
        name: {score["metric"]: score["value"] for score in report["scores"]}
        for name, report in reports.items()
    }
    assert values["copy"]["s_bleu"] == 100
    assert values["bible"]["acc"] > 60 > 20 > values["copy"]["acc"]
    assert values["bible"]["ppl"] < values["copy"]["ppl"]
    for report in reports.values():
        left_out = {one["metric"]: one["why"] for one in report["left_out"]}
        assert set(left_out) == {"r_bleu", "multi_bleu"}
        assert all("reference" in why for why in left_out.values())


def test_it_is_never_published(cds, capsys, tmp_path):
    message = refusal(
        capsys, "hub", "build", tmp_path / "hub", "--datasets", "diverse", "--data", cds
    )
    assert "diverse has no licence" in message


def test_the_example_of_the_page_is_read(sources, tmp_path):
    blocks = re.findall(
        r"```toml[^\n]*\n(.*?)```", ROOT.joinpath("docs/your_data.md").read_text("utf-8"), re.DOTALL
    )
    (example,) = [block for block in blocks if 'name = "diverse"' in block]
    path = tmp_path / "cds.toml"
    path.write_text(example.replace("data_samples/", f"{sources / FOLDER}/"))
    assert len(load_data(path).directions) == 6
