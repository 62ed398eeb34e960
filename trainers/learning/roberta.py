"""The RoBERTa that BSRR's rewards come from: a checkpoint, or a small one that knows nothing."""

from __future__ import annotations

from typing import Any

import torch

from ...errors import InputError, MissingFileError, MissingScorerError
from ...metrics.scorers.weights import fetch, read_model, read_tokenizer
from ..nets.style_roberta import StyleRoberta
from .seq2seq import SCRATCH, Seq2Seq


def style_roberta(
    classifier: str, bart: Seq2Seq, *, dimension: int, layers: int, seed: int
) -> StyleRoberta:
    """A RoBERTa classifier, yet to be trained, that reads the ids its BART writes.

    Args:
        classifier: Hub id or folder of a RoBERTa, or ``scratch``.
        bart: whose ids it reads.
        dimension: of one from scratch.
        layers: of one from scratch.
        seed: of one from scratch, and of the head.

    Raises:
        MissingFileError: the weights cannot be found.
        InputError: the checkpoint cannot be read, or its tokenizer is not the BART's.
    """
    torch.manual_seed(seed)
    model = (
        _from_scratch(bart, dimension, layers)
        if classifier == SCRATCH
        else _pretrained(classifier, bart)
    )
    return StyleRoberta(model, start=bart.start, end=bart.end)


def _from_scratch(bart: Seq2Seq, dimension: int, layers: int) -> Any:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    # The base class's settings, num_labels and attn_implementation, are not in its signature.
    kind: Any = RobertaConfig
    return RobertaForSequenceClassification(
        kind(
            vocab_size=bart.model.config.vocab_size,
            hidden_size=dimension,
            num_hidden_layers=layers,
            num_attention_heads=max(1, dimension // 32),
            intermediate_size=4 * dimension,
            max_position_embeddings=bart.model.config.max_position_embeddings + bart.pad + 3,
            pad_token_id=bart.pad,
            bos_token_id=bart.start,
            eos_token_id=bart.end,
            num_labels=2,
            attn_implementation="eager",  # the others do not say where they look
        )
    )


def _pretrained(classifier: str, bart: Seq2Seq) -> Any:
    try:
        folder = fetch(classifier)
    except MissingScorerError as error:
        raise MissingFileError(
            f"{error}. Or train a small classifier from scratch: --classifier {SCRATCH}"
        ) from error
    tokenizer = read_tokenizer(folder)
    model = read_model(
        folder,
        "RobertaForSequenceClassification",
        new_head=True,
        settings={"num_labels": 2, "attn_implementation": "eager"},
        dtype=torch.float32,
    )
    words = bart.tokenizer.get_vocab()
    theirs = tokenizer.get_vocab()
    if any(theirs.get(word) != number for word, number in words.items()):
        raise InputError(
            f"{classifier} does not have the word pieces of the BART that it is to judge: give a "
            f"RoBERTa with the same tokenizer, or --classifier {SCRATCH}"
        )
    return model
