"""``pipeline("text-style-transfer", model=...)``: our systems as a task of transformers.

Importing this module registers the task::

    from transformers import pipeline
    import tstbench.trainers.pipeline

    rewrite = pipeline("text-style-transfer", model="tstbench/stytrans-yelp-all")  # or a folder
    rewrite("the soup was cold .", target_style="positive")
    # [{"generated_text": "the soup was great ."}]

A system is no model of transformers: it has its own files and its own decoding. So ``config.json``
in its folder only says what the folder is, :class:`TransferModel` holds the system, and the
pipeline hands it whole batches, which it sorts and pads itself. No code is taken from a
repository: ``trust_remote_code`` is never needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch
from transformers import AutoConfig, Pipeline, PretrainedConfig, PreTrainedModel
from transformers.pipelines import PIPELINE_REGISTRY

from ..datasets_scripts.catalog import parse_direction
from ..datasets_scripts.directions import Direction
from ..errors import InputError, unknown_name
from .card import MODEL_TYPE, SystemCard
from .load import load_system
from .system import Generation, System

__all__ = ["TASK", "TextStyleTransferPipeline", "TransferConfig", "TransferModel"]

TASK = "text-style-transfer"
_OURS = ("target_style", "source_style", "direction", "seed")
_FOREIGN = ("local_files_only", "trust_remote_code")  # for how transformers loads, not for us


class TransferConfig(PretrainedConfig):  # type: ignore[misc]
    """What ``config.json`` in a system's folder says.

    Attributes:
        kind: a name of the registry.
        name: the system's.
        directions: names of those it was trained for; empty for any.
    """

    model_type = MODEL_TYPE

    def __init__(
        self, kind: str = "", name: str = "", directions: Sequence[str] = (), **more: Any
    ) -> None:
        self.kind, self.name, self.directions = kind, name, list(directions)
        super().__init__(**more)

    @classmethod
    def of(cls, card: SystemCard) -> TransferConfig:
        """The configuration of a system."""
        return cls(card.kind, card.name, card.directions)


class TransferModel(PreTrainedModel):  # type: ignore[misc]
    """A system where transformers expects a model.

    It is read when a pipeline has chosen the device; see :meth:`ready`.
    """

    config_class = TransferConfig
    base_model_prefix = ""

    def __init__(
        self,
        config: TransferConfig,
        source: System | str = "",
        *,
        revision: str | None = None,
    ) -> None:
        super().__init__(config)
        self._source, self._revision = source, revision
        self._place = torch.device("cpu")

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls,
        pretrained_model_name_or_path: str | Path,
        *,
        config: TransferConfig | None = None,
        revision: str | None = None,
        token: str | bool | None = None,
        dtype: Any = None,
        **more: Any,
    ) -> TransferModel:
        """The system in a folder, or in a repository of the Hub; its files are read later.

        Raises:
            InputError: what transformers can do with its own models and a system cannot: another
                number type than float32, a device map, quantisation.
        """
        name = str(pretrained_model_name_or_path)
        if dtype not in (None, "auto", "float32", torch.float32):
            raise InputError(f"a system computes in float32, not in {dtype}")
        if isinstance(token, str):
            raise InputError("give the token as the environment's HF_TOKEN, or `hf auth login`")
        foreign = {"_from_pipeline", "_commit_hash", *_FOREIGN}
        for option in more:
            if option not in foreign and more[option] is not None:
                raise InputError(f"{name} is a system of TSTBench, which has no option {option}")
        is_folder = Path(name).expanduser().is_dir()
        return cls(config or TransferConfig(), name, revision=None if is_folder else revision)

    @classmethod
    def of(cls, system: System) -> TransferModel:
        """A system that has been loaded."""
        return cls(TransferConfig.of(system.card), system)

    def ready(self) -> System:
        """The system, read once.

        Raises:
            UnknownNameError, MissingSystemError, IntegrityError, InputError: see
                :func:`~.load.load_system`.
        """
        if isinstance(self._source, str):
            kind = "cuda" if self._place.type == "cuda" else "cpu"
            self._source = load_system(self._source, revision=self._revision, device=kind)
            self.config = TransferConfig.of(self._source.card)
        return self._source

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self._place

    @property
    def dtype(self) -> torch.dtype:
        """The number type of every system."""
        return torch.float32

    @classmethod
    def can_generate(cls) -> bool:
        """Not by transformers: a system has its own decoding."""
        return False

    def to(self, device: Any) -> TransferModel:  # type: ignore[override]
        """Choose where it computes, before it is read."""
        self._place = torch.device(device)
        return self

    def save_pretrained(self, save_directory: Path | str, **_: Any) -> None:  # type: ignore[override]
        """Write the system; see :meth:`System.save_pretrained <.system.System.save_pretrained>`."""
        self.ready().save_pretrained(save_directory)


class TextStyleTransferPipeline(Pipeline):  # type: ignore[misc]
    """Rewrites sentences in another style.

    ``pipe(text, target_style="positive")`` and, where a system writes that style from several
    others, ``source_style``; or ``direction="yelp/negative-to-positive"``. A system of one
    direction needs none of them. ``seed`` and the system's own generation settings, such as
    ``num_beams=5``, are arguments too. All of them can be given to ``pipeline(...)`` as well, as
    usual settings.

    The result is a list with one ``{"generated_text": ...}`` for each sentence, in their order.
    ``batch_size`` (default: the system's) changes no answer.
    """

    _load_processor = False  # type: ignore[assignment]
    _load_image_processor = False  # type: ignore[assignment]
    _load_video_processor = False  # type: ignore[assignment]
    _load_feature_extractor = False  # type: ignore[assignment]
    _load_tokenizer = False  # type: ignore[assignment]

    def __init__(
        self, model: TransferModel | System, *, device: Any = None, task: str = TASK, **more: Any
    ) -> None:
        if not isinstance(model, TransferModel | System):
            raise InputError(
                f"{TASK} is for TSTBench's systems: a folder, a Hub id or a loaded system, "
                f"not {type(model).__name__}"
            )
        held = model if isinstance(model, TransferModel) else TransferModel.of(model)
        if device is None:  # the systems know no other accelerator
            device = 0 if torch.cuda.is_available() else "cpu"
        super().__init__(held, task=task, device=device, **_without(more, _FOREIGN))
        if self.device.type not in ("cpu", "cuda"):
            raise InputError(f"systems run on cpu or cuda, not on {self.device}")
        with self.device_placement():
            self.system = held.ready()
        self._batch_size = self._batch_size or self.system.BATCH_SIZE
        self._check(self._forward_params)

    def __call__(self, inputs: Any, *args: Any, **more: Any) -> Any:
        """Rewrite a sentence, a list of them, or a data set or generator (as they come).

        Raises:
            UnknownNameError: no such style, direction or setting; a near miss is named.
            InputError: several directions fit, or an input is no text.
        """
        self._check({**self._forward_params, **_without(more, ("batch_size", "num_workers"))})
        if isinstance(inputs, list | tuple):
            inputs = list(inputs)
            return super().__call__(inputs, *args, **more) if inputs else []
        written = super().__call__(inputs, *args, **more)
        return [written] if isinstance(inputs, str) else written

    def save_pretrained(self, save_directory: str | os.PathLike[str], **_: Any) -> None:
        """Write the system; see :meth:`System.save_pretrained <.system.System.save_pretrained>`."""
        self.system.save_pretrained(Path(save_directory))

    def _sanitize_parameters(
        self, **given: Any
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        return {}, given, {}

    def preprocess(self, input_: Any, **_: Any) -> Any:
        """The sentence itself: a system prepares its own text."""
        if not isinstance(input_, str):
            raise InputError(f"{TASK} rewrites text, got {type(input_).__name__}: {input_!r:.60}")
        return input_

    def _forward(self, input_tensors: Any, **given: Any) -> Any:
        sentences = [input_tensors] if isinstance(input_tensors, str) else list(input_tensors)
        direction, generation = self._asked(given)
        return list(
            self.system.transfer(
                sentences,
                direction,
                generation=generation,
                batch_size=max(len(sentences), 1),
                device=self.device.type,
            )
        )

    def postprocess(self, model_outputs: Any, **_: Any) -> dict[str, str]:
        """``{"generated_text": ...}``"""
        text = model_outputs if isinstance(model_outputs, str) else model_outputs[0]
        return {"generated_text": text}

    def get_iterator(  # noqa: D102 - as in transformers: but batches are not collated to tensors
        self,
        inputs: Any,
        num_workers: int,  # noqa: ARG002 - preparing a sentence is nothing
        batch_size: int,
        preprocess_params: Mapping[str, Any],
        forward_params: Mapping[str, Any],
        postprocess_params: Mapping[str, Any],
    ) -> Iterator[dict[str, str]]:
        if batch_size < 1:
            raise InputError(f"batch_size must be at least 1, got {batch_size}")
        waiting = iter(_items(inputs))
        while batch := list(islice(waiting, batch_size)):
            ready = [self.preprocess(one, **preprocess_params) for one in batch]
            for text in self.forward(ready, **forward_params):
                yield self.postprocess(text, **postprocess_params)

    def _check(self, given: Mapping[str, Any]) -> None:
        """Refuse what is misspelt at once, not at the first sentence."""
        if hasattr(self, "system"):
            asked = any(given.get(name) is not None for name in _OURS[:3])
            self._generation(given)
            if asked:
                self._direction(given)

    def _asked(self, given: Mapping[str, Any]) -> tuple[Direction, Generation]:
        return self._direction(given), self._generation(given)

    def _generation(self, given: Mapping[str, Any]) -> Generation:
        seed = given.get("seed")
        chosen = Generation(seed=0 if seed is None else seed, settings=_without(given, _OURS))
        self.system.read_generation(chosen)
        return chosen

    def _direction(self, given: Mapping[str, Any]) -> Direction:
        target, source, name = (given.get(one) for one in _OURS[:3])
        return direction_of(self.system.card, target, source, name)


def direction_of(
    card: SystemCard,
    target_style: str | None,
    source_style: str | None = None,
    direction: str | None = None,
) -> Direction:
    """The direction that is asked of a system, by its styles or by its name.

    Raises:
        UnknownNameError: the system has no such style or direction.
        InputError: several fit, or the system was trained for none and none is named.
    """
    if direction is not None:
        if card.directions and direction not in card.directions:
            raise unknown_name(f"direction of {card.name}", direction, card.directions)
        return parse_direction(direction)
    if not card.directions:
        raise InputError(
            f"{card.name} was trained for no direction: name one, such as "
            'direction="yelp/negative-to-positive"'
        )
    fitting = [parse_direction(name) for name in card.directions]
    for what, style in (("target", target_style), ("source", source_style)):
        if style is not None:
            known = dict.fromkeys(getattr(one, f"{what}_style") for one in fitting)
            if style not in known:
                raise unknown_name(f"{what} style of {card.name}", style, known)
            fitting = [one for one in fitting if getattr(one, f"{what}_style") == style]
    if len(fitting) > 1:
        missing = "target_style" if target_style is None else "source_style"
        raise InputError(
            f"{card.name} has several such directions: {', '.join(map(str, fitting))}. Give "
            f"{missing}, or direction"
        )
    return fitting[0]


def _without(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    left_out = set(names)
    return {name: value for name, value in given.items() if name not in left_out}


def _items(inputs: Any) -> Iterable[Any]:
    """One after the other, also of a torch data set, which need not be iterable."""
    if hasattr(inputs, "__iter__") or not isinstance(inputs, Sized):
        return cast(Iterable[Any], inputs)
    return (inputs[index] for index in range(len(inputs)))  # type: ignore[index]


AutoConfig.register(MODEL_TYPE, TransferConfig, exist_ok=True)
PIPELINE_REGISTRY.register_pipeline(
    TASK, pipeline_class=TextStyleTransferPipeline, pt_model=TransferModel, type="text"
)
