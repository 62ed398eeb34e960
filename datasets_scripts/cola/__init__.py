"""Corpus of Linguistic Acceptability."""
