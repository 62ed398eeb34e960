"""A language model that has learned one direction of mini by heart, made on the spot.

Its answers are whole sentences, a part of them right: scores that are neither 0 nor 100.
"""

from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordLevelTrainer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from tstbench.datasets_scripts.load import load_test_set
from tstbench.trainers.prompting.prompts import load_prompts

DIRECTION = "mini/negative-to-positive"


def make_model(folder: Path, steps: int = 60) -> Path:
    """A GPT-2 that continues a prompt with the first reference; its chat template adds nothing."""
    test_set, prompts = load_test_set(DIRECTION), load_prompts()
    asked = [prompts.message(test_set.direction, source) for source in test_set.sources]
    texts = [f"{a} {r[0]} <eos>" for a, r in zip(asked, test_set.references, strict=True)]
    words = Tokenizer(WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    special = ["<unk>", "<pad>", "<eos>"]
    words.train_from_iterator(texts, WordLevelTrainer(special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", eos_token="<eos>"
    )
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=256, n_embd=64, n_layer=2, n_head=2,
        bos_token_id=2, eos_token_id=2, pad_token_id=1,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        loss = model(batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
