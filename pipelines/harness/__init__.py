"""Evaluation where people already evaluate: Inspect AI and EleutherAI's lm-evaluation-harness."""
