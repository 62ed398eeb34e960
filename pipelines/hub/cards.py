"""The cards of what is published: of results, outputs, judgments, and of models with scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import yaml
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.judgments.schema import Judgment
from ...datasets_scripts.judgments.studies import STUDIES
from ...metrics.scorers.artefacts import ScorerCard

RESULTS_CARD = """\
---
pretty_name: TSTBench results
license: other
license_name: scores-apache-2.0-sentences-as-their-datasets
{language}tags:
- text-style-transfer
- leaderboard
configs:
- config_name: default
  data_files:
  - split: scores
    path: scores.parquet
---
# TSTBench results

One row per score of a system on a direction, each training seed for itself: value, 95% interval,
unit, rank, the signature that lists everything the value depends on, and the versions of the
libraries used. Only rows with equal signatures may be compared.

```python
pandas.read_parquet("hf://datasets/tstbench/results/scores.parquet")
```

`scores.parquet` is made from the folders `<dataset>/<direction>/<system>/` beside it. They contain
the full reports (`report.json`), every sentence with its scores (`samples.jsonl`), the bootstrap
replicates (`replicates.parquet`) and, per direction, the paired significance (`significance.json`).
Each report names the origin of its outputs. `human.jsonl`, if present, has human judgments of the
same outputs; each study has its own terms.

## Licence

Scores and reports: Apache-2.0. The sentences in `samples.jsonl` have the terms of their dataset
and of the outputs' origin; those of a licensed dataset (GYAFC) are left out.
"""

OUTPUTS_CARD = """\
---
pretty_name: TSTBench system outputs
license: other
license_name: terms-of-each-origin
{language}tags:
- text-style-transfer
configs:
- config_name: default
  data_files:
  - split: test
    path: outputs.jsonl
---
# TSTBench system outputs

The predictions behind tstbench/results: `direction`, `system`, `id` of the test sentence,
`prediction`, and the `origin` of the outputs.

## Licence

There is no single one: the terms of each `origin` apply to its rows, and those of the dataset to
what they rewrite.
"""

COLUMNS: Mapping[str, str] = {
    "study": "name of the study",
    "dataset": "whose sentences were rewritten",
    "direction": "`dataset/source-to-target`",
    "system": "who made the output",
    "sample_id": "id of the sentence; null if the study published none",
    "source": "the sentence; null if it was not published or may not be",
    "output": "the rewrite; null in the same cases",
    "aspect": "what was judged",
    "scale": "level of measurement and range, such as `ordinal 1-5`",
    "rater": "a pseudonym, or the name of an average",
    "score": "on the scale, unless `flag` says otherwise; null if there is none",
    "note": "why a score is missing, or what the rater wrote",
    "item": "the study's own number of a sentence without an id: pairs scores, names no text",
    "model": "the model of which `system` is one setting",
    "condition": "what was varied when the output was made",
    "certain": "whether the public output of the system is certainly the rated one",
    "flag": "`impossible`: published, but not on the scale; kept, and not to be averaged",
}


def language_yaml(datasets: Iterable[str]) -> str:
    """A card's line ``language`` for texts of these datasets; of one not known here, nothing."""
    codes = {DATASETS[name].language for name in datasets if name in DATASETS}
    return yaml.safe_dump({"language": sorted(codes)})  # in quotes where YAML reads 'no' as false


def scorer_scores(card: ScorerCard) -> list[EvalResult]:
    """What was measured when a scorer was trained, for its card."""
    return [
        EvalResult(
            task_type="text-classification",
            dataset_type=card.dataset,
            dataset_name=card.trained_on,
            metric_type=name,
            metric_value=value,
        )
        for name, value in card.scores.items()
    ]


def with_scores(text: str, name: str, scores: list[EvalResult]) -> bytes:
    """The card with a ``model-index``; unchanged if there are no scores."""
    if not scores:
        return text.encode()
    card = ModelCard(text)
    data = cast(ModelCardData, card.data)
    data.model_name = name
    data.eval_results = scores
    return str(card).encode()


def judgments_card(found: Mapping[str, Sequence[Judgment]]) -> str:
    """The README: configurations, columns, and the terms and provenance of every study."""
    configs = "".join(
        f"- config_name: {name}\n  data_files:\n  - split: judgments\n    path: {path}\n"
        for name, path in [
            ("default", "data/*.parquet"),
            *((n, f"data/{n}.parquet") for n in found),
        ]
    )
    columns = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in COLUMNS.items())
    studies = "\n\n".join(_study(name, rows) for name, rows in found.items())
    return f"""\
---
pretty_name: TSTBench human judgments
license: other
license_name: terms-of-each-study
{language_yaml(row.dataset for rows in found.values() for row in rows)}tags:
- text-style-transfer
configs:
{configs}---
# TSTBench human judgments

What people said about the outputs of text style transfer systems, in one schema: one row per
judgment of one rater, or per published average. `tstbench meta-evaluate` measures how far metrics
agree with them.

| column | meaning |
| --- | --- |
{columns}

Studies asked different questions of different people: never average their scores together.

## Studies, licences and provenance

There is no single licence: the terms of each study apply to its rows.

{studies}
"""


def _study(name: str, rows: Sequence[Judgment]) -> str:
    aspects = ", ".join(dict.fromkeys(row.aspect for row in rows))
    systems = len({(row.direction, row.system) for row in rows})
    directions = len({row.direction for row in rows})
    flagged = sum(row.flag is not None for row in rows)
    size = (
        f"{len(rows)} rows: {aspects}; {directions} directions, {systems} pairs of system and "
        f"direction; {flagged} flagged scores."
    )
    if name not in STUDIES:
        return f"### {name}\n\n{size}"
    study = STUDIES[name]
    origin = f"https://github.com/{study.repository}"
    return (
        f"### {name}\n\n{study}\n\n{size} Licence: {study.licence or 'none stated'}. From {origin}."
    )
