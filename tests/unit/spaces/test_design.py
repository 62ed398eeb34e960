"""The look that all pages share: text can be read, and no page has colours of its own."""

import re
from collections import Counter

import pytest
from places import ROOT

from tstbench.plots.colours import KINDS, PAIRS, heat, on_heat, twins
from tstbench.spaces.templates import TOKENS, stylesheet

SPACES = ROOT / "spaces"
OWN = sorted(f for f in SPACES.rglob("*.css") if not f.samefile(TOKENS))
PAIR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
COLOURS = {name: pair for name, *pair in PAIR.findall(TOKENS.read_text("utf-8"))}
TEXT = ("ink", "muted", "accent", "fpft", "peft", "prompted", "rule", "human", "unknown")


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_text_stands_out(mode):
    """WCAG 2.2: 4.5 to 1 for text, 3 to 1 for the borders of what can be used."""
    colours = {name: pair[mode] for name, pair in COLOURS.items()}
    pairs = [(t, b) for t in TEXT for b in ("paper", "surface", "sunken")]
    pairs += [("good", "good-soft"), ("bad", "bad-soft"), ("warn", "warn-soft")]
    pairs += [("on-accent", "accent"), ("ink", "warn-soft")]
    pairs += [("ink", "accent-soft"), ("muted", "accent-soft")]
    low = [p for p in pairs if contrast(*(colours[name] for name in p)) < 4.5]
    assert low == []
    for behind in ("paper", "surface"):
        assert contrast(colours["line-strong"], colours[behind]) >= 3


def test_pictures_have_the_colours_of_the_pages():
    assert {name: list(pair) for name, pair in PAIRS.items()}.items() <= COLOURS.items()
    assert set(KINDS) <= set(PAIRS)


def test_numbers_on_a_heat_map_can_be_read():
    for step in range(-20, 21):
        ground, ink = heat(step / 20), on_heat(step / 20)
        for one, other in ((ground, ink), (twins()[ground], twins()[ink])):
            assert contrast(one, other) >= 4.5, (step, one, other)


def contrast(first, second):
    """Ratio of relative luminances, as WCAG defines it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("file", OWN, ids=lambda f: f.stem)
def test_a_page_has_no_colours_of_its_own_and_every_variable_is_there(file):
    """Shadows and what lies behind a dialog are black that shines through, in both modes."""
    css, in_html = file.read_text("utf-8"), {"--from", "--part", "--strength"}
    assert re.findall(r"#[0-9a-f]{3,8}\b(?![^{};]*\{)", css) == []
    known = set(re.findall(r"(--[\w-]+):", stylesheet(OWN))) | in_html
    assert set(re.findall(r"var\((--[\w-]+)", css)) <= known


def test_a_class_is_laid_out_once():
    """Two parts of the page that take the same name for two things would change each other."""
    files = {f.name: f.read_text("utf-8") for f in OWN if f.parent.name == "css"}
    rule = r"^(?:\.page )?\.([\w-]+) \{"
    pages, alone = Counter(), Counter()
    for css in files.values():
        pages.update(set(re.findall(rule, css, re.MULTILINE)))
        alone.update(re.findall(rf"(?<!,\n){rule}", css, re.MULTILINE))
    assert alone
    assert {name for some in (pages, alone) for name, count in some.items() if count > 1} == set()
