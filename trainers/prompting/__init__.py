"""Prompted systems: prompts, examples, the client of a chat server, and what becomes of answers."""
