"""Find the scorer for a role: trained here, published, or the user's own; it is not loaded.

A scorer is looked up, and its checksum verified, each time a profile asks; but it is loaded, and
remembers what it has scored, once per process. Its folder is named after its content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...datasets_scripts.directions import Direction
from ...errors import InputError, MissingScorerError, require_installed, unknown_name
from .artefacts import CARD_FILE, Artefact, find_or_fetch, kind_and_split, open_artefact, whole
from .base import Encoder, LanguageModel
from .classifiers import (
    ACCEPTABILITY_STYLES,
    Classifier,
    describe_hub_classifier,
    is_kind,
    kinds,
    load_classifier,
)
from .device import Placement
from .encoder_files import describe_encoder
from .language_model import MODEL_FILE, NgramLanguageModel
from .lexicon import LEXICON_FILE, StyleLexicon, read_lexicon
from .roles import Found
from .weights import file_digest, signature_name
from .word_vectors import WordVectors, read_vectors

if TYPE_CHECKING:
    from .attribution import StyleAttribution
    from .meaning import MeaningModel

_DIFFERENTIABLE = ("transformer", "finetuned")  # kinds of classifiers whose gradients are read
TORCH_KINDS = (
    "transformer",
    "probe",
    "finetuned",
    "lora",
    "lm",
    "ensemble",
)  # they use the given placement
SHIPPED = "v1"  # the acceptability classifier and the meaning scorer that come with the package
# The kinds that are trained here: 5-gram modified Kneser-Ney, LSTM; word vectors also of sentences
# whose style words are masked.
LANGUAGE_MODELS = ("kn5", "lstm")
LEXICON = "logistic"
WORD_VECTORS, MASKED_VECTORS = "word2vec", "word2vec-masked"


def language_model_name(style: str, kind: str = "kn5") -> str:
    """The artefact name of a style's language model."""
    return f"{kind}-{style}"


def classifier(spec: str, direction: Direction | None, placement: Placement) -> Found:
    """P(style | sentence): a kind trained on the dataset, a folder, or a Hub id."""
    return _style_classifier("classifier", spec, direction, placement)


def paper_classifier(spec: str, direction: Direction | None, placement: Placement) -> Found:
    """The same; it has learned sentences as ACC's protocol ``paper`` reads them."""
    return _style_classifier("paper_classifier", spec, direction, placement)


def _style_classifier(
    role: str, spec: str, direction: Direction | None, placement: Placement
) -> Found:
    direction = _needed(direction)
    if is_kind(spec):
        kind, split = kind_and_split(spec)
        if kind not in kinds():
            raise unknown_name("kind of classifier", kind, kinds())
        return _found_classifier(find_or_fetch(role, direction.dataset, kind, split), placement)
    return _own_classifier(spec, (direction.source_style, direction.target_style), placement)


def attribution(spec: str, direction: Direction | None, placement: Placement) -> Found:
    """What each word contributes to a sentence's style, by the gradients of a transformer."""
    for module in ("torch", "transformers"):
        require_installed(module, "embedded")
    direction = _needed(direction)
    kind, split = kind_and_split(spec)
    if kind in kinds():
        check_differentiable(kind)
        try:
            artefact = find_or_fetch("classifier", direction.dataset, kind, split)
        except MissingScorerError as error:
            raise other_attribution(spec, direction.dataset, error) from error
        return _found_attribution(artefact, placement)
    if (Path(spec) / CARD_FILE).is_file():
        artefact = open_artefact(spec)
        check_differentiable(artefact.card.kind)
        return _found_attribution(artefact, placement)
    if is_kind(spec):
        raise unknown_name("kind of classifier", spec, _DIFFERENTIABLE)
    name, digest = describe_hub_classifier(spec)
    styles = (direction.source_style, direction.target_style)
    load = partial(_hub_attribution, spec, styles, placement, name, digest)
    return Found(name, digest, load, on_device=True)


def check_differentiable(kind: str) -> None:
    """Raise :class:`InputError` if a kind of classifier has no gradients that can be read."""
    if kind not in _DIFFERENTIABLE:
        raise InputError(
            f"integrated gradients need a transformer, not a classifier of kind {kind}: choose one "
            "with --scorer attribution=finetuned, transformer or FOLDER_OR_HUB_ID"
        )


def other_attribution(spec: str, dataset: str, error: MissingScorerError) -> MissingScorerError:
    """The same error, and what to do if the default transformer cannot be had."""
    if kind_and_split(spec)[0] != "transformer":
        return error
    train = f"tstbench train classifier {dataset} --kind"
    return MissingScorerError(
        f"{str(error).rstrip('.')}. Without these weights: --scorer attribution=finetuned takes a "
        f"small transformer that needs no download ('{train} finetuned' trains it, and 'tstbench "
        "evaluate' does so by itself), and --scorer attribution=FOLDER one that you trained from "
        f"weights of yours: '{train} transformer --base WEIGHTS' prints the folder"
    )


def acceptability(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """P(acceptable | sentence): the one that comes with the package, a folder, or a Hub id."""
    if spec == SHIPPED:
        spec = str(Path(__file__).parent / f"acceptability_{spec}")
    elif is_kind(spec):
        raise MissingScorerError(
            f"the acceptability classifier {spec!r} is neither {SHIPPED} nor a folder or Hub id"
        )
    return _own_classifier(spec, ACCEPTABILITY_STYLES, placement)


def language_model(spec: str, direction: Direction | None, _placement: Placement) -> Found:
    """The model of the target style: ``kn5`` or ``lstm``, trained here, or an ARPA or KenLM file."""
    return _language_model_of("language_model", _needed(direction).target_style, spec, direction)


def cleaned_language_model(spec: str, direction: Direction | None, _placement: Placement) -> Found:
    """The same; it has learned cleaned sentences."""
    style = _needed(direction).target_style
    return _language_model_of("cleaned_language_model", style, spec, direction)


def source_language_model(spec: str, direction: Direction | None, _placement: Placement) -> Found:
    """The model of the source style: as :func:`cleaned_language_model`."""
    style = _needed(direction).source_style
    return _language_model_of("cleaned_language_model", style, spec, direction)


def _language_model_of(role: str, style: str, spec: str, direction: Direction | None) -> Found:
    kind, split = kind_and_split(spec)
    path = Path(spec).expanduser()
    file = path / MODEL_FILE if path.is_dir() else path
    if kind in LANGUAGE_MODELS:
        dataset, name = _needed(direction).dataset, language_model_name(style, kind)
        artefact = find_or_fetch(role, dataset, name, split)
    elif (path / CARD_FILE).is_file():
        artefact = open_artefact(path)
    elif file.is_file():
        return _of_file(file, path.stem, _opened_ngrams)
    else:
        raise MissingScorerError(
            f"the language model {spec!r} is neither kn5, lstm nor a file in ARPA or KenLM format"
        )
    is_lstm = artefact.card.kind == "lstm"
    return _of_artefact(artefact, _opened_lstm if is_lstm else _opened_ngrams)


def lexicon(spec: str, direction: Direction | None, _placement: Placement) -> Found:
    """The style lexicon of a dataset: ``logistic``, trained on it, a folder, or a JSON file."""
    return _of_words("lexicon", "JSON file", (LEXICON,), spec, direction, _opened_lexicon)


def word_vectors(spec: str, direction: Direction | None, _placement: Placement) -> Found:
    """Word vectors: ``word2vec``, trained on the direction's dataset, a folder, or a file.

    ``word2vec-masked`` are those of the dataset's sentences with ``<customstyle>`` for style words.
    """
    kinds = (WORD_VECTORS, MASKED_VECTORS)
    return _of_words("word_vectors", "file", kinds, spec, direction, _opened_vectors)


def _of_words(
    role: str,
    what: str,
    kinds: Sequence[str],
    spec: str,
    direction: Direction | None,
    opened: Callable[[Path, str, str], object],
) -> Found:
    """A scorer of words: a kind trained here, a folder, or what a file of the user's own holds.

    Raises:
        InputError: a direction is needed to know the dataset, or the folder is of another role.
        MissingScorerError: it has not been trained, or there is no such file.
    """
    kind, split = kind_and_split(spec)
    title = role.replace("_", " ")
    if kind in kinds:
        if direction is None:
            raise InputError(
                f"a direction is needed to know whose {title} to use, such as "
                f"'yelp/negative-to-positive'; or give a file: --scorer {role}=FILE"
            )
        return _of_artefact(find_or_fetch(role, direction.dataset, kind, split), opened)
    path = Path(spec).expanduser()
    if (path / CARD_FILE).is_file():
        return _of_artefact(_of_role(path, role), opened)
    if not path.is_file():
        raise MissingScorerError(
            f"the scorer {role}={spec} is neither {kinds[0]} nor a {what}; there is no such file"
        )
    return _of_file(path, path.stem, opened)


def meaning(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """The meaning scorer: the one that comes with the package, or a folder."""
    folder = Path(__file__).parent / f"meaning_{spec}" if spec == SHIPPED else Path(spec)
    folder = folder.expanduser()
    if not (folder / CARD_FILE).is_file():
        raise MissingScorerError(
            f"the meaning scorer {spec!r} is neither {SHIPPED} nor the folder of one"
        )
    artefact = _of_role(folder, "meaning")
    for module in ("torch", "transformers"):
        require_installed(module, "embedded")
    name = f"{artefact.card.kind}:{artefact.card.name}"
    load = partial(_opened_meaning, artefact.folder, placement, artefact.hash)
    return Found(name, artefact.hash, load, on_device=True)


def encoder(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """Token vectors: a Hub id or folder, and after ``@`` the layer to read (default: the last)."""
    model, layer = split_layer(spec)
    known = describe_encoder(model, layer)
    load = partial(_encoder, model, known.layer, placement)
    return Found(known.name, known.hash, load, {"layer": known.layer}, on_device=True)


def split_layer(spec: str) -> tuple[str, int | None]:
    """Model and layer of an encoder.

    >>> split_layer("FacebookAI/roberta-large@9"), split_layer("my/model")
    (('FacebookAI/roberta-large', 9), ('my/model', None))
    """
    model, separator, layer = spec.rpartition("@")
    if not separator:
        return spec, None
    if not layer.isdigit():
        raise InputError(f"encoder {spec!r}: '@' must be followed by a layer number")
    return model, int(layer)


def _found_classifier(artefact: Artefact, placement: Placement) -> Found:
    card = artefact.card
    on_device = card.kind in TORCH_KINDS
    load = partial(_opened_classifier, artefact.folder, placement, artefact.hash)
    return Found(f"{card.kind}:{card.corpus}", artefact.hash, load, on_device=on_device)


def _found_attribution(artefact: Artefact, placement: Placement) -> Found:
    name = f"{artefact.card.kind}:{artefact.card.corpus}"
    load = partial(_opened_attribution, artefact.folder, placement, name, artefact.hash)
    return Found(name, artefact.hash, load, on_device=True)


def _own_classifier(spec: str, styles: tuple[str, ...], placement: Placement) -> Found:
    """A folder of one of our scorers, or any transformer for sequence classification."""
    if (Path(spec) / CARD_FILE).is_file():
        artefact = open_artefact(spec)
        lacking = [style for style in styles if style not in artefact.card.styles]
        if lacking:
            raise InputError(
                f"the classifier in {spec} tells {', '.join(artefact.card.styles)} apart; it does not "
                f"know {' and '.join(lacking)}"
            )
        return _found_classifier(artefact, placement)
    require_installed("transformers", "embedded")
    name, digest = describe_hub_classifier(spec)
    load = partial(_hub_classifier, spec, styles, placement, digest)
    return Found(name, digest, load, on_device=True)


def _of_role(folder: Path, role: str) -> Artefact:
    artefact = open_artefact(folder)
    if artefact.card.role != role:
        raise InputError(f"{folder} contains a {artefact.card.role}, not a {role}")
    return artefact


def _of_artefact(artefact: Artefact, opened: Callable[[Path, str, str], object]) -> Found:
    name = f"{artefact.card.name}:{artefact.card.corpus}"
    return Found(name, artefact.hash, partial(opened, artefact.folder, name, artefact.hash))


def _of_file(file: Path, stem: str, opened: Callable[[Path, str, str], object]) -> Found:
    file = file.resolve()
    name, digest = f"file:{signature_name(stem)}", file_digest(file)
    return Found(name, digest, partial(opened, file, name, digest))


def _needed(direction: Direction | None) -> Direction:
    if direction is None:
        raise InputError("a direction is needed, such as 'yelp/negative-to-positive'")
    return direction


@lru_cache(maxsize=16)
def _opened_classifier(folder: Path, placement: Placement, _digest: str) -> Classifier:
    return load_classifier(folder, placement)


@lru_cache(maxsize=16)
def _opened_ngrams(place: Path, name: str, digest: str) -> NgramLanguageModel:
    return NgramLanguageModel(place, name=name, hash=digest)


@lru_cache(maxsize=16)
def _opened_lstm(folder: Path, name: str, digest: str) -> LanguageModel:
    require_installed("torch", "embedded")
    from .lstm_language_model import LstmLanguageModel

    with whole(folder, "language model"):
        return LstmLanguageModel.load(folder, name, digest)


@lru_cache(maxsize=8)
def _opened_lexicon(place: Path, name: str, digest: str) -> StyleLexicon:
    return read_lexicon(place / LEXICON_FILE if place.is_dir() else place, name, digest)


@lru_cache(maxsize=8)
def _opened_vectors(place: Path, name: str, digest: str) -> WordVectors:
    if place.is_file():
        return read_vectors(place, name, digest)
    with whole(place, "set of word vectors"):
        return WordVectors.load(place, name, digest)


@lru_cache(maxsize=4)
def _opened_meaning(folder: Path, placement: Placement, _digest: str) -> MeaningModel:
    from .meaning import MeaningModel

    return MeaningModel.load(folder, placement)


@lru_cache(maxsize=4)
def _hub_classifier(
    model: str, styles: tuple[str, ...], placement: Placement, _digest: str
) -> Classifier:
    from .transformer import load_hub_classifier

    return load_hub_classifier(model, styles, placement=placement)


@lru_cache(maxsize=4)
def _opened_attribution(
    folder: Path, placement: Placement, name: str, digest: str
) -> StyleAttribution:
    from .attribution import StyleAttribution
    from .transformer import TransformerModel

    return StyleAttribution(TransformerModel.load(folder, placement), name=name, hash=digest)


@lru_cache(maxsize=4)
def _hub_attribution(
    model: str, styles: tuple[str, ...], placement: Placement, name: str, digest: str
) -> StyleAttribution:
    from .attribution import StyleAttribution
    from .transformer import load_hub_model

    return StyleAttribution(
        load_hub_model(model, styles, placement=placement), name=name, hash=digest
    )


def _encoder(model: str, layer: int, placement: Placement) -> Encoder:
    for module in ("torch", "transformers"):
        require_installed(module, "embedded")
    from .encoder import load_encoder

    return load_encoder(model, layer, placement)
