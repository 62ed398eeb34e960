"""Fine-tune a pretrained transformer as a classifier, with ``transformers.Trainer``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import torch

from ...files import temporary_folder
from ...metrics.scorers.transformer import TransformerModel, longest_input
from ...metrics.scorers.weights import fetch, read_tokenizer
from ...settings import Count, NotNegative, Positive, Share, setting
from ..learning.pace import current
from ..lora.keeping import train_paced
from .config import ClassifierConfig
from .data import LabelledSentences
from .head import with_new_head

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
        train_paced(trainer, place, now.recipe if now else None)
    return TransformerModel(tuple(styles), model, tokenizer, range(len(styles)))
