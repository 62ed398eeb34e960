"""``python -m published_tables``: the published tables, computed again."""

from dataclasses import replace

import numpy as np
import pytest
from published_tables import (
    balanced_accuracy,
    main,
    overall_weights,
    printed_means,
    published,
    published_tables,
)


def test_balanced_accuracy_by_hand():
    people, right = np.array([0, 0, 0, 1]), np.array([1.0, 1, 1, 0])
    assert balanced_accuracy(right, people, np.arange(4), None).tolist() == [0.5]
    always = balanced_accuracy(np.array([1.0, 1, 0, 1]), people, np.arange(4), None)
    assert always.tolist() == [pytest.approx(5 / 6)]


@pytest.mark.realdata
def test_every_cell_of_mir_et_al_is_as_printed():
    cells = published_tables()
    assert len(cells) == 60
    assert [cell for cell in cells if not cell.same] == []


@pytest.mark.realdata
def test_every_mean_of_the_benchmarks_paper_follows_from_its_scores():
    means = printed_means()
    assert len(means) == 375
    assert [mean for mean in means if not mean.same] == []
    near = replace(means[0], computed=means[0].computed + 0.001)
    assert not near.same, "the third digit counts"
    assert max(overall_weights(), key=overall_weights().get) == "style"


@pytest.mark.realdata
def test_published_tables_have_averages_and_the_constant_answer():
    text = published("mir2019", 100)
    assert "| Average | 0.516 | 0.543 | 0.537 | 0.558 |" in text
    assert "| Average | 0.425 | 0.455 | 0.323 | 0.455 | 0.458 | 0.490 |" in text
    assert "| CAAE | always the input | 86.2 | 50.0 |" in text


def test_a_study_without_published_tables_is_told(capsys):
    assert main(["li2018"]) == 2
    assert "unknown study with published scores 'li2018'" in capsys.readouterr().err
