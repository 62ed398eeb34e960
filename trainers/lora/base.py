"""The base model of an adapter: found, identified, loaded in full or quantised, and adapted.

An adapter is worth nothing without the very model that it was taught on. So it names that model
with a hash of its weights, configuration and tokenizer, and every other model is refused.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from logging import ERROR, getLogger
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

from ...errors import InputError, MissingFileError, MissingScorerError, require
from ...files import home, keep_json, process_folder, write_bytes, write_json
from ...hub import is_repo_id
from ...metrics.scorers.device import Device, Placement
from ...metrics.scorers.gguf import converted, gguf_file
from ...metrics.scorers.weights import (
    MODEL_FILES,
    TOKENIZER_FILES,
    fetch,
    file_digest,
    quiet_loading,
    read_config,
    read_model,
    read_tokenizer,
    weights_digest,
)
from ...untrusted import read_json
from ..training.backbones import BackboneShape, byte_level_tokenizer, random_model

# Where PEFT imports it on a CPU, it advises to install one more package.
getLogger("bitsandbytes.backends.cpu.ops").setLevel(ERROR)

Quantization = Literal["4bit", "8bit", "none"]


def local_device(place: str) -> str:
    """The device of this process among those that were launched together."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if place == "cuda" else place


def check_quantization(quantization: Quantization, place: str, width: int = 128) -> None:
    """Find out, before a model is loaded, whether layers can be quantised here and compute.

    Args:
        quantization: 4bit or 8bit.
        place: cpu or cuda.
        width: of the model's layers: on some CPUs only wide ones compute.

    Raises:
        InputError: bitsandbytes is missing, or does not compute on this device.
    """
    import torch

    advice = "Choose --quantization none, or 8bit or 4bit where it can"
    try:
        bits = require("bitsandbytes", "quantize")
        require("accelerate", "train")
    except ImportError as error:
        raise InputError(f"--quantization {quantization}: {error}. {advice}") from error
    where = local_device(place)
    try:
        layer = (
            bits.nn.Linear4bit(width, width, quant_type="nf4", compress_statistics=True)
            if quantization == "4bit"
            else bits.nn.Linear8bitLt(width, width, has_fp16_weights=False)
        ).to(where)
        row = torch.ones(2, width, device=where, requires_grad=True)
        layer(row).float().sum().backward()  # as in training
        with torch.no_grad():  # and in generation, which is another way
            layer.eval()(row.detach())
    except Exception as error:  # of many kinds: a missing library, an operator, an old GPU
        raise InputError(
            f"--quantization {quantization}: bitsandbytes {bits.__version__} cannot do it on "
            f"{where} with layers {width} wide: {error}. {advice}"
        ) from error


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
            from transformers import BitsAndBytesConfig

            check_quantization(quantization, place, min(128, self._width()))
            # QLoRA (Dettmers et al. 2023), sections 3 and 4: NormalFloat, quantised constants.
            more["quantization_config"] = BitsAndBytesConfig(
                load_in_8bit=quantization == "8bit",
                load_in_4bit=quantization == "4bit",
                bnb_4bit_quant_type="nf4",
                bnb_4bit_use_double_quant=True,
                bnb_4bit_compute_dtype=dtype,
            )
            more["device_map"] = {"": local_device(place)}
        model = read_model(self.folder, "AutoModelForCausalLM", dtype=dtype, **more)
        if cast(Any, model.get_input_embeddings()).num_embeddings < len(self.tokenizer()):
            raise InputError(
                f"{self.folder}: the tokenizer has more tokens than the model has embeddings"
            )
        return model.eval() if more else model.eval().to(local_device(place))

    def _width(self) -> int:
        config = read_config(self.folder)
        return int(config.get("hidden_size") or config.get("n_embd") or 128)


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
    with quiet_loading(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# What of PEFT's settings is a regular expression, or says which layers in another way.
_PATTERNS = (
    "rank_pattern", "alpha_pattern", "exclude_modules", "layers_pattern", "layers_to_transform",
    "layer_replication", "modules_to_save", "target_parameters", "trainable_token_indices",
)  # fmt: skip


@dataclass(frozen=True)
class Adapter:
    """What was learned: weights, and which layers they belong to.

    Attributes:
        config: ``LoraConfig`` of PEFT.
        weights: by name, on the CPU.
    """

    config: Any
    weights: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Adapter:
        """Read a folder that :meth:`write`, or PEFT, wrote.

        Raises:
            InputError: it is no LoRA adapter, or damaged.
        """
        from peft import LoraConfig
        from safetensors.torch import load_file

        file = folder / "adapter_config.json"
        settings = read_json(file)
        settings = settings if isinstance(settings, dict) else {}
        chosen = [name for name in _PATTERNS if settings.get(name)]
        if chosen or not isinstance(settings.get("target_modules"), list):
            raise InputError(
                f"{file}: adapters here name their layers in target_modules, one by one; "
                f"{chosen[0] if chosen else 'a pattern'} is not read"
            )
        try:
            config = LoraConfig.from_pretrained(str(folder))
            if not isinstance(config, LoraConfig):
                raise TypeError(f"its kind is {type(config).__name__}")
            weights = load_file(folder / "adapter_model.safetensors")
            if config.r not in {len(part) for part in weights.values()}:
                raise ValueError(f"r is {config.r}, but its weights have another rank")
            return cls(config, weights)
        except Exception as error:  # PEFT's and safetensors' own, of many kinds
            raise InputError(f"{folder} is not a LoRA adapter, or damaged: {error}") from error

    def write(self, folder: Path, base: Identity) -> None:
        """Write the files of PEFT; the base is named by its Hub id, never by a path."""
        from safetensors.torch import save

        folder.mkdir(parents=True)
        self.config.base_model_name_or_path = base.name
        self.config.revision = base.revision or None
        self.config.inference_mode = True
        self.config.save_pretrained(str(folder))
        file = folder / "adapter_config.json"
        content = json.loads(file.read_bytes())
        if isinstance(content["target_modules"], list):  # a set in PEFT, in an order of its own
            content["target_modules"].sort()
        write_json(file, content)
        content = save(dict(self.weights), {"format": "pt"})
        write_bytes(folder / "adapter_model.safetensors", content)

    def on(self, model: Any) -> Any:
        """The model with the adapter, as PEFT's model.

        Raises:
            InputError: it has not the layers that the adapter belongs to.
        """
        from peft import get_peft_model, set_peft_model_state_dict

        try:
            with quiet():
                adapted = get_peft_model(model, deepcopy(self.config))
                found: Any = set_peft_model_state_dict(adapted, dict(self.weights))
        except Exception as error:  # PEFT's own, of many kinds
            raise InputError(f"the adapter does not fit the base model: {error}") from error
        lacking = [name for name in found.missing_keys if "lora_" in name]
        if found.unexpected_keys or lacking:
            raise InputError(
                "the adapter does not fit the base model: "
                f"{', '.join([*found.unexpected_keys, *lacking][:3])}"
            )
        return adapted.eval()
