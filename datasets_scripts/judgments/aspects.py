"""What raters are asked: the aspects of the protocol, their scales and anchors.

Source of the guidelines: the TSTBench paper, section 3.3.2; the other tasks are those of Mir et al.
(2019), "Evaluating Style Transfer for Text", sections 4.2 and 5.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from .schema import parse_scale


@dataclass(frozen=True)
class Aspect:
    """One question that raters answer, and the anchors that keep them on one scale."""

    name: str
    title: str
    question: str
    scale: str
    anchors: dict[int, str] = field(default_factory=dict)

    def choices(self) -> range:
        """The whole numbers of the scale, lowest first."""
        scale = parse_scale(self.scale)
        return range(math.ceil(scale.low), math.floor(scale.high) + 1)


STYLE = Aspect(
    "style",
    "Style",
    "How far is the output in the target style?",
    "ordinal 1-5",
    {5: "fully in the target style", 3: "partly transformed", 1: "style unchanged"},
)
CONTENT = Aspect(
    "content",
    "Content",
    "How much of the source's meaning, style aside, is kept?",
    "ordinal 1-5",
    {5: "same meaning", 3: "same meaning, put differently", 1: "entirely different meaning"},
)
FLUENCY = Aspect(
    "fluency",
    "Fluency",
    "Does the output read as a correct sentence?",
    "ordinal 1-5",
    {5: "no grammatical error", 3: "minor errors, still understood", 1: "incoherent"},
)
OVERALL = Aspect(
    "overall",
    "Overall",
    "All in all, how good is the output? Usually the mean of the three; 0.6 times that if it only "
    "repeats its source.",
    "ordinal 1-5",
)
# Computed, not asked: no rater has said it.
DERIVED_OVERALL = Aspect(
    "derived_overall",
    "Derived overall",
    "Mean of the three, times 0.6 where the output equals the source.",
    "interval 0.6-5",
)
CONTENT_MASKED = replace(
    CONTENT,
    name="content_masked",
    title="Content, style masked",
    question="Style words are masked. How alike is the meaning of the two texts?",
)
NATURALNESS = Aspect(
    "naturalness_relative",
    "Output more natural than source",
    "Which text is more natural, that is, more likely to be written by a person?",
    "nominal 0-1",
    {0: "the source is more natural", 1: "the output is more natural"},
)
STYLE_DIFFERENCE = replace(
    STYLE,
    name="style_difference",
    title="Difference of style",
    question="How different are the styles of the two texts?",
    anchors={5: "completely different styles", 1: "identical styles"},
)
NATURALNESS_ABSOLUTE = Aspect(
    "naturalness",
    "Naturalness",
    "How natural is the text, that is, how likely to be written by a person?",
    "ordinal 1-5",
    {5: "surely written by a person", 1: "surely not"},
)
RATED = (STYLE, CONTENT, FLUENCY)
_OTHERS = (
    OVERALL,
    DERIVED_OVERALL,
    STYLE_DIFFERENCE,
    CONTENT_MASKED,
    NATURALNESS,
    NATURALNESS_ABSOLUTE,
)
ASPECTS: dict[str, Aspect] = {aspect.name: aspect for aspect in (*RATED, *_OTHERS)}
