"""Any transformer for sequence classification as a style classifier: a Hub id or a local folder.

Weights are read from safetensors only: a pickled checkpoint can run code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from ...errors import InputError
from ...files import temporary_folder
from ...pace import current
from ...settings import Count, NotNegative, Positive, Share, setting
from .base import length_sorted_batches, tokens_on
from .classifiers import HUB_CLASSIFIERS, Classifier, classifier_folder, describe_hub_classifier
from .device import HERE, Placement, copies, spread
from .fitting import last_checkpoint, train_paced, with_new_head
from .linear import softmax
from .packed_bert import PackedBert, is_packable
from .train import ClassifierConfig, LabelledSentences
from .weights import fetch, load_pretrained, read_tokenizer

Span = tuple[int, int]

MAX_TOKENS = 4_096  # in a batch, padding included where there is any


class TransformerModel:
    """A sequence classifier, its tokenizer, and the column of each style.

    Args:
        styles: S names.
        model: a transformers model for sequence classification, float32.
        tokenizer: its tokenizer.
        columns: the model's column for each style.
        batch_size: the most sentences in a batch.
        others: copies of the model on other devices, which share the sentences with it.
    """

    features_are = "CLS embeddings of its last layer"

    def __init__(
        self,
        styles: tuple[str, ...],
        model: Any,
        tokenizer: Any,
        columns: Sequence[int],
        batch_size: int | None = None,
        others: Sequence[Any] = (),
    ) -> None:
        self.styles = styles
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._columns = list(columns)
        self._batch_size = batch_size
        self._max_tokens = tokens_on(model.device.type, MAX_TOKENS)
        self._longest = longest_input(model, tokenizer)
        self._packed: PackedBert | None = None
        if is_packable(model.config):
            self._packed = PackedBert(model.base_model, model.config.num_hidden_layers)
        self._others = [TransformerModel(styles, one, tokenizer, columns) for one in others]

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64; over-long sentences are truncated."""
        encoded = self._tokenizer(list(sentences), truncation=True, max_length=self._longest)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        logits = np.empty((len(lengths), len(self.styles)))

        def work(one: TransformerModel, batch: np.ndarray) -> None:
            rows = {name: [values[i] for i in batch] for name, values in encoded.items()}
            logits[batch] = one._logits(rows)[:, self._columns].float().cpu().numpy()

        spread([self, *self._others], lengths, self._max_tokens, self._batch_size, work)
        return softmax(logits)

    def features(self, sentences: Sequence[str]) -> np.ndarray:
        """The first token after the last layer ("CLS"): shape (N, D), float64."""
        encoded = self._tokenizer(list(sentences), truncation=True, max_length=self._longest)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        found: np.ndarray | None = None
        with torch.inference_mode():
            for batch in length_sorted_batches(lengths, self._max_tokens, self._batch_size):
                rows = {name: [values[i] for i in batch] for name, values in encoded.items()}
                inputs = self._tokenizer.pad(rows, return_tensors="pt").to(self._model.device)
                states = self._model.base_model(**inputs).last_hidden_state
                first = states[:, 0].cpu().double().numpy()
                if found is None:
                    found = np.empty((len(lengths), first.shape[1]))
                found[batch] = first
        return np.empty((0, 0)) if found is None else found

    def _logits(self, rows: dict[str, list[list[int]]]) -> torch.Tensor:
        """Logits of tokenised sentences, longest first: shape (B, labels)."""
        if self._packed is None:
            inputs = self._tokenizer.pad(rows, return_tensors="pt").to(self._model.device)
            return self._model(**inputs).logits
        return self._head(self._packed.first_tokens(rows["input_ids"]))

    def _head(self, first: torch.Tensor) -> torch.Tensor:
        """BERT's head reads the first token through a pooler, RoBERTa's reads it itself."""
        pooler = getattr(self._model.base_model, "pooler", None)
        return self._model.classifier(first[:, None] if pooler is None else pooler(first[:, None]))

    def tokenize(self, sentences: Sequence[str]) -> tuple[list[list[int]], list[list[Span]]]:
        """Token ids of N sentences, special tokens included, and where each token is in its text.

        Raises:
            InputError: the tokenizer cannot say where its tokens are.
        """
        if not getattr(self._tokenizer, "is_fast", False):
            raise InputError(
                f"the tokenizer {type(self._tokenizer).__name__} does not say where in a text its "
                "tokens are: a classifier with a tokenizer.json is needed"
            )
        encoded = self._tokenizer(
            list(sentences),
            truncation=True,
            max_length=self._longest,
            return_offsets_mapping=True,
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids, [[(a, b) for a, b in one] for one in encoded["offset_mapping"]]

    def special_tokens(self) -> tuple[frozenset[int], int, int | None]:
        """The tokens that frame a sentence, that of padding, and the mask's if there is one."""
        known = self._tokenizer
        framing = (known.cls_token_id, known.sep_token_id, known.bos_token_id, known.eos_token_id)
        padding = known.pad_token_id
        if padding is None:
            raise InputError("the classifier's tokenizer has no padding token")
        return frozenset(i for i in framing if i is not None), int(padding), known.mask_token_id

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Word embeddings of token ids, before positions are added: (...) -> (..., D), float32."""
        table = self._model.get_input_embeddings().weight.detach()
        return table[ids.to(table.device)]

    def logits_of(self, words: torch.Tensor) -> torch.Tensor:
        """Logits from word embeddings, through which gradients can flow back.

        Args:
            words: the embeddings of N sentences of the same length: shape (N, T, D).

        Returns:
            Shape (N, S), in the order of the styles.
        """
        if self._packed is None:
            seen = torch.ones(words.shape[:2], dtype=torch.long, device=words.device)
            logits = self._model(inputs_embeds=words, attention_mask=seen).logits
        else:
            logits = self._head(self._packed.first_tokens_of(words))
        return logits[:, self._columns]

    def save(self, folder: Path) -> None:
        """Write what ``save_pretrained`` writes; labels are named after the styles."""
        config = self._model.config
        if [config.id2label.get(i) for i in range(config.num_labels)] != list(self.styles):
            raise InputError("only a model whose labels are its styles, in order, can be saved")
        self._model.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> TransformerModel:
        """Read back what :meth:`save` wrote."""
        model, tokenizer = load_pretrained(folder, placement, "AutoModelForSequenceClassification")
        labels = model.config.id2label
        styles = tuple(labels[i] for i in range(model.config.num_labels))
        others = copies(model, placement)[1:]
        return cls(styles, model, tokenizer, range(len(styles)), placement.batch_size, others)


def load_hub_model(
    model: str | Path,
    styles: Sequence[str],
    *,
    labels: Mapping[str, str] | None = None,
    revision: str | None = None,
    placement: Placement = HERE,
) -> TransformerModel:
    """A published classifier's model.

    Args:
        model: Hub id or local folder.
        styles: the S styles, in the desired order.
        labels: style -> the model's label, if the labels are not the styles' names. Known
            models (:data:`HUB_CLASSIFIERS`) do not need it.
        revision: commit of the Hub repository; known models are pinned.
        placement: device and number type.

    Raises:
        InputError: the labels cannot be matched with the styles.
        MissingScorerError: the weights are not in the Hub's cache and cannot be downloaded.
    """
    known = HUB_CLASSIFIERS.get(str(model))
    folder = classifier_folder(model, revision)
    if labels is None and known:
        labels = known.labels
    network, tokenizer = load_pretrained(folder, placement, "AutoModelForSequenceClassification")
    columns = style_columns(network.config.id2label, styles, labels or {}, name=str(model))
    others = copies(network, placement)[1:]
    size = placement.batch_size
    return TransformerModel(tuple(styles), network, tokenizer, columns, size, others)


def load_hub_classifier(
    model: str | Path,
    styles: Sequence[str],
    *,
    labels: Mapping[str, str] | None = None,
    revision: str | None = None,
    placement: Placement = HERE,
) -> Classifier:
    """A published classifier, with a name and a hash for signatures.

    Arguments and errors are those of :func:`load_hub_model`.
    """
    loaded = load_hub_model(model, styles, labels=labels, revision=revision, placement=placement)
    name, digest = describe_hub_classifier(model, revision)
    return Classifier(loaded, name=name, hash=digest)


def style_columns(
    id2label: Mapping[int, str], styles: Sequence[str], labels: Mapping[str, str], *, name: str
) -> list[int]:
    """For each style, the model's column; every column must belong to one style.

    Args:
        id2label: the model's labels, by column.
        styles: the desired styles, in order.
        labels: style -> label, for styles whose label is not their name.
        name: the model's name, for the message.

    Raises:
        InputError: labels and styles do not match one to one.

    Example:
        >>> style_columns({0: "POSITIVE", 1: "NEGATIVE"}, ["negative", "positive"], {}, name="m")
        [1, 0]
    """
    columns = {label.casefold(): column for column, label in id2label.items()}
    found = [columns.get(labels.get(style, style).casefold()) for style in styles]
    known = [column for column in found if column is not None]
    if len(set(known)) != len(styles) or len(styles) != len(id2label):
        have = ", ".join(repr(label) for label in id2label.values())
        raise InputError(
            f"the labels of {name} are {have}; the styles are {', '.join(styles)}. Each style "
            "needs one label: say which with labels={style: label, ...}, or rename id2label in "
            "the model's config.json"
        )
    return known


def longest_input(model: Any, tokenizer: Any) -> int:
    """The most tokens the model accepts, including special tokens."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= config.pad_token_id + 1  # their positions start after the padding's
    return int(min(positions, tokenizer.model_max_length))


LIBRARIES = ("torch", "transformers")


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(ClassifierConfig):
    """The benchmark paper's settings (section 4.1), with those of its code where it gives none."""

    base: str = setting("FacebookAI/roberta-base", "Hub id or local folder of the pretrained model")
    revision: str | None = setting(None, "commit of the Hub repository; default: the latest")
    epochs: Count = setting(3, "passes over the sentences")
    batch_size: Count = setting(64, "sentences a step")
    learning_rate: Positive = setting(2e-5, "of AdamW")
    schedule: Literal["constant", "linear"] = setting("constant", "linear: the rate falls to 0")
    betas: tuple[Share, Share] = setting((0.9, 0.98), "of AdamW, such as [0.9, 0.98]")
    epsilon: Positive = setting(1e-9, "of AdamW")
    weight_decay: NotNegative = setting(0.01, "of AdamW")
    max_gradient: NotNegative = setting(0.0, "longer gradients are cut to this length; 0: never")
    shuffle: bool = setting(True, "false: every epoch in the order of the data")
    max_tokens: Count = setting(128, "longer training sentences are cut")


Config = TransformerConfig


def fit(
    data: LabelledSentences, styles: Sequence[str], config: TransformerConfig
) -> TransformerModel:
    """Fine-tune on labelled sentences, in float32, on the GPU if there is one.

    Raises:
        MissingScorerError: the pretrained weights are not cached and cannot be downloaded.
        InputError: they cannot be read, or would need code of their own.
    """
    from transformers import (
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    folder = fetch(config.base, config.revision)
    set_seed(config.seed)  # the new head is initialised before the trainer sets its own seed
    tokenizer = read_tokenizer(folder)
    model = with_new_head(folder, styles)
    longest = min(config.max_tokens, longest_input(model, tokenizer))
    encoded = tokenizer(list(data.sentences), truncation=True, max_length=longest)
    examples = [
        {**{name: values[i] for name, values in encoded.items()}, "labels": label}
        for i, label in enumerate(data.labels)
    ]
    with ExitStack() as held:
        now = current()
        place = now.folder if now else held.enter_context(temporary_folder())
        # Older versions of transformers, which shuffle, do not know the setting.
        order: dict[str, Any] = {} if config.shuffle else {"train_sampling_strategy": "sequential"}
        arguments = TrainingArguments(
            output_dir=str(place),
            num_train_epochs=config.epochs,
            per_device_train_batch_size=config.batch_size,
            learning_rate=config.learning_rate,
            lr_scheduler_type=config.schedule,
            adam_beta1=config.betas[0],
            adam_beta2=config.betas[1],
            adam_epsilon=config.epsilon,
            weight_decay=config.weight_decay,
            max_grad_norm=config.max_gradient,
            **order,
            seed=config.seed,
            data_seed=config.seed,
            save_strategy="no",  # the pace says when
            save_total_limit=2,
            logging_strategy="no",
            disable_tqdm=True,
            report_to="none",
            use_cpu=not torch.cuda.is_available(),
        )
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=examples,
            processing_class=tokenizer,
            data_collator=DataCollatorWithPadding(tokenizer),
        )
        train_paced(trainer, last_checkpoint(place), kept=now is not None)
    return TransformerModel(tuple(styles), model, tokenizer, range(len(styles)))
