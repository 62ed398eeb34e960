"""TRL's SFTTrainer with PEFT, as their manuals show it: what LLaMA-LoRA is compared with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

from datasets import Dataset
from peft import LoraConfig
from transformers.trainer_callback import PrinterCallback
from trl import SFTConfig, SFTTrainer

from tstbench.trainers.lora.config import AdapterConfig


def train(
    model: Any,
    tokenizer: Any,
    rows: Sequence[dict[str, str]],
    config: AdapterConfig,
    *,
    device: str,
    sampling: str,
    logging_steps: int,
) -> None:
    """One epoch over rows of ``prompt`` and ``completion``, with the settings of an adapter.

    Args:
        model: on its device, quantised or not.
        tokenizer: its own.
        rows: as many as there are steps of ``config.batch_size`` rows.
        config: of the adapter that is compared.
        device: ``cuda`` (bfloat16) or ``cpu``.
        sampling: ``random`` or ``group_by_length``.
        logging_steps: between two reports of the tokens so far.
    """
    with tempfile.TemporaryDirectory() as folder:
        trainer = SFTTrainer(
            model,
            SFTConfig(
                folder,
                num_train_epochs=1,
                per_device_train_batch_size=config.batch_size,
                learning_rate=config.learning_rate,
                warmup_steps=config.warm_up,
                train_sampling_strategy=sampling,
                completion_only_loss=True,
                gradient_checkpointing=config.checkpointing,
                save_strategy="no",
                logging_steps=logging_steps,
                disable_tqdm=True,
                report_to="none",
                use_cpu=device == "cpu",
                bf16=device == "cuda",
            ),
            train_dataset=Dataset.from_list(list(rows)),
            processing_class=tokenizer,
            peft_config=LoraConfig(
                r=config.r,
                lora_alpha=config.alpha,
                lora_dropout=config.dropout,
                target_modules=config.target_modules.split(","),
                task_type="CAUSAL_LM",
            ),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
