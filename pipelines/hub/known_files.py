"""The files that may be published: each has a schema of ours, and everything else is refused.

A rule that looks for sentences in files of any shape can be led astray by the next shape. So a file
of a dataset is published only if it is one that TSTBench writes, with exactly its fields; and a
sentence only where that file says which dataset it is of.

Retrieval and n-gram models quote the data they learned from: they are published where that data may
be. What a network learned is in its weights: it may be published whatever it learned from, but for
the licensed corpora (:mod:`.guard`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from ...errors import InputError
from . import known_records as records
from .known_records import NAME_WORDS, PublishedFile, check_dataset, content_of, longest_text
from .known_schemas import Fingerprint

CURVE_FILE = "curve.jsonl"  # numbers of a training's steps
# Their sentences may be lists of the numbers of words.
_MEMORIES = frozenset(
    {"lexicon.json", "memory.json", "sentences.json", "source.json", "target.json"}
)


def learned_from(files: Mapping[str, Path | bytes]) -> frozenset[str] | None:
    """The datasets that the card of a model of ours names; ``None`` if there is no such card.

    Systems that learned to follow instructions name none.
    """
    for name, field in (("system.json", "directions"), ("scorer.json", "dataset")):
        if name in files:
            try:
                said = json.loads(content_of(files[name]))[field]
            except (ValueError, KeyError, TypeError, RecursionError):
                return None
            names = [said] if isinstance(said, str) else said
            if not isinstance(names, list):
                return None
            return frozenset(str(one).split("/")[0] for one in names)
    return None


def check_memory(file: PublishedFile) -> None:
    """A file of a model: if it keeps sentences, their dataset must be one that is published.

    Raises:
        LicensedTextError: it is licensed.
        InputError: it has no licence, or nobody registered it; or the card names none; or the file
            is not JSON.
    """
    if _keeps_sentences(file):
        names = learned_from(file.files)
        if not names:
            raise InputError(
                f"{file.where} is not published: it may have sentences, and the card of the model "
                "names no dataset that they are of. Leave it out"
            )
        for name in sorted(names):
            check_dataset(name, file.where)


def _keeps_sentences(file: PublishedFile) -> bool:
    path = PurePosixPath(file.path)
    if path.suffix in {".arpa", ".jsonl", ".txt"} or path.name in _MEMORIES:
        return path.name != CURVE_FILE
    return longest_text(file) > NAME_WORDS


Check = Callable[[PublishedFile], object]

_SYSTEM = r"[^/]+/[^/]+/[^/]+"  # dataset, direction, system
_DATASET: dict[str, Check] = {
    r"README\.md": records.anything,
    r"eval\.yaml": records.tasks,
    r"fingerprint\.json": records.one_record(Fingerprint),
    r"scores\.jsonl": records.score_rows,
    r"outputs\.jsonl": records.output_rows,
    r"human\.jsonl": records.judgments,
    r"[^/]+/[^/]+/significance\.json": records.significance,
    rf"{_SYSTEM}/report\.json": records.report,
    rf"{_SYSTEM}/samples\.jsonl": records.samples,
    rf"{_SYSTEM}/history\.jsonl": records.history,
    rf"{_SYSTEM}/replicates\.parquet": records.replicates,
    r"[^/]+/[^/]+\.parquet": records.table,
}
_SPACE: dict[str, Check] = {
    r"(?:.*/)?[^/]+\.json": records.settings,
    r"(?:.*/)?[^/]+\.(?:py|md|css|js|html|svg|gif|ico|jpe?g|png|webp)": records.anything,
    r"(?:.*/)?(?:requirements|packages)\.txt": records.anything,
}
# What transformers and its tokenizers write: weights, settings and words, but no sentences.
_FOREIGN_MODEL: dict[str, Check] = {
    r"(?:.*/)?[^/]+\.(?:safetensors|bin|model)": records.anything,
    r"(?:.*/)?README\.md": records.anything,
    r"(?:.*/)?[^/]*(?:config|vocab|tokenizer|tokens|_map|\.index)\.json": records.anything,
    r"(?:.*/)?(?:vocab|merges)\.txt": records.vocabulary,
    r"\.eval_results/[^/]+\.yaml": records.anything,
}
_OUR_MODEL: dict[str, Check] = {
    **_FOREIGN_MODEL,
    r"(?:.*/)?(?:system|scorer)\.json": records.anything,
    r"(?:.*/)?[^/]+\.(?:json|jsonl|txt|arpa)": check_memory,
    r"(?:.*/)?[^/]+\.(?:svg|npy|npz)": records.anything,
}
_UNKNOWN = {
    "dataset": (
        "only files that TSTBench writes are (cards, eval.yaml, fingerprint.json and the Parquet "
        "of `tstbench build`; scores, outputs, judgments and results folders), because nothing is "
        "known about the sentences of others. Build it with TSTBench, or leave it out"
    ),
    "space": (
        "a Space has programs, pages, pictures, cards, settings (JSON without sentences) and "
        "requirements.txt. Data belongs in a dataset: leave it out"
    ),
    "model": (
        "it is none of the files of a transformers model, and there is no card of ours "
        "(system.json or scorer.json) that says what it was trained on. Train it with TSTBench, or "
        "leave it out"
    ),
}


def check_known(kind: str, repo_id: str, files: Mapping[str, Path | bytes]) -> None:
    """Refuse every file that is none of ours.

    Raises:
        LicensedTextError: a file of ours has text of a licensed dataset.
        InputError: a file is none of ours, or not as we write it.
    """
    known = {"dataset": _DATASET, "space": _SPACE, "model": _model_files(files)}[kind]
    for path in files:
        file = PublishedFile(repo_id, path, files)
        for pattern, check in known.items():
            if re.fullmatch(pattern, path):
                check(file)
                break
        else:
            raise InputError(f"{file.where} is not published: {_UNKNOWN[kind]}")


def _model_files(files: Mapping[str, Path | bytes]) -> dict[str, Check]:
    """Ours may contain sentences (a retrieval system): its card says of which dataset."""
    return _FOREIGN_MODEL if learned_from(files) is None else _OUR_MODEL
