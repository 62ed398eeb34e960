"""A chat server that others wrote: `transformers serve`, with a tiny model made on the spot."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from answering import free_port

TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"


def make_chat_model(folder: Path, sentences: Sequence[str], vocabulary: int = 400) -> None:
    """A random Llama with a real tokenizer, made from sentences, and a chat template."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(sentences, vocab_size=vocabulary, special_tokens=["<s>", "</s>"])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


@contextmanager
def serving_local(folder: Path, cache: Path) -> Iterator[str]:
    """The address of a server of the model in a folder; ``cache`` stands for Hugging Face's."""
    (cache / "hub").mkdir()  # without it, /v1/models fails
    port = free_port()
    command = [Path(sys.executable).with_name("transformers"), "serve", folder]
    where = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    environment = {**os.environ, "HF_HOME": str(cache), "OMP_NUM_THREADS": "1"}
    with (cache / "log").open("w") as log:
        process = subprocess.Popen([*command, *where], env=environment, stdout=log, stderr=log)
        try:
            for _ in range(1200):
                assert process.poll() is None, (cache / "log").read_text()
                try:
                    urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait()
