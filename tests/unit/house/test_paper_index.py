"""docs/paper_index.md names settings that exist, and no trained system is missing from it."""

import re
from dataclasses import fields

import pytest
from places import ROOT

from tstbench.metrics.options import choices, parse_settings
from tstbench.trainers.system import SYSTEMS, system_class

PAGE = (ROOT / "docs" / "paper_index.md").read_text("utf-8")
HEADED = re.findall(r"^## ([\w-]+)(.*?)(?=^## |\Z)", PAGE, flags=re.M | re.S)
SECTIONS = {name: text for name, text in HEADED if name.lower() in SYSTEMS}
PAPERS = [
    name
    for name in SYSTEMS
    if system_class(name).Config is not None and system_class(name).FAMILY in ("fpft", "peft")
]
PROMPTED = "chatgpt"  # its section is for all prompted systems


def test_every_system_of_a_paper_has_its_section():
    assert sorted([*PAPERS, PROMPTED]) == sorted(name.lower() for name in SECTIONS)


def test_every_option_of_a_metric_that_is_named_is_accepted():
    named = re.findall(r"`(\w+)\.(\w+)=([^`]+)`", PAGE)
    assert named
    for metric, option, value in named:
        choices(parse_settings([f"{metric}.{option}={value}"]))


@pytest.mark.parametrize("section", SECTIONS)
def test_every_setting_that_is_named_exists(section):
    kind = system_class(section.lower())
    kinds = [settings for settings in (kind.Config, kind.Settings) if settings is not None]
    known = {f.name for settings in kinds for f in fields(settings)}
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("| ")]
    rows = [line[1:-1].split("|") for line in lines]
    assert len(rows) > 10
    named = set()
    for row in rows[2:]:
        assert len(row) == 4, row
        for quoted in re.findall(r"`([^`]+)`", row[1]):
            if not quoted.startswith("--") and "/" not in quoted and "(" not in quoted:
                named.add(re.split(r"[ =]", quoted)[0])
    assert len(named) > 5
    assert named <= known, f"no such settings: {sorted(named - known)}"
