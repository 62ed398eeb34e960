"""The files that may be published: each has a schema of ours, and everything else is refused.

A rule that looks for sentences in files of any shape can be led astray by the next shape. So a file
of a dataset is published only if it is one that TSTBench writes, with exactly its fields; and a
sentence only where that file says which dataset it is of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from ...errors import InputError
from . import known_records as records
from .known_memories import check_memory, learned_from
from .known_records import PublishedFile
from .known_schemas import Fingerprint

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
