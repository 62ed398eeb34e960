"""Which aspect of a metric each question to people is about."""

from __future__ import annotations

from collections.abc import Mapping

# What people were asked, by the aspect that metrics declare.
NATURAL: Mapping[str, str] = {
    "style": "style",
    "style_difference": "style",
    "content": "content",
    "content_masked": "content",
    "fluency": "fluency",
    "naturalness": "fluency",
    "naturalness_relative": "fluency",
    "overall": "overall",
    "derived_overall": "overall",
}
