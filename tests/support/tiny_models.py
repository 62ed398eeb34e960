"""Small random transformers with real tokenizers, made on the spot."""

from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    BertTokenizer,
    DistilBertConfig,
    DistilBertModel,
    RobertaConfig,
    RobertaModel,
    RobertaTokenizer,
)

WORDS = "the a food staff was is not very good bad cold kind slow and but we they came back".split()
POSITIONS = 40
SIZES = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": POSITIONS,
}


def make_bert(folder: Path, layers: int = 3, *, cased: bool = False) -> Path:
    folder.mkdir(parents=True)
    _save_wordpiece(folder, cased=cased)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=64, num_hidden_layers=layers, **SIZES)
    _scramble(BertModel(config)).save_pretrained(folder)
    return folder


def make_bleurt(folder: Path) -> Path:
    """One label, 512 positions, case kept."""
    folder.mkdir(parents=True)
    _save_wordpiece(folder, cased=True, positions=512)
    sizes = {**SIZES, "max_position_embeddings": 512}
    config = BertConfig(vocab_size=64, num_hidden_layers=2, num_labels=1, **sizes)
    _scramble(BertForSequenceClassification(config)).save_pretrained(folder)
    return folder


def make_distilbert(folder: Path) -> Path:
    """An architecture whose forward pass is not written out here."""
    folder.mkdir(parents=True)
    _save_wordpiece(folder)
    torch.manual_seed(0)
    config = DistilBertConfig(
        vocab_size=64,
        dim=32,
        n_heads=4,
        hidden_dim=48,
        n_layers=2,
        max_position_embeddings=POSITIONS,
    )
    _scramble(DistilBertModel(config)).save_pretrained(folder)
    return folder


def make_roberta(folder: Path) -> Path:
    folder.mkdir(parents=True)
    bpe = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator([" ".join(WORDS)] * 50, vocab_size=300, special_tokens=special)
    bpe.save_model(str(folder))
    RobertaTokenizer.from_pretrained(folder, model_max_length=POSITIONS - 2).save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=bpe.get_vocab_size(), num_hidden_layers=3, **SIZES)
    _scramble(RobertaModel(config)).save_pretrained(folder)
    return folder


def _save_wordpiece(folder: Path, *, cased: bool = False, positions: int = POSITIONS) -> None:
    letters = [chr(i) for i in range(97, 123)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", *WORDS, *letters]
    (folder / "vocab.txt").write_text("\n".join(vocabulary[:64]) + "\n")
    BertTokenizer.from_pretrained(
        folder, model_max_length=positions, do_lower_case=not cased
    ).save_pretrained(folder)


def _scramble(model: torch.nn.Module) -> torch.nn.Module:
    """Every parameter random and large, so that no part of the forward pass can be left out."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(noise * 0.3 + ("LayerNorm.weight" in name))
    return model.eval()
