"""KenLM's own estimator, for users who have built it: found on PATH and run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from ..errors import InputError, MissingFileError, TSTBenchError, naming
from ..scratch import scratch_folder
from ..swaps import sync
from .kneser_ney import check_order, training_words


def find_lmplz() -> Path | None:
    """The ``lmplz`` on PATH, or None."""
    found = shutil.which("lmplz")
    return Path(found) if found else None


def run_lmplz(
    sentences: Iterable[str], path: Path | str, order: int = 5, *, memory: str = "20%"
) -> None:
    """Estimate with ``lmplz --discount_fallback`` and write an ARPA file atomically.

    Args:
        sentences: as for ``kneser_ney.estimate``; the same texts are refused.
        path: the ARPA file, replaced if it exists; its folder is created.
        order: length of the longest n-grams, 2 to 6.
        memory: sorting memory in lmplz's notation (its own default is 80% of the machine).

    Raises:
        MissingFileError: no lmplz on PATH.
        InputError: no sentences, or one that cannot be trained on.
        TSTBenchError: lmplz failed; the message shows its last output.
    """
    check_order(order)
    program = find_lmplz()
    if program is None:
        raise MissingFileError(
            "lmplz is not on PATH: build it from the kenlm source (https://kheafield.com/code/"
            "kenlm), or use estimator='own', which gives the same model"
        )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(path) as folder:
        text, arpa = folder / "text", folder / "arpa"
        with naming(text), text.open("wb") as stream:
            stream.writelines(b" ".join(words) + b"\n" for words in training_words(sentences))
        if text.stat().st_size == 0:
            raise InputError("no sentences to estimate a language model from")
        command = [str(program), "-o", str(order), "-S", memory, "-T", f"{folder}/sort"]
        command += ["--discount_fallback", "--text", str(text), "--arpa", str(arpa)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            last_words = done.stderr.decode("utf-8", "replace").strip()[-500:]
            raise TSTBenchError(f"lmplz failed with exit code {done.returncode}: {last_words}")
        arpa.chmod(0o644)  # as tstbench.files does for everything it writes
        sync(arpa)
        arpa.replace(path)
    sync(path.parent)
