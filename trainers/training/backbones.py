"""Language models of the usual families, with random weights and a tokenizer of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import InputError

BackboneFamily = Literal["bart", "gpt2", "llama"]

# The special tokens of each family, in the order of their ids, by their role.
_SPECIAL: dict[BackboneFamily, dict[str, str]] = {
    "bart": {
        "bos_token": "<s>",
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
    },
    "gpt2": {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"},
    "llama": {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"},
}


@dataclass(frozen=True)
class BackboneShape:
    """Sizes of a language model.

    Attributes:
        dimension: of its vectors; the feed-forward layers are four times as wide.
        layers: of each stack: BART has two.
        heads: of the attention.
        positions: the longest row, in tokens.
        dropout: everywhere.
    """

    dimension: int
    layers: int
    heads: int
    positions: int
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.dimension % self.heads:
            raise InputError(f"dimension {self.dimension} is not a multiple of heads {self.heads}")


def byte_level_tokenizer(
    texts: Iterable[str], family: BackboneFamily, vocabulary_size: int, max_length: int
) -> Any:
    """A tokenizer of transformers with a byte-level BPE learned from texts.

    The same texts give the same tokenizer. Nothing is unknown to it: every text is made of bytes. A
    word is the same token at the start of a text and inside it, and decoding a text gives it back
    after a space.

    Args:
        texts: to learn from.
        family: whose special tokens it has.
        vocabulary_size: tokens, with 256 bytes and the special ones.
        max_length: the longest row of its model, in tokens.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = _SPECIAL[family]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=list(dict.fromkeys(special.values())),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if family == "bart":
        start, end = special["bos_token"], special["eos_token"]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{start} $A {end}",
            pair=f"{start} $A {end} {end} $B {end}",
            special_tokens=[(token, tokenizer.token_to_id(token)) for token in (start, end)],
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=max_length,
        clean_up_tokenization_spaces=False,  # the text as it was: "do n't" is not "don't"
        **special,
    )


def random_model(family: BackboneFamily, shape: BackboneShape, tokenizer: Any) -> Any:
    """A model of transformers for that tokenizer, its weights drawn from torch's generator."""
    import transformers

    common = {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.bos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if family == "bart":
        bart = transformers.BartConfig(
            d_model=shape.dimension,
            encoder_layers=shape.layers,
            decoder_layers=shape.layers,
            encoder_attention_heads=shape.heads,
            decoder_attention_heads=shape.heads,
            encoder_ffn_dim=4 * shape.dimension,
            decoder_ffn_dim=4 * shape.dimension,
            max_position_embeddings=shape.positions,
            dropout=shape.dropout,
            attention_dropout=0.0,
            activation_dropout=0.0,
            decoder_start_token_id=tokenizer.eos_token_id,
            forced_eos_token_id=tokenizer.eos_token_id,
            **common,
        )
        return transformers.BartForConditionalGeneration(bart)
    if family == "gpt2":
        gpt2 = transformers.GPT2Config(
            n_embd=shape.dimension,
            n_layer=shape.layers,
            n_head=shape.heads,
            n_positions=shape.positions,
            resid_pdrop=shape.dropout,
            embd_pdrop=shape.dropout,
            attn_pdrop=shape.dropout,
            **common,
        )
        return transformers.GPT2LMHeadModel(gpt2)
    llama = transformers.LlamaConfig(
        hidden_size=shape.dimension,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=4 * shape.dimension,
        max_position_embeddings=shape.positions,
        attention_dropout=0.0,
        tie_word_embeddings=True,
        **common,
    )
    return transformers.LlamaForCausalLM(llama)
