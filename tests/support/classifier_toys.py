"""Sentences that a classifier can learn in a moment, and a transformer small enough to do so."""

from itertools import product
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import WordLevelTrainer
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from tstbench.metrics.scorers.artefacts import ScorerCard
from tstbench.store import data_fingerprint

CARD = ScorerCard(
    role="classifier",
    dataset="mini",
    name="linear",
    kind="linear",
    styles=("negative", "positive"),
    trained_on="mini/train",
    data_fingerprint=data_fingerprint(["good", "bad"], [1, 0]),
    n_sentences=2,
    settings={"seed": 0, "widths": [3, 4], "base": None},
    scores={"held_out_accuracy": 0.75},
    versions={"tstbench": "0.1.0"},
)
COLA = "cointegrated/roberta-large-cola-krishna2020"
STYLES = ("negative", "positive")
THINGS = ("the soup", "our waiter", "this hotel", "my room", "the bill", "your shop", "the bread")
VERBS = ("was", "seemed", "looked", "is always", "really was")
WORDS = {
    0: ("awful", "cold", "rude", "dirty", "slow", "never again"),
    1: ("lovely", "warm", "kind", "clean", "quick", "a joy"),
}
SENTENCES, LABELS = zip(
    *(
        (f"{thing} {verb} {word} .", label)
        for label, words in WORDS.items()
        for thing, verb, word in product(THINGS, VERBS, words)
    ),
    strict=True,
)


def word_tokenizer(sentences) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(sentences, WordLevelTrainer(special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


def save_tiny_bert(folder: Path) -> Path:
    """A random BERT and a tokenizer trained on the spot: nobody's download."""
    tokenizer = word_tokenizer(SENTENCES)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.1,
        pad_token_id=0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
