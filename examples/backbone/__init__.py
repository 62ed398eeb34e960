"""Small language models trained from scratch, for systems that fine-tune one."""
