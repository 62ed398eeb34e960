"""Cards: each dataset's hand-written text, followed by the facts of the build; those of models.

``<dataset>/README.md`` is written by hand: front matter, description, traps, licence, citation.
``card.md`` is the section that all cards share, filled in by the build.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml

from ..citation import BIBTEX
from ..errors import InputError, MissingFileError
from ..untrusted import parse_yaml
from .catalog import DATASETS
from .corpus import Corpus
from .own import hub_licence
from .quality import Quality

_HERE = Path(__file__).parent
_FRONT = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)
_BIBTEX = re.compile(r"```bibtex\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Card:
    """The hand-written card of one dataset."""

    front: dict[str, Any]  # YAML front matter: licence, language, tags
    body: str  # Markdown

    @property
    def citation(self) -> str:
        """Its BibTeX entries."""
        return "\n".join(_BIBTEX.findall(self.body)).strip()


@dataclass(frozen=True)
class Provenance:
    """What a build knows about where its rows come from."""

    cleaning: str
    rows_digest: str  # of everything that the rows depend on, see build.py
    fingerprints: Mapping[str, str]  # "negative-to-positive/test" -> 64 hex digits
    steps: Sequence[tuple[str, str, int, int]]  # split, decontamination, removed, repeats
    left_out: Mapping[str, str]  # split -> why
    files: Sequence[tuple[str, str, str]]  # name, commit or "", git blob id
    training: str  # the split that unseen words are counted against

    def summary(self, corpus: Corpus) -> dict[str, Any]:
        """The content of ``fingerprint.json``, for programs."""
        return {
            "dataset": corpus.name,
            "version": corpus.version,
            "cleaning": self.cleaning,
            "decontamination": {part: step for part, step, _, _ in self.steps},
            "publishable": corpus.facts.publishable,
            "rows_digest": self.rows_digest,
            "fingerprints": dict(self.fingerprints),
            "left_out": sorted(self.left_out),
            "files": [
                {"name": name, "commit": commit or None, "git_blob": blob}
                for name, commit, blob in self.files
            ],
        }


def read_card(corpus: Corpus) -> Card:
    """The card that comes with a corpus, or else the hand-written one beside the builder.

    Raises:
        InputError: it has no front matter.
    """
    text = corpus.card
    if text is None:
        path = _HERE / corpus.name / "README.md"
        if not path.exists():
            raise MissingFileError(f"{path} is missing: the installation is incomplete")
        text = path.read_text("utf-8")
    match = _FRONT.match(text)
    if match is None:
        raise InputError(f"the card of {corpus.name} has no YAML front matter between --- lines")
    return Card(parse_yaml(match[1].encode(), f"the card of {corpus.name}"), match[2])


def write_card(
    corpus: Corpus,
    front: Mapping[str, Any],
    quality: Sequence[Quality],
    provenance: Provenance,
) -> str:
    """The whole card of a built folder.

    Args:
        corpus: the dataset.
        front: YAML of ``configs`` and ``dataset_info``, after the hand-written front matter.
        quality: the rows of the statistics table.
        provenance: what the build knows about its rows.
    """
    card = read_card(corpus)
    yaml_block = yaml.safe_dump(
        {**card.front, **front}, sort_keys=False, allow_unicode=True, width=1000
    )
    shared = Template((_HERE / "card.md").read_text("utf-8")).substitute(
        dataset=corpus.name,
        version=corpus.version,
        use=_use(corpus),
        citation=BIBTEX.strip(),
        command=f"tstbench build {corpus.name}" + (" --data FILE" if corpus.origin else ""),
        statistics=_table(quality),
        training=provenance.training,
        cleaning=provenance.cleaning,
        steps=_steps(provenance.steps),
        left_out=_left_out(provenance.left_out),
        fingerprints=_rows(f"| `{k}` | `{v}` |" for k, v in provenance.fingerprints.items()),
        files=_rows(
            f"| `{name}` | `{commit[:12] or 'local'}` | `{blob}` |"
            for name, commit, blob in provenance.files
        ),
    )
    return f"---\n{yaml_block}---\n{card.body.rstrip()}\n\n{shared}"


def _use(corpus: Corpus) -> str:
    """How the views are loaded, with or without directions."""
    first = next(iter(corpus.facts.directions), None)
    text = (_HERE / f"use_{'directions' if first else 'labels'}.md").read_text("utf-8")
    return (
        Template(text)
        .substitute(
            repository=_repository(corpus),
            direction=first.config if first else "",
            split=first.split("test") if first else corpus.parts[0].name,
            labels=", ".join(f"{i} = {style}" for i, style in enumerate(corpus.facts.styles)),
        )
        .rstrip()
    )


def _repository(corpus: Corpus) -> str:
    """The argument of load_dataset: one of our repositories, or the folder that was built."""
    here = corpus.origin or not corpus.facts.licence
    return f"path/to/{corpus.name}" if here else f"tstbench/{corpus.name}"


def _table(quality: Sequence[Quality]) -> str:
    return _rows(
        f"| {q.part} | {q.style} | {q.rows:,} | {q.removed:,} | {q.empty:,} | {q.duplicates:,} "
        f"| {q.other_style:,} | {q.test_overlap:,} | {q.unchanged:,} "
        f"| {q.words[0]} / {q.words[1]:.1f} / {q.words[2]:g} / {q.words[3]} "
        f"| {_span(q.references)} | {100 * q.oov:.1f}% |"
        for q in quality
    )


def _span(counts: tuple[int, int]) -> str:
    low, high = counts
    return str(low) if low == high else f"{low} to {high}"


def _steps(steps: Sequence[tuple[str, str, int, int]]) -> str:
    if not steps:
        return "No decontamination step applies to this dataset."
    return _rows(
        f"- `{step}` on {part}: {removed:,} sentences removed because they occur in other splits"
        + (f", and {repeats:,} repetitions." if repeats else ".")
        for part, step, removed, repeats in steps
    )


def _left_out(left_out: Mapping[str, str]) -> str:
    if not left_out:
        return "Nothing: all splits are included."
    return _rows(f"- **{part}** is not included: {why}" for part, why in left_out.items())


def _rows(lines: Any) -> str:
    return "\n".join(lines)


MARKER = "NOT_FOR_PUBLICATION.txt"
_REFUSES = "TSTBench refuses to upload a folder that contains this file.\n"
_LICENSED = (
    "These sentences are licensed to one user ({licence}). They must not be published or passed\n"
    f"on. {_REFUSES}"
)
_NO_LICENCE = (
    "No licence is stated for these sentences, so they may not be shared and are for you\n"
    f"only. {_REFUSES}"
)


def marker_text(corpus: Corpus) -> str | None:
    """The text of the marker file in a folder that must not be published; None if it may be."""
    if corpus.facts.publishable:
        return None
    return _LICENSED.format(licence=corpus.facts.licence) if corpus.facts.licensed else _NO_LICENCE


def model_front_matter(trained_on: Iterable[str], tags: Sequence[str]) -> str:
    """YAML between ``---`` lines, as the Hub reads it.

    Args:
        trained_on: names of datasets or corpora; a model has the terms of what it learned from.
        tags: besides ``text-style-transfer``.
    """
    known = [DATASETS[name] for name in trained_on if name in DATASETS]
    licences = dict.fromkeys(facts.licence for facts in known)
    front: dict[str, Any] = {
        "library_name": "tstbench",
        **hub_licence(next(iter(licences)) if len(licences) == 1 else ""),
        "language": list(dict.fromkeys(facts.language for facts in known)) or ["en"],
        "tags": ["text-style-transfer", *tags],
    }
    if published := [f"tstbench/{facts.name}" for facts in known if facts.publishable]:
        front["datasets"] = published
    text = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{text}---\n"
