"""Pairs of sentences made for learning what a rewrite keeps: styles changed, meanings damaged."""
