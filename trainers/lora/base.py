"""The base model of an adapter: found, identified, loaded in full or quantised, and adapted.

An adapter is worth nothing without the very model that it was taught on. So it names that model
with a hash of its weights, configuration and tokenizer, and every other model is refused.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from logging import ERROR, getLogger
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from ...errors import InputError, MissingFileError, MissingScorerError
from ...files import home, keep_json, process_folder, write_json
from ...hub import is_repo_id
from ...metrics.scorers.device import Device, Placement
from ...metrics.scorers.gguf import converted, gguf_file
from ...metrics.scorers.weights import (
    MODEL_FILES,
    TOKENIZER_FILES,
    fetch,
    file_digest,
    quiet_loading,
    read_model,
    read_tokenizer,
    weights_digest,
)
from ..learning.backbones import BackboneShape, byte_level_tokenizer, random_model
from .quantization import (
    Quantization,
    bits_config,
    check_layers,
    check_quantization,
    local_device,
)

# Where PEFT imports it on a CPU, it advises to install one more package.
getLogger("bitsandbytes.backends.cpu.ops").setLevel(ERROR)

SCRATCH = "scratch"  # instead of a model: a small random one, for tests
BASE_FILE = "base.json"
_EMBEDDED = "base"  # the folder of a random base, which is nowhere else
_SCRATCH_SHAPE = BackboneShape(dimension=32, layers=2, heads=2, positions=512)


@dataclass(frozen=True)
class Identity:
    """Which model a base is.

    Attributes:
        name: its Hub id, or the name of its folder.
        revision: of a Hub id: the commit.
        sha256: of weights, configuration and tokenizer.
        embedded: whether it is among the adapter's own files.
    """

    name: str
    revision: str
    sha256: str
    embedded: bool = False


@dataclass(frozen=True)
class Base:
    """A causal language model on this disk.

    Attributes:
        folder: its files.
        identity: which one it is.
    """

    folder: Path
    identity: Identity
    _held: Any = field(default=None, repr=False, compare=False)  # a scratch folder, while in use

    @classmethod
    def find(cls, name: str, revision: str = "") -> Base:
        """By Hub id, folder or GGUF file; the profile ``lm``'s small model from its package too.

        Raises:
            MissingFileError: its weights cannot be found; the message says what to do.
            InputError: a GGUF file that cannot be read.
        """
        path = Path(name).expanduser()
        try:
            file = None if revision else gguf_file(name)
            if file is not None:
                path = converted(file, file_digest(file))
            folder = fetch(path if path.is_dir() else name, revision or None)
        except MissingScorerError as error:
            raise MissingFileError(
                f"{error}. Or pre-train a small one (llama) with examples/backbone of the "
                "repository, and give its folder: --base FOLDER"
            ) from error
        if path.is_dir():
            named = file.stem if file else path.resolve().name
            found = cls(folder, Identity(named, "", _digest(folder)))
            # Its adapters are read on this machine without being told where it is.
            keep_json(_remembered(found.identity), {"folder": str(folder.resolve())})
            return found
        commit = folder.name if folder.parent.name == "snapshots" else revision
        return cls(folder, Identity(name, commit, _digest(folder)))

    @classmethod
    def scratch(cls, texts: Sequence[str], seed: int) -> Base:
        """A small random Llama, with a byte-level tokenizer of these texts; it knows nothing."""
        import torch

        held = TemporaryDirectory(dir=process_folder())
        tokenizer = byte_level_tokenizer(texts, "llama", 400, _SCRATCH_SHAPE.positions)
        torch.manual_seed(seed)
        model = random_model("llama", _SCRATCH_SHAPE, tokenizer)
        with quiet_loading():
            model.save_pretrained(held.name)
        tokenizer.save_pretrained(held.name)
        folder = Path(held.name)
        return cls(folder, Identity(SCRATCH, "", _digest(folder), embedded=True), held)

    @classmethod
    def of_adapter(cls, folder: Path, given: str = "") -> Base:
        """The base of the adapter in a folder.

        Args:
            folder: where :meth:`write` wrote.
            given: the folder of the base; by default it is looked for among the adapter's own
                files, on the Hub, and where it was when an adapter was trained with it.

        Raises:
            MissingFileError: it is not found; the message says how to name it.
            InputError: the model that is found is another one, or ``base.json`` is damaged.
        """
        wanted = read_identity(folder)
        place = given or _place_of(folder, wanted)
        if place is None:
            raise MissingFileError(
                f"the base model {wanted.name} (sha256 {wanted.sha256[:16]}...) is not where it "
                "was: give its folder, --generation base=FOLDER (of merge: --base FOLDER)"
            )
        try:
            found = fetch(Path(place).expanduser() if given else place, wanted.revision or None)
        except MissingScorerError as error:
            raise MissingFileError(
                f"{error}. Or give the base model's folder: --generation base=FOLDER (of merge: "
                "--base FOLDER)"
            ) from error
        if _digest(found) != wanted.sha256:
            raise InputError(
                f"this adapter belongs to {wanted.name} (sha256 {wanted.sha256[:16]}...), but "
                f"{place} is another model (sha256 {_digest(found)[:16]}...)"
            )
        return cls(found, wanted)

    def write(self, folder: Path) -> None:
        """Write which model this is; one that is nowhere else is copied."""
        write_json(folder / BASE_FILE, asdict(self.identity))
        if self.identity.embedded:
            shutil.copytree(self.folder, folder / _EMBEDDED)

    def tokenizer(self) -> Any:
        """Of transformers; it has an end, and something to pad with.

        Raises:
            InputError: it is damaged, or has no end-of-sequence token.
        """
        tokenizer = read_tokenizer(self.folder)
        if tokenizer.eos_token_id is None:
            raise InputError(f"the tokenizer of {self.identity.name} has no end-of-sequence token")
        if tokenizer.pad_token_id is None:  # masked, so that any token will do
            tokenizer.pad_token = tokenizer.unk_token or tokenizer.eos_token
        return tokenizer

    def load(self, quantization: Quantization, device: str, *, half: bool = False) -> Any:
        """The model, on its device.

        Args:
            quantization: of its linear layers.
            device: ``auto``, ``cpu`` or ``cuda``.
            half: whether what is not quantised is bfloat16 instead of float32.

        Raises:
            InputError: it is no causal language model, it is damaged, there is no such device, or
                it cannot be quantised here.
        """
        import torch

        place = Placement(cast(Device, device)).resolve()
        dtype = torch.bfloat16 if half else torch.float32
        more: dict[str, Any] = {}
        if quantization != "none":
            check_quantization(quantization, place)
            more = {
                "quantization_config": bits_config(quantization, dtype),
                "device_map": {"": local_device(place)},
            }
        model = read_model(self.folder, "AutoModelForCausalLM", dtype=dtype, **more)
        if cast(Any, model.get_input_embeddings()).num_embeddings < len(self.tokenizer()):
            raise InputError(
                f"{self.folder}: the tokenizer has more tokens than the model has embeddings"
            )
        if more:
            check_layers(model, quantization)
            return model.eval()
        return model.eval().to(local_device(place))


def longest_row(model_config: Any) -> int:
    """The most tokens that a model reads at once."""
    return int(getattr(model_config, "max_position_embeddings", None) or 2**20)


def read_identity(folder: Path) -> Identity:
    """Which base an adapter belongs to.

    Raises:
        InputError: ``base.json`` is missing or damaged.
    """
    try:
        return Identity(**json.loads((folder / BASE_FILE).read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder / BASE_FILE} does not say which base model: {error}") from error


def _place_of(folder: Path, wanted: Identity) -> str | Path | None:
    if wanted.embedded:
        return folder / _EMBEDDED
    if wanted.revision or is_repo_id(wanted.name):
        return wanted.name
    with suppress(OSError, ValueError, KeyError):
        place = Path(json.loads(_remembered(wanted).read_bytes())["folder"])
        return place if place.is_dir() else None
    return None


def _remembered(identity: Identity) -> Path:
    return home() / "bases" / f"{identity.sha256}.json"


def _digest(folder: Path) -> str:
    return weights_digest(folder, (*MODEL_FILES, *TOKENIZER_FILES))


@contextmanager
def quiet() -> Iterator[None]:
    """Without the libraries' advice, which is for those who call them."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
