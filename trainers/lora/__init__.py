"""LLaMA-LoRA and LLaMA-LoRA-INST: adapters of causal language models, taught by instructions."""
